internal import Glibc

// Saves that are killed leave items behind; those of a save that's under way are told from them.

extension FileSystem {
  /// How many names of a directory are looked at for leftovers.
  private static var leftoverNameCountMax: Int { 65_536 }

  /// Removes what saves of a file or a package have left beside it that were killed.
  ///
  /// The caller keeps others from saving the file meanwhile, except for saves without coordination, whose new contents are locked. Only files and directories of this user are removed, and no
  /// directory that somebody uses, see ``makeDraftDirectory(for:at:mode:)``. Files whose names are so long that temporary names
  /// are cut share these with others: nothing is removed then.
  ///
  /// - Parameter path: The file, as a canonical path.
  /// - Returns: How many were removed.
  /// - Throws: The error of openat(2), getdents64(2), statx(2) or unlinkat(2).
  /// - Complexity: O(*n*) in the number of names in the directory, up to 65,536.
  package func removeLeftovers(ofSavesOf path: SystemPath) throws(SystemError) -> Int {
    try removeLeftovers(ofSavesOf: path, ifKept: { _ in true })
  }

  /// The same, for items whose contents are somewhere else by now.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - isKept: As below.
  /// - Returns: How many were removed.
  /// - Throws: As above.
  package func removeLeftovers(
    ofSavesOf path: SystemPath, ifKept isKept: (SystemPath) -> Bool
  ) throws(SystemError) -> Int {
    try removeLeftovers(ofSavesOf: path, among: Self.leftoverNameCountMax, ifKept: isKept).count
  }

  /// The same, among about so many names of the directory.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - nameCountMax: How many names are looked at.
  ///   - isKept: Asked for each file and each directory, by its path, whether what it contains is somewhere else by now: otherwise it
  ///     stays. The item that a save has taken the place of, and what another program has written to it in the last instant, may be in no
  ///     other place. Incomplete drafts aren't asked for.
  /// - Returns: How many were removed, and whether all names were looked at.
  /// - Throws: As above.
  package func removeLeftovers(
    ofSavesOf path: SystemPath, among nameCountMax: Int, ifKept isKept: (SystemPath) -> Bool = { _ in true }
  ) throws(SystemError) -> (count: Int, isComplete: Bool) {
    let name = try path.itemName()
    guard name.bytes.count <= SystemPath.uncutNameLengthMax else { return (0, true) }
    return try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        let (leftovers, isComplete) = try leftovers(ofSavesOf: name, at: directory, among: nameCountMax)
        var removedCount = 0
        for leftover in leftovers
        where try removeLeftover(leftover, of: path, at: directory, ifKept: isKept) {
          removedCount += 1
        }
        return (removedCount, isComplete)
      }
    }
  }

  /// Whether there seem to be leftovers of saves of a file, among about so many names of the directory.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - nameCountMax: How many names are looked at.
  /// - Returns: `nil` if not all names were looked at.
  /// - Throws: The error of openat(2) or getdents64(2).
  package func hasLeftovers(ofSavesOf path: SystemPath, among nameCountMax: Int) throws(SystemError) -> Bool? {
    let name = try path.itemName()
    guard name.bytes.count <= SystemPath.uncutNameLengthMax else { return false }
    return try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        let (leftovers, isComplete) = try leftovers(ofSavesOf: name, at: directory, among: nameCountMax)
        return isComplete ? !leftovers.isEmpty : nil
      }
    }
  }

  private func leftovers(
    ofSavesOf name: SystemPath, at directory: FileDescriptor, among nameCountMax: Int
  ) throws(SystemError) -> (names: [SystemPath], isComplete: Bool) {
    var (leftovers, count): ([SystemPath], Int) = ([], 0)
    // All names first: a directory that is changed while it's read may show a name twice, or not at all.
    while count < nameCountMax {
      guard let entries = try readDirectory(directory) else { return (leftovers, true) }
      count += entries.count
      leftovers += entries.map(\.name).filter { $0.isTemporaryName(for: name) }
    }
    return (leftovers, false)
  }

  private func removeLeftover(
    _ name: SystemPath, of path: SystemPath, at directory: FileDescriptor, ifKept isKept: (SystemPath) -> Bool
  ) throws(SystemError) -> Bool {
    guard let status = try statusIfPresent(of: name, at: directory), status.owner == HostUser.effectiveUserID else {
      return false
    }
    do {
      switch status.kind {
      case .regular where name.isIncomingName:
        // Nobody else has written it, and nobody was told that it was saved.
        return removeAbandoned(name, at: directory)
      case .regular:
        if status.size > 0, !isKept(path.parent.appending(name)) { return false }
        try unlink(name, at: directory, .file)
        return true
      case .directory: return try removeUnusedDirectory(name, of: path, at: directory, ifKept: isKept)
      case .symbolicLink, .fifo, .socket, .characterDevice, .blockDevice, .unknown: return false
      }
    } catch let error where error.isAbsence {
      // Somebody else clears up as well.
      return false
    }
  }

  private func removeUnusedDirectory(
    _ name: SystemPath, of path: SystemPath, at directory: FileDescriptor, ifKept isKept: (SystemPath) -> Bool
  ) throws(SystemError) -> Bool {
    try withDescriptor(name, at: directory, flags: [.directory, .noFollow]) { (draft) throws(SystemError) in
      // In use, or on a file system where that can't be known.
      do { try lock(draft) } catch { return false }
      guard try isNamed(name, at: directory, draft) else { return false }
      let leftover = path.parent.appending(name)
      if name.isNamedForRemoval {
        try removeTree(name, at: directory, overridingMode: true)
        return true
      }
      switch try draftState(of: draft, for: path.lastComponent) {
      case .incomplete: break
      case .item: if !isKept(leftover) { return false }
      case .holder: if !isKept(leftover.appending(path.lastComponent)) { return false }
      }
      try removeTree(name, at: directory, overridingMode: true)
      return true
    }
  }
}
