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
      case .held:
        lost.insert(id)
        effects.append(.noteLoss(id))
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
    callbacks.forgetService()
    announcements = [:]
    // The program's waits for these have ended already, and no service is left to answer.
    for (id, access) in accesses where access.phase == .abandoned { forget(id) }
    for message in debts.keys { debts[message]?.isStale = true }
    // Otherwise presenters that have unregistered would never get their turn.
    for message in reacquirers.sorted() where isOrphaned(message) { giveTurn(for: message) }
    forgetEndingPresenters()
  }

  /// No service has a record of presenters that have unregistered under an earlier one, so none will report their last
  /// message.
  private mutating func forgetEndingPresenters() {
    unknownPresenters = endingPresenters
    for id in endingPresenters.sorted() where !callbacks.isBusy(id) { forgetEnding(id) }
  }

  mutating func forgetEnding(_ id: PresenterID) {
    endingPresenters.remove(id)
    unknownPresenters.remove(id)
    effects.append(.forgetPresenter(id))
  }

  /// Everything that a service must receive when it takes the place of another.
  private func resumption() -> [ClientFrame] {
    var frames: [ClientFrame] = purposes.sorted { $0.key < $1.key }.map { .purposeNamed($0.key, $0.value) }
    for (id, registration) in registrations.sorted(by: { $0.key < $1.key }) {
      frames.append(.reasserted(.presenter(id, registration)))
    }
    var waiting: [ClientFrame] = []
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) {
      if access.phase == .held {
        frames.append(.reasserted(.access(id, access.request)))
        if let token = access.token, !has(.tokenForgotten) { frames.append(.reasserted(.token(id, token))) }
      } else if !has(.waitingForgotten) {
        waiting.append(.event(.accessRequested(id, access.request)))
        if access.isCancelled { waiting.append(.event(.accessCancelled(id))) }
      }
    }
    for message in reacquirers.sorted() {
      guard let debt = debts[message], registrations[debt.presenter] != nil else { continue }
      frames.append(.reasserted(.debt(debt.presenter, message, owedFor: debt.origin)))
    }
    frames.append(.reassertionEnded)
    if isObserving { frames.append(.observationWanted(true)) }
    return frames + waiting
  }
}
