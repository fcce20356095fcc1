internal import FileCoordination
public import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// A file that several have written at once.
public struct FileConflict: Sendable {
  /// What the file has now.
  public let current: FileVersion
  /// What others have written, newest first; at least one.
  public let others: [FileVersion]
  /// What they all began with, if it's kept.
  public let base: FileVersion?

  let versions: FileVersions

  /// The contents of one of them.
  ///
  /// - Parameter version: A version, not of a package.
  /// - Returns: All of its bytes.
  /// - Throws: ``FileVersionError``.
  public func contents(of version: FileVersion) async throws(FileVersionError) -> Data {
    try await versions.contents(of: version)
  }
}

/// What becomes of a file that several have written at once.
public enum FileResolution: Hashable, Sendable {
  /// It stays as it is.
  case current
  /// It gets the contents of a version.
  case version(FileVersion)
  /// It gets these contents, into which those of the others were merged.
  case merged(Data)
  /// It stays as it is, and each of the others becomes a file beside it.
  case all

  /// The contents that were changed last.
  ///
  /// - Parameter conflict: The conflict.
  /// - Returns: The resolution.
  public static func newest(of conflict: FileConflict) -> FileResolution {
    let newest = conflict.others.max { $0.modificationDate < $1.modificationDate }
    guard let newest, newest.modificationDate > conflict.current.modificationDate else { return .current }
    return .version(newest)
  }
}

extension FileVersions {
  /// Resolves the conflicts of a file in one step: writes the result, and takes the others off the list.
  ///
  /// Presenters save first, and nobody else accesses the file meanwhile. What the result overwrites becomes a version, unless it's a
  /// version already. The others are marked as resolved, and removed unless `keepsOthers`. If `decide` throws, nothing changes.
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
    let (keeper, versions) = (keeper, self)
    return try await keeper.coordinator.write(url, options: .forMerging) { access in
      let path = access.canonicalPath
      let conflict = try await versions.perform { keeper in try keeper.conflict(at: path, versions) }
      guard let conflict else { return false }
      let resolution = try await decide(conflict)
      let changes = try await versions.perform { keeper in
        try keeper.carryOut(resolution, of: conflict, at: path, keepsOthers: keepsOthers)
      }
      for (change, version) in changes { access.didChangeVersion(change, version: version.description) }
      return true
    }
  }

  /// Removes versions of a file by a policy.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - policy: Which versions go.
  ///   - isDryRun: Whether they are only named.
  /// - Returns: The versions that were removed, or would be.
  /// - Throws: ``FileVersionError``.
  @discardableResult
  public func prune(
    _ url: URL, by policy: FileVersionRetention, isDryRun: Bool = false
  ) async throws(FileVersionError) -> [FileVersion] {
    let removals = Set(policy.removals(among: try await versions(of: url) ?? [], at: .now))
    if isDryRun || removals.isEmpty { return removals.sorted { $0.id < $1.id } }
    return try await removeOtherVersions(of: url) { removals.contains($0) }
  }
}

extension VersionKeeper {
  func conflict(at path: SystemPath, _ versions: FileVersions) throws -> FileConflict? {
    guard let current = try currentVersion(at: path), let kept = try self.versions(at: path) else { return nil }
    let others = kept.filter { !$0.isResolved }
    guard let oldest = others.last else { return nil }
    let parents = Set(others.flatMap(\.parents))
    let candidates = kept.filter { !$0.isConflict && $0.id < oldest.id }
    let base = candidates.first(where: \.isBase) ?? candidates.first { parents.contains($0.id) }
    return FileConflict(current: current, others: others, base: base, versions: versions)
  }

  /// - Returns: What presenters are to be notified of.
  func carryOut(
    _ resolution: FileResolution, of conflict: FileConflict, at path: SystemPath, keepsOthers: Bool
  ) throws -> [(FileVersionChange, FileVersion.ID)] {
    var changes: [(FileVersionChange, FileVersion.ID)] = []
    try withStore(at: [path]) { store in
      guard let item = try store.item(at: path, creating: true) else { throw VersionStoreError.nothingThere(path) }
      if resolution.overwrites {
        let kept = try store.add(contentsOf: path, to: item, attributes)
        changes.append((.gained, FileVersion.ID(item, kept.id)))
      }
      switch resolution {
      case .current: break
      case .version(let version): if let stored = version.stored { try store.restore(stored, to: path) }
      case .merged(let data): try HostFileSystem().replaceContents(of: path, with: Array(data))
      case .all: for version in conflict.others { try restoreBeside(path, version, store) }
      }
      for version in conflict.others {
        guard let stored = version.stored else { continue }
        let time = Int64(Date.now.timeIntervalSince1970 * 1e9)
        _ = try store.change(stored.id, of: stored.item) { $0.resolutionTime = $0.resolutionTime ?? time }
        changes.append((.resolved, version.id))
        if keepsOthers { continue }
        try store.remove(stored.id, of: stored.item)
        changes.append((.lost, version.id))
      }
    }
    return changes
  }

  /// Makes a version a file of its own: `name (conflict of DEVICE 2).txt`.
  private func restoreBeside(_ path: SystemPath, _ version: FileVersion, _ store: VersionStore) throws {
    guard let stored = version.stored else { return }
    let name = path.lastComponent.description
    let type = path.pathExtension.map { "." + $0 } ?? ""
    let stem = name.dropLast(type.count)
    let device = stored.attributes.deviceName.map { $0 == "/" ? "-" : $0 }
    for number in 1... {
      let suffix = number == 1 ? "" : " \(number)"
      let target = path.parent.appending("\(stem) (conflict of \(String(device))\(suffix))\(type)")
      if try HostFileSystem().statusIfPresent(of: target) != nil { continue }
      return try store.restore(stored, to: target)
    }
  }
}

extension FileResolution {
  fileprivate var overwrites: Bool {
    switch self {
    case .current, .all: false
    case .version, .merged: true
    }
  }
}
