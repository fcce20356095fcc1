package import SystemInterface

// A history belongs to an item, not to a path or to a file: editors put new files in the place of old ones, and files move.

extension VersionStore {
  static let tagName = ExtendedAttributeName("user.file-coordination.item")

  /// The history of what is at a path.
  ///
  /// | the file has the tag of | the place is that of | the history |
  /// | --- | --- | --- |
  /// | an item, or none | the same item, or the file is the one that was there | goes on |
  /// | nothing | an item with another file | goes on: a program has put a new file in the place of the old one |
  /// | an item that's gone from where it was | none | has moved here with its file |
  /// | an item whose former place has a file | none | stays there: this is a copy or a backup, which begins its own |
  /// | an item | another one | the former if that is gone from where it was, else the latter |
  ///
  /// An item is gone from where it was if nothing is there, or the file of another item that has come from elsewhere itself. Where a volume
  /// isn't mounted, nobody knows what is there: a file that comes from it is taken for a copy. Tags of items that this store doesn't have are those of other stores, for example of other users, and mean nothing here.
  ///
  /// If nothing is there, the file of a history is gone. A new file without a tag that comes within ``gracePeriod`` goes on with the
  /// history, unless the removal was noted, or listed: editors rename the old file before they write the new one. Without extended attributes a
  /// history follows moves that are noted, and new files in the place of old ones.
  ///
  /// - Parameters:
  ///   - path: A canonical path.
  ///   - creating: Whether an item without history begins one.
  /// - Returns: The item; `nil` if it has no history, or nothing is there.
  /// - Throws: The error of a system call.
  package func item(at path: SystemPath, creating: Bool) throws(VersionStoreError) -> ItemID? {
    guard let item = try find(path, creating: creating) else { return nil }
    try completeResolution(of: item, at: path)
    return item
  }

  private func find(_ path: SystemPath, creating: Bool) throws(VersionStoreError) -> ItemID? {
    var place = try place(at: path)
    guard let status = try status(of: path), status.kind == .regular || status.kind == .directory else {
      if let place, try isOnVolume(path, place) { try leave(layout.place(of: path), place.item, isMissed: true) }
      return nil
    }
    if let former = place, let last = try lastPath(of: former.item), last != path,
      try self.place(at: last)?.item == former.item
    {
      // The item was recorded at another path, and a crash followed before this record was removed.
      try unlink(layout.place(of: path).appending(StoreLayout.itemName))
      place = nil
    }
    let tags = tags(of: path)
    let tag = ownTag(among: tags, preferring: place?.item)
    if let tag, tag != place?.item, try hasMovedHere(tag, status, replacing: place?.item) {
      return try move(tag, to: path, status, from: place)
    }
    if let place {
      // The tag says which item it is. Most of the time the file was saved since, and only its number is another one.
      if tag == place.item, place.identity.device == status.device { return place.item }
      let isTagged = tag == place.item || self.tag(path, place.item, beside: tags)
      if !place.isOf(status) { try settle(PlaceRecord(place.item, status), at: path, isTagged: isTagged) }
      return place.item
    }
    if tag != nil {
      // A copy is no save.
      try confirmAbsence(at: path)
    } else if let item = try itemOfDamagedPlace(at: path) {
      try settle(PlaceRecord(item, status), at: path, isTagged: self.tag(path, item, beside: tags))
      return item
    } else if let item = try itemMissed(at: path, status) {
      return item
    }
    if !creating {
      // A copy stays one when the file that it was made of is gone. If that can't be seen now, it's decided later.
      if let tag, try isVisible(tag) { removeTag(of: path) }
      return nil
    }
    let item = ItemID.drawn()
    let isTagged = self.tag(path, item, beside: tags)
    try settle(PlaceRecord(item, status), at: path, isTagged: isTagged)
    return item
  }

  /// In nanoseconds: a file that comes back within it after it was missed is the same item.
  static let gracePeriod: Int64 = 2_000_000_000

  /// The history of a file that was missed at a path a moment ago: it goes on.
  private func itemMissed(at path: SystemPath, _ status: FileStatus) throws(VersionStoreError) -> ItemID? {
    let all = try goneItems(at: path)
    let missed = all.filter { $0.isMissed && isRecent($0.time) }
    for gone in all where !missed.contains(gone) { _ = try? forgetIfEmpty(gone) }
    guard let last = missed.max(by: { $0.time < $1.time }), try isGone(last), try lastPath(of: last.item) == path
    else { return nil }
    try revive(last, at: path)
    return last.item
  }

  /// Not so if the clock was set back since.
  private func isRecent(_ moment: Int64) -> Bool {
    let now = time()
    return moment <= now && moment > now - Self.gracePeriod
  }

  /// The history of a place whose record has lost a byte, where the file has no tag: the one whose own record names the path.
  ///
  /// - Complexity: O(histories of the store) if there's such a record, else O(1).
  private func itemOfDamagedPlace(at path: SystemPath) throws(VersionStoreError) -> ItemID? {
    let place = layout.place(of: path)
    do throws(VersionStoreError) {
      _ = try record(at: place.appending(StoreLayout.itemName))
      return nil
    } catch .damaged {}
    for group in try names(in: layout.items) {
      for name in try names(in: layout.items.appending(group)) {
        guard let item = ItemID(name.bytes[...]), try lastPath(of: item) == path else { continue }
        if try status(of: place.appending(StoreLayout.goneName + item.description)) == nil { return item }
      }
    }
    return nil
  }

  /// Whether a file with the tag of an item is that item and no copy: it isn't any more where it was.
  private func hasMovedHere(
    _ item: ItemID, _ status: FileStatus, replacing here: ItemID?
  ) throws(VersionStoreError) -> Bool {
    // If its place is another's, or its file was gone, it's here again.
    guard let last = try lastPath(of: item), let place = try place(at: last), place.item == item else { return true }
    // A file that's there goes on with the history: it was saved by way of another file, and this is its copy or its backup.
    // Unless a link leads from there to here, or that file is another item's: two files have changed their places.
    guard let former = try self.status(of: last) else { return try hasLeft(last, place, status) }
    if former.identity == status.identity { return status.linkCount == 1 }
    // The numbers are those of the files that there were when the places were noted last, and each save brings another one.
    if former.linkCount == 1, try hasChangedPlaces(item, from: last, with: here) { return true }
    if !place.isOf(status) { return false }
    return try hasComeFromElsewhere(last, former)
  }

  /// Whether what's at a path is the very file that an item had at another path, by its tag and its number.
  private func hasComeFromElsewhere(_ path: SystemPath, _ status: FileStatus) throws(VersionStoreError) -> Bool {
    guard status.linkCount == 1, let item = tag(of: path), let last = try lastPath(of: item), last != path else {
      return false
    }
    // If another one has taken its former place, it's here.
    guard let place = try place(at: last), place.item == item else { return true }
    return place.isOf(status)
  }

  /// Whether a file that isn't where it was has left, and not its volume.
  ///
  /// The number of a volume may be another one after it was mounted again. So the very file is recognized by its own number and the time when
  /// it was made, which a copy hasn't, and a volume by the names beside the file: where none is mounted, there are none.
  private func hasLeft(
    _ path: SystemPath, _ place: PlaceRecord, _ status: FileStatus
  ) throws(VersionStoreError) -> Bool {
    if try isOnVolume(path, place) { return true }
    if let created = place.creationTime, created == status.creationTime, place.identity.inode == status.identity.inode {
      return true
    }
    return (try? names(in: path.parent).isEmpty) == false
  }

  /// How many files that have changed their places are followed.
  private static let changedPlaceCountMax = 16

  /// Whether another item has come to the place of an item, by the tags of their files.
  ///
  /// That's so if the file there is of an item that isn't any more where it was. Where that item was there may be a third one, and so on. The
  /// last one has to be the item that the present place of the file had before; if that had none, nothing may be where the last one was, or
  /// an item whose place that is by now.
  /// Otherwise any of them may be a copy.
  private func hasChangedPlaces(
    _ item: ItemID, from last: SystemPath, with here: ItemID?
  ) throws(VersionStoreError) -> Bool {
    var (item, place) = (item, last)
    for _ in 0..<Self.changedPlaceCountMax {
      let tags = tags(of: place)
      guard !tags.contains(item), let other = tags.first(where: isKnown) else { return false }
      if other == here { return true }
      guard let home = try lastPath(of: other), home != place, !self.tags(of: home).contains(other) else {
        // It's a copy of that one.
        return false
      }
      if here == nil {
        // Another one has its home by now, or nothing.
        guard let record = try self.place(at: home), record.item == other else { return true }
        if try status(of: home) == nil { return try isOnVolume(home, record) }
      }
      (item, place) = (other, home)
    }
    return false
  }

  /// Whether the place where an item was last is on a volume that's there.
  private func isVisible(_ item: ItemID) throws(VersionStoreError) -> Bool {
    guard let last = try lastPath(of: item), let place = try place(at: last), place.item == item else { return true }
    if try status(of: last) != nil { return true }
    return try isOnVolume(last, place) || (try? names(in: last.parent).isEmpty) == false
  }

  private func move(
    _ item: ItemID, to path: SystemPath, _ status: FileStatus, from former: PlaceRecord?
  ) throws(VersionStoreError) -> ItemID {
    if let former { try leave(layout.place(of: path), former.item) }
    let last = try lastPath(of: item)
    try settle(PlaceRecord(item, status), at: path, isTagged: true)
    if let last, last != path {
      let place = layout.place(of: last)
      if try self.place(at: last)?.item == item { try unlink(place.appending(StoreLayout.itemName)) }
      try unlink(place.appending(StoreLayout.goneName + item.description))
      removeEmptyPlaces(place)
    }
    try unlink(layout.place(of: path).appending(StoreLayout.goneName + item.description))
    return item
  }

  // MARK: - Tags

  /// How many items a tag names at most; the oldest ones of other stores are forgotten.
  static let tagItemCountMax = 8

  /// The item of this store that a file says it is; `nil` if it says none.
  package func tag(of path: SystemPath) -> ItemID? { ownTag(among: tags(of: path), preferring: nil) }

  /// The items that a file says it is, at most one for each store that has its history: those of several users, for example.
  package func tags(of path: SystemPath) -> [ItemID] {
    let bytes = try? files.extendedAttribute(Self.tagName, ofItemAt: path)
    return (bytes ?? []).split(separator: UInt8(ascii: " ")).compactMap { ItemID($0) }
  }

  private func ownTag(among tags: [ItemID], preferring item: ItemID?) -> ItemID? {
    if let item, tags.contains(item) { return item }
    return tags.first(where: isKnown)
  }

  /// Whether the store has a history; one that can't be looked at counts as another store's.
  func isKnown(_ item: ItemID) -> Bool { (try? status(of: layout.directory(of: item))) != nil }

  /// Tags a file; where that can't be, its place alone says which item it is.
  ///
  /// The file keeps the tags of items that this store doesn't have.
  ///
  /// - Returns: Whether it's tagged.
  @discardableResult
  func tag(_ path: SystemPath, _ item: ItemID, beside tags: [ItemID]? = nil) -> Bool {
    let others = (tags ?? self.tags(of: path)).filter { $0 != item && !isKnown($0) }
    return setTags(of: path, to: [item] + others.prefix(Self.tagItemCountMax - 1))
  }

  private func setTags(of path: SystemPath, to items: [ItemID]) -> Bool {
    let text = items.map(\.description).joined(separator: " ")
    return (try? files.setExtendedAttribute(Self.tagName, ofItemAt: path, to: Array(text.utf8))) != nil
  }

  /// Removes what this store says of a file.
  private func removeTag(of path: SystemPath) {
    let others = tags(of: path).filter { !isKnown($0) }
    if !others.isEmpty {
      _ = setTags(of: path, to: others)
      return
    }
    try? files.withDescriptor(path, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
      try files.removeExtendedAttribute(Self.tagName, of: file)
    }
  }
}
