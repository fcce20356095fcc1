internal import Glibc

extension FileSystem {
  /// Moves an item to another name, also to another file system.
  ///
  /// Within one file system this is one rename; a directory that has to make room is swapped, then removed. To another
  /// file system the item is copied under a temporary name, brought to the disk, renamed into place, and only then
  /// removed from where it was; if that's refused, both names have what they had. There is no moment at which neither name holds an item, with one exception: where two
  /// spellings are one name (directories that fold case), another spelling takes two renames, and between them the item has
  /// a temporary name beside.
  ///
  /// Blocks until both directories are on the disk.
  ///
  /// - Parameters:
  ///   - from: The item to move, as a canonical path; a symbolic link is moved itself.
  ///   - to: Its new name, as a canonical path.
  ///   - replacing: Whether something there is replaced, whatever its kind.
  ///   - note: Called at each step of a move to another file system, while both places have the item.
  /// - Throws: EEXIST when something is there and `replacing` is false; EINVAL when both are one item, by whatever
  ///   link or mount, or one is inside the other; the error of the call that failed otherwise. The source is still there
  ///   unless the error says that the change is in place. A move of an item to its own path does nothing.
  /// - Complexity: O(1) within one file system, plus the removal of a replaced item; O(*n*) in the bytes moved
  ///   otherwise.
  /// - Note: rename(2).
  package func moveItem(
    from: SystemPath, to: SystemPath, replacing: Bool, noting note: (MoveAcrossStep) -> Void = { _ in }
  ) throws(SystemError) {
    try refuseNesting("moveItem", from, to)
    try withItems(from, to) { (source, target) throws(SystemError) in
      if from != to, try relation(of: source, to: target, replacing: replacing, in: "moveItem") == .respelled {
        return try respell(source, as: target.name)
      }
      try relocate(source, to: target, replacing: replacing, noting: note)
    }
  }

  /// Gives an item another spelling of its name; rename(2) does nothing when both names lead to one file.
  private func respell(_ source: DirectoryItem, as name: SystemPath) throws(SystemError) {
    let aside = try setAside(source)
    do {
      try renameExclusively(aside, to: source.beside(name))
    } catch {
      try? renameExclusively(aside, to: source)
      throw error
    }
    try synchronizeAfterCommit(source.directory)
  }

  private func relocate(
    _ source: DirectoryItem, to target: DirectoryItem, replacing: Bool, noting note: (MoveAcrossStep) -> Void
  ) throws(SystemError) {
    let displaced: DirectoryItem?
    do {
      displaced = try place(source, as: target, replacing: replacing)
    } catch let error where error.errno == EXDEV {
      return try moveAcross(source, to: target, replacing: replacing, noting: note)
    }
    do throws(SystemError) {
      try synchronizeAfterCommit(target.directory)
      try synchronizeAfterCommit(source.directory)
    } catch { throw error.leaving(displaced) }
    try removeDisplaced(displaced)
  }

  /// Removes the item that a new one has taken the place of.
  ///
  /// - Throws: The error of the call that failed, which says that the change is in place, and where the item is left.
  package func removeDisplaced(_ displaced: DirectoryItem?) throws(SystemError) {
    guard let displaced else { return }
    let name = nameForRemoval(of: displaced)
    do {
      try removeTree(name, at: displaced.directory, overridingMode: true)
    } catch let error where error.isAbsence {
      // Somebody has taken it for what a killed save has left.
    } catch {
      throw error.afterCommit("The change is in place.").leaving(displaced.beside(name))
    }
  }

  /// Throws EINVAL when one of two canonical paths is inside the other.
  func refuseNesting(_ operation: String, _ from: SystemPath, _ to: SystemPath) throws(SystemError) {
    if to.isInside(from) || from.isInside(to) {
      throw SystemError(
        call: operation, paths: [from, to], errno: EINVAL, advice: "One of the two is inside the other.")
    }
  }

  /// Opens the directories of two paths for the duration of `body`; its errors name the full paths.
  func withItems(
    _ from: SystemPath, _ to: SystemPath,
    _ body: (_ source: DirectoryItem, _ target: DirectoryItem) throws(SystemError) -> Void
  ) throws(SystemError) {
    do {
      let (source, target) = (try from.itemName(), try to.itemName())
      try withDescriptor(from.parent, flags: .directory) { (sourceDirectory) throws(SystemError) in
        try withDescriptor(to.parent, flags: .directory) { (targetDirectory) throws(SystemError) in
          try body(
            DirectoryItem(name: source, directory: sourceDirectory, place: from.parent),
            DirectoryItem(name: target, directory: targetDirectory, place: to.parent))
        }
      }
    } catch {
      throw error.located(from: from, to: to)
    }
  }
}

extension SystemError {
  /// The same error, of a step after a change that's made.
  func afterCommit(_ advice: String) -> SystemError {
    var error = self
    error.isChangeInPlace = true
    error.advice = advice
    return error
  }

  /// The same error of a step after a change, which leaves an item that nobody needs any more.
  package func leaving(_ item: DirectoryItem?, _ role: String = "replaced item") -> SystemError {
    guard let item else { return self }
    var error = self
    error.leftover = item.path
    error.advice = "\(advice.map { $0 + " " } ?? "")The \(role) is left as '\(item.path)'."
    return error
  }

  /// The same error with full paths: a path that isn't the source, or below it, is beside the target.
  fileprivate func located(from source: SystemPath, to target: SystemPath) -> SystemError {
    var located = self
    located.paths = paths.isEmpty ? [source, target] : []
    for (index, path) in paths.enumerated() {
      let isSource = index == 0 && (path == source.lastComponent || path.isInside(source.lastComponent))
      located.paths.append((isSource ? source : target).parent.appending(path))
    }
    return located
  }
}
