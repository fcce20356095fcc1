internal import CompactContainers

/// Names one access from its request until it has ended.
///
/// Larger numbers were requested later by the same host.
package struct AccessID: TableKey, Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "access \(rawValue)" }
}

/// Names one registered presenter.
package struct PresenterID: TableKey, Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "presenter \(rawValue)" }
}

/// Names one message to one presenter.
///
/// The arbiter assigns these, in the order in which messages are enqueued. Presenters may still be busy with messages
/// of an earlier arbiter: the epoch distinguishes them, so that however long an epoch is, and whenever it began, no
/// number is used twice.
package struct MessageID: TableKey, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// That of the arbiter; zero for one that never takes the place of another.
  package let epoch: UInt64
  /// Its number among the messages of that arbiter.
  package let rawValue: UInt64

  package init(_ rawValue: UInt64, epoch: UInt64 = 0) {
    self.epoch = epoch
    self.rawValue = rawValue
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.epoch, left.rawValue) < (right.epoch, right.rawValue)
  }

  package var description: String { epoch == 0 ? "message \(rawValue)" : "message \(rawValue) of epoch \(epoch)" }
}

/// Names one participant whose accesses and presenters end together: a process.
package struct ClientID: TableKey, Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "client \(rawValue)" }
}

/// An interned purpose identifier.
///
/// Accesses of one purpose never block each other.
package struct PurposeID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "purpose \(rawValue)" }
}

/// A point in time, passed by the host with each event: nanoseconds since an origin of the host's choice.
package typealias Timestamp = Int64

/// A length of time in nanoseconds.
package typealias Nanoseconds = Int64

/// The surroundings of a request: an access whose accessor runs, or a presenter's callback that runs.
package enum ExecutionContext: Hashable, Sendable {
  case access(AccessID)
  case message(MessageID)
}
