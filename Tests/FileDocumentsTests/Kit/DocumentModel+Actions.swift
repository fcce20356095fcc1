import SystemInterface

@testable import FileDocuments

// The next actions, in any order.

extension DocumentModel {
  enum Choice: Hashable, Sendable {
    case succeed
    case fail
    /// The program doesn't want the document to save by itself.
    case refuse
    /// The new contents are in place, and an error is reported all the same.
    case failAfterwards
    case merge
    case takeTheirs
    case keepMine
    /// There are no versions, which the operation has found by the way.
    case findNoVersions
    /// The operation goes on looking for leftovers and versions.
    case search
  }

  enum Action: Hashable, Sendable {
    case begin(script: Int)
    case withdraw(CallID)
    case perform(Choice)
    case deliver
    case writer(Int)
    case stranger
    case notice
    case read
    case fireTimer
    case fireReadingTimer
    case takeLease
    case endLease
    /// Another program adds a conflict version, or resolves those that are there.
    case changeConflicts
    /// An announcement about versions arrives.
    case noticeVersions
    case endErrand(ErrandOutcome)
    /// Another program locks the file, or unlocks it.
    case changeLock
    case failJournal
    case endSearch(hasFound: Bool)
    case noticeSearch

    /// The actor's name, for schedules.
    var actor: String {
      switch self {
      case .begin(let script): "script \(script)"
      case .writer(let number): "writer \(number)"
      case .perform, .deliver, .endErrand: "operation"
      default: "\(self)"
      }
    }
  }

  func actions(_ scenario: DocumentScenario) -> [Action] {
    var actions: [Action] = []
    for (number, script) in scenario.scripts.enumerated() where positions[number] < script.count {
      if awaited[number] == nil { actions.append(.begin(script: number)) }
    }
    if withdrawalCount > 0 { actions += calls.keys.sorted { $0.number < $1.number }.map(Action.withdraw) }
    if let operation {
      actions += operation.outcome == nil ? choices(operation).map(Action.perform) : [.deliver]
    }
    for (number, writer) in writers.enumerated() where writer.stage != .gone { actions.append(.writer(number)) }
    if strangerCount > 0, file != nil { actions.append(.stranger) }
    if noticeCount > 0 { actions.append(.notice) }
    if readerCount > 0, session != nil { actions.append(.read) }
    // As long as the file is locked, it would only fire again.
    if timer != nil, !(core.isLocked && isFileLocked) { actions.append(.fireTimer) }
    if readingTimer != nil, hasReadingTries { actions.append(.fireReadingTimer) }
    actions += errandActions
    actions += searchActions
    if lockCount > 0, file != nil { actions.append(.changeLock) }
    if journalFailureCount > 0, core.phase != .closed { actions.append(.failJournal) }
    if leaseCount > 0 { actions.append(.takeLease) }
    if leasesTaken > 0 { actions.append(.endLease) }
    if conflicts.canChange { actions.append(.changeConflicts) }
    if conflicts.noticeCount > 0, session != nil { actions.append(.noticeVersions) }
    return actions
  }

  /// A file that the format can't read is read again without an end; more attempts lead to nothing else.
  private var hasReadingTries: Bool { file?.isReadable != false || core.failureCounts[.reloading, default: 0] < 2 }

  private func choices(_ operation: Operation) -> [Choice] {
    let failing: [Choice] = failureCount > 0 || operation.isCancelled ? [.fail] : []
    switch operation.kind {
    case .merge: return [.merge, .takeTheirs, .keepMine] + failing
    case .write:
      let refusals: [Choice] = operation.isAutomatic && refusalCount > 0 ? [.refuse] : []
      return [.succeed] + failing + (failureCount > 0 ? [.failAfterwards] : []) + refusals
    case .open where searches && file?.isReadable == true: return [.search] + failing
    case .open where conflicts.isCompared && !conflicts.areThere && file != nil:
      return [.succeed, .findNoVersions] + failing
    case .open, .check, .keep, .load, .move, .delete, .copy, .place, .listConflicts: return [.succeed] + failing
    }
  }

  mutating func act(_ action: Action, _ scenario: DocumentScenario, _ mutant: DocumentMutant? = nil) {
    switch action {
    case .begin(let number): begin(number, scenario.scripts[number][positions[number]], mutant)
    case .withdraw(let id):
      withdrawalCount -= 1
      receive(.withdrawn(id, .cancelled), mutant)
    case .perform(let choice): perform(choice, mutant)
    case .deliver: deliver(mutant)
    case .writer(let number): act(writer: number, mutant)
    case .stranger:
      strangerCount -= 1
      append()
      noticeCount += 1
    case .notice:
      noticeCount -= 1
      if session != nil { receive(.itemChanged, mutant) }
    case .read:
      readerCount -= 1
      lastQuestion += 1
      questions[QuestionID(lastQuestion)] = memory.contents?.marks ?? 0
      receive(.saveAsked(QuestionID(lastQuestion)), mutant)
    case .fireTimer:
      let time = timer ?? .zero
      timer = nil
      receive(.timerFired, at: time, mutant)
    case .fireReadingTimer:
      readingTimer = nil
      receive(.readingTimerFired, mutant)
    case .takeLease:
      leaseCount -= 1
      leasesTaken += 1
      receive(.leaseTaken, mutant)
    case .endLease:
      leasesTaken -= 1
      receive(.leaseEnded, mutant)
    case .changeConflicts: conflicts.change(isPresented: isPresented)
    case .endErrand(let outcome): end(outcome, mutant)
    case .changeLock:
      lockCount -= 1
      isFileLocked.toggle()
      noticeCount += 1
    case .failJournal:
      journalFailureCount -= 1
      receive(.journalNoted(DocumentError(.journalNotWritten, "failed")), mutant)
    case .endSearch(let hasFound): endSearch(hasFound)
    case .noticeSearch:
      search?.isNoticeUnderWay = false
      if let end = takeEndOfSearch() { feed(end, at: .zero, mutant) }
    case .noticeVersions:
      conflicts.noticeCount -= 1
      receive(.versionsChanged, mutant)
    }
    if file == nil { isFileLocked = false }
    if let file { stored |= file.marks }
    stored |= (versions.union(otherFiles)).reduce(0) { $0 | $1.marks }
  }

  private mutating func begin(_ script: Int, _ step: DocumentScenario.Step, _ mutant: DocumentMutant?) {
    switch step {
    case .call(let kind):
      positions[script] += 1
      call(kind, by: script, mutant)
    case .editRegardless:
      positions[script] += 1
      guard core.phase != .closed else { return }
      receive(.editedRegardless(.done, size: edit()), mutant)
    case .undo:
      positions[script] += 1
      guard core.phase != .closed, let mark = undoable.popLast() else { return }
      memory.contents?.marks &= ~mark
      forgiven |= mark
      receive(.editedRegardless(.undone, size: 1), mutant)
    case .edit where core.editingError == nil:
      positions[script] += 1
      receive(.edited(.done, size: edit()), mutant)
    case .edit where core.published.conditions.contains(.closed) && core.calls.isEmpty:
      // There's nothing to edit any more.
      positions[script] += 1
    // Nobody waits for the end of a lock: the program gives up.
    case .edit where core.editingError?.code == .locked: positions[script] += 1
    case .edit: call(.awaitEditing, by: script, mutant)
    }
  }

  private mutating func edit() -> Int {
    let mark = newMark()
    memory.contents?.marks |= mark
    undoable.append(mark)
    return 1
  }

  private mutating func call(_ kind: DocumentCall, by script: Int, _ mutant: DocumentMutant?) {
    lastCall += 1
    let id = CallID(lastCall)
    calls[id] = PendingCall(kind: kind, marks: memory.contents?.marks ?? 0)
    awaited[script] = id
    receive(.called(id, kind), mutant)
  }

  // MARK: - Other programs

  private mutating func append() {
    guard let text = file else { return }
    file = MarkedText(marks: text.marks | newMark(), isReadable: text.isReadable)
  }

  private mutating func act(writer number: Int, _ mutant: DocumentMutant?) {
    let deed = writers[number].deed
    let isHeard = writers[number].session != nil && writers[number].session == session
    switch writers[number].stage {
    case .outside:
      writers[number].session = session
      // The file that's there isn't presented yet; this writer has the former one.
      writers[number].isElsewhere = operation?.kind == .place && operation?.outcome == .done
      if session != nil {
        receive(.writerArrived, mutant)
        if deed == .delete || deed == .spare { receive(.deletionAsked, mutant) }
      }
      writers[number].stage = .arrived
    case .arrived:
      switch deed {
      case .append where writers[number].isElsewhere: otherFiles.insert(MarkedText(marks: newMark()))
      case _ where writers[number].isElsewhere: break
      case .append: append()
      case .spoil:
        append()
        file?.isReadable = false
      case .delete:
        forgiven |= file?.marks ?? 0
        file = nil
        isDeleted = true
      case .spare: break
      }
      // It began before the document was presented, or goes on after: an uncoordinated one for the document.
      let writes = deed == .append || deed == .spoil
      if !isHeard, writes, file != nil, !writers[number].isElsewhere { noticeCount += 1 }
      writers[number].stage = .acted
    case .acted:
      if isHeard, deed == .append || deed == .spoil { receive(.itemChanged, mutant) }
      writers[number].stage = .notified
    case .notified:
      if isHeard { receive(.writerLeft, mutant) }
      writers[number].stage = .gone
    case .gone: break
    }
  }

  // MARK: - Operations

  private mutating func deliver(_ mutant: DocumentMutant?) {
    guard let ended = operation, var outcome = ended.outcome else { return }
    operation = nil
    if let incoming = ended.incoming { memory.incoming = incoming }
    if loadsLate, outcome == .differs(unreadable: nil), !isLoaded(ended) {
      outcome = mutant == .takesUnread ? outcome : .differsUnread
      // Nobody looks at them; a class that reads by itself has those of the document.
      memory.incoming?.contents = memory.contents
    }
    // Edited since: the file lacks a part of the unsaved text.
    if loadsLate, ended.kind == .check, outcome == .done, core.revision != core.running?.revision {
      outcome = .differsUnread
    }
    memory.merged = ended.merged
    if let isLocked = ended.isLocked, isLocked != core.isLocked { receive(.lockSeen(isLocked), mutant) }
    if ended.isPlaced { receive(.placedAndFailed, mutant) }
    receive(.completed(outcome), mutant)
    if let end = takeEndOfSearch() { feed(end, at: .zero, mutant) }
  }

  private func isLoaded(_ ended: Operation) -> Bool {
    ended.kind == .check && ended.mayLoad && !core.published.hasUnsavedChanges
  }

  private mutating func perform(_ choice: Choice, _ mutant: DocumentMutant?) {
    guard let kind = operation?.kind else { return }
    if choice == .refuse {
      refusalCount -= 1
      operation?.outcome = .failed(DocumentError(.autosaveRefused, "refused"))
      return
    }
    if choice == .fail {
      if operation?.isCancelled == true {
        operation?.outcome = .failed(.cancelled)
      } else {
        failureCount -= 1
        operation?.outcome = .failed(Self.failure)
      }
      if kind == .listConflicts { conflicts.noteFailedListing() }
      if mutant == .ignoresFailure, kind == .write, let text = operation?.contents {
        operation?.incoming = Memory.Stored(text, text)
        operation?.outcome = .done
      }
      return
    }
    let outcome = outcome(of: kind, choice, mutant)
    operation?.outcome = outcome
    switch (kind, outcome) {
    case (.open, .done), (.open, .doneWithoutVersions), (.open, .doneSearching), (.check, .unchanged),
      (.check, .differs), (.check, .done), (.write, .done),
      (.place, .done), (.load(isElsewhere: false), .done):
      operation?.isLocked = isFileLocked
    default: break
    }
  }

  private static let failure = DocumentError(.coordination, "failed")

  private mutating func outcome(
    of kind: DocumentOperation, _ choice: Choice, _ mutant: DocumentMutant?
  ) -> OperationOutcome {
    let mine = operation?.contents ?? MarkedText()
    switch kind {
    case .open, .load(isElsewhere: false):
      guard let file else { return kind == .open ? .failed(Self.failure) : .missing }
      if !file.isReadable { return .failed(Self.failure) }
      operation?.incoming = Memory.Stored(file, file)
      if kind != .open { return .done }
      if choice == .search {
        conflicts.mayBeListed = false
        search = Search()
        return .doneSearching
      }
      let hasNone = choice == .findNoVersions || mutant == .neverLooksForVersions
      conflicts.mayBeListed = !hasNone
      return hasNone ? .doneWithoutVersions : .done
    case .load(isElsewhere: true):
      let text = MarkedText(marks: newMark())
      otherFiles.insert(text)
      operation?.incoming = Memory.Stored(text, text)
      return .done
    case .check:
      guard let file else { return .missing }
      if file == memory.base?.tag { return .unchanged }
      // Another program has written just what is unsaved.
      if file == mine, core.published.hasUnsavedChanges {
        operation?.incoming = Memory.Stored(mine, mine)
        return .done
      }
      return differs(file)
    case .write:
      guard let file else {
        if mutant != .recreates { return .missing }
        self.file = mine
        operation?.incoming = Memory.Stored(mine, mine)
        return .done
      }
      if file != memory.base?.tag, file != mine, mutant != .overwritesBlindly { return differs(file) }
      if isFileLocked, file != mine { return .failed(.locked) }
      self.file = mine
      if choice == .failAfterwards {
        failureCount -= 1
        if !loadsLate {
          operation?.incoming = Memory.Stored(mine, mine)
          operation?.isPlaced = true
        }
        return .failed(Self.failure)
      }
      operation?.incoming = Memory.Stored(mine, mine)
      return .done
    case .merge:
      switch choice {
      case .takeTheirs: return .tookTheirs
      case .keepMine: return .keptMine
      default:
        operation?.merged = MarkedText(marks: mine.marks | (memory.incoming?.contents?.marks ?? 0))
        operation?.incoming = memory.incoming
        return .merged
      }
    case .keep(let kept):
      if file == nil { return .failed(Self.failure) }
      if let text = kept == .mine ? mine : memory.incoming?.tag { versions.insert(text) }
      if kept == .mine { return .done }
      conflicts.add(isPresented: isPresented)
      if !rebases { return .done }
      operation?.merged = MarkedText(marks: mine.marks | (memory.incoming?.contents?.marks ?? 0))
      operation?.incoming = memory.incoming
      return .keptAndRebased
    case .move: return .done
    case .delete:
      if file == nil { return .failed(Self.failure) }
      forgiven |= file?.marks ?? 0
      file = nil
      return .done
    case .copy:
      guard let file else { return .failed(Self.failure) }
      otherFiles.insert(file)
      return .done
    case .place:
      if let file { otherFiles.insert(file) }
      file = mine
      for number in writers.indices where writers[number].stage == .arrived { writers[number].isElsewhere = true }
      isFileLocked = false
      isDeleted = false
      operation?.incoming = Memory.Stored(mine, mine)
      conflicts.startAnew()
      return .done
    case .listConflicts: return .conflicts(conflicts.isCompared ? conflicts.areThere : versions.count > 1)
    }
  }

  private mutating func differs(_ file: MarkedText) -> OperationOutcome {
    operation?.incoming = Memory.Stored(file.isReadable ? file : nil, file)
    return .differs(unreadable: file.isReadable ? nil : DocumentError(.unreadableContents, "spoiled"))
  }
}
