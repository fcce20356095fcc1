internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SwiftRuntimeHooks
internal import SystemInterface

/// Coordinates reading and writing of files and directories among the accesses and presenters of a domain.
///
/// ```swift
/// let coordinator = FileCoordinator(label: "indexer")
/// let text = try await coordinator.read(url) { access in
///   try String(contentsOf: access.url, encoding: .utf8)
/// }
/// ```
///
/// A coordinator is cheap; make one per operation, or keep one for many. It may be used from any thread and task at the
/// same time. Its accesses never block each other, because they have one purpose; neither do those of coordinators made
/// for the same presenter, or with the same purpose identifier. A mutex within one purpose it is not.
///
/// Every verb comes twice: `async`, which suspends and honours cancellation, and through ``blocking``, which blocks the
/// calling thread.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | ``cancel()`` may come from any thread |
/// | `gate` | written under that lock | read at each access, before it claims |
///
/// - Note: Rules C-001…C-170 of <doc:Rules>.
@safe
public final class FileCoordinator: Sendable {
  /// How many items one request may name.
  public static let itemCountMax = 100_000

  /// The purpose may still be changed.
  private static let gateUndecided: UInt8 = 0
  static let gateOpen: UInt8 = 1
  /// Accesses on behalf of a presenter, those of a coordinator that was cancelled, and files known by identity need the arbiter.
  private static let gateClosed: UInt8 = 2

  private struct State {
    var purpose: PurposeID
    /// Keeps the name of the purpose in use.
    var namedPurpose: NamedPurpose?
    var isPurposeFixed: Bool
    var isCancelled = false
    var live: Set<AccessID> = []
    /// The answers for which preparations wait; one that the program drops answers by itself.
    var batchEnds: [AccessID: WeakBatchEnd] = [:]
  }

  private struct WeakBatchEnd { weak var answer: FileAnswer<Void>? }

  /// Where the coordinator's accesses meet others.
  public let domain: CoordinationDomain
  /// The name of the accessing party, in reports and in the origin of messages.
  public let label: String
  /// The deadlines of accesses that state none.
  public let deadlines: AccessDeadlines
  /// The presenter on whose behalf accesses are made; it's kept alive, and is neither asked nor notified about them
  /// (C-110).
  public let presenter: (any FilePresenter)?

  private let presenterPurpose: SharedPurpose?
  private let state: Guarded<State>
  /// Whether accesses may be granted by the fast tier.
  ///
  /// Set under the lock of `state`, read without it.
  let gate: Atomic<UInt8>
  /// Where URLs lead; the domain keeps it alive, and all threads would count references to it at one place.
  private let unmanagedIdentities: Unmanaged<ResolutionCache>

  var host: ArbiterHost { domain.host }

  /// Passes the cache of resolved URLs to `body`.
  @inline(__always)
  func withIdentities<Result>(_ body: (ResolutionCache) throws -> Result) rethrows -> Result {
    try unsafe unmanagedIdentities._withUnsafeGuaranteedRef { try body($0) }
  }

  var fileSystem: any FileSystem { host.configuration.fileSystem }

  /// Creates a coordinator.
  ///
  /// - Parameters:
  ///   - label: The name of the accessing party, for people; the place of this call unless stated.
  ///   - presenter: The presenter on whose behalf accesses are made, if any.
  ///   - domain: Where accesses meet others.
  ///   - deadlines: How long accesses may wait; those of the domain unless stated.
  ///   - fileID: The file of this call.
  ///   - line: The line of this call.
  public init(
    label: String? = nil, presenter: (any FilePresenter)? = nil, domain: CoordinationDomain = .standard,
    deadlines: AccessDeadlines? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    self.domain = domain
    self.label = label ?? "\(fileID):\(line)"
    self.presenter = presenter
    self.deadlines = deadlines ?? domain.configuration.deadlines
    presenterPurpose = presenter.map(domain.host.identity)
    unsafe unmanagedIdentities = Unmanaged.passUnretained(domain.host.identities)
    // A claim of the fast tier shows only a path.
    let mayClaim = presenter == nil && !domain.configuration.coordinatesFilesByIdentity
    gate = Atomic(mayClaim ? Self.gateUndecided : Self.gateClosed)
    state = Guarded(
      State(purpose: presenterPurpose?.purpose ?? domain.host.newPurpose(), isPurposeFixed: presenter != nil))
  }

  /// The verbs that block the calling thread.
  public var blocking: BlockingFileCoordinator { BlockingFileCoordinator(self) }
}

// MARK: - Purpose

extension FileCoordinator {
  /// The purpose of this coordinator's accesses.
  ///
  /// Accesses of equal purpose never wait for each other (C-116).
  ///
  /// Unique for each coordinator unless it was made for a presenter (C-113, C-114) or given another.
  public var purposeIdentifier: String { host.name(of: purpose) }

  /// Gives the coordinator the purpose of others.
  ///
  /// Possible once, before its first access, and not if it has a presenter.
  ///
  /// - Parameter identifier: The purpose, in reverse-DNS style. Not empty.
  /// - Throws: ``FileCoordinationError`` with code `.invalidPurposeIdentifier` (C-117, C-118), also when it has more than 65,535 bytes, or `.limitExceeded` when the
  ///   coordinators of this process have 65,536 other chosen purposes in a domain of several processes.
  public func setPurposeIdentifier(_ identifier: String) throws(FileCoordinationError) {
    if identifier.isEmpty { throw .invalidPurpose("a purpose identifier must not be empty. Pass a reverse-DNS name.") }
    if presenter != nil {
      throw .invalidPurpose("the coordinator '\(label)' has its presenter's purpose. Make one without a presenter.")
    }
    try host.checkLength(ofPurpose: identifier)
    let purpose = try host.purpose(named: identifier)
    let isSet = state.withLock { state -> Bool in
      if state.isPurposeFixed { return false }
      state.purpose = purpose.id
      state.namedPurpose = purpose
      state.isPurposeFixed = true
      return true
    }
    if !isSet {
      throw .invalidPurpose(
        "the purpose of the coordinator '\(label)' has been set or used already. Set it once, before the first access.")
    }
  }

  var purpose: PurposeID { state.withLock { $0.purpose } }
}

// MARK: - Cancelling

extension FileCoordinator {
  /// Ends every wait of this coordinator, and lets all its later calls fail with code `.cancelled`.
  ///
  /// An accessor that runs already runs to its end, but a blocking `prepare` doesn't wait for its completion handler any longer.
  /// Presenters that have relinquished get their reacquirers (C-160…C-167).
  /// May be called from any thread, and returns at once.
  public func cancel() {
    let (live, ends) = state.withLock { state -> ([AccessID], [FileAnswer<Void>]) in
      state.isCancelled = true
      gate.store(Self.gateClosed, ordering: .releasing)
      return (state.live.sorted(), state.batchEnds.values.compactMap(\.answer))
    }
    for id in live { host.cancel(id) }
    for end in ends { end.fail(FileCoordinationError.coordinatorCancelled(label)) }
  }

  /// Lets ``cancel()`` answer for the program, until the preparation is forgotten.
  func note(_ end: FileAnswer<Void>, of batch: AccessID) {
    let isCancelled = state.withLock { state in
      state.batchEnds[batch] = WeakBatchEnd(answer: end)
      return state.isCancelled
    }
    if isCancelled { end.fail(FileCoordinationError.coordinatorCancelled(label)) }
  }

  /// Answers for a program that keeps the handler of a preparation and doesn't call it; one that's dropped answers by
  /// itself.
  ///
  /// - Returns: The means to call it off; `nil` without a limit.
  func limit(_ end: FileAnswer<Void>, by deadlines: AccessDeadlines, _ subjects: [String]) -> ScheduledAction? {
    guard let limit = deadlines.waitingForAccesses else { return nil }
    let (clock, label) = (host.configuration.clock, label)
    return clock.schedule(at: clock.now.advanced(by: limit)) { [weak end] in
      end?.fail(FileCoordinationError.unfinishedBatch(label, subjects, after: limit))
    }
  }

  func forgetEnd(of batch: AccessID) { state.withLock { $0.batchEnds[batch] = nil } }

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Asks the arbiter for access, which may be granted already when this returns.
  func begin(
    _ plan: AccessPlan, _ deadlines: AccessDeadlines?, blocks: Bool
  ) throws(FileCoordinationError) -> AccessWaiter {
    try host.checkInherited()
    var request = try request(for: plan, deadlines ?? self.deadlines)
    request.blocksThread = blocks
    request.isOnMainThread = blocks && CurrentThread.isMain
    let task = CurrentTask.number
    let nesting = Nesting.current(.current, task: task)
    let (id, excess) = host.withState { state -> (AccessID, FileCoordinationError?) in
      state.lastAccess += 1
      return (AccessID(state.lastAccess), state.excess(nestingDepth: nesting.depth))
    }
    if let excess { throw excess }
    let waiter = AccessWaiter(
      id, plan.items, intents: plan.intents, aliases: request.items[plan.items.count...],
      priority: blocks ? nil : Task.currentPriority)
    state.withLock { _ = $0.live.insert(id) }
    let host = host
    host.stepWithState(raising: { request.obstacles(in: $0) }) { [request] state, now in
      state.waiters[id] = waiter
      var request = request
      if let (context, isAwaited) = host.context(of: nesting, task: task, &state, at: now) {
        request.context = context
        request.isAwaitedByContext = isAwaited
      }
      return ((), state.decider.step(.accessRequested(id, request), at: now))
    }
    // This doesn't block until there's a service: the request is kept for it, and answered if there can't be any.
    host.transport.expectAnswer(before: request.limits.waiting)
    // A cancellation between the two steps above found nothing to cancel.
    if isCancelled { host.cancel(id) }
    return waiter
  }

  /// The first access fixes the purpose.
  ///
  /// - Returns: Whether the fast tier may grant accesses.
  @inline(never)
  func decideGate() -> Bool {
    state.withLock { state in
      if gate.load(ordering: .relaxed) == Self.gateUndecided {
        state.isPurposeFixed = true
        gate.store(Self.gateOpen, ordering: .releasing)
      }
      return gate.load(ordering: .relaxed) == Self.gateOpen
    }
  }

  /// The presenter may have got a location by the access that has just ended (C-121).
  func locateOwnPresenter() {
    if !host.decidesAlone, let presenter { host.locateIfNeeded(presenter) }
  }

  func forget(_ id: AccessID) { state.withLock { _ = $0.live.remove(id) } }

  private func request(
    for plan: AccessPlan, _ deadlines: AccessDeadlines
  ) throws(FileCoordinationError) -> AccessRequest {
    let (purpose, isCancelled) = state.withLock { state -> (PurposeID, Bool) in
      state.isPurposeFixed = true
      return (state.purpose, state.isCancelled)
    }
    if isCancelled { throw .coordinatorCancelled(label) }
    let configuration = host.configuration
    var request = AccessRequest(
      client: ArbiterHost.client, purpose: purpose, ownPresenter: presenter.flatMap(host.record)?.id,
      label: label.fittingFrame, list: try plan.requestedItems(in: host),
      limits: deadlines.limits(
        reporting: configuration.waitReporter == nil ? nil : configuration.waitReportInterval))
    request.isPreparation = plan.isPreparation
    request.readingOptions = plan.readingOptions.rawValue
    request.proceedsWithoutLateAnswers = deadlines.lateAnswers == .proceed
    try host.checkLength(of: request)
    return request
  }
}

extension AccessRequest {
  /// The obstacles that the request raises at its items.
  fileprivate func obstacles(in state: ArbiterHost.State) -> Obstacles {
    if isPreparation || !state.decider.decidesAlone { return .none }
    if items.count > Obstacles.countMax { return .everywhere }
    var obstacles = ShortList<Obstacle<ItemPath>>()
    for item in items {
      let path = state.decider.currentPath(of: item.path, for: ownPresenter)
      obstacles.append(Obstacle(path: path, interest: ItemInterest(item.access)))
    }
    return Obstacles(obstacles)
  }
}
