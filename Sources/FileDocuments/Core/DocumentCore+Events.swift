internal import SystemInterface

// The changes of state at each event. Settling decides what follows from them.

extension DocumentCore {
  mutating func note(_ event: DocumentEvent, at now: MonotonicTime, _ effects: inout [DocumentEffect]) {
    switch event {
    case .called(let id, let kind): calls.append(Call(id: id, kind: kind, target: revision))
    case .withdrawn(let id, let withdrawal): withdraw(id, withdrawal, &effects)
    case .edited(let edit, let size):
      precondition(editingError == nil, "edited while \(editingObstacles)")
      noteEdit(edit, size, at: now)
    case .editedRegardless(let edit, let size): if phase != .closed { noteEdit(edit, size, at: now) }
    case .leaseTaken: leaseCount += 1
    case .leaseEnded:
      precondition(leaseCount > 0, "a lease ended that wasn't taken")
      leaseCount -= 1
    case .tokenSaved(let token): noteToken(token, at: now)
    case .writerArrived: if phase == .open { writerCount += 1 }
    case .writerLeft: noteWriterLeft()
    case .saveAsked(let id): questions.append(Question(id: id, target: revision))
    case .deletionAsked: if phase == .open { isDeletionAnnounced = true }
    case .itemChanged: if phase == .open { needsCheck = true }
    case .versionsChanged: if phase == .open { needsConflicts = true }
    case .lockSeen(let isLocked): noteLock(isLocked)
    case .placedAndFailed: notePlacedAndFailed(&effects)
    case .journalNoted(let error): noteJournal(error)
    case .timerFired: noteTimer(at: now)
    case .readingTimerFired: noteReadingTimer()
    case .completed(let outcome):
      guard let running else { preconditionFailure("\(outcome) without an operation") }
      self.running = nil
      let outcome = limited(outcome, of: running, &effects)
      if consults(about: running, outcome) { return }
      complete(running, outcome, at: now, &effects)
    case .searchEnded(let hasFound):
      precondition(isSearching, "the end of a search that hasn't begun")
      (isSearching, isSearchAwaited) = (false, false)
      hasFoundSomething = hasFound
    case .errandEnded(let outcome):
      guard let errand else { preconditionFailure("\(outcome) without an errand") }
      self.errand = nil
      complete(errand, outcome, at: now, &effects)
    }
  }

  private mutating func noteEdit(_ edit: DocumentEdit, _ size: Int, at now: MonotonicTime) {
    count.note(edit)
    revision += 1
    isSavingStopped = false
    guard hasUnsavedChanges else { return schedule.noteSaving() }
    if schedule.noteEdit(size: size, at: now) { wantsAutosave = true }
  }

  private mutating func noteToken(_ token: DocumentEditToken, at now: MonotonicTime) {
    count.noteSaved(token)
    if !hasUnsavedChanges {
      schedule.noteSaving()
    } else if schedule.due == nil {
      _ = schedule.noteEdit(size: 0, at: now)
    }
  }

  private mutating func noteWriterLeft() {
    guard phase == .open, writerCount > 0 else { return }
    writerCount -= 1
    // The file is read before anything can be edited again: the news of the write may come later. And nobody reports the end of a
    // deletion, nor that it didn't take place.
    needsCheck = true
  }

  private mutating func noteTimer(at now: MonotonicTime) {
    isTimerArmed = false
    if phase == .open, hasUnsavedChanges, let due = schedule.due, due <= now { wantsAutosave = true }
  }

  /// A check that has succeeded since, or a closed document, needs no further one.
  private mutating func noteReadingTimer() {
    isReadingTimerArmed = false
    if wantsReading, phase == .open { needsCheck = true }
    wantsReading = false
  }

  /// A call whose own operation runs ends with that; others end at once.
  private mutating func withdraw(_ id: CallID, _ withdrawal: Withdrawal, _ effects: inout [DocumentEffect]) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    if running?.call == id || errand?.call == id {
      if calls[index].withdrawal == nil { effects.append(.cancelOperation) }
      calls[index].withdrawal = calls[index].withdrawal ?? withdrawal
    } else {
      finish(id, withdrawal.error, &effects)
    }
  }

  mutating func finish(_ id: CallID, _ error: DocumentError?, _ effects: inout [DocumentEffect]) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    let call = calls.remove(at: index)
    let isCancelled = error?.code == .cancelled || error?.code == .coordination || error?.code == .timedOut
    effects.append(.finish(id, isCancelled ? call.withdrawal?.error ?? error : error, didSave: call.didSave))
  }
}
