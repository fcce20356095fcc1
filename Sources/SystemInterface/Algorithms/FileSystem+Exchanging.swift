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
  /// Where names can't be exchanged, a file takes the place of another one in one step as well: if the process dies there's one at the
  /// place, and the other one has a temporary name. A file that another program puts there in the last instant before that step is replaced.
  ///
  /// - Parameters:
  ///   - item: The item that had the name.
  ///   - place: The name; the item that has it now gets that of `item`, unless it's gone.
  ///   - dropped: The status of a file that nobody needs: if that's at the place, and can be neither exchanged nor linked, it goes.
  /// - Returns: The item that had the name until now, where it is: under the name of `item`, or another temporary one if it can't get that;
  ///   `nil` if there was none, or it has gone.
  /// - Throws: EAGAIN if others come and go all the time, or the error of the call that failed. Both are where they were then.
  @discardableResult
  package func putBack(
    _ item: DirectoryItem, to place: DirectoryItem, dropping dropped: FileStatus? = nil
  ) throws(SystemError) -> DirectoryItem? {
    for _ in 0..<Self.exchangeCountMax {
      do {
        try rename(item.name, at: item.directory, to: place.name, at: place.directory, .exchange)
        return item
      } catch let error where error.isUnsupported {
        guard let former = try putBackWithoutExchange(item, to: place, dropping: dropped) else { return nil }
        // It's made by now.
        do { try renameExclusively(former, to: item) } catch { return former }
        return item
      } catch let error where error.errno == ENOENT {}
      do {
        try rename(item.name, at: item.directory, to: place.name, at: place.directory, .exclusive)
        return nil
      } catch let error where error.errno == EEXIST {}
    }
    throw SystemError(
      call: "replaceContents", paths: [place.name], errno: EAGAIN, advice: "It's made and removed again and again.")
  }

  /// The same where names can't be exchanged.
  ///
  /// - Returns: The item that had the name, under a temporary one.
  private func putBackWithoutExchange(
    _ item: DirectoryItem, to place: DirectoryItem, dropping dropped: FileStatus?
  ) throws(SystemError) -> DirectoryItem? {
    let kind = try status(of: item.name, at: item.directory, links: .noFollow).kind
    guard let former = try statusIfPresent(of: place.name, at: place.directory) else {
      try renameExclusively(item, to: place)
      return nil
    }
    // Of two names rename(2) replaces one by the other, unless one is that of a directory.
    if kind == .directory || former.kind == .directory { return try putBackInTwoSteps(item, to: place) }
    let linked = keepByLink(place)
    if linked == nil, let dropped, former.hasContents(of: dropped) {
      try rename(item.name, at: item.directory, to: place.name, at: place.directory, .replacing)
      return nil
    }
    guard let kept = linked ?? keepByCopy(place, former) else { return try putBackInTwoSteps(item, to: place) }
    do {
      try rename(item.name, at: item.directory, to: place.name, at: place.directory, .replacing)
    } catch {
      // It stays if there's no other one any more.
      if let now = try? statusIfPresent(of: place.name, at: place.directory), now.hasContents(of: former) {
        try? unlink(kept.name, at: kept.directory, .file)
      }
      throw error
    }
    return kept
  }

  /// Gives what isn't a directory a temporary name as well; `nil` if no link can be made.
  private func keepByLink(_ item: DirectoryItem) -> DirectoryItem? {
    try? withTemporaryName(for: item.name) { (name) throws(SystemError) in
      try link(item.name, at: item.directory, to: name, at: item.directory, links: .noFollow)
      return item.beside(name)
    }
  }

  /// Copies a file or a symbolic link to a temporary name; `nil` if that can't be done.
  private func keepByCopy(_ item: DirectoryItem, _ status: FileStatus) -> DirectoryItem? {
    guard status.kind == .regular || status.kind == .symbolicLink else { return nil }
    let copy = item.beside(.temporaryName(for: item.name))
    do throws(SystemError) {
      try copyLeaf(item, status, to: copy, durability: .synchronized)
      if let now = try statusIfPresent(of: item.name, at: item.directory), now.hasContents(of: status) { return copy }
    } catch {}
    try? unlink(copy.name, at: copy.directory, .file)
    return nil
  }

  /// The same in two steps: between them nothing has the name.
  private func putBackInTwoSteps(
    _ item: DirectoryItem, to place: DirectoryItem
  ) throws(SystemError) -> DirectoryItem? {
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
    return other
  }
}
