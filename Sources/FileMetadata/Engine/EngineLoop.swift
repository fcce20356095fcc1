internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// What the thread of an engine does: orders, events, reading, telling, in turns.
final class EngineLoop {
  private let engine: ScopeEngine
  private let watcher: any FileWatcher
  private let clock: any CoordinationClock
  private let indexer: ScopeIndexer
  private var runners: [Int: QueryRunner] = [:]
  /// What is carried out when everything is known that was done before.
  private enum Awaited {
    case told(query: Int, Barrier)
    case index(CheckedContinuation<FileTable?, Never>)
  }

  private var barriers = PendingOrders<Awaited>()
  /// Whether there's a further turn, because barriers came while others were waited for.
  private var hasNextTurn = false
  /// Queries over an index that was there before them: they're told of it when it says all that was done before they were started.
  private var arrivals: Set<Int> = []
  /// What queries are to look for from now on, or as soon as more is known than names and kinds.
  private var replans: [Int: QueryPlan] = [:]
  /// What programs provide, if they do.
  private let provided: ProvidedAttributes?
  private let spellings: ScopeSpellings
  private let extraction: AttributeExtraction
  /// Files that are being looked into.
  private var awaited: Set<ProvidedAttributes.Want> = []
  /// Files that have been looked into since queries were told last.
  private var arrived: Set<FileNumber> = []
  /// Queries whose first search goes on.
  private var gathering: Set<Int> = []
  private let source: UInt64
  private var snapshot: TableSnapshot
  private var health = ScopeHealth()
  /// Everything that there was has been read.
  private var isGathered = false
  private var hasBegun = false
  private var pacing: PollPacing
  private var rereading = RereadPacing()
  private var evaluation = EvaluationPacing()

  /// How many directories are read before orders and batches have their turn.
  private static let directoryCountMax = 1024
  /// After how many files no further directory is begun before orders and batches have their turn.
  private static let memberCountMax = 1 << 14

  init(
    _ engine: ScopeEngine, _ key: ScopeEngine.Key, files: any FileSystem, watcher: any FileWatcher,
    clock: any CoordinationClock
  ) {
    self.engine = engine
    self.watcher = watcher
    self.clock = clock
    let options = key.options
    pacing = PollPacing(interval: options.pollingInterval)
    // Others than the machine's own files are read in an order that can be repeated.
    let isHost = files is HostFileSystem
    indexer = ScopeIndexer(files, watcher: watcher, options: options, helperCount: isHost ? Self.helperCount : 0)
    indexer.readsFacts = !isHost || options.gatheringDepth == .attributes
    provided = key.providers.isEmpty ? nil : ProvidedAttributes(key.providers)
    extraction = AttributeExtraction { [weak engine] want, values in engine?.give(.provided(want, values)) }
    spellings = key.spellings
    source = engine.number
    snapshot = TableSnapshot(FileTable(), source: source, provided: provided, spellings: spellings)
    for (path, reach) in key.reaches { indexer.addRoot(path, reach: reach) }
  }

  /// Reading is for the kernel to do, which takes its time for each processor; the engine's own thread is the last one.
  private static let helperCount = min(4, HostThread.usableProcessorCount)

  func run() {
    while true {
      hasNextTurn = false
      guard let orders = engine.takeOrders(endingIf: hasBegun && runners.isEmpty) else { return end() }
      for order in orders { carryOut(order) }
      // Nobody is interested any more; somebody may be in the meantime.
      if hasBegun, runners.isEmpty { continue }
      indexer.processEvents()
      let isIdle = !indexer.hasWork
      indexer.work(directoryCountMax: Self.directoryCountMax, memberCountMax: Self.memberCountMax)
      noteProgress()
      distribute()
      welcome(isCurrent: isIdle && !indexer.isBehind && provided == nil)
      carryOutReplans()
      lookInside()
      // Whatever was done before the turn is known then, even if somebody makes directories all the time.
      if isIdle || !indexer.hasWork, !indexer.isBehind { settle() }
      passTime()
      lookInside()
      if !isIdle || indexer.hasWork || hasNextTurn { continue }
      if indexer.hasRefills {
        indexer.refill(directoryCountMax: Self.directoryCountMax, memberCountMax: Self.memberCountMax)
      } else if !wait() {
        return end()
      }
    }
  }

  private func carryOut(_ order: ScopeEngine.Order) {
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
      if barriers.add(.told(query: query, barrier)) { indexer.poll() }
    case .index(let continuation):
      if barriers.add(.index(continuation)) { indexer.poll() }
    case .replan(let query, let plan): replan(query, plan)
    case .provided(let want, let values):
      awaited.remove(want)
      guard let values else { return }
      arrived.insert(want.number)
      provided?.note(values, of: want)
    }
  }

  /// Has somebody look into files of which queries want to know more than the index does.
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
      return indexer.poll()
    }
    gathering.insert(query)
    runner.filesChanged(snapshot.table.numbers, snapshot, health, at: clock.now)
  }

  private func replan(_ query: Int, _ plan: QueryPlan) {
    if plan.needsFacts { indexer.readsFacts = true }
    if arrivals.contains(query) { runners[query]?.replanArrival(plan) } else { replans[query] = plan }
  }

  /// Has queries look for something else for which everything is known that they need, and has been distributed.
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

  /// Tells queries of an index that was there before them.
  ///
  /// - Parameter isCurrent: Whether it says all that was done before they were started; otherwise they're told what's known so far.
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

  /// Tells all queries what has changed in the index.
  private func distribute() {
    let changes = indexer.takeChanges()
    let isSameHealth = health == indexer.health
    if changes.isEmpty, isSameHealth, arrived.isEmpty { return }
    health = indexer.health
    var numbers = changes.files
    numbers.formUnion(arrived)
    arrived = []
    defer { provided?.forgetArrivals() }
    if !changes.isEmpty {
      snapshot = TableSnapshot(indexer.index.table, source: source, provided: provided, spellings: spellings)
    }
    for runner in runners.values {
      runner.filesChanged(
        numbers, movedDirectories: changes.movedDirectories, snapshot, health, at: clock.now)
    }
    if runners.values.allSatisfy(\.isCurrent) { indexer.recycleNumbers() }
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
  private func settle() {
    // What's asked for isn't known before all of it has been looked at.
    if !awaited.isEmpty { return }
    isGathered = true
    // Whatever comes now is told with what can be compared later.
    indexer.readsFacts = true
    for query in gathering {
      noteProgress(of: query, isFinished: true)
      runners[query]?.gatheringFinished(snapshot, health, at: clock.now)
    }
    gathering = []
    hasNextTurn = barriers.finish { awaited in
      guard case .told(let query, let barrier) = awaited else {
        if case .index(let continuation) = awaited { continuation.resume(returning: indexer.index.table) }
        return true
      }
      if arrivals.contains(query) || replans[query] != nil { return false }
      let isTold = runners[query]?.flush(snapshot, health, at: clock.now) ?? true
      if isTold { barrier.end() }
      return isTold
    }
    if hasNextTurn { indexer.poll() }
  }

  private func passTime() {
    let now = clock.now
    for runner in runners.values where runner.deadline.map({ $0 <= now }) == true {
      runner.timePassed(snapshot, health, at: now)
    }
    rereading.readAgain(indexer, isAwaited: isAwaited, at: now)
    pacing.poll(indexer, at: now)
    evaluation.evaluate(runners.values, snapshot, health, at: now)
  }

  /// Whether somebody waits for what is current.
  private var isAwaited: Bool { !isGathered || !gathering.isEmpty || !arrivals.isEmpty || !barriers.isEmpty }

  /// - Returns: `false` when the system doesn't let the thread wait.
  private func wait() -> Bool {
    let times =
      runners.values.compactMap(\.deadline) + [pacing.next, rereading.next, evaluation.next].compactMap(\.self)
    let watcher = watcher
    let alarm = times.min().map { clock.schedule(at: $0) { watcher.wake() } }
    defer { alarm?.cancel() }
    do {
      try watcher.waitForEvents()
      return true
    } catch {
      return false
    }
  }

  private func end() {
    extraction.end()
    for awaited in barriers.takeAll() {
      switch awaited {
      case .told(_, let barrier): barrier.end()
      case .index(let continuation): continuation.resume(returning: nil)
      }
    }
    for runner in runners.values { runner.end() }
    runners = [:]
    while let orders = engine.takeOrders(endingIf: true) {
      for order in orders { order.end() }
    }
  }
}
