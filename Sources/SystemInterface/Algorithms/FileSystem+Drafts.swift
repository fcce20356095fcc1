internal import Glibc

// Directories for what will take the place of another item: after a crash they show how far a save has come.

extension SystemPath {
  /// The name in a draft of a directory until it's complete, or has something that is.
  fileprivate static let incompleteDraftName = SystemPath(".incomplete.fcsave")
  /// The name in a draft from when on the item in it may be the one that was replaced.
  fileprivate static let exchangedDraftName = SystemPath(".exchanged.fcsave")
}

/// The contents of a directory that a killed save has left.
enum DraftState {
  /// Nothing but a part of what was being saved, or nothing at all.
  case incomplete
  /// It's the new item, complete, or the one that was replaced.
  case item
  /// It holds such an item, under the item's own name.
  case holder
}

extension FileSystem {
  /// Says of a draft that it's complete, and will be the item itself.
  ///
  /// - Parameter draft: The directory, which the caller brings to the disk afterwards.
  /// - Throws: The error of unlinkat(2).
  package func completeDraft(_ draft: FileDescriptor) throws(SystemError) {
    try unlink(.incompleteDraftName, at: draft, .file)
  }

  /// Says of a draft that it holds a complete item, which now changes places with the one that's replaced.
  ///
  /// - Parameter draft: The directory.
  /// - Throws: The error of renameat(2).
  package func beginExchange(_ draft: FileDescriptor) throws(SystemError) {
    try rename(.incompleteDraftName, at: draft, to: .exchangedDraftName, at: draft, .replacing)
  }

  /// The contents of a draft that was made for an item of some name.
  func draftState(of draft: FileDescriptor, for name: SystemPath) throws(SystemError) -> DraftState {
    if try statusIfPresent(of: .incompleteDraftName, at: draft) != nil { return .incomplete }
    if try statusIfPresent(of: .exchangedDraftName, at: draft) != nil {
      return try statusIfPresent(of: name, at: draft) == nil ? .incomplete : .holder
    }
    while let entries = try readDirectory(draft) {
      if !entries.isEmpty { return .item }
    }
    return .incomplete
  }

  func isNamed(
    _ name: SystemPath, at directory: FileDescriptor, _ opened: FileDescriptor
  ) throws(SystemError) -> Bool {
    let status = try status(of: opened)
    return try statusIfPresent(of: name, at: directory)?.identity == status.identity
  }

  /// Gives a directory that a save has replaced a name that says so, before its members go one by one: nobody takes the rest for what's to be
  /// kept.
  ///
  /// - Parameter item: An item with a temporary name.
  /// - Returns: Its name from then on; the former one if it can't have another one, or is no directory.
  func nameForRemoval(of item: DirectoryItem) -> SystemPath {
    guard item.name.isTemporaryName, let status = try? statusIfPresent(of: item.name, at: item.directory),
      status.kind == .directory
    else { return item.name }
    let name = item.name.namedForRemoval
    do throws(SystemError) {
      try renameExclusively(item, to: item.beside(name))
      return name
    } catch { return item.name }
  }

  /// Makes a directory with a temporary name, for what will take the place of another item.
  ///
  /// It counts as in use, and isn't taken for a leftover, until the descriptor is closed, or the process has ended. It holds a file that says
  /// that it's incomplete, until ``completeDraft(_:)``.
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
        let use = try use(name, at: directory, needsLock: attemptCount < Self.lockedDraftCountMax)
        do throws(SystemError) {
          try close(open(.incompleteDraftName, at: use, flags: [.create, .exclusive, .writeOnly], mode: 0o600))
          return (name, use)
        } catch {
          try? unlink(.incompleteDraftName, at: use, .file)
          try? close(use)
          throw error
        }
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
