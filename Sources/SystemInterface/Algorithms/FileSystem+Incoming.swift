internal import Glibc

// New contents get a name beside the one whose place they take in the next step. If the process dies in between, the next save finds them
// by that name, without reading the directory.

extension SystemPath {
  /// The name of new contents right before they take the place of `name`: `.NAME.incoming.fcsave`.
  ///
  /// A file with this name never was the item, so nobody but this library has written it. Long names are cut, as in other temporary names.
  package static func incomingName(for name: SystemPath) -> SystemPath {
    .temporaryName(for: name, withLetters: incomingMark)
  }

  /// Whether this is such a name, of whatever item.
  package var isIncomingName: Bool { isTemporaryName && lettersOfTemporary == SystemPath.incomingMark[...] }
}

extension FileSystem {
  /// Removes new contents of an item that didn't get to their place because their process has ended.
  ///
  /// - Parameter path: The item, as a canonical path.
  /// - Complexity: One system call if there are none.
  package func removeIncoming(of path: SystemPath) {
    guard let name = try? path.itemName() else { return }
    removeIncoming(of: name, at: path.parent)
  }

  /// The same for an item in an open directory.
  func removeIncoming(of name: SystemPath, at directory: FileDescriptor) {
    removeAbandoned(.incomingName(for: name), at: directory)
  }

  private func removeIncoming(of name: SystemPath, at parent: SystemPath) {
    removeAbandoned(parent.appending(.incomingName(for: name)), at: .workingDirectory)
  }

  /// Removes a file with an incoming name, unless its process is at work.
  ///
  /// A process locks its file before that gets the name, until it has its place, and the end of the process ends the lock. Only the holder
  /// of the lock removes or renames the file. Where locks aren't supported the file stays.
  ///
  /// - Parameters:
  ///   - incoming: The name, or its path.
  ///   - directory: The directory that holds it.
  /// - Returns: Whether the name is free.
  /// - Note: flock(2).
  @discardableResult
  package func removeAbandoned(_ incoming: SystemPath, at directory: FileDescriptor) -> Bool {
    do throws(SystemError) {
      guard let status = try statusIfPresent(of: incoming, at: directory) else { return true }
      guard status.kind == .regular else { return false }
      return try withDescriptor(incoming, at: directory, flags: [.noFollow, .nonBlocking]) {
        (file) throws(SystemError) in
        guard try self.status(of: file).kind == .regular else { return false }
        try lock(file)
        guard try isNamed(incoming, at: directory, file) else { return false }
        try unlink(incoming, at: directory, .file)
        return true
      }
    } catch { return error.isAbsence }
  }

  /// Gives a file the incoming name of an item, unless a save that's under way has it.
  ///
  /// - Parameters:
  ///   - name: The name of the item.
  ///   - directory: The directory that holds it.
  ///   - give: Gives it the name; EEXIST if that's taken.
  /// - Returns: The result of `give`; `nil` if the name is taken.
  /// - Throws: Other errors of `give`.
  func withIncomingName<Result>(
    for name: SystemPath, at directory: FileDescriptor, _ give: (SystemPath) throws(SystemError) -> Result
  ) throws(SystemError) -> Result? {
    let incoming = SystemPath.incomingName(for: name)
    do { return try give(incoming) } catch let error where error.errno == EEXIST {
      if !removeAbandoned(incoming, at: directory) { return nil }
    }
    do { return try give(incoming) } catch let error where error.errno == EEXIST { return nil }
  }
}
