public import FoundationEssentials
public import SystemInterface

/// The contents that a process hadn't saved when it was killed.
///
/// It stays where it is until the program decides with ``FileDocument/resolve(_:by:within:)``; the next program that opens the file gets it
/// again.
///
/// - Note: Rule CD-60.
public struct DocumentRecovery<Contents: Sendable>: Sendable, Identifiable {
  /// The decision about a recovery.
  public enum Decision: Hashable, Sendable {
    /// It's the document's contents from now on, as an unsaved edit.
    ///
    /// Contents that nobody else has are a version of the file before: those of the document if something is unsaved, and those of the
    /// file if they aren't what the killed process had begun with.
    case restoring
    /// It becomes a version of the file, and the document's contents stay.
    case keepingAsVersion
    /// It's dropped.
    case discarding
  }

  /// Names the journal.
  public let id: String
  /// The contents as the process had them; `nil` if the document's format can't read them.
  ///
  /// Of a package: the changes of the process, made to the package that was there when this was found. Restoring makes them to the one
  /// that's there then.
  public let contents: Contents?
  /// The same as the bytes of a file; of a package, the journal's table of its altered members.
  public let bytes: Data
  /// When the journal was written.
  public let date: Date
  /// The SHA-256 of the file that the contents were made from, as 64 hexadecimal digits; `nil` if there was none.
  public let baseHash: String?
  /// Whether the file isn't what the contents were made from any more, as of the time when this was found.
  public let fileHasChanged: Bool
  /// Members of a package that the process had moved, and that the package hasn't got any more: they can't be restored.
  public let missingMembers: [SystemPath]
  /// Members of a package that the process had altered, moved or removed, and that somebody else has changed since.
  public let changedMembers: [SystemPath]
}
