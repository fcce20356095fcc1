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

  private func timer(_ id: AccessID, _ purpose: ArbiterTimer.Purpose) -> ArbiterTimer {
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
      }
    }
    return finish()
  }

  private mutating func report(_ timer: ArbiterTimer) {
    let access = accesses[timer.access]
    let report = WaitReport(
      waiter: summary(of: access.id), waiting: now - access.requestedAt, blockers: directBlockers(of: access.id))
    effects.append(.report(access.id, report))
    if let interval = access.limits.reporting { effects.append(.armTimer(timer, after: interval)) }
  }

  private mutating func answersAreLate(_ access: Access) {
    guard access.traits.contains(.proceedsWithoutLateAnswers), access.phase == .asking, !needsConsent(access.id) else {
      return fail(
        access.id,
        .unanswered(
          waiting: now - access.phaseSince, blockers: directBlockers(of: access.id),
          followers: access.parked.prefix(FileAccessArbiter.reportedMemberCountMax).map { member(.access($0)) }))
    }
    for index in access.negotiations.indices {
      if let message = access.negotiations[index].outstanding { noteUnanswered(message, access.id) }
    }
    withdrawQuestions(of: access.id)
    advance(access.id)
  }

  /// An eviction needs everybody's consent (C-209).
  func needsConsent(_ id: AccessID) -> Bool { accesses[id].items.contains { $0.access == .write(.evicting) } }

  /// The grant is to say whose answer it did without.
  mutating func noteUnanswered(_ message: MessageID, _ id: AccessID) {
    accesses[id].unanswered.append(
      "\(presenters[messages[message].presenter].label) (\(messages[message].kind.callbackName))")
  }
}
