@testable import FileCoordination

/// Explores all interleavings of a model: depth first, each state once.
///
/// A step is a thread's next operation. The other steps depend on the memory, see ``MemoryModel``: that the oldest entry of a thread's store buffer reaches it, or that an
/// operation misses what others have done. An operation that none of another thread can meet is done together with the one before it.
final class Explorer {
  struct Result {
    var stateCount = 0
    var stepCount = 0
    var replayCount = 0
    var endCount = 0
    /// The problem, and the steps that lead there.
    var violation: (message: String, trace: [String])?
    var isCut = false
  }

  /// The limits of the exploration.
  struct Limits: CustomStringConvertible {
    /// How often a thread that could go on is interrupted, at most; `nil` for all interleavings.
    var preemptionCountMax: Int?
    var memoryModel = MemoryModel.storeBuffers
    var stateCountMax = 4_000_000

    var description: String {
      preemptionCountMax.map { "\(memoryModel), at most \($0) interruptions" } ?? "\(memoryModel)"
    }
  }

  let memory: ModelMemory
  let state: ModelState
  let map: MemoryMap
  let rules: ClaimRules
  let histories: ThreadHistories
  let table: HistoryTable
  let threadCount: Int
  let model: MemoryModel
  let messages: MessageMemory
  /// Four words for each step: thread, node or the greatest word for a flush, result or address, value or whether something
  /// was missed.
  let trace = WordStack(capacity: 1 << 20)
  /// The problem in this state.
  private(set) var problem: String?
  private let limits: Limits
  private let preemptionCountMax: UInt64
  private let isBounded: Bool
  private var seen = DigestSet()
  private let cells = Words(count: 4)
  private var result = Result()

  // The meanings of the cells.
  private static let isProblem = 0
  private static let stepCount = 1
  private static let endCount = 2
  private static let isOver = 3

  /// - Parameters:
  ///   - memory: The memory that the programs use.
  ///   - state: The state that the model starts in.
  ///   - programs: One for each thread.
  ///   - map: The known facts about the words.
  ///   - rules: Which claims conflict.
  ///   - limits: The limits of the exploration.
  init(
    _ memory: ModelMemory, _ state: ModelState, _ programs: [Program], map: MemoryMap, rules: ClaimRules,
    limits: Limits = Limits()
  ) {
    self.memory = memory
    self.state = state
    self.map = map
    self.rules = rules
    self.limits = limits
    isBounded = limits.preemptionCountMax != nil
    preemptionCountMax = UInt64(limits.preemptionCountMax ?? 0)
    threadCount = programs.count
    model = limits.memoryModel
    messages = MessageMemory(state, threadCount: programs.count, lateCountMax: limits.memoryModel.lateCountMax)
    histories = ThreadHistories(programs, on: memory)
    table = histories.table
    state[ModelState.lastThread] = .max
    for thread in programs.indices { state[ModelState.node(of: thread)] = UInt64(histories.roots[thread]) }
  }

  deinit {
    trace.deallocate()
    seen.deallocate()
    cells.deallocate()
    messages.deallocate()
  }

  /// Explores all states.
  ///
  /// - Parameter atEnd: Checks a state in which all threads are done; returns the problem in it.
  /// - Returns: The numbers of states and steps, and the problem.
  func explore(atEnd: () -> String? = { nil }) -> Result {
    let moment = state.moment
    repeat {
      cells[Self.isOver] = 0
      for thread in 0..<threadCount { runQuietOperations(thread) }
      forgetTheUnreadable()
      visit(atEnd)
    } while startsAnew(at: moment)
    result.stateCount = seen.count
    result.stepCount = Int(cells[Self.stepCount])
    result.endCount = Int(cells[Self.endCount])
    result.replayCount = histories.replayCount
    return result
  }

  /// Whether it has turned out that messages were left out that can be read.
  private func startsAnew(at moment: Int) -> Bool {
    if !messages.takeIncompleteness() { return false }
    result = Result()
    forgetProblem()
    state.goBack(to: moment)
    trace.truncate(to: 0)
    seen.deallocate()
    seen = DigestSet()
    cells[Self.stepCount] = 0
    cells[Self.endCount] = 0
    return true
  }

  private func visit(_ atEnd: () -> String?) {
    if messages.isIncomplete {
      cells[Self.isOver] = 1
      return
    }
    if cells[Self.isProblem] != 0 { return record(problem ?? "") }
    let digest = state.digest
    if !seen.insert(digest.first, digest.second) { return }
    if seen.count > limits.stateCountMax {
      result.isCut = true
      cells[Self.isOver] = 1
      return
    }
    let doneCount = visitSuccessors(atEnd)
    if doneCount < 0 { return }
    if doneCount < threadCount { return record(stuckThreads()) }
    cells[Self.endCount] = cells[Self.endCount] &+ 1
    if let problem = atEnd() { record(problem) }
  }

  /// - Returns: How many threads are done if none can go on, otherwise -1.
  private func visitSuccessors(_ atEnd: () -> String?) -> Int {
    var canGoOn = false
    var doneCount = 0
    let last = state[ModelState.lastThread]
    let mayPreempt = !isBounded || mayPreempt(last)
    var thread = 0
    while thread < threadCount {
      if state[ModelState.bufferCount(of: thread)] != 0 {
        canGoOn = true
        step(thread, isFlush: true, atEnd)
        if cells[Self.isOver] != 0 { return -1 }
      }
      if isDone(thread) {
        doneCount &+= 1
      } else if isRunnable(thread) {
        canGoOn = true
        if mayPreempt || last == UInt64(truncatingIfNeeded: thread) {
          stepInEachWay(thread, atEnd)
          if cells[Self.isOver] != 0 { return -1 }
        }
      }
      thread &+= 1
    }
    return canGoOn ? -1 : doneCount
  }

  private func mayPreempt(_ last: UInt64) -> Bool {
    if last == .max || isDone(Int(last)) || !isRunnable(Int(last)) { return true }
    return state[ModelState.preemptions] < preemptionCountMax
  }

  /// Lets a thread do its next operation, with each message that it can read or write behind.
  private func stepInEachWay(_ thread: Int, _ atEnd: () -> String?) {
    var choice = 0
    var count = 1
    while choice < count, cells[Self.isOver] == 0 {
      messages.prepare(choice: choice)
      count = step(thread, isFlush: false, atEnd)
      choice &+= 1
    }
  }

  /// - Returns: How many ways there are to do the step.
  @discardableResult
  private func step(_ thread: Int, isFlush: Bool, _ atEnd: () -> String?) -> Int {
    let moment = state.moment
    let traceCount = trace.count
    if isFlush {
      flushOldest(thread)
    } else {
      if isBounded { countPreemption(by: thread) }
      runOperation(thread)
    }
    let choiceCount = messages.choiceCount
    forgetTheUnreadable()
    cells[Self.stepCount] = cells[Self.stepCount] &+ 1
    visit(atEnd)
    if cells[Self.isProblem] != 0 { forgetProblem() }
    state.goBack(to: moment)
    trace.truncate(to: traceCount)
    return choiceCount
  }

  private func forgetTheUnreadable() {
    if !model.hasMessages { return }
    var thread = 0
    while thread < threadCount {
      if isDone(thread) { messages.retire(thread) }
      thread &+= 1
    }
    messages.forgetTheUnreadable()
  }

  private func countPreemption(by thread: Int) {
    let last = state[ModelState.lastThread]
    if last == UInt64(thread) { return }
    if last != .max, !isDone(Int(last)), isRunnable(Int(last)) { state[ModelState.preemptions] += 1 }
    state[ModelState.lastThread] = UInt64(thread)
  }

  @inline(__always)
  func node(_ thread: Int) -> Int { Int(truncatingIfNeeded: state[ModelState.node(of: thread)]) }

  private func isDone(_ thread: Int) -> Bool { table.kind(of: node(thread)) == Operation.done }

  private func isRunnable(_ thread: Int) -> Bool {
    let kind = table.kind(of: node(thread))
    if kind == Operation.lock { return state[ModelState.lockOwner] == 0 }
    if kind == Operation.sleep { return state[ModelState.wakes] & (1 &<< UInt64(truncatingIfNeeded: thread)) != 0 }
    return true
  }

  // MARK: One thread's turn

  /// Does the operation, and the following ones up to the next one that others can meet.
  private func runOperation(_ thread: Int) {
    var kind = table.kind(of: node(thread))
    runOne(thread)
    // A statement before an operation belongs to it.
    while Operation.belongingToNext &>> kind & 1 != 0, cells[Self.isProblem] == 0, isRunnable(thread), !isDone(thread) {
      kind = table.kind(of: node(thread))
      runOne(thread)
    }
    runQuietOperations(thread)
  }

  private func runQuietOperations(_ thread: Int) {
    while cells[Self.isProblem] == 0, isQuiet(thread, node(thread)) { runOne(thread) }
  }

  private func runOne(_ thread: Int) {
    let node = node(thread)
    messages.beginOperation()
    let value = perform(thread, node)
    trace.append(UInt64(truncatingIfNeeded: thread))
    trace.append(UInt64(truncatingIfNeeded: node))
    trace.append(value)
    trace.append(messages.isLate ? 1 : 0)
    if cells[Self.isProblem] != 0 { return }
    var next = table.next(node, value)
    if next < 0 { next = histories.addNext(node, value) }
    state[ModelState.node(of: thread)] = UInt64(truncatingIfNeeded: next)
  }

  // MARK: Problems

  /// Records that this state, or the step that led to it, is wrong.
  func note(problem: String) {
    self.problem = problem
    cells[Self.isProblem] = 1
  }

  func forgetProblem() {
    problem = nil
    cells[Self.isProblem] = 0
  }

  private func stuckThreads() -> String {
    var stuck: [String] = []
    for thread in 0..<threadCount {
      switch table.operation(of: node(thread)).kind {
      case .sleep: stuck.append("thread \(thread) sleeps for ever")
      case .lock: stuck.append("thread \(thread) waits for the lock for ever")
      default: break
      }
    }
    return stuck.joined(separator: ", ")
  }

  private func record(_ message: String) {
    if result.violation == nil { result.violation = (message, describeTrace()) }
    cells[Self.isOver] = 1
  }
}
