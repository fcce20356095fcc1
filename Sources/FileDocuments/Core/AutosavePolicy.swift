internal import SystemInterface

/// When a document saves by itself.
///
/// ``standard`` saves two seconds after the last edit, and during continuous work every 15 seconds. A document also saves when another
/// program reads its file, whatever the policy.
///
/// - Note: Rule CD-34.
public struct AutosavePolicy: Hashable, Sendable {
  /// How long after the first unsaved edit at most; `nil` for no limit.
  public var interval: Duration?
  /// How long after the last edit; `nil` for not at all.
  public var idleTime: Duration?
  /// After unsaved edits of this size, in the unit that the program passes to `edit(size:)`; `nil` for any size.
  public var sizeMax: Int?

  /// Creates a policy.
  ///
  /// - Parameters:
  ///   - interval: How long after the first unsaved edit at most.
  ///   - idleTime: How long after the last edit.
  ///   - sizeMax: After unsaved edits of which size.
  public init(interval: Duration? = nil, idleTime: Duration? = nil, sizeMax: Int? = nil) {
    self.interval = interval
    self.idleTime = idleTime
    self.sizeMax = sizeMax
  }

  /// Two seconds after the last edit, and 15 seconds after the first one.
  public static let standard = AutosavePolicy(interval: .seconds(15), idleTime: .seconds(2))
  /// Only when somebody asks.
  public static let never = AutosavePolicy()
}

/// The times of unsaved edits, and the time of the next save.
///
/// Later edits move the time of an idle save without another timer: when the timer fires too early, it's armed anew.
struct AutosaveSchedule: Hashable, Sendable {
  private let policy: AutosavePolicy
  private var firstEdit: MonotonicTime?
  private var lastEdit: MonotonicTime?
  private var size = 0

  init(_ policy: AutosavePolicy) { self.policy = policy }

  /// Whether a time is set for what is unsaved.
  var hasTimes: Bool { policy.interval != nil || policy.idleTime != nil }

  /// When to save; `nil` if nothing is unsaved, or no time is set.
  var due: MonotonicTime? {
    let times = [
      firstEdit.flatMap { first in policy.interval.map(first.advanced) },
      lastEdit.flatMap { last in policy.idleTime.map(last.advanced) },
    ]
    return times.compactMap(\.self).min()
  }

  /// - Returns: Whether it's time to save at once.
  mutating func noteEdit(size added: Int, at now: MonotonicTime) -> Bool {
    firstEdit = firstEdit ?? now
    lastEdit = now
    size = size.addingReportingOverflow(max(added, 0)).overflow ? .max : size + max(added, 0)
    return policy.sizeMax.map { size >= $0 } ?? false
  }

  /// Whether so much more reaches the size at which it's time to save.
  func isFull(with added: Int) -> Bool {
    guard let sizeMax = policy.sizeMax else { return false }
    return size.addingReportingOverflow(max(added, 0)).overflow || size + max(added, 0) >= sizeMax
  }

  /// A save has begun: only edits from now on count.
  mutating func noteSaving() {
    firstEdit = nil
    lastEdit = nil
    size = 0
  }

  /// A save has failed: the next one comes as if everything had just been edited.
  mutating func noteFailure(at now: MonotonicTime) {
    firstEdit = now
    lastEdit = now
  }
}
