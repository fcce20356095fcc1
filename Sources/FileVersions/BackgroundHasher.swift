internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// Hashes large files that have become versions, one after the other, on a thread that ends when there's nothing more to do.
///
/// The tasks are recorded in the directories of the stores, so nothing is lost with the process: the next one does them. The thread
/// keeps no process alive.
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
    var isRunning = false
    /// Occurs when there's nothing more to do.
    var end: ThreadEvent?
  }

  private let state = Guarded(State())

  /// Begins to hash what a store says is this process's task; returns at once.
  func begin(_ store: Store) {
    let starts = state.withLock { state in
      if !state.stores.contains(where: { $0.root == store.root }) { state.stores.append(store) }
      if state.isRunning { return false }
      state.isRunning = true
      return true
    }
    // Where no thread can be had, a file is hashed when its hash is needed, by `finish`, or by the next process.
    if starts, HostThread.tryStart(name: "file-versions", { self.run() }) != 0 {
      state.withLock { $0.isRunning = false }
    }
  }

  /// Blocks until there's nothing more to do.
  func finish() {
    let (runs, end) = state.withLock { state -> (Bool, ThreadEvent?) in
      if state.isRunning {
        let end = state.end ?? ThreadEvent()
        state.end = end
        return (false, end)
      }
      state.isRunning = !state.stores.isEmpty
      return (state.isRunning, nil)
    }
    if runs { run() }
    end?.wait()
  }

  private func run() {
    while let store = next() { try? Self.hash(store) }
  }

  private func next() -> Store? {
    let (store, end) = state.withLock { state -> (Store?, ThreadEvent?) in
      if !state.stores.isEmpty { return (state.stores.removeFirst(), nil) }
      state.isRunning = false
      return (nil, state.end.take())
    }
    end?.signal()
    return store
  }

  /// Hashes each version once: one that can't be read now is tried again with the next one that's added.
  private static func hash(_ store: Store) throws {
    let versions = try VersionStore(at: store.root, worker: VersionKeeper.worker, time: store.time)
    for task in try versions.unhashedVersions() {
      guard (try? versions.perform(task)) == .incomplete else { continue }
      // It's being added at this moment, and is hashed when that's done. Or a process has ended in the middle of that.
      guard let place = try? versions.place(of: task.item) else { continue }
      let access = FileAccessIntent.writing(VersionKeeper.url(of: place), options: .forMerging)
      let coordinator = FileCoordinator(label: "file versions", domain: store.domain)
      try? coordinator.blocking.coordinate([access]) { _ in
        _ = try versions.completeMoves(of: task.item, isAlive: VersionKeeper.isAlive)
      }
      _ = try? versions.perform(task)
    }
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
