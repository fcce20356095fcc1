internal import ContentHashing
package import SystemInterface

// A version is what its record says. So that a list of many doesn't read as many files, a list leaves a copy of the records behind, in
// one file: a cache. A version is taken from there if its directory is still there, because the only step that changes a record,
// `change`, removes the cache before. Nothing is lost with it.

extension VersionStore {
  /// The versions of an item whose records are intact, oldest first.
  ///
  /// A byte of a record that has changed since it got into the cache isn't noticed here, but by ``listing(of:)``.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - unfolding: Whether bare versions get directories; for that the caller must be the only one who changes the history. They aren't
  ///     listed otherwise.
  /// - Returns: The versions.
  /// - Throws: The error of a system call.
  /// - Complexity: O(versions of the item); one file is read, and one for each version since it was written, of which there
  ///   are at most ``VersionStoreLimits/uncachedCountMax`` or a 64th of them, or that isn't hashed.
  package func versions(
    of item: ItemID, unfolding: Bool = true
  ) throws(VersionStoreError) -> [StoredVersion] {
    let ids = unfolding ? try listedIDs(of: item) : try versionIDs(of: item)
    if ids.isEmpty { return [] }
    let cached = ids.count > limits.uncachedCountMax ? cachedVersions(of: item) : [:]
    let (versions, readCount, _) = try read(ids, of: item, cached)
    // Another process may change a record while a caller reads that doesn't keep it from doing so: the cache would have the former one.
    if !unfolding { return versions }
    // So that most lists of many versions don't write a cache.
    if readCount > max(limits.uncachedCountMax, ids.count / Self.cachingShare) { cache(versions, of: item) }
    return versions
  }

  /// A list writes the cache anew when one of so many versions wasn't in it.
  private static let cachingShare = 64

  /// The newest versions of an item whose records are intact, newest first.
  ///
  /// - Complexity: O(versions of the item) for their names; the records of `countMax` are read.
  package func newestVersions(of item: ItemID, countMax: Int) throws(VersionStoreError) -> [StoredVersion] {
    var versions: [StoredVersion] = []
    for id in try listedIDs(of: item).reversed() {
      if versions.count >= countMax { break }
      do throws(VersionStoreError) {
        if let version = try versionIfPresent(id, of: item) { versions.append(version) }
      } catch .damaged {}
    }
    return versions
  }

  /// The versions of an item, oldest first, and the records that aren't what they were or are missing.
  ///
  /// - Complexity: O(versions of the item): each record is read.
  package func listing(
    of item: ItemID
  ) throws(VersionStoreError) -> (versions: [StoredVersion], damaged: [SystemPath]) {
    let ids = try listedIDs(of: item)
    let (versions, _, damaged) = try read(ids, of: item, [:])
    if versions.count + damaged.count == ids.count { return (versions, damaged) }
    let known = Set(versions.map { recordPath(of: $0.id, of: item) } + damaged)
    var missing: [SystemPath] = []
    for id in ids {
      let record = recordPath(of: id, of: item)
      if known.contains(record) { continue }
      if try isMissing(id, of: item) { missing.append(record) }
    }
    return (versions, damaged + missing)
  }

  /// Whether a version lacks its record; not so if it was removed meanwhile, or was never completed.
  private func isMissing(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> Bool {
    if try status(of: layout.directory(of: id, of: item)) == nil { return false }
    if try status(of: layout.mark(of: id, of: item)) != nil { return false }
    return try status(of: recordPath(of: id, of: item)) == nil
  }

  /// The names of an item's versions, oldest first; leftovers of killed saves are among them, and bare ones get directories before, if
  /// there's room for that.
  package func listedIDs(of item: ItemID) throws(VersionStoreError) -> [VersionID] {
    do throws(VersionStoreError) {
      try completeKilledSaves(of: item)
      try unfold(of: item)
    } catch {
      // Without room, on a volume that can't be written, or if one of them can't be read, they are listed as they are.
      guard case .system = error else { throw error }
      return try Set(versionIDs(of: item) + bareVersionIDs(of: item)).sorted()
    }
    return try versionIDs(of: item)
  }

  /// The names of an item's versions that have a directory, oldest first.
  func versionIDs(of item: ItemID) throws(VersionStoreError) -> [VersionID] {
    try unsortedNames(in: layout.directory(of: item)).compactMap { VersionID($0) }.sorted()
  }

  /// Of the directory of an item: the version that was drawn last, so that an addition needn't look for it among all of them.
  private static let newestName = ExtendedAttributeName("user.file-coordination.newest")

  /// Draws the name of a version: no later one is there, or was.
  ///
  /// - Returns: The name, the time of day if the name has a later one, and whether the item surely has a directory.
  /// - Complexity: O(1); where directories have no extended attributes, and once after a backup was put back, O(versions of the item).
  func drawID(for item: ItemID) throws(VersionStoreError) -> (
    id: VersionID, clockTime: Int64?, hasDirectory: Bool
  ) {
    let now = max(time(), 0)
    let last = lastDrawnID(of: item)
    let newest = if let last { last } else { try (versionIDs(of: item) + bareVersionIDs(of: item)).max() }
    let id = VersionID(at: UInt64(now), after: newest)
    let clockTime = id.time == UInt64(now) ? nil : now
    do throws(SystemError) {
      try files.setExtendedAttribute(
        Self.newestName, ofItemAt: layout.directory(of: item), to: Array(id.description.utf8))
      return (id, clockTime, true)
    } catch let error {
      // An older one mustn't remain there.
      if last != nil { throw .system(error) }
      return (id, clockTime, false)
    }
  }

  /// The version of an item that was drawn last, if that was noted; it may be gone, or never have been committed.
  func lastDrawnID(of item: ItemID) -> VersionID? {
    let bytes = try? files.extendedAttribute(Self.newestName, ofItemAt: layout.directory(of: item))
    return bytes.flatMap { VersionID($0[...]) }
  }

  private func read(
    _ ids: [VersionID], of item: ItemID, _ cached: [VersionID: StoredVersion]
  ) throws(VersionStoreError) -> (versions: [StoredVersion], readCount: Int, damaged: [SystemPath]) {
    var versions: [StoredVersion] = []
    var damaged: [SystemPath] = []
    var readCount = 0
    versions.reserveCapacity(ids.count)
    var buffer: [UInt8] = []
    // Opened for the first record that has to be read, and as long as it's open each of them is two names away.
    var directory: FileDescriptor?
    defer { if let directory { try? files.close(directory) } }
    for id in ids {
      if let version = cached[id] {
        versions.append(version)
        continue
      }
      if directory == nil {
        directory = try? files.open(layout.directory(of: item), at: .workingDirectory, flags: .directory, mode: 0)
        buffer = [UInt8](repeating: 0, count: 1 << 13)
      }
      do throws(VersionStoreError) {
        var version = directory.flatMap { versionIfIntact(id, of: item, in: $0, &buffer) }
        if version == nil { version = try versionIfPresent(id, of: item) }
        guard let version else { continue }
        versions.append(version)
        if version.hash != nil { readCount += 1 }
      } catch .damaged(let path) { damaged.append(path) }
    }
    return (versions, readCount, damaged)
  }

  /// Reads a record at the least cost: all unusual cases are left to ``versionIfPresent(_:of:)``.
  private func versionIfIntact(
    _ id: VersionID, of item: ItemID, in directory: FileDescriptor, _ buffer: inout [UInt8]
  ) -> StoredVersion? {
    let name = SystemPath(bytes: Array("\(id)/\(StoreLayout.record)".utf8))
    guard let file = try? files.open(name, at: directory, flags: [.noFollow, .nonBlocking], mode: 0) else { return nil }
    defer { try? files.close(file) }
    // A part of it has another check.
    guard let count = try? files.read(file, into: &buffer), let record = StoreRecord(Array(buffer[..<count])),
      let version = StoredVersion(record), version.id == id, version.item == item, version.hash != nil
    else { return nil }
    return version
  }
}

// MARK: - The cache

extension VersionStore {
  /// The versions in the cache; nothing if it isn't there, or a byte of it has changed.
  private func cachedVersions(of item: ItemID) -> [VersionID: StoredVersion] {
    guard let bytes = try? files.contents(of: layout.listing(of: item)), let record = StoreRecord(bytes) else {
      return [:]
    }
    let sections = record.sections(beginningWith: "version")
    var versions = [VersionID: StoredVersion](minimumCapacity: sections.count)
    for section in sections {
      if let version = StoredVersion(section), version.item == item { versions[version.id] = version }
    }
    return versions
  }

  /// Leaves a cache behind; without one, the next list takes longer.
  private func cache(_ versions: [StoredVersion], of item: ItemID) {
    var record = StoreRecord()
    // The hash of the others comes without a change of their records.
    // A record doesn't say that a version is bare.
    for version in versions where version.hash != nil && !version.isBare { record.add(version.record) }
    try? writeLoosely(record, to: layout.listing(of: item))
  }

  /// Removes the cache before a record of an item changes, so that it never says what was.
  func removeListing(of item: ItemID) throws(VersionStoreError) {
    let path = layout.listing(of: item)
    if try status(of: path) == nil { return }
    try unlink(path)
    // A loss of power mustn't bring it back beside the record that has changed.
    try synchronizeNames(in: path.parent)
  }
}
