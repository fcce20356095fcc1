internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// Does what saves leave to be done later, on a thread that ends a while after there's nothing more to do: hashes large files that have become
/// versions, one after the other, and gives versions their directories when there are many of an item that have none.
///
/// The tasks are recorded in the directories of the stores, so nothing is lost with the process: the next one does them. The thread
/// keeps no process alive.
///
/// A save that leaves a task doesn't pay for a thread, which costs it a tenth of a millisecond to start or to wake up, most of it for the
/// interrupt of an idle processor: when there's nothing more to do, the thread rests for a while, and looks again by itself.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its own lock | any thread may have added a version |
final class BackgroundHasher: Sendable {
  static let shared = BackgroundHasher()

  /// A store with versions that this process has to hash.
  struct Store: Sendable {
    let root: SystemPath
    /// The domain in which a thread that changes a history has access to its place.
    let domain: CoordinationDomain
    let time: @Sendable () -> Int64
  }

  private struct State {
    /// Each store once, in the order in which something came up there.
    var stores: [Store] = []
    /// The histories with many bare versions.
    var histories: [History] = []
    /// How many bare versions this process has added, by the place of the item's directory.
    var bareCounts: [SystemPath: Int] = [:]
    /// Whether there's a thread, or one that waits for the end does its work.
    var isRunning = false
    /// When the thread has nothing to do: it looks again when that occurs, or by itself.
    var rest: Rest?
    /// Occurs when there's nothing more to do.
    var end: ThreadEvent?

    var hasTasks: Bool { !stores.isEmpty || !histories.isEmpty }
  }

  /// A time without tasks.
  private struct Rest {
    let bell = ThreadEvent()
    let end: MonotonicTime
  }

  private enum Next {
    case task(@Sendable () throws -> Void)
    case rest(ThreadEvent)
    case end
  }

  /// The bare versions of an item.
  private struct History: Sendable {
    let item: ItemID
    let store: Store
  }

  /// How many bare versions of an item a process adds before they get directories.
  ///
  /// If they are listed before that, they get them then.
  static let bareCountMax = 64
  /// How many get theirs while a save has to wait.
  private static let unfoldedAtOnceCountMax = 8
  /// How long the thread rests before it ends, and when it looks again.
  private static let restDuration = Duration.seconds(2)
  private static let restInterval = Duration.milliseconds(20)
  /// Of so many items the process knows how many bare versions it has added.
  private static let countedItemCountMax = 1024

  private let state = Guarded(State())

  /// Begins to hash what a store says is this process's task; returns at once.
  func begin(_ store: Store) {
    start { state in
      if !state.stores.contains(where: { $0.root == store.root }) { state.stores.append(store) }
    }
  }

  /// Notes that a bare version was added, and gives all of the item directories if there are many; returns at once.
  func noteBareVersion(of item: ItemID, in store: Store) {
    let key = store.root.appending(item.description)
    var present = 0
    // Another process may have added some.
    if state.withLock({ $0.bareCounts[key] == nil }) {
      present = max(((try? Self.store(store).bareVersionCount(of: item)) ?? 1) - 1, 0)
    }
    let isMany = state.withLock { state in
      if state.bareCounts.count >= Self.countedItemCountMax { state.bareCounts = [:] }
      let count = state.bareCounts[key, default: present] + 1
      state.bareCounts[key] = count >= Self.bareCountMax ? 0 : count
      return count >= Self.bareCountMax
    }
    if isMany { start { $0.histories.append(History(item: item, store: store)) } }
  }

  private func start(_ add: (inout State) -> Void) {
    let starts = state.withLock { state in
      add(&state)
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    // Where no thread can be had, a file is hashed when its hash is needed, by `finish`, or by the next process.
    if starts, HostThread.tryStart(name: "file-versions", { self.run() }) != 0 {
      let end = state.withLock { state in
        state.isRunning = false
        return state.end.take()
      }
      end?.signal()
    }
  }

  /// Blocks until there's nothing more to do.
  func finish() { while !finishOnce() {} }

  /// - Returns: Whether all is done; otherwise no thread could be had for it.
  private func finishOnce() -> Bool {
    let (runs, end) = state.withLock { state -> (Bool, ThreadEvent?) in
      if !state.isRunning {
        state.isRunning = state.hasTasks
        return (state.isRunning, nil)
      }
      if state.rest != nil && !state.hasTasks { return (false, nil) }
      let end = state.end ?? ThreadEvent()
      state.end = end
      state.rest?.bell.signal()
      return (false, end)
    }
    if runs { run(resting: false) }
    end?.wait()
    return state.withLock { $0.isRunning || !$0.hasTasks }
  }

  private func run(resting: Bool = true) {
    while true {
      switch next(resting: resting) {
      case .task(let task): try? task()
      case .rest(let bell): _ = bell.wait(until: HostClock.shared.now.advanced(by: Self.restInterval))
      case .end: return
      }
    }
  }

  private func next(resting: Bool) -> Next {
    let time = HostClock.shared.now
    let (next, end) = state.withLock { state -> (Next, ThreadEvent?) in
      if let task = takeTask(&state) {
        state.rest = nil
        return (.task(task), nil)
      }
      let end = state.end.take()
      let rest = state.rest ?? Rest(end: time.advanced(by: Self.restDuration))
      if resting, time < rest.end {
        // A bell that was rung is of no use any more.
        state.rest = rest.bell.isSignaled ? Rest(end: rest.end) : rest
        return (state.rest.map { .rest($0.bell) } ?? .end, end)
      }
      state.rest = nil
      state.isRunning = false
      return (.end, end)
    }
    end?.signal()
    return next
  }

  private func takeTask(_ state: inout State) -> (@Sendable () throws -> Void)? {
    if !state.histories.isEmpty {
      let history = state.histories.removeFirst()
      return { try Self.unfold(history) }
    }
    if state.stores.isEmpty { return nil }
    let store = state.stores.removeFirst()
    return {
      try Self.hash(store)
      try self.prepareAddition(to: store)
    }
  }

  /// Those that can't get a directory now get it when somebody lists them.
  private static func unfold(_ history: History) throws {
    let versions = try store(history.store)
    while let place = try versions.place(of: history.item) {
      let more = try withHistory(at: place, of: history.store) {
        // It may have moved meanwhile.
        if try versions.place(of: history.item) != place { return true }
        return try versions.unfold(of: history.item, countMax: unfoldedAtOnceCountMax)
      }
      if !more { return }
    }
  }

  private static func store(_ store: Store) throws -> VersionStore {
    try VersionStore(at: store.root, worker: VersionKeeper.worker, isAlive: VersionKeeper.isAlive, time: store.time)
  }

  /// Keeps others from changing the history of an item meanwhile.
  private static func withHistory<Result>(
    at place: SystemPath, of store: Store, _ body: () throws -> Result
  ) throws -> Result {
    try FileCoordinator(label: "file versions", domain: store.domain).change(VersionKeeper.url(of: place), body)
  }

  /// Hashes each version once: one that can't be read now is tried again with the next one that's added.
  private static func hash(_ store: Store) throws {
    let versions = try Self.store(store)
    for task in try versions.unhashedVersions() {
      guard (try? versions.perform(task)) == .incomplete else { continue }
      // It's being added at this moment, and is hashed when that's done. Or a process has ended in the middle of that.
      guard let place = try? versions.place(of: task.item) else { continue }
      try? withHistory(at: place, of: store) {
        try versions.completeMoves(of: task.item)
      }
      _ = try? versions.perform(task)
    }
  }

  /// A program that keeps large files does so again, as a rule, unless it waits for the hashes because it's about to end.
  private func prepareAddition(to store: Store) throws {
    if state.withLock({ $0.end == nil }) { try Self.store(store).prepareAddition() }
  }
}

extension FileVersions {
  /// Waits until the large files that this process has kept are hashed.
  ///
  /// A file of more than 256 KiB becomes a version before it's hashed: a thread of the library does that afterwards. Call this at the end
  /// of a program that doesn't run long. The next process that uses the store hashes the files that a process leaves.
  ///
  /// Suspends; also for what other tasks keep meanwhile. A file that can't be read now isn't waited for.
  ///
  /// - Complexity: O(bytes) of these files.
  public static func waitForHashes() async { await Offload.run { BackgroundHasher.shared.finish() } }
}
