internal import SystemInterface

// After each event: all calls and questions end that can end, and the next operation begins.

extension DocumentCore {
  mutating func settle(at now: MonotonicTime, _ effects: inout [DocumentEffect]) {
    repeat {
      answerQuestions(&effects)
      finishSaves(&effects)
    } while !isBusy && step(at: now, &effects)
    finishWaitsForEditing(&effects)
  }

  private mutating func answerQuestions(_ effects: inout [DocumentEffect]) {
    let isSaved = phase != .open || !hasUnsavedChanges
    for question in questions where isSaved || savedRevision >= question.target {
      effects.append(.answer(question.id, nil))
    }
    questions.removeAll { isSaved || savedRevision >= $0.target }
  }

  /// Saves are finished by whatever has written the contents that they were about, also before their turn.
  private mutating func finishSaves(_ effects: inout [DocumentEffect]) {
    guard phase == .open else { return }
    for call in calls where call.kind == .save && savedRevision >= call.target { finish(call.id, nil, &effects) }
    while let call = firstCall, call.kind == .save, !hasUnsavedChanges { finish(call.id, nil, &effects) }
  }

  /// Those that wait behind the opening of the document go on waiting.
  private mutating func finishWaitsForEditing(_ effects: inout [DocumentEffect]) {
    let error = editingError
    guard error == nil || error?.code == .locked else { return }
    for call in calls where call.kind == .awaitEditing { finish(call.id, error, &effects) }
  }

  /// Does one thing, if there's one to do.
  ///
  /// - Returns: Whether there may be another one.
  private mutating func step(at now: MonotonicTime, _ effects: inout [DocumentEffect]) -> Bool {
    if needsConsultation {
      nextConsultation()
      return begin(.consult, &effects)
    }
    return switch phase {
    case .closed: stepWhileClosed(&effects)
    case .open: stepWhileOpen(&effects)
    case .detached: stepWhileDetached(&effects)
    }
  }

  private mutating func begin(
    _ operation: DocumentOperation, for call: CallID? = nil, _ effects: inout [DocumentEffect]
  ) -> Bool {
    precondition(!isBusy, "\(operation) beside \(String(describing: running)) or \(String(describing: errand))")
    running = Running(operation: operation, call: call, revision: revision, token: count.token)
    effects.append(.begin(operation, for: call))
    return false
  }

  private mutating func begin(
    _ kind: DocumentErrand, for call: CallID? = nil, _ effects: inout [DocumentEffect]
  ) -> Bool {
    precondition(!isBusy, "\(kind) beside \(String(describing: running)) or \(String(describing: errand))")
    errand = RunningErrand(kind: kind, call: call)
    effects.append(.beginErrand(kind, for: call))
    return false
  }

  // MARK: - Closed

  private mutating func stepWhileClosed(_ effects: inout [DocumentEffect]) -> Bool {
    guard let call = calls.first else { return false }
    switch call.kind {
    case .open:
      openingError = nil
      return begin(.open, for: call.id, &effects)
    case .create: return begin(.place, for: call.id, &effects)
    case .close: finish(call.id, nil, &effects)
    case .awaitEditing, .save, .revert, .move, .delete, .duplicate, .setLock, .saveElsewhere:
      finish(call.id, .notOpen, &effects)
    }
    return true
  }

  // MARK: - Open

  private mutating func stepWhileOpen(_ effects: inout [DocumentEffect]) -> Bool {
    if wantsPlace {
      wantsPlace = false
      return begin(.place, &effects)
    }
    if let incoming { return use(incoming, &effects) }
    if needsCheck {
      needsCheck = false
      wantsReading = false
      return begin(.check, &effects)
    }
    if hasUnsavedChanges, wantsAutosave || !questions.isEmpty || firstCall?.wantsSave == true {
      wantsAutosave = false
      schedule.noteSaving()
      return begin(.write, &effects)
    }
    wantsAutosave = false
    // Unsaved contents don't wait for that: a leftover may be large, and another program may have the file.
    if hasFoundSomething {
      hasFoundSomething = false
      needsConflicts = false
      return begin(.listConflicts, &effects)
    }
    if let call = firstCall { return carryOut(call, &effects) }
    if needsConflicts {
      needsConflicts = false
      return begin(.listConflicts, &effects)
    }
    return false
  }

  /// Carries out a call, when all contents that it requires to be saved are saved.
  private mutating func carryOut(_ call: Call, _ effects: inout [DocumentEffect]) -> Bool {
    switch call.kind {
    case .open:
      openCount += 1
      finish(call.id, nil, &effects)
    case .close:
      if openCount > 1 { openCount -= 1 } else { becomeClosed(&effects) }
      finish(call.id, nil, &effects)
    case .revert(let isElsewhere):
      // Contents from elsewhere will overwrite also what is saved.
      if hasUnsavedChanges || isElsewhere, call.keptRevision != revision {
        return begin(.keep(.mine), for: call.id, &effects)
      }
      return begin(.load(isElsewhere: isElsewhere), for: call.id, &effects)
    case .move: return begin(.move, for: call.id, &effects)
    case .delete: return begin(.delete, for: call.id, &effects)
    case .duplicate: return begin(.copy, for: call.id, &effects)
    case .setLock(let isLocked): return begin(.setLock(isLocked), for: call.id, &effects)
    case .saveElsewhere, .create: return begin(.place, for: call.id, &effects)
    case .save: finish(call.id, nil, &effects)
    case .awaitEditing: preconditionFailure("waiting for the end of obstacles has no turn")
    }
    return true
  }

  /// Decides about what another program wrote.
  private mutating func use(_ incoming: Incoming, _ effects: inout [DocumentEffect]) -> Bool {
    switch incoming {
    case .found(let unreadable) where !hasUnsavedChanges:
      self.incoming = nil
      if let unreadable {
        effects.append(.change(.dropIncoming))
        noteUnreadable(unreadable)
      } else {
        readingError = nil
        effects.append(.change(.adoptIncoming))
        noteSavedContents()
      }
      return true
    case .unread where !hasUnsavedChanges:
      self.incoming = nil
      effects.append(.change(.dropIncoming))
      needsCheck = true
      return true
    case .found(nil) where hasMerge:
      self.incoming = .merging
      return begin(.merge, &effects)
    case .found, .unread, .keepingTheirs:
      self.incoming = .keepingTheirs
      return begin(.keep(.theirs), &effects)
    case .keepingMine: return begin(.keep(.mine), &effects)
    case .merging: preconditionFailure("merging without an operation")
    }
  }

  // MARK: - Detached

  private mutating func stepWhileDetached(_ effects: inout [DocumentEffect]) -> Bool {
    guard let call = firstCall else { return false }
    switch call.kind {
    case .saveElsewhere, .create: return begin(.place, for: call.id, &effects)
    case .close(let isDiscarding):
      if openCount > 1 {
        openCount -= 1
      } else if hasUnsavedChanges, !isDiscarding {
        finish(call.id, .fileDeleted, &effects)
        return true
      } else {
        becomeClosed(&effects)
      }
      finish(call.id, nil, &effects)
    case .open, .awaitEditing, .save, .revert, .move, .delete, .duplicate, .setLock:
      finish(call.id, .fileDeleted, &effects)
    }
    return true
  }

  // MARK: - Changes of the phase

  /// Other contents are here, and they're in the file.
  mutating func noteSavedContents() {
    revision += 1
    savedRevision = revision
    count.restart()
    schedule.noteSaving()
    wantsAutosave = false
    isSavingStopped = false
  }

  mutating func becomeClosed(_ effects: inout [DocumentEffect]) {
    effects += phase == .open ? [.unpresent, .change(.forget)] : [.change(.forget)]
    phase = .closed
    noteSavedContents()
    openCount = 0
    journalError = nil
    failureCounts = [:]
    forgetFile()
    savingError = nil
    readingError = nil
  }

  /// The file is gone.
  ///
  /// The contents stay, and nothing is ever written where it was.
  mutating func becomeDetached(_ effects: inout [DocumentEffect]) {
    effects.append(.unpresent)
    if incoming != nil { effects.append(.change(.dropIncoming)) }
    phase = .detached
    forgetFile()
  }

  private mutating func forgetFile() {
    incoming = nil
    needsCheck = false
    needsConflicts = false
    hasFoundSomething = false
    hasConflicts = false
    writerCount = 0
    isDeletionAnnounced = false
    wantsReading = false
    overtakenCount = 0
    wantsAutosave = false
    wantsPlace = false
    isLocked = false
  }
}

extension DocumentCore.Call {
  /// Whether what is unsaved has to be saved when it's the call's turn.
  var wantsSave: Bool {
    switch kind {
    case .save, .duplicate, .close(isDiscarding: false), .setLock(true): true
    case .open, .awaitEditing, .close, .revert, .move, .delete, .setLock, .saveElsewhere, .create: false
    }
  }
}
