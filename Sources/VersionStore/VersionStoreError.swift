package import SystemInterface

/// Why the store couldn't do what it was asked for.
///
/// The item wasn't changed. Of the store, at most what the next one that uses it undoes or completes.
package enum VersionStoreError: Error, Hashable, Sendable {
  /// A system call failed.
  case system(SystemError)
  /// The store was made by a later release.
  case unknownFormat(SystemPath, String)
  /// The directory has something else in it.
  case notAStore(SystemPath)
  /// A file of the store isn't what it was: a byte has changed. It's neither handed out nor removed.
  case damaged(SystemPath)
  /// A directory of the store is something else, or another user's than the store.
  case misplaced(SystemPath)
  /// A directory of the store is gone.
  case missing(SystemPath)
  /// There's no such version any more.
  case versionIsGone(VersionID)
  /// Nothing is at the path that is to become a version.
  case nothingThere(SystemPath)
  /// Neither a file nor a directory.
  case notAFile(SystemPath)
}

extension VersionStoreError {
  /// Whether nothing can be changed in the store, and everything can be read.
  var isOfReadOnlyVolume: Bool {
    if case .system(let error) = self { error.number == .readOnlyFileSystem } else { false }
  }

  /// Whether a system call has found nothing by a name.
  var isOfAbsence: Bool { if case .system(let error) = self { error.isAbsence } else { false } }

  var isOfPermissions: Bool {
    if case .system(let error) = self { error.isOne(of: .permissionDenied, .notPermitted) } else { false }
  }

  /// Whether the volume, or the user's share of it, is full.
  package var isOfFullVolume: Bool {
    if case .system(let error) = self { error.isOne(of: .noSpace, .quotaExceeded) } else { false }
  }
}

/// Runs `body`; errors of system calls become errors of the store.
func storing<Result>(
  _ body: () throws(SystemError) -> Result
) throws(VersionStoreError) -> Result {
  do throws(SystemError) { return try body() } catch { throw .system(error) }
}
