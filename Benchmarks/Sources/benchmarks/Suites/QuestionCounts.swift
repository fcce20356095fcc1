import BenchmarkShims
import FileCoordination

/// The number of events in reads that ask one presenter to relinquish and save, and that give back afterwards.
enum QuestionCounts {
  /// How often such a read may allocate, the work of the presenter included.
  private static let allocationCountMaxOnThreadOfReader = 40
  private static let allocationCountMaxOnOwnThreads = 19
  /// The same without questions: the presenter declares no callback, so the arbiter grants the read at once.
  private static let allocationCountMaxUnasked = 7
  /// Foundation makes more operations if the reacquirer and the next question happen not to be one job.
  private static let allocationCountMaxOnQueue = 75

  static func lines(_ counter: EventCounter, _ count: Int, _ path: String) throws -> [CounterLine] {
    switch counter {
    // The runtime's hook for retains doesn't keep all registers that the code around a retain needs: it crashes Foundation, too.
    case .retainsAndReleases: return []
    case .systemCalls, .contextSwitches:
      return [
        try line(counter, "presenter", "presenter", count, path, ExecutorOfCaller(), limit: nil) { body in
          try counter.count { () throws in try body() }
        }
      ]
    case .allocations:
      let forms: [(String, String, (any TaskExecutor)?, Int)] = [
        ("presenter", "presenter", ExecutorOfCaller(), allocationCountMaxOnThreadOfReader),
        ("presenter-own-threads", "presenter on threads of the library", nil, allocationCountMaxOnOwnThreads),
        ("presenter-queue", "presenter on an OperationQueue", QueueExecutor(), allocationCountMaxOnQueue),
      ]
      return [try unaskedLine(counter, count, path)]
        + (try forms.map { id, what, executor, limit in
          try line(counter, id, what, count, path, executor, limit: Double(count * limit)) { body in
            try allocationsOfAllThreads(body)
          }
        })
    }
  }

  /// The arbiter alone, for comparison.
  private static func unaskedLine(_ counter: EventCounter, _ count: Int, _ path: String) throws -> CounterLine {
    let domain = CoordinationDomain()
    let reader = try HandleWorker(path, domain)
    let presenter = AskedPresenter(path, nil, callbacks: [])
    let registration = try domain.register(presenter)
    defer { registration.end() }
    for _ in 0..<count { try reader.read {} }
    let events = try allocationsOfAllThreads { for _ in 0..<count { try reader.read {} } }
    return CounterLine(
      "read-asking-nobody/\(counter.id)",
      "\(counter.title) in \(format(Double(count))) uncontended reads of an item whose presenter isn't asked",
      value: Double(events), limit: Double(count * allocationCountMaxUnasked))
  }

  private static func line(
    _ counter: EventCounter, _ id: String, _ what: String, _ count: Int, _ path: String,
    _ executor: (any TaskExecutor)?, limit: Double?, counting: (_ body: () throws -> Void) throws -> UInt64?
  ) throws -> CounterLine {
    let domain = CoordinationDomain()
    let reader = try HandleWorker(path, domain)
    let presenter = AskedPresenter(path, executor)
    let registration = try domain.register(presenter)
    defer { registration.end() }
    // Events that occur once, such as making a thread, aren't the cost of a read.
    for _ in 0..<count { try reader.read {} }
    let events = try counting {
      for _ in 0..<count { try reader.read {} }
    }
    // The counted reads, and as many before them.
    if presenter.saveCount != 2 * count {
      throw BenchmarkFailure("a presenter saved \(presenter.saveCount) times in \(2 * count) reads")
    }
    return CounterLine(
      "read-asking-\(id)/\(counter.id)",
      "\(counter.title) in \(format(Double(count))) uncontended reads that ask a \(what) to relinquish and save",
      value: Double(events ?? 0), limit: limit)
  }
}

/// How often all threads allocate while `body` runs.
func allocationsOfAllThreads(_ body: () throws -> Void) rethrows -> UInt64 {
  bench_count_allocations_of_all_threads(true)
  defer { bench_count_allocations_of_all_threads(false) }
  let before = bench_allocation_count_of_all_threads()
  try body()
  return bench_allocation_count_of_all_threads() - before
}
