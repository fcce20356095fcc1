package import SystemInterface

// A version that was removed can be brought back for a while: it's in a directory where nothing lists it.

/// A version that was removed.
package struct RemovedVersion: Hashable, Sendable {
  package let version: StoredVersion
  /// When it was removed, in nanoseconds since 1970.
  package let time: Int64
  let place: RemovalPlace

  init(version: StoredVersion, time: Int64, place: RemovalPlace = .removals) {
    self.version = version
    self.time = time
    self.place = place
  }
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
  /// A full volume may have no room for the directory of the item's removed versions: the version gets another name where it is then.
  ///
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` when it was removed already, or the error of a system call: nothing is removed then.
  package func retire(_ id: VersionID, of item: ItemID) throws(VersionStoreError) {
    do throws(VersionStoreError) {
      if try status(of: layout.bare(id, of: item)) != nil { try unfold([id], of: item) }
      let directory = layout.removals(of: item)
      try ensureDirectory(directory)
      try retire(id, of: item, to: directory.appending(RemovalName(id, time()).path))
    } catch {
      if !error.isOfFullVolume { throw error }
      if try !retireInPlace(id, of: item) { throw error }
    }
  }

  /// Moves a version that has a directory to its place among the removed ones.
  func retire(_ id: VersionID, of item: ItemID, to place: SystemPath) throws(VersionStoreError) {
    do throws(VersionStoreError) {
      let isOpen = try copyMark(of: id, of: item)
      try rename(layout.directory(of: id, of: item), to: place)
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
    do throws(SystemError) {
      // That takes no room, and nobody writes to a mark.
      try files.link(mark, at: .workingDirectory, to: own, at: .workingDirectory, links: .noFollow)
    } catch {
      try writeDraft(bytes, to: own)
    }
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
    for removal in try removals(of: item) {
      guard let version = try version(of: removal, of: item) else { continue }
      body(RemovedVersion(version: version, time: removal.time, place: removal.place))
    }
  }

  /// A removed version; `nil` if its record isn't what it was.
  private func version(of removal: Removal, of item: ItemID) throws(VersionStoreError) -> StoredVersion? {
    let path = path(of: removal, of: item)
    if removal.place.isBare { return try bareVersion(removal.version, of: item, at: path) }
    guard let record = try recordIfIntact(at: path.appending(StoreLayout.record)), let recorded = StoredVersion(record),
      recorded.id == removal.version
    else { return nil }
    return try known(recorded, in: path)
  }

  /// The records of removed versions that aren't what they were, or are missing.
  ///
  /// - Complexity: O(removed versions of the item): each record is read.
  package func damagedRemovals(of item: ItemID) throws(VersionStoreError) -> [SystemPath] {
    var damaged: [SystemPath] = []
    for removal in try removals(of: item) where try version(of: removal, of: item) == nil {
      let path = path(of: removal, of: item)
      // It may have been brought back, or have gone for good, meanwhile.
      if try status(of: path) == nil { continue }
      damaged.append(removal.place.isBare ? path : path.appending(StoreLayout.record))
    }
    return damaged
  }

  /// Where the contents of a removed version are.
  package func path(of removed: RemovedVersion) -> SystemPath {
    let removal = Removal(version: removed.version.id, time: removed.time, place: removed.place)
    let path = path(of: removal, of: removed.version.item)
    if removed.place.isBare { return path }
    return path.appending(StoreLayout.contentsName).appending(removed.version.name)
  }

  /// Brings a removed version back.
  ///
  /// - Returns: The version.
  /// - Throws: ``VersionStoreError/versionIsGone(_:)`` if it wasn't removed, or too long ago.
  package func reinstate(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> StoredVersion {
    guard let removal = try removals(of: item).last(where: { $0.version == id }) else {
      throw .versionIsGone(id)
    }
    let path = path(of: removal, of: item)
    let place = removal.place.isBare ? layout.bare(id, of: item) : layout.directory(of: id, of: item)
    if try status(of: place.parent) == nil { try ensureDirectory(place.parent) }
    // Its addition wasn't completed when it was removed.
    let step = path.appending(StoreLayout.step)
    if !removal.place.isBare, try status(of: step) != nil {
      let mark = layout.mark(of: id, of: item)
      try unlink(mark)
      try self.mark(id, of: item, contents(of: step))
      try storing { () throws(SystemError) in try synchronize([mark, mark.parent]) }
    }
    if !removal.place.isBare { try noteTask(ofRemoved: path) }
    try rename(path, to: place)
    // Before that, the version would be one that was removed long ago, if it went no further.
    if removal.place.isBare { restoreTime(of: id, of: item) }
    try synchronizeNames(in: place.parent)
    guard let version = try versionIfPresent(id, of: item) else { throw .versionIsGone(id) }
    if version.hash == nil { hashingIsDue?() }
    return version
  }

  /// The process that was to hash a version that comes back didn't find it: it's the task of this one before it's listed.
  private func noteTask(ofRemoved path: SystemPath) throws(VersionStoreError) {
    let record = try recordIfIntact(at: path.appending(StoreLayout.record))
    guard let version = record.flatMap({ StoredVersion($0) }), version.hash == nil,
      try recordedHash(at: path.appending(StoreLayout.hash)) == nil
    else { return }
    try noteTask(version, in: path)
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
    var items: Set<ItemID> = []
    if let item {
      items = [item]
    } else {
      items = try Set(unsortedNames(in: layout.removed).compactMap { StoreLayout.item(ofRemovals: $0) })
    }
    var count = 0
    for item in items {
      let all = try removals(of: item)
      let old = all.filter { $0.time < time }
      for removal in old {
        do throws(VersionStoreError) {
          try dispose(of: removal, of: item)
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
    // Somebody may be about to remove a version of another item, and has made the mark.
    if let item { try removeMarkIfUnneeded(of: item) }
    return count
  }

  private func dispose(of removal: Removal, of item: ItemID) throws(VersionStoreError) {
    let path = path(of: removal, of: item)
    if removal.place.isBare { return try unlink(path) }
    try dispose(ofVersionAt: path, removal.version)
  }

  /// The removed versions of an item, in the order of their names, those that are in place last.
  func removals(of item: ItemID) throws(VersionStoreError) -> [Removal] {
    let removals = try names(in: layout.removals(of: item)).compactMap { name in
      RemovalName(name).map { Removal(version: $0.version, time: $0.time, place: .removals) }
    }
    return try removals + removalsInPlace(of: item)
  }

  func path(of removal: Removal, of item: ItemID) -> SystemPath {
    switch removal.place {
    case .removals: layout.removals(of: item).appending(RemovalName(removal.version, removal.time).path)
    case .item(let name): layout.directory(of: item).appending(name)
    case .bare(let name): layout.bareVersions(of: item).appending(name)
    }
  }
}
