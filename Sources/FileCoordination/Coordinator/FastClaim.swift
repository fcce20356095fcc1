internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// A claim that the fast tier granted, inside its accessor.
///
/// Owns nothing: the accessor's caller keeps the coordinator and the item.
///
/// `@unchecked Sendable` because the compiler can't see that; both classes are sendable.
@safe
struct FastClaim: @unchecked Sendable {
  let token: ClaimToken
  private unowned(unsafe) let unownedItem: ResolvedItem
  private unowned(unsafe) let unownedCoordinator: FileCoordinator

  @inline(__always)
  init(_ token: ClaimToken, _ item: ResolvedItem, _ coordinator: FileCoordinator) {
    self.token = token
    unsafe unownedItem = item
    unsafe unownedCoordinator = coordinator
  }

  var item: ResolvedItem { unsafe unownedItem }
  var coordinator: FileCoordinator { unsafe unownedCoordinator }

  /// The access in the arbiter; `nil` if the claim hasn't been adopted.
  var known: GrantedAccess? { coordinator.host.knownAccess(of: token) }

  func becomeKnown() -> GrantedAccess { coordinator.host.grantedAccess(of: token) }
}

/// The basis of an accessor's access: an access of the arbiter, or a claim of the fast tier.
enum AccessReference: Sendable {
  case granted(GrantedAccess)
  case claim(FastClaim)
}

extension FileCoordinator {
  /// Claims an item in the fast tier.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - access: The kind of access.
  ///   - thread: The running thread.
  ///   - task: The running task.
  ///   - patience: How long to try when another claim is in the way.
  /// - Returns: `nil` if the arbiter has to decide, or if the item is out of date.
  @inline(__always)
  func claim(
    _ item: ResolvedItem, _ access: PlainAccess, _ thread: ThreadRecord, task: UInt, _ patience: FastTierPatience
  ) -> ClaimToken? {
    if gate.load(ordering: .relaxed) != Self.gateOpen, !decideGate() { return nil }
    if item.isInPackage { return nil }
    if !domain.host.coverage.allows(item, isWrite: access.isWrite), !cover(item, access) { return nil }
    switch attempt(item, access, thread, task: task) {
    case .granted(let claim): return kept(claim, item, access)
    case .refused(let refusal): return claim(item, access, thread, task: task, patience, after: refusal)
    case .contested(let claim, let refusal):
      if domain.host.conclude(claim) { return kept(claim, item, access) }
      return self.claim(item, access, thread, task: task, patience, after: refusal)
    }
  }

  /// Checks whether a delegation of the process covers the item.
  @inline(never)
  private func cover(_ item: ResolvedItem, _ access: PlainAccess) -> Bool {
    domain.host.cover(item, isWrite: access.isWrite)
  }

  /// Keeps the claim only if the item hasn't moved since it was resolved, and is still covered.
  ///
  /// A move of an item marks everything that leads to it before the claims of the move end, so a check after the claim
  /// is shown finds the mark. In the same way, the return of a delegation is marked before claims are searched for.
  @inline(__always)
  private func kept(_ claim: ClaimToken, _ item: ResolvedItem, _ access: PlainAccess) -> ClaimToken? {
    if !item.isStale, domain.host.coverage.allows(item, isWrite: access.isWrite) { return claim }
    end(claim, item)
    return nil
  }

  @inline(__always)
  private func attempt(
    _ item: ResolvedItem, _ access: PlainAccess, _ thread: ThreadRecord, task: UInt
  ) -> FastTierAnswer {
    let note = unsafe ClaimNote(
      item: UInt(bitPattern: Unmanaged.passUnretained(item).toOpaque()),
      holder: UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()),
      outer: Nesting.current(thread, task: task).word, task: task, access: access.rawValue)
    let path = item.claimPath
    return access.isWrite
      ? domain.host.tier.write(path, shard: thread.number, note)
      : domain.host.tier.read(path, shard: thread.number, note)
  }

  /// Ends a claim, on any thread.
  @inline(__always)
  func end(_ claim: ClaimToken, _ item: ResolvedItem) {
    let key = unsafe item.prefixes[item.prefixCount &- 1]
    if !domain.host.tier.end(claim, key) { domain.host.endThroughHost(claim, key: key) }
  }
}

// MARK: - Contention

/// How long a claim tries again before it queues with the arbiter.
///
/// A claim that is in the way usually ends within nanoseconds, where queueing costs microseconds and wakes a thread up. As
/// long as it tries it isn't queued, so others may be granted first: ``durationMax`` is the bound of unfairness of the fast
/// tier.
struct FastTierPatience: Sendable {
  /// How long it polls without yielding.
  let spinning: Duration
  /// How long it lets other threads run between two polls although none of them runs.
  ///
  /// Then the holder works or sleeps, which may last. The system call alone takes less than ``Contention/shortestTurn``.
  let yieldingInVain: Duration
  /// How long it goes on when other threads do run meanwhile: the holder may have lost its processor, and gets it back
  /// only if the waiting threads yield.
  let durationMax: Duration

  /// For callers that may block their thread.
  static let blocking = FastTierPatience(
    spinning: .microseconds(2), yieldingInVain: .microseconds(100), durationMax: .microseconds(500))
  /// For tasks, as others may need the thread: about as long as it takes to queue and to be resumed.
  static let suspending = FastTierPatience(
    spinning: .microseconds(2), yieldingInVain: .microseconds(20), durationMax: .microseconds(20))
}

extension FileCoordinator {
  @inline(never)
  private func claim(
    _ item: ResolvedItem, _ access: PlainAccess, _ thread: ThreadRecord, task: UInt, _ patience: FastTierPatience,
    after refusal: FastTierRefusal
  ) -> ClaimToken? {
    var contention = Contention(patience, from: domain.host.clock.now)
    var refusal = refusal
    let path = item.claimPath
    while contention.isWorthWaiting(refusal) {
      contention.wait(at: domain.host) {
        domain.host.tier.mayClaim(path, isWrite: access.isWrite, shard: thread.number)
      }
      switch attempt(item, access, thread, task: task) {
      case .granted(let claim): return kept(claim, item, access)
      case .refused(let next): refusal = next
      case .contested(let claim, let next):
        if domain.host.conclude(claim) { return kept(claim, item, access) }
        refusal = next
      }
    }
    return nil
  }
}

/// The attempts of one claim that meets others.
private struct Contention {
  /// A turn of another thread takes longer than the system call that offers it.
  private static let shortestTurn = Duration.microseconds(2)

  private let patience: FastTierPatience
  /// How many turns it takes at most, should the clock stand still.
  ///
  /// Each costs 0.1 µs at least, so by the machine's clock time is about up by then.
  private static let turnCountMax = 4096

  private let start: MonotonicTime
  private var now: MonotonicTime
  private var turnCount = 0
  private var yieldedInVain = Duration.zero

  init(_ patience: FastTierPatience, from start: MonotonicTime) {
    self.patience = patience
    self.start = start
    now = start
  }

  private var elapsed: Duration { start.duration(to: now) }

  private var isOver: Bool {
    elapsed >= patience.durationMax || yieldedInVain >= patience.yieldingInVain || turnCount >= Self.turnCountMax
  }

  func isWorthWaiting(_ refusal: FastTierRefusal) -> Bool {
    switch refusal {
    case .noSlot: false
    case .busy: !isOver
    // Presenters have to be asked; accesses of the arbiter take longer than anybody spins.
    case .interest(let interest): !interest.isPresented && !isOver
    }
  }

  /// Spins, then yields, until it looks as if it may be granted, or the time is over.
  ///
  /// - Parameters:
  ///   - host: The host whose clock it reads, in place: a copy of the clock would count references, and threads that meet here
  ///     share that count.
  ///   - mayClaim: Looks whether it may be granted.
  mutating func wait(at host: ArbiterHost, until mayClaim: () -> Bool) {
    while true {
      now = host.clock.now
      turnCount += 1
      if isOver || mayClaim() { return }
      if elapsed < patience.spinning, Spin.isUseful {
        Spin.pause()
      } else {
        yield(at: host)
      }
    }
  }

  private mutating func yield(at host: ArbiterHost) {
    HostThread.yield()
    let turn = now.duration(to: host.clock.now)
    if turn < Self.shortestTurn { yieldedInVain += turn }
  }
}
