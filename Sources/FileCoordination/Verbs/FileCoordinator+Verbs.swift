internal import FileAccessArbiter
public import FoundationEssentials
internal import SystemInterface

// The usual work with files, each with the right options, the announcements, and no moment without a whole file. The
// work on the file system runs on threads of this library that may block.

extension FileCoordinator {
  /// The contents of a file, after presenters have saved.
  ///
  /// If the URL names a symbolic link, the file it leads to is the item.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - options: How it's read.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Returns: All of its bytes.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` when there's no such file, or it's a FIFO, socket or
  ///   device: those have no end that could be waited for.
  public func contents(
    of url: URL, options: ReadingOptions = [], deadlines: AccessDeadlines? = nil
  ) async throws -> Data {
    try await read(url, options: options.union(.resolvesSymbolicLink), deadlines: deadlines) { access in
      try await access.work.contents()
    }
  }

  /// Changes the contents of a file depending on the present ones: presenters save first, and no other access comes in
  /// between.
  ///
  /// The new contents are saved safely, see ``replaceContents(of:with:options:deadlines:)``. If `change` leaves them as they are,
  /// nothing is written.
  ///
  /// - Parameters:
  ///   - url: The file. If there's none, `change` gets no bytes, and a file is made when it leaves some.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - change: Changes the bytes in place.
  /// - Returns: The result of `change`.
  /// - Throws: ``FileCoordinationError``, or the error thrown by `change`; then the file is as it was, unless the message
  ///   says that the change is in place.
  public func update<Result>(
    _ url: URL, options: SavingOptions = [], deadlines: AccessDeadlines? = nil,
    change: (inout Data) async throws -> Result
  ) async throws -> Result {
    try await write(url, options: .forMerging, deadlines: deadlines) { access in
      let work = access.work
      let old = try await work.contentsIfPresent()
      var new = old ?? Data()
      let result = try await change(&new)
      if new != old ?? Data() { try await work.replaceContents(with: new, options) }
      return result
    }
  }

  /// Gives a file new contents, so that at every moment it has the old ones or the new ones, whole.
  ///
  /// The bytes go to a temporary file beside it, which gets the mode, owner, group, access list and other extended attributes
  /// of the old one, is synced, and takes its place by rename(2); then the directory is synced. A crash at any point, even of
  /// the machine, leaves the old or the new contents. To presenters it remains the same item.
  ///
  /// Only root can give a file to another user, and only members of a group can give it to that group. So a file of
  /// another user belongs to the user that saved it last. Where the group or the access list can't be kept, group and
  /// others get at most the permissions that both had: a file `rw-r-----` of a group that the saver isn't in becomes
  /// `rw-------`.
  ///
  /// - Parameters:
  ///   - url: The file; it's made if there's none.
  ///   - contents: The new contents.
  ///   - options: Whether a file that can't be written is replaced.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` for a file that this process may not write to, unless
  ///   `options` say otherwise; then the file is as it was, unless the message says that the change is in place and the
  ///   directory couldn't be synced.
  /// - Note: Other hard links to the file keep the old contents.
  public func replaceContents(
    of url: URL, with contents: Data, options: SavingOptions = [], deadlines: AccessDeadlines? = nil
  ) async throws {
    try await write(url, deadlines: deadlines) { access in
      try await access.work.replaceContents(with: contents, options)
    }
  }

  /// Deletes a file, or a directory with everything in it, after asking its presenters.
  ///
  /// Links are not followed.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.fileSystem` when there's no such item.
  public func delete(_ url: URL, deadlines: AccessDeadlines? = nil) async throws {
    try await delete(url, deadlines: deadlines) { _ in }
  }

  /// Moves or renames an item, and notifies all presenters of it and all accesses that wait for it.
  ///
  /// Between file systems it's copied, synced, put in place, and only then deleted at the old place. If that's refused, both places have
  /// what they had. Of a directory with directories inside that can't be deleted, the rest has a temporary name at the old place.
  ///
  /// If only a step after the move fails, such as the removal of a replaced directory, the move is announced all the same. The error says
  /// so by ``FileCoordinationError/isChangeInPlace``, and names what's left by ``FileCoordinationError/leftoverPath``.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - destination: Its new place.
  ///   - replacing: Whether to take the place of an item that's there, also of a file without write permission. Its
  ///     presenters are asked first.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.destinationExists` when something is there and not to be replaced, or
  ///   `.fileSystem` before anything is touched when both URLs lead to one item by a link or a mount, or one is inside the
  ///   other. Another spelling of its name in a directory that folds case is a rename. A move of an item to its own path, with
  ///   `replacing`, does nothing.
  public func move(
    _ source: URL, to destination: URL, replacing: Bool = false, deadlines: AccessDeadlines? = nil
  ) async throws {
    try await move(source, to: destination, replacing: replacing, deadlines: deadlines) { _ in }
  }

  /// Copies an item, after its presenters have saved.
  ///
  /// The copy appears whole or not at all. It's as private as the original, see
  /// ``replaceContents(of:with:options:deadlines:)``.
  ///
  /// On file systems that can share blocks it costs no copying.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - destination: The place of the copy.
  ///   - replacing: Whether to take the place of an item that's there, also of a file without write permission. Its
  ///     presenters are asked first.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  /// - Throws: ``FileCoordinationError``, with code `.destinationExists` when something is there and not to be replaced, or
  ///   `.fileSystem` before anything is touched when both URLs lead to one item, or one is inside the other.
  public func copy(
    _ source: URL, to destination: URL, replacing: Bool = false, deadlines: AccessDeadlines? = nil
  ) async throws {
    try await copy(source, to: destination, replacing: replacing, deadlines: deadlines) { _ in }
  }
}

// The same for callers that look first whether the item is still the one that they mean.
extension FileCoordinator {
  /// Deletes an item, unless `check` throws.
  ///
  /// - Parameters:
  ///   - url: The item.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - check: Called with the access, before anything is touched.
  /// - Throws: As ``delete(_:deadlines:)``, or the error thrown by `check`.
  package func delete(
    _ url: URL, deadlines: AccessDeadlines? = nil, checking check: (borrowing FileAccess) throws -> Void
  ) async throws {
    try await write(url, options: .forDeleting, deadlines: deadlines) { access in
      try check(access)
      try await access.work.delete()
    }
  }

  /// Moves an item, unless `check` throws.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - destination: Its new place.
  ///   - replacing: Whether to take the place of an item that's there.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - check: Called with the access to the item, before anything is touched.
  /// - Throws: As ``move(_:to:replacing:deadlines:)``, or the error thrown by `check`.
  package func move(
    _ source: URL, to destination: URL, replacing: Bool, deadlines: AccessDeadlines? = nil,
    checking check: (borrowing FileAccess) throws -> Void
  ) async throws {
    try await write(
      source, options: .forMoving, and: destination, secondOptions: .forReplacing, deadlines: deadlines
    ) { from, to in
      try check(from)
      let announcement = from.moveAnnouncement(to: to)
      let problem = try await from.work.move(to: to.path, replacing: replacing, announcement)
      try await announcement.make()
      if let problem { throw problem }
    }
  }

  /// Copies an item, unless `check` throws.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - destination: The place of the copy.
  ///   - replacing: Whether to take the place of an item that's there.
  ///   - deadlines: How long to wait; those of the coordinator unless stated.
  ///   - check: Called with the access to the item, before anything is touched.
  /// - Throws: As ``copy(_:to:replacing:deadlines:)``, or the error thrown by `check`.
  package func copy(
    _ source: URL, to destination: URL, replacing: Bool, deadlines: AccessDeadlines? = nil,
    checking check: (borrowing FileAccess) throws -> Void
  ) async throws {
    try await read(source, writing: destination, writingOptions: .forReplacing, deadlines: deadlines) { from, to in
      try check(from)
      try await from.work.copy(to: to.path, replacing: replacing)
    }
  }
}
