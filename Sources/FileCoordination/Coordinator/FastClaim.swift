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

  /// The access as the arbiter knows it, if somebody was interested already.
  var known: GrantedAccess? { coordinator.host.knownAccess(of: token) }

  func becomeKnown() -> GrantedAccess { coordinator.host.grantedAccess(of: token) }
}

/// What an accessor's access rests on.
enum AccessReference: Sendable {
  case granted(GrantedAccess)
  case claim(FastClaim)
}

extension FileCoordinator {
  /// Claims an item in the fast tier.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - access: What is done with it.
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
    case .unsettled(let claim, let refusal):
      if domain.host.settle(claim) { return kept(claim, item, access) }
      return self.claim(item, access, thread, task: task, patience, after: refusal)
    }
  }

  /// Looks up whether the process was lent the item.
  @inline(never)
  private func cover(_ item: ResolvedItem, _ access: PlainAccess) -> Bool {
    domain.host.cover(item, isWrite: access.isWrite)
  }

  /// Whoever moves an item marks what leads to it before its own claims end: so a look after the claim is shown tells whether
  /// the item has gone elsewhere since it was resolved.
  ///
  /// In the same way whoever gives back what the process was lent marks that before it looks for claims.
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
  /// How long it looks again and again.
  let spinning: Duration
  /// How long it lets other threads run between two looks although none wants to.
  ///
  /// Then the holder works or sleeps, which may last. The system call alone takes less than ``Contention/shortestTurn``.
  let yieldingInVain: Duration
  /// How long it goes on when other threads do run meanwhile: the holder may have lost its processor, and gets it back only if
  /// those who wait let it.
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
    var contention = Contention(patience)
    var refusal = refusal
    let path = item.claimPath
    while contention.isWorthWaiting(refusal) {
      contention.wait { domain.host.tier.mayClaim(path, isWrite: access.isWrite, shard: thread.number) }
      switch attempt(item, access, thread, task: task) {
      case .granted(let claim): return kept(claim, item, access)
      case .refused(let next): refusal = next
      case .unsettled(let claim, let next):
        if domain.host.settle(claim) { return kept(claim, item, access) }
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
  private let start = HostClock.shared.now
  private var now: MonotonicTime
  private var yieldedInVain = Duration.zero

  init(_ patience: FastTierPatience) {
    self.patience = patience
    now = start
  }

  private var elapsed: Duration { start.duration(to: now) }

  private var isOver: Bool { elapsed >= patience.durationMax || yieldedInVain >= patience.yieldingInVain }

  func isWorthWaiting(_ refusal: FastTierRefusal) -> Bool {
    switch refusal {
    case .noSlot: false
    case .busy: !isOver
    // Presenters have to be asked; accesses of the arbiter take longer than anybody spins.
    case .interest(let interest): !interest.isPresented && !isOver
    }
  }

  /// Spins, then yields, until it looks as if it may be granted, or the time is over.
  mutating func wait(until mayClaim: () -> Bool) {
    while true {
      now = HostClock.shared.now
      if isOver || mayClaim() { return }
      if elapsed < patience.spinning, Spin.isUseful {
        Spin.pause()
      } else {
        yield()
      }
    }
  }

  private mutating func yield() {
    HostThread.yield()
    let turn = now.duration(to: HostClock.shared.now)
    if turn < Self.shortestTurn { yieldedInVain += turn }
  }
}
