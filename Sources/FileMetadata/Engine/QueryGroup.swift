internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// The queries that receive results of the same index in the same way, on the thread of its engine.
final class QueryGroup: IndexFollower {
  let key: ScopeEngine.Key
  private let loop: IndexLoop
  private var runners: [Int: QueryRunner] = [:]
  /// There has been a query: without one the group is over.
  private var hasBegun = false
  /// Queries over an index that was there before them: they receive it when it contains all that was done before they
  /// were started.
  private var arrivals: Set<Int> = []
  /// The plans of queries from now on, or as soon as more is known than names and kinds.
  private var replans: [Int: QueryPlan] = [:]
  /// The values that programs provide, if they do.
  private let provided: ProvidedAttributes?
  private let extraction: AttributeExtraction
  /// Files that are being looked into.
  private var awaited: Set<ProvidedAttributes.Want> = []
  /// Files that have been looked into since the last batches.
  private var arrived: Set<FileNumber> = []
  /// Queries whose first search goes on.
  private var gathering: Set<Int> = []
  /// The index whose numbers of files these are.
  private let source: UInt64
  private var snapshot: TableSnapshot
  private var health = ScopeHealth()
  /// All files that were there have been read, and looked into.
  private var isGathered: Bool
  private var evaluation = EvaluationPacing()

  private static let lastSource = Guarded<UInt64>(0)

  init(_ key: ScopeEngine.Key, _ loop: IndexLoop) {
    self.key = key
    self.loop = loop
    provided = key.providers.isEmpty ? nil : ProvidedAttributes(key.providers)
    extraction = AttributeExtraction { [weak engine = loop.engine] want, values in
      if let engine { ScopeEngine(engine, key).give(.provided(want, values)) }
    }
    source = Self.lastSource.withLock { last in
      last += 1
      return last
    }
    snapshot = TableSnapshot(loop.indexer.index.table, source: source, provided: provided, spellings: key.spellings)
    isGathered = loop.isGathered
  }

  private var indexer: ScopeIndexer { loop.indexer }
  private var clock: any CoordinationClock { loop.clock }

  var isOver: Bool { hasBegun && runners.isEmpty }
  var isAwaiting: Bool { !isGathered || !gathering.isEmpty || !arrivals.isEmpty }
  var isCurrent: Bool { runners.values.allSatisfy(\.isCurrent) }
  var comparedTables: [FileTable] { runners.values.flatMap(\.comparedTables) }
  var deadline: MonotonicTime? { (runners.values.map(\.deadline) + [evaluation.next]).compactMap(\.self).min() }

  func follow(_ turn: IndexTurn) {
    noteProgress()
    distribute(turn)
    welcome(isCurrent: turn.isIdle && turn.isComplete && provided == nil)
    carryOutReplans()
    lookInside()
    if turn.isComplete { finishGathering() }
  }

  func passTime(at now: MonotonicTime) {
    for runner in runners.values where runner.deadline.map({ $0 <= now }) == true {
      runner.timePassed(snapshot, health, at: now)
    }
    evaluation.evaluate(runners.values, snapshot, health, at: now)
    lookInside()
  }

  func end(_ error: SystemError?) {
    extraction.end()
    health.waitError = error
    for runner in runners.values {
      if error != nil { runner.note(health) }
      runner.end()
    }
    runners = [:]
  }

  func carryOut(_ order: ScopeEngine.Order) {
    let now = clock.now
    switch order {
    case .attach(let query, let plan, let port, let heritage):
      attach(query, QueryRunner(plan, port, FileTable(), heritage))
    case .detach(let query): detach(query)
    case .pause(let query): runners[query]?.pause()
    case .resume(let query): runners[query]?.resume(snapshot, health, at: now)
    case .taken(let query, let count): runners[query]?.taken(count, snapshot, health, at: now)
    case .readerBegan(let query, let count): runners[query]?.readerBegan(count, snapshot, health, at: now)
    case .barrier(let query, let barrier):
      loop.whenCurrent(
        IndexLoop.Awaited(for: self) { [unowned self] in
          isTold(query, barrier)
        } end: {
          barrier.end()
        })
    case .replan(let query, let plan): replan(query, plan)
    case .provided(let want, let values):
      awaited.remove(want)
      guard let values else { return }
      arrived.insert(want.number)
      provided?.note(values, of: want)
    }
  }

  /// Orders extraction from files of which queries need more than the index has.
  private func lookInside() {
    guard let provided else { return }
    let wants = provided.takeWants().filter { snapshot.table.contains($0.number) && awaited.insert($0).inserted }
    if wants.isEmpty { return }
    extraction.add(
      wants.sorted { $0.number < $1.number }.map {
        AttributeExtraction.Request(want: $0, path: snapshot.table.path(of: $0.number))
      })
  }

  private func attach(_ query: Int, _ runner: QueryRunner) {
    hasBegun = true
    runners[query] = runner
    if runner.plan.needsFacts { indexer.readsFacts = true }
    if isGathered || lacksFacts(query) {
      arrivals.insert(query)
      runner.isArriving = true
      return loop.look()
    }
    gathering.insert(query)
    runner.filesChanged(snapshot.table.numbers, snapshot, health, at: clock.now)
  }

  private func replan(_ query: Int, _ plan: QueryPlan) {
    if plan.needsFacts { indexer.readsFacts = true }
    if arrivals.contains(query) { runners[query]?.replanArrival(plan) } else { replans[query] = plan }
  }

  /// Gives queries their new plans if everything that they need is known and has been distributed.
  private func carryOutReplans() {
    for (query, plan) in replans where !plan.needsFacts || !indexer.hasRefills {
      replans[query] = nil
      runners[query]?.replan(plan, snapshot, health, at: clock.now)
    }
  }

  /// Whether a query has to wait until more is known than names and kinds.
  private func lacksFacts(_ query: Int) -> Bool { runners[query]?.plan.needsFacts == true && indexer.hasRefills }

  private func detach(_ query: Int) {
    runners[query] = nil
    replans[query] = nil
    arrivals.remove(query)
    gathering.remove(query)
  }

  /// Passes an index to queries that was there before them.
  ///
  /// - Parameter isCurrent: Whether it contains all that was done before they were started; otherwise they receive its
  ///   present state.
  private func welcome(isCurrent: Bool) {
    for query in arrivals where !lacksFacts(query) {
      arrivals.remove(query)
      if isCurrent {
        noteProgress(of: query, isFinished: true)
        runners[query]?.begin(snapshot, health, at: clock.now)
      } else {
        gathering.insert(query)
        runners[query]?.isArriving = false
        runners[query]?.filesChanged(snapshot.table.numbers, snapshot, health, at: clock.now)
      }
    }
  }

  /// Passes the changes of the index to all queries.
  private func distribute(_ turn: IndexTurn) {
    let isSameHealth = health == turn.health
    if turn.changes.isEmpty, isSameHealth, arrived.isEmpty { return }
    health = turn.health
    var numbers = turn.changes.files
    numbers.formUnion(arrived)
    arrived = []
    defer { provided?.forgetArrivals() }
    if !turn.changes.isEmpty {
      snapshot = TableSnapshot(turn.table, source: source, provided: provided, spellings: key.spellings)
    }
    var recounted = numbers
    if runners.values.contains(where: \.plan.countsMembers) { recounted.formUnion(turn.changes.recounted) }
    for runner in runners.values {
      runner.filesChanged(
        runner.plan.countsMembers ? recounted : numbers, movedDirectories: turn.changes.movedDirectories, snapshot,
        health, at: turn.time)
    }
  }

  private func noteProgress() {
    for query in gathering { noteProgress(of: query, isFinished: false) }
  }

  private func noteProgress(of query: Int, isFinished: Bool) {
    var progress = MetadataQueryProgress(indexer)
    progress.isFinished = isFinished
    runners[query]?.note(progress)
  }

  /// Nothing is left to be read.
  private func finishGathering() {
    // A requested attribute isn't known before all files have been looked into.
    if !awaited.isEmpty { return }
    isGathered = true
    for query in gathering {
      noteProgress(of: query, isFinished: true)
      runners[query]?.gatheringFinished(snapshot, health, at: clock.now)
    }
    gathering = []
  }

  /// Passes everything to a query that was done before, if that can be.
  private func isTold(_ query: Int, _ barrier: Barrier) -> Bool {
    if !awaited.isEmpty || arrivals.contains(query) || replans[query] != nil { return false }
    let isTold = runners[query]?.flush(snapshot, health, at: clock.now) ?? true
    if isTold { barrier.end() }
    return isTold
  }
}
