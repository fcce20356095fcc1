internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// A version takes the place of a file, whose contents become a version first.

extension VersionKeeper {
  func restore(_ version: FileVersion, to url: URL) throws -> URL {
    if version.isCurrent { throw Self.currentVersionError(version) }
    guard let stored = version.stored else {
      return try withSnapshot(ofCopies: version) { try restore($0, to: url) }
    }
    return try restore(stored, to: url)
  }

  private func restore(_ stored: StoredVersion, to url: URL) throws -> URL {
    let target = Self.url(url, withTypeOf: stored)
    if target == url {
      return try coordinator.blocking.write(url, options: .forMerging) { access in
        let path = access.canonicalPath
        try restore(stored, inPlaceOf: path, to: path) { change in change.announce(by: access) }
        return access.url
      }
    }
    let intents = [
      FileAccessIntent.writing(url, options: .forMoving), FileAccessIntent.writing(target, options: .forReplacing),
    ]
    return try coordinator.blocking.coordinate(intents) { items in
      let (old, new) = (items[0].canonicalPath, items[1].canonicalPath)
      try checkReplaceable(old)
      let wasThere = try status(of: old) != nil
      try restore(stored, inPlaceOf: old, to: new) { change in change.announce(by: items[1]) }
      if wasThere { try items[0].didMove(to: items[1].url) }
      return items[1].url
    }
  }

  /// Puts the contents of a version in the place of a file, which gets another name if it's to have another extension.
  ///
  /// The overwritten contents become a version first, also those that a program that doesn't wait puts there in the last instant.
  func restore(
    _ version: StoredVersion, inPlaceOf old: SystemPath, to path: SystemPath, _ announce: (VersionChange) -> Void
  ) throws {
    var changes: [VersionChange] = []
    defer { for change in changes { announce(change) } }
    // A task that's cancelled from here on would leave half of it.
    let keeper = cancellable(by: nil)
    try checkKind(of: old, for: version)
    if old != path {
      try checkFree(path, for: old)
      try withStore(at: [path]) { store in try storeOfVersion(version, insteadOf: store).verify(version) }
      if try status(of: old) != nil { return try keeper.restore(version, from: old, to: path) { changes.append($0) } }
    }
    try keeper.restore(version, over: path) { changes.append($0) }
  }

  private func restore(
    _ version: StoredVersion, from old: SystemPath, to new: SystemPath, _ note: @escaping (VersionChange) -> Void
  ) throws {
    let (kept, state) = try keepState(of: old)
    if let kept { note(VersionChange(.gained, kept)) }
    let attributes = attributes
    try withStore(at: [old, new]) { store in
      guard let item = try store.item(at: old, creating: true) else { throw VersionStoreError.nothingThere(old) }
      try storeOfVersion(version, insteadOf: store).restore(
        version, of: item, from: old, to: new, keptAs: state,
        orElse: { (displaced) throws(VersionStoreError) in
          let version = try store.add(contentsOf: displaced, to: item, named: old.lastComponent, attributes)
          note(VersionChange(.gained, FileVersion.ID(item, version.id)))
        }, notedIn: store)
    }
  }

  private func restore(
    _ version: StoredVersion, over path: SystemPath, _ note: @escaping (VersionChange) -> Void
  ) throws {
    let (kept, state) = try keepState(of: path)
    if let kept { note(VersionChange(.gained, kept)) }
    try withStore(at: [path]) { store in
      try storeOfVersion(version, insteadOf: store).restore(
        version, to: path, over: target(state, of: kept?.item, at: path, in: store, note), notedIn: store)
    }
  }

  /// The store that has a version: it may be restored to another volume than that of its file.
  func storeOfVersion(_ version: StoredVersion, insteadOf store: VersionStore) throws -> VersionStore {
    if try store.versionIfPresent(version.id, of: version.item) != nil { return store }
    for directory in try storage.otherDirectories(than: store.root) where VersionStore.exists(at: directory) {
      let other = try VersionStore(at: directory, worker: Self.worker, isAlive: Self.isAlive, time: time)
      if try other.versionIfPresent(version.id, of: version.item) != nil { return other }
    }
    throw VersionStoreError.versionIsGone(version.id)
  }

  /// A file takes the place of a directory, or a directory that of a file, only if they're the same item: a person who names a directory
  /// may mean a file in it.
  private func checkKind(of path: SystemPath, for version: StoredVersion) throws {
    try checkReplaceable(path)
    guard let status = try status(of: path), (status.kind == .directory) != version.isPackage else { return }
    let isItsOwn = try withStoreIfPresent(at: path, otherwise: false) { store in
      try store.item(at: path, creating: false) == version.item
    }
    if isItsOwn { return }
    let (there, restored) = version.isPackage ? ("file", "directory") : ("directory", "file")
    throw FileVersionError(
      .fileExists,
      "'\(path)' is a \(there), and the version is a \(restored). Name another path, or move the \(there) away.")
  }

  private func checkReplaceable(_ path: SystemPath) throws {
    let kind: String
    switch try HostFileSystem().statusIfPresent(of: path)?.kind {
    case nil, .regular, .directory: return
    case .symbolicLink:
      let target = try? HostFileSystem().readLink(path, at: .workingDirectory)
      throw FileVersionError(
        .notAFile,
        "'\(path)' is a symbolic link\(target.map { " to '\($0)'" } ?? ""), which a version doesn't replace. Restore it to where the "
          + "link leads, or to another path.")
    case .fifo: kind = "a pipe"
    case .socket: kind = "a socket"
    case .characterDevice, .blockDevice: kind = "a device"
    case .unknown: kind = "something else than a file"
    }
    throw FileVersionError(
      .notAFile, "'\(path)' is \(kind), which a version doesn't replace. Restore it to another path, or move it away.")
  }

  /// A file gets the extension of a version only where no other file has that name.
  private func checkFree(_ target: SystemPath, for file: SystemPath) throws {
    if try HostFileSystem().statusIfPresent(of: target) == nil { return }
    throw FileVersionError(
      .fileExists,
      "'\(file)' would become '\(target)', with the extension of the version, and another file is there. Move that away, or restore "
        + "the version to a path with its extension.")
  }

  /// The name of the file with the extension of the version, if that has another one; byte by byte.
  static func url(_ url: URL, withTypeOf version: StoredVersion) -> URL {
    guard let type = version.name.pathExtensionBytes, let path = SystemPath(url), type != path.pathExtensionBytes else {
      return url
    }
    let name = path.lastComponent.bytes
    let stem = name.dropLast(path.pathExtensionBytes.map { $0.count + 1 } ?? 0)
    let target = path.parent.appending(SystemPath(bytes: stem + [UInt8(ascii: ".")] + type))
    return target.url ?? url
  }
}

extension SystemPath {
  /// The bytes behind the last dot, as ``pathExtension`` has them.
  fileprivate var pathExtensionBytes: [UInt8]? {
    let name = lastComponent.bytes
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0, dot < name.count - 1 else { return nil }
    return Array(name[(dot + 1)...])
  }
}
