internal import SystemInterface

/// Makes the updates for the readers of a tree watcher, on the thread of the engine.
final class TreeFollower: IndexFollower {
  let port: TreePort
  private let board: HealthBoard
  private let batchingInterval: Duration
  private let tellsExisting: Bool
  /// The state that has been reported.
  private var known = FileTable()
  /// The present state.
  private var table: FileTable
  private var health: ScopeHealth
  /// Files that may differ from the reported state.
  private var pending = FileNumberSet()
  /// When the first of them was noticed.
  private var pendingSince: MonotonicTime?
  /// All files that were there when the watcher began have been read.
  private var isGathered = false
  private(set) var isOver = false

  init(_ plan: TreeWatcher.Plan, _ port: TreePort, _ board: HealthBoard, _ loop: IndexLoop) {
    self.port = port
    self.board = board
    batchingInterval = plan.batchingInterval
    tellsExisting = plan.tellsExisting
    table = loop.indexer.index.table
    health = loop.indexer.health
    pending.formUnion(table.numbers.filter { loop.indexer.index.table.contains($0) })
    if !pending.isEmpty { pendingSince = loop.clock.now }
    // The index may have been there before, and unwatched directories may have changed since.
    if loop.isGathered { loop.look() }
  }

  var isAwaiting: Bool { !isGathered }
  var isCurrent: Bool { pending.isEmpty }
  var comparedTables: [FileTable] { [known] }
  var deadline: MonotonicTime? {
    isGathered && port.hasWaiter ? pendingSince?.advanced(by: batchingInterval) : nil
  }

  func follow(_ turn: IndexTurn) {
    health = turn.health
    board.note(health)
    table = turn.table
    if !turn.changes.files.isEmpty {
      pending.formUnion(turn.changes.files)
      if pendingSince == nil { pendingSince = turn.time }
    }
    if turn.isComplete, !isGathered {
      isGathered = true
      if !tellsExisting { markTold() }
    }
  }

  /// Resumes a waiting reader, when it's time.
  func passTime(at now: MonotonicTime) {
    guard isGathered, let since = pendingSince, port.hasWaiter else { return }
    if since.advanced(by: batchingInterval) > now { return }
    let update = update
    if update.changes.isEmpty { return markTold() }
    // The reader may have been cancelled.
    guard let waiter = port.takeWaiter() else { return }
    markTold()
    waiter.resume(returning: update)
  }

  func end(_ error: SystemError?) {
    port.stop(error)
    board.end()
  }

  func carryOut(_ order: TreePort.Order, on loop: IndexLoop) {
    switch order {
    case .leave: isOver = true
    case .barrier, .catchUp:
      loop.whenCurrent(
        IndexLoop.Awaited(for: self) { [unowned self] in
          switch order {
          case .barrier(let barrier): barrier.end()
          case .catchUp(let waiter):
            let update = update
            markTold()
            waiter.resume(returning: update)
          case .leave: break
          }
          return true
        } end: {
          order.end()
        })
    }
  }

  private var update: TreeUpdate { TreeUpdate(TreeDifference(known, table, pending), health: health) }

  private func markTold() {
    known = table
    pending = FileNumberSet()
    pendingSince = nil
  }
}

/// A tree watcher begins.
struct TreeJoinOrder: IndexOrder {
  let plan: TreeWatcher.Plan
  let port: TreePort
  let board: HealthBoard

  func carryOut(on loop: IndexLoop) { loop.add(TreeFollower(plan, port, board, loop)) }

  func end() {
    port.stop()
    board.end()
  }
}

/// An order of a tree watcher.
struct TreeOrder: IndexOrder {
  let port: TreePort
  let order: TreePort.Order

  func carryOut(on loop: IndexLoop) {
    guard let follower = loop.follower(where: { (follower: TreeFollower) in follower.port === port }) else {
      return end()
    }
    follower.carryOut(order, on: loop)
  }

  func end() { order.end() }
}
