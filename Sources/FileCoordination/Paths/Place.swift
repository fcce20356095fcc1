internal import SystemInterface

/// The number of a place in its tree, never used twice.
struct PlaceID: Hashable, Sendable {
  let rawValue: UInt64
}

/// Where a spelled path leads when every link in it is followed: mostly the directory of an item.
struct Place {
  enum Kind {
    case directory
    case missing
    case other
  }

  let id: PlaceID
  /// The path as spelled, without `.` and spare slashes.
  let spelled: SystemPath
  let canonical: SystemPath
  let kind: Kind
  let validity: ResolutionValidity
  /// The names on the way; a change of any makes the place stale.
  let nodes: [NameNode]
}

/// Why a path has no place in the tree, so that it has to be resolved by the system each time.
enum PlaceRefusal: Error {
  /// A directory on the way can't be watched.
  case unwatchable
  /// The system has no watch or descriptor left.
  case exhausted
  /// The way is no usual one: an error, too deep, changed again and again. Only the system can follow it.
  case irregular
}
