/// The conditions of a document at a moment, and the obstacles to editing it.
///
/// - Note: Rule CD-35.
public struct DocumentState: Hashable, Sendable {
  /// The conditions of a document; none of them is the normal case.
  public struct Conditions: OptionSet, Hashable, Sendable {
    /// The conditions as bits.
    public let rawValue: UInt

    /// Creates a set.
    ///
    /// - Parameter rawValue: The conditions as bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// It isn't open, or couldn't be opened.
    public static let closed = Conditions(rawValue: 1)
    /// The file has versions that contradict each other.
    public static let inConflict = Conditions(rawValue: 2)
    /// The last attempt to save has failed.
    public static let savingError = Conditions(rawValue: 4)
    /// The contents can't be changed right now.
    public static let editingDisabled = Conditions(rawValue: 8)
    /// A large file is read or written, see ``DocumentSnapshot/progress``.
    public static let progressAvailable = Conditions(rawValue: 16)
    /// The file is gone, or about to go; the contents are still here.
    public static let deleted = Conditions(rawValue: 32)
    /// Another program has written what the format can't read.
    ///
    /// The contents are the former ones.
    public static let readingError = Conditions(rawValue: 64)
    /// The unsaved contents couldn't be written to the crash journal, or that of a killed process couldn't be read.
    ///
    /// In the first case they're in memory alone, or the journal has an older record. Editing and saving go on.
    public static let journalError = Conditions(rawValue: 128)
    /// A killed program has left unsaved contents behind; see ``FileDocument/recoveries``.
    public static let recoverable = Conditions(rawValue: 256)
    /// Nothing is wrong.
    public static let normal: Conditions = []
  }

  /// Why contents can't be changed.
  public struct EditingObstacles: OptionSet, Hashable, Sendable {
    /// The reasons as bits.
    public let rawValue: UInt

    /// Creates a set.
    ///
    /// - Parameter rawValue: The reasons as bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The document isn't open.
    public static let closed = EditingObstacles(rawValue: 1)
    /// The program has disabled it.
    public static let lease = EditingObstacles(rawValue: 2)
    /// Another program writes the file.
    public static let writer = EditingObstacles(rawValue: 4)
    /// Contents that another program wrote are being read, or merged.
    public static let reloading = EditingObstacles(rawValue: 8)
    /// The document goes back to what is saved.
    public static let reverting = EditingObstacles(rawValue: 16)
    /// The document is closed or deleted by the program.
    public static let closing = EditingObstacles(rawValue: 32)
    /// A package is being written: its members are in another directory afterwards.
    public static let saving = EditingObstacles(rawValue: 64)
    /// The file is locked, see ``FileDocument/lock(within:)``: edits fail instead of waiting, if this is the only obstacle.
    public static let locked = EditingObstacles(rawValue: 128)
  }

  /// The conditions of the document that aren't normal; empty if it's normal.
  public internal(set) var conditions: Conditions = .closed
  /// Why contents can't be changed; empty if they can.
  public internal(set) var editingObstacles: EditingObstacles = .closed
  /// Why the document couldn't be opened; the reason for ``Conditions/closed``, unless it was never opened or was closed.
  public internal(set) var openingError: DocumentError?
  /// The reason for ``Conditions/savingError``.
  public internal(set) var savingError: DocumentError?
  /// The reason for ``Conditions/readingError``.
  public internal(set) var readingError: DocumentError?
  /// The reason for ``Conditions/journalError``.
  public internal(set) var journalError: DocumentError?
  /// Whether the contents differ from those that were saved last.
  public internal(set) var hasUnsavedChanges = false
  /// Grows with each change of the contents, from any cause.
  public internal(set) var revision: UInt64 = 0
}
