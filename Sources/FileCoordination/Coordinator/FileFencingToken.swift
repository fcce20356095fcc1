internal import CoordinationService
internal import FileAccessArbiter

/// A number that grows with each grant of a domain, see ``FileAccess/fencingToken``.
public struct FileFencingToken: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Grows with each service of the domain; zero in domains of one process.
  public let epoch: UInt64
  /// Grows with each grant of an epoch.
  public let sequence: UInt64

  init(_ token: FencingToken?, _ access: AccessID) {
    epoch = token?.epoch ?? 0
    sequence = token?.sequence ?? access.rawValue
  }

  /// Whether `left` is of an earlier grant.
  public static func < (left: Self, right: Self) -> Bool {
    (left.epoch, left.sequence) < (right.epoch, right.sequence)
  }

  /// Both numbers with a dot between them.
  public var description: String { "\(epoch).\(sequence)" }
}
