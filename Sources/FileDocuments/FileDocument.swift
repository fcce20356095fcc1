internal import ContentHashing
internal import FileCoordination
public import FoundationEssentials
public import Observation
internal import SystemInterface

/// A file that's open for editing, beside other programs that read, write, move and delete it.
///
/// ```swift
/// let note = FileDocument(url, as: .text)
/// try await note.open(creatingWith: "")
/// try await note.edit { $0 += "bread\n" }     // saved by itself, soon, and when somebody reads the file
/// for await snapshot in note.states { title.show(snapshot) }
/// try await note.close()                      // saves what is unsaved
/// ```
///
/// **Where it runs.** A document is an actor. One that's made on the main actor, or in another actor, lives there: its methods run
/// without leaving that actor, and `assumeIsolated` calls them from synchronous code. Files are read and written elsewhere, and
/// editing goes on meanwhile.
///
/// **With others.** The document presents its file. It saves before another program reads. It takes over what another program has
/// written, unless it has unsaved changes itself: then both texts survive, see ``DocumentOptions/merge``. It follows the file when that
/// is moved. When the file is deleted, the contents stay in memory, and are never written there again.
///
/// **Calls** are carried out in their order. Each ends, with a result or an error: when its task is cancelled, or its deadline has passed,
/// at the latest. Errors leave the document open and editable.
///
/// An open document has unsaved changes for some seconds. Call ``close(discardingChanges:within:)`` before the last reference goes away.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `core`, `memory`, results of calls, and questions that wait | the actor | one event after the other |
/// | `waitingCalls` | its lock | operations end on threads of their own |
/// | `board` | its lock | the snapshot is read anywhere |
/// | contents that are being written | a copy in the operation | editing goes on |
///
/// - Note: Rules CD-01 to CD-04, CD-06 to CD-10, CD-12 to CD-15, CD-17 to CD-25, CD-27 to CD-30, CD-33 to CD-46, CD-49, CD-60 to CD-76, UD-20, UD-24,
/// ND-9 and ND-10.
public actor FileDocument<Contents: Sendable> {
  /// The file of a document that is closed, and the format and the options of all.
  let format: any DocumentFormat<Contents>
  nonisolated let traits: FormatTraits
  let options: DocumentOptions<Contents>
  private let home: any Actor
  nonisolated let board: DocumentBoard
  nonisolated let registrar = ObservationRegistrar()
  /// Made once, when somebody looks at the document: the compiler has no constant for the path in a generic type, and making one takes
  /// longer than an edit.
  nonisolated let snapshotPath = Guarded<(any KeyPath<FileDocument, DocumentSnapshot> & Sendable)?>(nil)

  var core: DocumentCore
  var memory = DocumentMemory<Contents, ContentHash>()
  var undoSteps: UndoSteps<Contents>
  /// Belongs to the incoming contents of `memory`.
  var incomingBytes: Data?
  var modificationDate: Date?
  var isWritable = true
  /// See ``DocumentSnapshot``.
  var hasMadeFile = false
  var versionsRevision: UInt64 = 0
  /// Where the program has decided to save the contents.
  var decidedPlace: CallArgument<Contents>?
  /// The error of the journal about which the core knows.
  var notedJournalError: DocumentError?
  var isRetryingJournal = false
  /// Where it's presented; `nil` while the document isn't open.
  var presence: DocumentPresence?
  /// One that an operation has registered, until the core says that it's the document's.
  var arrivingPresence: DocumentPresence?
  var operation: Task<Void, Never>?
  /// The search that the last open has begun; `nil` once the core knows of its end.
  var search: DocumentSearch?
  /// The core waits for that end.
  var needsEndOfSearch = false
  /// The place whose URL is in the snapshot.
  var publishedPlace: PublishedPlace?
  /// `nil` without a crash journal.
  var journaling: DocumentJournaling<Contents>?

  /// The last token that the program has taken, and the contents that it names.
  var tokenContents: (token: DocumentEditToken, contents: Contents)?

  var lastCall: UInt64 = 0
  var lastQuestion: UInt64 = 0
  var arguments: [CallID: CallArgument<Contents>] = [:]
  /// Of calls that have ended and don't know it yet.
  var callResults: [CallID: Result<Bool, DocumentError>] = [:]
  nonisolated let waitingCalls = WaitingCalls()
  /// Of calls whose deadlines have passed.
  var partiesInTheWay: [CallID: String] = [:]
  var waitingQuestions: [QuestionID: CheckedContinuation<DocumentError?, Never>] = [:]

  /// Where the document's methods run: on the actor that it was made in.
  ///
  /// The executor is `unsafe` because it doesn't keep its actor alive; the document does.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe home.unownedExecutor }

  /// Creates a closed document.
  ///
  /// Nothing is read.
  ///
  /// - Parameters:
  ///   - url: The file. It doesn't have to exist.
  ///   - format: How contents are written as bytes.
  ///   - options: How the document behaves.
  ///   - home: The actor in which its methods run: that of this call unless stated, and one of its own if there's none.
  public init(
    _ url: URL, as format: some DocumentFormat<Contents>, options: DocumentOptions<Contents> = DocumentOptions(),
    in home: (any Actor)? = #isolation
  ) {
    self.format = format
    traits = FormatTraits(format)
    self.options = options
    self.home = home ?? DocumentHome()
    undoSteps = UndoSteps(options.undo)
    core = DocumentCore(autosave: options.autosave, hasMerge: options.merge != nil)
    core.editsWaitForWrites = traits.isPackage
    core.consultations = options.errorHandler.map { $0.handlesCalls ? .all : .uncalled } ?? .none
    journaling = options.crashJournal.map { DocumentJournaling($0, options) }
    board = DocumentBoard(DocumentSnapshot(state: DocumentState(), url: url, fileModificationDate: nil))
  }
}

/// The executor of documents that are made outside of any actor.
private actor DocumentHome {}

extension FileDocument: Observable {
  /// The state of the document, without a call of its actor.
  ///
  /// May be read anywhere; reading it is observed.
  public nonisolated var snapshot: DocumentSnapshot {
    noteAccess()
    return board.snapshot
  }

  /// Where the file is.
  ///
  /// May be read anywhere.
  public nonisolated var url: URL { snapshot.url }

  /// The conditions of the document, and the obstacles to editing it.
  ///
  /// May be read anywhere.
  public nonisolated var state: DocumentState { snapshot.state }

  /// Whether the contents differ from those that were saved last.
  ///
  /// May be read anywhere.
  public nonisolated var hasUnsavedChanges: Bool { snapshot.state.hasUnsavedChanges }

  /// When the file was changed last, as far as the document knows; `nil` before it was opened.
  ///
  /// May be read anywhere.
  ///
  /// - Note: Rule CD-03.
  public nonisolated var fileModificationDate: Date? { snapshot.fileModificationDate }

  /// The present snapshot, and then the latest one after each change: one is buffered for each reader.
  ///
  /// - Note: Rule CD-35.
  public nonisolated var states: DocumentStates { board.states() }

  /// The present snapshot, and then each change of some of its attributes, without a gap in between.
  ///
  /// One element is buffered for each reader: changes that come meanwhile are put together in it, so that a slow reader gets the latest
  /// snapshot and the names of all attributes that have changed. Changes of other attributes wake nobody.
  ///
  /// - Parameter attributes: The attributes to follow.
  /// - Returns: The changes.
  /// - Complexity: An edit costs O(readers) more.
  /// - Note: Rule ND-10.
  public nonisolated func changes(of attributes: DocumentAttributes) -> DocumentChanges {
    board.changes(of: attributes)
  }

  /// The contents as they are now; `nil` while the document is closed.
  public var contents: Contents? {
    noteAccess()
    return memory.contents
  }
}

/// Names a place without its URL.
struct PublishedPlace: Equatable, Sendable {
  let presenter: ObjectIdentifier
  let moveCount: Int
}

/// The arguments of a call.
struct CallArgument<Contents: Sendable>: Sendable {
  var url: URL
  /// A name in the directory where the file is when it's moved; the URL is only where that is now.
  var name: String?
  var isReplacing = false
  var contents: Contents?
  /// A member of a package that's replaced alone.
  var member: (path: SystemPath, bytes: [UInt8])?
}
