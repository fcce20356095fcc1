internal import FileCoordination
internal import FoundationEssentials
internal import Observation
internal import SystemInterface

// From events to effects, and from effects to actions.

extension FileDocument {
  /// Feeds the core, and carries out what it says in one go.
  ///
  /// The end of a search, about which nobody was notified, comes first.
  func receive(_ event: DocumentEvent) {
    noteEndOfSearch()
    feed(event)
    if !needsEndOfSearch { return }
    needsEndOfSearch = false
    if search?.expectEnd() == true { noteEndOfSearch() }
  }

  /// Notices that the search has ended which the last open has begun.
  func noteEndOfSearch() {
    guard core.isSearching, let hasFound = search?.hasFound else { return }
    search = nil
    feed(.searchEnded(hasFound: hasFound))
  }

  private func feed(_ event: DocumentEvent) {
    let former = presence
    for effect in core.receive(event, at: options.clock.now) { carryOut(effect) }
    noteForJournal()
    if let presence, presence !== former, presence.presenter.hasMissedMessages {
      receive(.itemChanged)
      receive(.versionsChanged)
    }
  }

  /// Publishes an edit after which all is as before, except for the revision, and the steps that can be undone.
  func publishRevision() {
    noteForJournal()
    noteMutation {
      board.put(core.published.revision, canUndo: undoSteps.canUndo, canRedo: undoSteps.canRedo)
    }
  }

  /// Somebody looks at the snapshot, and is perhaps to be notified of the next change.
  nonisolated func noteAccess() {
    let path = snapshotPath.withLock { path in
      let known = path ?? \FileDocument.snapshot
      path = known
      return known
    }
    registrar.access(self, keyPath: path)
  }

  /// Changes the snapshot, and notifies observers.
  ///
  /// As long as nobody has looked at it, there's nobody to notify. Those who look first in the moment of the change get the new one, or are
  /// found afterwards.
  nonisolated private func noteMutation(_ change: () -> Void) {
    if let path = snapshotPath.withLock({ $0 }) { return registrar.withMutation(of: self, keyPath: path, change) }
    change()
    if let path = snapshotPath.withLock({ $0 }) { registrar.withMutation(of: self, keyPath: path) {} }
  }

  private func carryOut(_ effect: DocumentEffect) {
    switch effect {
    case .begin(let kind, let call): begin(kind, for: call)
    case .beginErrand(let errand, let call): begin(errand, for: call)
    case .cancelOperation: operation?.cancel()
    case .change(let change):
      memory.apply(change)
      if change.replacesContents { undoSteps.removeAll() }
      incomingBytes = nil
      if change == .forget {
        tokenContents = nil
        TerminationFlush.leave(self)
      }
    case .present:
      TerminationFlush.leave(self)
      presence?.leave()
      presence = arrivingPresence
      arrivingPresence = nil
    case .unpresent:
      presence?.leave()
      presence = nil
      hasMadeFile = false
      // The registry has it no more, and what is unsaved is only here.
      if core.phase == .detached { TerminationFlush.enter(self) }
    case .finish(let id, let error, let didSave):
      arguments[id] = nil
      callResults[id] = error.map { .failure($0.ofDocument(thatIsPackage: isPackage)) } ?? .success(didSave)
      waitingCalls.wake(id)
    case .answer(let id, let error): waitingQuestions.removeValue(forKey: id)?.resume(returning: error)
    case .armTimer(let time):
      _ = options.clock.schedule(at: time) { [weak self] in Task { await self?.receive(.timerFired) } }
    case .armReadingTimer(let time):
      _ = options.clock.schedule(at: time) { [weak self] in Task { await self?.receive(.readingTimerFired) } }
    case .awaitSearch: needsEndOfSearch = true
    case .retryJournal: retryJournal()
    case .publish(let state): publish(state)
    }
  }

  private func begin(_ kind: DocumentOperation, for call: CallID?) {
    let work = work(for: call, at: kind == .place ? decidedPlace : nil)
    decidedPlace = nil
    // A member of a package is replaced without a look at the permissions of that.
    let refusal = work.argument.member != nil && core.isLocked ? DocumentError.locked : nil
    var document: FileDocument? = self
    operation = Offload.begin { [weak self, waitingCalls] in
      guard let search = await document.take()?.perform(kind, work, refusal) else { return }
      // Nothing here keeps a document that's dropped meanwhile: another one may open its file.
      if search.run(), !waitingCalls.hand(.search) { await self?.noteEndOfSearch() }
    }
  }

  /// Performs an operation, and hands its result over.
  ///
  /// - Returns: The search that goes on, if there's one.
  nonisolated private func perform(
    _ kind: DocumentOperation, _ work: DocumentWork<Contents>, _ refusal: DocumentError?
  ) async -> DocumentSearch? {
    let result =
      if let refusal {
        DocumentWork<Contents>.Result(.failed(refusal))
      } else {
        await work.performWithGrant(kind)
      }
    // Taken out before the document has the result.
    let search = result.search
    if !waitingCalls.hand(.operation(kind, result)) { await complete(kind, result) }
    return search
  }

  /// Work with everything as it is now.
  ///
  /// - Parameters:
  ///   - call: The call that it's for, whose arguments it has.
  ///   - place: Other arguments, for work without a call.
  /// - Returns: The work.
  func work(for call: CallID?, at place: CallArgument<Contents>? = nil) -> DocumentWork<Contents> {
    let (options, arrivingGrant) = (options, Guarded<DocumentGrant?>(nil))
    var argument = call.flatMap { arguments[$0] } ?? place ?? CallArgument(url: board.snapshot.url)
    // Since the call was made, the file may have been moved to another directory.
    if let name = argument.name, let presence { argument.url = presence.presenter.url.sibling(named: name) }
    return DocumentWork(
      format: format, traits: traits, options: options, memory: memory, incomingBytes: incomingBytes,
      presence: presence,
      isDeletionAnnounced: core.isDeletionAnnounced, argument: argument, isAutomatic: !core.hasSavingCall,
      mayHaveOwnText: core.published.hasUnsavedChanges || memory.noted != nil, arrivingGrant: arrivingGrant,
      progress: { [weak self] in self?.note($0) }
    ) { [weak self] url throws(DocumentError) in
      guard let self else { throw .cancelled }
      let presence = try DocumentPresence(
        url, of: self, in: options.domain, observes: options.observesUncoordinatedChanges, options.presenterExecutor)
      if let grant = arrivingGrant.withLock({ $0.take() }) { presence.adopt(grant) }
      return presence
    }
  }

  /// Feeds the core with the end of the operation that runs, and takes over what it has read, written or registered.
  func complete(_ kind: DocumentOperation, _ result: OperationResult) {
    guard let result = result as? DocumentWork<Contents>.Result else {
      preconditionFailure("the result of another document")
    }
    operation = nil
    if let search = result.search { self.search = search }
    if let incoming = result.incoming {
      memory.incoming = incoming
      incomingBytes = result.incomingBytes
    }
    memory.merged = result.merged
    adoptWrittenPackage(kind, result)
    arrivingPresence = result.presence
    if let date = result.modificationDate { modificationDate = date }
    if let isWritable = result.isWritable { self.isWritable = isWritable }
    if let isLocked = result.isLocked, isLocked != core.isLocked { receive(.lockSeen(isLocked)) }
    if result.outcome != .failed(.cancelled) { noteDraft(kind, result) }
    if result.isPlaced { receive(.placedAndFailed) }
    receive(.completed(result.outcome))
    if presence?.takesNoticeOfFollowing() == true { receive(.versionsChanged) }
    // The notice of a search that has ended by now may have come too early.
    noteEndOfSearch()
    // The place of the file, and its date, are no concern of the core.
    publish(core.published)
    renewGrantIfMoved()
  }

  func publish(_ state: DocumentState) {
    let former = board.snapshot
    var snapshot = former
    snapshot.state = state
    journaling?.describe(in: &snapshot.state)
    snapshot.fileModificationDate = modificationDate
    snapshot.isWritable = isWritable
    snapshot.canUndo = undoSteps.canUndo
    snapshot.canRedo = undoSteps.canRedo
    snapshot.isDraft = hasMadeFile
    snapshot.versionsRevision = versionsRevision
    let place = presence.map {
      PublishedPlace(presenter: ObjectIdentifier($0.presenter), moveCount: $0.presenter.moveCount)
    }
    var hasMoved = false
    if let presence, place != publishedPlace {
      snapshot.url = presence.presenter.url
      hasMoved = snapshot.url != former.url
    }
    publishedPlace = place
    if snapshot.progress != nil { snapshot.state.conditions.insert(.progressAvailable) }
    if snapshot == former { return }
    noteMutation { board.put(snapshot) }
    if hasMoved { noteMoveForJournal() }
    if options.errorHandler != nil, !isRetryingJournal, snapshot.state.journalError != notedJournalError {
      // After the effect that is being carried out, and those that follow it.
      Task { noteJournalError() }
    }
  }

  /// Comes from the thread that reads or writes.
  nonisolated private func note(_ progress: DocumentProgress?) {
    guard board.hasOther(progress) else { return }
    noteMutation { board.put(progress) }
  }
}

extension FileDocument: DocumentMessageReceiver {
  nonisolated var isPackage: Bool { traits.isPackage }

  private func isPresent(_ presenter: DocumentPresenter) -> Bool {
    if presence?.presenter === presenter { return true }
    presenter.noteMissedMessage()
    return false
  }

  func writerArrived(for presenter: DocumentPresenter) -> Bool {
    guard isPresent(presenter) else { return false }
    receive(.writerArrived)
    return true
  }

  func writerLeft(for presenter: DocumentPresenter) { if isPresent(presenter) { receive(.writerLeft) } }

  func saveAsked(of presenter: DocumentPresenter) async throws {
    guard isPresent(presenter) else { return }
    lastQuestion += 1
    let id = QuestionID(lastQuestion)
    let error = await withCheckedContinuation { continuation in
      waitingQuestions[id] = continuation
      receive(.saveAsked(id))
    }
    if let error { throw error }
  }

  func deletionAsked(of presenter: DocumentPresenter) { if isPresent(presenter) { receive(.deletionAsked) } }

  func itemChanged(for presenter: DocumentPresenter) { if isPresent(presenter) { receive(.itemChanged) } }

  func itemMoved(for presenter: DocumentPresenter) {
    guard isPresent(presenter) else { return }
    presence?.noteMoved()
    // A listing before this news came looked at the former place.
    receive(.versionsChanged)
    publish(core.published)
    renewGrantIfMoved()
  }

  func versionsChanged(for presenter: DocumentPresenter) {
    guard isPresent(presenter) else { return }
    versionsRevision += 1
    receive(.versionsChanged)
    publish(core.published)
  }
}
