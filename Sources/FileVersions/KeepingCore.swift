internal import SystemInterface

/// The decisions of the keeping of versions below a directory.
///
/// Files that changed are kept in the order of their changes. Those that couldn't be kept are tried again after a while, which doubles as
/// long as nothing succeeds: when a disk has room again, no event says so. A failure is reported once, until its reason is another one or
/// the file was kept. The runner is ``FileVersionKeeper/Iterator``.
struct KeepingCore {
  /// The outcome of an attempt to keep a file.
  enum Outcome: Hashable {
    /// Its contents have become a version.
    case kept
    /// They had been one already, or the file is gone.
    case unneeded
    case failed(Reason)

    var isFailure: Bool { if case .failed = self { true } else { false } }
  }

  /// The kind of a failure: its text has names in it that nobody sees twice.
  struct Reason: Hashable {
    let code: Int
    let errno: Int32?
  }

  /// An order to the runner.
  enum Order: Hashable {
    /// Keep these files, and pass what came of it to ``attempted(_:at:)``.
    case keep([SystemPath])
    /// Report something about the directory itself.
    case report(Report)
    /// Wait for changes, or for this time if there's one.
    case wait(until: Duration?)
  }

  /// A report about the directory itself.
  enum Report: Hashable {
    case ready
    /// It isn't there any more.
    case gone
    case unreadable(Int, because: String?)
    case unwatched(Int, because: String?)
  }

  /// How well the directory is followed.
  struct Health: Hashable {
    var isRootMissing = false
    var unreadableCount = 0
    var unreadableReason: String?
    var unwatchedCount = 0
    var unwatchedReason: String?
  }

  private struct Failure {
    /// The order of the last attempts.
    var attempt: Int
    var reason: Reason
  }

  /// How many files are kept at once: each waits for the disk most of its time, and the disk serves them together.
  static let batchMax = 16
  /// How often the time between two attempts doubles: from a second to about a minute.
  static let doublingMax = 6

  private let firstInterval: Duration
  /// Files that have changed, the next one last.
  private var changed: [SystemPath] = []
  private var failures: [SystemPath: Failure] = [:]
  private var attemptCount = 0
  /// Failed files that are tried again now, the next one last.
  ///
  /// It's emptied when a whole batch fails.
  private var repeated: [SystemPath] = []
  /// When the failed files are tried again; there's one exactly while there are some.
  private(set) var retryTime: Duration?
  private var doublingCount = 0
  /// Whether the batch that's being kept is one of repeated files.
  private var isRepeating = false
  private var health = Health()
  private var reported = Health()
  private var isReady = false

  /// - Parameter firstInterval: How long a file isn't tried again after the first failure.
  init(firstInterval: Duration) { self.firstInterval = firstInterval }

  // MARK: Events

  /// Files have changed, the first one last, and how well the directory is followed.
  mutating func filesChanged(_ paths: [SystemPath], _ health: Health) {
    precondition(changed.isEmpty, "filesChanged while \(changed.count) files are to be kept")
    changed = paths
    self.health = health
  }

  /// The files of the last order were tried.
  ///
  /// - Returns: For each whether it's to be reported if it failed.
  mutating func attempted(_ outcomes: [(path: SystemPath, outcome: Outcome)], at now: Duration) -> [Bool] {
    let isNews = outcomes.map { path, outcome in note(path, outcome) }
    if isRepeating {
      isRepeating = false
      retryTime = nil
      if outcomes.contains(where: { !$0.outcome.isFailure }) {
        doublingCount = 0
        // Go on with the others at once.
        if !repeated.isEmpty { retryTime = now }
      } else {
        doublingCount = min(doublingCount + 1, Self.doublingMax)
        repeated = []
      }
    } else if outcomes.contains(where: { $0.outcome == .kept }) {
      // There's room again, maybe for the others, too.
      doublingCount = 0
      retryTime = retryTime.map { min($0, now + firstInterval) }
    }
    if failures.isEmpty {
      (repeated, retryTime, doublingCount) = ([], nil, 0)
    } else if retryTime == nil {
      retryTime = now + firstInterval * (1 << doublingCount)
    }
    return isNews
  }

  private mutating func note(_ path: SystemPath, _ outcome: Outcome) -> Bool {
    guard case .failed(let reason) = outcome else {
      failures[path] = nil
      return false
    }
    attemptCount += 1
    defer { failures[path] = Failure(attempt: attemptCount, reason: reason) }
    return failures[path]?.reason != reason
  }

  // MARK: Decisions

  /// The next order.
  mutating func next(at now: Duration) -> Order {
    if !changed.isEmpty { return .keep(Self.takeBatch(of: &changed)) }
    if let report = nextReport() { return .report(report) }
    if let retryTime, retryTime <= now {
      if repeated.isEmpty {
        // Those first whose last attempt was the longest ago, so that each has its turn.
        repeated = failures.sorted { $0.value.attempt > $1.value.attempt }.map(\.key)
      }
      let batch = takeRepeated()
      if !batch.isEmpty {
        isRepeating = true
        return .keep(batch)
      }
      // The rest was kept meanwhile, because it has changed; others have failed since.
      self.retryTime = now + firstInterval
    }
    return .wait(until: retryTime)
  }

  /// The next report about the directory itself that wasn't made yet.
  private mutating func nextReport() -> Report? {
    if health.isRootMissing {
      if reported.isRootMissing { return nil }
      reported.isRootMissing = true
      isReady = false
      return .gone
    }
    reported.isRootMissing = false
    defer { reported.unreadableCount = health.unreadableCount }
    if health.unreadableCount > reported.unreadableCount {
      return .unreadable(health.unreadableCount, because: health.unreadableReason)
    }
    // Which ones aren't watched changes all the time, so it's reported once.
    let wereUnwatched = reported.unwatchedCount > 0
    reported.unwatchedCount = health.unwatchedCount
    if health.unwatchedCount > 0, !wereUnwatched {
      return .unwatched(health.unwatchedCount, because: health.unwatchedReason)
    }
    if isReady { return nil }
    isReady = true
    return .ready
  }

  private static func takeBatch(of paths: inout [SystemPath]) -> [SystemPath] {
    let batch = Array(paths.suffix(batchMax).reversed())
    paths.removeLast(batch.count)
    return batch
  }

  private mutating func takeRepeated() -> [SystemPath] {
    var batch: [SystemPath] = []
    while batch.count < Self.batchMax, let path = repeated.popLast() {
      if failures[path] != nil { batch.append(path) }
    }
    return batch
  }
}
