package import SystemInterface

// A version, by its name or by its age.

extension VersionStore {
  /// The version that was added last; `nil` if there's none.
  ///
  /// - Complexity: O(1), or O(versions of the item) for their names if the last one was removed.
  package func newestVersion(of item: ItemID) throws(VersionStoreError) -> StoredVersion? {
    // All that are there are at most as new.
    if let last = lastDrawnID(of: item), let version = try versionIfPresent(last, of: item) { return version }
    guard let id = try listedIDs(of: item).last else { return nil }
    return try versionIfPresent(id, of: item)
  }

  /// Whether a file has the contents of a version.
  ///
  /// - Complexity: O(1) if its size and time say so, or that it doesn't; else O(bytes).
  package func has(
    _ version: StoredVersion, _ path: SystemPath, _ status: FileStatus
  ) throws(VersionStoreError) -> Bool {
    if version.isPackage || version.size != status.size { return false }
    if surelyHas(version, status) { return true }
    guard let known = try hashed(version).hash else { return false }
    return try hash(of: path) == known
  }

  /// Whether a file has the contents of a version by its size and time, which may not say so although it has.
  package func surelyHas(_ version: StoredVersion, _ status: FileStatus) -> Bool {
    version.surelyIs(status)
  }

  /// A version; `nil` when it was removed.
  package func versionIfPresent(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> StoredVersion? {
    let path = recordPath(of: id, of: item)
    guard let record = try record(at: path) else { return try bareVersion(id, of: item) }
    guard let version = StoredVersion(record), version.id == id, version.item == item else { throw .damaged(path) }
    return try known(version)
  }

  func recordPath(of id: VersionID, of item: ItemID) -> SystemPath {
    layout.directory(of: id, of: item).appending(StoreLayout.record)
  }

  /// Where the contents of a version are, which nobody may write to.
  package func path(of version: StoredVersion) -> SystemPath {
    let path = Self.path(of: version, inStoreAt: root)
    if version.isPackage || isThere(path) { return path }
    // It may have got a directory since, or have one to which its file couldn't be moved yet.
    var other = version
    other.isBare.toggle()
    let place = Self.path(of: other, inStoreAt: root)
    return isThere(place) ? place : path
  }

  /// The same for code that may never need the store, and asks for the path at any later time.
  ///
  /// - Complexity: O(1); one system call for a version that had no directory when it was looked at, and may have got one since.
  package static func path(ofLooked version: StoredVersion, inStoreAt root: SystemPath) -> SystemPath {
    let path = path(of: version, inStoreAt: root)
    if !version.isBare || (try? HostFileSystem().statusIfPresent(of: path)) != nil { return path }
    var other = version
    other.isBare = false
    return self.path(of: other, inStoreAt: root)
  }

  private func isThere(_ path: SystemPath) -> Bool { (try? status(of: path)) != nil }

  /// The same without the store, for code that may never need it.
  package static func path(of version: StoredVersion, inStoreAt root: SystemPath) -> SystemPath {
    let layout = StoreLayout(root: root)
    if version.isBare { return layout.bare(version.id, of: version.item) }
    return layout.directory(of: version.id, of: version.item).appending(StoreLayout.contentsName).appending(
      version.name)
  }

  /// Changes what is known of a version.
  ///
  /// Any other function that replaces a record has to remove the cache of the item's records first, as this does.
  ///
  /// - Returns: The version as it is now.
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` when it was removed.
  package func change(
    _ id: VersionID, of item: ItemID, _ body: (inout StoredVersion) -> Void
  ) throws(VersionStoreError) -> StoredVersion {
    guard var version = try versionIfPresent(id, of: item) else { throw .versionIsGone(id) }
    if version.isBare {
      try unfold(of: item)
      version.isBare = false
    }
    body(&version)
    try removeListing(of: item)
    try write(version.record, to: recordPath(of: id, of: item))
    return version
  }
}
