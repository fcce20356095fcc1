internal import ContentHashing
internal import FileCoordination
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

// Conflict copies that sync engines have put beside a file are its versions, as if they were in the store. A copy disappears only
// after its contents are there.

extension VersionKeeper {
  private var finder: ConflictCopyFinder { ConflictCopyFinder(conflictCopies) }

  // MARK: - Listing

  /// Adds the conflict copies beside a file to the versions that are kept of it.
  ///
  /// Copies with the same contents are one version. A copy that a crash has left beside the file after it got into the store is that
  /// version.
  ///
  /// - Parameters:
  ///   - kept: The versions, newest first.
  ///   - path: The file.
  ///   - claimed: The copies to which there's access; all unless stated.
  /// - Returns: The versions, copies first.
  /// - Throws: Errors of the store and of system calls.
  /// - Complexity: O(names in the directory), and O(bytes of the copies).
  func addingCopies(
    to kept: [FileVersion], at path: SystemPath, claimed: Set<SystemPath>? = nil
  ) throws -> [FileVersion] {
    var copies = try finder.copies(of: path)
    if let claimed { copies.removeAll { !claimed.contains($0.path) } }
    if copies.isEmpty { return kept }
    let store = try store(for: path)
    var groups: [(contents: ItemContents, copies: [ConflictCopy])] = []
    for copy in copies {
      guard let contents = try store.contents(ofItemAt: copy.path) else { continue }
      if let index = groups.firstIndex(where: { $0.contents == contents }) {
        groups[index].copies.append(copy)
      } else {
        groups.append((contents, [copy]))
      }
    }
    let item = try withStore(at: [path]) { store in try store.item(at: path, creating: true) }
    guard let item else { return kept }
    var versions = kept
    let sizes = Set(groups.map(\.contents.size))
    for (index, version) in versions.enumerated() where !version.isResolved {
      guard let stored = version.stored, stored.hash == nil, sizes.contains(stored.size) else { continue }
      versions[index] = FileVersion(try store.hashed(stored), in: store)
    }
    for (contents, copies) in groups.reversed() {
      let index = versions.firstIndex { $0.stored?.hash == contents.hash && !$0.isResolved }
      if let index, let stored = versions[index].stored {
        versions[index] = FileVersion(stored, in: store, copies: copies)
      } else if let version = FileVersion(copies, of: item, at: path, contents) {
        versions.insert(version, at: 0)
      }
    }
    return versions
  }

  /// The contents of a copy, if they are those that it was listed for.
  func contents(ofCopies version: FileVersion) throws -> Data {
    for path in version.copies {
      guard try HostFileSystem().statusIfPresent(of: path) != nil else { continue }
      let bytes = try HostFileSystem().contents(of: path)
      if ContentHash(of: bytes).description == version.contentHash { return Data(bytes) }
    }
    throw Self.copyIsGone(version)
  }

  /// Compares what's at the URL of a version with the contents that it was listed for.
  func verify(ofCopies version: FileVersion) throws {
    guard try store(for: version.path).contents(ofItemAt: version.path)?.hash == version.knownHash else {
      throw Self.copyIsGone(version)
    }
  }

  /// Looks at the file of a conflict copy before the copy.
  ///
  /// Engines rename the file to the copy, and put another file in its place. So what had the history has the name of the copy now, and
  /// the history belongs to the name of the file.
  func lookAtFile(ofCopy path: SystemPath) throws {
    guard !conflictCopies.isEmpty, path != .root,
      let name = ConflictCopyName(path.lastComponent, engines: conflictCopies),
      let original = try finder.copy(name, in: path.parent)?.original
    else { return }
    try withStore(at: [original]) { store in _ = try store.item(at: original, creating: false) }
  }

  // MARK: - Access

  /// How many copies one call cares about; the next call cares about the others.
  private static let copyCountMax = FileCoordinator.itemCountMax - 1

  /// The accesses to what is beside a file that a change of its versions needs.
  func claimsOnCopies(of url: URL) throws -> [FileAccessIntent] {
    if conflictCopies.isEmpty { return [] }
    let copies = try finder.copies(of: coordinator.canonicalPath(of: url))
    return copies.prefix(Self.copyCountMax).map { .writing(Self.url(of: $0.path), options: .forDeleting) }
  }

  /// Lets nobody else change the versions of a file, or the copies beside it, meanwhile.
  func changeVersions<Result>(
    of url: URL, _ body: (borrowing FileAccess, _ claimed: Set<SystemPath>) throws -> Result
  ) throws -> Result {
    let claims = try claimsOnCopies(of: url)
    if claims.isEmpty {
      return try coordinator.blocking.write(url, options: .contentIndependentMetadataOnly) { try body($0, []) }
    }
    let intents = [FileAccessIntent.writing(url, options: .contentIndependentMetadataOnly)] + claims
    return try coordinator.blocking.coordinate(intents) { items in try body(items[0], items.claimedCopies) }
  }

  // MARK: - Taking

  /// The version in the store; conflict copies with its contents are moved there first.
  ///
  /// - Returns: `nil` if there's no copy any more with the contents that the version was listed for.
  func stored(
    _ version: FileVersion, at path: SystemPath, claimed: Set<SystemPath>, in store: VersionStore,
    _ changes: inout [VersionChange]
  ) throws -> StoredVersion? {
    guard !version.copies.isEmpty, let hash = version.contentHash.flatMap({ ContentHash($0) }) else {
      return version.stored
    }
    let item = version.id.item
    try store.completeMoves(of: item)
    var attributes = attributes
    // The author of a copy is known at most from its name.
    (attributes.deviceName, attributes.deviceID) = ("", "")
    (attributes.author, attributes.isConflict) = (version.author, true)
    var kept = version.stored
    for copy in version.copies where claimed.contains(copy) {
      let taken = try store.take(copy, expecting: hash, to: item, named: path.lastComponent, attributes)
      guard let taken else { continue }
      if let known = kept, taken.hash == hash {
        // The version may have lost a byte since, and the copy is all there is then.
        if store.isIntact(known) {
          try store.remove(taken.id, of: item)
          continue
        }
        // Another program may have removed it.
        if (try? store.remove(known.id, of: item)) != nil {
          changes.append(VersionChange(.lost, FileVersion.ID(item, known.id)))
        }
      }
      changes.append(VersionChange(.gained, FileVersion.ID(item, taken.id)))
      // Contents that a program has written at that moment are another version, and a conflict still.
      if taken.hash == hash { kept = taken }
    }
    return kept
  }

  /// The same inside of an access, which notifies presenters.
  func stored(
    _ version: FileVersion, _ access: borrowing FileAccess, claimed: Set<SystemPath>
  ) throws -> StoredVersion {
    if let stored = version.stored, version.copies.isEmpty { return stored }
    let path = access.canonicalPath
    var changes: [VersionChange] = []
    let stored: StoredVersion? = try withStore(at: [path]) { store in
      try self.stored(version, at: path, claimed: claimed, in: store, &changes)
    }
    for change in changes { change.announce(by: access) }
    guard let stored else { throw Self.copyIsGone(version) }
    return stored
  }

  /// A version of a copy's contents that stays a version as long as `body` runs, or the process; the copy stays where it is.
  func withSnapshot<Result>(
    ofCopies version: FileVersion, _ body: (StoredVersion) throws -> Result
  ) throws -> Result {
    let item = version.id.item
    for copy in version.copies {
      guard try HostFileSystem().statusIfPresent(of: copy) != nil else { continue }
      let name = ConflictCopyName(copy.lastComponent, engines: conflictCopies)
      let original = try name.flatMap { try finder.copy($0, in: copy.parent)?.original }
      let path = original ?? copy.parent.appending(SystemPath(version.name))
      let snapshot = try withStore(at: [path]) { store in
        try store.lend(contentsOf: copy, to: item, named: path.lastComponent, attributes)
      }
      defer { try? withStore(at: [path]) { store in try store.endLoan(of: snapshot) } }
      if snapshot.hash == version.knownHash { return try body(snapshot) }
    }
    throw Self.copyIsGone(version)
  }

  static func copyIsGone(_ version: FileVersion) -> FileVersionError {
    FileVersionError(
      .versionIsGone,
      "No conflict copy beside the file has the contents of the version \(version.id) any more. List the versions again."
    )
  }
}

extension FileAccessSet {
  /// The items behind the first one.
  var claimedCopies: Set<SystemPath> { Set((1..<count).map { self[$0].canonicalPath }) }
}

extension FileVersion {
  /// The contents of copies beside a file, as a version.
  init?(_ copies: [ConflictCopy], of item: ItemID, at path: SystemPath, _ contents: ItemContents) {
    guard let copy = copies.first, let status = try? HostFileSystem().statusIfPresent(of: copy.path) else { return nil }
    id = ID(item, nil, copy: contents.hash)
    isPackage = status.kind == .directory
    place = copy.path
    name = path.lastComponent.description
    size = contents.size
    modificationDate = Date(nanosecondsSince1970: copy.modificationTime)
    additionDate = nil
    deviceName = nil
    deviceID = nil
    author = copy.name.author
    parents = []
    knownHash = contents.hash
    isConflict = true
    isResolved = false
    isDiscardable = false
    isBase = false
    conflictCopy = copy.name
    stored = nil
    self.copies = copies.map(\.path)
  }

  /// Whether it's in the store what was a copy when it had that identifier.
  func wasTaken(as id: ID) -> Bool {
    id.copy != nil && id.item == self.id.item && isConflict && stored?.hash == id.copy
  }
}
