/// One copy of a key-value store: all processes of one user on one machine have the same.
package struct ReplicaID: Hashable, Comparable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static func < (left: ReplicaID, right: ReplicaID) -> Bool { left.rawValue < right.rawValue }
}

/// The instant of a write, by a hybrid logical clock: later than every write that its replica had seen, whatever the clocks of
/// the machines say.
///
/// Instants are ordered by the wall clock, then by the count, then by the replica, so no two writes have the same.
package struct HybridTime: Hashable, Comparable, Sendable {
  /// In nanoseconds since 1970: the most advanced clock that the replica had seen.
  package var wall: Int64
  /// The number of writes before this one with the same ``wall``, as far as the replica had seen them.
  package var count: UInt32
  package var replica: ReplicaID

  /// No clock is taken for right that's further ahead: the year 2116.
  package static let wallMax: Int64 = 1 << 62

  package init(wall: Int64, count: UInt32, replica: ReplicaID) {
    self.wall = wall
    self.count = count
    self.replica = replica
  }

  package static func < (left: HybridTime, right: HybridTime) -> Bool {
    (left.wall, left.count, left.replica) < (right.wall, right.count, right.replica)
  }
}

/// The hybrid logical clock of one replica.
package struct HybridClock: Hashable, Sendable {
  package let replica: ReplicaID
  private(set) var wall: Int64 = 0
  private(set) var count: UInt32 = 0

  package init(_ replica: ReplicaID) { self.replica = replica }

  init(_ replica: ReplicaID, wall: Int64, count: UInt32) {
    self.init(replica)
    (self.wall, self.count) = (wall, count)
  }

  /// An instant for a write of this replica.
  ///
  /// - Parameter now: The machine's clock, in nanoseconds since 1970. It may be wrong, and go back.
  /// - Returns: An instant after all that came from this clock or were observed by it.
  package mutating func next(at now: Int64) -> HybridTime {
    if now > wall, now <= HybridTime.wallMax {
      (wall, count) = (now, 0)
    } else if count == .max {
      (wall, count) = (wall + 1, 0)
    } else {
      count += 1
    }
    return HybridTime(wall: wall, count: count, replica: replica)
  }

  /// Notes a write of another replica, so that all writes from now on are later.
  ///
  /// - Returns: Whether the instant can be right. An instant beyond ``HybridTime/wallMax`` isn't noted.
  @discardableResult
  package mutating func observe(_ time: HybridTime) -> Bool {
    guard time.wall <= HybridTime.wallMax else { return false }
    if (time.wall, time.count) > (wall, count) { (wall, count) = (time.wall, time.count) }
    return true
  }
}
