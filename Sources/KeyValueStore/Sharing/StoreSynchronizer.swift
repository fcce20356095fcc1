internal import KeyValueReplicas
internal import SystemInterface

/// Uploads and downloads for a store while it's this process's turn.
///
/// ``ReplicaCore`` decides what to do, and its events are in the journal: another process that takes over has the same state, and goes
/// on where this one ended. An upload that was under way then has no answer, so the storage is read to find out.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `status` | its lock | a task works, any thread asks |
final class StoreSynchronizer: Sendable {
  struct Status: Hashable, Sendable {
    /// Whether it's this process's turn.
    var isActive = false
    /// Whether the storage has answered last.
    var isConnected = false
    var failure: KeyValueStoreError?
  }

  private let engine: StoreEngine
  private let makeStorage: @Sendable (ReplicaID) throws(SharedStorageFailure) -> any SharedStorage
  /// The replica that uploads: another one after somebody has removed the journal.
  private let replica = Guarded<ReplicaID?>(nil)
  private let clock: any CoordinationClock
  private let files: any FileSystem
  private let directory: SystemPath
  /// The replica that it's for: the store may have another account's by now.
  private let generation: Int
  private let now: @Sendable () -> Int64
  private let wakeUp = WakeUp()
  let status = Guarded(Status())

  init(
    _ engine: StoreEngine, _ sharing: StoreSharing, account: String?, _ clock: any CoordinationClock,
    files: any FileSystem, now: @escaping @Sendable () -> Int64
  ) {
    self.engine = engine
    self.clock = clock
    self.files = files
    self.now = now
    (directory, generation) = (engine.directory, engine.generation)
    let (store, limits) = (engine.name, engine.limits)
    makeStorage = { (replica) throws(SharedStorageFailure) in
      try sharing.makeStorage(StoreIdentity(account: account, store: store, replica: replica, limits: limits), clock)
    }
  }

  /// Whether this process uploads.
  var isActive: Bool { status.withLock { $0.isActive } }

  // MARK: The turn

  private static let shortPauses: [Duration] = [.milliseconds(1), .milliseconds(10), .milliseconds(100)]
  private static let longPause = Duration.seconds(10)

  /// Works until its task is cancelled.
  func run() async {
    engine.add(wakeUp)
    var pacing = SyncPacing()
    while !Task.isCancelled {
      do throws(KeyValueStoreError) {
        // Makes the directory, if somebody has removed it.
        _ = try engine.append(in: generation) { _ in nil }
        if let key = engine.read({ $0.keyWithoutFunction }) {
          await leave(to: key)
          continue
        }
        let turn = try SyncTurn(in: directory, files)
        guard try await waitForTurn(turn) else { break }
        status.withLock { $0.isActive = true }
        await work(&pacing)
        // Holds the turn until here.
        _ = consume turn
      } catch {
        fail(error)
        await wakeUp.wait(until: clock.now.advanced(by: Self.longPause), clock)
      }
      status.withLock { $0 = Status(failure: $0.failure) }
    }
  }

  /// Leaves uploads to programs that can merge the values of a key, until this one can or something else has changed.
  private func leave(to key: String) async {
    let failure = KeyValueStoreError(
      .unreachable,
      "the values of '\(key)' are merged by a function that this program hasn't stated, so it leaves uploads to programs that have; see MergePolicy.custom"
    )
    if status.withLock({ $0.failure }) != failure { fail(failure) }
    await wakeUp.wait(until: clock.now.advanced(by: Self.longPause), clock)
  }

  /// - Returns: Whether it has the turn; otherwise the task was cancelled.
  private func waitForTurn(_ turn: borrowing SyncTurn) async throws(KeyValueStoreError) -> Bool {
    var pauses = Self.shortPauses[...]
    while !Task.isCancelled {
      if try turn.take() { return true }
      // The event of the former holder's end comes a moment before its lock is free.
      let pause = pauses.popFirst() ?? Self.longPause
      await wakeUp.wait(until: clock.now.advanced(by: pause), clock)
      if pause == Self.longPause { pauses = Self.shortPauses[...] }
    }
    return false
  }

  // MARK: Work

  private func work(_ pacing: inout SyncPacing) async {
    replica.withLock { $0 = nil }
    while !Task.isCancelled {
      do throws(SharedStorageFailure) {
        try await workOnce(try makeStorage(try begin()), &pacing)
      } catch {
        // The lock of the turn may have been removed together with the journal.
        if Task.isCancelled || isOther() || engine.read({ $0.keyWithoutFunction }) != nil { return }
        if error.kind != .gap { fail(KeyValueStoreError(error)) }
        let pause = pacing.failed(error.kind)
        if pause > .zero { await sleep(pause) }
      }
    }
  }

  /// - Returns: The replica, with everything that the process before has appended, also in the last moment.
  private func begin() throws(SharedStorageFailure) -> ReplicaID {
    _ = try append { [replica] core in
      replica.withLock { $0 = $0 ?? core.replica }
      return core.uploadUnderWay.map { .uploadEnded($0, .unknown) }
    }
    return replica.withLock { $0 } ?? engine.read { $0.replica }
  }

  /// Waits while there's no journal, because somebody has removed it: its directory may be about to be removed, too.
  private func waitForJournal() async throws(SharedStorageFailure) {
    let end = clock.now.advanced(by: Self.longPause)
    while !engine.hasJournal, clock.now < end, !Task.isCancelled { await wakeUp.wait(until: end, clock) }
    if isOther() { throw SharedStorageFailure(.gap, "somebody has removed the journal of the store") }
  }

  /// Whether somebody has removed the journal since.
  private func isOther() -> Bool {
    let present = engine.read { $0.replica }
    return replica.withLock { $0 != nil && $0 != present }
  }

  /// New events don't make a storage answer that doesn't.
  private func sleep(_ pause: Duration) async {
    let end = clock.now.advanced(by: pause)
    while clock.now < end, !Task.isCancelled { await wakeUp.wait(until: end, clock) }
  }

  private func fail(_ error: KeyValueStoreError) {
    status.withLock { status in
      status.isConnected = false
      status.failure = error
    }
    engine.signal()
  }

  private func succeed(_ pacing: inout SyncPacing) {
    pacing.succeeded()
    status.withLock { status in
      status.isConnected = true
      status.failure = nil
    }
  }

  /// Reads everything, and then uploads and downloads until something fails.
  private func workOnce(_ storage: some SharedStorage, _ pacing: inout SyncPacing) async throws(SharedStorageFailure) {
    let all = try await storage.readAll()
    var effects = try append(.received(all))
    succeed(&pacing)
    let ended = Guarded<SharedStorageFailure?>(nil)
    let download = Task { [self] in
      do {
        for try await batch in storage.batches(after: all.revision) { _ = try append(.received(batch)) }
        ended.withLock { $0 = SharedStorageFailure(.unreachable, "the stream of changes has ended") }
      } catch {
        ended.withLock { failure in
          failure =
            error as? SharedStorageFailure
            ?? SharedStorageFailure(.unreachable, "the stream of changes has failed: \(error)")
        }
      }
      wakeUp.signal()
    }
    let outcome = await capture { () async throws(SharedStorageFailure) in
      while !Task.isCancelled {
        try await waitForJournal()
        if let failure = ended.withLock({ $0 }) { throw failure }
        effects = try await carryOut(effects, storage)
        if effects.isEmpty { effects = try await uploadNext() }
        succeed(&pacing)
      }
    }
    download.cancel()
    // Everything that it has heard is in the journal before anything is read again.
    await download.value
    try outcome.get()
  }

  private func capture(
    _ work: () async throws(SharedStorageFailure) -> Void
  ) async -> Result<Void, SharedStorageFailure> {
    do throws(SharedStorageFailure) { return .success(try await work()) } catch { return .failure(error) }
  }

  /// Carries out the tasks after an event.
  ///
  /// - Returns: The tasks after the events that came of it.
  private func carryOut(
    _ effects: [ReplicaEffect], _ storage: some SharedStorage
  ) async throws(SharedStorageFailure) -> [ReplicaEffect] {
    var next: [ReplicaEffect] = []
    for effect in effects {
      switch effect {
      case .changed, .wake: break
      case .upload(let upload): next += try append(.uploadEnded(upload.id, try await storage.upload(upload)))
      // The next connection begins with it.
      case .read: throw SharedStorageFailure(.gap, "an upload can't be carried out; everything is read again")
      }
    }
    return next.filter { if case .changed = $0 { false } else if case .wake = $0 { false } else { true } }
  }

  /// Begins the next upload if it's time, or waits until it may be.
  private func uploadNext() async throws(SharedStorageFailure) -> [ReplicaEffect] {
    let (next, present) = (engine.read { [now] core in core.nextUpload(at: now()) }, now())
    if let next, next <= present { return try append(.uploadIsDue) }
    let limit = next.map { clock.now.advanced(by: .nanoseconds($0 - present)) }
    await wakeUp.wait(until: limit, clock)
    // The event makes the replica notice a clock that was set back meanwhile.
    if let limit, clock.now >= limit, !Task.isCancelled { return try append(.uploadIsDue) }
    return []
  }

  private func append(_ input: ReplicaInput) throws(SharedStorageFailure) -> [ReplicaEffect] {
    try append { _ in input }
  }

  /// The journal can't be written: there's nothing that the storage could do about it.
  private func append(
    _ input: (ReplicaCore) -> ReplicaInput?
  ) throws(SharedStorageFailure) -> [ReplicaEffect] {
    do throws(KeyValueStoreError) {
      return try engine.append(in: generation) { (core) throws(KeyValueStoreError) in
        let input = input(core)
        if let key = core.keyWithoutFunction {
          throw KeyValueStoreError(.unreachable, "the values of '\(key)' are merged by another program's function")
        }
        if replica.withLock({ $0 != core.replica }) {
          throw KeyValueStoreError(.closed, "somebody has removed the journal of the store; there's a new one by now")
        }
        return input
      }
    } catch {
      throw SharedStorageFailure(error.code == .noSpace ? .full : .unreachable, error.description)
    }
  }
}
