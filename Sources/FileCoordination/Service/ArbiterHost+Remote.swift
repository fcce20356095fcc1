internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

// The host of a domain of several processes: what the service decides comes as frames, and is carried out like the effects of
// an arbiter of one's own.

extension ArbiterHost {
  /// Takes in what the service tells, in its order.
  func take(_ frames: ArraySlice<ServerFrame>) {
    settleEchoes(in: frames)
    let time = now
    let actions = withState { state in
      var actions: [Action] = []
      for frame in frames { take(frame, &state, &actions, at: time) }
      return actions
    }
    perform(actions)
    link?.flush()
  }

  private func take(_ frame: ServerFrame, _ state: inout State, _ actions: inout [Action], at time: Timestamp) {
    switch frame {
    case .welcome, .refused: break
    case .granted(let id, let grant, let token):
      guard let waiter = state.waiters[id] else {
        // Nobody waits for it any more.
        return _ = state.tell(.accessReleased(id, []), at: time)
      }
      waiter.noteToken(token)
      state.remote?.cancelled.remove(id)
      Self.append(.grant(id, grant), to: &actions, &state)
    case .failed(let id, let failure, let explanation):
      state.remote?.forget(id)
      Self.append(id, failure, explanation, to: &actions, &state, at: time)
    case .delivered(let delivery, let origin): take(delivery, origin, &state, &actions)
    case .itemMoved(let id, let item, let path):
      guard let waiter = state.waiters[id], waiter.items.indices.contains(Int(item)) else { break }
      waiter.noteMove(of: Int(item), to: path)
    case .presenterMoved(let id, let path):
      state.remote?.registrations[id]?.path = path
      actions.append(.note(.follow(id, path)))
    case .settle: break
    case .lookAgain(let change): actions.append(.note(.lookAgain(change)))
    case .presenterToBeLocated(let id): Self.append(.locatePresenter(id), to: &actions, &state)
    case .presenterForgotten(let id): Self.append(.forgetPresenter(id), to: &actions, &state)
    case .reported(let id, let report): Self.append(.report(id, report), to: &actions, &state)
    case .delegated(let id, let root, let mode): borrow(id, root, mode, &state)
    case .recalled(let id): giveBack(id, &state, at: time)
    case .moved(let old, let new): identities.noteMove(from: old, to: new)
    case .answered(let number, let hasHappened): link?.answer(number, .happened(hasHappened))
    case .survey(let number):
      adoptAllClaims(&state, at: time)
      link?.tell(.surveyed(number))
    case .snapshot(let number, let reply): link?.answer(number, .snapshot(reply))
    case .observed(let reply):
      if !state.observers.isEmpty { actions.append(.show(reply.arbiter, Array(state.observers.values))) }
    case .lost(let id):
      state.remote?.forget(id)
      state.remote?.lost.insert(id)
      state.waiters[id]?.noteLoss()
    case .graceEnded: link?.graceEnded()
    }
  }

  private func take(
    _ delivery: Delivery, _ origin: DeliveryOrigin, _ state: inout State, _ actions: inout [Action]
  ) {
    guard let record = state.presenters[delivery.presenter] else {
      return _ = state.tell(.messageAnswered(delivery.message, hasReacquirer: false), at: 0)
    }
    if case .reacquire(let message) = delivery.kind {
      state.remote?.debts[message] = nil
      guard let reacquirer = state.reacquirers.removeValue(forKey: message) else {
        return _ = state.tell(.messageAnswered(delivery.message, hasReacquirer: false), at: 0)
      }
      return run(.reacquire(record, delivery.message, reacquirer), delivery, &state, &actions)
    }
    if state.remote?.registrations[delivery.presenter] == nil {
      // Unregistered here while the message was on its way: it isn't received (C-191), and the service forgets the presenter
      // only after the last answer.
      return _ = state.tell(.messageAnswered(delivery.message, hasReacquirer: false), at: 0)
    }
    if let debt = origin.debtOrigin {
      state.remote?.debts[delivery.message] = RemoteState.Debt(presenter: delivery.presenter, origin: debt)
    }
    let priority = delivery.origin.access.flatMap { state.waiters[$0]?.priority }
    let process = HostIdentity(processIdentifier: origin.processIdentifier, processName: origin.processName)
    let addressed = AddressedDelivery(
      delivery: delivery, record: record, purpose: origin.purpose, process: process, priority: priority)
    run(.deliver(addressed), delivery, &state, &actions)
  }

  private func run(_ action: Action, _ delivery: Delivery, _ state: inout State, _ actions: inout [Action]) {
    let isAnyoneNested = state.remote?.callbacks.hasStale == true && state.isAnyoneNested
    let isHeldBack = state.remote?.callbacks.holdsBack(
      action, delivery.message, of: delivery.presenter, isAnyoneNested: isAnyoneNested)
    if isHeldBack != true { actions.append(action) }
  }
}

// MARK: - Deciding alone

extension ArbiterHost {
  /// Looks up whether the item is in a directory that this process was lent.
  ///
  /// - Returns: Whether a claim is worth trying.
  @inline(never)
  func cover(_ item: ResolvedItem, isWrite: Bool) -> Bool {
    withState { state in
      guard let remote = state.remote else { return true }
      // Once: the service may write it meanwhile.
      let number = coverage.current
      if LoanCoverage.isRevoked(number) || !remote.covers(item.path, isWrite: isWrite) { return false }
      item.noteCoverage(number, mayWrite: remote.covers(item.path, isWrite: true))
      return true
    }
  }

  /// With more accesses than this, looking through them for each loan would cost more than loans save.
  private static let companionCountMax = 4096

  private func borrow(_ id: DelegationID, _ root: ItemPath, _ mode: DelegationMode, _ state: inout State) {
    guard let requests = state.remote?.requests, requests.count <= Self.companionCountMax else {
      return link?.tell(.delegationReturned(id)) ?? ()
    }
    state.remote?.loans.borrow(id, root, mode, beside: requests.lazy.map { ($0.key, $0.value) })
  }

  /// Gives back what would keep a request waiting that the service is about to be told of.
  ///
  /// It saves that the service asks for it, and lets the service know that a request which comes while a loan lasts was under
  /// way before the loan.
  func makeWay(for request: AccessRequest, _ state: inout State, at time: Timestamp) {
    for id in state.remote?.loans.inTheWay(of: request) ?? [] { giveBack(id, &state, at: time) }
  }

  /// Gives back what was lent, and tells what was granted under it and still lasts.
  private func giveBack(_ id: DelegationID, _ state: inout State, at time: Timestamp) {
    if coverage.isRevoked { return giveAllBack(&state, at: time) }
    guard let loan = state.remote?.loans[id] else { return }
    forbidClaims()
    adoptClaims(inside: loan.root, &state, at: time)
    state.remote?.loans.giveBack(id)
    link?.tell(.delegationReturned(id))
  }

  /// This process was stopped when the service wanted something back, and others don't wait for that any more.
  private func giveAllBack(_ state: inout State, at time: Timestamp) {
    adoptAllClaims(&state, at: time)
    for (id, _) in state.remote?.loans.sorted ?? [] { link?.tell(.delegationReturned(id)) }
    state.remote?.loans.forgetAll()
    coverage.acknowledgeRevocation()
  }

  /// From here on every claim meets that it isn't covered, or is found among those that are shown.
  private func forbidClaims() { coverage.renew() }

  private func adoptAllClaims(_ state: inout State, at time: Timestamp) {
    adoptClaims(inside: .root, &state, at: time)
  }
}

// MARK: - Between two services

extension ArbiterHost {
  /// The service has gone away: what it lent is no more, and what's held is to be told to the next one.
  func serviceIsGone() {
    let time = now
    let actions = withState { state in
      forbidClaims()
      // Told as part of what's held: the link keeps nothing of what is told before it's suspended.
      adoptAllClaims(&state, at: time)
      let actions = state.forgetService()
      link?.suspend(state.resumption())
      return actions
    }
    perform(actions)
  }

  /// Others may have been inside of what this process holds, and may have gone already.
  ///
  /// A service that hears now what is held protects it again if nobody is inside any more, and can't tell who was meanwhile.
  func wasExpelled() {
    withState { state in
      for id in state.remote?.requests.keys.sorted() ?? [] {
        if let waiter = state.waiters[id], waiter.isGranted { waiter.noteLoss() }
      }
    }
  }

  /// There's no service, and none can be elected: everybody who waits is told so.
  func serviceIsUnreachable(_ error: FileCoordinationError) {
    let time = now
    let (waiters, observers, actions) = withState { state -> ([AccessWaiter], [StateObserver], [Action]) in
      forbidClaims()
      adoptAllClaims(&state, at: time)
      let actions = state.forgetService()
      var failed: [AccessWaiter] = []
      for id in state.remote?.requests.keys.sorted() ?? [] {
        guard let waiter = state.waiters[id] else { continue }
        if waiter.isGranted {
          state.remote?.lost.insert(id)
          waiter.noteLoss()
        } else {
          state.waiters[id] = nil
          failed.append(waiter)
        }
      }
      state.remote?.requests = [:]
      state.remote?.cancelled = []
      let observers = Array(exchange(&state.observers, with: [:]).values)
      link?.keep(state.resumption())
      return (failed, observers, actions)
    }
    perform(actions)
    for observer in observers { observer.finish(false) }
    for waiter in waiters { waiter.resolve(.unreachable(error)) }
  }
}

extension ArbiterHost.State {
  /// Whether a callback, or what it does, waits for an access.
  fileprivate var isAnyoneNested: Bool {
    remote?.requests.contains { $0.value.context != nil && waiters[$0.key]?.isGranted == false } == true
  }

  /// What was lent is no more, and nobody knows of messages any more.
  ///
  /// - Returns: The turns of presenters that have unregistered: nobody else would give them.
  fileprivate mutating func forgetService() -> [ArbiterHost.Action] {
    remote?.loans.forgetAll()
    remote?.callbacks.forgetService()
    // Those who waited have been told why they needn't, and nobody is left to answer.
    for id in remote?.requests.keys.sorted() ?? [] where waiters[id] == nil { remote?.forget(id) }
    for message in remote?.debts.keys.sorted() ?? [] { remote?.debts[message]?.isStale = true }
    var actions: [ArbiterHost.Action] = []
    for message in reacquirers.keys.sorted() where remote?.isOrphaned(message) == true {
      guard let presenter = remote?.debts.removeValue(forKey: message)?.presenter, let record = presenters[presenter],
        let reacquirer = reacquirers.removeValue(forKey: message)
      else { continue }
      actions.append(.reacquire(record, message, reacquirer))
    }
    return actions + forgetEndingPresenters()
  }
}

extension ArbiterHost.State {
  /// No service knows presenters that have unregistered under an earlier one, so none will say that nothing more comes.
  ///
  /// Those whose callbacks run are looked at again when the next service goes.
  private mutating func forgetEndingPresenters() -> [ArbiterHost.Action] {
    var actions: [ArbiterHost.Action] = []
    for record in presenters.ending.sorted(by: { $0.id < $1.id }) where remote?.callbacks.isBusy(record.id) == false {
      if let forgotten = presenters.forget(record.id) { actions.append(.forget(forgotten)) }
    }
    return actions
  }
}

// MARK: - Asking

extension ArbiterHost {
  /// Who presents, holds and waits in the whole domain, and which processes take part.
  func serviceSnapshot() throws(FileCoordinationError) -> SnapshotReply {
    guard let link else { preconditionFailure("a domain of one process has no service") }
    try link.ensureConnected()
    guard case .snapshot(let reply) = try link.ask({ .snapshotWanted($0) }) else { throw .snapshotTooLong }
    return reply
  }

  /// Asks the service whether something happened, or is so.
  func askService(_ makeFrame: (RequestNumber) -> ClientFrame) throws(FileCoordinationError) -> Bool {
    guard let link else { preconditionFailure("a domain of one process has no service") }
    guard case .happened(let answer) = try link.ask(makeFrame) else {
      preconditionFailure("a yes-or-no question is answered by something else")
    }
    return answer
  }
}

extension ArbiterHost {
  /// Does what may wait for the service, on a thread that may block; nobody waits in a domain of one process.
  func withoutBlocking<Result: Sendable>(
    _ work: @escaping @Sendable () throws(FileCoordinationError) -> Result
  ) async throws(FileCoordinationError) -> Result {
    if link == nil { return try work() }
    return try await Offload.run(work)
  }
}

/// What a presenter of another process answered.
struct PresenterErrorElsewhere: Error, CustomStringConvertible {
  let code: FileCoordinationError.Code?
  /// The error as that process describes it.
  let description: String
  let deadlock: DeadlockReport?

  init(_ failure: PresenterFailure, at now: Timestamp) {
    deadlock = failure.deadlock.isEmpty ? nil : DeadlockReport(failure.deadlock, at: now)
    code = FileCoordinationError.Code(rawValue: failure.code)
    description = failure.text
  }
}

extension PresenterFailure {
  init(_ error: any Error) {
    let known = error as? FileCoordinationError
    self.init(code: known?.code.rawValue ?? "", text: "\(error)".fittingFrame, deadlock: known?.deadlock?.waits ?? [])
  }
}
