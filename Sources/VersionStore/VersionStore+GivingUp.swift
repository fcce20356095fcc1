internal import SystemInterface

// A history that another store has by now is taken out of this one by one rename. If its versions went one after the other, a process that's
// killed in between would leave some of them, and a file that goes back to its former place would have only these.

extension VersionStore {
  private static let givenUpName = "given-up-"

  static func isGivenUp(_ name: SystemPath) -> Bool { name.bytes.starts(with: givenUpName.utf8) }

  /// Removes a history that another store has, but for versions that it hasn't.
  ///
  /// A crash leaves all of it, or nothing: the next process that uses the store removes the rest from `steps`.
  func giveUp(_ adoption: Adoption) throws(VersionStoreError) {
    let item = adoption.item
    let newest = try newestID(of: item)
    if let newest, adoption.newest.map({ newest > $0 }) ?? true {
      // One that was added meanwhile is of a file that goes on with the history here.
      guard adoption.newest != nil else { return }
      try removeHistory(GoneItem(item: item, path: adoption.place ?? root, time: 0), upTo: adoption.newest)
      return
    }
    if let place = adoption.place, try self.place(at: place)?.item == item {
      // A file that goes back there must not find a place whose history is gone.
      let directory = layout.place(of: place)
      try unlink(directory.appending(StoreLayout.itemName))
      try synchronizeNames(in: directory)
    }
    let step = step("\(Self.givenUpName)\(item)-\(adoption.newest.map { "\($0)" } ?? "")")
    // A rest that couldn't be removed when the history was here before.
    if try status(of: step) != nil { try disposeOfGivenUp(step) }
    do throws(VersionStoreError) { try rename(layout.directory(of: item), to: step) } catch .system(let error)
      where error.isAbsence
    { return }
    try synchronizeNames(in: layout.directory(of: item).parent)
    try disposeOfGivenUp(step)
  }

  /// Removes a history that was taken out of the others, but for versions that came in the last instant: these stay in the store.
  ///
  /// - Parameter step: Where it is; the name says what the other store has.
  /// - Throws: The error of a system call; the next process that uses the store removes the rest.
  func disposeOfGivenUp(_ step: SystemPath) throws(VersionStoreError) {
    let name = step.lastComponent.description.dropFirst(Self.givenUpName.count)
    guard let item = ItemID(String(name.prefix { $0 != "-" })) else { return try dispose(of: step) }
    let newest = VersionID(String(name.drop { $0 != "-" }.dropFirst().prefix { $0 != "." }))
    func isLater(_ id: VersionID) -> Bool { newest.map { id > $0 } ?? true }
    for name in try names(in: step) {
      if let id = VersionID(name), isLater(id) {
        let mark = step.appending(StoreLayout.marksName).appending(id.description)
        if try status(of: mark) != nil { try putBack(mark, to: layout.mark(of: id, of: item)) }
        try putBack(step.appending(name), to: layout.directory(of: id, of: item))
      } else if let id = VersionID(name) ?? VersionID(ofRemoval: name) {
        try dispose(of: step.appending(name))
        removeTask(UnhashedVersion(item: item, id: id))
      }
    }
    let bare = step.appending(layout.bareVersions(of: item).lastComponent)
    for name in try names(in: bare) {
      guard let id = VersionID(name), isLater(id) else { continue }
      try putBack(bare.appending(name), to: layout.bare(id, of: item))
    }
    // The same history may have come back from the other store meanwhile.
    if !isKnown(item) {
      try forgetRemovals(before: .max, of: item)
      let record = try recordIfIntact(at: step.appending(layout.record(of: item).lastComponent))
      if let last = record?.value(of: "path") {
        let place = layout.place(of: SystemPath(bytes: last))
        try unlink(place.appending(StoreLayout.goneName + item.description))
        removeEmptyPlaces(place)
      }
    }
    // Last: as long as it's there, the next process goes on.
    try removeTree(step)
  }

  private func putBack(_ path: SystemPath, to place: SystemPath) throws(VersionStoreError) {
    try ensureDurableDirectory(place.parent)
    try rename(path, to: place)
    try synchronizeNames(in: place.parent)
  }
}
