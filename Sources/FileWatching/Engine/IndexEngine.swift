internal import Glibc
package import SystemInterface

/// Keeps one index for all followers of the same trees, on a thread of its own that ends with the last of them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `inbox` | its lock | any thread gives orders, the engine's thread takes them; the end is decided under it, so no order is lost |
/// | index, watches, followers | the engine's thread | they are in an ``IndexLoop`` that no one else can reach |
/// | `engines` | its lock, around that of an inbox | a caller that finds no engine makes one that the next caller finds |
package final class IndexEngine: Sendable {
  /// The places that are followed, and the options.
  package struct Key: Hashable, Sendable {
    /// Directories that are searched, none of which is inside another one; sorted.
    package let roots: [SystemPath]
    /// Places that are results themselves, sorted; none of them is inside a searched directory.
    package let items: [SystemPath]
    package let options: ScopeOptions

    package init(roots: some Sequence<SystemPath>, items: some Sequence<SystemPath> = [], options: ScopeOptions) {
      self.roots = roots.sorted()
      self.items = items.sorted()
      self.options = options
    }

    /// The possible results at each place.
    package var reaches: [(path: SystemPath, reach: RootReach)] {
      let both = Set(roots).intersection(items)
      return roots.map { ($0, both.contains($0) ? .itemAndContents : .contents) }
        + items.filter { !both.contains($0) }.map { ($0, .item) }
    }
  }

  private struct Inbox: Sendable {
    var orders: [any IndexOrder] = []
    /// Ends with the engine, also if another object still refers to it: it holds descriptors and watches.
    var watcher: (any FileWatcher)?
    /// The engine's thread was woken since it took orders.
    var isWoken = false
    /// Lets the engine's thread go that sleeps because its watcher can't wait.
    var substitute: ThreadEvent?

    /// Takes note of a wake-up, for the watcher first and then for its substitute.
    mutating func noteWake() -> (watcher: (any FileWatcher)?, substitute: ThreadEvent?) {
      isWoken = true
      return (watcher, substitute)
    }
  }

  private struct Reference: Sendable {
    weak var engine: IndexEngine?
  }

  private static let engines = Guarded<[Key: Reference]>([:])
  private let inbox: Guarded<Inbox>

  /// Starts an engine that no other caller finds.
  ///
  /// - Throws: EAGAIN of pthread_create(3), when there are too many threads.
  package init(
    _ key: Key, files: any FileSystem, watcher: any FileWatcher, clock: any CoordinationClock
  ) throws(SystemError) {
    inbox = Guarded(Inbox(watcher: watcher))
    let code = HostThread.tryStart(name: "file-index") {
      IndexLoop(self, key, files: files, watcher: watcher, clock: clock).run()
    }
    if code != 0 { throw .noThread(errno: code) }
  }

  /// Gives an order to the engine that follows some trees on this machine, which is started if there's none.
  ///
  /// - Throws: An error of inotify_init1(2) or pthread_create(3).
  package static func give(_ order: any IndexOrder, to key: Key) throws(SystemError) -> IndexEngine {
    try engines.withLock { engines throws(SystemError) in
      if let found = engines[key]?.engine, found.accept(order) { return found }
      let watcher = try InotifyWatcher(tellsMounts: true)
      let engine = try IndexEngine(key, files: HostFileSystem(), watcher: watcher, clock: HostClock.shared)
      engines = engines.filter { $0.value.engine != nil }
      engines[key] = Reference(engine: engine)
      guard engine.accept(order) else { preconditionFailure("an engine that nobody has used has ended") }
      return engine
    }
  }

  /// Takes an order.
  ///
  /// - Returns: Whether anybody is there to carry it out.
  package func accept(_ order: any IndexOrder) -> Bool {
    let (watcher, substitute) = inbox.withLock { inbox in
      if inbox.watcher != nil { inbox.orders.append(order) }
      return inbox.noteWake()
    }
    watcher?.wake()
    substitute?.signal()
    return watcher != nil
  }

  /// Gives an order, which is ended if the engine isn't there to carry it out.
  package func give(_ order: any IndexOrder) {
    if !accept(order) { order.end() }
  }

  /// Makes followers check their pending work.
  package func wake() {
    let (watcher, substitute) = inbox.withLock { $0.noteWake() }
    watcher?.wake()
    substitute?.signal()
  }

  /// The index when it contains everything that was done before the call; `nil` when the engine has ended.
  package func currentTable() async -> FileTable? {
    await withCheckedContinuation { give(TableOrder(continuation: $0)) }
  }

  /// Keeps the index for a later run, when it contains everything that was done before the call.
  ///
  /// - Throws: EINVAL if the options name no directory for it; ECANCELED when the engine has ended; errors of writing a
  ///   file.
  package func save() async throws(SystemError) {
    let error = await withCheckedContinuation { give(SavingOrder(continuation: $0)) }
    if let error { throw error }
  }

  // MARK: The engine's thread

  /// Sleeps without the watcher: needs neither a descriptor nor another thread.
  ///
  /// Ends when the thread is woken, at once if it was since it took orders.
  ///
  /// - Parameter pause: How long at most.
  func sleep(for pause: Duration) {
    let event = inbox.withLock { inbox -> ThreadEvent? in
      if inbox.isWoken { return nil }
      inbox.substitute = ThreadEvent()
      return inbox.substitute
    }
    guard let event else { return }
    _ = event.wait(until: MonotonicTime.host().advanced(by: pause))
    inbox.withLock { $0.substitute = nil }
  }

  /// Takes all orders.
  ///
  /// - Parameter isIdle: Whether to end if there's none.
  /// - Returns: `nil` at the end.
  func takeOrders(endingIf isIdle: Bool) -> [any IndexOrder]? {
    inbox.withLock { inbox in
      inbox.isWoken = false
      if isIdle, inbox.orders.isEmpty {
        inbox.watcher = nil
        return nil
      }
      defer { inbox.orders = [] }
      return inbox.orders
    }
  }
}

/// Gives the index when it contains everything that was done before.
private struct TableOrder: IndexOrder {
  let continuation: CheckedContinuation<FileTable?, Never>

  func carryOut(on loop: IndexLoop) {
    loop.whenCurrent(
      IndexLoop.Awaited { [unowned loop] in
        continuation.resume(returning: loop.indexer.index.table)
        return true
      } end: {
        end()
      })
  }

  func end() { continuation.resume(returning: nil) }
}

/// Keeps the index when it contains everything that was done before.
private struct SavingOrder: IndexOrder {
  let continuation: CheckedContinuation<SystemError?, Never>

  func carryOut(on loop: IndexLoop) {
    loop.whenCurrent(
      IndexLoop.Awaited { [unowned loop] in
        loop.keep { continuation.resume(returning: $0) }
        return true
      } end: {
        end()
      })
  }

  func end() { continuation.resume(returning: .notFollowing) }
}

extension SystemError {
  /// The trees of the index that was to be kept have no follower.
  package static var notFollowing: SystemError {
    SystemError(call: "saveIndex", errno: ECANCELED, advice: "Keep the index before the query or watcher is stopped.")
  }
}
