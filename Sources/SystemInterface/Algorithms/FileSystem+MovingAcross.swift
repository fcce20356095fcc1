internal import Glibc

// A move to another file system: a copy takes the new place, and then the original goes. If that's refused, the copy goes.

extension FileSystem {
  /// Moves an item to a directory of another file system.
  ///
  /// An item that's replaced has a temporary name beside its own until the original is gone.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - target: Its new name.
  ///   - replacing: Whether something may be there.
  /// - Throws: EEXIST when something is there and `replacing` is false, or the error of the call that failed. Both names have what
  ///   they had, unless the error says otherwise.
  /// - Postcondition: If a directory can't be removed as a whole, its rest has a temporary name at the former place.
  /// - Complexity: O(*n*) in the bytes moved and the items below.
  func moveAcross(_ source: DirectoryItem, to target: DirectoryItem, replacing: Bool) throws(SystemError) {
    let copy = try placeCopyKeeping(of: source, as: target, replacing: replacing)
    let former: DirectoryItem?
    do {
      try synchronizeAfterCommit(target.directory)
      former = try removeOrSetAside(source)
    } catch {
      throw takeBack(copy, from: target, after: error)
    }
    do { try synchronizeAfterCommit(source.directory) } catch {
      // The new place is on the disk, so nobody needs what was there. The former directory might get its name back, and stays whole.
      try? removeDisplaced(copy.displaced)
      guard let former else { throw error }
      throw error.withAdvice("\(error.advice ?? "") The former directory is left as '\(former.name)'.")
    }
    if let former { try? removeTree(nameForRemoval(of: former), at: former.directory, overridingMode: true) }
    try removeDisplaced(copy.displaced)
  }

  /// Removes an item; a directory gets a temporary name first, so that none is at its place that's removed in part.
  ///
  /// - Returns: The directory under its temporary name.
  /// - Throws: The error of the call that failed: the item is whole then.
  private func removeOrSetAside(_ source: DirectoryItem) throws(SystemError) -> DirectoryItem? {
    do {
      try unlink(source.name, at: source.directory, .file)
      return nil
    } catch let error where error.errno == EISDIR {
      do { return try setAside(source) } catch {
        throw SystemError(.rename, paths: [source.name], errno: error.errno)
      }
    }
  }

  private func placeCopyKeeping(
    of source: DirectoryItem, as target: DirectoryItem, replacing: Bool
  ) throws(SystemError) -> PlacedCopy {
    try withCopy(of: source, for: target, replacing: replacing) { (copy) throws(SystemError) in
      // One that can't be read again stays if the move is refused.
      let mark = try? mark(of: copy)
      if replacing { try putBack(copy, to: target) } else { try renameExclusively(copy, to: target) }
      let displaced = (try? statusIfPresent(of: copy.name, at: copy.directory)) != .some(nil)
      return PlacedCopy(formerName: copy, mark: mark, hasDisplaced: replacing && displaced)
    }
  }

  /// Removes a copy from its place, and gives that to the item that was there.
  ///
  /// - Parameters:
  ///   - copy: The copy.
  ///   - target: Its place.
  ///   - refusal: Why the original couldn't be removed.
  /// - Returns: The error, with what has become of the copy if it's still there.
  private func takeBack(_ copy: PlacedCopy, from target: DirectoryItem, after refusal: SystemError) -> SystemError {
    var error = refusal
    do throws(SystemError) {
      let aside = copy.formerName
      if copy.hasDisplaced { try putBack(aside, to: target) } else { try renameExclusively(target, to: aside) }
      // A file that another program has put there meanwhile, or written, stays.
      guard let mark = copy.mark, (try? self.mark(of: aside)) == mark
      else {
        if copy.hasDisplaced { try putBack(aside, to: target) } else { try renameExclusively(aside, to: target) }
        throw error
      }
      try removeTree(aside.name, at: aside.directory, overridingMode: true)
      try synchronizeDirectory(target.directory)
      error.advice = nil
    } catch {
      return refusal.withAdvice(
        "The item was copied to its new place, and is still at its old place. Remove one of the two."
          + (copy.displaced.map { " The replaced item is left as '\($0.name)'." } ?? ""))
    }
    return error
  }
}

/// A copy at its place, whose original is still there.
private struct PlacedCopy {
  /// The copy's temporary name, which the item that was at the place has by now.
  let formerName: DirectoryItem
  /// The copy as it was when it got its place.
  let mark: ItemMark?
  let hasDisplaced: Bool

  var displaced: DirectoryItem? { hasDisplaced ? formerName : nil }
}

extension SystemError {
  fileprivate func withAdvice(_ advice: String) -> SystemError {
    var error = self
    error.advice = advice
    return error
  }
}
