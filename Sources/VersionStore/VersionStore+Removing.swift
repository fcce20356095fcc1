package import SystemInterface

// A version that was removed can be brought back for a while: it's in a directory where nothing lists it.

/// A version that was removed.
package struct RemovedVersion: Hashable, Sendable {
  package let version: StoredVersion
  /// When it was removed, in nanoseconds since 1970.
  package let time: Int64
}

/// The name of a removed version's directory: those of the version and of the time, so that neither has to be read.
private struct RemovalName: Hashable {
  let version: VersionID
  let time: Int64

  init(_ version: VersionID, _ time: Int64) {
    self.version = version
    self.time = time
  }

  init?(_ name: SystemPath) {
    let parts = name.description.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, let version = VersionID(String(parts[0])), let time = Int64(parts[1], radix: 16)
    else { return nil }
    self.init(version, time)
  }

  var path: SystemPath { SystemPath("\(version)@\(String(time, radix: 16))") }
}

extension VersionStore {
  /// Removes a version for good, and contents that no other one has.
  ///
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` when it was removed already.
  package func remove(_ id: VersionID, of item: ItemID) throws(VersionStoreError) {
    if try removeBare(id, of: item) { return }
    try dispose(ofVersionAt: layout.directory(of: id, of: item), id, alsoAt: layout.bare(id, of: item))
    removeTask(UnhashedVersion(item: item, id: id))
  }

  private func dispose(
    ofVersionAt directory: SystemPath, _ id: VersionID, alsoAt bare: SystemPath? = nil
  ) throws(VersionStoreError) {
    let step = step(id.description + "-removed")
    do throws(VersionStoreError) {
      try rename(directory, to: step)
    } catch .system(let error) where error.isAbsence {
      throw .versionIsGone(id)
    }
    // It has that as well if it couldn't get its file.
    if let bare { try unlink(bare) }
    try dispose(of: step)
  }

  /// Removes a bare version, which needs no room.
  ///
  /// - Returns: Whether it was one.
  private func removeBare(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> Bool {
    if try bareVersion(id, of: item) == nil { return false }
    if try status(of: layout.directory(of: id, of: item)) != nil { return false }
    try unlink(layout.bare(id, of: item))
    return true
  }

  /// Removes a version so that it can be brought back.
  ///
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` when it was removed already.
  package func retire(_ id: VersionID, of item: ItemID) throws(VersionStoreError) {
    if try status(of: layout.bare(id, of: item)) != nil { try unfold(of: item) }
    let directory = layout.removals(of: item)
    try ensureDirectory(directory)
    do throws(VersionStoreError) {
      let isOpen = try copyMark(of: id, of: item)
      try rename(layout.directory(of: id, of: item), to: directory.appending(RemovalName(id, time()).path))
      if isOpen { try unlink(layout.mark(of: id, of: item)) }
    } catch .system(let error) where error.isAbsence {
      throw .versionIsGone(id)
    }
  }

  /// Lets the step of an addition that isn't completed go along with a version that's removed: it's completed when the version is back.
  ///
  /// - Returns: Whether there's such a step. The mark stays, so that the step is completed if the process ends before the removal.
  private func copyMark(of id: VersionID, of item: ItemID) throws(VersionStoreError) -> Bool {
    let mark = layout.mark(of: id, of: item)
    if try status(of: mark) == nil { return false }
    let bytes = try contents(of: mark)
    let own = layout.ownStep(of: id, of: item)
    // Earlier releases had the step there, and nothing in the mark.
    if bytes.isEmpty, try status(of: own) != nil { return true }
    try unlink(own)
    try writeDraft(bytes, to: own)
    return true
  }

  /// The versions of an item that were removed and can be brought back, the one that was removed last first.
  ///
  /// - Throws: The error of a system call.
  /// - Complexity: O(removed versions of the item).
  package func removedVersions(of item: ItemID) throws(VersionStoreError) -> [RemovedVersion] {
    var removed: [RemovedVersion] = []
    try forEachRemovedVersion(of: item) { removed.append($0) }
    return removed.sorted { ($0.time, $0.version.id) > ($1.time, $1.version.id) }
  }

  /// Passes on the versions of an item that were removed and can be brought back, one after the other and in any order.
  func forEachRemovedVersion(of item: ItemID, _ body: (RemovedVersion) -> Void) throws(VersionStoreError) {
    for name in try removals(of: item) {
      let path = path(of: name, of: item).appending(StoreLayout.record)
      guard let record = try recordIfIntact(at: path), let recorded = StoredVersion(record), recorded.id == name.version
      else { continue }
      body(RemovedVersion(version: try known(recorded, in: path.parent), time: name.time))
    }
  }

  /// The records of removed versions that aren't what they were, or are missing.
  ///
  /// - Complexity: O(removed versions of the item): each record is read.
  package func damagedRemovals(of item: ItemID) throws(VersionStoreError) -> [SystemPath] {
    var damaged: [SystemPath] = []
    for name in try removals(of: item) {
      let path = path(of: name, of: item).appending(StoreLayout.record)
      let version = try recordIfIntact(at: path).flatMap { StoredVersion($0) }
      // It may have been brought back, or have gone for good, meanwhile.
      if version?.id != name.version, try status(of: path.parent) != nil { damaged.append(path) }
    }
    return damaged
  }

  /// Where the contents of a removed version are.
  package func path(of removed: RemovedVersion) -> SystemPath {
    path(of: RemovalName(removed.version.id, removed.time), of: removed.version.item)
      .appending(StoreLayout.contentsName).appending(removed.version.name)
  }

  /// Brings a removed version back.
  ///
  /// - Returns: The version.
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` if it wasn't removed, or too long ago.
  package func reinstate(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> StoredVersion {
    guard let name = try removals(of: item).last(where: { $0.version == id }) else { throw .versionIsGone(id) }
    let directory = layout.directory(of: item)
    try ensureDirectory(directory)
    // Its addition wasn't completed when it was removed.
    let step = path(of: name, of: item).appending(StoreLayout.step)
    if try status(of: step) != nil {
      let mark = layout.mark(of: id, of: item)
      try unlink(mark)
      try self.mark(id, of: item, contents(of: step))
      try storing { () throws(SystemError) in try synchronize([mark, mark.parent]) }
    }
    try rename(path(of: name, of: item), to: layout.directory(of: id, of: item))
    try synchronizeNames(in: directory)
    guard let version = try versionIfPresent(id, of: item) else { throw .versionIsGone(id) }
    if version.hash == nil {
      // The process that was to hash it didn't find it.
      try noteTask(version, in: layout.directory(of: id, of: item))
      hashingIsDue?()
    }
    return version
  }

  /// Removes versions for good that were removed before some time.
  ///
  /// - Parameters:
  ///   - time: In nanoseconds since 1970.
  ///   - item: The item whose versions are meant; all items unless stated.
  /// - Returns: How many there were.
  /// - Throws: The error of a system call.
  /// - Complexity: O(items with removed versions), and O(removed versions).
  @discardableResult
  package func forgetRemovals(before time: Int64, of item: ItemID? = nil) throws(VersionStoreError) -> Int {
    let items = if let item { [item] } else { try names(in: layout.removed).compactMap { ItemID($0.description) } }
    var count = 0
    for item in items {
      let all = try removals(of: item)
      let old = all.filter { $0.time < time }
      for name in old {
        do throws(VersionStoreError) {
          try dispose(ofVersionAt: path(of: name, of: item), name.version)
          count += 1
        } catch .versionIsGone {
          // Another process has, or it was brought back.
        }
      }
      if old.count == all.count {
        try? storing { () throws(SystemError) in
          try files.unlink(layout.removals(of: item), at: .workingDirectory, .emptyDirectory)
        }
      }
    }
    return count
  }

  private func removals(of item: ItemID) throws(VersionStoreError) -> [RemovalName] {
    try names(in: layout.removals(of: item)).compactMap(RemovalName.init)
  }

  private func path(of name: RemovalName, of item: ItemID) -> SystemPath {
    layout.removals(of: item).appending(name.path)
  }
}
