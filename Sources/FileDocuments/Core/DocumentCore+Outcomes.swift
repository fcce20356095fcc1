internal import SystemInterface

// How each operation can end, and what that changes.

extension DocumentCore {
  mutating func complete(
    _ ended: Running, _ outcome: OperationOutcome, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    switch (ended.operation, outcome) {
    case (.open, .done), (.open, .doneWithoutVersions):
      phase = .open
      needsConflicts = outcome == .done
      effects += [.present, .change(.adoptIncoming)]
      noteSavedContents()
    case (.open, .doneSearching):
      phase = .open
      isSearching = true
      effects += [.present, .change(.adoptIncoming)]
      noteSavedContents()
      openCount += 1
      finishCall(of: ended, nil, &effects)
    case (.open, .failed(let error)):
      openingError = error
      finishCall(of: ended, error, &effects)

    case (.check, .unchanged):
      readingError = nil
      noteThere()
    case (.check, .done):
      noteThere()
      noteWritten(ended, at: now, &effects)
    case (.check, .differs(let unreadable)):
      incoming = .found(unreadable: unreadable)
      noteThere()
    case (.check, .differsUnread):
      incoming = .unread
      noteThere()
    case (.check, .failed(let error)): readingError = error
    case (.check, .missing), (.write, .missing): becomeDetached(&effects)

    case (.write, .done): noteWritten(ended, at: now, &effects)
    case (.write, .differs(let unreadable)):
      incoming = .found(unreadable: unreadable)
      // The request that led to this write leads to the next one.
      wantsAutosave = true
    case (.write, .differsUnread):
      incoming = .unread
      wantsAutosave = true
    case (.write, .failed(let error)): noteSavingError(error, ended, at: now, &effects)

    // Edited all the same: the merged contents aren't the present ones.
    case (.merge, _) where revision != ended.revision, (.keep, .keptAndRebased) where revision != ended.revision:
      incoming = .found(unreadable: nil)
    case (.merge, .merged):
      incoming = nil
      effects.append(.change(.useMerged))
      noteChangedContents(at: now)
    case (.merge, .tookTheirs): incoming = .keepingMine
    case (.merge, .keptMine), (.merge, .failed): incoming = .keepingTheirs

    case (.keep(let kept), .done), (.keep(let kept), .keptAndRebased):
      noteKept(kept, isRebased: outcome == .keptAndRebased, ended, at: now, &effects)
    case (.keep, .failed(let error)): noteNotKept(error, ended, at: now, &effects)

    case (.load, .done) where revision != ended.revision: noteOutdated(ended, &effects)
    case (.load(isElsewhere: false), .done):
      effects.append(.change(.adoptIncoming))
      noteSavedContents()
      savingError = nil
      readingError = nil
      finishCall(of: ended, nil, &effects)
    case (.load(isElsewhere: true), .done):
      effects.append(.change(.useIncoming))
      noteChangedContents(at: now)
      finishCall(of: ended, nil, &effects)
    case (.load(isElsewhere: false), .missing):
      becomeDetached(&effects)
      finishCall(of: ended, .fileDeleted, &effects)

    case (.delete, .done):
      becomeClosed(&effects)
      finishCall(of: ended, nil, &effects)
    case (.place, .done):
      notePlaced(ended, at: now, &effects)
      finishCall(of: ended, nil, &effects)
    case (.place, .failed(let error)) where ended.call == nil: noteSavingError(error, ended, at: now, &effects)
    case (.move, .done), (.copy, .done): finishCall(of: ended, nil, &effects)
    case (.load, .failed(let error)), (.move, .failed(let error)), (.delete, .failed(let error)),
      (.copy, .failed(let error)), (.place, .failed(let error)):
      finishCall(of: ended, error, &effects)

    case (.listConflicts, .conflicts(let hasConflicts)): self.hasConflicts = hasConflicts
    // The next change of the versions lists them again.
    case (.listConflicts, .failed): break
    default: preconditionFailure("\(ended.operation) ended with \(outcome)")
    }
  }

  /// How often in a row a save puts its contents on top of those of another program, each of which becomes a version.
  ///
  /// Two documents that save all the time overtake each other every other time: eight times in a row within some minutes, and so many never.
  static var overtakenCountMax: Int { 32 }

  /// Ends a save that has no end: a program that writes without a pause would fill the disk with versions, and calls that wait for the save
  /// would never end.
  mutating func limited(
    _ outcome: OperationOutcome, of ended: Running, _ effects: inout [DocumentEffect]
  ) -> OperationOutcome {
    guard case .write = ended.operation, outcome.isDifference else { return outcome }
    if overtakenCount < Self.overtakenCountMax {
      overtakenCount += 1
      return outcome
    }
    effects.append(.change(.dropIncoming))
    return .failed(.overtaken)
  }

  private mutating func finishCall(of ended: Running, _ error: DocumentError?, _ effects: inout [DocumentEffect]) {
    if let call = ended.call { finish(call, error, &effects) }
  }

  /// Edited all the same: that has to be kept before it's dropped, and the call goes on.
  private mutating func noteOutdated(_ ended: Running, _ effects: inout [DocumentEffect]) {
    effects.append(.change(.dropIncoming))
    let isWithdrawn = calls.contains { $0.id == ended.call && $0.withdrawal != nil }
    if isWithdrawn { finishCall(of: ended, .cancelled, &effects) }
  }

  /// The file was there after the last announcement of a deletion, if its author has ended.
  private mutating func noteThere() { if writerCount == 0 { isDeletionAnnounced = false } }

  /// Other contents are here, and they aren't in the file.
  private mutating func noteChangedContents(at now: MonotonicTime) {
    revision += 1
    count.noteOtherSaved()
    count.note(.done)
    _ = schedule.noteEdit(size: 0, at: now)
    wantsAutosave = true
    isSavingStopped = false
  }

  // MARK: - Writing

  private mutating func noteWritten(
    _ ended: Running, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    effects.append(.change(.noteWritten))
    overtakenCount = 0
    savedRevision = max(savedRevision, ended.revision)
    count.noteSaved(ended.token)
    savingError = nil
    readingError = nil
    isSavingStopped = false
    if hasUnsavedChanges { scheduleUnsaved(at: now) } else { schedule.noteSaving() }
    for index in calls.indices where calls[index].kind == .save && calls[index].target <= ended.revision {
      calls[index].didSave = true
    }
    if let first = firstCall, first.wantsSave, let index = calls.firstIndex(where: { $0.id == first.id }) {
      calls[index].didSave = true
    }
  }

  /// The text in the file is the document's own, and no text of another program.
  ///
  /// It counts as unsaved, and no undoing leads to it.
  mutating func notePlacedAndFailed(_ effects: inout [DocumentEffect]) {
    effects.append(.change(.rebase))
    count.noteOtherSaved()
  }

  /// Contents that count as unsaved now may have been saved ones a moment ago, which had no time to be saved at.
  private mutating func scheduleUnsaved(at now: MonotonicTime) {
    if schedule.due == nil { _ = schedule.noteEdit(size: 0, at: now) }
  }

  /// Calls that waited for the write end with its error; later ones have a write of their own.
  mutating func noteSavingError(
    _ error: DocumentError, _ ended: Running, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    savingError = error
    // The next save begins a row of its own, whatever ended this one: the other program may have been stopped.
    overtakenCount = 0
    // Another place that's locked says nothing about the document's own file.
    if error.code == .locked, ended.operation == .write { isLocked = true }
    // The timer begins the next attempt, or another request.
    wantsAutosave = false
    schedule.noteFailure(at: now)
    for question in questions where question.target <= ended.revision { effects.append(.answer(question.id, error)) }
    questions.removeAll { $0.target <= ended.revision }
    // A save that was asked for meanwhile isn't refused: the next write is its own.
    if error.code == .autosaveRefused { return }
    if let first = firstCall, first.wantsSave, first.kind != .save { finish(first.id, error, &effects) }
    for call in calls where call.kind == .save && call.target <= ended.revision && call.target > savedRevision {
      finish(call.id, error, &effects)
    }
  }

  // MARK: - Versions

  private mutating func noteKept(
    _ kept: KeptContents, isRebased: Bool, _ ended: Running, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    switch (incoming, kept) {
    // Everything was taken back meanwhile: the contents of the other program are the document's.
    case (.keepingTheirs, .theirs) where !hasUnsavedChanges:
      incoming = nil
      needsCheck = true
      effects.append(.change(.dropIncoming))
    case (.keepingTheirs, .theirs):
      incoming = nil
      readingError = nil
      effects.append(.change(isRebased ? .useMerged : .rebase))
      if isRebased { revision += 1 }
      count.noteOtherSaved()
      scheduleUnsaved(at: now)
    // Edited all the same: that isn't kept yet.
    case (.keepingMine, .mine) where revision != ended.revision: break
    case (.keepingMine, .mine):
      incoming = nil
      effects.append(.change(.adoptIncoming))
      noteSavedContents()
    case (nil, .mine):
      guard let index = calls.firstIndex(where: { $0.id == ended.call }) else { return }
      calls[index].keptRevision = ended.revision
      if let withdrawal = calls[index].withdrawal { finish(calls[index].id, withdrawal.error, &effects) }
    default: preconditionFailure("kept \(kept) with \(String(describing: incoming))")
    }
  }

  /// Without a version nothing is overwritten or discarded: the next save finds both texts again.
  private mutating func noteNotKept(
    _ error: DocumentError, _ ended: Running, at now: MonotonicTime, _ effects: inout [DocumentEffect]
  ) {
    if ended.call != nil { return finishCall(of: ended, error, &effects) }
    incoming = nil
    effects.append(.change(.dropIncoming))
    noteSavingError(error, ended, at: now, &effects)
  }

  // MARK: - Another place

  private mutating func notePlaced(_ ended: Running, at now: MonotonicTime, _ effects: inout [DocumentEffect]) {
    phase = .open
    openingError = nil
    openCount = max(openCount, 1)
    effects += [.present, .change(.noteWritten)]
    savedRevision = max(savedRevision, ended.revision)
    count.noteSaved(ended.token)
    savingError = nil
    readingError = nil
    // All that was known was about the former file.
    needsCheck = false
    wantsReading = false
    hasConflicts = false
    needsConflicts = true
    writerCount = 0
    isDeletionAnnounced = false
    isSavingStopped = false
    if hasUnsavedChanges { _ = schedule.noteEdit(size: 0, at: now) }
  }
}
