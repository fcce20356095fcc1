import SystemInterface

@testable import FileDocuments

/// A text: the marks that were put into it, and whether the format can read it.
struct MarkedText: Hashable {
  var marks: UInt32 = 0
  var isReadable = true
}

/// The events of one exploration, and how often each may occur.
struct DocumentScenario: Sendable {
  enum Step: Hashable, Sendable {
    case call(DocumentCall)
    case edit
    /// An edit that doesn't ask whether it may.
    case editRegardless
    /// The last edit is taken back, whether it may be or not.
    case undo
  }

  var name: String
  /// Each script does one step after the other, beside the others.
  var scripts: [[Step]]
  /// Programs that coordinate: each arrives, acts, notifies and leaves.
  var writers: [DocumentModel.Writer.Deed] = []
  /// Writes by programs that don't.
  var strangerCount = 0
  /// Readers that need what is unsaved.
  var readerCount = 0
  /// Operations that fail.
  var failureCount = 0
  /// Saves that nobody has asked for, and that the program refuses.
  var refusalCount = 0
  /// Calls that are cancelled.
  var withdrawalCount = 0
  var leaseCount = 0
  /// How often another program adds a conflict version, or resolves those that are there; `nil` if nobody announces versions, and the
  /// state isn't compared with them.
  var conflictChangeCount: Int?
  var hasMerge = false
  /// Contents of other programs are loaded only if nothing is unsaved when an operation begins and ends, as in classes that read by themselves.
  var loadsLate = false
  /// Contents that the document hasn't altered become another program's when those become a version, as in packages.
  var rebases = false
  /// The errors about which the program is asked.
  var consultations = ConsultationScope.none
  /// How often another program locks or unlocks the file.
  var lockCount = 0
  /// How often the crash journal fails.
  var journalFailureCount = 0
  /// Whether an open looks for leftovers and versions when its call has returned.
  var searches = false
}

/// A document with its file, versions, program and other programs: the real core and memory, and a file that is a set of marks.
///
/// Each mark is put in once. So "nothing is lost" is a question of sets.
struct DocumentModel: Hashable {
  typealias Memory = DocumentMemory<MarkedText, MarkedText>

  /// Another program that coordinates.
  struct Writer: Hashable, Sendable {
    enum Deed: Hashable, Sendable {
      case append
      case spoil
      case delete
      /// Announces a deletion, and doesn't carry it out.
      case spare
    }

    enum Stage: Int, Hashable, Sendable { case outside, arrived, acted, notified, gone }

    let deed: Deed
    var stage = Stage.outside
    /// The registration of the presenter that was asked; messages go to that only.
    var session: Int?
    /// Its file is the document's no more: that was saved elsewhere meanwhile.
    var isElsewhere = false
  }

  struct Operation: Hashable {
    let kind: DocumentOperation
    let contents: MarkedText?
    var isCancelled = false
    /// Nobody had asked for it when it began.
    var isAutomatic = false
    /// Nothing was unsaved when it began.
    var mayLoad = false
    /// Its effect on the files, before the document knows.
    var outcome: OperationOutcome?
    var incoming: Memory.Stored?
    var merged: MarkedText?
    /// Its contents took their place before it failed.
    var isPlaced = false
    /// Whether the file was locked, if the operation has seen it.
    var isLocked: Bool?
  }

  var core: DocumentCore
  let loadsLate: Bool
  let rebases: Bool
  /// The edits that can be taken back.
  var undoable: [UInt32] = []
  var memory = Memory()
  var file: MarkedText? = MarkedText(marks: 1)
  var versions: Set<MarkedText> = []
  /// Copies, and the former files of a document that was saved elsewhere.
  var otherFiles: Set<MarkedText> = []
  var operation: Operation?
  var errand: DocumentErrand?
  var isErrandCancelled = false
  /// The permissions of the file.
  var isFileLocked = false
  /// The program has decided once that the state doesn't have an error.
  var hidesErrors = false
  var conflicts: Conflicts
  let searches: Bool
  var search: Search?

  var positions: [Int]
  /// The call for which a script waits.
  var awaited: [CallID?]
  var writers: [Writer]
  var strangerCount: Int
  var readerCount: Int
  var failureCount: Int
  var refusalCount: Int
  var withdrawalCount: Int
  var leaseCount: Int
  var lockCount: Int
  var journalFailureCount: Int
  /// Notifications about uncoordinated writes that are under way.
  var noticeCount = 0
  var timer: MonotonicTime?
  var readingTimer: MonotonicTime?
  var leasesTaken = 0
  /// The present registration; `nil` while there's none.
  var session: Int?
  var lastSession = 0

  var lastCall: UInt64 = 0
  var lastQuestion: UInt64 = 0
  var nextMark: UInt32 = 1
  /// All marks that must not get lost.
  var acknowledged: UInt32 = 1
  /// Marks that somebody has discarded or deleted on purpose.
  var forgiven: UInt32 = 0
  /// Marks that have ever been in a file or a version.
  var stored: UInt32 = 1
  var calls: [CallID: PendingCall] = [:]
  var questions: [QuestionID: UInt32] = [:]
  /// Another program has deleted the file, and nobody has asked for another one.
  var isDeleted = false
  var violation: String?

  struct PendingCall: Hashable {
    let kind: DocumentCall
    let marks: UInt32
  }

  init(_ scenario: DocumentScenario) {
    core = DocumentCore(autosave: AutosavePolicy(interval: .nanoseconds(1)), hasMerge: scenario.hasMerge)
    loadsLate = scenario.loadsLate
    rebases = scenario.rebases
    positions = scenario.scripts.map { _ in 0 }
    awaited = scenario.scripts.map { _ in nil }
    writers = scenario.writers.map { Writer(deed: $0) }
    strangerCount = scenario.strangerCount
    readerCount = scenario.readerCount
    failureCount = scenario.failureCount
    refusalCount = scenario.refusalCount
    withdrawalCount = scenario.withdrawalCount
    leaseCount = scenario.leaseCount
    lockCount = scenario.lockCount
    journalFailureCount = scenario.journalFailureCount
    core.consultations = scenario.consultations
    searches = scenario.searches
    conflicts = Conflicts(changeCount: scenario.conflictChangeCount)
  }

  mutating func newMark() -> UInt32 {
    nextMark <<= 1
    acknowledged |= nextMark
    return nextMark
  }

  // MARK: - Effects

  mutating func receive(_ event: DocumentEvent, at time: MonotonicTime = .zero, _ mutant: DocumentMutant?) {
    if let end = takeEndOfSearch() { feed(end, at: time, mutant) }
    if event == .versionsChanged { conflicts.mayBeListed = true }
    feed(event, at: time, mutant)
  }

  mutating func feed(_ event: DocumentEvent, at time: MonotonicTime, _ mutant: DocumentMutant?) {
    let events = mutant?.event(event, self) ?? [event]
    for event in events {
      let effects = core.receive(event, at: time)
      carryOut(mutant?.effects(effects, of: event) ?? effects, mutant)
    }
  }

  private mutating func carryOut(_ effects: [DocumentEffect], _ mutant: DocumentMutant?) {
    for effect in effects {
      switch effect {
      case .begin(let kind, for: _):
        if operation != nil || errand != nil { violation = "\(kind) began beside another operation" }
        if kind == .listConflicts, let problem = conflicts.noteListing() { violation = problem }
        // The contents of a new file.
        if kind == .place, memory.contents == nil { memory.contents = MarkedText(marks: newMark()) }
        operation = Operation(kind: kind, contents: memory.contents)
        operation?.isAutomatic = !core.hasSavingCall
        operation?.mayLoad = !core.published.hasUnsavedChanges
        if mutant == .keepsNothing, case .keep = kind { operation?.outcome = .done }
      case .beginErrand(let kind, for: _):
        if operation != nil || errand != nil { violation = "\(kind) began beside an operation" }
        errand = kind
        isErrandCancelled = false
      case .cancelOperation:
        operation?.isCancelled = true
        isErrandCancelled = true
      case .change(let change):
        if change == .forget, isDiscarding(effects) { forgiven |= memory.contents?.marks ?? 0 }
        memory.apply(change)
        if change.replacesContents { undoable = [] }
      case .present:
        lastSession += 1
        session = lastSession
      case .unpresent:
        session = nil
        conflicts.endPresentation()
      case .finish(let id, let error, _): finish(id, error)
      case .answer(let id, let error): answer(id, error)
      case .armTimer(let time):
        if timer != nil { violation = "the timer was armed twice" }
        timer = time
      case .armReadingTimer(let time):
        if readingTimer != nil { violation = "the timer of reading was armed twice" }
        readingTimer = time
      case .awaitSearch: awaitSearch()
      case .retryJournal, .publish: break
      }
    }
  }

  private func isDiscarding(_ effects: [DocumentEffect]) -> Bool {
    effects.contains { effect in
      guard case .finish(let id, nil, _) = effect, let call = calls[id] else { return false }
      return call.kind == .close(isDiscarding: true) || call.kind == .delete
    }
  }

  private mutating func finish(_ id: CallID, _ error: DocumentError?) {
    guard let call = calls.removeValue(forKey: id) else {
      violation = "call \(id.number) was finished twice"
      return
    }
    if call.kind == .create, error != nil, core.phase == .closed {
      forgiven |= memory.contents?.marks ?? 0
      memory.contents = nil
    }
    if error?.code == .autosaveRefused { violation = "\(call.kind) was refused, and it's no autosave" }
    let isSaving = call.kind == .save || call.kind == .close(isDiscarding: false) || call.kind == .duplicate
    // Without a file the contents are only left to those who have the document open, too.
    if isSaving, error == nil, !isDeleted, call.marks & ~stored & ~forgiven != 0 {
      violation = "\(call.kind) succeeded without saving what came before it"
    }
    for script in awaited.indices where awaited[script] == id { awaited[script] = nil }
  }

  private mutating func answer(_ id: QuestionID, _ error: DocumentError?) {
    guard let marks = questions.removeValue(forKey: id) else {
      violation = "question \(id.number) was answered twice"
      return
    }
    // Without a file there's nothing to save to.
    if error == nil, file != nil, marks & ~stored & ~forgiven != 0 {
      violation = "a reader doesn't find what was unsaved"
    }
  }
}

extension MonotonicTime { static let zero = MonotonicTime(nanoseconds: 0) }
