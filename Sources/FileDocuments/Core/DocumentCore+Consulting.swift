internal import SystemInterface

// Errors about which the program is asked, and what follows from its decisions.
//
// The failure of an operation has no consequences as long as the program is asked: calls and questions that wait for the operation go on
// waiting, nothing else begins, and editing goes on. Then the core does what it does without a program that's asked, or begins anew.

/// The errors about which the program is asked.
package enum ConsultationScope: Hashable, Sendable {
  case none
  /// Those of operations that no call waits for.
  case uncalled
  case all
}

extension DocumentCore {
  /// An error about which the program is asked.
  package struct Consultation: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
      /// An operation has failed.
      case operation(Running)
      /// The format can't read what another program wrote.
      case unreadable
      /// The crash journal.
      case journal
    }

    let subject: Subject
    package let error: DocumentError
    package let isCalled: Bool
    /// How often the activity has failed in a row, this time included.
    package let attempt: Int

    package var activity: DocumentFailure.Activity {
      switch subject {
      case .operation(let running): running.activity
      case .unreadable: .reloading
      case .journal: .journaling
      }
    }
  }

  struct RunningErrand: Hashable, Sendable {
    let kind: DocumentErrand
    let call: CallID?
  }

  /// How often in a row the program may decide that something is tried again at once; then the error is in the state, as without a
  /// decision.
  static var retryCountMax: Int { 16 }

  /// How long until a file is read again that couldn't be read; it's doubled after each failure, up to 64 times.
  var readingPause: Duration {
    let failures = failureCounts[.reloading] ?? 1
    return .seconds(1 << min(max(failures - 1, 0), Self.readingDoublingMax))
  }

  static var readingDoublingMax: Int { 6 }

  var needsConsultation: Bool { consultation != nil || journalError != nil }

  /// Those of the journal wait for the others.
  mutating func nextConsultation() {
    guard consultation == nil, let error = journalError else { return }
    journalError = nil
    consult(.journal, error, isCalled: false)
  }

  private mutating func consult(_ subject: Consultation.Subject, _ error: DocumentError, isCalled: Bool) {
    let first = Consultation(subject: subject, error: error, isCalled: isCalled, attempt: 1)
    failureCounts[first.activity, default: 0] += 1
    consultation = Consultation(
      subject: subject, error: error, isCalled: isCalled, attempt: failureCounts[first.activity] ?? 1)
  }

  /// - Returns: Whether the program is asked about the end of an operation, which has no consequences until then.
  mutating func consults(about ended: Running, _ outcome: OperationOutcome) -> Bool {
    guard case .failed(let error) = outcome else {
      // Contents that can't be read are a failure, too.
      if case .differs(.some) = outcome { return false }
      failureCounts[ended.activity] = nil
      retryCount = 0
      return false
    }
    let isCalled = ended.call != nil || ended.isForCalls && hasSavingCall
    let isWithdrawn = calls.contains { $0.id == ended.call && $0.withdrawal != nil }
    guard consultations == .all || consultations == .uncalled && !isCalled, !isWithdrawn, error.code != .cancelled
    else { return false }
    consult(.operation(ended), error, isCalled: isCalled)
    return true
  }

  /// The format can't read what another program wrote, and nothing is unsaved.
  mutating func noteUnreadable(_ error: DocumentError) {
    if consultations == .none { readingError = error } else { consult(.unreadable, error, isCalled: false) }
  }

  mutating func noteJournal(_ error: DocumentError?) {
    if error == nil { failureCounts[.journaling] = nil }
    journalError = phase == .closed || consultations == .none ? nil : error
  }

  // MARK: - The end of an errand

  mutating func complete(
    _ ended: RunningErrand, _ outcome: ErrandOutcome, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    switch (ended.kind, outcome) {
    case (.consult, .decided(let choice)):
      guard let consultation else { preconditionFailure("a decision about nothing") }
      self.consultation = nil
      decide(bounded(choice), consultation, at: now, &effects)
    case (.setLock(let isLocked), .done):
      noteLock(isLocked)
      if let call = ended.call { finish(call, nil, &effects) }
    case (.setLock, .failed(let error)): if let call = ended.call { finish(call, error, &effects) }
    case (.consult, .done), (.consult, .failed), (.setLock, .decided):
      preconditionFailure("\(ended) ended with \(outcome)")
    }
  }

  mutating func noteLock(_ isLocked: Bool) {
    defer { self.isLocked = isLocked }
    if !isLocked, savingError?.code == .locked { savingError = nil }
    guard self.isLocked, !isLocked, phase == .open, hasUnsavedChanges else { return }
    isSavingStopped = false
    if schedule.hasTimes { wantsAutosave = true }
  }

  private mutating func bounded(_ choice: RecoveryChoice) -> RecoveryChoice {
    switch choice {
    case .retryNow, .saveElsewhere:
      if retryCount == Self.retryCountMax {
        retryCount = 0
        return .present
      }
      retryCount += 1
      return choice
    case .present, .retryLater, .stopSaving:
      retryCount = 0
      return choice
    }
  }

  private mutating func decide(
    _ choice: RecoveryChoice, _ consultation: Consultation, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    switch consultation.subject {
    case .journal: if choice == .retryNow { effects.append(.retryJournal) }
    case .unreadable: decideAboutReading(choice, consultation.error)
    case .operation(let ended):
      switch (ended.operation, choice) {
      case (_, .retryNow): repeatOperation(ended)
      case (.check, _): decideAboutReading(choice, consultation.error)
      case _ where ended.isSaving && choice == .saveElsewhere:
        if incoming != nil { effects.append(.change(.dropIncoming)) }
        incoming = nil
        wantsPlace = true
      default:
        complete(ended, .failed(consultation.error), at: now, &effects)
        if ended.isSaving { endAttempt(choice) }
      }
    }
  }

  private mutating func decideAboutReading(_ choice: RecoveryChoice, _ error: DocumentError) {
    switch choice {
    case .retryNow: if phase == .open { needsCheck = true }
    case .retryLater:
      readingError = nil
      wantsReading = phase == .open
    case .present, .saveElsewhere, .stopSaving: readingError = error
    }
  }

  /// The next attempt begins at once.
  ///
  /// A call whose operation has failed is still the first.
  private mutating func repeatOperation(_ ended: Running) {
    switch ended.operation {
    case .write: wantsAutosave = true
    case .place where ended.call == nil: wantsAutosave = true
    case .check: needsCheck = true
    case .merge: incoming = .found(unreadable: nil)
    case .listConflicts: needsConflicts = true
    // Contents that aren't kept yet, and calls, are still there.
    case .keep, .open, .load, .move, .delete, .copy, .place: break
    }
  }

  /// After a save has failed, and the program has decided what that means.
  private mutating func endAttempt(_ choice: RecoveryChoice) {
    switch choice {
    case .retryLater: savingError = nil
    case .stopSaving:
      isSavingStopped = true
      schedule.noteSaving()
    case .present, .retryNow, .saveElsewhere: break
    }
  }
}

extension DocumentCore.Running {
  /// Whether unsaved contents were to be saved, or to be made ready for that.
  var isSaving: Bool {
    switch operation {
    case .write: true
    case .keep, .place: call == nil
    case .open, .check, .merge, .load, .move, .delete, .copy, .listConflicts: false
    }
  }

  /// Whether a call that saves waits for its end, if there's one.
  var isForCalls: Bool { isSaving || operation == .merge }

  var activity: DocumentFailure.Activity {
    switch operation {
    case .open: .opening
    case .check: .reloading
    case .write: .saving
    case .merge: .merging
    case .keep: call == nil ? .keepingVersion : .reverting
    case .load: .reverting
    case .move: .moving
    case .delete: .deleting
    case .copy: .duplicating
    case .place: call == nil ? .saving : .savingElsewhere
    case .listConflicts: .listingConflicts
    }
  }
}
