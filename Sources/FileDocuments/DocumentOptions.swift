public import FileCoordination
public import FileVersions
public import FoundationEssentials
public import SystemInterface

/// How a document behaves.
public struct DocumentOptions<Contents: Sendable>: Sendable {
  /// Merges the contents of the document with those of another program, see ``merge``.
  public typealias Merge =
    nonisolated(nonsending) @Sendable (DocumentMerge<Contents>) async throws -> DocumentResolution<
      Contents
    >

  /// Begins access to a place, see ``grant``.
  public typealias Grant = nonisolated(nonsending) @Sendable (URL) async throws -> DocumentGrant

  /// The processes that see each other's accesses.
  public var domain: CoordinationDomain
  /// Keeps what would be overwritten or discarded; a `FileVersions` of the same domain unless stated.
  public var versions: FileVersions
  /// When the document saves by itself.
  public var autosave = AutosavePolicy.standard
  /// Whether the document keeps former contents, so that ``FileDocument/undo(within:)`` can take edits back; it doesn't unless stated.
  ///
  /// Each step keeps the contents before it: values that share their memory with the present ones cost little, a text costs its
  /// size.
  public var undo: DocumentUndoPolicy?
  /// Whether the document notices programs that don't coordinate.
  public var observesUncoordinatedChanges = true
  /// Called when another program has written the file while the document has unsaved changes.
  ///
  /// Nothing can be edited meanwhile. Without it, or if it throws or doesn't answer before ``mergeDeadline``, the document keeps what it
  /// has, and what the other program wrote becomes a conflict version of the file: nothing is lost, and the state says `inConflict`.
  ///
  /// Runs away from the document's actor. A reader that waits for the document waits for it, too.
  public var merge: Merge?
  /// How long ``merge`` may take.
  public var mergeDeadline = Duration.seconds(30)
  /// Decides what follows from an error that no call gets; without it the state has the error, and the document tries again.
  ///
  /// - Note: Rule UD-20.
  public var errorHandler: DocumentErrorHandler?
  /// Begins access to the place of the document's file, such as by mounting a volume or unlocking a vault, and ends it.
  ///
  /// Called with a URL before anything is read or written there, see ``DocumentGrant``. If it throws, or doesn't answer before ``deadline``, the
  /// operation fails with code ``DocumentError/Code/notGranted``: a grant that comes later ends at once. Runs away from the document's actor,
  /// and must not call the document and wait for that. Places that aren't the document's own, such as that of a duplicate, are the caller's
  /// business.
  ///
  /// - Note: Rule UD-24.
  public var grant: Grant?
  /// Keeps what is unsaved in case the program is killed; `nil` for not at all.
  ///
  /// Of a package these are its altered members.
  public var crashJournal: CrashJournal?
  /// How many bytes a file may have that is opened, reloaded or saved: the contents are in memory up to three times.
  ///
  /// Contents that have more aren't saved, since they couldn't be opened again; the error has code ``DocumentError/Code/fileTooLarge``. The
  /// files of packages have no such limit.
  public var byteCountMax = 1 << 30
  /// Called before the document saves by itself, and before another program reads: an error refuses that.
  ///
  /// For files that shouldn't be overwritten before a person has said so: an old one, one that the format would simplify, or one with
  /// other hard links, which keep the former contents. The state has code ``DocumentError/Code/autosaveRefused`` then, and
  /// readers get it, too. ``FileDocument/save(within:)``, `duplicate` and `close` don't ask.
  ///
  /// Runs away from the document's actor.
  ///
  /// - Note: Rule CD-45.
  public var autosaveCheck: (@Sendable (DocumentAutosave<Contents>) throws -> Void)?
  /// The name of a file, or of a package, beside the document's for its contents at the time of opening, such as `{ $0 + "~" }`; none unless
  /// stated.
  ///
  /// It's made, or replaced, before the first save after each opening. If that fails nothing is overwritten, and the state has
  /// code ``DocumentError/Code/backupNotKept``. Runs away from the document's actor; without a name before ``deadline`` nothing is
  /// overwritten either, and the code is ``DocumentError/Code/timedOut``.
  ///
  /// - Note: Rule CD-46.
  public var backupName: (@Sendable (_ name: String) -> String)?
  /// When the contents that a save overwrites become a version in ``versions``; never unless stated.
  ///
  /// - Note: Rule CD-49.
  public var versionPolicy = DocumentVersionPolicy.never
  /// How long a call waits that states no deadline, and how long the format may take; `nil` for as long as its accesses may take.
  public var deadline: Duration? = .seconds(300)
  /// How long to wait for the report of what a program has done that doesn't coordinate.
  ///
  /// That usually takes a tenth of a second. Programs also replace files by removing them first.
  var reportMax = Duration.seconds(1)
  /// For tests: runs the callbacks of the document's presenter.
  var presenterExecutor: (any TaskExecutor)?
  /// The clock of autosaves and deadlines; that of the domain unless stated.
  public var clock: any CoordinationClock

  /// Creates the usual options.
  ///
  /// - Parameters:
  ///   - domain: The processes that see each other's accesses.
  ///   - versions: Keeps what would be overwritten or discarded; in the user's store unless stated.
  public init(domain: CoordinationDomain = .standard, versions: FileVersions? = nil) {
    self.domain = domain
    self.versions = versions ?? FileVersions(domain: domain)
    clock = domain.configuration.clock
  }
}

/// A save that nobody has asked for, see ``DocumentOptions/autosaveCheck``.
public struct DocumentAutosave<Contents: Sendable>: Sendable {
  /// The file.
  public let url: URL
  /// The contents that would be written.
  public let contents: Contents
  /// How many names the file has: those beside `url` keep the former contents.
  public let linkCount: Int
  /// When the file was changed last.
  public let modificationDate: Date
}

/// Two texts of one origin.
public struct DocumentMerge<Contents: Sendable>: Sendable {
  /// The former contents of the file, from which both texts were made.
  public let base: Contents
  /// The contents of the document.
  public let mine: Contents
  /// The present contents of the file.
  public let theirs: Contents
}

/// The result for two texts of one origin.
public enum DocumentResolution<Contents: Sendable>: Sendable {
  /// The document gets these contents and saves them. Nothing else is kept.
  case merged(Contents)
  /// The document keeps its contents, and those of the file become a conflict version.
  case keepMine
  /// The document takes the contents of the file, and its own become a conflict version.
  case takeTheirs
}
