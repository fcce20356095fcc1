internal import FileWatching
internal import MetadataPredicates
internal import SystemInterface

/// Follows one scope for all queries over it, on a thread of its own that ends with the last of them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `inbox` | its lock | any thread gives orders, the engine's thread takes them; the end is decided under it, so no order is lost |
/// | index, watches, runners | the engine's thread | they are in an ``EngineLoop`` that no one else can reach |
final class ScopeEngine: Sendable {
  /// What queries ask for, by the number of the query.
  enum Order: Sendable {
    case attach(Int, QueryPlan, QueryPort, QueryPort.Heritage)
    case detach(Int)
    case pause(Int)
    case resume(Int)
    /// A reader has taken a batch.
    case taken(Int, count: Int)
    /// A reader has begun.
    case readerBegan(Int, count: Int)
    /// Tell when everything that was done before is told.
    case barrier(Int, Barrier)
    /// Give the index when it knows everything that was done before.
    case index(CheckedContinuation<FileTable?, Never>)
    /// Look for something else from now on.
    case replan(Int, QueryPlan)
    /// Somebody has looked into a file, or has found that it's another one by now, of which the kernel tells.
    case provided(ProvidedAttributes.Want, [String: MetadataValue]?)
  }

  private struct Inbox: Sendable {
    var orders: [Order] = []
    var queryCount = 0
    /// Ends with the engine, also if somebody still has that: it holds descriptors and watches.
    var watcher: (any FileWatcher)?
    var isEnded: Bool { watcher == nil }
  }

  /// What is followed, and how.
  struct Key: Hashable, Sendable {
    /// Directories that are searched, none of which is inside another one.
    var roots: [SystemPath]
    /// Places that are looked at themselves, none of which is inside a directory that's searched.
    var items: [SystemPath] = []
    /// How results are spelled.
    var spellings = ScopeSpellings()
    var options: ScopeOptions
    var providers: [AttributeProvider] = []

    /// What of each place may be a result.
    var reaches: [(path: SystemPath, reach: RootReach)] {
      let both = Set(roots).intersection(items)
      return roots.map { ($0, both.contains($0) ? .itemAndContents : .contents) }
        + items.filter { !both.contains($0) }.map { ($0, .item) }
    }
  }

  /// Which of all engines there have been.
  let number = lastNumber.withLock { last in
    last += 1
    return last
  }
  private static let lastNumber = Guarded<UInt64>(0)

  private let inbox: Guarded<Inbox>

  /// Starts an engine.
  ///
  /// - Throws: EAGAIN of pthread_create(3), when there are too many threads.
  init(
    _ key: Key, files: any FileSystem, watcher: any FileWatcher, clock: any CoordinationClock
  ) throws(SystemError) {
    inbox = Guarded(Inbox(watcher: watcher))
    let code = HostThread.tryStart(name: "file-metadata") {
      EngineLoop(self, key, files: files, watcher: watcher, clock: clock).run()
    }
    if code != 0 { throw .noThread(errno: code) }
  }

  /// Adds a query.
  ///
  /// - Returns: Its number; `nil` when the engine has ended.
  func attach(_ plan: QueryPlan, _ port: QueryPort, _ heritage: QueryPort.Heritage = .none) -> Int? {
    let (query, watcher) = inbox.withLock { inbox -> (Int?, (any FileWatcher)?) in
      if inbox.isEnded { return (nil, nil) }
      inbox.queryCount += 1
      inbox.orders.append(.attach(inbox.queryCount, plan, port, heritage))
      return (inbox.queryCount, inbox.watcher)
    }
    watcher?.wake()
    return query
  }

  /// Gives an order; none is carried out after the end, when nobody can be waiting for it.
  func give(_ order: Order) {
    let watcher = inbox.withLock { inbox in
      if !inbox.isEnded { inbox.orders.append(order) }
      return inbox.watcher
    }
    if let watcher {
      watcher.wake()
    } else {
      order.end()
    }
  }

  // MARK: The engine's thread

  /// Takes all orders.
  ///
  /// - Parameter isIdle: Whether to end if there's none.
  /// - Returns: `nil` at the end.
  func takeOrders(endingIf isIdle: Bool) -> [Order]? {
    inbox.withLock { inbox in
      if isIdle, inbox.orders.isEmpty {
        inbox.watcher = nil
        return nil
      }
      defer { inbox.orders = [] }
      return inbox.orders
    }
  }
}

extension ScopeEngine.Order {
  /// Nobody carries it out.
  func end() {
    switch self {
    case .barrier(_, let barrier): barrier.end()
    case .index(let continuation): continuation.resume(returning: nil)
    case .attach(_, _, let port, let heritage): port.end(by: heritage.generation)
    case .detach, .pause, .resume, .taken, .readerBegan, .replan, .provided: break
    }
  }
}

extension ScopeEngine {
  private struct Reference: Sendable {
    weak var engine: ScopeEngine?
  }

  private static let engines = Guarded<[Key: Reference]>([:])

  /// Adds a query to the engine of a scope, which is started if there's none.
  ///
  /// - Parameters:
  ///   - key: The scope.
  ///   - plan: What the query looks for.
  ///   - port: Where to leave what's found.
  ///   - heritage: What another engine has left there already.
  /// - Returns: The engine, and the number of the query.
  /// - Throws: An error of inotify_init1(2) or pthread_create(3).
  static func attach(
    _ key: Key, _ plan: QueryPlan, _ port: QueryPort, _ heritage: QueryPort.Heritage = .none
  ) throws(SystemError) -> (engine: ScopeEngine, query: Int) {
    if let found = engines.withLock({ engines in engines[key]?.engine }), let query = found.attach(plan, port, heritage)
    {
      return (found, query)
    }
    let watcher = try InotifyWatcher(tellsMounts: true)
    let engine = try ScopeEngine(key, files: HostFileSystem(), watcher: watcher, clock: HostClock.shared)
    engines.withLock { engines in
      engines = engines.filter { $0.value.engine != nil }
      engines[key] = Reference(engine: engine)
    }
    guard let query = engine.attach(plan, port, heritage) else {
      preconditionFailure("an engine that nobody has used has ended")
    }
    return (engine, query)
  }
}
