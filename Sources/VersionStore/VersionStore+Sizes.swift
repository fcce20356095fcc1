internal import ContentHashing
package import SystemInterface

// How much space histories take. Nothing is written, and nothing has to be claimed: a version that comes or goes meanwhile counts or doesn't.

/// A history, and where its file is.
package struct HistoryPlace: Hashable, Sendable {
  package let item: ItemID
  /// Where its file is, or was.
  package let path: SystemPath
  /// When the file was missed first, in nanoseconds since 1970; `nil` if it's there, or its volume isn't mounted.
  package let absenceTime: Int64?
}

/// The space that one history takes.
package struct HistorySize: Hashable, Sendable {
  /// How many versions are listed.
  package internal(set) var versionCount = 0
  /// The sizes of these, together.
  package internal(set) var byteCount: Int64 = 0
  /// How many of them are conflicts that aren't resolved.
  package internal(set) var conflictCount = 0
  /// When the first one of them was added, in nanoseconds since 1970.
  package internal(set) var oldestTime: Int64?
  /// How many versions were removed and can be brought back.
  package internal(set) var removedCount = 0
  /// The bytes of all of these versions, each contents once.
  package internal(set) var storedByteCount: Int64 = 0
  /// How many records can't be read: it isn't known how large their versions are.
  package internal(set) var damagedCount = 0

  /// Whether nothing is left of the history.
  package var isEmpty: Bool { versionCount == 0 && removedCount == 0 && damagedCount == 0 }
}

extension VersionStore {
  /// The histories at a path and below it.
  ///
  /// - Parameter path: A canonical path.
  /// - Returns: The histories, each once.
  /// - Throws: The error of a system call.
  /// - Complexity: O(items that were ever there).
  package func histories(below path: SystemPath) throws(VersionStoreError) -> [HistoryPlace] {
    var found: [HistoryPlace] = []
    // A directory that moves meanwhile may be met twice.
    var met: Set<ItemID> = []
    func note(_ item: ItemID, _ path: SystemPath, absence: Int64?) {
      if met.insert(item).inserted { found.append(HistoryPlace(item: item, path: path, absenceTime: absence)) }
    }
    try forEachPlace(below: layout.place(of: path)) { place, names throws(VersionStoreError) in
      let path = layout.path(ofPlace: place)
      if names.contains(SystemPath(StoreLayout.itemName)), let record = try self.place(at: path) {
        note(record.item, path, absence: try absenceTime(of: record, at: path))
      }
      for gone in try goneItems(at: place, names) where try isGone(gone) {
        note(gone.item, path, absence: gone.time)
      }
    }
    return found
  }

  /// The present time if the file of a history isn't where it was: it's gone at least since then.
  private func absenceTime(of place: PlaceRecord, at path: SystemPath) throws(VersionStoreError) -> Int64? {
    let kind = try status(of: path)?.kind
    if kind == .regular || kind == .directory { return nil }
    return try isOnVolume(path, place) ? time() : nil
  }

  /// The space that a history takes.
  ///
  /// - Parameter item: The history.
  /// - Returns: The space.
  /// - Throws: The error of a system call.
  /// - Complexity: O(versions), and O(members) of packages: the record of each is read. Of all versions, the names and the hashes are in
  ///   memory at once.
  package func size(of item: ItemID) throws(VersionStoreError) -> HistorySize {
    var size = HistorySize()
    var contents: Set<ContentHash> = []
    for id in try Set(versionIDs(of: item) + bareVersionIDs(of: item)).sorted() {
      do throws(VersionStoreError) {
        guard let version = try versionIfPresent(id, of: item) else { continue }
        size.versionCount += 1
        size.byteCount += version.size
        if !version.isResolved { size.conflictCount += 1 }
        size.oldestTime = size.oldestTime ?? version.additionTime
        size.storedByteCount += newBytes(of: version, in: layout.directory(of: id, of: item), &contents)
      } catch .damaged { size.damagedCount += 1 }
    }
    try forEachRemovedVersion(of: item) { removed in
      size.removedCount += 1
      let directory = path(of: removed).parent.parent
      size.storedByteCount += newBytes(of: removed.version, in: directory, &contents)
    }
    return size
  }

  /// The bytes of a version that none of those before it has.
  private func newBytes(
    of version: StoredVersion, in directory: SystemPath, _ known: inout Set<ContentHash>
  ) -> Int64 {
    guard let hash = version.hash else { return version.size }
    guard version.isPackage, let list = try? contents(of: directory.appending(StoreLayout.members)) else {
      return known.insert(hash).inserted ? version.size : 0
    }
    var sum: Int64 = 0
    for member in Member.members(in: list) {
      if let contents = member?.contents, known.insert(contents.hash).inserted { sum += contents.size }
    }
    return sum
  }
}
