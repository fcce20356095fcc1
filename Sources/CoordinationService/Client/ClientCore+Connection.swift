internal import FileAccessArbiter

// From one service to the next.

extension ClientCore {
  /// A service has accepted this process: the frames that have been kept for it are sent.
  ///
  /// - Parameter epoch: That of the service.
  /// - Returns: The effects.
  package mutating func connected(epoch: UInt64) -> [ClientEffect] {
    self.epoch = epoch
    isConnected = true
    // Others may have been inside of the items that this process holds, and may have left already. A service that now
    // receives the accesses protects them again if no other process is inside any more, and can't determine which of
    // their items others had entered meanwhile.
    if revocation == .everything, !has(.expulsionForgotten) {
      for (id, access) in accesses.sorted(by: { $0.key < $1.key }) where access.phase == .held {
        effects.append(.noteLoss(id))
      }
    }
    revocation = nil
    effects += exchange(&backlog, with: []).map(ClientEffect.send)
    return takeEffects()
  }

  /// The connection has broken: delegations have ended, and accesses are to be reported to the next service.
  package mutating func disconnected() -> [ClientEffect] { collectAll(.disconnection) }

  /// There's no service, and none can be elected: every wait ends with the error.
  package mutating func unreachable() -> [ClientEffect] { collectAll(.unreachability) }

  private mutating func collectAll(_ purpose: ClaimCollection) -> [ClientEffect] {
    isConnected = false
    effects.append(.forbidClaims)
    effects.append(.collectClaims(inside: .root, purpose))
    return takeEffects()
  }

  mutating func suspend() {
    forgetService()
    backlog = resumption()
    var moves: [ClientFrame] = []
    for (number, frame) in questions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      switch frame {
      // The presenter is among the registrations that are sent again.
      case .presenterEvent: if !resumed.contains(number) { resumed.append(number) }
      // Perhaps carried out already, so it comes before the later requests of others.
      case .itemMoved where !has(.movesToldLate): moves.append(frame)
      default: backlog.append(frame)
      }
    }
    let end = backlog.firstIndex(of: .reassertionEnded) ?? backlog.endIndex
    backlog.insert(contentsOf: moves, at: end)
  }

  mutating func giveUp() {
    forgetService()
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) {
      switch access.phase {
      case .held: lose(id)
      case .waiting: effects.append(.giveUp(id))
      case .abandoned: break
      }
    }
    accesses = [:]
    resumed = []
    abandonQuestions()
    if isObserving {
      isObserving = false
      effects.append(.endObservation)
    }
    // No earlier access is to be reported again as held.
    epoch = 0
    backlog = resumption()
  }

  /// Delegations have ended, and no service has the messages any more.
  private mutating func forgetService() {
    delegations.removeAll()
    for message in callbacks.forgetService() { debts[message] = nil }
    announcements = [:]
    // The program's waits for these have ended already, and no service is left to answer.
    for (id, access) in accesses where access.phase == .abandoned { forget(id) }
    for message in debts.keys { debts[message]?.isStale = true }
    // Presenters that have unregistered aren't reported again, unless their callbacks run. So no service gives them their turn.
    unknownPresenters = Set(endingPresenters.keys.filter { !callbacks.isRunning($0) })
    for message in reacquirers.sorted() where isOrphaned(message) { giveTurn(for: message) }
    for id in unknownPresenters.sorted() where !callbacks.isBusy(id) { forgetEnding(id) }
  }

  mutating func forgetEnding(_ id: PresenterID) {
    endingPresenters[id] = nil
    unknownPresenters.remove(id)
    effects.append(.forgetPresenter(id))
  }

  /// Whether the next service has a presenter, or will have it.
  func isKnown(_ presenter: PresenterID) -> Bool {
    registrations[presenter] != nil || endingPresenters[presenter] != nil && !unknownPresenters.contains(presenter)
  }

  /// Everything that a service must receive when it takes the place of another.
  private func resumption() -> [ClientFrame] {
    var frames: [ClientFrame] = purposes.sorted { $0.key < $1.key }.map { .purposeNamed($0.key, $0.value) }
    let running = has(.runningCallbacksForgotten) ? [:] : callbacks.runningByPresenter
    for (id, registration) in registrations.sorted(by: { $0.key < $1.key }) {
      frames.append(.reasserted(.presenter(id, registration, running: running[id] ?? [])))
    }
    var waiting: [ClientFrame] = []
    for (id, registration) in endingPresenters.sorted(by: { $0.key < $1.key }) where !unknownPresenters.contains(id) {
      // It isn't sent anything any more.
      var registration = registration
      registration.path = nil
      frames.append(.reasserted(.presenter(id, registration, running: running[id] ?? [])))
      waiting.append(.event(.presenterRemoved(id)))
    }
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) {
      if access.phase == .held {
        frames.append(.reasserted(.access(id, insideSurvivors(access.request))))
        if let token = access.token, !has(.tokenForgotten) { frames.append(.reasserted(.token(id, token))) }
      } else if !has(.waitingForgotten) {
        waiting.append(.event(.accessRequested(id, insideSurvivors(access.request))))
        if access.isCancelled { waiting.append(.event(.accessCancelled(id))) }
      }
    }
    for message in reacquirers.sorted() {
      guard let debt = debts[message], isKnown(debt.presenter) else { continue }
      frames.append(.reasserted(.debt(debt.presenter, message, owedFor: debt.origin)))
    }
    frames.append(.reassertionEnded)
    if isObserving { frames.append(.observationWanted(true)) }
    return frames + waiting
  }
}
