package import SystemInterface

// Which item is where: directories below `places` have the names of those that the items are in. So a directory that moves takes
// the histories of all files in it along by one rename, and a search below a path reads nothing else.

/// The item at a place.
struct PlaceRecord: Equatable, Sendable {
  let item: ItemID
  /// The file that had the history last.
  var identity: FileIdentity
  /// When that file was made, in nanoseconds since 1970, if that's known.
  var creationTime: Int64?

  /// Whether a file is the one that had the history last; numbers of files are used again.
  func isOf(_ status: FileStatus) -> Bool {
    identity == status.identity
      && (creationTime == nil || status.creationTime == nil || creationTime == status.creationTime)
  }
}

extension PlaceRecord {
  init(_ item: ItemID, _ status: FileStatus) {
    self.init(item: item, identity: status.identity, creationTime: status.creationTime)
  }

  var record: StoreRecord {
    var record = StoreRecord()
    record.add("item", item)
    record.add("device", identity.device)
    record.add("inode", identity.inode)
    if let creationTime { record.add("made", creationTime) }
    return record
  }

  init?(_ record: StoreRecord) {
    guard let item = record.text(of: "item").flatMap(ItemID.init), let device: UInt64 = record.number(of: "device"),
      let inode: UInt64 = record.number(of: "inode")
    else { return nil }
    self.item = item
    identity = FileIdentity(device: device, inode: inode)
    creationTime = record.number(of: "made")
  }
}

/// A history whose file is gone.
package struct GoneItem: Hashable, Sendable {
  package let item: ItemID
  /// Where the file was.
  package let path: SystemPath
  /// When that was noticed, in nanoseconds since 1970.
  package let time: Int64
  /// Whether it was only missed by a look, so that it may be about to come back.
  package let isMissed: Bool

  package init(item: ItemID, path: SystemPath, time: Int64, isMissed: Bool = false) {
    self.item = item
    self.path = path
    self.time = time
    self.isMissed = isMissed
  }
}

extension VersionStore {
  /// The directory of the store that stands for a path: a program that may write there changes its history.
  package func place(of path: SystemPath) -> SystemPath { layout.place(of: path) }

  func place(at path: SystemPath) throws(VersionStoreError) -> PlaceRecord? {
    // One that's damaged is written anew: the tag of the file says which item it is, or else the item's own record.
    try recordIfIntact(at: layout.place(of: path).appending(StoreLayout.itemName)).flatMap(PlaceRecord.init)
  }

  /// Whether a history is recorded at a path, whether its file is there or not.
  package func hasPlace(_ path: SystemPath) throws(VersionStoreError) -> Bool { try place(at: path) != nil }

  func recordIfIntact(at path: SystemPath) throws(VersionStoreError) -> StoreRecord? {
    do throws(VersionStoreError) { return try record(at: path) } catch .damaged { return nil }
  }

  /// Lets an item be at a path from now on.
  ///
  /// - Parameters:
  ///   - place: The item, and which file has it.
  ///   - path: Where that is, as a canonical path.
  ///   - isTagged: Whether the file has the item's tag, so that it's found again by that if the power fails at this moment.
  /// - Throws: The error of a system call.
  func settle(_ place: PlaceRecord, at path: SystemPath, isTagged: Bool) throws(VersionStoreError) {
    let directory = layout.place(of: path)
    if isTagged { try ensureDirectory(directory) } else { try ensureDurableDirectory(directory) }
    try ensureDurableDirectory(layout.directory(of: place.item))
    // First the record of the item: a reader of the former place finds out from it that the place isn't its own yet.
    var record = StoreRecord()
    record.add("path", bytes: path.bytes)
    let write = isTagged ? writeLoosely : write
    // Most of the time it's there already, and the file has been saved.
    if try recordIfIntact(at: layout.record(of: place.item))?.bytes != record.bytes {
      try write(record, layout.record(of: place.item))
    }
    try write(place.record, directory.appending(StoreLayout.itemName))
  }

  /// The path at which an item was recorded last; it may have moved with a directory since.
  func lastPath(of item: ItemID) throws(VersionStoreError) -> SystemPath? {
    try recordIfIntact(at: layout.record(of: item))?.value(of: "path").map { SystemPath(bytes: $0) }
  }

  // MARK: - Files that are gone

  /// Notes that the file of a history is gone: a file that comes to its place is another item.
  ///
  /// - Parameter path: Where the file was, as a canonical path. The items below it are gone as well.
  /// - Throws: The error of a system call.
  package func noteRemoval(of path: SystemPath) throws(VersionStoreError) {
    for place in try placesWithItems(below: layout.place(of: path)) {
      let path = layout.path(ofPlace: place)
      guard let record = try self.place(at: path) else { continue }
      try leave(place, record.item)
      // Otherwise that's done when deleted files are listed.
      _ = try? forgetIfEmpty(GoneItem(item: record.item, path: path, time: time()))
    }
  }

  /// Ends an item's stay at a place; its history is listed as one that's gone.
  func leave(_ place: SystemPath, _ item: ItemID, isMissed: Bool = false) throws(VersionStoreError) {
    try noteGone(item, from: place, at: time(), isMissed: isMissed)
    try unlink(place.appending(StoreLayout.itemName))
  }

  /// Removes a history whose file is gone if nothing is left of it.
  ///
  /// - Returns: Whether it's removed.
  @discardableResult
  func forgetIfEmpty(_ item: GoneItem) throws(VersionStoreError) -> Bool {
    try isEmpty(item.item) ? forget(item, ifEmpty: true) : false
  }

  /// Whether a history has no version, not even one that can be brought back, and no addition that has to be completed.
  func isEmpty(_ item: ItemID) throws(VersionStoreError) -> Bool {
    for removals in [layout.removals(of: item), layout.removalMark(of: item)] {
      if try status(of: removals) != nil { return false }
    }
    for directory in [layout.marks(of: item), layout.bareVersions(of: item)] {
      if try !unsortedNames(in: directory).isEmpty { return false }
    }
    let own = [layout.record, layout.listing, layout.marks, layout.bareVersions].map { $0(item).lastComponent }
    return try unsortedNames(in: layout.directory(of: item)).allSatisfy { own.contains($0) || $0.isTemporaryName }
  }

  /// Removes the directory of a place, and those around it, as far as nothing is in them.
  func removeEmptyPlaces(_ place: SystemPath) {
    var directory = place
    while directory.isInside(layout.places), directory != layout.places {
      do throws(SystemError) { try files.unlink(directory, at: .workingDirectory, .emptyDirectory) } catch {
        if !error.isAbsence { return }
      }
      directory = directory.parent
    }
  }

  /// Begins a history at a path where nothing is, for what is left of a file that had none.
  func beginGoneHistory(at path: SystemPath) throws(VersionStoreError) -> ItemID {
    let (item, place) = (ItemID.drawn(), layout.place(of: path))
    try ensureDurableDirectory(place)
    try ensureDurableDirectory(layout.directory(of: item))
    var record = StoreRecord()
    record.add("path", bytes: path.bytes)
    try write(record, to: layout.record(of: item))
    try noteGone(item, from: place, at: time(), isMissed: false)
    return item
  }

  private func noteGone(
    _ item: ItemID, from place: SystemPath, at time: Int64, isMissed: Bool
  ) throws(VersionStoreError) {
    var record = StoreRecord()
    record.add("time", time)
    if isMissed { record.add("missed", "yes") }
    try write(record, to: place.appending(StoreLayout.goneName + item.description))
  }

  /// The histories below a path whose files are gone.
  ///
  /// - Parameter path: A canonical path.
  /// - Returns: The histories, in the order of their paths.
  /// - Throws: The error of a system call.
  /// - Complexity: O(items that were ever there).
  package func goneItems(below path: SystemPath) throws(VersionStoreError) -> [GoneItem] {
    var found: [GoneItem] = []
    try forEachPlace(below: layout.place(of: path)) { place, names throws(VersionStoreError) in
      found += try goneItems(at: place, names)
    }
    return found
  }

  /// The histories whose files were at a path and are gone.
  func goneItems(at path: SystemPath) throws(VersionStoreError) -> [GoneItem] {
    let place = layout.place(of: path)
    return try goneItems(at: place, names(in: place))
  }

  func goneItems(at place: SystemPath, _ names: [SystemPath]) throws(VersionStoreError) -> [GoneItem] {
    var found: [GoneItem] = []
    for name in names where name.description.hasPrefix(StoreLayout.goneName) {
      guard let item = ItemID(String(name.description.dropFirst(StoreLayout.goneName.count))) else { continue }
      let record = try recordIfIntact(at: place.appending(name))
      found.append(
        GoneItem(
          item: item, path: layout.path(ofPlace: place), time: record?.number(of: "time") ?? 0,
          isMissed: record?.value(of: "missed") != nil))
    }
    return found
  }

  /// Lets a history go on at a path where a file is again.
  ///
  /// - Parameters:
  ///   - item: The history.
  ///   - path: A file, as a canonical path.
  /// - Throws: ``VersionStoreError/nothingThere(_:)``, or the error of a system call.
  package func revive(_ item: GoneItem, at path: SystemPath) throws(VersionStoreError) {
    guard let status = try status(of: path) else { throw .nothingThere(path) }
    if let former = try place(at: path), former.item != item.item { try leave(layout.place(of: path), former.item) }
    try settle(PlaceRecord(item.item, status), at: path, isTagged: tag(path, item.item))
    try unlink(layout.place(of: item.path).appending(StoreLayout.goneName + item.item.description))
  }

  /// Notes which files that have histories are gone: they aren't only missed from now on.
  ///
  /// - Parameter path: A canonical path.
  /// - Returns: The histories of which that can't be noted, because the volume can't be written.
  /// - Throws: The error of a system call.
  /// - Complexity: O(items below the path).
  @discardableResult
  package func noteAbsences(below path: SystemPath) throws(VersionStoreError) -> [GoneItem] {
    var unnoted: [GoneItem] = []
    for place in try placesWithItems(below: layout.place(of: path)) {
      let path = layout.path(ofPlace: place)
      let kind = try status(of: path)?.kind
      guard kind != .regular, kind != .directory, let record = try self.place(at: path) else { continue }
      if try !isOnVolume(path, record) { continue }
      do throws(VersionStoreError) { try leave(place, record.item) } catch {
        if !error.isOfReadOnlyVolume { throw error }
        unnoted.append(GoneItem(item: record.item, path: path, time: time()))
      }
    }
    var gone: [GoneItem] = []
    try forEachPlace(below: layout.place(of: path)) { place, names throws(VersionStoreError) in
      gone += try goneItems(at: place, names)
      // A process that has removed a history may have ended before it could remove that.
      if names.isEmpty { removeEmptyPlaces(place) }
    }
    for gone in gone {
      do throws(VersionStoreError) { try settle(gone) } catch { if !error.isOfReadOnlyVolume { throw error } }
    }
    return unnoted
  }

  /// Makes sure that a history is gone, and not only missed, or that nothing says so if it isn't, or that it's forgotten.
  private func settle(_ gone: GoneItem) throws(VersionStoreError) {
    // A process that has let it go on may have ended before the record was removed.
    if try !isGone(gone) { return try unlink(goneRecord(of: gone)) }
    if try !forgetIfEmpty(gone) { try confirmAbsence(of: gone) }
  }

  /// Notes that the file of a history is gone, which was found while the volume couldn't be written.
  ///
  /// - Parameter gone: One of those that ``noteAbsences(below:)`` has returned; others are noted already.
  /// - Throws: The error of a system call: also if the volume still can't be written.
  package func noteAbsence(of gone: GoneItem) throws(VersionStoreError) {
    if try status(of: goneRecord(of: gone)) != nil { return }
    guard try status(of: gone.path) == nil, try place(at: gone.path)?.item == gone.item else { return }
    try leave(layout.place(of: gone.path), gone.item)
  }

  /// Lets no history go on any more that was missed at a path.
  func confirmAbsence(at path: SystemPath) throws(VersionStoreError) {
    for gone in try goneItems(at: path) { try confirmAbsence(of: gone) }
  }

  private func confirmAbsence(of gone: GoneItem) throws(VersionStoreError) {
    if !gone.isMissed { return }
    try noteGone(gone.item, from: layout.place(of: gone.path), at: gone.time, isMissed: false)
  }

  /// Whether what is around a path is on the volume that the file was on: one that isn't mounted hides its files.
  func isOnVolume(_ path: SystemPath, _ place: PlaceRecord) throws(VersionStoreError) -> Bool {
    var around = path.parent
    while true {
      if let status = try status(of: around) { return status.device == place.identity.device }
      if around == .root { return false }
      around = around.parent
    }
  }

  /// Whether the file of a history is still gone.
  package func isGone(_ item: GoneItem) throws(VersionStoreError) -> Bool {
    if try status(of: goneRecord(of: item)) == nil { return false }
    guard let last = try lastPath(of: item.item) else { return true }
    return try place(at: last)?.item != item.item
  }

  func goneRecord(of item: GoneItem) -> SystemPath {
    layout.place(of: item.path).appending(StoreLayout.goneName + item.item.description)
  }

  /// Removes a history wherever its file is.
  ///
  /// - Parameters:
  ///   - item: The history.
  ///   - newest: Its last version; later ones stay, and the history with them.
  /// - Returns: Whether nothing is left.
  /// - Throws: The error of a system call.
  @discardableResult
  func removeHistory(_ item: GoneItem, upTo newest: VersionID? = nil) throws(VersionStoreError) -> Bool {
    func isToGo(_ id: VersionID) -> Bool { newest.map { id <= $0 } ?? true }
    for id in try versionIDs(of: item.item) where isToGo(id) { try remove(id, of: item.item) }
    for id in try openVersionIDs(of: item.item) where isToGo(id) { try unlink(layout.mark(of: id, of: item.item)) }
    for id in try bareVersionIDs(of: item.item) where isToGo(id) { try unlink(layout.bare(id, of: item.item)) }
    // Bare ones are looked for first: they may have got directories meanwhile.
    if newest != nil, try !(bareVersionIDs(of: item.item) + versionIDs(of: item.item)).isEmpty { return false }
    try forgetRemovals(before: .max, of: item.item)
    try unlink(layout.resolution(of: item.item))
    try unlink(layout.record(of: item.item))
    try unlink(layout.listing(of: item.item))
    let directory = layout.directory(of: item.item)
    // The files that a killed process was writing there.
    for name in try unsortedNames(in: directory) where name.isTemporaryName { try unlink(directory.appending(name)) }
    for directory in [layout.marks(of: item.item), layout.bareVersions(of: item.item), layout.directory(of: item.item)]
    {
      try? storing { () throws(SystemError) in
        try files.unlink(directory, at: .workingDirectory, .emptyDirectory)
      }
    }
    // That's last: by this the rest is found after a crash.
    try unlink(goneRecord(of: item))
    removeEmptyPlaces(layout.place(of: item.path))
    return true
  }

  // MARK: - Files that move

  /// Notes that a file or a directory has moved.
  ///
  /// A history that's at the new place already goes on there if what moved has none: programs save so. Otherwise its file is gone.
  ///
  /// - Parameters:
  ///   - old: Where it was, as a canonical path.
  ///   - new: Where it is.
  /// - Throws: The error of a system call.
  package func noteMove(from old: SystemPath, to new: SystemPath) throws(VersionStoreError) {
    if try status(of: layout.place(of: old)) == nil { return }
    let step = step(Self.moveName + String(UInt64.random(in: .min ... .max), radix: 16))
    // One that isn't written completely hasn't begun.
    try writeDraft(Step.move(from: old, to: new).record.bytes, to: step)
    try storing { () throws(SystemError) in try files.synchronizeItem(at: step) }
    try synchronizeNames(in: layout.steps)
    try completeMove(from: old, to: new)
    try unlink(step)
  }

  /// Done again, it completes what was begun.
  ///
  /// The histories of files that were at the old place before stay there.
  func completeMove(from old: SystemPath, to new: SystemPath) throws(VersionStoreError) {
    let (source, target) = (layout.place(of: old), layout.place(of: new))
    if try status(of: source) != nil {
      if try names(in: source).contains(where: Self.isGoneRecord) {
        try ensureDirectory(target)
        try merge(source, into: target, isTop: true)
      } else if try status(of: target) == nil {
        try inDirectories(around: target) { () throws(SystemError) in
          try files.rename(source, at: .workingDirectory, to: target, at: .workingDirectory, .exclusive)
        }
      } else {
        try merge(source, into: target)
      }
    }
    removeEmptyPlaces(source.parent)
    removeEmptyPlaces(target)
    for place in try placesWithItems(below: target) { try noteArrival(at: place) }
  }

  private static func isGoneRecord(_ name: SystemPath) -> Bool { name.bytes.starts(with: StoreLayout.goneName.utf8) }

  private func merge(
    _ source: SystemPath, into target: SystemPath, isTop: Bool = false
  ) throws(VersionStoreError) {
    let names = try names(in: source).filter { !isTop || !Self.isGoneRecord($0) }
    let takesPlace = names.contains(SystemPath(StoreLayout.itemName))
    if takesPlace, let former = try place(at: layout.path(ofPlace: target)) { try leave(target, former.item) }
    for name in names {
      let (from, to) = (source.appending(name), target.appending(name))
      if try status(of: from)?.kind == .directory, try status(of: to) != nil {
        try merge(from, into: to)
      } else if try status(of: to) == nil {
        try rename(from, to: to)
      }
    }
    try? storing { () throws(SystemError) in
      try files.unlink(source, at: .workingDirectory, .emptyDirectory)
    }
  }

  /// An item's own record says where it is, so that a copy of its file isn't taken for it.
  private func noteArrival(at place: SystemPath) throws(VersionStoreError) {
    let path = layout.path(ofPlace: place)
    guard let record = try self.place(at: path), try lastPath(of: record.item) != path else { return }
    var moved = StoreRecord()
    moved.add("path", bytes: path.bytes)
    try write(moved, to: layout.record(of: record.item))
  }

  // MARK: - Walking

  func placesWithItems(below top: SystemPath) throws(VersionStoreError) -> [SystemPath] {
    var places: [SystemPath] = []
    try forEachPlace(below: top) { place, names throws(VersionStoreError) in
      if names.contains(SystemPath(StoreLayout.itemName)) { places.append(place) }
    }
    return places
  }

  func forEachPlace(
    below top: SystemPath, _ body: (SystemPath, [SystemPath]) throws(VersionStoreError) -> Void
  ) throws(VersionStoreError) {
    var waiting = [top]
    while let place = waiting.popLast() {
      let names = try names(in: place)
      try body(place, names)
      for name in names.reversed() where !Self.isFileOfStore(name) { waiting.append(place.appending(name)) }
    }
  }

  private static func isFileOfStore(_ name: SystemPath) -> Bool {
    name.bytes.first == UInt8(ascii: "=") && !name.bytes.starts(with: "==".utf8)
  }
}
