internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// The entry of queries to one scope: an engine that others may follow as well, and a group of queries there.
struct ScopeEngine: Sendable {
  /// The orders of queries, by the number of the query.
  enum Order: Sendable {
    case attach(Int, QueryPlan, QueryPort, QueryPort.Heritage)
    case detach(Int)
    case pause(Int)
    case resume(Int)
    /// A reader has taken a batch.
    case taken(Int, count: Int)
    /// A reader has begun.
    case readerBegan(Int, count: Int)
    /// End the barrier when everything that was done before is reported.
    case barrier(Int, Barrier)
    /// Search with another plan from now on.
    case replan(Int, QueryPlan)
    /// A file has been looked into, or was found to be another one by now, which the kernel reports.
    case provided(ProvidedAttributes.Want, [String: MetadataValue]?)
  }

  /// The places that are followed, and the options.
  struct Key: Hashable, Sendable {
    /// Directories that are searched, none of which is inside another one.
    var roots: [SystemPath]
    /// Places that are results themselves; none of them is inside a searched directory.
    var items: [SystemPath] = []
    /// How results are spelled.
    var spellings = ScopeSpellings()
    var options: ScopeOptions
    var providers: [AttributeProvider] = []

    /// The followed places, for all followers.
    var index: IndexEngine.Key { IndexEngine.Key(roots: roots, items: items, options: options) }
  }

  let index: IndexEngine
  let key: Key

  private static let lastQuery = Guarded(0)

  init(_ index: IndexEngine, _ key: Key) {
    self.index = index
    self.key = key
  }

  /// Starts an engine that no other caller finds.
  ///
  /// - Throws: EAGAIN of pthread_create(3), when there are too many threads.
  init(
    _ key: Key, files: any FileSystem, watcher: any FileWatcher, clock: any CoordinationClock
  ) throws(SystemError) {
    self.init(try IndexEngine(key.index, files: files, watcher: watcher, clock: clock), key)
  }

  /// Adds a query.
  ///
  /// - Returns: Its number; `nil` when the engine has ended.
  func attach(_ plan: QueryPlan, _ port: QueryPort, _ heritage: QueryPort.Heritage = .none) -> Int? {
    let query = Self.makeQueryNumber()
    return index.accept(QueryOrder(key: key, order: .attach(query, plan, port, heritage))) ? query : nil
  }

  /// Gives an order; none is carried out after the end, when no caller can be waiting for it.
  func give(_ order: Order) { index.give(QueryOrder(key: key, order: order)) }

  /// Adds a query to the engine of a scope, which is started if there's none.
  ///
  /// - Parameters:
  ///   - key: The scope.
  ///   - plan: The search of the query.
  ///   - port: Where to leave batches.
  ///   - heritage: The batches of an earlier engine there.
  /// - Returns: The engine, and the number of the query.
  /// - Throws: An error of inotify_init1(2) or pthread_create(3).
  static func attach(
    _ key: Key, _ plan: QueryPlan, _ port: QueryPort, _ heritage: QueryPort.Heritage = .none
  ) throws(SystemError) -> (engine: ScopeEngine, query: Int) {
    let query = makeQueryNumber()
    let order = QueryOrder(key: key, order: .attach(query, plan, port, heritage))
    return (ScopeEngine(try IndexEngine.give(order, to: key.index), key), query)
  }

  private static func makeQueryNumber() -> Int {
    lastQuery.withLock { last in
      last += 1
      return last
    }
  }
}

/// An order of a query.
private struct QueryOrder: IndexOrder {
  let key: ScopeEngine.Key
  let order: ScopeEngine.Order

  func carryOut(on loop: IndexLoop) {
    if let group = loop.follower(where: { (group: QueryGroup) in group.key == key }) {
      return group.carryOut(order)
    }
    guard case .attach = order else { return end() }
    let group = QueryGroup(key, loop)
    loop.add(group)
    group.carryOut(order)
  }

  /// It isn't carried out.
  func end() {
    switch order {
    case .barrier(_, let barrier): barrier.end()
    case .attach(_, _, let port, let heritage): port.end(by: heritage.generation)
    case .detach, .pause, .resume, .taken, .readerBegan, .replan, .provided: break
    }
  }
}
