internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// One operation each, inside of an access to the file.

extension VersionKeeper {
  func currentVersion(at path: SystemPath) throws -> FileVersion? {
    guard let status = try statusOrAbsence(of: path) else { return nil }
    // Without a history, or if it can't be looked at, the answer is about the file.
    let alone = FileVersion(currentAt: path, status, by: attributes, after: nil, isKept: false)
    do {
      try lookAtFile(ofCopy: path)
      return try withStoreIfPresent(at: path, otherwise: alone) { store in
        guard let item = try store.item(at: path, creating: false) else { return alone }
        let newest = try store.newestVersion(of: item)
        return FileVersion(
          currentAt: path, status, by: attributes, after: newest,
          isKept: newest.map { store.surelyHas($0, status) } ?? false)
      }
    } catch {
      guard FileVersionError(error).isOfUnwritableVolume else { throw error }
      return alone
    }
  }

  func removedVersions(at path: SystemPath) throws -> [FileVersion]? {
    if try status(of: path) == nil { return try removedVersions(ofGone: path) }
    return try withStoreIfPresent(at: path, otherwise: []) { store in
      guard let item = try store.item(at: path, creating: false) else { return [] }
      try forgetRemovals(in: store, of: item)
      return try store.removedVersions(of: item).map { FileVersion($0, in: store) }
    }
  }

  /// Those of the file that was there last; `nil` if there are none.
  private func removedVersions(ofGone path: SystemPath) throws -> [FileVersion]? {
    let removed: [FileVersion] = try withStoreIfPresent(at: path, otherwise: []) { store in
      guard let gone = try store.goneItems(below: path).filter({ $0.path == path }).max(by: { $0.time < $1.time })
      else {
        return []
      }
      try forgetRemovals(in: store, of: gone.item)
      return try store.removedVersions(of: gone.item).map { FileVersion($0, in: store) }
    }
    return removed.isEmpty ? nil : removed
  }

  func recover(_ version: FileVersion, _ access: borrowing FileAccess) throws -> FileVersion {
    guard let stored = version.stored else { throw Self.currentVersionError(version) }
    let back = try withHistory(of: stored, at: access.canonicalPath) { store in
      let stored = try store.reinstate(stored.id, of: stored.item)
      return FileVersion(stored, in: store)
    }
    access.didChangeVersion(.gained, version: back.id.description)
    return back
  }

  /// Removes a version; without a window it can't be brought back.
  ///
  /// A caller that removes several versions forgets those that were removed long ago itself, once.
  func remove(_ version: StoredVersion, from store: VersionStore, forgetting: Bool = true) throws {
    if removalWindow <= .zero { return try store.remove(version.id, of: version.item) }
    try store.retire(version.id, of: version.item)
    if forgetting { try forgetRemovals(in: store, of: version.item) }
  }

  /// A version that's kept of a file; `nil` when it was removed, is another file's, or its record isn't what it was.
  func version(_ id: VersionID, of item: ItemID, at path: SystemPath) throws -> FileVersion? {
    if try statusOrAbsence(of: path) == nil { return nil }
    return try withStoreIfPresent(at: path, otherwise: nil) { store in
      guard try store.item(at: path, creating: false) == item else { return nil }
      // Otherwise it's handed out as it is.
      _ = try? store.unfold(of: item)
      do { return try store.versionIfPresent(id, of: item).map { FileVersion($0, in: store) } } catch VersionStoreError
        .damaged
      {
        return nil
      }
    }
  }

  func newestVersions(at path: SystemPath, countMax: Int) throws -> [FileVersion]? {
    if try statusOrAbsence(of: path) == nil { return nil }
    return try withStoreIfPresent(at: path, otherwise: []) { store in
      guard let item = try store.item(at: path, creating: false) else { return [] }
      return try store.newestVersions(of: item, countMax: countMax).map { FileVersion($0, in: store) }
    }
  }

  func versions(at path: SystemPath, _ claimed: Set<SystemPath>? = nil) throws -> [FileVersion]? {
    if try statusOrAbsence(of: path) == nil { return nil }
    try lookAtFile(ofCopy: path)
    let kept: [FileVersion] = try withStoreIfPresent(at: path, otherwise: []) { store in
      guard let item = try store.item(at: path, creating: false) else { return [] }
      return try store.versions(of: item).reversed().map { FileVersion($0, in: store) }
    }
    return try addingCopies(to: kept, at: path, claimed: claimed)
  }

  func damagedRecords(at path: SystemPath) throws -> [URL] {
    try withStoreIfPresent(at: path, otherwise: []) { store in
      guard let item = try store.item(at: path, creating: false) else { return [] }
      return try (store.listing(of: item).damaged + store.damagedRemovals(of: item)).map(Self.url)
    }
  }

  func status(of path: SystemPath) throws -> FileStatus? {
    guard let status = try HostFileSystem().statusIfPresent(of: path) else { return nil }
    if status.kind == .symbolicLink {
      let target = try? HostFileSystem().readLink(path, at: .workingDirectory)
      throw FileVersionError(
        .notAFile,
        "'\(path)' is a symbolic link\(target.map { " to '\($0)'" } ?? ""), and there are no versions of links. Pass the path of the file "
          + "to which it leads.")
    }
    guard status.kind == .regular || status.kind == .directory else { throw VersionStoreError.notAFile(path) }
    return status
  }

  /// The same for a look at versions: a file that's missed begins a history of its own when it's there again later.
  private func statusOrAbsence(of path: SystemPath) throws -> FileStatus? {
    if let status = try status(of: path) { return status }
    // The answer is the same if that can't be noted, on a volume that's read-only for example.
    try? noteAbsence(at: path)
    return nil
  }

  private func noteAbsence(at path: SystemPath) throws {
    let directory = try storage.directory(for: path, making: false)
    if !VersionStore.exists(at: directory) { return }
    if try !VersionStore(at: directory, worker: Self.worker, isAlive: Self.isAlive, time: time).hasPlace(path) {
      return
    }
    try withStore(at: [path], making: false) { store in _ = try store.item(at: path, creating: false) }
  }

  func contents(of version: FileVersion) throws -> Data {
    if version.stored == nil, !version.copies.isEmpty { return try contents(ofCopies: version) }
    guard let stored = version.stored else { throw Self.currentVersionError(version) }
    let store = try VersionStore(at: version.place, worker: Self.worker, isAlive: Self.isAlive, time: time)
    let path = version.removedPath ?? store.path(of: stored)
    guard try HostFileSystem().statusIfPresent(of: path) != nil else {
      // The record says that they were there.
      if try store.versionIfPresent(stored.id, of: stored.item) != nil { throw VersionStoreError.damaged(path) }
      throw VersionStoreError.versionIsGone(stored.id)
    }
    // One that was removed is hashed when it's brought back.
    let hashed = version.removedPath == nil ? try store.hashed(stored) : stored
    let bytes = try HostFileSystem().contents(of: path)
    if !hashed.isOf(bytes) { throw VersionStoreError.damaged(path) }
    return Data(bytes)
  }

  func verify(_ version: FileVersion) throws {
    if version.stored == nil, !version.copies.isEmpty { return try verify(ofCopies: version) }
    guard let stored = version.stored else { throw Self.currentVersionError(version) }
    let store = try VersionStore(at: version.place, worker: Self.worker, isAlive: Self.isAlive, time: time)
    if version.removedPath != nil {
      guard let removed = try store.removedVersions(of: stored.item).first(where: { $0.version.id == stored.id }) else {
        throw VersionStoreError.versionIsGone(stored.id)
      }
      return try store.verify(removed)
    }
    guard try store.versionIfPresent(stored.id, of: stored.item) != nil else {
      throw VersionStoreError.versionIsGone(stored.id)
    }
    try store.verify(stored)
  }

  /// Where the contents of a version are by now, byte by byte.
  func path(of version: FileVersion) throws -> SystemPath {
    guard let stored = version.stored, version.removedPath == nil else { return version.path }
    return try VersionStore(at: version.place, worker: Self.worker, isAlive: Self.isAlive, time: time).path(of: stored)
  }

  /// Keeps others from changing a history meanwhile that has to be that of a file.
  func withHistory<Result>(
    of version: StoredVersion, at path: SystemPath, _ body: (VersionStore) throws -> Result
  ) throws -> Result {
    try withStore(at: [path]) { store in
      if let item = try store.item(at: path, creating: false), item != version.item {
        throw Self.otherFileError(version, path)
      }
      return try body(store)
    }
  }

  func add(_ access: borrowing FileAccess, from source: SystemPath, _ addition: Addition) throws -> FileVersion {
    let version = try add(at: access.canonicalPath, from: source, addition)
    access.didChangeVersion(.gained, version: version.id.description)
    return version
  }

  func add(at path: SystemPath, from source: SystemPath, _ addition: Addition) throws -> FileVersion {
    guard let status = try status(of: path) else { throw VersionStoreError.nothingThere(path) }
    if status.kind == .directory, !addition.isPackage { try checkPackage(at: path) }
    var attributes = attributes
    attributes.isConflict = addition.isConflict
    attributes.isBase = addition.isBase
    attributes.parents = addition.parents.compactMap(\.version)
    try lookAtFile(ofCopy: path)
    return try withItem(at: path) { store, item in
      let stored = try store.add(
        contentsOf: source, to: item, named: path.lastComponent, attributes,
        taking: addition.byMoving ? .moving : .copying)
      return FileVersion(stored, in: store)
    }
  }

  /// A person who names a directory may mean the files in it: all of them would be one version, and be replaced together.
  private func checkPackage(at path: SystemPath) throws {
    if path.pathExtension?.isEmpty == false { return }
    let isKnown = try withStoreIfPresent(at: path, otherwise: false) { store in
      try store.item(at: path, creating: false) != nil
    }
    if isKnown { return }
    throw FileVersionError(
      .notAFile,
      "'\(path)' is a directory, and its name has no extension as a package has. Pass 'isPackage' to keep all of it as one version, or keep "
        + "versions of the files in it by 'keepVersions(below:)'.")
  }

  /// Keeps what's at a path, if anything is.
  func keepIfPresent(at path: SystemPath) throws -> FileVersion.ID? {
    if try HostFileSystem().statusIfPresent(of: path) == nil { return nil }
    return try withItem(at: path) { store, item in
      FileVersion.ID(item, try store.add(contentsOf: path, to: item, attributes).id)
    }
  }

  /// The same for what's about to be replaced.
  ///
  /// - Returns: The version, if something is there, and what to pass to ``target(_:at:in:_:)``.
  func keepState(of path: SystemPath) throws -> (id: FileVersion.ID?, state: KeptState) {
    if try HostFileSystem().statusIfPresent(of: path) == nil { return (nil, .nothing) }
    return try withItem(at: path) { store, item in
      let (version, state) = try store.keepState(of: path, for: item, attributes)
      return (version.map { FileVersion.ID(item, $0.id) }, state)
    }
  }

  /// The place of contents that were kept: an item that another program has put there since becomes a version, too.
  func target(
    _ state: KeptState, of item: ItemID?, at path: SystemPath, in store: VersionStore,
    _ announce: @escaping (VersionChange) -> Void
  ) -> RestoringTarget {
    let attributes = attributes
    return .kept(state) { (displaced) throws(VersionStoreError) in
      // The new contents are at the path at this moment, and aren't if this fails: nothing may be concluded from them.
      var item = item
      if item == nil { item = try store.item(at: path, creating: true) }
      guard let item else { throw .nothingThere(path) }
      let version = try store.add(contentsOf: displaced, to: item, named: path.lastComponent, attributes)
      announce(VersionChange(.gained, FileVersion.ID(item, version.id)))
    }
  }

  /// Adds to the history of what is at a path, which begins if there's none.
  private func withItem<Result>(
    at path: SystemPath, _ body: (VersionStore, ItemID) throws -> Result
  ) throws -> Result {
    try withStore(at: [path]) { store in
      guard let item = try store.item(at: path, creating: true) else { throw VersionStoreError.nothingThere(path) }
      try store.completeMarkedMoves(of: item)
      return try body(store, item)
    }
  }

  /// Keeps the contents of a file while it's replaced, if it's there; at each moment the file or the store has them.
  ///
  /// Right before `replace` puts another file in its place, it calls its third argument with that: the file is on the disk then, together
  /// with the version. Its second argument keeps what a program that doesn't wait has written until then.
  func keep(
    _ access: borrowing FileAccess,
    while replace: (SystemPath, SaveTarget, _ settle: @escaping (FileDescriptor) throws(SystemError) -> Void) throws ->
      Void
  ) throws {
    let path = access.canonicalPath
    guard try status(of: path)?.kind == .regular else { return try replace(path, .any, HostFileSystem().synchronize) }
    var kept: [StoredVersion] = []
    let version = try withItem(at: path) { store, item in
      try store.keep(
        path, of: item, attributes, noteOther: { kept.append($0) },
        whileReplacing: { target, settle in try replace(path, target, settle) })
    }
    for version in [version] + kept {
      access.didChangeVersion(.gained, version: FileVersion.ID(version.item, version.id).description)
    }
  }

  func remove(_ versions: [FileVersion], _ access: borrowing FileAccess, _ claimed: Set<SystemPath> = []) throws {
    let path = access.canonicalPath
    var last: StoredVersion?
    var rest = versions[...]
    while !rest.isEmpty {
      var removed: [FileVersion.ID] = []
      defer {
        for id in removed { access.didChangeVersion(.lost, version: id.description) }
      }
      var batch: [StoredVersion] = []
      for version in rest.prefix(Self.removalBatchCount) {
        if version.isCurrent { throw Self.currentVersionError(version) }
        batch.append(try stored(version, access, claimed: claimed))
      }
      rest = rest.dropFirst(batch.count)
      guard let first = batch.first else { break }
      try withHistory(of: first, at: path) { store in
        for stored in batch {
          if stored.item != first.item { throw Self.otherFileError(stored, path) }
          try remove(stored, from: store, forgetting: false)
          removed.append(FileVersion.ID(stored.item, stored.id))
        }
      }
      last = first
    }
    if let last, removalWindow > .zero {
      try withHistory(of: last, at: path) { store in try forgetRemovals(in: store, of: last.item) }
    }
  }

  /// How many versions are removed while others have to wait for the history.
  static let removalBatchCount = 256

  private static func otherFileError(_ version: StoredVersion, _ path: SystemPath) -> FileVersionError {
    FileVersionError(
      .otherFile, "The version \(version.item)/\(version.id) isn't one of '\(path)'. List the versions of that file.")
  }

  func markResolved(
    _ version: FileVersion, _ access: borrowing FileAccess, _ claimed: Set<SystemPath> = []
  ) throws -> FileVersion {
    if version.isResolved { return version }
    let stored = try stored(version, access, claimed: claimed)
    let changed = try markResolved(stored, at: access.canonicalPath)
    access.didChangeVersion(.resolved, version: changed.id.description)
    return changed
  }

  func markResolved(_ version: StoredVersion, at path: SystemPath) throws -> FileVersion {
    let time = time()
    return try withHistory(of: version, at: path) { store in
      let changed = try store.change(version.id, of: version.item) { $0.resolutionTime = $0.resolutionTime ?? time }
      return FileVersion(changed, in: store)
    }
  }

  func markDiscardable(_ version: FileVersion, at path: SystemPath) throws -> FileVersion {
    guard let stored = version.stored else { throw Self.currentVersionError(version) }
    return try withHistory(of: stored, at: path) { store in
      let changed = try store.change(stored.id, of: stored.item) { $0.isDiscardable = true }
      return FileVersion(changed, in: store)
    }
  }

  // MARK: - Directories for new versions

  func makeTemporaryDirectory(for path: SystemPath) throws -> URL {
    Self.url(of: try store(for: path).makeTemporaryDirectory())
  }

  /// The path of an item right inside a directory that ``makeTemporaryDirectory(for:)`` of this process has lent; no file system is asked.
  func pathInTemporaryDirectory(_ url: URL) -> SystemPath? {
    guard let path = SystemPath(url), path.isLexicallyCanonical,
      let root = VersionStore.root(ofTemporaryDirectory: path.parent, madeBy: Self.worker)
    else { return nil }
    return Self.recovered.withLock { $0.contains(root) } ? path : nil
  }

  func removeTemporaryDirectory(_ url: URL) throws {
    let path = SystemPath(url.path(percentEncoded: false))
    if try HostFileSystem().statusIfPresent(of: path) != nil { try HostFileSystem().removeItem(at: path) }
  }

  static func currentVersionError(_ version: FileVersion) -> FileVersionError {
    FileVersionError(.isCurrent, "The version \(version.id) is the current one. Pass one that's kept.")
  }
}

/// A change of which presenters have to be notified.
struct VersionChange {
  let change: FileVersionChange
  let id: FileVersion.ID

  init(_ change: FileVersionChange, _ id: FileVersion.ID) {
    self.change = change
    self.id = id
  }

  func announce(by access: borrowing FileAccess) { access.didChangeVersion(change, version: id.description) }
}
