package import FileAccessArbiter

// The events of the process.

extension ClientCore {
  /// Takes an event of the process.
  ///
  /// - Parameters:
  ///   - event: The event. A presenter's registration and its location are questions, see ``takeQuestion()``.
  ///   - time: When.
  /// - Returns: The effects.
  package mutating func step(_ event: ArbiterEvent, at time: Timestamp) -> [ClientEffect] {
    switch event {
    case .accessRequested(let id, let request): note(id, request, at: time)
    case .accessAdopted(let id, let request):
      accesses[id] = Access(request: request, phase: .held)
      letCallbacksGo(for: request)
      tell(.event(.accessAdopted(id, insideSurvivors(request))))
    case .accessReleased(let id, _):
      forget(id)
      if lost.removeValue(forKey: id) == nil { tell(.event(event)) }
    case .accessCancelled(let id):
      if accesses[id]?.phase != .held { accesses[id]?.isCancelled = true }
      tell(.event(event))
    case .presenterAdded(let id, let registration):
      registrations[id] = registration
      pose { .presenterEvent($0, event) }
    case .presenterLocated(let id, let path, let attributes):
      registrations[id]?.path = path
      if let attributes { registrations[id]?.observedUbiquityAttributes = attributes }
      pose { .presenterEvent($0, event) }
    case .presenterRelabelled(let id, let label):
      if registrations[id].map({ $0.label != label }) ?? false {
        registrations[id]?.label = label
        tell(.event(event))
      }
    case .presenterRemoved(let id):
      if let registration = registrations.removeValue(forKey: id) { endingPresenters[id] = registration }
      tell(.event(event))
      // Messages that waited for its earlier callbacks aren't received (C-191).
      for message in callbacks.drop(of: id) { tell(.event(.messageAnswered(message, hasReacquirer: false))) }
    case .presenterLearned(let id, let callbacks):
      if let known = registrations[id]?.callbacks {
        registrations[id]?.callbacks = known.replacing(callbacks: callbacks)
        tell(.event(event))
      }
    case .messageAnswered(let message, let hasReacquirer): noteAnswer(to: message, hasReacquirer, event)
    case .relinquished: preconditionFailure("the client itself finds out whether it goes on with a save")
    case .callbackReturned(let message):
      // Its answer comes from elsewhere, perhaps beside another callback.
      announcements[message] = nil
      noteEnd(of: message)
      tell(.event(event))
    case .messageFailed(let message, _):
      announcements[message] = nil
      noteEnd(of: message)
      debts[message] = nil
      tell(.event(event))
    case .callbackBegan, .ubiquityAttributesChanged, .versionChanged, .changesSeen, .changesConfirmed, .echoEnded:
      tell(.event(event))
    }
    return takeEffects()
  }

  private mutating func note(_ id: AccessID, _ request: AccessRequest, at time: Timestamp) {
    makeWay(for: request)
    let deadline = request.limits.waiting.map { limit in
      let (sum, isLate) = time.addingReportingOverflow(limit)
      return isLate ? .max : sum
    }
    accesses[id] = Access(request: request, phase: .waiting, deadline: deadline)
    letCallbacksGo(for: request)
    tell(.event(.accessRequested(id, insideSurvivors(request))))
  }

  /// Lets callbacks run that were held back for others, in which the access may be waited for.
  private mutating func letCallbacksGo(for request: AccessRequest) {
    if isInsideCallback(request) {
      callbacks.letAllGo()
    } else {
      for presenter in presenters(behind: request) { callbacks.letQuestionsGo(of: presenter) }
    }
  }

  /// Whether a callback may wait for an access, or for code in an access.
  func isInsideCallback(_ request: AccessRequest) -> Bool {
    var context = request.context
    while let current = context {
      // One that has ended may be in any callback.
      guard case .access(let id) = current, let around = surroundings(of: id) else { return true }
      context = around.context
    }
    return false
  }

  /// The presenters on whose behalf an access is made, or one around it.
  ///
  /// While they're asked, they may wait for it on any thread: a document saves where it does all its work.
  func presenters(behind request: AccessRequest) -> [PresenterID] {
    var found = [request.ownPresenter].compactMap(\.self)
    var context = request.context
    while case .access(let id)? = context, let around = surroundings(of: id) {
      if let presenter = around.ownPresenter { found.append(presenter) }
      context = around.context
    }
    return found
  }

  private mutating func noteAnswer(to message: MessageID, _ hasReacquirer: Bool, _ event: ArbiterEvent) {
    if let save = takeAnnouncedSave(after: message) {
      if hasReacquirer { reacquirers.insert(message) } else { debts[message] = nil }
      noteEnd(of: message)
      tell(.event(.relinquished(message, hasReacquirer: hasReacquirer)))
      return run(save.delivery, save.origin)
    }
    guard hasReacquirer else {
      debts[message] = nil
      noteEnd(of: message)
      return tell(.event(event))
    }
    reacquirers.insert(message)
    if isOrphaned(message) {
      // The presenter isn't forgotten before it has had its turn.
      callbacks.noteEnd(of: message)
      return giveTurn(for: message)
    }
    noteEnd(of: message)
    guard let debt = debts[message], debt.isStale, isConnected || !has(.debtAnsweredToNobody) else {
      return tell(.event(event))
    }
    tell(.reasserted(.debt(debt.presenter, message, owedFor: debt.origin)))
    // The callback is over.
    tell(.event(.messageAnswered(message, hasReacquirer: false)))
  }

  /// The question to save that was announced with a message, if the presenter can be asked at once: then its callbacks are in
  /// the order in which the service has them.
  private mutating func takeAnnouncedSave(after message: MessageID) -> AnnouncedSave? {
    guard let save = announcements.removeValue(forKey: message), isConnected, debts[message]?.isStale != true,
      registrations[save.delivery.presenter] != nil, callbacks.runsAlone(message)
    else { return nil }
    return save
  }

  /// Whether no service will give a presenter its turn back: it has unregistered, and the service that knew of it is
  /// gone.
  func isOrphaned(_ message: MessageID) -> Bool {
    guard let debt = debts[message], !has(.reacquirerOfRemovedForgotten) else { return false }
    return debt.isStale && !isKnown(debt.presenter)
  }

  /// Runs a reacquirer that no service knows.
  mutating func giveTurn(for message: MessageID) {
    guard reacquirers.remove(message) != nil, let debt = debts.removeValue(forKey: message) else { return }
    let origin = Message.Origin(client: ClientID(1), purpose: PurposeID(0), label: "")
    let delivery = Delivery(
      message: message, presenter: debt.presenter, kind: .reacquire(message), origin: origin)
    run(delivery, nil)
  }

  /// A callback has returned.
  private mutating func noteEnd(of message: MessageID) {
    guard let presenter = callbacks.noteEnd(of: message) else { return }
    // No service will report its last message.
    if unknownPresenters.contains(presenter), !callbacks.isBusy(presenter) { forgetEnding(presenter) }
  }
}

// MARK: - Purposes and observers

extension ClientCore {
  /// A purpose that others may have as well has got its name.
  package mutating func purposeNamed(_ id: PurposeID, _ name: String) -> [ClientEffect] {
    purposes[id] = name
    tell(.purposeNamed(id, name))
    return takeEffects()
  }

  /// No coordinator has a purpose any more, and no access.
  package mutating func purposeForgotten(_ id: PurposeID) -> [ClientEffect] {
    purposes[id] = nil
    tell(.purposeForgotten(id))
    return takeEffects()
  }

  /// Purposes of accesses that the service has.
  package var purposesInUse: Set<PurposeID> { Set(accesses.values.lazy.map(\.request.purpose)) }

  /// Begins to show the state to observers after each event, or stops.
  package mutating func observe(_ isWanted: Bool) -> [ClientEffect] {
    isObserving = isWanted
    tell(.observationWanted(isWanted))
    return takeEffects()
  }
}

// MARK: - Limits

extension ClientCore {
  /// How many accesses and presenters there are; presenters that have unregistered count until the service has forgotten them.
  var partyCount: Int { accesses.count + registrations.count + endingPresenters.count }

  /// Whether the process may neither request nor register anything more.
  package var isFull: Bool { partyCount >= limits.partyCountMax }

  /// The registration of a presenter as the service has it.
  package func registration(of id: PresenterID) -> PresenterRegistration? { registrations[id] }
}
