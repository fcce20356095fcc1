/// How long and how much a run measures.
struct Settings: Sendable {
  /// At least this many repetitions of each measurement.
  var repetitionCount = 7
  /// How long one repetition lasts.
  var duration = Duration.milliseconds(100)
  /// The same loop before each repetition, uncounted.
  var warmUp = Duration.milliseconds(15)
  /// How often a disturbed repetition is repeated.
  var retryCountMax = 25
  /// How often all repetitions of one measurement together are repeated, so that a busy machine doesn't take hours.
  var retryCountMaxOfMeasurement = 25
  /// A repetition is disturbed when others took more than this share of the processor time it needed.
  var disturbanceMax = 0.03

  /// Presenters registered elsewhere.
  var presenterCount = 1_000_000
  /// Requests that hold claims elsewhere, and claims of each.
  var bulkRequestCount = 10
  var bulkClaimCount = 100_000
  /// Waiters that have nothing to do with the wait that is measured.
  var unrelatedWaiterCount = 10_000
  /// Members of the cycle of waits.
  var cycleLength = 1_000
  /// Claims that are counted, not timed.
  var countedClaims = 1_000
  /// Processes that hold items while the one that serves them is killed, and how many items each.
  var processCount = 64
  var heldCount = 1_000
  /// Processes that do nothing, and how much each presents.
  var idleProcessCount = 16
  var idlePresenterCount = 100
  /// Names that predicates are evaluated for, and names that are sorted.
  var nameCount = 200_000
  var sortedNameCount = 20_000
  /// Files that are searched, and in a larger tree.
  var fileCount = 200_000
  var manyFileCount = 1_000_000
  /// Files that are made while nobody reads the kernel's events: more than the kernel keeps events for.
  var lostFileCount = 20_000
  /// Files in a directory that is renamed.
  var renamedFileCount = 10_000
  /// How often nested directories are made, and how often that's repeated.
  var nestedCount = 200
  var nestedRoundCount = 10
  /// Whether the run is only a short one, whose figures mean nothing.
  var isTiny = false
  /// The first components of the names of rows; `nil` for all of them.
  var filter: String?

  static let full = Settings()

  /// The same code in seconds; the figures prove nothing.
  static let tiny: Settings = {
    var settings = Settings()
    settings.repetitionCount = 2
    settings.duration = .milliseconds(2)
    settings.warmUp = .milliseconds(1)
    settings.retryCountMax = 0
    settings.retryCountMaxOfMeasurement = 0
    settings.presenterCount = 1_000
    settings.bulkRequestCount = 2
    settings.bulkClaimCount = 500
    settings.unrelatedWaiterCount = 1_000
    settings.cycleLength = 100
    settings.processCount = 3
    settings.heldCount = 20
    settings.idleProcessCount = 2
    settings.idlePresenterCount = 10
    settings.nameCount = 2_000
    settings.sortedNameCount = 500
    settings.fileCount = 2_000
    settings.manyFileCount = 4_000
    settings.lostFileCount = 20
    settings.renamedFileCount = 100
    settings.nestedCount = 5
    settings.nestedRoundCount = 2
    settings.isTiny = true
    return settings
  }()

  /// Whether a row is measured; those that its suite measures in another way always are.
  func selects(_ id: String) -> Bool {
    guard let filter else { return true }
    return "\(id)/".hasPrefix("\(filter)/")
  }
}
