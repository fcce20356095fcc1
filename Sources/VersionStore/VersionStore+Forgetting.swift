package import SystemInterface

// The history of a deleted file is removed. A program may find the file at another path at the same moment: it has claimed that path, and not
// the one at which the history is listed as gone. So the history leaves its place by one rename, then it's decided again whether the file is
// gone, and if it isn't, the history goes back.
//
//     removal   [gone?]--[rename]--[gone?]--[remove]
//     finder              [notes its path, in the history and at the path]--[lists the versions]
//
// A finder that began to note its path before the rename is seen by the second look, by what it has written, or by the directory of the
// history, which it makes anew. One that begins later finds no history: the removal came first.

extension VersionStore {
  /// Where an item was recorded last, if it's anywhere; its place has to be claimed by those who change its history.
  package func recordedPath(of item: ItemID) throws(VersionStoreError) -> SystemPath? { try lastPath(of: item) }

  /// Removes a history whose file is gone.
  ///
  /// - Parameter item: The history.
  /// - Returns: Whether it was gone still; otherwise nothing is removed.
  /// - Throws: The error of a system call; the rest of the history is removed by the next call, or when the process has ended.
  @discardableResult
  package func forget(_ item: GoneItem) throws(VersionStoreError) -> Bool { try forget(item, ifEmpty: false) }

  @discardableResult
  func forget(_ item: GoneItem, ifEmpty: Bool) throws(VersionStoreError) -> Bool {
    guard try isGone(item) else { return false }
    let record = try recordIfIntact(at: layout.record(of: item.item))
    let step = step("\(Self.forgottenName)\(item.item)-" + hexadecimal(.random(in: .min ... .max)))
    do throws(VersionStoreError) { try rename(layout.directory(of: item.item), to: step) } catch .system(let error)
      where error.isAbsence
    {
      // A call that was cut off has removed it.
      try forgetRest(of: item)
      return true
    } catch {
      // Without room for a name it's removed where it is.
      if !error.isOfFullVolume { throw error }
      guard try isGone(item) else { return false }
      return try removeHistory(item)
    }
    var isToGo = try isToForget(item, record, in: step)
    if isToGo, ifEmpty { isToGo = try isEmptyHistory(item.item, in: step) }
    if !isToGo {
      try bringBack(item.item, from: step)
      return false
    }
    try disposeOfHistory(in: step, of: item.item)
    try forgetRest(of: item)
    return true
  }

  private static let forgottenName = "forgotten-"

  /// Whether a history that has left its place is still that of a file that's gone.
  private func isToForget(
    _ item: GoneItem, _ record: StoreRecord?, in step: SystemPath
  ) throws(VersionStoreError) -> Bool {
    if isKnown(item.item) { return false }
    guard try status(of: goneRecord(of: item)) != nil else { return false }
    let now = try recordIfIntact(at: step.appending(layout.record(of: item.item).lastComponent))
    if now?.bytes != record?.bytes { return false }
    guard let last = now?.value(of: "path") else { return true }
    return try place(at: SystemPath(bytes: last))?.item != item.item
  }

  private func isEmptyHistory(_ item: ItemID, in directory: SystemPath) throws(VersionStoreError) -> Bool {
    for name in try unsortedNames(in: directory) {
      if VersionID(name) ?? VersionID(ofRemoval: name) != nil { return false }
      let isOfVersions =
        name == layout.marks(of: item).lastComponent || name == layout.bareVersions(of: item).lastComponent
      if isOfVersions, try !unsortedNames(in: directory.appending(name)).isEmpty { return false }
    }
    return true
  }

  /// Removes what a history has elsewhere; the note of its absence goes last, because the rest is found by that after a crash.
  private func forgetRest(of item: GoneItem) throws(VersionStoreError) {
    try forgetRemovals(before: .max, of: item.item)
    try unlink(goneRecord(of: item))
    removeEmptyPlaces(layout.place(of: item.path))
  }

  /// Gives a history its place back, where another one may have begun with the same name.
  private func bringBack(_ item: ItemID, from step: SystemPath) throws(VersionStoreError) {
    let directory = layout.directory(of: item)
    do throws(VersionStoreError) { try rename(step, to: directory) } catch .system(let error)
      where error.number == .fileExists
    {
      // A cache that doesn't know these versions.
      try unlink(layout.listing(of: item))
      try bringBackMembers(of: step, to: directory)
      try removeTree(step)
    }
    try synchronizeNames(in: directory)
    try synchronizeNames(in: directory.parent)
  }

  /// A member that the new place has already is newer.
  private func bringBackMembers(of source: SystemPath, to target: SystemPath) throws(VersionStoreError) {
    for name in try names(in: source) {
      let (from, to) = (source.appending(name), target.appending(name))
      do throws(VersionStoreError) { try rename(from, to: to) } catch .system(let error)
        where error.number == .fileExists
      {
        if try status(of: from)?.kind == .directory { try bringBackMembers(of: from, to: to) }
      }
    }
  }

  /// Completes or undoes the removal of a history whose process was killed.
  ///
  /// - Returns: Whether the step is one.
  func recoverForgotten(_ step: SystemPath) throws(VersionStoreError) -> Bool {
    let name = step.lastComponent.description
    guard name.hasPrefix(Self.forgottenName) else { return false }
    guard let item = ItemID(String(name.dropFirst(Self.forgottenName.count).prefix { $0 != "-" })) else { return false }
    let last = try recordIfIntact(at: step.appending(layout.record(of: item).lastComponent))?.value(of: "path")
    var isFound = isKnown(item)
    if !isFound, let last { isFound = try place(at: SystemPath(bytes: last))?.item == item }
    if isFound { try bringBack(item, from: step) } else { try disposeOfHistory(in: step, of: item) }
    return true
  }

  /// Removes a directory with versions that aren't listed any more, or not yet, and contents that no other version has.
  func disposeOfHistory(in directory: SystemPath, of item: ItemID? = nil) throws(VersionStoreError) {
    for name in try names(in: directory) {
      guard let id = VersionID(name) ?? VersionID(ofRemoval: name) else { continue }
      try dispose(of: directory.appending(name))
      if let item { removeTask(UnhashedVersion(item: item, id: id)) }
    }
    try dispose(of: directory)
  }
}
