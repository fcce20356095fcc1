public import FoundationEssentials
internal import Glibc
public import SystemInterface

/// Reports the changes in trees of files, by any program, and loses none.
///
/// ```swift
/// let watcher = try TreeWatcher([URL(filePath: "/srv/site")])
/// for await update in watcher.updates {
///   for change in update.changes { print(change.action, change.path) }
/// }
/// ```
///
/// Each update is an exact difference of the present state and the reported one. Directories are watched before they're
/// read, the halves of a rename are joined, and a moved directory is reported as moved. When the kernel has lost
/// events, everything is read again and compared. Directories that can't be watched are polled, which ``health`` shows.
/// Symbolic links aren't followed, unless ``ScopeOptions/followsSymbolicLinks`` says so.
///
/// Not seen at once are changes through hard links outside of the trees, stores through mmap(2) before the file is
/// closed, and changes by other machines on network file systems.
///
/// It takes a thread, further ones while much is read, a watch for each directory and about 100 bytes for each file,
/// all of which end with ``stop()`` or with the last reference. Watchers and queries of a program that follow the same
/// trees with the same options share them, and end with the last one. Programs that search for certain files, or need
/// them sorted, use a `MetadataQuery`.
///
/// Any thread may call anything.
public final class TreeWatcher: Sendable {
  struct Plan: Sendable {
    let batchingInterval: Duration
    let tellsExisting: Bool
  }

  private let port = TreePort()
  private let auditor: ScopeAuditor
  private let board = HealthBoard()

  /// Begins to watch.
  ///
  /// Updates begin with the state when everything has been read for the first time; wait for that with
  /// ``waitUntilCurrent()``. Blocks for a few system calls.
  ///
  /// - Parameters:
  ///   - paths: Absolute paths of directories or files, be they there or not: files that come there are reported. Links
  ///     on the way are followed now, and not later. One that's inside another one is watched as a part of that.
  ///   - options: How far the trees reach, and how many watches they may take.
  ///   - batchingInterval: How long changes are gathered before they're reported, from the first one on.
  ///   - tellsExisting: Whether the files that exist at the beginning are reported as added.
  ///   - backend: The source of events, for this watcher alone, which then shares nothing; without one inotify(7), and polling where that
  ///     can't be.
  ///   - clock: The clock of all deadlines.
  /// - Throws: EMFILE when the user has too many queues of inotify(7), of which all watchers of a process share one, or the process too many descriptors; EAGAIN when there
  ///   are too many threads; EINVAL for a path that isn't absolute; errors of realpath(3), but not ENOENT.
  public init(
    _ paths: [SystemPath], options: ScopeOptions = ScopeOptions(), batchingInterval: Duration = .zero,
    tellsExisting: Bool = false, backend: (any FileWatcher)? = nil,
    clock: any CoordinationClock = HostClock.shared
  ) throws(SystemError) {
    let files = HostFileSystem()
    var places: Set<SystemPath> = []
    for path in paths { places.insert(try files.canonicalPath(of: path, resolvingLastComponent: true)) }
    let key = IndexEngine.Key(
      roots: places.filter { path in !places.contains { path.isInside($0) } }, options: options)
    auditor = ScopeAuditor(files, options: options, clock: clock)
    let plan = Plan(batchingInterval: batchingInterval, tellsExisting: tellsExisting)
    let order = TreeJoinOrder(plan: plan, port: port, board: board)
    if backend == nil, clock as AnyObject === HostClock.shared {
      port.join(try IndexEngine.give(order, to: key))
      return
    }
    let watcher: any FileWatcher
    if let backend { watcher = backend } else { watcher = try InotifyWatcher(tellsMounts: true) }
    let engine = try IndexEngine(key, files: files, watcher: watcher, clock: clock)
    engine.give(order)
    port.join(engine)
  }

  deinit { stop() }

  /// Ends everything; reported changes stay true, sequences of ``updates`` end.
  public func stop() { port.stop() }

  /// The engine that follows the trees, for others as well; `nil` at the end.
  package var engine: IndexEngine? { port.engine }

  /// Why it has ended though nobody has stopped it: an error of epoll_wait(2).
  public var error: SystemError? { port.error }

  /// How well the trees are followed.
  public var health: ScopeHealth { board.health }

  /// How well the trees are followed, now and whenever that changes.
  ///
  /// A slow reader receives only the latest value. Ends with the watcher.
  public var healthUpdates: AsyncStream<ScopeHealth> { board.updates }

  /// Waits until the index contains everything that was done to files before the call.
  ///
  /// The first time that's when all directories have been read: from then on every change is reported, at once or,
  /// where ``health`` says that it's polled, when it's checked. Returns early when the task is cancelled or the watcher
  /// stopped.
  ///
  /// - Throws: `CancellationError` when the task was cancelled.
  public func waitUntilCurrent() async throws(CancellationError) {
    let barrier = Barrier()
    port.give(.barrier(barrier))
    await withTaskCancellationHandler {
      await barrier.wait()
    } onCancel: {
      barrier.end()
    }
    if Task.isCancelled { throw CancellationError() }
  }

  /// Waits until the index contains everything that was done to files before the call, and takes the changes that
  /// haven't been reported.
  ///
  /// For programs that ask from time to time, as a build does when it begins. The batching interval isn't waited for, and cancelling
  /// the task doesn't end the wait, for the update would be lost; ``stop()`` does.
  ///
  /// - Returns: The changes, be it none; `nil` when the watcher is stopped.
  public func catchUp() async -> TreeUpdate? {
    await withCheckedContinuation { port.give(.catchUp($0)) }
  }
}

extension TreeWatcher {
  /// Begins to watch files at file URLs.
  ///
  /// The same as with paths.
  ///
  /// - Parameters:
  ///   - urls: File URLs of directories or files, be they there or not.
  ///   - options: How far the trees reach, and how many watches they may take.
  ///   - batchingInterval: How long changes are gathered before they're reported, from the first one on.
  ///   - tellsExisting: Whether the files that exist at the beginning are reported as added.
  ///   - backend: The source of events, for this watcher alone, which then shares nothing; without one inotify(7), and polling where that
  ///     can't be.
  ///   - clock: The clock of all deadlines.
  /// - Throws: EINVAL for a URL that isn't a file's, and the errors that paths have.
  public convenience init(
    _ urls: [URL], options: ScopeOptions = ScopeOptions(), batchingInterval: Duration = .zero,
    tellsExisting: Bool = false, backend: (any FileWatcher)? = nil,
    clock: any CoordinationClock = HostClock.shared
  ) throws(SystemError) {
    var paths: [SystemPath] = []
    for url in urls {
      guard let path = SystemPath(url) else { throw SystemError(call: "realpath(3)", errno: EINVAL) }
      paths.append(path)
    }
    try self.init(
      paths, options: options, batchingInterval: batchingInterval, tellsExisting: tellsExisting, backend: backend,
      clock: clock)
  }

  /// Compares the index of the trees with a fresh walk through them.
  ///
  /// For a job that runs now and then, and for programs that need certainty. Changes meanwhile aren't taken for errors:
  /// a path that differs is checked again until the file system has given the same answer before and after everything
  /// was taken in. It's checked once more after a second, because the kernel shows the effect of a call before it
  /// reports the call. Nothing is repaired, and nothing is reported by it. The possible errors are the changes that
  /// ``TreeWatcher`` doesn't see at once.
  ///
  /// The walk takes a thread and reads one directory at a time. Cancelling the task ends it between two steps.
  ///
  /// - Returns: The differences; `nil` when the watcher is stopped, or the task cancelled.
  /// - Complexity: O(*n*): one statx(2) for each file.
  /// - Note: Rule L17.
  public func audit() async -> ScopeAudit? {
    let port = port
    return await auditor.audit { await port.engine?.currentTable() }
  }

  /// Keeps the index of the trees for a later run of the program, in the ``ScopeOptions/indexDirectory``.
  ///
  /// For programs that end without ``stop()``, or that may be killed. Nothing of the last three seconds is kept.
  ///
  /// - Throws: EINVAL if the options name no directory for it; ECANCELED when the watcher is stopped; errors of
  ///   mkdir(2) and of writing a file.
  /// - Complexity: O(*n*) in the number of files, on a thread of its own, and a wait for the disk.
  public func saveIndex() async throws(SystemError) {
    guard let engine = port.engine else { throw .notFollowing }
    try await engine.save()
  }

  /// The changes, as soon as they're known and as long as there are differences.
  ///
  /// A slow reader gets fewer and larger updates, and misses nothing: only the present state and the reported one are
  /// kept. Each update is for one reader; several readers share them. Ends when the watcher is stopped or the task is
  /// cancelled.
  public var updates: Updates { Updates(watcher: self) }

  /// Updates, one after the other.
  public struct Updates: AsyncSequence, Sendable {
    /// The changes since the last update.
    public typealias Element = TreeUpdate
    /// Nothing fails.
    public typealias Failure = Never

    let watcher: TreeWatcher

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(watcher: watcher) }

    /// Reads updates, for one task.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
      /// Nothing fails.
      public typealias Failure = Never

      let watcher: TreeWatcher

      /// Waits for the next update.
      ///
      /// - Returns: The update; `nil` at the end.
      public mutating func next() async -> TreeUpdate? { await watcher.nextUpdate() }
    }
  }

  private func nextUpdate() async -> TreeUpdate? {
    let port = port
    let number = port.makeWaiterNumber()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        port.wait(number, waiter)
        // It may have been cancelled before.
        if Task.isCancelled { port.cancel(number) }
      }
    } onCancel: {
      port.cancel(number)
    }
  }
}
