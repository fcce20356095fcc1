#if !canImport(ObjectiveC)
  internal import FileCoordination
  internal import FileDocuments
  internal import Foundation
  internal import SystemInterface

  /// Feeds the core of a document, and carries out what it says.
  ///
  /// The orders of the core change this object without calling the program. The calls of the program that follow from it wait in
  /// `turns` until that's done, and run in their order; each may call the document again.
  @MainActor final class DocumentRunner {
    struct Snapshot {
      let revision: UInt64
      let contents: SharedReference<Any>
    }

    private(set) weak var document: UIDocument?
    private(set) var core = DocumentCore(autosave: .standard, hasMerge: false)
    var memory = DocumentMemory<Void, FileStamp>()
    private let clock = CompatibilityDomain.current.configuration.clock
    private var turns: [@MainActor () -> Void] = []

    private var lastNumber: UInt64 = 0
    private var handlers: [CallID: @MainActor (Bool) -> Void] = [:]
    var places: [CallID: URL] = [:]
    private var answers: [QuestionID: @Sendable ((any Error)?) -> Void] = [:]

    /// Saves that the program has asked for, and that aren't finished.
    private var saves: Set<CallID> = []
    /// The core has ordered a write, and the document's class is asked to save: the number of that call, until it's carried out.
    private var pendingAsk: UInt64?
    private var askCount: UInt64 = 0
    /// How often other programs have asked to write, now and when the document's class was asked to save.
    private var (writerCount, writerCountAtAsk): (UInt64, UInt64?) = (0, 0)
    /// Contents that were taken for a save that waits for its turn, and the revision that they are of.
    var snapshot: Snapshot?
    /// The same of saves to other places.
    private var placeSnapshots: [CallID: Snapshot] = [:]
    /// The last call whose operation has begun.
    private var begunCall: CallID?
    /// Handlers of saves whose write found what another program had written: the next write is theirs.
    private var heldHandlers: [DocumentHandler] = []

    /// Edits of a closed document: they're those of the file that it makes.
    private var earlyCount = EditCount()
    private var isPresented = false
    /// Grows when the document becomes that of a file: writers of a former one don't concern it.
    private var presentationNumber: UInt64 = 0
    /// A message came after the presenter was registered and before the document was open.
    private var hasMissedMessages = false
    /// Whether the presenter is at a new place that the core doesn't know yet: messages aren't about the place that it knows.
    nonisolated let isPresentedElsewhere = Guarded(false)
    private var isEditingDisabled = false
    var isWriting = false
    /// The contents with which the operation began.
    private(set) var operationRevision: UInt64 = 0

    init(_ document: UIDocument) { self.document = document }

    // MARK: - The core

    func receive(_ event: DocumentEvent) {
      for effect in core.receive(event, at: clock.now) { carryOut(effect) }
      while !turns.isEmpty { turns.removeFirst()() }
    }

    private func carryOut(_ effect: DocumentEffect) {
      switch effect {
      case .begin(let operation, let call):
        operationRevision = core.published.revision
        turns.append { self.begin(operation, call) }
      case .cancelOperation: preconditionFailure("no call of a document is withdrawn")
      case .beginErrand, .awaitSearch, .retryJournal: preconditionFailure("no document has this: \(effect)")
      case .change(let change):
        memory.apply(change)
        document?.ownWrites.expect(memory.base?.tag)
        if change == .forget { earlyCount.restart() }
      case .present:
        isPresented = true
        isPresentedElsewhere.withLock { $0 = false }
        presentationNumber += 1
        TerminationFlush.enter(self)
        if hasMissedMessages { turns.append { self.receive(.itemChanged) } }
        hasMissedMessages = false
        let wasEdited = earlyCount.hasChanges
        earlyCount.restart()
        if wasEdited { turns.append { self.noteEditsWhileOpening() } }
      case .unpresent:
        isPresented = false
        TerminationFlush.leave(self)
        if let document {
          NSFileCoordinator.removeFilePresenter(document)
          document.neighbour.leave()
        }
      case .finish(let id, let error, didSave: _):
        places[id] = nil
        placeSnapshots[id] = nil
        saves.remove(id)
        if saves.isEmpty { snapshot = nil }
        guard let handler = handlers.removeValue(forKey: id) else { return }
        turns.append {
          if let error, error.hasNoOperation { self.report(error) }
          handler(error == nil)
        }
      case .answer(let id, let error): answers.removeValue(forKey: id)?(error.map(\.programError))
      case .armTimer(let time): schedule(.timerFired, at: time)
      case .armReadingTimer(let time): schedule(.readingTimerFired, at: time)
      case .publish(let state): publish(UIDocument.State(state))
      }
    }

    private func schedule(_ event: DocumentEvent, at time: MonotonicTime) {
      _ = clock.schedule(at: time) { [weak self] in MainTurns.later { [weak self] in self?.receive(event) } }
    }

    /// Counts edits that were made while the file was being made: they may be missing from it.
    private func noteEditsWhileOpening() { receive(.editedRegardless(.done, size: 1)) }

    private func publish(_ state: UIDocument.State) {
      guard let document else { return }
      let former = document.facts.withLock { facts in
        // The progress comes from elsewhere.
        let former = facts.state
        facts.state = state.union(former.intersection(.progressAvailable))
        return former.subtracting(.progressAvailable)
      }
      if former == state { return }
      turns.append { [weak document] in document?.postStateChanged() }
      let isDisabled = state.contains(.editingDisabled)
      if isDisabled == isEditingDisabled || !isDisabled && state.contains(.closed) { return }
      isEditingDisabled = isDisabled
      turns.append { [weak document] in isDisabled ? document?.disableEditing() : document?.enableEditing() }
    }

    @discardableResult
    func call(_ kind: DocumentCall, _ url: URL? = nil, _ handler: @escaping @MainActor (Bool) -> Void) -> CallID {
      lastNumber += 1
      let id = CallID(lastNumber)
      handlers[id] = handler
      places[id] = url
      if kind == .save { saves.insert(id) }
      receive(.called(id, kind))
      return id
    }

    func report(_ error: DocumentError) {
      document?.handleError(error.programError, userInteractionPermitted: true)
    }

    // MARK: - Operations

    private func begin(_ operation: DocumentOperation, _ call: CallID?) {
      guard let document else { return complete(Finding(DocumentError.noDocument)) }
      begunCall = call ?? begunCall
      let url = call.flatMap { places[$0] } ?? document.fileURL
      switch operation {
      case .open: open(document)
      case .check: check(document)
      case .write: beginWrite(document)
      case .keep(.theirs): keepTheirs(document)
      case .keep(.mine): keepMine(document)
      case .load(let isElsewhere): load(document, isElsewhere ? url : document.fileURL)
      case .place: place(document, url, call.flatMap { placeSnapshots.removeValue(forKey: $0) })
      case .listConflicts: listConflicts(document)
      case .merge, .move, .delete, .copy: preconditionFailure("no document has this: \(operation)")
      }
    }

    func complete(_ finding: Finding) {
      if let stamp = finding.stamp { memory.incoming = DocumentMemory.Stored((), stamp) }
      if let date = finding.modificationDate { document?.fileModificationDate = date }
      if case .failed(let error) = finding.outcome { turns.append { self.report(error) } }
      receive(.completed(finding.outcome))
    }

    private func beginWrite(_ document: UIDocument) {
      if !saves.isEmpty || !heldHandlers.isEmpty {
        let held = heldHandlers
        heldHandlers = []
        return write(document) { [self] in end(held, $0) }
      }
      askCount += 1
      let number = askCount
      pendingAsk = number
      writerCountAtAsk = core.published.editingObstacles.contains(.writer) ? nil : writerCount
      let fail: @Sendable (DocumentError) -> Void = { [weak self] error in
        MainTurns.enter { [weak self] in self?.askedSaveFailed(number, error) }
      }
      let handler = AwaitedHandler(of: .save, document, failing: fail) { [weak self] isSaved in
        MainTurns.enter { [weak self] in self?.askedSaveEnded(number, isSaved) }
      }
      document.save(to: document.fileURL, for: .forOverwriting) { handler($0) }
    }

    /// A class that writes by itself has ended; otherwise the write has reported its end already, and another one may be asked for.
    private func askedSaveEnded(_ number: UInt64, _ isSaved: Bool) {
      guard pendingAsk == number else { return }
      pendingAsk = nil
      guard let document, isSaved else { return complete(Finding(DocumentError.notSaved)) }
      // The class knows what it has written. Without its coordinator nobody does, if another program has written in this time.
      if let written = document.ownWrites.take() { return complete(written) }
      noteForeignWrite(document) { [self] in writerCountAtAsk == writerCount }
    }

    /// The document's class keeps the handler.
    private func askedSaveFailed(_ number: UInt64, _ error: DocumentError) {
      // Otherwise what it was asked for is done or has failed by now.
      guard pendingAsk == number else { return }
      pendingAsk = nil
      complete(Finding(error))
    }

    private func end(_ handlers: [DocumentHandler], _ outcome: OperationOutcome) {
      if outcome.isDifference {
        heldHandlers += handlers
      } else {
        for handler in handlers { handler(outcome == .done) }
      }
    }

    /// A save that doesn't begin at once has its contents nevertheless.
    private func takeSnapshot(_ document: UIDocument) {
      if saves.isEmpty { return }
      snapshot = makeSnapshot(document)
    }

    ///
    /// The write that runs uses the wrapper of a package on another thread, and the class may change the same one: then the contents are taken
    /// when the save begins.
    private func makeSnapshot(_ document: UIDocument) -> Snapshot? {
      if isWriting, document.ownWrites.known?.isOfFile != true { return nil }
      guard let contents = try? document.contents(forType: document.savingFileType ?? "public.data") else { return nil }
      return Snapshot(revision: core.published.revision, contents: SharedReference(contents))
    }

    /// No write comes for them if what another program wrote couldn't be kept.
    func failHeldHandlers() {
      let held = heldHandlers
      heldHandlers = []
      for handler in held { handler(false) }
    }
  }

  // MARK: - Calls of the program

  extension DocumentRunner {
    private var isClosed: Bool { core.published.conditions.contains(.closed) }

    var hasUnsavedChanges: Bool { core.published.hasUnsavedChanges || isClosed && earlyCount.hasChanges }

    func open(_ handler: DocumentHandler) {
      if !isClosed, places.isEmpty, !core.published.editingObstacles.contains(.closing) { return handler(true) }
      call(.open) { handler($0) }
    }

    func close(_ handler: DocumentHandler) {
      noteUnnotedChanges()
      call(.close(isDiscarding: false)) { [weak self] isDone in
        // A document that was made and opened is closed once.
        if isDone, let self, !self.isClosed { return self.close(handler) }
        handler(isDone)
      }
    }

    func revert(_ url: URL, _ handler: DocumentHandler) {
      let isElsewhere = url.systemPath != document?.fileURL.systemPath
      call(.revert(isElsewhere: isElsewhere), url) { handler($0) }
    }

    func edit(_ change: UIDocument.ChangeKind) {
      if isClosed {
        earlyCount.note(DocumentEdit(change))
      } else {
        receive(.editedRegardless(DocumentEdit(change), size: 1))
      }
    }

    func noteSaved(_ token: Any) {
      guard let token = token as? DocumentEditToken else {
        return Misuse.report("updateChangeCount(withToken:for:) with a token of another kind")
      }
      if isClosed { return earlyCount.restart() }
      if let stamp = document?.ownWrites.take()?.stamp {
        memory.rebase(DocumentMemory.Stored((), stamp))
        document?.ownWrites.expect(stamp)
      }
      receive(.tokenSaved(token))
    }

    /// The document's class says that it has changes that nobody has noted.
    private func noteUnnotedChanges() {
      guard let document, !isClosed, document.hasUnsavedChanges, !core.published.hasUnsavedChanges else { return }
      edit(.done)
    }

    func autosave(_ handler: DocumentHandler) {
      guard let document, document.hasUnsavedChanges else { return handler(true) }
      let awaited = AwaitedHandler(of: .save, document) { isSaved in MainTurns.enter { handler(isSaved) } }
      document.save(to: document.fileURL, for: .forOverwriting) { awaited($0) }
    }

    func save(_ url: URL, _ operation: UIDocument.SaveOperation, _ handler: DocumentHandler) {
      guard let document else { return handler(false) }
      let isFormer = operation == .forOverwriting && document.facts.withLock { $0.isFormerPlace(url) }
      let isHere = isFormer || url.systemPath == document.fileURL.systemPath
      if pendingAsk != nil {
        pendingAsk = nil
        if isHere { return write(document) { [self] in end([handler], $0) } }
        complete(Finding(DocumentError.notSaved))
      }
      let isDeleted = core.published.conditions.contains(.deleted)
      if isClosed || !isHere || isDeleted && operation == .forCreating {
        let id = call(.create, isHere ? document.placeForSaving(operation) ?? url : url) { handler($0) }
        if begunCall != id, places[id] != nil { placeSnapshots[id] = makeSnapshot(document) }
        return
      }
      // A save is made also if nobody has noted a change.
      if !core.published.hasUnsavedChanges { edit(.done) }
      let isBehindWrite = isWriting
      // The write that runs has contents of its own: this save has those of now, whether or not anybody has noted a change.
      if isBehindWrite, operationRevision == core.published.revision { edit(.done) }
      call(.save) { handler($0) }
      takeSnapshot(document)
    }
  }

  // MARK: - The end of the process

  extension DocumentRunner: EndingDocument {
    package nonisolated func saveBeforeEnd(within deadline: Duration) async {
      let clock = CompatibilityDomain.current.configuration.clock
      try? await FileAnswer<Void>.wait { answer in
        // A class that saves by itself may never say so.
        _ = clock.schedule(at: clock.now.advanced(by: deadline)) { answer.succeed() }
        MainTurns.later { self.saveBeforeEnd { answer.succeed() } }
      }
    }

    /// Unless the file is gone: it isn't made again unasked.
    private func saveBeforeEnd(_ end: @escaping @Sendable () -> Void) {
      guard let document, !document.documentState.contains(.closed) else { return end() }
      let handler = AwaitedHandler(of: .autosave, document) { _ in end() }
      document.autosave { handler($0) }
    }
  }

  // MARK: - Messages

  extension DocumentRunner {
    /// Whether messages of the presenter are about the file that the core knows; those that aren't lead to a look at the file when it does.
    private var takesMessages: Bool { isPresented && !isPresentedElsewhere.withLock { $0 } }

    func note(_ event: DocumentEvent) {
      if takesMessages { receive(event) } else { hasMissedMessages = true }
    }

    func relinquish(_ writer: @Sendable ((@Sendable () -> Void)?) -> Void) {
      guard takesMessages else {
        hasMissedMessages = true
        return writer(nil)
      }
      let number = presentationNumber
      writerCount += 1
      receive(.writerArrived)
      writer { [weak self] in MainTurns.enter { [weak self] in self?.writerLeft(ofPresentation: number) } }
    }

    private func writerLeft(ofPresentation number: UInt64) {
      if isPresented, number == presentationNumber { receive(.writerLeft) }
    }

    func answerSave(_ answer: @escaping @Sendable ((any Error)?) -> Void) {
      guard isPresented else { return answer(nil) }
      noteUnnotedChanges()
      lastNumber += 1
      let id = QuestionID(lastNumber)
      answers[id] = answer
      receive(.saveAsked(id))
    }
  }

  extension UIDocument {
    func postStateChanged() {
      Self.post {
        NotificationCenter.default.post(name: Self.stateChangedNotification, object: self)
        NotificationCenter.default.post(StateChangedMessage(document: self), subject: self)
      }
    }

    func postMoved(from url: URL) {
      Self.post {
        NotificationCenter.default.post(
          name: Self.didMoveToWritableLocationNotification, object: self,
          userInfo: [Self.didMoveToWritableLocationOldURLKey: url])
        NotificationCenter.default.post(DidMoveToWritableLocationMessage(document: self, oldURL: url), subject: self)
      }
    }

    /// Posts in an operation of the main queue: elsewhere, even in a block of that queue, `NotificationCenter` on Linux waits until the
    /// queue is empty if an observer has named it, and would wait for ever.
    private static func post(_ body: @escaping @MainActor @Sendable () -> Void) {
      if OperationQueue.current === OperationQueue.main { return body() }
      OperationQueue.main.addOperation { MainActor.assumeIsolated { body() } }
    }
  }
#endif
