@testable import FileCoordination

/// Looks at all interleavings of a model: depth first, each state once.
///
/// A step is a thread's next operation, or that the oldest entry of a thread's store buffer reaches the memory (x86-TSO).
final class Explorer {
  struct Result {
    var stateCount = 0
    var stepCount = 0
    var replayCount = 0
    var endCount = 0
    /// What is wrong, and the steps that lead there.
    var violation: (message: String, trace: [String])?
    var isCut = false
  }

  let memory: ModelMemory
  let state: ModelState
  let map: MemoryMap
  let rules: ClaimRules
  let histories: ThreadHistories
  let threadCount: Int
  /// How often a thread that could go on is interrupted, at most.
  let preemptionCountMax: Int?
  let stateCountMax: Int
  var problem: String?
  private let seen = DigestSet()
  private var result = Result()
  /// Four words for each step: thread, node or -1, result or address, value.
  let trace = WordPool()

  /// - Parameters:
  ///   - memory: The memory that the programs use.
  ///   - state: The state that the model starts in.
  ///   - programs: One for each thread.
  ///   - map: What is known about the words.
  ///   - rules: Which claims conflict.
  ///   - preemptionCountMax: How often a thread that could go on is interrupted, at most; `nil` for all interleavings.
  ///   - stateCountMax: When to give up.
  init(
    _ memory: ModelMemory, _ state: ModelState, _ programs: [Program], map: MemoryMap = .plain,
    rules: ClaimRules = ClaimRules([]), preemptionCountMax: Int? = nil, stateCountMax: Int = .max
  ) {
    self.memory = memory
    self.state = state
    self.map = map
    self.rules = rules
    self.preemptionCountMax = preemptionCountMax
    self.stateCountMax = stateCountMax
    threadCount = programs.count
    histories = ThreadHistories(programs, on: memory)
    state[ModelState.lastThread] = .max
    for thread in programs.indices { state[ModelState.node(of: thread)] = UInt64(histories.roots[thread]) }
  }

  /// Looks at all states.
  ///
  /// - Parameter atEnd: Looks at a state in which all threads are done; returns what is wrong with it.
  /// - Returns: How much there was to see, and what is wrong.
  func explore(atEnd: () -> String? = { nil }) -> Result {
    for thread in 0..<threadCount { runQuietOperations(thread) }
    visit(atEnd)
    result.stateCount = seen.count
    result.replayCount = histories.replayCount
    return result
  }

  private func visit(_ atEnd: () -> String?) {
    if let problem { return record(problem) }
    if !seen.insert(state.digest) { return }
    if seen.count > stateCountMax {
      result.isCut = true
      return
    }
    var canGoOn = false
    var doneCount = 0
    let last = state[ModelState.lastThread]
    let mayPreempt = mayPreempt(last)
    var thread = 0
    while thread < threadCount {
      if state[ModelState.bufferCount(of: thread)] != 0 {
        canGoOn = true
        step(thread, isFlush: true, atEnd)
        if result.violation != nil || result.isCut { return }
      }
      if histories.kind(of: node(thread)) == Operation.Kind.done.rawValue {
        doneCount &+= 1
      } else if isRunnable(thread) {
        canGoOn = true
        if mayPreempt || last == UInt64(truncatingIfNeeded: thread) { step(thread, isFlush: false, atEnd) }
        if result.violation != nil || result.isCut { return }
      }
      thread &+= 1
    }
    if canGoOn { return }
    if doneCount < threadCount { return record(stuckThreads()) }
    result.endCount += 1
    if let problem = atEnd() { record(problem) }
  }

  private func mayPreempt(_ last: UInt64) -> Bool {
    guard let preemptionCountMax, last != .max else { return true }
    let thread = Int(last)
    if histories.kind(of: node(thread)) == Operation.Kind.done.rawValue || !isRunnable(thread) { return true }
    return state[ModelState.preemptions] < UInt64(preemptionCountMax)
  }

  private func step(_ thread: Int, isFlush: Bool, _ atEnd: () -> String?) {
    let moment = state.moment
    let traceCount = trace.count
    if isFlush {
      flushOldest(thread)
    } else {
      if preemptionCountMax != nil { countPreemption(by: thread) }
      runOperation(thread)
    }
    result.stepCount &+= 1
    visit(atEnd)
    problem = nil
    state.goBack(to: moment)
    trace.truncate(to: traceCount)
  }

  private func countPreemption(by thread: Int) {
    let last = state[ModelState.lastThread]
    if last == UInt64(thread) { return }
    if last != .max, isRunnable(Int(last)), histories.kind(of: node(Int(last))) != Operation.Kind.done.rawValue {
      state[ModelState.preemptions] += 1
    }
    state[ModelState.lastThread] = UInt64(thread)
  }

  @inline(__always)
  func node(_ thread: Int) -> Int { Int(truncatingIfNeeded: state[ModelState.node(of: thread)]) }

  private func isRunnable(_ thread: Int) -> Bool {
    let kind = histories.kind(of: node(thread))
    if kind == Operation.Kind.lock.rawValue { return state[ModelState.lockOwner] == 0 }
    if kind == Operation.Kind.sleep.rawValue { return state[ModelState.wakes] & (1 << UInt64(thread)) != 0 }
    return true
  }

  // MARK: One thread's turn

  /// Does the operation, and what comes after it up to the next one that others can meet.
  private func runOperation(_ thread: Int) {
    var kind = histories.kind(of: node(thread))
    runOne(thread)
    // What is said before an operation belongs to it.
    while problem == nil, Self.belongsToNext(kind), isRunnable(thread) {
      kind = histories.kind(of: node(thread))
      if kind == Operation.Kind.done.rawValue { return }
      runOne(thread)
    }
    runQuietOperations(thread)
  }

  private static func belongsToNext(_ kind: UInt64) -> Bool {
    kind == Operation.Kind.begins.rawValue || kind == Operation.Kind.ends.rawValue
      || kind == Operation.Kind.deregisters.rawValue
  }

  private func runQuietOperations(_ thread: Int) {
    while problem == nil, isQuiet(thread, node(thread)) { runOne(thread) }
  }

  private func runOne(_ thread: Int) {
    let node = node(thread)
    let value = perform(thread, node)
    trace.append(UInt64(thread))
    trace.append(UInt64(node))
    trace.append(value)
    trace.append(0)
    if problem == nil { state[ModelState.node(of: thread)] = UInt64(histories.next(node, value)) }
  }

  // MARK: What is wrong

  private func stuckThreads() -> String {
    var stuck: [String] = []
    for thread in 0..<threadCount {
      switch histories.operation(of: node(thread)).kind {
      case .sleep: stuck.append("thread \(thread) sleeps for ever")
      case .lock: stuck.append("thread \(thread) waits for the lock for ever")
      default: break
      }
    }
    return stuck.joined(separator: ", ")
  }

  private func record(_ message: String) {
    if result.violation == nil { result.violation = (message, describeTrace()) }
  }
}
