internal import Glibc

// Saves that are killed leave items behind; those of a save that's under way are told from them.

extension FileSystem {
  /// How many names of a directory are looked at for leftovers.
  private static var leftoverNameCountMax: Int { 65_536 }

  /// Removes what saves of a file or a package have left beside it that were killed.
  ///
  /// The caller keeps others from saving the file meanwhile. Only files and directories of this user are removed, and no
  /// directory that somebody uses, see ``makeDraftDirectory(for:at:mode:)``. Files whose names are so long that temporary names
  /// are cut share these with others: nothing is removed then.
  ///
  /// - Parameter path: The file, as a canonical path.
  /// - Returns: How many were removed.
  /// - Throws: The error of openat(2), getdents64(2), statx(2) or unlinkat(2).
  /// - Complexity: O(*n*) in the number of names in the directory, up to 65,536.
  package func removeLeftovers(ofSavesOf path: SystemPath) throws(SystemError) -> Int {
    try removeLeftovers(ofSavesOf: path, among: Self.leftoverNameCountMax).count
  }

  /// The same, among about so many names of the directory.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - nameCountMax: How many names are looked at.
  /// - Returns: How many were removed, and whether all names were looked at.
  /// - Throws: As above.
  package func removeLeftovers(
    ofSavesOf path: SystemPath, among nameCountMax: Int
  ) throws(SystemError) -> (count: Int, isComplete: Bool) {
    let name = try path.itemName()
    guard name.bytes.count <= SystemPath.uncutNameLengthMax else { return (0, true) }
    return try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        var (leftovers, count, isComplete): ([SystemPath], Int, Bool) = ([], 0, false)
        // All names first: a directory that is changed while it's read may show a name twice, or not at all.
        while count < nameCountMax, !isComplete {
          guard let entries = try readDirectory(directory) else {
            isComplete = true
            break
          }
          count += entries.count
          leftovers += entries.map(\.name).filter { $0.isTemporaryName(for: name) }
        }
        var removedCount = 0
        for leftover in leftovers where try removeLeftover(leftover, at: directory) { removedCount += 1 }
        return (removedCount, isComplete)
      }
    }
  }

  private func removeLeftover(_ name: SystemPath, at directory: FileDescriptor) throws(SystemError) -> Bool {
    guard let status = try statusIfPresent(of: name, at: directory), status.owner == HostUser.effectiveUserID else {
      return false
    }
    do {
      switch status.kind {
      case .regular:
        try unlink(name, at: directory, .file)
        return true
      case .directory: return try removeUnusedDirectory(name, at: directory)
      case .symbolicLink, .fifo, .socket, .characterDevice, .blockDevice, .unknown: return false
      }
    } catch let error where error.isAbsence {
      // Somebody else clears up as well.
      return false
    }
  }

  private func removeUnusedDirectory(_ name: SystemPath, at directory: FileDescriptor) throws(SystemError) -> Bool {
    try withDescriptor(name, at: directory, flags: [.directory, .noFollow]) { (draft) throws(SystemError) in
      // In use, or on a file system where that can't be known.
      do { try lock(draft) } catch { return false }
      guard try isNamed(name, at: directory, draft) else { return false }
      try removeTree(name, at: directory, overridingMode: true)
      return true
    }
  }

  private func isNamed(
    _ name: SystemPath, at directory: FileDescriptor, _ opened: FileDescriptor
  ) throws(SystemError) -> Bool {
    let status = try status(of: opened)
    return try statusIfPresent(of: name, at: directory)?.identity == status.identity
  }

  /// Makes a directory with a temporary name, for what will take the place of another item.
  ///
  /// It counts as in use, and isn't taken for a leftover, until the descriptor is closed, or the process has ended.
  ///
  /// - Parameters:
  ///   - name: The name of the item.
  ///   - directory: The directory that holds it.
  ///   - mode: The permissions.
  /// - Returns: The name of the new directory, and the descriptor.
  /// - Throws: The error of mkdirat(2) or openat(2); no directory is left then.
  /// - Note: flock(2). Where that isn't supported, nobody takes directories for leftovers either.
  package func makeDraftDirectory(
    for name: SystemPath, at directory: FileDescriptor, mode: UInt32
  ) throws(SystemError) -> (name: SystemPath, use: FileDescriptor) {
    var attemptCount = 0
    return try withTemporaryName(for: name) { (name) throws(SystemError) in
      attemptCount += 1
      try makeDirectory(name, at: directory, mode: mode)
      do throws(SystemError) {
        return (name, try use(name, at: directory, needsLock: attemptCount < Self.lockedDraftCountMax))
      } catch {
        try? unlink(name, at: directory, .emptyDirectory)
        throw error
      }
    }
  }

  /// How many new directories somebody may lock before one is used without a lock: nobody who clears up is that fast.
  private static var lockedDraftCountMax: Int { 4 }

  /// - Throws: EEXIST if somebody has taken the new directory for a leftover before it was locked.
  private func use(
    _ name: SystemPath, at directory: FileDescriptor, needsLock: Bool
  ) throws(SystemError) -> FileDescriptor {
    let taken = SystemError(call: "mkdirat", paths: [name], errno: EEXIST)
    let use: FileDescriptor
    do throws(SystemError) {
      use = try open(name, at: directory, flags: [.directory, .noFollow], mode: 0)
    } catch { throw error.isAbsence ? taken : error }
    do throws(SystemError) {
      if isLockedElsewhere(use), needsLock { throw taken }
      if try !isNamed(name, at: directory, use) { throw taken }
      return use
    } catch {
      try? close(use)
      throw error
    }
  }

  private func isLockedElsewhere(_ directory: FileDescriptor) -> Bool {
    do throws(SystemError) {
      try lock(directory)
      return false
    } catch { return error.errno == EWOULDBLOCK }
  }
}
