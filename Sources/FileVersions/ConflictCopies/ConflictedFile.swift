public import FoundationEssentials
internal import FileWatching
public import SystemInterface

/// A file with conflicts that aren't resolved.
public struct ConflictedFile: Hashable, Identifiable, Sendable {
  /// The file, byte by byte.
  public let path: SystemPath
  /// The conflict copies beside it, those that were changed last first.
  public let copies: [ConflictCopyName]
  /// How many conflicts are in the store.
  public let storedConflictCount: Int

  /// The path.
  public var id: SystemPath { path }

  /// The file, for the calls of ``FileVersions/FileVersions``.
  public var url: URL {
    guard let url = path.url else { preconditionFailure("not an absolute path: \(path)") }
    return url
  }

  /// The conflict copies as files.
  public var copyURLs: [URL] { copies.compactMap { path.parent.appending($0.name).url } }

  init(_ path: SystemPath, copies: [ConflictCopyName], storedConflictCount: Int) {
    self.path = path
    self.copies = copies
    self.storedConflictCount = storedConflictCount
  }
}

/// The conflicts in a directory, and how they differ from the last ones that were reported.
public struct FileConflictUpdate: Hashable, Sendable {
  /// A change of the conflicts of one file.
  public enum Change: Hashable, Sendable {
    /// It has conflicts, and had none.
    case appeared(ConflictedFile)
    /// It has other conflicts.
    case changed(ConflictedFile)
    /// It has no conflict any more, or isn't there any more.
    case ended(SystemPath)
  }

  /// All files that have conflicts now, in the order of their paths.
  public let conflicts: [ConflictedFile]
  /// The differences, in the order of the paths; in the first update everything there is.
  public let changes: [Change]
}
