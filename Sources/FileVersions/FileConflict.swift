internal import ContentHashing
internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// A file that several have written at once.
public struct FileConflict: Sendable {
  /// The present contents of the file.
  public let current: FileVersion
  /// The contents of the other writers, newest first; at least one.
  public let others: [FileVersion]
  /// The contents from which all of them were made, if that's recorded: the base that was kept last, see
  /// ``FileVersions/FileVersions/addBase(of:isPackage:)``, or a version that one of the others names among its ``FileVersion/parents``.
  public let base: FileVersion?

  /// The environment that makes the accesses of a child process nested in this one; see `FileAccess.environment()`.
  public let environment: [String: String]

  let versions: FileVersions
  /// The versions from before the conflict, newest first.
  let earlier: [FileVersion]

  /// The contents of one of them.
  ///
  /// The present contents are read within the access that ``FileVersions/resolve(at:keepsOthers:_:)`` has.
  ///
  /// - Parameter version: A version, not of a package.
  /// - Returns: All of its bytes.
  /// - Throws: ``FileVersionError``.
  public func contents(of version: FileVersion) async throws(FileVersionError) -> Data {
    guard version.isCurrent else { return try await versions.contents(of: version) }
    // An access of its own would ask presenters to save once more, and these may be waiting for the one around it.
    return try await versions.perform { keeper in
      Data(try HostFileSystem().contents(of: keeper.path(of: version.url)))
    }
  }
}

/// The result for a file that several have written at once.
public enum FileResolution: Hashable, Sendable {
  /// It stays as it is.
  case current
  /// It gets the contents of a version.
  case version(FileVersion)
  /// It gets these contents, into which those of the others were merged.
  case merged(Data)
  /// It stays as it is, and each of the others becomes a file beside it.
  case all

  /// The contents that were changed last, by a rule that doesn't depend on the process or the order of a list.
  ///
  /// 1. A text from which another one was made, as far as ``FileVersion/parents`` say, isn't chosen: clocks differ, so dates don't decide that.
  /// 2. Of the others, it's the one with the latest ``FileVersion/modificationDate``.
  /// 3. If several have that date, it's the present contents if they're among them, and otherwise the version with the greatest
  ///    ``FileVersion/id``.
  ///
  /// Several devices choose the same text if they have the same texts with the same dates and parents, and no two dates are equal.
  ///
  /// - Parameter conflict: The conflict.
  /// - Returns: The resolution.
  /// - Complexity: O(versions).
  /// - Note: Rule CV-41.
  public static func newest(of conflict: FileConflict) -> FileResolution {
    let origins = conflict.origins
    let others = conflict.others.filter { !origins.contains($0.id) }
    let newest = others.max { ($0.modificationDate, $0.id) < ($1.modificationDate, $1.id) }
    guard let newest else { return .current }
    // Its own parents say which version it follows, and which one that is if the newest has its contents.
    let isOrigin = conflict.current.knownHash != nil && conflict.current.parents.contains(where: origins.contains)
    if !isOrigin, newest.modificationDate <= conflict.current.modificationDate { return .current }
    return .version(newest)
  }
}

extension FileConflict {
  /// The versions from which the others were made, as far as that's recorded.
  fileprivate var origins: Set<FileVersion.ID> {
    let parents = Dictionary(
      (others + earlier).map { ($0.id, $0.parents) }, uniquingKeysWith: { first, _ in first })
    var origins: Set<FileVersion.ID> = []
    var next = others.flatMap(\.parents)
    while let id = next.popLast() {
      if origins.insert(id).inserted { next += parents[id] ?? [] }
    }
    return origins
  }
}

extension FileVersions {
  /// Resolves the conflicts of a file in one step: writes the result, and takes the others off the list.
  ///
  /// Presenters save first, and nobody else accesses the file meanwhile. Contents that the result overwrites become a version. The
  /// others are marked as resolved. Those that are the result, were merged into it, or became files of their own, are removed unless
  /// `keepsOthers`; the others stay as resolved versions. If `decide` throws, nothing changes. If the process ends in the middle, the
  /// next look at the versions finds the conflicts resolved if the file has the result, and otherwise all of them.
  ///
  /// Conflict copies beside the file are others as well if this value was made with `conflictCopies`. Their presenters are asked to
  /// accommodate the deletion. A copy goes only after its contents are in the store. Copies that appear or change meanwhile stay for the next call.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - keepsOthers: Whether the others stay as versions that are resolved.
  ///   - decide: Chooses or makes the result. It has access to the file.
  /// - Returns: Whether there was a conflict.
  /// - Throws: ``FileVersionError``, or the error thrown by `decide`.
  @discardableResult
  public func resolve(
    at url: URL, keepsOthers: Bool = false, _ decide: @Sendable (FileConflict) async throws -> FileResolution
  ) async throws -> Bool {
    let claims = try await perform { keeper in try keeper.claimsOnCopies(of: url) }
    if claims.isEmpty {
      return try await keeper.coordinator.write(url, options: .forMerging) { access in
        try await resolve(access, keepsOthers: keepsOthers, decide)
      }
    }
    return try await keeper.coordinator.coordinate([.writing(url, options: .forMerging)] + claims) { items in
      try await resolve(items[0], copies: items.claimedCopies, keepsOthers: keepsOthers, decide)
    }
  }

  private func resolve(
    _ access: borrowing FileAccess, copies: Set<SystemPath> = [], keepsOthers: Bool,
    _ decide: @Sendable (FileConflict) async throws -> FileResolution
  ) async throws -> Bool {
    let (path, versions) = (access.canonicalPath, self)
    let environment = (try? await access.environment()) ?? [:]
    let conflict = try await perform { keeper in
      try keeper.conflict(at: path, versions, copies: copies, environment: environment)
    }
    guard let conflict else { return false }
    let resolution = try await decide(conflict)
    let changes = try await perform { keeper in
      try keeper.carryOut(resolution, of: conflict, at: path, copies: copies, keepsOthers: keepsOthers)
    }
    for change in changes { change.announce(by: access) }
    return true
  }

  /// Removes versions of a file by a policy, at once: they can't be brought back.
  ///
  /// The policy is applied to the versions that there are when nobody else can change them: one that has become the parent of a conflict by
  /// then stays.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - policy: Which versions go.
  ///   - isDryRun: Whether they are only named.
  /// - Returns: The versions that were removed, or would be, oldest first.
  /// - Throws: ``FileVersionError``.
  @discardableResult
  public func prune(
    _ url: URL, by policy: FileVersionRetention, isDryRun: Bool = false
  ) async throws(FileVersionError) -> [FileVersion] {
    let date = Date.now
    let removals = policy.removals(among: try await versions(of: url) ?? [], at: date)
    if isDryRun || removals.isEmpty { return removals }
    return try await perform { keeper in
      let keeper = keeper.removingAtOnce
      return try keeper.changeVersions(of: url) { access, claimed in
        try keeper.prune(access, by: policy, at: date, claimed)
      }
    }
  }
}

extension VersionKeeper {
  func conflict(
    at path: SystemPath, _ versions: FileVersions, copies: Set<SystemPath> = [], environment: [String: String] = [:]
  ) throws -> FileConflict? {
    guard let current = try currentVersion(at: path), let kept = try self.versions(at: path, copies) else { return nil }
    let others = kept.filter { !$0.isResolved }
    guard let oldest = others.last else { return nil }
    let parents = Set(others.flatMap(\.parents))
    let candidates = kept.filter { !$0.isConflict && $0.id < oldest.id }
    let base = candidates.first(where: \.isBase) ?? candidates.first { parents.contains($0.id) }
    return FileConflict(
      current: current, others: others, base: base, environment: environment, versions: versions, earlier: candidates)
  }

  /// - Returns: The changes of which presenters have to be notified.
  func carryOut(
    _ resolution: FileResolution, of conflict: FileConflict, at path: SystemPath, copies: Set<SystemPath> = [],
    keepsOthers: Bool
  ) throws -> [VersionChange] {
    try withStore(at: [path]) { store in
      try carryOut(resolution, of: conflict, at: path, copies: copies, keepsOthers: keepsOthers, in: store)
    }
  }

  /// The same while nobody else changes the history.
  ///
  /// A crash at any call loses nothing: a copy is beside the file, or a conflict in the store, until the result is written.
  func carryOut(
    _ resolution: FileResolution, of conflict: FileConflict, at path: SystemPath, copies: Set<SystemPath>,
    keepsOthers: Bool, in store: VersionStore
  ) throws -> [VersionChange] {
    var changes: [VersionChange] = []
    guard let item = try store.item(at: path, creating: true) else { throw VersionStoreError.nothingThere(path) }
    var chosen: StoredVersion?
    if case .version(let version) = resolution, !version.isCurrent {
      chosen = try stored(version, at: path, claimed: copies, in: store, &changes)
      if chosen == nil { throw Self.copyIsGone(version) }
    }
    var others: [(version: FileVersion, stored: StoredVersion)] = []
    for version in conflict.others {
      let isChosen = resolution == .version(version)
      let stored = isChosen ? chosen : try stored(version, at: path, claimed: copies, in: store, &changes)
      if let stored { others.append((version, stored)) }
    }
    var target = RestoringTarget.any
    if resolution.overwrites {
      let (kept, state) = try store.keepState(of: path, for: item, attributes)
      if let kept { changes.append(VersionChange(.gained, FileVersion.ID(item, kept.id))) }
      target = self.target(state, of: item, at: path, in: store) { changes.append($0) }
    }
    let unneeded = keepsOthers ? [] : others.filter { resolution.has($0.version) }
    let step = ConflictResolution(
      result: try result(of: resolution, chosen, in: store), resolved: others.map(\.stored.id),
      removed: unneeded.map(\.stored.id),
      time: time())
    try store.resolve(step, of: item, at: path) {
      switch resolution {
      case .current: break
      case .version: if let chosen { try store.restore(chosen, to: path, over: target) }
      case .merged(let data): try store.replaceContents(of: path, with: Array(data), over: target)
      case .all: for other in others { try restoreBeside(path, other.stored, store) }
      }
    }
    try forgetRemovals(in: store, of: item)
    return changes + step.changes(of: item)
  }

  /// The contents that a file gets; `nil` if it stays as it is.
  private func result(
    of resolution: FileResolution, _ chosen: StoredVersion?, in store: VersionStore
  ) throws -> ContentHash? {
    switch resolution {
    case .current, .all: nil
    case .version: try chosen.flatMap { try store.hashed($0).hash }
    case .merged(let data): ContentHash(of: Array(data))
    }
  }

  /// Makes a version a file of its own: `name (conflict of DEVICE 2).txt`, or without a device if that isn't known.
  private func restoreBeside(_ path: SystemPath, _ stored: StoredVersion, _ store: VersionStore) throws {
    let name = path.lastComponent.bytes
    let type = path.pathExtension == nil ? [] : name[(name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex)...]
    let stem = name.dropLast(type.count)
    let device = String(stored.attributes.deviceName.map { $0 == "/" ? "-" : $0 })
    let conflict = device.isEmpty ? "conflict" : "conflict of \(device)"
    for number in 1... {
      let suffix = number == 1 ? "" : " \(number)"
      let target = path.parent.appending(SystemPath(bytes: stem + Array(" (\(conflict)\(suffix))".utf8) + type))
      if try store.restoreIfFree(stored, to: target) { return }
    }
  }
}

extension ConflictResolution {
  /// The changes of which presenters have to be notified.
  func changes(of item: ItemID) -> [VersionChange] {
    resolved.map { VersionChange(.resolved, FileVersion.ID(item, $0)) }
      + removed.map { VersionChange(.lost, FileVersion.ID(item, $0)) }
  }
}

extension FileResolution {
  /// Whether nothing of a version is missing in the result.
  fileprivate func has(_ version: FileVersion) -> Bool {
    switch self {
    case .current: false
    case .version(let chosen): chosen == version
    case .merged, .all: true
    }
  }

  fileprivate var overwrites: Bool {
    switch self {
    case .current, .all: false
    case .version, .merged: true
    }
  }
}
