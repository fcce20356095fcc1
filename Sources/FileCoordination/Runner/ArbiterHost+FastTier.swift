internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// The host's side of the fast tier. All of it runs under the host's lock, in the order of
// `FastTier.step(raising:_:adopt:_:)`.

extension ItemPath: NestedItem {}

extension Obstacle where Item == ItemPath {
  init(path: ItemPath, interest: ItemInterest) {
    let key = PathFingerprint.whole(of: path, seed: PathFingerprint.processSeed)
    self.init(item: path, key: key.rawValue, interest: interest)
  }
}

/// The obstacles that a step makes known.
struct Obstacles: Sendable {
  let list: ShortList<Obstacle<ItemPath>>
  /// The slot of a claim that the step itself ends, so that it isn't adopted.
  var endingSlot: Int?

  /// Scanning all claims once is cheaper than searching for many items one by one.
  static let countMax = 8

  static let none = Obstacles([])
  /// So much that nobody but the arbiter grants anything meanwhile.
  static let everywhere = Obstacles([Obstacle(path: .root, interest: .everything)])

  init(_ obstacles: ShortList<Obstacle<ItemPath>>) {
    list = obstacles.count > Self.countMax ? Self.everywhere.list : obstacles
  }
}

extension ArbiterHost.State: TierArbiter {
  mutating func takeInterestChanges() -> [InterestChange] { decider.takeInterestChanges() }
}

extension ArbiterHost {
  /// Runs a step while its obstacles are raised.
  func withObstacles<Result>(
    _ obstacles: Obstacles, _ state: inout State, at time: Timestamp, _ step: (inout State) -> Result
  ) -> Result {
    if !state.decider.decidesAlone {
      // A service recalls its delegations, and this process grants nothing else to itself.
      noteRevocation(&state)
      return step(&state)
    }
    return tier.step(
      raising: obstacles.list, &state,
      adopt: { slot, obstacle, state in
        slot == obstacles.endingSlot ? .unconcerned : adopt(slot, under: obstacle, &state, at: time)
      }, step)
  }
}

// MARK: - Adopting

extension ArbiterHost {
  /// Makes the claim in a frozen slot an access of the arbiter, if the arbiter admits it.
  ///
  /// If the arbiter doesn't, the claim met an obstacle that was there before it, and has to retreat. Claims that the
  /// obstacle, if there's one, doesn't cover aren't concerned.
  private func adopt(
    _ slot: Int, under obstacle: Obstacle<ItemPath>?, _ state: inout State, at time: Timestamp
  ) -> AdoptionDecision {
    let claim = AdoptableClaim(slot: slot)
    let path = claim.item.path
    if let obstacle, !obstacle.covers(path, isWrite: claim.access.isWrite) { return .unconcerned }
    guard state.decider.admits(claim.access, at: path) else { return .refused }
    state.lastAccess += 1
    let id = AccessID(state.lastAccess)
    let request = request(for: claim, &state, at: time)
    let waiter = AccessWaiter(id, adopting: claim)
    if let token = state.decider.token(for: path, isWrite: claim.access.isWrite) { waiter.noteToken(token) }
    state.waiters[id] = waiter
    state.adopted[slot] = GrantedAccess(adoptedBy: claim.coordinator, waiter)
    let orders = state.decider.step(.accessAdopted(id, request), at: time)
    precondition(orders.effects.isEmpty, "adopting \(id) has effects: \(orders.effects)")
    for effect in orders.clientEffects { carryOut(effect, &state, at: time, because: nil) }
    return .adopted
  }

  /// Adopts all claims that concern an item or something inside it.
  func adoptClaims(inside root: ItemPath, _ state: inout State, at time: Timestamp) {
    tier.adoptClaims(under: Obstacle(path: root, interest: .everything), &state) { slot, obstacle, state in
      adopt(slot, under: obstacle, &state, at: time)
    }
  }

  private func request(for claim: AdoptableClaim, _ state: inout State, at time: Timestamp) -> AccessRequest {
    var request = AccessRequest(
      client: Self.client, purpose: claim.coordinator.purpose, label: claim.coordinator.label.fittingFrame,
      items: [AccessRequest.Item(claim.item.path, claim.access.itemAccess)])
    if claim.access == .readWithoutChanges {
      request.readingOptions = FileCoordinator.ReadingOptions.withoutChanges.rawValue
    }
    if let (context, isAwaited) = context(of: claim.outer, task: claim.task, &state, at: time) {
      request.context = context
      request.isAwaitedByContext = isAwaited
    }
    return request
  }

  /// The innermost access or callback of this host that something is nested in, and whether that certainly waits for it.
  ///
  /// A claim of the fast tier that is met on the way is adopted: the arbiter needs every wait.
  func context(
    of nesting: Nesting, task: UInt, _ state: inout State, at time: Timestamp
  ) -> (context: ExecutionContext, isAwaited: Bool)? {
    var nesting = nesting
    while let element = nesting.element {
      switch element {
      case .claim(let slot):
        let claim = AdoptableClaim(slot: slot)
        if claim.coordinator.host === self, let id = access(in: slot, &state, at: time) {
          return (.access(id), claim.task == task)
        }
        nesting = claim.outer
      case .lineage(let lineage):
        if lineage.hostNumber == number, let context = context(of: lineage, &state, at: time) {
          return (context, lineage.task == task)
        }
        nesting = lineage.outer
      }
    }
    return nil
  }

  private func context(of lineage: Lineage, _ state: inout State, at time: Timestamp) -> ExecutionContext? {
    switch lineage.context {
    case .known(let context): context
    case .claim(let token): access(of: token, &state, at: time).map(ExecutionContext.access)
    }
  }

  /// The access that a claim is, which becomes one if it isn't yet; the claim's holder is still inside.
  private func access(in slot: Int, _ state: inout State, at time: Timestamp) -> AccessID? {
    let slotState = tier.state(at: slot)
    return access(
      of: ClaimToken(slot: slot, state: slotState.without(SlotState.isAdopted)), &state, at: time)
  }

  /// The access that a claim is, which becomes one if it isn't yet; `nil` if the claim has ended.
  func access(of claim: ClaimToken, _ state: inout State, at time: Timestamp) -> AccessID? {
    let isAdopted = tier.adoptClaim(claim, &state) { slot, state in adopt(slot, under: nil, &state, at: time) }
    return isAdopted ? state.adopted[claim.slot]?.waiter.id : nil
  }
}

/// A claim in a slot that its holder can't free right now, or won't because it's further out in the same code.
struct AdoptableClaim {
  let item: ResolvedItem
  let coordinator: FileCoordinator
  let access: PlainAccess
  let outer: Nesting
  let task: UInt

  init(slot: Int) {
    let note = ClaimNote(at: slot, in: ProcessMemory())
    guard let item = unsafe UnsafeRawPointer(bitPattern: note.item),
      let holder = unsafe UnsafeRawPointer(bitPattern: note.holder), let access = PlainAccess(rawValue: note.access)
    else { preconditionFailure("the slot says \(note)") }
    self.item = unsafe Unmanaged<ResolvedItem>.fromOpaque(item).takeUnretainedValue()
    coordinator = unsafe Unmanaged<FileCoordinator>.fromOpaque(holder).takeUnretainedValue()
    self.access = access
    outer = Nesting(word: note.outer)
    task = note.task
  }
}

// MARK: - Ending and adoption

extension ArbiterHost {
  /// The outcome for a claim that couldn't be taken back: whether it's granted.
  func conclude(_ claim: ClaimToken) -> Bool { withState { _ in tier.conclude(claim) } }

  /// Ends a claim that was adopted, or that is being examined.
  func endThroughHost(_ claim: ClaimToken, key: UInt64) {
    let access = withState { state -> GrantedAccess? in
      if let access = state.adopted.removeValue(forKey: claim.slot) { return access }
      tier.free(claim, key)
      return nil
    }
    guard let access else { return }
    access.end()
    tier.free(claim, key)
  }

  /// The access that a claim of the running accessor is, which becomes one if it isn't yet.
  func grantedAccess(of claim: ClaimToken) -> GrantedAccess {
    stepWithState { state, time in
      guard access(of: claim, &state, at: time) != nil, let access = state.adopted[claim.slot] else {
        preconditionFailure("a claim that lasts isn't admitted")
      }
      return (access, .noEvent)
    }
  }

  /// The same if it's adopted already.
  func knownAccess(of claim: ClaimToken) -> GrantedAccess? {
    if !tier.state(at: claim.slot).has(SlotState.isAdopted) { return nil }
    return withState { $0.adopted[claim.slot] }
  }
}

// MARK: - Observing

extension ArbiterHost {
  /// The presenters, accesses and waits right now, claims of the fast tier included.
  ///
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable` when a service has to be asked and can't.
  func snapshot() throws(FileCoordinationError) -> ArbiterSnapshot { try domainSnapshot().arbiter }

  /// Shows an observer the state after each step from now on: until it goes, every access is a step.
  func addObserver(_ observer: StateObserver) throws(FileCoordinationError) -> ArbiterSnapshot {
    try transport.ensureConnected()
    stepWithState(raising: { _ in .everywhere }) { state, _ in
      let isFirst = state.observers.isEmpty
      state.observers[ObjectIdentifier(observer)] = observer
      return ((), isFirst ? observe(true, &state) : .noEvent)
    }
    do throws(FileCoordinationError) { return try snapshot() } catch {
      removeObserver(observer)
      throw error
    }
  }

  func removeObserver(_ observer: StateObserver) {
    stepWithState { state, _ in
      guard state.observers.removeValue(forKey: ObjectIdentifier(observer)) != nil else { return ((), .noEvent) }
      return ((), state.observers.isEmpty ? observe(false, &state) : .noEvent)
    }
  }

  /// While there's an observer, the fast tier grants nothing: a service delegates nothing then, and here everything is
  /// in its way.
  private func observe(_ isWanted: Bool, _ state: inout State) -> Orders {
    if state.decider.decidesAlone {
      for obstacle in Obstacles.everywhere.list {
        if isWanted { tier.raise(obstacle, &state.ledger) } else { tier.lower(obstacle, &state.ledger) }
      }
    }
    return state.decider.observe(isWanted)
  }
}
