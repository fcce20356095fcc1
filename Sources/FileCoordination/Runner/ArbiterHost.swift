internal import CoordinationService
internal import FileAccessArbiter
internal import FileWatching
internal import Synchronization
internal import SystemInterface

/// Runs an arbiter: feeds it events, carries out its effects.
///
/// There is one choke point, ``step(_:raising:)``: lock, let the arbiter decide, look up who is concerned, unlock, act. Nothing
/// foreign runs under the lock: no accessor, no callback, no clock, no deinitialiser of somebody else's object.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the arbiter and the tables from its names to objects change together |
/// | effects being carried out | nobody | each is final, and the arbiter delivers to a presenter only what may run now |
final class ArbiterHost: Sendable {
  struct State {
    var arbiter: FileAccessArbiter
    var waiters: [AccessID: AccessWaiter] = [:]
    var presenters = PresenterTable()
    /// Of presenters that have coordinators.
    var identities: [ObjectIdentifier: WeakIdentity] = [:]
    var identityCountAtPurge = 0
    var reacquirers: [MessageID: FileReacquirer] = [:]
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
    /// Shown the state after each step, so that nobody has to sleep or poll.
    var observers: [ObjectIdentifier: StateObserver] = [:]
    /// Present if a service decides instead of the arbiter.
    var remote: RemoteState?
  }

  /// A reporting timer is armed again and again under one name; the number tells the armings apart.
  struct ArmedTimer: Sendable {
    let arming: UInt64
    /// Absent between arming and the clock's answer.
    var scheduled: ScheduledAction?
  }

  struct WeakIdentity: Sendable {
    weak let identity: PresenterIdentity?
  }

  /// What to do after unlocking.
  enum Action: Sendable {
    case resolve(AccessWaiter, AccessWaiter.Answer)
    case deliver(AddressedDelivery)
    case reacquire(PresenterRecord, MessageID, FileReacquirer)
    case locate(PresenterRecord)
    /// Kept until here, so that the executor of a forgotten presenter isn't released under the lock.
    case forget(PresenterRecord)
    case arm(ArbiterTimer, arming: UInt64, after: Int64)
    case cancelTimer(ScheduledAction)
    case report(WaitReport)
    case show(ArbiterSnapshot, [StateObserver])
    /// For the bridge to programs that don't coordinate.
    case note(ChangeBridge.Note)
  }

  /// A message, and what is needed to hand it over.
  struct AddressedDelivery: Sendable {
    let delivery: Delivery
    let record: PresenterRecord
    let purpose: String
    /// Whose access caused it.
    let process: HostIdentity
    let priority: TaskPriority?
  }

  static let client = ClientID(1)

  private static let lastNumber = Atomic<UInt64>(0)

  /// Tells the hosts of a process apart; numbers aren't used twice.
  let number = ArbiterHost.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  let configuration: CoordinationDomain.Configuration
  let identity = HostIdentity.current
  private let state: Guarded<State>
  /// Grants what nobody objects to, in front of the arbiter.
  let tier: FastTier<ProcessMemory>
  /// Where URLs lead.
  let identities: IdentityCache
  /// The connection to the service, in domains of several processes.
  let link: ServiceLink?
  /// Which items this process may grant itself.
  let coverage: LoanCoverage
  /// Where that is; absent in domains of one process.
  private let coverageWord: SharedWord?
  /// Watches files for presenters that observe programs which don't coordinate; made with the first of them.
  let changeBridge = AtomicLazyReference<ChangeBridge>()
  /// Puts a watcher in front of the system's that does what the system's does at its limits.
  let watcherForTests = Guarded<(@Sendable (any FileWatcher) -> any FileWatcher)?>(nil)

  init(_ configuration: CoordinationDomain.Configuration, meetingAt ground: MeetingGround? = nil) {
    self.configuration = configuration
    var arbiter = FileAccessArbiter(
      packageExtensions: configuration.packageExtensions.sorted(), fingerprintSeed: PathFingerprint.processSeed,
      tracksInterest: true)
    arbiter.clientJoined(Self.client, name: identity.description)
    let link = ground.map { ground in
      ServiceLink(
        Self.checkLength(ofPackageExtensions: configuration.packageExtensions, ground),
        packageExtensions: configuration.agreement)
    }
    self.link = link
    coverageWord = link.map { _ in SharedWord() }
    coverage = LoanCoverage(in: coverageWord)
    state = Guarded(State(arbiter: arbiter, remote: link.map(RemoteState.init)))
    tier = FastTier(memory: ProcessMemory(), number: number)
    identities = IdentityCache.shared(
      in: configuration.fileSystem, packageExtensions: configuration.packageExtensions,
      checkInterval: configuration.identityCheckInterval)
    link?.serve(self)
  }

  // Whoever claims keeps its domain, and that the host.
  deinit {
    link?.end()
    state.withLock { tier.deallocate(&$0.ledger) }
  }

  /// Lets the service take loans back without asking, from now on.
  func attachCoverage(to session: HeldLock) throws(SystemError) { try coverage.attach(coverageWord, to: session) }

  var now: Timestamp { configuration.clock.now.nanoseconds }

  /// Tells the arbiter that something happened, and carries out what it decides.
  func step(_ event: ArbiterEvent, raising obstacles: Obstacles = .none) {
    stepWithState(raising: { _ in obstacles }) { state, time in ((), state.tell(event, at: time)) }
  }

  /// Looks at the state, or changes tables that the arbiter doesn't know.
  ///
  /// Nothing foreign may happen in `body`.
  func withState<Result>(_ body: (inout State) -> sending Result) -> sending Result {
    state.withLock { body(&$0) }
  }

  /// Like ``step(_:raising:)``, for events that also change the host's tables.
  func stepWithState<Result: Sendable>(
    raising obstacles: (State) -> Obstacles = { _ in .none }, _ event: (inout State, Timestamp) -> (Result, [Effect])
  ) -> Result {
    let time = now
    let (result, actions) = state.withLock { state in
      withObstacles(obstacles(state), &state, at: time) { state in
        let (result, effects) = event(&state, time)
        return (result, Self.actions(for: effects, &state, at: time))
      }
    }
    perform(actions)
    link?.flush()
    return result
  }

  /// Like ``step(_:raising:)``, and leaves it to the caller to act when it holds no lock any more.
  func decide(_ event: ArbiterEvent, raising obstacles: Obstacles = .none) -> [Action] {
    let time = now
    return withState { state in
      withObstacles(obstacles, &state, at: time) { state in
        Self.actions(for: state.tell(event, at: time), &state, at: time)
      }
    }
  }

  /// Like ``stepWithState(raising:_:)`` for the answer of a presenter, whose next message, if there's one already, the task that
  /// answered can receive itself: no other thread has to wake up for it.
  func stepOfPresenter(
    _ record: PresenterRecord, _ event: (inout State, Timestamp) -> [Effect]
  ) -> AddressedDelivery? {
    defer { link?.flush() }
    let time = now
    var actions = state.withLock { state in
      withObstacles(.none, &state, at: time) { state in
        Self.actions(for: event(&state, time), &state, at: time)
      }
    }
    let next = actions.firstIndex { action in
      if case .deliver(let delivery) = action { delivery.record === record } else { false }
    }
    guard let next, case .deliver(let delivery) = actions.remove(at: next) else {
      perform(actions)
      return nil
    }
    perform(actions)
    return delivery
  }
}

// MARK: - From effects to actions, under the lock

extension ArbiterHost {
  private static func actions(for effects: [Effect], _ state: inout State, at time: Timestamp) -> [Action] {
    var actions: [Action] = []
    for effect in effects { append(effect, to: &actions, &state) }
    actions += state.remote?.callbacks.takeReleased() ?? []
    // Of a domain with a service only that knows the state.
    if state.remote == nil, !state.observers.isEmpty {
      actions.append(.show(state.arbiter.snapshot(at: time), Array(state.observers.values)))
    }
    return actions
  }

  static func append(_ effect: Effect, to actions: inout [Action], _ state: inout State) {
    switch effect {
    case .grant(let id, let grant):
      guard let waiter = state.waiters[id] else { return }
      waiter.notePlaces(grant)
      actions.append(.resolve(waiter, .granted(grant)))
    case .fail(let id, let failure): append(id, failure, nil, to: &actions, &state)
    case .deliver(let delivery): append(delivery, to: &actions, &state)
    case .itemMoved(let id, let item, let path):
      // Here, not outside of the lock: where an item is must not be noted in another order than it was moved.
      state.waiters[id]?.noteMove(of: item, to: path)
    case .presenterMoved(let id, let path): actions.append(.note(.follow(id, path)))
    case .locatePresenter(let id):
      if let record = state.presenters[id] { actions.append(.locate(record)) }
    case .forgetPresenter(let id):
      if let record = state.presenters.forget(id) { actions.append(.forget(record)) }
    case .armTimer(let timer, let interval):
      state.lastArming += 1
      state.timers[timer] = ArmedTimer(arming: state.lastArming)
      actions.append(.arm(timer, arming: state.lastArming, after: interval))
    case .cancelTimer(let timer):
      if let scheduled = state.timers.removeValue(forKey: timer)?.scheduled { actions.append(.cancelTimer(scheduled)) }
    case .report(_, let report): actions.append(.report(report))
    case .delegationWanted(let id): preconditionFailure("\(id) is wanted back, and nothing was lent")
    case .settle(let client, _): preconditionFailure("\(client) is to settle, and there's no other process")
    case .lookAgain(_, let change): actions.append(.note(.lookAgain(change)))
    }
  }

  /// What a presenter of another process answered is known by its explanation only.
  static func append(
    _ id: AccessID, _ failure: Failure, _ explanation: PresenterFailure?, to actions: inout [Action],
    _ state: inout State,
    at time: Timestamp = 0
  ) {
    var error: (any Error)?
    if case .presenterFailed(let message, _) = failure {
      error = state.presenterErrors[message] ?? explanation.map { PresenterErrorElsewhere($0, at: time) }
    }
    guard let waiter = state.waiters.removeValue(forKey: id) else { return }
    actions.append(.resolve(waiter, .failed(failure, presenterError: error)))
  }

  private static func append(_ delivery: Delivery, to actions: inout [Action], _ state: inout State) {
    guard let record = state.presenters[delivery.presenter] else {
      preconditionFailure("\(delivery.presenter) is delivered to and unknown")
    }
    if case .reacquire(let message) = delivery.kind {
      guard let reacquirer = state.reacquirers.removeValue(forKey: message) else {
        preconditionFailure("the reacquirer of \(message) is gone")
      }
      return actions.append(.reacquire(record, delivery.message, reacquirer))
    }
    // Whoever waits lends its priority to those it waits for.
    let priority = delivery.origin.access.flatMap { state.waiters[$0]?.priority }
    actions.append(
      .deliver(
        AddressedDelivery(
          delivery: delivery, record: record, purpose: state.name(of: delivery.origin.purpose),
          process: HostIdentity.current, priority: priority)))
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
      case .arm(let timer, let arming, let interval): arm(timer, arming, after: interval)
      case .cancelTimer(let scheduled): scheduled.cancel()
      case .report(let report): reportWait(report)
      case .show(let snapshot, let observers): show(snapshot, to: observers)
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
    if link == nil { return call() }
    Task.detached(executorPreference: ElasticThreadPool.shared) { call() }
  }

  private func arm(_ timer: ArbiterTimer, _ arming: UInt64, after interval: Int64) {
    let time = configuration.clock.now.advanced(by: .nanoseconds(interval))
    let scheduled = configuration.clock.schedule(at: time) { [weak self] in self?.fire(timer, arming) }
    // The timer may have been called off, or have fired and been armed again, before the clock answered.
    let isWanted = withState { state -> Bool in
      guard state.timers[timer]?.arming == arming else { return false }
      state.timers[timer]?.scheduled = scheduled
      return true
    }
    if !isWanted { scheduled.cancel() }
  }

  private func fire(_ timer: ArbiterTimer, _ arming: UInt64) {
    stepWithState { state, now in
      guard state.timers[timer]?.arming == arming else { return ((), []) }
      state.timers[timer] = nil
      return ((), state.arbiter.timerFired(timer, at: now))
    }
  }
}

extension ArbiterHost.State {
  func name(of purpose: PurposeID) -> String {
    purposes.name(of: purpose) ?? "file-coordination.\(HostIdentity.current.processIdentifier).\(purpose.rawValue)"
  }
}
