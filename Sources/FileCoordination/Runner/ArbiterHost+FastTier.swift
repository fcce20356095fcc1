internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// The host's side of the fast tier. Everything here runs under the host's lock, in this order: the interests that a
// step is about to add are raised in the table; the claims that they cover are adopted; the arbiter steps; its own
// changes of interest go into the table; the interests that were raised for the step are lowered.

/// An interest that a step is about to add at an item.
struct Obstacle: Sendable {
  let path: ItemPath
  let interest: ItemInterest
}

/// The interests that a step adds: some obstacles, or so many that only the arbiter grants anything meanwhile.
enum Obstacles: Sendable {
  case some([Obstacle])
  case everywhere

  /// Scanning all claims once is cheaper than searching for many items one by one.
  static let countMax = 8

  static let none = Obstacles.some([])

  init(_ obstacles: [Obstacle]) {
    self = obstacles.count > Self.countMax ? .everywhere : .some(obstacles)
  }
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
    change(obstacles, &state, isRaised: true)
    adoptClaims(under: obstacles, &state, at: time)
    let result = step(&state)
    publishInterest(&state)
    change(obstacles, &state, isRaised: false)
    return result
  }

  private func change(_ obstacles: Obstacles, _ state: inout State, isRaised: Bool) {
    switch obstacles {
    case .some(let obstacles):
      for obstacle in obstacles {
        guard let key = PathFingerprint.prefixes(of: obstacle.path, seed: PathFingerprint.processSeed).last else {
          continue
        }
        change(key, obstacle.interest, &state, isRaised)
      }
    case .everywhere:
      change(.root(seed: PathFingerprint.processSeed), ItemInterest.everything, &state, isRaised)
    }
  }

  private func change(_ key: PathFingerprint, _ interest: ItemInterest, _ state: inout State, _ isRaised: Bool) {
    tier.changeInterest(key.rawValue, from: isRaised ? [] : interest, to: isRaised ? interest : [], &state.ledger)
  }

  /// Publishes the arbiter's current interests to the fast tier.
  func publishInterest(_ state: inout State) {
    for change in state.decider.takeInterestChanges() {
      tier.changeInterest(change.fingerprint.rawValue, from: change.old, to: change.new, &state.ledger)
    }
  }
}

// MARK: - Adopting

extension ArbiterHost {
  private func adoptClaims(under obstacles: Obstacles, _ state: inout State, at time: Timestamp) {
    switch obstacles {
    case .everywhere:
      tier.adoptClaims(.all, reads: true, writes: true) { adopt($0, &state, at: time) { _, _ in true } }
    case .some(let obstacles):
      for obstacle in obstacles { adoptClaims(under: obstacle, &state, at: time) }
    }
  }

  private func adoptClaims(under obstacle: Obstacle, _ state: inout State, at time: Timestamp) {
    let interest = obstacle.interest
    let key = PathFingerprint.prefixes(of: obstacle.path, seed: PathFingerprint.processSeed).last?.rawValue ?? 0
    let reachesBelow = interest.contains(.blocksReadingBelow) || interest.contains(.blocksWritingBelow)
    tier.adoptClaims(
      reachesBelow ? .all : .item(key),
      reads: interest.contains(.blocksReading) || interest.contains(.blocksReadingBelow),
      writes: interest.contains(.blocksWriting) || interest.contains(.blocksWritingBelow)
    ) { slot in
      adopt(slot, &state, at: time) { path, access in
        path == obstacle.path
          ? interest.contains(access.isWrite ? .blocksWriting : .blocksReading)
          : interest.contains(access.isWrite ? .blocksWritingBelow : .blocksReadingBelow)
            && obstacle.path.contains(path)
      }
    }
  }

  /// Makes the claim in a frozen slot an access of the arbiter, if it's concerned and the arbiter admits it.
  ///
  /// If the arbiter doesn't, the claim met an obstacle that was there before it, and has to retreat.
  private func adopt(
    _ slot: Int, _ state: inout State, at time: Timestamp, where isConcerned: (ItemPath, PlainAccess) -> Bool
  ) -> AdoptionDecision {
    let claim = AdoptableClaim(slot: slot)
    let path = claim.item.path
    guard isConcerned(path, claim.access) else { return .unconcerned }
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
    publishInterest(&state)
    return .adopted
  }

  /// Adopts all claims that concern an item or something inside it.
  func adoptClaims(inside root: ItemPath, _ state: inout State, at time: Timestamp) {
    tier.adoptClaims(.all, reads: true, writes: true) { slot in
      adopt(slot, &state, at: time) { path, _ in root.isSameOrContains(path) }
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
    let isAdopted = tier.adoptClaim(claim) { adopt($0, &state, at: time) { _, _ in true } == .adopted }
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
  func settle(_ claim: ClaimToken) -> Bool { withState { _ in tier.settle(claim) } }

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
    if state.decider.decidesAlone { change(.everywhere, &state, isRaised: isWanted) }
    return state.decider.observe(isWanted)
  }
}
