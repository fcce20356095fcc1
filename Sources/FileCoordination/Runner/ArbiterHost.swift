internal import CoordinationService
internal import FileAccessArbiter
internal import FileWatching
internal import Synchronization
internal import SystemInterface

/// Runs the value that decides in a domain, a ``Decider``: feeds it events, carries out its orders.
///
/// There is one choke point, ``step(_:raising:)``: lock, let the decider decide, find the objects that are concerned, unlock,
/// act. Nothing foreign runs under the lock: no accessor, no callback, no clock, no deinitialiser of somebody else's object.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the decider and the tables from its names to objects change together |
/// | actions being performed | nothing | each is final, and a presenter is delivered only messages that may run now |
final class ArbiterHost: Sendable {
  struct State {
    var decider: Decider
    var waiters: [AccessID: AccessWaiter] = [:]
    var presenters = PresenterTable()
    /// Of presenters that have coordinators.
    var identities: [ObjectIdentifier: WeakPurpose] = [:]
    var identityCountAtPurge = 0
    var reacquirers: [MessageID: Reacquirer] = [:]
    var presenterErrors: [MessageID: any Error] = [:]
    /// Timers that are to fire.
    var timers: [ArbiterTimer: ArmedTimer] = [:]
    var lastArming: UInt64 = 0
    var purposes = PurposeTable()
    var lastAccess: UInt64 = 0
    var lastPresenter: UInt64 = 0
    var lastPurpose: UInt64 = 0
    /// Accesses that were claimed in the fast tier, by slot.
    var adopted: [Int: GrantedAccess] = [:]
    var ledger = InterestLedger(layout: .standard)
    /// Shown the state after each step, so that no caller has to sleep or poll.
    var observers: [ObjectIdentifier: StateObserver] = [:]
    /// The questions that the service hasn't answered.
    var questions: [RequestNumber: ServiceQuestion] = [:]
    /// To be performed as soon as the lock is free.
    var actions: [Action] = []

    init(_ decider: Decider) { self.decider = decider }
  }

  /// A reporting timer is armed again and again under one name; the number distinguishes the armings.
  struct ArmedTimer: Sendable {
    let arming: UInt64
    /// Absent between arming and the clock's answer.
    var scheduled: ScheduledAction?
  }

  struct WeakPurpose: Sendable {
    weak let identity: SharedPurpose?
  }

  /// The work after unlocking.
  enum Action: Sendable {
    case resolve(AccessWaiter, AccessWaiter.Answer)
    case deliver(AddressedDelivery)
    case reacquire(PresenterRecord, MessageID, Reacquirer)
    case locate(PresenterRecord)
    /// Kept until here, so that the executor of a forgotten presenter isn't released under the lock.
    case forget(PresenterRecord)
    case arm(ArbiterTimer, arming: UInt64, at: MonotonicTime)
    case cancelTimer(ScheduledAction)
    case report(WaitReport)
    case show(ArbiterSnapshot, [StateObserver])
    case finish(StateObserver)
    case answer(ServiceQuestion, ServiceQuestion.Answer)
    /// For the bridge to programs that don't coordinate.
    case note(ChangeBridge.Note)
  }

  /// A message, and the data needed to hand it over.
  struct AddressedDelivery: Sendable {
    let delivery: Delivery
    let record: PresenterRecord
    let purpose: PurposeName
    /// The process whose access caused it.
    let process: OwnProcess
    let priority: TaskPriority?
  }

  static let client = ClientID(1)

  private static let lastNumber = Atomic<UInt64>(0)

  /// Distinguishes the hosts of a process; numbers aren't used twice.
  let number = ArbiterHost.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  let configuration: CoordinationDomain.Configuration
  let clock: DomainClock
  let identity = OwnProcess.current
  /// The accesses of other processes that this one belongs to.
  let inherited: AccessEnvironment.Inherited
  private let state: Guarded<State>
  /// Grants claims that meet no obstacle, in front of the arbiter.
  let tier: FastTier<ProcessMemory>
  /// Where URLs lead.
  let identities: ResolutionCache
  /// Carries the client's messages to the service; nothing in domains of one process.
  let transport: any ServiceTransport
  /// Where the processes of the domain meet; `nil` in domains of one process.
  let meetingGround: MeetingGround?
  /// Whether no other process takes part.
  var decidesAlone: Bool { meetingGround == nil }
  /// Which items this process may grant itself.
  let coverage: DelegationCoverage
  /// Where that is; absent in domains of one process.
  private let coverageWord: SharedWord?
  /// How long a thread stays awake that waits for an access.
  let watchfulness = SharedWatchfulness()
  private let ownReference = LazyReference<HostReference>()
  /// Leads to the host as long as it lives.
  var reference: HostReference { ownReference.load() ?? ownReference.storeIfNil(HostReference(self)) }
  /// Watches files for presenters that observe programs which don't coordinate; made with the first of them.
  let changeBridge = LazyReference<ChangeBridge>()
  /// Puts a watcher in front of the system's that behaves like the system's at its limits.
  let watcherForTests = Guarded<(@Sendable (any FileWatcher) -> any FileWatcher)?>(nil)

  init(
    _ configuration: CoordinationDomain.Configuration, meetingAt ground: MeetingGround? = nil,
    inside inherited: AccessEnvironment.Inherited = .ofProcess
  ) {
    self.configuration = configuration
    self.inherited = inherited
    let clock = DomainClock(configuration.clock)
    self.clock = clock
    var arbiter = FileAccessArbiter(
      packageExtensions: configuration.packageExtensions.sorted(), fingerprintSeed: PathFingerprint.processSeed,
      tracksInterest: true)
    arbiter.clientJoined(Self.client, name: identity.description)
    let ground = ground.map { Self.checkLength(ofPackageExtensions: configuration.packageExtensions, $0) }
    let link = ground.map {
      ServiceLink(
        $0, packageExtensions: configuration.agreement, inside: inherited.accesses.entry(for: $0)?.token, clock: clock)
    }
    meetingGround = ground
    transport = link ?? NoTransport()
    coverageWord = link.map { _ in SharedWord() }
    coverage = DelegationCoverage(in: coverageWord)
    state = Guarded(State(Decider(arbiter, client: link.map { ClientCore(session: $0.session) })))
    tier = FastTier(memory: ProcessMemory(), number: number)
    identities = ResolutionCache.shared(
      in: configuration.fileSystem, packageExtensions: configuration.packageExtensions,
      checkInterval: configuration.identityCheckInterval)
    link?.serve(self)
    if ground != nil { Self.hostsAmongProcesses.withLock { $0[number] = WeakReference(host: self) } }
  }

  // A claimant keeps its domain, and that keeps the host.
  deinit {
    if !decidesAlone { Self.hostsAmongProcesses.withLock { $0[number] = nil } }
    transport.end()
    state.withLock { tier.deallocate(&$0.ledger) }
  }

  /// Lets the service take delegations back without asking, from now on.
  func attachCoverage(to session: HeldLock) throws(SystemError) { try coverage.attach(coverageWord, to: session) }

  var now: Timestamp { configuration.clock.now.nanoseconds }

  /// Passes an event to the decider, and carries out its orders.
  func step(_ event: ArbiterEvent, raising obstacles: Obstacles = .none) {
    stepWithState(raising: { _ in obstacles }) { state, time in ((), state.decider.step(event, at: time)) }
  }

  /// Inspects the state, or changes tables that the decider doesn't use.
  ///
  /// No foreign code may run in `body`.
  func withState<Result>(_ body: (inout State) -> sending Result) -> sending Result {
    state.withLock { body(&$0) }
  }

  /// Like ``step(_:raising:)``, for events that also change the host's tables.
  ///
  /// - Parameters:
  ///   - obstacles: The interests that the event is about to add.
  ///   - reason: The error of waits that end because there's no service.
  ///   - event: The event.
  /// - Returns: The result of `event`.
  @discardableResult
  func stepWithState<Result: Sendable>(
    raising obstacles: (State) -> Obstacles = { _ in .none }, because reason: FileCoordinationError? = nil,
    _ event: (inout State, Timestamp) -> (Result, Orders)
  ) -> Result {
    let list = ActionList.ofThread()
    let result = decide(&list.actions, raising: obstacles, because: reason, event)
    perform(list.actions)
    list.giveBack()
    transport.flush()
    return result
  }

  /// Like ``step(_:raising:)``, and leaves it to the caller to act when it holds no lock any more.
  func decide(_ event: ArbiterEvent, raising obstacles: Obstacles = .none) -> [Action] {
    var actions: [Action] = []
    decide(&actions, raising: { _ in obstacles }) { state, time in ((), state.decider.step(event, at: time)) }
    return actions
  }

  // `actions` is empty and may have room; it gets the actions.
  private func decide<Result: Sendable>(
    _ actions: inout [Action], raising obstacles: (State) -> Obstacles = { _ in .none },
    because reason: FileCoordinationError? = nil, _ event: (inout State, Timestamp) -> (Result, Orders)
  ) -> Result {
    let time = now
    return state.withLock { state in
      swap(&state.actions, &actions)
      defer { swap(&state.actions, &actions) }
      return withObstacles(obstacles(state), &state, at: time) { state in
        var outcome = event(&state, time)
        carryOut(outcome.1, &state, at: time, because: reason)
        state.decider.reuse(&outcome.1)
        return outcome.0
      }
    }
  }

  /// Like ``stepWithState(raising:because:_:)`` for the answer of a presenter, whose next message, if there's one already, the task
  /// that answered can receive itself: no other thread has to wake up for it.
  func stepOfPresenter(
    _ record: PresenterRecord, _ event: (inout State, Timestamp) -> Orders
  ) -> AddressedDelivery? {
    defer { transport.flush() }
    let list = ActionList.ofThread()
    decide(&list.actions) { state, time in ((), event(&state, time)) }
    let next = list.takeDelivery(to: record)
    perform(list.actions)
    list.giveBack()
    return next
  }
}

// MARK: - From orders to actions, under the lock

extension ArbiterHost {
  func carryOut(
    _ orders: Orders, _ state: inout State, at time: Timestamp, because reason: FileCoordinationError? = nil
  ) {
    if orders.effects.count > 1 { state.actions.reserveCapacity(state.actions.count + orders.effects.count) }
    for effect in orders.effects { state.carryOut(effect, at: time) }
    for effect in orders.clientEffects { carryOut(effect, &state, at: time, because: reason) }
    if orders.isEvent, !state.observers.isEmpty, let snapshot = state.decider.stateToShow(at: time) {
      state.actions.append(.show(snapshot, Array(state.observers.values)))
    }
  }
}

extension ArbiterHost.State {
  fileprivate mutating func carryOut(_ effect: Effect, at time: Timestamp) {
    switch effect {
    case .grant(let id, let grant): self.grant(id, grant)
    case .fail(let id, let failure): fail(id, failure)
    case .deliver(let delivery): deliver(delivery)
    case .withdrawSave(let id, _):
      preconditionFailure("a save is withdrawn from \(id), and nothing is announced in one process")
    case .itemMoved(let id, let item, let path): noteMove(of: item, of: id, to: path)
    case .presenterMoved(let id, let path): actions.append(.note(.follow(id, path)))
    case .locatePresenter(let id): locatePresenter(id)
    case .forgetPresenter(let id): forgetPresenter(id)
    case .armTimer(let timer, let interval):
      lastArming += 1
      timers[timer] = ArbiterHost.ArmedTimer(arming: lastArming)
      let due = MonotonicTime(nanoseconds: time).advanced(by: .nanoseconds(interval))
      actions.append(.arm(timer, arming: lastArming, at: due))
    case .cancelTimer(let timer):
      if let scheduled = timers.removeValue(forKey: timer)?.scheduled { actions.append(.cancelTimer(scheduled)) }
    case .report(_, let report): actions.append(.report(report))
    case .delegationWanted(let id): preconditionFailure("\(id) is wanted back, and nothing was delegated")
    case .endEcho(let client, _): preconditionFailure("\(client) is to end an echo, and there's no other process")
    case .verifyAgain(_, let change): actions.append(.note(.verifyAgain(change)))
    }
  }

  mutating func grant(_ id: AccessID, _ grant: Grant) {
    guard let waiter = waiters[id] else { return }
    waiter.notePlaces(grant)
    actions.append(.resolve(waiter, .granted(grant)))
  }

  /// Ends a wait.
  ///
  /// The answer of a presenter of another process is available only as its explanation.
  mutating func fail(
    _ id: AccessID, _ failure: Failure, _ explanation: PresenterFailure? = nil, at time: Timestamp = 0
  ) {
    var error: (any Error)?
    if case .presenterFailed(let message, _) = failure {
      error = presenterErrors[message] ?? explanation.map { PresenterErrorElsewhere($0, at: time) }
    }
    endWait(of: id, .failed(failure, presenterError: error))
  }

  mutating func endWait(of id: AccessID, _ answer: AccessWaiter.Answer) {
    if let waiter = waiters.removeValue(forKey: id) { actions.append(.resolve(waiter, answer)) }
  }

  /// Here, not outside of the lock: where an item is must not be noted in another order than it was moved.
  mutating func noteMove(of item: Int, of id: AccessID, to path: ItemPath) {
    guard let waiter = waiters[id], waiter.items.indices.contains(item) else { return }
    waiter.noteMove(of: item, to: path)
  }

  mutating func locatePresenter(_ id: PresenterID) {
    if let record = presenters[id] { actions.append(.locate(record)) }
  }

  mutating func forgetPresenter(_ id: PresenterID) {
    if let record = presenters.forget(id) { actions.append(.forget(record)) }
  }

  private mutating func deliver(_ delivery: Delivery) {
    guard let record = presenters[delivery.presenter] else {
      preconditionFailure("\(delivery.presenter) is delivered to and unknown")
    }
    if case .reacquire(let message) = delivery.kind {
      guard let reacquirer = reacquirers.removeValue(forKey: message) else {
        preconditionFailure("the reacquirer of \(message) is gone")
      }
      return actions.append(.reacquire(record, delivery.message, reacquirer))
    }
    let id = delivery.origin.purpose
    let purpose = purposes.name(of: id).map(PurposeName.given) ?? .numbered(id.rawValue)
    deliver(delivery, to: record, purpose: purpose, process: .current)
  }

  mutating func deliver(
    _ delivery: Delivery, to record: PresenterRecord, purpose: PurposeName, process: OwnProcess
  ) {
    // A waiting access passes its priority on to those that it waits for.
    let priority = delivery.origin.access.flatMap { waiters[$0]?.priority }
    actions.append(
      .deliver(
        ArbiterHost.AddressedDelivery(
          delivery: delivery, record: record, purpose: purpose, process: process, priority: priority)))
  }
}

// MARK: - Actions, outside the lock

extension ArbiterHost {
  func perform(_ actions: [Action]) {
    for action in actions {
      switch action {
      case .resolve(let waiter, let answer): waiter.resolve(answer)
      case .deliver(let delivery): deliver(delivery)
      case .reacquire(let record, let message, let reacquirer): run(reacquirer, message, record)
      case .locate(let record): callingOut { self.locate(record) }
      case .forget: break
      case .arm(let timer, let arming, let time): arm(timer, arming, at: time)
      case .cancelTimer(let scheduled): scheduled.cancel()
      case .report(let report): reportWait(report)
      case .show(let snapshot, let observers): show(snapshot, to: observers)
      case .finish(let observer): observer.finish(false)
      case .answer(let question, let answer): question.resolve(answer)
      case .note(let note): changeBridge.load()?.post(note)
      }
    }
  }

  private func reportWait(_ report: WaitReport) {
    guard let reporter = configuration.waitReporter else { return }
    let notice = WaitNotice(report, at: now)
    callingOut { reporter(notice) }
  }

  /// Calls code of others that may ask the domain something.
  ///
  /// In a domain of several processes this may be the only thread that reads the answer, so it's done on another one.
  private func callingOut(_ call: @escaping @Sendable () -> Void) {
    if decidesAlone { return call() }
    Task.detached(executorPreference: ElasticThreadPool.shared) { call() }
  }

  /// Arms a timer for a time that was counted from the event: since then others may have moved the clock.
  private func arm(_ timer: ArbiterTimer, _ arming: UInt64, at time: MonotonicTime) {
    let scheduled = configuration.clock.schedule(at: time) { [reference] in reference.host?.fire(timer, arming) }
    // The timer may have been called off, or have fired and been armed again, before the clock answered.
    let isWanted = withState { state -> Bool in
      guard state.timers[timer]?.arming == arming else { return false }
      state.timers[timer]?.scheduled = scheduled
      return true
    }
    if !isWanted {
      scheduled.cancel()
    } else if configuration.clock.now >= time, scheduled.cancel() {
      // The time came before the clock knew of it.
      fire(timer, arming)
    }
  }

  private func fire(_ timer: ArbiterTimer, _ arming: UInt64) {
    stepWithState { state, now in
      guard state.timers[timer]?.arming == arming else { return ((), .none) }
      state.timers[timer] = nil
      return ((), state.decider.timerFired(timer, at: now))
    }
  }
}

extension ArbiterHost.State {
  func name(of purpose: PurposeID) -> String {
    purposes.name(of: purpose) ?? PurposeName.numbered(purpose.rawValue).text
  }
}
