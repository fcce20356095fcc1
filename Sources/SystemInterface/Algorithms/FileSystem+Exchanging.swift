internal import Glibc

// One item takes the place of another one, if that is still what somebody has looked at.

extension FileSystem {
  private static var exchangeCountMax: Int { 16 }

  /// Puts a new file or directory in the place of another one in one step, unless that isn't what it was.
  ///
  /// The two change places, and what comes out is looked at: if it isn't what it was, it goes back. So nothing is replaced
  /// that nobody has looked at. File systems that can't exchange look right before the replacement. The new item is brought to the
  /// disk before, and the change of the names afterwards.
  ///
  /// - Parameters:
  ///   - new: The new item, as a canonical path.
  ///   - path: The other one, as a canonical path on the same file system.
  ///   - check: Looks at the other one, where it's now; throws if it isn't what it was.
  /// - Throws: The error of `check`, ENOENT if nothing is there, or the error of the call that failed. Both items are where they were
  ///   then, unless the error says that the change is in place.
  /// - Postcondition: The other item is where the new one was, or gone.
  /// - Note: renameat2(2) on `RENAME_EXCHANGE`.
  package func exchangeItem(
    at new: SystemPath, with path: SystemPath, ifThat check: (DirectoryItem) throws(SystemError) -> Void
  ) throws(SystemError) {
    try synchronizeItem(at: new)
    try locatingErrors(at: path) { () throws(SystemError) in
      let (name, newName) = (try path.itemName(), try new.itemName())
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        try withDescriptor(new.parent, flags: .directory) { (source) throws(SystemError) in
          try exchange(
            DirectoryItem(name: newName, directory: source, place: new.parent),
            with: DirectoryItem(name: name, directory: directory, place: path.parent), ifThat: check)
        }
        removeIncoming(of: name, at: directory)
        try synchronizeAfterCommit(directory)
      }
    }
  }

  /// The same, without waiting for the disk.
  func exchange(
    _ draft: DirectoryItem, with place: DirectoryItem, ifThat check: (DirectoryItem) throws(SystemError) -> Void
  ) throws(SystemError) {
    do {
      try rename(draft.name, at: draft.directory, to: place.name, at: place.directory, .exchange)
    } catch let error where error.isUnsupported {
      try check(place)
      return try removeDisplaced(self.place(draft, as: place, replacing: true))
    }
    do throws(SystemError) {
      try check(draft)
    } catch {
      try putBack(draft, to: place)
      throw error
    }
  }

  /// Gives something its name back, where others may come and go.
  ///
  /// - Parameters:
  ///   - item: The item that had the name.
  ///   - place: The name; the item that has it now gets that of `item`, unless it's gone.
  /// - Throws: EAGAIN if others come and go all the time, or the error of the call that failed.
  package func putBack(_ item: DirectoryItem, to place: DirectoryItem) throws(SystemError) {
    for _ in 0..<Self.exchangeCountMax {
      do {
        return try rename(item.name, at: item.directory, to: place.name, at: place.directory, .exchange)
      } catch let error where error.isUnsupported {
        return try putBackInTwoSteps(item, to: place)
      } catch let error where error.errno == ENOENT {}
      do {
        try rename(item.name, at: item.directory, to: place.name, at: place.directory, .exclusive)
        return
      } catch let error where error.errno == EEXIST {}
    }
    throw SystemError(
      call: "replaceContents", paths: [place.name], errno: EAGAIN, advice: "It's made and removed again and again.")
  }

  /// The same where names can't be exchanged: between the steps nothing has the name.
  private func putBackInTwoSteps(_ item: DirectoryItem, to place: DirectoryItem) throws(SystemError) {
    let other: DirectoryItem?
    do {
      other = try setAside(place)
    } catch let error where error.errno == ENOENT { other = nil }
    do {
      try renameExclusively(item, to: place)
    } catch {
      if let other { try? renameExclusively(other, to: place) }
      throw error
    }
    if let other { try renameExclusively(other, to: item) }
  }
}
