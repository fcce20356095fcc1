internal import FileCoordination
internal import FilePackages
internal import FoundationEssentials
internal import SystemInterface

/// Why a document couldn't be opened, edited, saved or closed.
///
/// The contents of the document, and its file, are as they were, unless ``message`` says otherwise.
public struct DocumentError: Error, Sendable, CustomStringConvertible {
  /// The kind of error: a number that doesn't change.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int

    /// Creates a code.
    ///
    /// - Parameter rawValue: The number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The document isn't open.
    public static let notOpen = Code(rawValue: 1)
    /// Another document of this process has the item open.
    public static let alreadyOpen = Code(rawValue: 2)
    /// The file was deleted while the document was open.
    public static let fileDeleted = Code(rawValue: 3)
    /// Nothing is where the file should be.
    public static let fileNotFound = Code(rawValue: 4)
    /// A file is where one was to be made.
    public static let fileExists = Code(rawValue: 5)
    /// The contents can't be changed right now.
    public static let editingDisabled = Code(rawValue: 6)
    /// The task that made the call was cancelled.
    public static let cancelled = Code(rawValue: 7)
    /// The deadline of the call has passed.
    public static let timedOut = Code(rawValue: 8)
    /// There was no access to the file, or a system call failed; see ``DocumentError/underlyingError``.
    public static let coordination = Code(rawValue: 9)
    /// The format can't read the bytes of the file.
    public static let unreadableContents = Code(rawValue: 10)
    /// The format can't write the contents.
    public static let unwritableContents = Code(rawValue: 11)
    /// A version couldn't be kept, so nothing was overwritten or discarded.
    public static let versionNotKept = Code(rawValue: 12)
    /// The document's hook couldn't merge, or didn't answer in time.
    public static let notMerged = Code(rawValue: 13)
    /// The name of a file is empty, or contains a slash.
    public static let invalidName = Code(rawValue: 14)
    /// The file can't be written, or its directory.
    public static let notWritable = Code(rawValue: 15)
    /// The file, or what is to be saved, has more bytes than ``DocumentOptions/byteCountMax``.
    public static let fileTooLarge = Code(rawValue: 16)
    /// The program doesn't want the document to save by itself; see ``DocumentOptions/autosaveCheck``.
    public static let autosaveRefused = Code(rawValue: 17)
    /// The backup file couldn't be made, so nothing was overwritten.
    public static let backupNotKept = Code(rawValue: 18)

    /// The crash journal couldn't be written or removed.
    public static let journalNotWritten = Code(rawValue: 20)
    /// The crash journals of other processes couldn't be read.
    public static let journalNotRead = Code(rawValue: 21)
    /// Nothing is to be decided about contents that a killed program has left behind.
    public static let recoveryNotFound = Code(rawValue: 22)
    /// The crash journal of a killed process is damaged; the message names the files that are kept of it.
    public static let journalDamaged = Code(rawValue: 23)
    /// The program gives no access to the place of the file; see ``DocumentOptions/grant``.
    public static let notGranted = Code(rawValue: 24)
    /// The file is locked, or the one that would be replaced; see ``FileDocument/lock(within:)``.
    public static let locked = Code(rawValue: 25)

    /// The name of the code.
    public var description: String {
      switch self {
      case .notOpen: "notOpen"
      case .alreadyOpen: "alreadyOpen"
      case .fileDeleted: "fileDeleted"
      case .fileNotFound: "fileNotFound"
      case .fileExists: "fileExists"
      case .editingDisabled: "editingDisabled"
      case .cancelled: "cancelled"
      case .timedOut: "timedOut"
      case .coordination: "coordination"
      case .unreadableContents: "unreadableContents"
      case .unwritableContents: "unwritableContents"
      case .versionNotKept: "versionNotKept"
      case .notMerged: "notMerged"
      case .invalidName: "invalidName"
      case .notWritable: "notWritable"
      case .fileTooLarge: "fileTooLarge"
      case .autosaveRefused: "autosaveRefused"
      case .backupNotKept: "backupNotKept"
      case .journalNotWritten: "journalNotWritten"
      case .journalNotRead: "journalNotRead"
      case .recoveryNotFound: "recoveryNotFound"
      case .journalDamaged: "journalDamaged"
      case .notGranted: "notGranted"
      case .locked: "locked"
      default: "code \(rawValue)"
      }
    }
  }

  /// The kind of error.
  public let code: Code
  /// The event and the remedy, without the code.
  public let message: String
  /// A `FileCoordinationError`, a `FileVersionError`, or an error of the format.
  public let underlyingError: (any Error)?

  /// The code and the message.
  public var description: String { "\(code): \(message)" }

  package init(_ code: Code, _ message: String, underlyingError: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlyingError = underlyingError
  }
}

extension DocumentError: Hashable {
  /// Compares codes and messages.
  ///
  /// - Parameters:
  ///   - first: An error.
  ///   - second: An error.
  /// - Returns: Whether both say the same.
  public static func == (first: DocumentError, second: DocumentError) -> Bool {
    first.code == second.code && first.message == second.message
  }

  /// Feeds the code to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension DocumentError {
  static let notOpen = DocumentError(.notOpen, "The document isn't open. Call 'open()' first.")
  static let fileDeleted = DocumentError(
    .fileDeleted,
    "The file was deleted while the document was open. The contents are still here: save them with 'save(as:)', or close with "
      + "'discardingChanges'.")
  /// The same for a package, most of whose members were only there.
  private static let packageDeleted = DocumentError(
    .fileDeleted,
    "The package was deleted while the document was open. Only the members that are in memory are still here: those that the document has "
      + "changed, or all of them after 'loadAll()'. If none is missing, save them with 'save(as:)'; otherwise read them with "
      + "'contents(ofMember:)', or close with 'discardingChanges'.")

  /// The same error with the remedy that a package needs.
  func ofDocument(thatIsPackage isPackage: Bool) -> DocumentError {
    code == .fileDeleted && isPackage ? .packageDeleted : self
  }

  static func alreadyOpen(_ url: URL) -> DocumentError {
    DocumentError(
      .alreadyOpen,
      "Another document of this process has '\(url.path)' open. Use that one: 'FileDocument.opened(_:as:)' returns it.")
  }
  static let locked = DocumentError(
    .locked,
    "The file is locked: its permissions don't let its owner write it. Call 'unlock()' to edit and save it, or put the contents elsewhere "
      + "with 'save(as:)'.")
  static let overtaken = DocumentError(
    .coordination,
    "Another program writes the file again and again, so nothing was saved over its last text. The former ones are versions, and the "
      + "contents are in memory. Stop that program and save again, or put the contents elsewhere with 'save(as:)'.")
  static let cancelled = DocumentError(.cancelled, "The task was cancelled.")
  static let timedOut = DocumentError(
    .timedOut, "The deadline of the call has passed. Pass a longer one, or see 'state' for the obstacle.")

  /// A version couldn't be kept; with the remedy, unless the reason has it.
  static func versionNotKept(_ event: String, _ reason: any Error) -> DocumentError {
    let isAltered: Bool =
      switch reason {
      case let reason as PackageError:
        [.memberChanged, .notFound, .packageReplaced, .wrongKind].contains(reason.code)
          || reason.systemError?.isAbsence == true
      case let reason as FileCoordinationError: reason.isAbsence
      case let reason as SystemError: reason.isAbsence
      default: false
      }
    guard isAltered else { return DocumentError(.versionNotKept, "\(event): \(reason)", underlyingError: reason) }
    return DocumentError(
      .versionNotKept,
      "\(event): \(reason). Another program alters the item while it's kept. Stop that program and try again, or put the contents "
        + "elsewhere with 'save(as:)'.", underlyingError: reason)
  }

  /// The error of an operation that keeps a version: nobody has looked for the reason if it was cancelled, or if the file is gone.
  static func noVersion(_ reason: any Error) -> DocumentError {
    let error = DocumentError(reason)
    switch error.code {
    case .cancelled, .timedOut, .fileDeleted: return error
    default: return versionNotKept("No version could be kept, so nothing was overwritten", reason)
    }
  }

  /// A call has timed out; with those for whom it has waited.
  static func timedOut(behind parties: String) -> DocumentError {
    DocumentError(
      .timedOut, "The deadline of the call has passed: \(parties). Pass a longer one, or stop that program.")
  }
}
