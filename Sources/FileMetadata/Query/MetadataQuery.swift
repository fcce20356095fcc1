public import FoundationEssentials
public import MetadataPredicates
internal import SystemInterface
public import FileWatching

/// Finds files, and keeps its results current.
///
/// ```swift
/// let query = try MetadataQuery(.fileName.hasSuffix(".md"), in: [directory], sortedBy: [MetadataSortDescriptor(.fileName)])
/// try query.start()
/// for await change in query.changes {
///   print(change.added.map(\.item.name), change.removed.map(\.item.name))
/// }
/// ```
///
/// First it gathers the existing files, then it reports changes, and loses none: directories are watched before they're
/// read, and read again when the kernel has lost events. Symbolic links aren't followed, unless
/// `ScopeOptions.followsSymbolicLinks` says so. All queries over the same scopes share one index and one thread; no run
/// loop is needed.
///
/// Not seen at once are changes through hard links outside of the scopes, stores through mmap(2) before the file is
/// closed, and changes by other machines on network file systems; see ``health``.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | it's replaced by ``start()``, ``stop()``, ``replacePredicate(by:)``, ``replaceOrder(by:)`` and ``replaceScopes(by:items:)``, on any thread |
public final class MetadataQuery: Sendable {
  private struct State: Sendable {
    var plan: QueryPlan
    var key: ScopeEngine.Key
    var scopes: [MetadataScope]
    var items: [URL]
    var session: QuerySession?
  }

  /// Where it searches.
  public var scopes: [MetadataScope] { state.withLock { $0.scopes } }
  /// The single files and directories, in the order in which they were named.
  ///
  /// - Note: Rule Q28.
  public var items: [URL] { state.withLock { $0.items } }
  private let state: Guarded<State>

  /// Makes a query of directories that doesn't search before ``start()``.
  ///
  /// Blocks for a few system calls.
  ///
  /// - Parameters:
  ///   - predicate: The condition that a file has to fulfil.
  ///   - directories: Directories that are there, with everything in them; a file in several of them is found once. Links that lead to them
  ///     are followed. For directories that may not be there yet, see ``init(_:scopes:items:sortedBy:batching:options:providers:resultCountMax:)``.
  ///   - sortDescriptors: How results are ordered; without any, in the order in which they were found.
  ///   - batching: How changes are gathered before they're reported.
  ///   - options: How far scopes reach.
  ///   - providers: The providers of attributes that the file system doesn't have.
  ///   - resultCountMax: How many results there are at most: the first ones of their order. One that comes among them
  ///     takes the place of the last one, which is reported as removed, and the other way around.
  /// - Throws: ``MetadataQueryError`` for an unusable predicate, no scope, a missing scope, and attributes that can't
  ///   be sorted by.
  /// - Note: Rules Q17, Q25, Q26 and Q30.
  public convenience init(
    _ predicate: MetadataPredicate, in directories: [URL], sortedBy sortDescriptors: [MetadataSortDescriptor] = [],
    batching: MetadataBatching = .standard, options: ScopeOptions = ScopeOptions(),
    providers: [AttributeProvider] = [], resultCountMax: Int? = nil
  ) throws(MetadataQueryError) {
    let places = try SearchPlaces(existing: directories)
    let scopes = directories.map { MetadataScope.directory($0) }
    try self.init(predicate, scopes, [], places, sortDescriptors, batching, options, providers, resultCountMax)
  }

  /// Makes a query of scopes and single files that doesn't search before ``start()``.
  ///
  /// No place has to exist: a scope or item that's made later, or that's gone and comes back, is found at once. Blocks
  /// for a few system calls.
  ///
  /// - Parameters:
  ///   - predicate: The condition that a file has to fulfil.
  ///   - scopes: Where to search, each with everything in it; a file in several of them is found once.
  ///   - items: Single files and directories besides, or instead if there are no scopes. The contents of such a
  ///     directory aren't searched, and unlike a scope it may be a result itself.
  ///   - sortDescriptors: How results are ordered; without any, in the order in which they were found.
  ///   - batching: How changes are gathered before they're reported.
  ///   - options: How far scopes reach.
  ///   - providers: The providers of attributes that the file system doesn't have.
  ///   - resultCountMax: How many results there are at most: the first ones of their order. One that comes among them
  ///     takes the place of the last one, which is reported as removed, and the other way around.
  /// - Throws: ``MetadataQueryError`` for an unusable predicate, neither scope nor item, URLs of other things than
  ///   files, ubiquitous scopes beside others, and attributes that can't be sorted by.
  /// - Note: Rules Q17 and Q23 to Q30.
  public convenience init(
    _ predicate: MetadataPredicate, scopes: [MetadataScope], items: [URL] = [],
    sortedBy sortDescriptors: [MetadataSortDescriptor] = [], batching: MetadataBatching = .standard,
    options: ScopeOptions = ScopeOptions(), providers: [AttributeProvider] = [], resultCountMax: Int? = nil
  ) throws(MetadataQueryError) {
    let places = try SearchPlaces(scopes: scopes, items: items)
    try self.init(predicate, scopes, items, places, sortDescriptors, batching, options, providers, resultCountMax)
  }

  private init(
    _ predicate: MetadataPredicate, _ scopes: [MetadataScope], _ items: [URL], _ places: SearchPlaces,
    _ sortDescriptors: [MetadataSortDescriptor], _ batching: MetadataBatching, _ options: ScopeOptions,
    _ providers: [AttributeProvider], _ resultCountMax: Int?
  ) throws(MetadataQueryError) {
    let compiled = try Self.compiled(predicate, providers)
    let provided = Set(providers.flatMap(\.attributes))
    let plan = try QueryPlan(
      compiled, sortDescriptors, batching, providing: provided, resultCountMax: resultCountMax)
    let key = ScopeEngine.Key(
      roots: places.roots, items: places.items, spellings: places.spellings, options: options, providers: providers)
    state = Guarded(State(plan: plan, key: key, scopes: scopes, items: items))
  }

  deinit { stop() }

  /// Attributes that aren't in the index are tested last: they're read from the file, or a provider has to look into
  /// it.
  private static func costs(_ providers: [AttributeProvider]) -> [String: Int] {
    let given = providers.flatMap(\.attributes).map { ($0, 100_000) }
    let read = FileAttribute.allCases.filter { !$0.isIndexed }.map { ($0.rawValue, 1000) }
    return Dictionary(read + given) { max($0, $1) }
  }

  // MARK: - Running

  /// Begins to search; results of an earlier run are dropped.
  ///
  /// Returns at once: the search runs on a thread of its own.
  ///
  /// - Returns: Whether the query wasn't running; otherwise nothing is done.
  /// - Throws: ``MetadataQueryError`` when the system doesn't let the program watch files; its ``MetadataQueryError/systemError`` says which limit
  ///   is in the way.
  /// - Note: Rules Q3, Q4, Q12 and Q22.
  @discardableResult
  public func start() throws(MetadataQueryError) -> Bool {
    try start { key, plan, port throws(SystemError) in try ScopeEngine.attach(key, plan, port) }
  }

  /// Begins to search with an engine that's found in some way.
  func start(
    attaching attach: (ScopeEngine.Key, QueryPlan, QueryPort) throws(SystemError) -> (engine: ScopeEngine, query: Int)
  ) throws(MetadataQueryError) -> Bool {
    do throws(SystemError) {
      return try state.withLock { state throws(SystemError) in
        if let session = state.session, session.isRunning, !session.port.isEnded { return false }
        let port = QueryPort()
        let (engine, query) = try attach(state.key, state.plan, port)
        state.session = QuerySession(engine, query: query, port)
        return true
      }
    } catch {
      throw MetadataQueryError(.watchingUnavailable, "", error)
    }
  }

  /// Ends the search and everything that follows it; results stay as they are.
  ///
  /// Sequences of ``changes`` end after the batches that have been reported.
  ///
  /// - Note: Rules Q9, Q10, Q11 and L18.
  public func stop() {
    current?.stop()
  }

  /// Whether the query searches, or follows its results.
  public var isStarted: Bool {
    current.map { $0.isRunning && !$0.port.isEnded } ?? false
  }

  /// Whether the first search goes on.
  ///
  /// - Note: Rule Q8.
  public var isGathering: Bool { isStarted && (current?.port.isGathering ?? false) }

  /// The results that were reported last.
  ///
  /// - Complexity: O(1).
  /// - Note: Rules Q1, Q11 and R1.
  public var results: MetadataResults {
    current?.port.results ?? .none
  }

  /// How well the scopes are followed.
  public var health: ScopeHealth { current?.port.health ?? ScopeHealth() }

  /// How well the scopes are followed, now and whenever that changes.
  ///
  /// A slow reader receives only the latest value. Ends with ``stop()``; at once if the query isn't started.
  public var healthUpdates: AsyncStream<ScopeHealth> {
    current?.port.board.updates ?? AsyncStream { $0.finish() }
  }

  /// How far the first search is.
  public var progress: MetadataQueryProgress { current?.port.progress ?? MetadataQueryProgress() }

  var plan: QueryPlan { state.withLock { $0.plan } }
  var key: ScopeEngine.Key { state.withLock { $0.key } }
  var current: QuerySession? { state.withLock { $0.session } }

  // MARK: - Something else

  /// The condition that a file has to fulfil.
  public var predicate: MetadataPredicate { plan.predicate.predicate }

  /// Searches with another predicate from now on.
  ///
  /// A query that runs isn't started anew: files that don't match any more are reported as removed, files that match
  /// now as added, and unchanged results not at all, in one exact difference and at once; nothing is read from the
  /// disk.
  ///
  /// - Parameter predicate: The condition that a file has to fulfil.
  /// - Throws: ``MetadataQueryError`` for a predicate that can't be used; then everything stays as it is.
  /// - Complexity: One evaluation for each file of the scopes, on the thread that follows these.
  /// - Note: Rule Q13.
  public func replacePredicate(by predicate: MetadataPredicate) throws(MetadataQueryError) {
    let compiled = try Self.compiled(predicate, key.providers)
    try replan(looking: compiled)
  }

  /// How results are ordered; without any, in the order in which they were found.
  public var sortDescriptors: [MetadataSortDescriptor] { plan.order.descriptors }

  /// Orders results in another way from now on.
  ///
  /// A query that runs isn't started anew: the results in the new order are reported at once, in one exact difference
  /// in which as few of them as possible are moved; nothing is read from the disk. With a `resultCountMax` those come
  /// and go that are or aren't among the first ones of the new order.
  ///
  /// - Parameter sortDescriptors: How results are ordered; without any, in the order in which they were found.
  /// - Throws: ``MetadataQueryError`` for attributes that can't be sorted by; then everything stays as it is.
  /// - Complexity: One evaluation for each file of the scopes, and O(*n* log *n*) in the number of results, on the thread that follows
  ///   the scopes.
  /// - Note: Rules Q16 and Q31.
  public func replaceOrder(by sortDescriptors: [MetadataSortDescriptor]) throws(MetadataQueryError) {
    try replan(orderedBy: sortDescriptors)
  }

  /// Searches with another predicate, or in another order; an argument that's `nil` changes nothing.
  private func replan(
    looking predicate: CompiledPredicate? = nil, orderedBy sortDescriptors: [MetadataSortDescriptor]? = nil
  ) throws(MetadataQueryError) {
    try state.withLock { state throws(MetadataQueryError) in
      let old = state.plan
      let provided = Set(state.key.providers.flatMap(\.attributes))
      state.plan = try QueryPlan(
        predicate ?? old.predicate, sortDescriptors ?? old.order.descriptors, old.batching, providing: provided,
        resultCountMax: old.resultCountMax)
      let plan = state.plan
      if let session = state.session, session.isRunning { session.give { .replan($0, plan) } }
    }
  }

  /// Searches elsewhere from now on.
  ///
  /// A query that runs isn't started anew, and its readers go on. Results stay as they are while the other scopes are
  /// searched for the first time, as ``progress`` shows; then one batch reports removed and added files, and as changed
  /// all that are in both: their ``MetadataItem/id`` is another one, because each scope numbers files by itself.
  /// ``waitUntilCurrent()`` waits for that. A scope that another query follows already is available at once.
  ///
  /// - Parameters:
  ///   - scopes: Where to search.
  ///   - items: Single files and directories besides, or instead if there are no scopes.
  /// - Throws: ``MetadataQueryError`` as making a query does, and when the system doesn't let the program watch files; then everything stays as
  ///   it is.
  /// - Complexity: Once O(*n* log *n*) in the number of results before and now, and the cost of a first search.
  /// - Note: Rules Q17 and Q23 to Q30.
  public func replaceScopes(by scopes: [MetadataScope], items: [URL] = []) throws(MetadataQueryError) {
    let places = try SearchPlaces(scopes: scopes, items: items)
    do throws(SystemError) {
      try state.withLock { state throws(SystemError) in
        var key = state.key
        (key.roots, key.items, key.spellings) = (places.roots, places.items, places.spellings)
        if key != state.key, let session = state.session, session.isRunning, !session.port.isEnded {
          let plan = state.plan
          try session.move(plan) { port, heritage throws(SystemError) in
            try ScopeEngine.attach(key, plan, port, heritage)
          }
        }
        (state.key, state.scopes, state.items) = (key, scopes, items)
      }
    } catch {
      throw MetadataQueryError(.watchingUnavailable, "", error)
    }
  }

  private static func compiled(
    _ predicate: MetadataPredicate, _ providers: [AttributeProvider]
  ) throws(MetadataQueryError) -> CompiledPredicate {
    do throws(MetadataPredicateError) {
      return try predicate.comparingFiles.compiled(attributeCosts: costs(providers))
    } catch {
      throw MetadataQueryError(.invalidPredicate, "", error.description, predicateError: error)
    }
  }

  // MARK: - Order and time

  /// Keeps results as they are until ``resume()`` has been called as often.
  ///
  /// - Note: Rules R1 and R2. Ends with the run of the query.
  public func pause() {
    current?.act { port in
      port.pause()
      return { .pause($0) }
    }
  }

  /// Ends one ``pause()``; after the last one all changes since are reported, in one batch.
  ///
  /// - Note: Rules R2 and R3.
  public func resume() {
    current?.act { port in port.resume() ? { .resume($0) } : nil }
  }

  /// Waits until everything that was done to files before the call is in the results.
  ///
  /// Reports pending changes at once; while the query is paused, it doesn't. Returns early when the task is cancelled
  /// or the query stopped.
  ///
  /// - Returns: The results.
  /// - Throws: `CancellationError` when the task was cancelled.
  /// - Note: Rule L16.
  @discardableResult
  public func waitUntilCurrent() async throws(CancellationError) -> MetadataResults {
    guard let session = current, session.isRunning else { return results }
    let barrier = Barrier()
    session.give { .barrier($0, barrier) }
    await withTaskCancellationHandler {
      await barrier.wait()
    } onCancel: {
      barrier.end()
    }
    if Task.isCancelled { throw CancellationError() }
    return results
  }
}
