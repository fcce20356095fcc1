internal import SystemInterface

/// What the thread of a tree watcher does: events, reading, telling, in turns.
final class TreeLoop {
  private let port: TreePort
  private let board: HealthBoard
  private let watcher: any FileWatcher
  private let clock: any CoordinationClock
  private let indexer: ScopeIndexer
  private let batchingInterval: Duration
  private let tellsExisting: Bool
  private var pacing: PollPacing
  private var rereading = RereadPacing()
  private var orders = PendingOrders<TreePort.Order>()
  /// What has been told.
  private var known = FileTable()
  /// Files that may be otherwise than what has been told.
  private var pending = FileNumberSet()
  /// When the first of them was noticed.
  private var pendingSince: MonotonicTime?
  /// Everything that there was has been read.
  private var isGathered = false
  private var limboCountMax = TreeLoop.limboCountMin

  /// How many directories are read before orders have their turn.
  private static let directoryCountMax = 1024
  /// After how many files no further directory is begun before orders have their turn.
  private static let memberCountMax = 1 << 14
  /// From how many numbers on that nobody can use those are looked for that somebody can.
  static let limboCountMin = 4096

  init(_ plan: TreeWatcher.Plan, _ port: TreePort, _ board: HealthBoard, watcher: any FileWatcher) {
    self.port = port
    self.board = board
    self.watcher = watcher
    clock = plan.clock
    batchingInterval = plan.batchingInterval
    tellsExisting = plan.tellsExisting
    pacing = PollPacing(interval: plan.options.pollingInterval)
    let isHost = plan.files is HostFileSystem
    indexer = ScopeIndexer(
      plan.files, watcher: watcher, options: plan.options,
      helperCount: isHost ? min(4, HostThread.usableProcessorCount) : 0)
    indexer.readsFacts = !isHost || plan.options.gatheringDepth == .attributes
    for path in plan.paths { indexer.addRoot(path) }
  }

  func run() {
    while let new = port.takeOrders() {
      for order in new where orders.add(order) { indexer.poll() }
      indexer.processEvents()
      let isIdle = !indexer.hasWork
      indexer.work(directoryCountMax: Self.directoryCountMax, memberCountMax: Self.memberCountMax)
      takeNote()
      // Whatever was done before the turn is known then, even if somebody makes directories all the time.
      if isIdle || !indexer.hasWork, !indexer.isBehind { settle() }
      tell()
      rereading.readAgain(indexer, isAwaited: !isGathered || !orders.isEmpty, at: clock.now)
      pacing.poll(indexer, at: clock.now)
      if !isIdle || indexer.hasWork || !orders.isEmpty { continue }
      if indexer.hasRefills {
        indexer.refill(directoryCountMax: Self.directoryCountMax, memberCountMax: Self.memberCountMax)
      } else if !wait() {
        break
      }
    }
    for order in orders.takeAll() { order.end() }
    port.stop()
    board.end()
  }

  private func takeNote() {
    let changes = indexer.takeChanges()
    board.note(indexer.health)
    if changes.files.isEmpty { return }
    pending.formUnion(changes.files)
    if pendingSince == nil { pendingSince = clock.now }
    if indexer.index.limboCount >= limboCountMax { recycle() }
  }

  /// Nobody takes what there is to tell: what came and went meanwhile takes no room.
  private func recycle() {
    indexer.recycleNumbers(notIn: known)
    limboCountMax = max(Self.limboCountMin, 2 * indexer.index.limboCount)
  }

  /// Nothing is left to be read.
  private func settle() {
    if !isGathered {
      isGathered = true
      // Whatever comes now is told with what can be compared later.
      indexer.readsFacts = true
      if !tellsExisting { markTold() }
    }
    let isAskedAgain = orders.finish { order in
      switch order {
      case .barrier(let barrier): barrier.end()
      case .index(let continuation): continuation.resume(returning: indexer.index.table)
      case .catchUp(let waiter): waiter.resume(returning: takeUpdate())
      }
      return true
    }
    if isAskedAgain { indexer.poll() }
  }

  /// Tells who waits, when it's time.
  private func tell() {
    guard isGathered, let since = pendingSince, port.hasWaiter else { return }
    if since.advanced(by: batchingInterval) > clock.now { return }
    let update = TreeUpdate(TreeDifference(known, indexer.index.table, pending), health: indexer.health)
    if update.changes.isEmpty { return markTold() }
    // Who waited may have been cancelled.
    guard let waiter = port.takeWaiter() else { return }
    markTold()
    waiter.resume(returning: update)
  }

  private func takeUpdate() -> TreeUpdate {
    defer { markTold() }
    return TreeUpdate(TreeDifference(known, indexer.index.table, pending), health: indexer.health)
  }

  private func markTold() {
    known = indexer.index.table
    pending = FileNumberSet()
    pendingSince = nil
    indexer.recycleNumbers()
    limboCountMax = Self.limboCountMin
  }

  /// - Returns: `false` when the system doesn't let the thread wait.
  private func wait() -> Bool {
    let telling = port.hasWaiter ? pendingSince?.advanced(by: batchingInterval) : nil
    let watcher = watcher
    let alarm = [telling, pacing.next, rereading.next].compactMap(\.self).min().map {
      clock.schedule(at: $0) { watcher.wake() }
    }
    defer { alarm?.cancel() }
    do {
      try watcher.waitForEvents()
      return true
    } catch {
      port.stop(error)
      return false
    }
  }
}
