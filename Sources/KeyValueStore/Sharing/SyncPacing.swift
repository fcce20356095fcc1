internal import KeyValueReplicas

/// How long a process waits after failures before it tries again to reach the place that devices share.
///
/// A value. The time doubles from a second up to a minute, and begins anew after a success. After a refusal, which somebody has to lift,
/// it's a minute at once.
struct SyncPacing: Hashable, Sendable {
  private static let first = Duration.seconds(1)
  private static let longest = Duration.seconds(60)

  private var next = first

  /// A read or an upload was answered.
  mutating func succeeded() { self = SyncPacing() }

  /// - Returns: How long to wait.
  mutating func failed(_ kind: SharedStorageFailure.Kind) -> Duration {
    switch kind {
    case .gap: return .zero
    case .unreachable, .full: break
    case .denied, .damaged, .newerFormat: next = Self.longest
    }
    defer { next = min(next * 2, Self.longest) }
    return next
  }
}
