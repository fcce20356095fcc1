#if !canImport(ObjectiveC)
  internal import FileMetadata
  internal import Foundation
  internal import SystemInterface

  /// The state of an `NSMetadataQuery`, which its runs use as well.
  ///
  /// | state | guarded by | why |
  /// | --- | --- | --- |
  /// | `state` | `lock` | programs use a query on any thread, and runs change its results where they post |
  /// | `query` | nothing | set once, before any other thread has the core |
  ///
  /// `@unchecked Sendable` for that reason, and because predicates and the like aren't sendable. Nothing of the program runs under
  /// the lock: neither its delegate nor its predicates. Native queries are called under it; they never call back.
  final class QueryCore: @unchecked Sendable {
    struct State {
      var configuration = QueryConfiguration()
      var operationQueue: OperationQueue?
      var isStarted = false
      var isGathering = false
      /// The last run, which may be over.
      var run = 0
      var native: MetadataQuery?
      var freezeDepth = 0
      /// Runs that wait until updates are enabled.
      var waiters: [CheckedContinuation<Void, Never>] = []
      var results = QueryResults()
      var objects = QueryObjects()
      /// Grows with every change of the results, or of what lists are made of besides.
      var generation = 0
      var positions: Cached<[MetadataItem.ID: Int]>?
      var valueLists: Cached<[String: [NSMetadataQueryAttributeValueTuple]]>?
      var groups: Cached<[NSMetadataQueryResultGroup]>?
      /// Objects that aren't needed any more and may belong to the program, whose code would run when they go.
      var discarded: [Any] = []
    }

    /// Something made of the state of one generation.
    struct Cached<Value> {
      let generation: Int
      let value: Value
    }

    private let lock = FutexLock()
    private var state = State()
    weak var query: NSMetadataQuery?

    func withState<Result>(_ body: (inout State) -> Result) -> Result {
      let (result, discarded) = lock.withLock {
        let result = body(&state)
        defer { if !state.discarded.isEmpty { state.discarded = [] } }
        return (result, state.discarded)
      }
      // Goes here, not under the lock.
      _ = discarded
      return result
    }

    var configuration: QueryConfiguration { withState { $0.configuration } }
    var operationQueue: OperationQueue? {
      get { withState { $0.operationQueue } }
      set { withState { $0.operationQueue = newValue } }
    }
    var isStarted: Bool { withState { $0.isStarted } }
    var isGathering: Bool { withState { $0.isGathering } }
    var results: QueryResults { withState { $0.results } }

    /// Changes settings that count from the next start.
    func configure(_ change: (inout QueryConfiguration) -> Void) { withState { change(&$0.configuration) } }

    /// Changes the search; a query that runs begins anew.
    func reconfigure(_ change: (inout QueryConfiguration) -> Void) {
      // In one step: a thread that stops it meanwhile stops the new run, and not the former one.
      let (ending, beginning) = withState { state -> (Ending, Beginning?) in
        state.discarded.append(state.configuration)
        change(&state.configuration)
        state.forgetLists()
        guard state.isStarted else { return (Ending(), nil) }
        return (state.end(), state.beginning())
      }
      ending.tell()
      if let beginning { _ = start(beginning) }
    }
  }

  // MARK: - Running

  extension QueryCore {
    func start() -> Bool {
      let beginning = withState { $0.isStarted ? nil : $0.beginning() }
      return beginning.map(start) ?? false
    }

    private func start(_ beginning: Beginning) -> Bool {
      let run = beginning.run
      do throws(MetadataQueryError) {
        let request = try QueryRequest(beginning.configuration, beginning.predicate)
        try request.native.start()
        if !adopt(request.native, run) {
          // Another thread has stopped it meanwhile.
          request.native.stop()
          return true
        }
        QueryRun(self, request, run).begin()
        return true
      } catch {
        Misuse.report("NSMetadataQuery couldn't start: \(error)")
        withState { $0.run == run ? $0.end() : Ending() }.tell()
        return false
      }
    }

    private func adopt(_ native: MetadataQuery, _ run: Int) -> Bool {
      withState { state in
        guard state.isStarted, state.run == run else { return false }
        state.native = native
        if state.freezeDepth > 0 { native.pause() }
        return true
      }
    }

    func stop() { withState { $0.end() }.tell() }

    func disableUpdates() {
      withState { state in
        state.freezeDepth += 1
        if state.freezeDepth == 1 { state.native?.pause() }
      }
    }

    /// - Returns: Whether updates were disabled.
    func enableUpdates() -> Bool {
      let waiters = withState { state -> [CheckedContinuation<Void, Never>]? in
        guard state.freezeDepth > 0 else { return nil }
        state.freezeDepth -= 1
        if state.freezeDepth > 0 { return [] }
        state.native?.resume()
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters ?? [] { waiter.resume() }
      return waiters != nil
    }
  }

  extension QueryCore {
    /// The inputs of a run that begins.
    struct Beginning {
      let configuration: QueryConfiguration
      let predicate: NSPredicate
      let run: Int
    }

    /// The parties to notify that a run is over.
    struct Ending {
      var native: MetadataQuery?
      /// Runs that wait until updates are enabled.
      var waiters: [CheckedContinuation<Void, Never>] = []

      /// Not under the lock: tasks go on.
      func tell() {
        native?.stop()
        for waiter in waiters { waiter.resume() }
      }
    }
  }

  extension QueryCore.State {
    /// - Returns: `nil` without a predicate.
    fileprivate mutating func beginning() -> QueryCore.Beginning? {
      guard let predicate = configuration.predicate else { return nil }
      run += 1
      isStarted = true
      isGathering = true
      show(QueryResults())
      discarded.append(objects)
      objects = QueryObjects()
      return QueryCore.Beginning(configuration: configuration, predicate: predicate, run: run)
    }

    fileprivate mutating func end() -> QueryCore.Ending {
      isStarted = false
      isGathering = false
      run += 1
      defer { (native, waiters) = (nil, []) }
      return QueryCore.Ending(native: native, waiters: waiters)
    }

    fileprivate mutating func show(_ new: QueryResults) {
      results = new
      positions = nil
      forgetLists()
    }

    /// Value lists and groups are made of the results, the settings and the delegate's replacements: at least one of these is another one.
    mutating func forgetLists() {
      discarded += [valueLists as Any, groups as Any]
      generation += 1
      valueLists = nil
      groups = nil
    }
  }

  // MARK: - The side of the runs

  extension QueryCore {
    /// The fate of a batch that was to be posted.
    enum Outcome {
      case posted
      /// Updates are disabled.
      case frozen
      /// The run is over.
      case over
    }

    /// Waits until updates are enabled.
    ///
    /// - Returns: Whether the run goes on.
    func awaitEnabledUpdates(_ run: Int) async -> Bool {
      await withCheckedContinuation { waiter in
        let isWaiting = withState { state in
          let mustWait = state.run == run && state.freezeDepth > 0
          if mustWait { state.waiters.append(waiter) }
          return mustWait
        }
        if !isWaiting { waiter.resume() }
      }
      return withState { $0.run == run }
    }

    /// Changes the state for a run, if that goes on and updates are enabled.
    func advance<Result>(_ run: Int, _ body: (inout State) -> Result) -> (Outcome, Result?) {
      withState { state in
        if state.run != run { return (.over, nil) }
        if state.freezeDepth > 0 { return (.frozen, nil) }
        return (.posted, body(&state))
      }
    }

    /// The objects that a batch is about.
    struct Lists {
      var added: [NSMetadataItem]
      var changed: [NSMetadataItem]
      /// With the delegate's replacements.
      var removed: [(item: NSMetadataItem, replacement: Any?)]
    }

    /// Makes a batch the results.
    func show(_ batch: QueryBatch, _ run: Int) -> (Outcome, Lists?) {
      advance(run) { state in
        let removed = batch.removed.map { state.objects.remove($0) }
        let changed = batch.changed.map { state.objects.update($0) }
        let added = batch.added.map { state.objects.object(for: $0) }
        state.show(batch.results)
        state.objects.renew(from: batch.results)
        return Lists(added: added, changed: changed, removed: removed)
      }
    }
  }
#endif
