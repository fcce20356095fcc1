internal import ContentHashing
package import SystemInterface

// A file that has moved to another volume takes its history along: from the store of the former volume to that of the new one.

/// A history that's taken over from another store, until it's removed there.
struct Adoption: Equatable, Sendable {
  let item: ItemID
  /// The directory of the other store.
  let store: SystemPath
  /// Where the file was, as far as the other store knows.
  let place: SystemPath?
  /// The newest version there; one that's newer has come since, and isn't here.
  let newest: VersionID?
  /// Whether the file can't say that the history is its own: then it's only found by its place.
  var isUntagged = false
}

extension VersionStore {
  /// The items that a file is by its tag, if this store knows neither the place nor one of them.
  ///
  /// - Parameter path: A canonical path.
  /// - Returns: The items; none if there's no tag, or if one is known here.
  /// - Throws: The error of a system call.
  package func unknownItems(at path: SystemPath) throws(VersionStoreError) -> [ItemID] {
    if try place(at: path) != nil { return [] }
    let tags = tags(of: path)
    return tags.contains(where: isKnown) ? [] : tags
  }

  /// Whether there's a store in a directory; one that has lost its format is one, which its next use makes anew.
  package static func exists(at root: SystemPath, files: any FileSystem = HostFileSystem()) -> Bool {
    let layout = StoreLayout(root: root)
    // One that can't be read is there: its use says why.
    do throws(SystemError) {
      if try files.statusIfPresent(of: layout.format) != nil { return true }
      return try files.statusIfPresent(of: layout.items) != nil
    } catch {
      return true
    }
  }

  /// Whether a store has histories at a path or below it.
  ///
  /// - Parameters:
  ///   - path: A canonical path.
  ///   - root: The directory of the store, which needn't be there.
  ///   - files: The door to the kernel.
  /// - Returns: `true` also if that can't be found out: its use says why.
  /// - Complexity: One system call.
  package static func hasPlaces(
    at path: SystemPath, in root: SystemPath, files: any FileSystem = HostFileSystem()
  ) -> Bool {
    do throws(SystemError) {
      return try files.statusIfPresent(of: StoreLayout(root: root).place(of: path)) != nil
    } catch {
      return true
    }
  }

  /// The history that another store has of the very file at a path, though the file says nothing of it.
  ///
  /// - Parameters:
  ///   - path: A canonical path, which has no place here.
  ///   - other: The other store.
  /// - Returns: The history; `nil` if there's none, or if it's known here.
  /// - Throws: The error of a system call.
  package func itemWithoutTag(at path: SystemPath, in other: VersionStore) throws(VersionStoreError) -> ItemID? {
    guard try place(at: path) == nil, let place = try other.place(at: path), let status = try status(of: path),
      place.isOf(status), !isKnown(place.item)
    else { return nil }
    return place.item
  }

  /// Takes a history over from another store, if its file isn't there any more, or is the one that asks for it.
  ///
  /// A crash leaves the history in the other store, in both, or in this one; ``recover()`` removes it from the other one then. Contents that other versions have as well are stored once.
  ///
  /// A file may have come to several paths at once, by copies, so that two take the history over at the same time: one of them does, and
  /// removes it from the other store.
  ///
  /// - Parameters:
  ///   - item: The history; unknown here.
  ///   - path: Its file. That's the same as in the other store if this one couldn't be made before.
  ///   - other: The store that may have it.
  /// - Returns: Whether it was there.
  /// - Throws: The error of a system call; the history is in the other store then.
  /// - Complexity: O(bytes of all versions).
  package func adopt(_ item: ItemID, at path: SystemPath, from other: VersionStore) throws(VersionStoreError) -> Bool {
    guard try other.status(of: other.layout.directory(of: item)) != nil else { return false }
    let last = try other.lastPath(of: item)
    if let last, last != path, try other.place(at: last)?.item == item, other.tags(of: last).contains(item) {
      return false
    }
    let isUntagged = !tags(of: path).contains(item)
    let adoption = Adoption(
      item: item, store: other.root, place: last, newest: try other.newestID(of: item), isUntagged: isUntagged)
    let note = step("\(Self.adoptionName)\(item)-" + hexadecimal(.random(in: .min ... .max)))
    do throws(VersionStoreError) {
      try writeDraft(Step.adoption(adoption).record.bytes, to: note)
      guard try place(item, at: path, from: other) else {
        try unlink(note)
        return true
      }
    } catch {
      // If it's here all the same, it's removed there after the end of this process.
      if !isKnown(item) { try? unlink(note) }
      throw error
    }
    if isUntagged, let status = try status(of: path) {
      try settle(PlaceRecord(item, status), at: path, isTagged: false)
    }
    let removed = try removedVersions(of: item).filter { !$0.place.isBare }
    for contents in try versions(of: item).map(self.path) + removed.map(self.path) {
      do throws(VersionStoreError) { try shareAll(contents) } catch {
        // They take more room then, because there was none for a name before their directories were closed, or a call that was slower
        // removes some; the history is here all the same.
        if !error.isOfFullVolume, !error.isOfAbsence, !error.isOfPermissions { throw error }
      }
    }
    hashingIsDue?()
    try other.giveUp(adoption)
    // A rest that couldn't be removed goes after the end of this process.
    let rest = try other.newestID(of: item)
    if rest != nil || !other.hasHistory(of: item) { try unlink(note) }
    return true
  }

  private static let adoptionName = "adopted-"

  static func isAdoption(_ name: SystemPath) -> Bool { name.bytes.starts(with: adoptionName.utf8) }

  /// Removes a history from another store whose process was killed before it could do so, if it's here.
  ///
  /// The file may have gone back since: then the history goes on there, and what is here is an old copy, which goes.
  func complete(_ adoption: Adoption) throws(VersionStoreError) {
    guard isKnown(adoption.item), adoption.store != root else { return }
    // Its volume may be there later.
    if !Self.exists(at: adoption.store, files: files) {
      throw .system(SystemError(call: "adopt", paths: [adoption.store], errno: 2))
    }
    let other = try VersionStore(at: adoption.store, files: files, worker: worker, isAlive: isAlive, time: time)
    // Here it isn't found by its file.
    if adoption.isUntagged {
      let place = try lastPath(of: adoption.item).flatMap { (path) throws(VersionStoreError) in try self.place(at: path)
      }
      if place?.item != adoption.item { return try giveUpCopy(adoption) }
    }
    for place in try [adoption.place, other.lastPath(of: adoption.item)].compactMap(\.self)
    where try other.place(at: place)?.item == adoption.item && other.tags(of: place).contains(adoption.item) {
      if try self.place(at: place)?.item != adoption.item { return try giveUpCopy(adoption) }
    }
    if let newest = try other.newestID(of: adoption.item), adoption.newest.map({ newest > $0 }) ?? true { return }
    try other.giveUp(adoption)
  }

  /// Removes a history that was copied from a store in which it goes on, unless it went on here, too.
  private func giveUpCopy(_ adoption: Adoption) throws(VersionStoreError) {
    if let newest = try newestID(of: adoption.item), adoption.newest.map({ newest > $0 }) ?? true { return }
    let last = try lastPath(of: adoption.item)
    if let last, tags(of: last).contains(adoption.item) { return }
    try removeHistory(GoneItem(item: adoption.item, path: last ?? root, time: 0))
    if let last, try place(at: last)?.item == adoption.item {
      try unlink(layout.place(of: last).appending(StoreLayout.itemName))
      removeEmptyPlaces(layout.place(of: last))
    }
  }

  /// The newest version of a history, be it listed or removed.
  func newestID(of item: ItemID) throws(VersionStoreError) -> VersionID? {
    let removed = try removals(of: item).map(\.version)
    return try (versionIDs(of: item) + bareVersionIDs(of: item) + removed).max()
  }

  /// Whether the store has a history, wherever its file is.
  ///
  /// - Parameter item: The history.
  /// - Returns: `true` if it's there, or if that can't be found out.
  package func hasHistory(of item: ItemID) -> Bool { isKnown(item) }

  /// Gives a history its place here, whole and on the disk.
  ///
  /// - Returns: Whether this call did; `false` if another one was faster, which removes it from the other store.
  private func place(
    _ item: ItemID, at path: SystemPath, from other: VersionStore
  ) throws(VersionStoreError) -> Bool {
    let directory = layout.directory(of: item)
    let step = step("adopt-\(item)-" + hexadecimal(.random(in: .min ... .max)))
    do throws(VersionStoreError) {
      try copy(item, at: path, from: other, to: step)
      try ensureDirectory(directory.parent)
      try rename(step, to: directory)
    } catch {
      // A part of it mustn't take the room that there's too little of.
      try? disposeOfHistory(in: step)
      if !isKnown(item) { throw error }
      try synchronizeNames(in: directory.parent)
      return false
    }
    try synchronizeNames(in: directory.parent)
    return true
  }

  /// Copies a history of another store to a directory that's made for it, and brings it to the disk.
  private func copy(
    _ item: ItemID, at path: SystemPath, from other: VersionStore, to step: SystemPath
  ) throws(VersionStoreError) {
    let bare = try other.bareVersionsToAdopt(of: item, at: path)
    try storing { () throws(SystemError) in
      try files.makeDirectory(step, at: .workingDirectory, mode: 0o700)
    }
    var known = KnownContents()
    for id in try other.versionIDs(of: item) {
      do throws(VersionStoreError) {
        if let version = try other.versionIfPresent(id, of: item), try other.hashed(version).hash == nil {
          // Its addition isn't completed, or a program writes to it.
          try noteTask(version, in: layout.directory(of: version.id, of: item))
        }
      } catch .damaged {}
      try copyVersion(
        from: other.layout.directory(of: id, of: item), in: other, to: step.appending(id.description), &known)
    }
    for id in bare {
      try copyBare(
        from: other.layout.bare(id, of: item), to: step.appending("bare").appending(SystemPath(id.description)))
    }
    try copyRemovals(of: item, from: other, to: step, &known)
    let open = try other.openVersionIDs(of: item)
    let marks = step.appending(StoreLayout.marksName)
    if !open.isEmpty { try ensureDirectory(marks) }
    for id in open {
      // One that's gone by now was completed: without a step it's done once more.
      let step = (try? other.contents(of: other.layout.mark(of: id, of: item))) ?? []
      try writeDraft(step, to: marks.appending(id.description))
    }
    // A resolution that was cut off is completed here.
    let resolution = other.layout.resolution(of: item)
    if try other.status(of: resolution) != nil {
      try writeDraft(other.contents(of: resolution), to: step.appending(resolution.lastComponent))
    }
    try storing { () throws(SystemError) in try files.synchronizeItem(at: step) }
  }

  /// Copies the versions that can be brought back.
  ///
  /// They are in place there, so that they come along by the same rename as the others. Those that another process forgets meanwhile don't.
  private func copyRemovals(
    of item: ItemID, from other: VersionStore, to step: SystemPath, _ known: inout KnownContents
  ) throws(VersionStoreError) {
    let removals = try other.removals(of: item)
    var copied: Set<VersionID> = []
    // A version is there twice if a process was killed while it cleared the store of a history that has come back since.
    for removal in removals where copied.insert(removal.version).inserted {
      let source = other.path(of: removal, of: item)
      let target =
        switch removal.place {
        case .bare(let name): step.appending("bare").appending(name)
        case .removals, .item: step.appending(removal.version.namesOfRemovals[0])
        }
      do throws(VersionStoreError) {
        try copyRemoval(removal, from: source, in: other, to: target, &known)
        // One that goes meanwhile may be a part of itself.
        if try other.status(of: source) != nil { continue }
      } catch {
        if try other.status(of: source) != nil { throw error }
      }
      // Another process forgets it, or has brought it back: then it's missing among the versions that were copied before.
      if try other.isListed(removal.version, of: item) { throw Self.busy(source) }
      if removal.place.isBare { try removeTree(target) } else { try dispose(of: target) }
    }
    if removals.isEmpty { return }
    try makeRemovalMark(of: item)
    try synchronizeNames(in: layout.removed)
  }

  private func copyRemoval(
    _ removal: Removal, from source: SystemPath, in other: VersionStore, to target: SystemPath,
    _ known: inout KnownContents
  ) throws(VersionStoreError) {
    if removal.place.isBare { return try copyBare(from: source, to: target) }
    try copyVersion(from: source, in: other, to: target, &known)
    try storing { () throws(SystemError) in
      try files.setModificationTime(of: target, at: .workingDirectory, to: removal.time)
    }
  }

  private func isListed(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> Bool {
    if try status(of: layout.directory(of: id, of: item)) != nil { return true }
    return try status(of: layout.bare(id, of: item)) != nil
  }

  private func copyBare(from source: SystemPath, to target: SystemPath) throws(VersionStoreError) {
    if try status(of: target.parent) == nil { try ensureDirectory(target.parent) }
    try storing { () throws(SystemError) in
      try files.copyItem(from: source, to: target, replacing: false)
      // A copy doesn't get that by itself.
      do throws(SystemError) {
        let record = try files.extendedAttribute(Self.bareName, ofItemAt: source)
        try files.setExtendedAttribute(Self.bareName, ofItemAt: target, to: record)
      } catch {
        // One that has lost it is damaged there as well as here.
        if error.number != .noAttribute { throw error }
      }
    }
  }

  /// The bare versions of a history that's about to go to another store; without room here they go there as they are.
  ///
  /// - Throws: EBUSY(3) if a save is going on that keeps one.
  private func bareVersionsToAdopt(of item: ItemID, at path: SystemPath) throws(VersionStoreError) -> [VersionID] {
    do throws(VersionStoreError) { try unfold(of: item) } catch .system {}
    let ids = try bareVersionIDs(of: item)
    for id in ids {
      if try bareVersion(id, of: item) == nil, try versionIfPresent(id, of: item) == nil {
        throw Self.busy(path)
      }
    }
    return ids
  }

  /// EBUSY(3): another process changes the history.
  private static func busy(_ path: SystemPath) -> VersionStoreError {
    .system(SystemError(call: "adopt", paths: [path], errno: 16))
  }

  /// Seals files that were copied, and stores equal ones once; those that are shared already aren't read again.
  private func shareAll(_ path: SystemPath) throws(VersionStoreError) {
    guard let status = try status(of: path) else { return }
    if status.kind == .directory {
      for name in try names(in: path) { try shareAll(path.appending(name)) }
    } else if status.kind == .regular, status.linkCount == 1 {
      try seal(path)
      try share(path, hash(of: path))
    }
  }
}
