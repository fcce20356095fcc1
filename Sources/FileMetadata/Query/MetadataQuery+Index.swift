public import FileWatching
public import SystemInterface

extension MetadataQuery {
  /// Compares the index of the scopes with a fresh walk through them.
  ///
  /// For a job that runs now and then, and for programs that need certainty. Changes meanwhile aren't taken for errors:
  /// a path that differs is checked again until the file system has given the same answer before and after everything
  /// was taken in. It's checked once more after a second, because the kernel shows the effect of a call before it
  /// reports the call. It's the index that's audited, of all files in the scopes and not of results alone. Nothing is
  /// repaired: ``stop()`` and ``start()`` read everything anew, if no other query follows the same scopes. The possible
  /// errors are the changes that ``MetadataQuery`` doesn't see at once.
  ///
  /// The walk takes a thread and reads one directory at a time. Cancelling the task ends it between two steps.
  ///
  /// - Returns: The differences; `nil` when the query isn't running, or the task is cancelled.
  /// - Complexity: O(*n*) in the number of files: one statx(2) for each.
  /// - Note: Rule L17.
  public func audit() async -> ScopeAudit? {
    guard let session = current, session.isRunning else { return nil }
    return await ScopeAuditor(HostFileSystem(), options: key.options, clock: HostClock.shared).audit {
      await session.engine.index.currentTable()
    }
  }

  /// Keeps the index of the scopes for a later run of the program, in the `indexDirectory` of the options.
  ///
  /// For programs that end without ``stop()``, or that may be killed. Nothing of the last three seconds is kept.
  ///
  /// - Throws: EINVAL if the options name no directory for it; ECANCELED when the query isn't running; errors of
  ///   mkdir(2) and of writing a file.
  /// - Complexity: O(*n*) in the number of files, on a thread of its own, and a wait for the disk.
  public func saveIndex() async throws(SystemError) {
    guard let session = current, session.isRunning else { throw .notFollowing }
    try await session.engine.index.save()
  }
}
