public import FoundationEssentials

/// Decides what follows from an error that no call of the program gets.
///
/// ```swift
/// options.errorHandler = DocumentErrorHandler { failure in
///   failure.activity == .saving && failure.attempt < 3 ? .retryLater : .present
/// }
/// ```
///
/// Saves that a document makes by itself or for readers, reloading, merging, and the crash journal fail without a call that waits for
/// them. As long as the program is asked, nothing follows from the error: readers and calls go on waiting, and editing goes on.
/// No other operation of the document begins meanwhile, so `decide` must not call the document and wait for that; answer soon.
///
/// If it doesn't answer before ``deadline``, the decision is ``DocumentErrorDecision/present``. Runs away from the document's actor, for
/// one error at a time.
///
/// - Note: Rule UD-20.
public struct DocumentErrorHandler: Sendable {
  /// Decides about one error.
  public typealias Decide = nonisolated(nonsending) @Sendable (DocumentFailure) async -> DocumentErrorDecision

  /// Decides about one error.
  public var decide: Decide
  /// How long a decision may take.
  public var deadline: Duration
  /// Whether errors of calls come here as well, before the call ends with them.
  ///
  /// A call that's cancelled or has run out of time ends at once.
  public var handlesCalls: Bool

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - deadline: How long a decision may take.
  ///   - handlesCalls: Whether errors of calls come here as well; they don't unless stated.
  ///   - decide: Decides about one error.
  public init(
    within deadline: Duration = .seconds(30), handlesCalls: Bool = false, _ decide: @escaping Decide
  ) {
    self.decide = decide
    self.deadline = deadline
    self.handlesCalls = handlesCalls
  }
}

/// An error of a document, and its circumstances.
///
/// - Note: Rule UD-20.
public struct DocumentFailure: Sendable {
  /// The work that has failed.
  public enum Activity: String, Hashable, Sendable, CaseIterable {
    /// Unsaved contents are written to the file, or to the place that the program has decided on.
    case saving
    /// The contents that another program has written are read.
    case reloading
    /// The program merges its contents with those of another program.
    case merging
    /// Contents that are about to be overwritten become a version.
    case keepingVersion
    /// The conflicts of the file are listed.
    case listingConflicts
    /// The crash journal is written or removed, or those of killed processes are read.
    case journaling
    /// The call `open`.
    case opening
    /// A call `revert`.
    case reverting
    /// A call `move` or `rename`.
    case moving
    /// The call `delete`.
    case deleting
    /// A call `duplicate`, or the replacement of a package's member.
    case duplicating
    /// The call `save(as:)`.
    case savingElsewhere
  }

  /// The work that has failed.
  public let activity: Activity
  /// The error, as a call or the state would have it.
  public let error: DocumentError
  /// Where the document's file is.
  public let url: URL
  /// Whether a call of the program waits for the work.
  public let isCalled: Bool
  /// How often this has failed without a success in between, this time included.
  public let attempt: Int
  /// Whether there are contents that are in memory alone, or in the crash journal.
  public let hasUnsavedChanges: Bool
}

/// The consequence of an error of a document.
///
/// - Note: Rule UD-20.
public enum DocumentErrorDecision: Hashable, Sendable {
  /// The state has the error, for a person to see, and calls and readers get it, as without a handler.
  ///
  /// The next attempt comes at its usual time.
  case present
  /// The next attempt begins at once, and calls and readers wait for it.
  ///
  /// At the seventeenth time in a row this is ``present``.
  case retryNow
  /// As ``present``, but the state doesn't have the error.
  ///
  /// Saves have the times of ``AutosavePolicy``, the crash journal has growing pauses, and a file is read again when it changes, and after
  /// pauses that grow from a second to 64.
  case retryLater
  /// The contents go to a new file, which is the document's from then on, as with ``FileDocument/save(as:replacing:within:)``.
  ///
  /// The former file stays as it is, with the contents of other programs. For errors of other activities than `saving` and
  /// `keepingVersion` this is ``present``. If it fails, that's an error of `saving` again.
  case saveElsewhere(URL, replacing: Bool = false)
  /// As ``present``, but the document doesn't save by itself until the next edit.
  ///
  /// The contents stay in memory and in the crash journal; calls and readers save all the same.
  case stopSaving

  var choice: RecoveryChoice {
    switch self {
    case .present: .present
    case .retryNow: .retryNow
    case .retryLater: .retryLater
    case .saveElsewhere: .saveElsewhere
    case .stopSaving: .stopSaving
    }
  }
}
