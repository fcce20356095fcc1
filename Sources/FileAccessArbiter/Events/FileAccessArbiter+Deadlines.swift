internal import CompactContainers

// Deadlines as events. At most one deadline and one reporting timer are armed for an access at a time.

extension FileAccessArbiter {
  mutating func armTimer(of id: AccessID, _ purpose: ArbiterTimer.Purpose) {
    if accesses[id].armedTimer == purpose { return }
    disarmTimer(of: id)
    waitingCount += 1
    accesses[id].timerGeneration += 1
    accesses[id].armedTimer = purpose
    let limits = limits(of: id)
    let limit = purpose == .waiting ? limits.waiting : limits.answering
    if let limit { effects.append(.armTimer(timer(id, purpose), after: limit)) }
    if let interval = limits.reporting { effects.append(.armTimer(timer(id, .reporting), after: interval)) }
  }

  mutating func disarmTimer(of id: AccessID) {
    if accesses[id].hasNoTimer { return }
    disarmBeginningTimer(of: id)
    guard let purpose = accesses[id].armedTimer else { return }
    accesses[id].armedTimer = nil
    waitingCount -= 1
    let limits = limits(of: id)
    let limit = purpose == .waiting ? limits.waiting : limits.answering
    if limit != nil { effects.append(.cancelTimer(timer(id, purpose))) }
    if limits.reporting != nil { effects.append(.cancelTimer(timer(id, .reporting))) }
  }

  private func limits(of id: AccessID) -> AccessRequest.Limits {
    if let newcomer, newcomer.id == id { return newcomer.limits }
    return accesses[id].limits
  }

  func timer(_ id: AccessID, _ purpose: ArbiterTimer.Purpose) -> ArbiterTimer {
    ArbiterTimer(access: id, purpose: purpose, generation: accesses[id].timerGeneration)
  }

  /// A timer's time is over.
  ///
  /// A timer of an earlier phase, or of an access that has ended, changes nothing.
  package mutating func timerFired(_ timer: ArbiterTimer, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let access = accesses.find(timer.access), access.armedTimer != nil,
      access.timerGeneration == timer.generation
    {
      switch timer.purpose {
      case .reporting: report(timer)
      case .waiting:
        fail(access.id, .timedOut(waiting: now - access.requestedAt, blockers: directBlockers(of: access.id)))
      case .answering: answersAreLate(access)
      case .beginning: questionsAreLate(access.id)
      }
    }
    return finish()
  }

  private mutating func report(_ timer: ArbiterTimer) {
    let access = accesses[timer.access]
    let report = WaitReport(
      waiter: summary(of: access.id), waiting: now - access.requestedAt, blockers: directBlockers(of: access.id),
      passedOver: access.unanswered)
    effects.append(.report(access.id, report))
    if let interval = access.limits.reporting { effects.append(.armTimer(timer, after: interval)) }
  }

  /// The accesses that wait behind an access, as far as a report names them, and how many more.
  private func followers(of access: Access) -> [WaitMember] {
    let named = access.parked.prefix(FileAccessArbiter.reportedMemberCountMax)
    let rest = access.parked.count - named.count
    return named.map { member(.access($0)) } + (rest > 0 ? [.others(rest)] : [])
  }

  private mutating func answersAreLate(_ access: Access) {
    // No access may fail because a presenter's callbacks are unknown.
    if access.phase == .asking {
      passOverQuestions(of: access.id, dueBy: .max)
      if !accesses[access.id].owesAnswers { return advance(access.id) }
    }
    let access = accesses[access.id]
    guard access.traits.contains(.proceedsWithoutLateAnswers), access.phase == .asking, !needsConsent(access.id) else {
      return fail(
        access.id,
        .unanswered(
          waiting: now - access.phaseSince, blockers: directBlockers(of: access.id),
          followers: followers(of: access)))
    }
    for index in access.negotiations.indices {
      if let message = access.negotiations[index].outstanding { noteUnanswered(message, access.id) }
    }
    withdrawQuestions(of: access.id)
    advance(access.id)
  }

  /// An eviction needs everybody's consent (C-209).
  func needsConsent(_ id: AccessID) -> Bool { accesses[id].items.contains { $0.access == .write(.evicting) } }

  /// The grant is to name the presenter whose answer it did without.
  mutating func noteUnanswered(_ message: MessageID, _ id: AccessID, because reason: String = "") {
    let presenter = messages[message].presenter
    let text = "\(presenters[presenter].label) (\(messages[message].kind.callbackName))" + reason
    accesses[id].unanswered.append(text)
    if accesses[id].isPreparation {
      accesses[id].passedOver.append(Access.PassedOver(presenter: presenter, text: text))
    }
  }

  /// The presenters whose answers an access does without: those that it asked itself, and those of its items that a
  /// preparation around it asked for it, because they aren't asked again (C-141).
  func unanswered(of id: AccessID) -> [String] {
    var result = accesses[id].unanswered
    for case .access(let outer) in accesses[id].lineage {
      guard let passedOver = accesses.find(outer)?.passedOver, !passedOver.isEmpty else { continue }
      let concerned = presentersConcerned(by: accesses[id])
      for entry in passedOver where concerned.contains(entry.presenter) && !result.contains(entry.text) {
        result.append(entry.text)
      }
    }
    return result
  }

  private func presentersConcerned(by access: Access) -> Set<PresenterID> {
    var result: Set<PresenterID> = []
    for (index, item) in access.items.enumerated() {
      forEachPresenter(aroundItem: index, of: access, withInside: item.access.includesContents) { presenter, _ in
        result.insert(presenter)
      }
    }
    return result
  }
}
