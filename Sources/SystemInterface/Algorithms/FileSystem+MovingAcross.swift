internal import Glibc

// A move to another file system: a copy takes the new place, and then the original goes. If that's refused, the copy goes.

/// A step of a move to another file system at which both places have the item.
package enum MoveAcrossStep: Sendable {
  /// The new place is on the disk, and the original is about to be removed.
  case isCopied
  /// The original can't be removed, and the copy is about to go.
  case isRefused
}

extension FileSystem {
  /// Moves an item to a directory of another file system.
  ///
  /// An item that's replaced has a temporary name beside its own until the original is gone.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - target: Its new name.
  ///   - replacing: Whether something may be there.
  ///   - note: Called at each step; not if something was replaced, nor if the removal of the original will be refused.
  /// - Throws: EEXIST when something is there and `replacing` is false, or the error of the call that failed. Both names have what
  ///   they had, unless the error says otherwise.
  /// - Postcondition: If a directory can't be removed as a whole, its rest has a temporary name at the former place.
  /// - Complexity: O(*n*) in the bytes moved and the items below.
  func moveAcross(
    _ source: DirectoryItem, to target: DirectoryItem, replacing: Bool, noting note: (MoveAcrossStep) -> Void
  ) throws(SystemError) {
    let copy = try placeCopyKeeping(of: source, as: target, replacing: replacing)
    let former: DirectoryItem?
    var isNoted = false
    do {
      try synchronizeAfterCommit(target.directory)
      // Those who are at the new place, because another item was there, would come along if that was taken back.
      if copy.displaced == nil, mayRemove(source) {
        note(.isCopied)
        isNoted = true
      }
      former = try removeOrSetAside(source)
    } catch {
      if isNoted { note(.isRefused) }
      throw takeBack(copy, from: target, after: error)
    }
    do { try synchronizeAfterCommit(source.directory) } catch {
      // The new place is on the disk, so nobody needs what was there. The former directory might get its name back, and stays whole.
      try? removeDisplaced(copy.displaced)
      throw error.leaving(former, "former directory")
    }
    if let former { try? removeTree(nameForRemoval(of: former), at: former.directory, overridingMode: true) }
    try removeDisplaced(copy.displaced)
  }

  /// Whether nothing is known that would refuse the removal of an item.
  private func mayRemove(_ item: DirectoryItem) -> Bool {
    do throws(SystemError) {
      try checkWritePermission(of: SystemPath("."), at: item.directory)
      let (around, user) = (try status(of: item.directory), HostUser.effectiveUserID)
      if around.mode & 0o1000 == 0 || user == 0 || around.owner == user { return true }
      return try status(of: item.name, at: item.directory, links: .noFollow).owner == user
    } catch {
      return false
    }
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
      if replacing { return PlacedCopy(formerName: copy, mark: mark, displaced: try putBack(copy, to: target)) }
      try renameExclusively(copy, to: target)
      return PlacedCopy(formerName: copy, mark: mark, displaced: nil)
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
    var displaced = copy.displaced
    guard let mark = copy.mark else { return refusal.withAdvice(.bothPlaces(displaced)) }
    let taken: DirectoryItem
    do throws(SystemError) {
      // A file is looked at before and afterwards, a directory afterwards.
      if mark.top.kind != .directory, let now = try statusIfPresent(of: target.name, at: target.directory),
        !now.hasContents(of: mark.top)
      {
        return refusal.withAdvice(.bothPlaces(displaced))
      }
      // Without one it's gone, or another program has moved it on.
      guard let item = try takeOut(copy, of: target) else {
        try? synchronizeDirectory(target.directory)
        return refusal.withAdvice(nil)
      }
      taken = item
    } catch {
      return refusal.withAdvice(.bothPlaces(displaced))
    }
    // An item that another program has put there meanwhile, or written, stays.
    guard (try? self.mark(of: taken)) == mark else {
      do throws(SystemError) {
        if displaced == nil {
          try renameExclusively(taken, to: target)
        } else {
          displaced = try putBack(taken, to: target)
        }
      } catch { return refusal.withAdvice("What another program has put at the new place is left as '\(taken.name)'.") }
      return refusal.withAdvice(.bothPlaces(displaced))
    }
    do throws(SystemError) {
      try synchronizeDirectory(target.directory)
      try removeTree(taken.name, at: taken.directory, overridingMode: true)
    } catch {
      return refusal.withAdvice("A copy, or a part of it, is left as '\(taken.name)'. Remove that.")
    }
    return refusal.withAdvice(nil)
  }

  /// - Returns: The item that was at the place, under a temporary name; `nil` if it's gone.
  private func takeOut(_ copy: PlacedCopy, of target: DirectoryItem) throws(SystemError) -> DirectoryItem? {
    if let displaced = copy.displaced { return try putBack(displaced, to: target, dropping: copy.mark?.top) }
    do {
      try renameExclusively(target, to: copy.formerName)
    } catch let error where error.isAbsence { return nil }
    return copy.formerName
  }
}

/// A copy at its place, whose original is still there.
private struct PlacedCopy {
  /// The copy's temporary name.
  let formerName: DirectoryItem
  /// The copy as it was when it got its place.
  let mark: ItemMark?
  /// The item that was at the place, under a temporary name.
  let displaced: DirectoryItem?
}

extension SystemError {
  /// The same error of a move that's refused, and isn't in place any more.
  fileprivate func withAdvice(_ advice: String?) -> SystemError {
    var error = self
    error.isChangeInPlace = false
    error.advice = advice
    return error
  }
}

extension String {
  fileprivate static func bothPlaces(_ displaced: DirectoryItem?) -> String {
    "The item was copied to its new place, and is still at its old place. Remove one of the two."
      + (displaced.map { " The replaced item is left as '\($0.name)'." } ?? "")
  }
}
