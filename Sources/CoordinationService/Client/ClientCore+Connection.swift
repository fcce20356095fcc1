internal import FileAccessArbiter

// From one service to the next.

extension ClientCore {
  /// A service has accepted this process: it's told what has been kept for it.
  ///
  /// - Parameter epoch: That of the service.
  /// - Returns: What to do.
  package mutating func connected(epoch: UInt64) -> [ClientEffect] {
    self.epoch = epoch
    isConnected = true
    // Others may have been inside of what this process holds, and may have gone already. A service that hears now what is held
    // protects it again if nobody is inside any more, and can't tell who was meanwhile.
    if revocation == .everything, !has(.expulsionForgotten) {
      for (id, access) in accesses.sorted(by: { $0.key < $1.key }) where access.phase == .held {
        effects.append(.noteLoss(id))
      }
    }
    revocation = nil
    effects += exchange(&backlog, with: []).map(ClientEffect.send)
    return takeEffects()
  }

  /// The connection has broken: what was delegated is no more, and what's held is to be told to the next service.
  package mutating func disconnected() -> [ClientEffect] { collectAll(.disconnection) }

  /// There's no service, and none can be elected: whoever waits learns so.
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
      // The presenter is among what's told again.
      case .presenterEvent: if !resumed.contains(number) { resumed.append(number) }
      // Perhaps carried out already, so it comes before whatever others want by now.
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
    // Nothing of what was held before is to be told again as held.
    epoch = 0
    backlog = resumption()
  }

  /// What was delegated is no more, and nobody knows of messages any more.
  private mutating func forgetService() {
    delegations.removeAll()
    callbacks.forgetService()
    // Those who waited have been told why they needn't, and nobody is left to answer.
    for (id, access) in accesses where access.phase == .abandoned { forget(id) }
    for message in debts.keys { debts[message]?.isStale = true }
    // Nobody else would give the turn to presenters that have unregistered.
    for message in reacquirers.sorted() where isOrphaned(message) { giveTurn(for: message) }
    forgetEndingPresenters()
  }

  /// No service knows presenters that have unregistered under an earlier one, so none will say that nothing more comes.
  private mutating func forgetEndingPresenters() {
    unknownPresenters = endingPresenters
    for id in endingPresenters.sorted() where !callbacks.isBusy(id) { forgetEnding(id) }
  }

  mutating func forgetEnding(_ id: PresenterID) {
    endingPresenters.remove(id)
    unknownPresenters.remove(id)
    effects.append(.forgetPresenter(id))
  }

  /// Everything that a service has to know that takes the place of another.
  private func resumption() -> [ClientFrame] {
    var frames: [ClientFrame] = purposes.sorted { $0.key < $1.key }.map { .purposeNamed($0.key, $0.value) }
    for (id, registration) in registrations.sorted(by: { $0.key < $1.key }) {
      frames.append(.reasserted(.presenter(id, registration)))
    }
    var waiting: [ClientFrame] = []
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) {
      if access.phase == .held {
        frames.append(.reasserted(.access(id, access.request)))
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
