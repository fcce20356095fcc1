internal import SystemInterface

// A full volume has no room for another directory, and a person who removes versions wants to get room. So a version that can't go to the
// directory of the removed ones gets another name beside the others, by which it isn't listed. The new name is as long as the old one: that
// needs no room, as a rule, also in a directory that's full. Its time says when it was removed.

/// Where a removed version is.
enum RemovalPlace: Hashable, Sendable {
  /// In a directory of the item's removed versions.
  case removals
  /// Beside the versions of the item, by a name: there was no room.
  case item(SystemPath)
  /// The same for a version without a directory.
  case bare(SystemPath)

  var isBare: Bool { if case .bare = self { true } else { false } }
}

/// A removed version, without its record.
struct Removal: Hashable {
  let version: VersionID
  /// In nanoseconds since 1970.
  let time: Int64
  let place: RemovalPlace
}

extension VersionID {
  /// The letters that stand for the hyphen in the names of versions that were removed in place.
  ///
  /// File systems look for a name at a place that the whole of it determines: where one has no room, another one may have some.
  private static let removalLetters = Array("ghijklmnopqrstuv".utf8)

  private static let hyphenIndex = 16

  /// The names that the version may have when it was removed in place.
  var namesOfRemovals: [SystemPath] {
    Self.removalLetters.map { letter in
      var bytes = Array(description.utf8)
      bytes[Self.hyphenIndex] = letter
      return SystemPath(bytes: bytes)
    }
  }

  /// Reads such a name; others are `nil`.
  init?(ofRemoval name: SystemPath) {
    var bytes = name.bytes
    guard bytes.count > Self.hyphenIndex, Self.removalLetters.contains(bytes[Self.hyphenIndex]) else { return nil }
    bytes[Self.hyphenIndex] = UInt8(ascii: "-")
    self.init(bytes[...])
  }
}

extension VersionStore {
  /// Gives a version the name of a removed one where it is.
  ///
  /// - Returns: Whether that could be; `false` if the file of a bare version may not have been replaced yet.
  /// - Throws: ``VersionStoreError/versionIsGone(_:)``, or the error of a system call: there's no room for a name either.
  func retireInPlace(_ id: VersionID, of item: ItemID) throws(VersionStoreError) -> Bool {
    let (bare, directory) = (layout.bare(id, of: item), layout.directory(of: id, of: item))
    let isBare = try status(of: bare) != nil
    if isBare {
      // One that has both is about to get its file, and the file of a save that isn't over has its former place as well.
      if try status(of: directory) != nil { return false }
      if try bareVersion(id, of: item) == nil { return false }
    } else if try status(of: directory) == nil {
      throw .versionIsGone(id)
    }
    // Without the mark nobody would find it. It's made last, too: a process that has found nothing may have removed it in between.
    try makeRemovalMark(of: item)
    try? synchronizeNames(in: layout.removed)
    let place = isBare ? bare : directory
    try storing { () throws(SystemError) in try setTimeOfRemoval(of: place) }
    try withNameOfRemoval(of: id, in: place.parent) { (name) throws(VersionStoreError) in
      if isBare { try rename(bare, to: name) } else { try retire(id, of: item, to: name) }
    }
    try makeRemovalMark(of: item)
    return true
  }

  private func setTimeOfRemoval(of place: SystemPath) throws(SystemError) {
    do throws(SystemError) {
      try files.setModificationTime(of: place, at: .workingDirectory, to: time())
    } catch {
      // The file of a bare version may be another user's.
      if error.number != .notPermitted { throw error }
      try files.setModificationTime(of: place, at: .workingDirectory, to: nil)
    }
  }

  /// Tries one name after the other until there's room for one.
  private func withNameOfRemoval(
    of id: VersionID, in directory: SystemPath, _ rename: (SystemPath) throws(VersionStoreError) -> Void
  ) throws(VersionStoreError) {
    var failure: VersionStoreError?
    for name in id.namesOfRemovals {
      do throws(VersionStoreError) { return try rename(directory.appending(name)) } catch {
        if !error.isOfFullVolume { throw error }
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Another name of a file takes no room, as a rule, and no file either.
  func makeRemovalMark(of item: ItemID) throws(VersionStoreError) {
    let mark = layout.removalMark(of: item)
    if try status(of: mark) != nil { return }
    if try status(of: layout.removed) == nil { try ensureDirectory(layout.removed) }
    do throws(SystemError) {
      try files.link(layout.format, at: .workingDirectory, to: mark, at: .workingDirectory, links: .noFollow)
    } catch {
      // Not every file system has hard links.
      if error.number != .fileExists { try writeDraft([], to: mark) }
    }
  }

  /// Removes the mark when none of an item's removed versions is in place any more; only the caller changes the history.
  func removeMarkIfUnneeded(of item: ItemID) throws(VersionStoreError) {
    let mark = layout.removalMark(of: item)
    if try status(of: mark) == nil { return }
    if try removalsInPlace(of: item).isEmpty { try unlink(mark) }
  }

  /// The removed versions of an item that are in place.
  ///
  /// - Complexity: O(1) if there's none, else O(versions) for their names.
  func removalsInPlace(of item: ItemID) throws(VersionStoreError) -> [Removal] {
    if try status(of: layout.removalMark(of: item)) == nil { return [] }
    var removals: [Removal] = []
    for (directory, place) in [
      (layout.directory(of: item), RemovalPlace.item), (layout.bareVersions(of: item), RemovalPlace.bare),
    ] {
      for name in try unsortedNames(in: directory) {
        guard let id = VersionID(ofRemoval: name), let status = try status(of: directory.appending(name)) else {
          continue
        }
        removals.append(Removal(version: id, time: status.modificationTime, place: place(name)))
      }
    }
    return removals
  }

  /// Gives the file of a bare version that was brought back its own time, where that of the removal was.
  ///
  /// The record has it as well, so that nobody needs it here.
  func restoreTime(of id: VersionID, of item: ItemID) {
    guard let version = bareRecord(id, of: item)?.version else { return }
    try? files.setModificationTime(
      of: layout.bare(id, of: item), at: .workingDirectory, to: version.modificationTime)
  }
}
