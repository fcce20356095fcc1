internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

// Only for domains of several processes: frames come from the service, connections begin and end, and the client's
// effects are carried out like those of an arbiter.

extension ArbiterHost {
  /// Takes in the frames of the service, in their order.
  func take(_ frames: ArraySlice<ServerFrame>) {
    readChanges(before: frames)
    stepWithState { state, time in
      for case .settle(let echo) in frames {
        carryOut(state.decider.step(.echoEnded(Self.client, echo), at: time), &state, at: time)
      }
      for frame in frames {
        noteRevocation(&state)
        carryOut(state.decider.tellClient { $0.received(frame) }, &state, at: time)
      }
      return ((), .none)
    }
  }

  /// A service has accepted this process, which has no delegation of it yet.
  func serviceHasAccepted(_ welcome: Welcome) {
    stepWithState { state, _ in
      // Delegations of an earlier service are forgotten, before any answer whether an access still lasts.
      if coverage.reset() { state.decider.noteRevocation(.everything) }
      return ((), state.decider.tellClient { $0.connected(epoch: welcome.epoch) })
    }
  }

  /// The connection has broken.
  func serviceIsGone() { stepWithState { state, _ in ((), state.decider.tellClient { $0.disconnected() }) } }

  /// There's no service, and none can be elected: every wait ends with the error.
  func serviceIsUnreachable(_ error: FileCoordinationError) {
    stepWithState(because: error) { state, _ in ((), state.decider.tellClient { $0.unreachable() }) }
  }

  /// The process that serves is stopped, and has been for too long.
  func serviceIsStopped(_ error: FileCoordinationError) {
    stepWithState(because: error) { state, _ in ((), state.decider.tellClient { $0.serviceIsStopped() }) }
  }

  /// Ends waits whose deadlines have passed, and those that were cancelled, while no service keeps deadlines.
  func keepDeadlines(at time: MonotonicTime, because reason: FileCoordinationError) {
    stepWithState(because: reason) { state, _ in
      ((), state.decider.tellClient { $0.keepDeadlines(at: time.nanoseconds) })
    }
  }

  /// The next deadline of an access that waits.
  func nextDeadline(after time: MonotonicTime) -> MonotonicTime? {
    withState { state in
      state.decider.asClient { $0.nextDeadline(after: time.nanoseconds) }?.map(MonotonicTime.init(nanoseconds:))
    }
  }

  var isAwaitingService: Bool { withState { $0.decider.asClient { $0.isAwaitingService } ?? false } }

  /// The epoch of the service to which this process reported its accesses; zero if there's none.
  var epoch: UInt64 { withState { $0.decider.asClient { $0.epoch } ?? 0 } }

  /// The service may have written into this process's memory while it was stopped.
  func noteRevocation(_ state: inout State) {
    guard coverage.isRevoked else { return }
    let revocation: Revocation = coverage.isExpelled ? .everything : .delegations
    state.decider.noteRevocation(revocation)
  }
}

// MARK: - The client's effects, under the lock

extension ArbiterHost {
  func carryOut(
    _ effect: ClientEffect, _ state: inout State, at time: Timestamp, because reason: FileCoordinationError?
  ) {
    switch effect {
    case .send(let frame): transport.send(frame)
    case .grant(let id, let grant, let token):
      state.waiters[id]?.noteToken(token)
      state.grant(id, grant)
    case .fail(let id, let failure, let explanation): state.fail(id, failure, explanation, at: time)
    case .cancel(let id): state.fail(id, .cancelled)
    case .timeOut(let id):
      let paths = state.waiters[id]?.items.map { $0.location.path.description } ?? []
      state.endWait(of: id, .unreachable(.timedOut(paths, because: reason ?? .noServiceYet)))
    case .giveUp(let id): state.endWait(of: id, .unreachable(reason ?? .noServiceYet))
    case .noteLoss(let id): state.waiters[id]?.noteLoss()
    case .itemMoved(let id, let item, let path): state.noteMove(of: item, of: id, to: path)
    case .deliver(let delivery, let origin): deliver(delivery, origin, &state, at: time)
    case .presenterMoved(let id, let path): state.actions.append(.note(.follow(id, path)))
    case .locatePresenter(let id): state.locatePresenter(id)
    case .forgetPresenter(let id): state.forgetPresenter(id)
    case .report(_, let report): state.actions.append(.report(report))
    case .verifyAgain(let change): state.actions.append(.note(.verifyAgain(change)))
    case .noteMove(let old, let new): identities.noteMove(from: old, to: new)
    case .answer(let number, let answer):
      guard let question = state.questions.removeValue(forKey: number) else { break }
      state.actions.append(.answer(question, ServiceQuestion.Answer(answer, because: reason ?? .noServiceYet)))
    case .show(let reply): state.actions.append(.show(reply.arbiter, Array(state.observers.values)))
    case .endObservation:
      for observer in exchange(&state.observers, with: [:]).values { state.actions.append(.finish(observer)) }
    // From here on every claim meets that it isn't covered, or is found among those that are collected.
    case .forbidClaims: coverage.renew()
    case .collectClaims(let root, let purpose):
      adoptClaims(inside: root, &state, at: time)
      carryOut(state.decider.tellClient { $0.claimsCollected(purpose) }, &state, at: time, because: reason)
    case .acknowledgeRevocation: coverage.acknowledgeRevocation()
    }
  }

  private func deliver(_ delivery: Delivery, _ origin: DeliveryOrigin?, _ state: inout State, at time: Timestamp) {
    guard let record = state.presenters[delivery.presenter] else {
      if case .reacquire(let message) = delivery.kind { state.reacquirers[message] = nil }
      return answer(delivery.message, &state, at: time)
    }
    if case .reacquire(let message) = delivery.kind {
      guard let reacquirer = state.reacquirers.removeValue(forKey: message) else {
        return answer(delivery.message, &state, at: time)
      }
      return state.actions.append(.reacquire(record, delivery.message, reacquirer))
    }
    let process = origin.map { OwnProcess(processIdentifier: $0.processIdentifier, processName: $0.processName) }
    state.deliver(delivery, to: record, purpose: .given(origin?.purpose ?? ""), process: process ?? .current)
  }

  private func answer(_ message: MessageID, _ state: inout State, at time: Timestamp) {
    carryOut(state.decider.step(.messageAnswered(message, hasReacquirer: false), at: time), &state, at: time)
  }
}

// MARK: - Deciding alone

extension ArbiterHost {
  /// Checks whether a delegation of this process covers the item, and records that at the item.
  ///
  /// - Returns: Whether a claim is worth trying.
  @inline(never)
  func cover(_ item: ResolvedItem, isWrite: Bool) -> Bool {
    withState { state in
      if state.decider.decidesAlone { return true }
      // Once: the service may write it meanwhile.
      let number = coverage.current
      if DelegationCoverage.isRevoked(number) || !state.decider.covers(item.path, isWrite: isWrite) { return false }
      item.noteCoverage(number, mayWrite: state.decider.covers(item.path, isWrite: true))
      return true
    }
  }
}

// MARK: - Asking

extension ArbiterHost {
  /// The presenters, accesses and waits of the whole domain, and its processes.
  func domainSnapshot() throws(FileCoordinationError) -> SnapshotReply {
    try transport.ensureConnected()
    guard case .snapshot(let reply) = try ask(.snapshot) else { throw .snapshotTooLong }
    return reply
  }

  /// Asks a question that is answered with yes or no.
  func isSo(_ question: DomainQuestion) throws(FileCoordinationError) -> Bool {
    guard case .happened(let answer) = try ask(question) else {
      preconditionFailure("a yes-or-no question is answered by something else")
    }
    return answer
  }

  /// Blocks until there's an answer: at once in a domain of one process.
  private func ask(_ question: DomainQuestion) throws(FileCoordinationError) -> ClientAnswer {
    let pending = transport.reading {
      let pending = pose(question)
      transport.expectAnswer(before: nil)
      return pending
    } until: {
      $0.isAnswered
    }
    return try pending.wait()
  }

  private func pose(_ question: DomainQuestion) -> ServiceQuestion {
    stepWithState(raising: { _ in question.obstacles }) { state, time in
      let (reply, orders) = state.decider.ask(question, at: time)
      switch reply {
      case .known(let answer): return (ServiceQuestion(.answered(answer)), orders)
      case .awaited(let number): return (state.question(number), orders)
      }
    }
  }

  /// Does work that may wait for the service, on a thread that may block; in a domain of one process it never waits.
  func withoutBlocking<Result: Sendable>(
    _ work: @escaping @Sendable () throws(FileCoordinationError) -> Result
  ) async throws(FileCoordinationError) -> Result {
    if decidesAlone { return try work() }
    return try await Offload.run(work)
  }
}

extension ArbiterHost.State {
  /// The question that the last event was, if the service answers it.
  mutating func lastQuestion() -> ServiceQuestion? {
    guard let number = decider.lastQuestion else { return nil }
    return question(number)
  }

  fileprivate mutating func question(_ number: RequestNumber) -> ServiceQuestion {
    let question = ServiceQuestion()
    questions[number] = question
    return question
  }
}

/// The error with which a presenter of another process answered.
struct PresenterErrorElsewhere: Error, CustomStringConvertible {
  let code: FileCoordinationError.Code?
  /// The error as that process describes it.
  let description: String
  let deadlock: DeadlockReport?

  init(_ failure: PresenterFailure, at now: Timestamp) {
    deadlock = failure.deadlock.isEmpty ? nil : DeadlockReport(failure.deadlock, at: now)
    code = FileCoordinationError.Code(name: failure.code)
    description = failure.text
  }
}

extension PresenterFailure {
  init(_ error: any Error) {
    let known = error as? FileCoordinationError
    self.init(code: known?.code.name ?? "", text: "\(error)".fittingFrame, deadlock: known?.deadlock?.waits ?? [])
  }
}
