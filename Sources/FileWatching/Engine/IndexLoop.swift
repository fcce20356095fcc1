internal import Glibc
package import SystemInterface

/// The work of an engine's thread: orders, events, reading, notifying, in turns.
package final class IndexLoop {
  /// An action that is carried out when the index contains everything that was done before the request.
  package struct Awaited {
    /// The follower for which it's done, if it's for one: with that it ends.
    let follower: ObjectIdentifier?
    /// Says whether it's done; otherwise it's asked again after the next turn.
    let carryOut: () -> Bool
    /// It isn't carried out.
    let end: () -> Void

    package init(
      for follower: (any IndexFollower)? = nil, _ carryOut: @escaping () -> Bool, end: @escaping () -> Void
    ) {
      self.follower = follower.map { ObjectIdentifier($0) }
      self.carryOut = carryOut
      self.end = end
    }
  }

  package let clock: any CoordinationClock
  package let indexer: ScopeIndexer
  /// Everything that there was has been read.
  package private(set) var isGathered = false
  package let engine: IndexEngine
  private let watcher: any FileWatcher
  /// In the order in which they came.
  private var followers: [any IndexFollower] = []
  private var awaited = PendingOrders<Awaited>()
  /// There has been a follower: without one the engine ends.
  private var hasBegun = false
  private var pacing: PollPacing
  private var rereading = RereadPacing()
  private var waiting = WaitPacing()
  private var limboCountMax = IndexLoop.limboCountMin
  /// Where the index is kept between runs.
  private let store: IndexStore?
  /// Everything that was done before this moment, as files get it for their times, was in the index at the end of a
  /// turn.
  private var completeMoment: Int64?

  /// How many directories are read before orders and followers have their turn.
  private static let directoryCountMax = 1024
  /// After how many files no further directory is begun before orders and followers have their turn.
  private static let memberCountMax = 1 << 14
  /// With so many given-up numbers a search begins for those that may be used again.
  private static let limboCountMin = 4096
  /// Reading is for the kernel to do, which takes its time for each processor; the engine's own thread is the last one.
  private static let helperCount = min(4, HostThread.usableProcessorCount)

  init(
    _ engine: IndexEngine, _ key: IndexEngine.Key, files: any FileSystem, watcher: any FileWatcher,
    clock: any CoordinationClock
  ) {
    self.engine = engine
    self.watcher = watcher
    self.clock = clock
    pacing = PollPacing(interval: key.options.pollingInterval)
    // Others than the machine's own files are read in an order that can be repeated.
    let isHost = files is HostFileSystem
    indexer = ScopeIndexer(files, watcher: watcher, options: key.options, helperCount: isHost ? Self.helperCount : 0)
    indexer.readsFacts = !isHost || key.options.gatheringDepth == .attributes
    for (path, reach) in key.reaches { indexer.addRoot(path, reach: reach) }
    store = isHost ? IndexStore(key) : nil
    if let kept = store?.load() { indexer.restore(kept) }
  }

  func run() {
    var error: SystemError?
    while let orders = engine.takeOrders(endingIf: hasBegun && followers.isEmpty) {
      for order in orders { order.carryOut(on: self) }
      dropFollowers()
      // There's no follower any more; one may come in the meantime.
      if hasBegun, followers.isEmpty { continue }
      let (isIdle, hasNextTurn) = turn()
      if !isIdle || indexer.hasWork || hasNextTurn { continue }
      if indexer.hasRefills {
        indexer.refill(directoryCountMax: Self.directoryCountMax, memberCountMax: Self.memberCountMax)
        continue
      }
      guard wait() else {
        error = waiting.error
        break
      }
    }
    end(error)
  }

  /// - Returns: Whether there was nothing to read, and whether an order needs a further turn.
  private func turn() -> (isIdle: Bool, hasNextTurn: Bool) {
    let moment = CoarseClock.fileTime
    indexer.processEvents()
    let isIdle = !indexer.hasWork
    indexer.work(directoryCountMax: Self.directoryCountMax, memberCountMax: Self.memberCountMax)
    // Everything that was done before the turn is in the index then, even if directories are made all the time.
    let isComplete = (isIdle || !indexer.hasWork) && !indexer.isBehind
    var health = indexer.health
    health.waitError = waiting.error
    let turn = IndexTurn(
      changes: indexer.takeChanges(), table: indexer.index.table, health: health, isIdle: isIdle,
      isComplete: isComplete, time: clock.now)
    if isComplete { completeMoment = moment }
    for follower in followers { follower.follow(turn) }
    let hasNextTurn = isComplete ? finishGathering() : false
    let now = clock.now
    for follower in followers { follower.passTime(at: now) }
    recycle()
    if hasNextTurn { indexer.poll() }
    let isAwaited = !isGathered || !awaited.isEmpty || followers.contains(where: \.isAwaiting)
    rereading.readAgain(indexer, isAwaited: isAwaited, at: now)
    pacing.poll(indexer, at: now)
    return (isIdle, hasNextTurn)
  }

  /// Nothing is left to be read.
  private func finishGathering() -> Bool {
    isGathered = true
    // Facts that come now are reported with ones that can be compared later.
    indexer.readsFacts = true
    return awaited.finish { $0.carryOut() }
  }

  /// Makes numbers usable again that followers don't compare any more; all of them have been notified of the given-up
  /// ones.
  private func recycle() {
    let limboCount = indexer.index.limboCount
    if limboCount == 0 { return }
    if followers.allSatisfy(\.isCurrent) {
      indexer.recycleNumbers()
      limboCountMax = Self.limboCountMin
    } else if limboCount >= limboCountMax {
      // The pending changes aren't taken: files that came and went meanwhile take no room.
      indexer.recycleNumbers(notIn: followers.flatMap(\.comparedTables))
      limboCountMax = max(Self.limboCountMin, 2 * indexer.index.limboCount)
    }
  }

  /// Waits for events, orders and times; by the clock, for a pause, where the watcher can't.
  ///
  /// - Returns: Whether waiting is of any use.
  private func wait() -> Bool {
    var times = followers.compactMap(\.deadline) + [pacing.next, rereading.next].compactMap(\.self)
    // Followers learn soon that the thread can wait again, also if nothing happens.
    if waiting.error != nil { times.append(clock.now.advanced(by: WaitPacing.pauseMin)) }
    let engine = engine
    let alarm = times.min().map { clock.schedule(at: $0) { engine.wake() } }
    defer { alarm?.cancel() }
    do {
      try watcher.waitForEvents()
      waiting.succeeded()
      return true
    } catch {
      guard let pause = waiting.failed(error) else { return false }
      engine.sleep(for: pause)
      return true
    }
  }

  private func end(_ error: SystemError?) {
    // A failure can't be reported to any caller; then everything is read the next time.
    if error == nil, let (store, state) = keeping { try? store.save(state) }
    for awaited in awaited.takeAll() { awaited.end() }
    for follower in followers { follower.end(error) }
    followers = []
    while let orders = engine.takeOrders(endingIf: true) {
      for order in orders { order.end() }
    }
  }
}

// MARK: - The interface for orders and followers

extension IndexLoop {
  /// Adds a follower, which has been notified of nothing in the index.
  package func add(_ follower: any IndexFollower) {
    hasBegun = true
    followers.append(follower)
  }

  /// The first follower of a type that satisfies a condition.
  package func follower<Follower: IndexFollower>(where isWanted: (Follower) -> Bool) -> Follower? {
    followers.lazy.compactMap { $0 as? Follower }.first(where: isWanted)
  }

  /// Checks everything that isn't watched: when that's done, the index contains all that was done before the call.
  package func look() { indexer.poll() }

  /// Does something when the index contains all that was done before the call.
  package func whenCurrent(_ action: Awaited) {
    if awaited.add(action) { look() }
  }

  /// The state to be kept, and where; `nil` if there's nothing to keep or no place for it.
  private var keeping: (store: IndexStore, state: KeptState)? {
    guard let store, let state = completeMoment.flatMap(indexer.keptState) else { return nil }
    return (store, state)
  }

  /// Keeps the index for a later run, on a thread of its own.
  ///
  /// - Parameter completion: Called when that's done, with the error if it failed.
  func keep(_ completion: @escaping @Sendable (SystemError?) -> Void) {
    guard let (store, state) = keeping else {
      return completion(
        SystemError(
          call: "saveIndex", errno: EINVAL,
          advice: "There's nothing to keep: the options need an 'indexDirectory' and a 'gatheringDepth' of '.names'."))
    }
    let code = HostThread.tryStart(name: "index-keeping") {
      do throws(SystemError) {
        try store.save(state)
        completion(nil)
      } catch {
        completion(error)
      }
    }
    if code != 0 { completion(.noThread(errno: code)) }
  }

  private func dropFollowers() {
    guard followers.contains(where: \.isOver) else { return }
    let gone = followers.filter(\.isOver)
    followers.removeAll(where: \.isOver)
    let ids = Set(gone.map { ObjectIdentifier($0) })
    for action in awaited.take(where: { $0.follower.map(ids.contains) ?? false }) { action.end() }
    for follower in gone { follower.end(nil) }
  }
}
