package import SystemInterface

/// Decides what a document does: a value without thread, clock or file.
///
/// Events go in through ``receive(_:at:)``, and effects come out as a list, which the runner carries out in order. After each event the
/// core settles: it finishes all calls and answers all questions that can be, and begins the next operation if none runs. So
/// nothing depends on the event that made something possible, and a call can't be forgotten. ``problems`` states what holds between
/// events.
///
/// Calls are carried out in their order. A save, and the answer to a question, are finished by any write that began with the
/// contents that they were about; so saves that come during a write have one more write together.
package struct DocumentCore: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    /// No contents, no presenter. Ends with an operation `open`, or with `place`.
    case closed
    /// The presenter is registered. Ends with `close` and `delete`, or when the file is missing.
    case open
    /// The file is gone, the contents are here. Ends with `close`, or with `place`.
    case detached
  }

  /// A call that isn't finished.
  struct Call: Hashable, Sendable {
    let id: CallID
    let kind: DocumentCall
    /// The contents that a save is about.
    let target: UInt64
    /// A write has begun since it became the first.
    var didSave = false
    /// The contents that a reverting call has kept as a version.
    var keptRevision: UInt64?
    /// The call is to end, and its operation was notified of that.
    var withdrawal: Withdrawal?
  }

  struct Question: Hashable, Sendable {
    let id: QuestionID
    /// The contents that have to be in the file.
    let target: UInt64
  }

  struct Running: Hashable, Sendable {
    let operation: DocumentOperation
    let call: CallID?
    /// The contents with which it began.
    let revision: UInt64
    let token: DocumentEditToken
  }

  /// Contents of another program, which were read and not yet used.
  enum Incoming: Hashable, Sendable {
    /// Nobody has decided yet.
    case found(unreadable: DocumentError?)
    /// The same, and they have to be read before the document can take them.
    case unread
    /// The program is asked.
    case merging
    /// The document's contents stay, as soon as the others are a version.
    case keepingTheirs
    /// The others are taken, as soon as the document's are a version.
    case keepingMine
  }

  let hasMerge: Bool
  /// The errors about which the program is asked.
  var consultations = ConsultationScope.none
  /// A write makes its contents those of the document, so that nothing may be edited meanwhile.
  var editsWaitForWrites = false
  var phase = Phase.closed
  /// In the order in which they were made.
  var calls: [Call] = []
  var questions: [Question] = []
  var running: Running?
  /// Never beside an operation.
  var errand: RunningErrand?
  var incoming: Incoming?
  /// An error that has no consequences yet: the program is asked first, or is to be asked.
  package var consultation: Consultation?
  /// An error of the crash journal about which the program is to be asked.
  var journalError: DocumentError?
  /// How often in a row an activity has failed.
  var failureCounts: [DocumentFailure.Activity: Int] = [:]
  /// How often in a row the program has decided to try again at once.
  var retryCount = 0
  /// How often in a row a save has found that another program has written the file.
  var overtakenCount = 0
  /// The program has a place for contents that can't be saved where they belong.
  var wantsPlace = false
  /// The program has decided that a file that couldn't be read is read again after a pause.
  var wantsReading = false
  var isReadingTimerArmed = false
  /// The program has decided to save nothing by itself until the next edit.
  var isSavingStopped = false
  /// The owner of the file may not write it.
  var isLocked = false

  /// Grows with each change of the contents.
  var revision: UInt64 = 0
  /// The contents that are in the file, or some older ones.
  var savedRevision: UInt64 = 0
  var count = EditCount()
  var schedule: AutosaveSchedule
  var isTimerArmed = false
  /// It's time to save.
  var wantsAutosave = false

  /// The file may have changed.
  var needsCheck = false
  /// The versions may have changed.
  var needsConflicts = false
  /// Leftovers and versions of the file are being looked for.
  ///
  /// The calls that open it don't wait for that, everything else does.
  var isSearching = false
  var isSearchAwaited = false
  /// The search has found something, which is dealt with before the calls that don't save.
  var hasFoundSomething = false
  var hasConflicts = false
  /// Other programs that have the item for writing, or are about to.
  var writerCount = 0
  var isDeletionAnnounced = false
  var leaseCount = 0
  /// How often the document was opened and not closed.
  var openCount = 0
  var openingError: DocumentError?
  var savingError: DocumentError?
  var readingError: DocumentError?
  /// The state that was published last.
  package private(set) var published = DocumentState()

  /// Makes the core of a closed document.
  ///
  /// - Parameters:
  ///   - autosave: When it saves by itself.
  ///   - hasMerge: Whether the program merges.
  package init(autosave: AutosavePolicy, hasMerge: Bool) {
    schedule = AutosaveSchedule(autosave)
    self.hasMerge = hasMerge
  }

  /// Takes an event.
  ///
  /// - Parameters:
  ///   - event: The event that occurred.
  ///   - now: When.
  /// - Returns: The effects to carry out, in order.
  package mutating func receive(_ event: DocumentEvent, at now: MonotonicTime) -> [DocumentEffect] {
    var effects: [DocumentEffect] = []
    note(event, at: now, &effects)
    settle(at: now, &effects)
    awaitSearch(&effects)
    armTimer(&effects)
    armReadingTimer(at: now, &effects)
    publish(&effects)
    return effects
  }

  /// Takes an edit that changes nothing but the revision: one more of a document that has unsaved changes, and its time to be saved.
  ///
  /// That's the usual edit, and what it costs is what typing costs. Tests compare it with ``receive(_:at:)``.
  ///
  /// - Parameters:
  ///   - size: How much is edited.
  ///   - now: When.
  /// - Returns: Whether this was such an edit, which is noted then; otherwise nothing was done.
  package mutating func noteFurtherEdit(size: Int, at now: MonotonicTime) -> Bool {
    guard phase == .open, published.hasUnsavedChanges, isTimerArmed || !schedule.hasTimes, calls.isEmpty,
      questions.isEmpty, !needsCheck, incoming == nil, !wantsAutosave, leaseCount == 0, writerCount == 0,
      !isBusy, !needsConflicts, !isLocked, !isSavingStopped, count.leavesChanges, !schedule.isFull(with: size)
    else { return false }
    count.note(.done)
    revision += 1
    _ = schedule.noteEdit(size: size, at: now)
    published.revision = revision
    return true
  }

  /// Why the contents can't be changed; `nil` if they can.
  package var editingError: DocumentError? {
    let obstacles = editingObstacles
    if obstacles.contains(.closed) { return .notOpen }
    if obstacles.isEmpty { return nil }
    // Nobody knows when this ends, so nobody waits for it.
    if obstacles == .locked { return .locked }
    return DocumentError(
      .editingDisabled, "The contents can't be changed right now: \(obstacles). 'edit' waits for the end of that.")
  }

  /// The contents as they are now, for the count of edits.
  package var editToken: DocumentEditToken { count.token }

  private func publishedState() -> DocumentState {
    var state = DocumentState()
    state.editingObstacles = editingObstacles
    state.conditions = editingObstacles.isEmpty || phase == .closed ? [] : .editingDisabled
    if phase == .closed { state.conditions.insert(.closed) }
    if phase == .detached || isDeletionAnnounced { state.conditions.insert(.deleted) }
    if hasConflicts { state.conditions.insert(.inConflict) }
    if savingError != nil { state.conditions.insert(.savingError) }
    if readingError != nil { state.conditions.insert(.readingError) }
    state.openingError = openingError
    state.savingError = savingError
    state.readingError = readingError
    state.hasUnsavedChanges = hasUnsavedChanges
    state.revision = revision
    return state
  }

  private mutating func publish(_ effects: inout [DocumentEffect]) {
    let state = publishedState()
    if state == published { return }
    published = state
    // A caller that gets the result of a call finds the state that belongs to it.
    let place = effects.firstIndex { if case .finish = $0 { true } else { false } } ?? effects.endIndex
    effects.insert(.publish(state), at: place)
  }

  private mutating func awaitSearch(_ effects: inout [DocumentEffect]) {
    guard isSearching, !isSearchAwaited, hasWork else { return }
    isSearchAwaited = true
    effects.append(.awaitSearch)
  }

  private mutating func armTimer(_ effects: inout [DocumentEffect]) {
    guard phase == .open, hasUnsavedChanges, !wantsAutosave, !isTimerArmed, let due = schedule.due else { return }
    if running?.operation == .write { return }
    isTimerArmed = true
    effects.append(.armTimer(due))
  }

  private mutating func armReadingTimer(at now: MonotonicTime, _ effects: inout [DocumentEffect]) {
    guard phase == .open, wantsReading, !isReadingTimerArmed else { return }
    isReadingTimerArmed = true
    effects.append(.armReadingTimer(now.advanced(by: readingPause)))
  }
}

extension DocumentCore {
  /// Whether the contents differ from those that were saved last.
  var hasUnsavedChanges: Bool { phase != .closed && count.hasChanges }

  /// Whether nothing can begin.
  var isBusy: Bool { running != nil || errand != nil || isSearching }

  /// Whether something is to be done as soon as that's possible.
  var hasWork: Bool {
    !calls.isEmpty || !questions.isEmpty || needsCheck || needsConflicts || needsConsultation || wantsAutosave
      || wantsPlace
  }

  /// Whether the program has asked for a save: then a write isn't the document's own idea.
  package var hasSavingCall: Bool { calls.contains(where: \.wantsSave) }

  /// The call whose turn it is: waiting for the end of obstacles has no turn.
  var firstCall: Call? { calls.first { $0.kind != .awaitEditing } }

  var editingObstacles: DocumentState.EditingObstacles {
    if phase == .closed { return .closed }
    var obstacles: DocumentState.EditingObstacles = []
    if isLocked, phase == .open { obstacles.insert(.locked) }
    if leaseCount > 0 { obstacles.insert(.lease) }
    if writerCount > 0 { obstacles.insert(.writer) }
    if needsCheck || running?.operation == .check || incoming != nil { obstacles.insert(.reloading) }
    if editsWaitForWrites, running.map({ [.write, .copy, .place].contains($0.operation) }) ?? false {
      obstacles.insert(.saving)
    }
    switch firstCall?.kind {
    case .revert: obstacles.insert(.reverting)
    case .close where openCount <= 1, .delete: obstacles.insert(.closing)
    case .open, .awaitEditing, .save, .close, .move, .duplicate, .setLock, .saveElsewhere, .create, nil: break
    }
    return obstacles
  }
}

extension DocumentState.EditingObstacles: CustomStringConvertible {
  /// The reasons, for people.
  public var description: String {
    let names: [(Self, String)] = [
      (.closed, "the document isn't open"), (.lease, "the program has disabled editing"),
      (.writer, "another program writes the file"), (.reloading, "the contents of another program are being read"),
      (.reverting, "the document is reverting"), (.closing, "the document is closing"),
      (.saving, "the package is being saved"), (.locked, "the file is locked"),
    ]
    return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
