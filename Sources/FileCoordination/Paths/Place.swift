internal import SystemInterface

/// The number of a place in its core, never used twice.
struct PlaceID: Hashable, Sendable {
  let rawValue: UInt64
}

/// Where a spelled path leads when every link in it is followed: mostly the directory of an item.
struct Place: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case directory
    case missing
    case other
  }

  let id: PlaceID
  /// The path as spelled, without `.` and spare slashes.
  let spelled: SystemPath
  let canonical: SystemPath
  let kind: Kind
  /// The names on the way, each once; a change of any makes the place stale.
  let nodes: [NameNode.ID]
}

/// Why a path has no place, so that it has to be resolved by the system each time.
enum PlaceRefusal: Error, Hashable {
  /// A directory on the way can't be watched.
  case unwatchable
  /// The system has no watch or descriptor left.
  case exhausted
  /// The way is no usual one: an error, too deep, changed again and again. Only the system can follow it.
  case irregular
}
