internal import SystemInterface

/// What a ``ScopeCore`` has done, one after the other, by somebody who tells it what has come of each before the next.
///
/// Reading directories is ordered apart from this, see ``ReadOrder``: several are read at the same time.
enum ScopeOrder: Sendable {
  /// Take all events of what was done before.
  case takeEvents
  /// Wait for a moment, the longer the more often it has been waited, and take events: one half of a rename is there and the other isn't.
  case awaitArrival(attemptCount: Int)
  /// Look what is at the place of a root.
  case check(Int, SystemPath)
  /// Watch the way to a root: each directory first, and then look what is in it.
  case secure(Int, SystemPath, RootReach)
  /// Look what some names in a directory stand for.
  case look(LookOrder)
  /// Find out where a link leads.
  case resolve(FileNumber, SystemPath)
  case unwatch(WatchID)
  /// Look what is mounted.
  case readMounts
}

/// What has come of an order.
enum ScopeOutcome: Sendable {
  case events([WatchEvent])
  case checked(Int, SystemPath, Result<FileFacts, SystemError>)
  case secured(Int, SystemPath, RootWay)
  case looked(LookOrder, LookOrder.Outcome)
  case resolved(FileNumber, SystemPath, Result<LinkTarget, SystemError>)
  case mounts(Set<MountTable.Mount>)
  /// It's done, and there's nothing to tell.
  case done
}

/// Names in a directory that are to be looked at.
struct LookOrder: Sendable {
  enum Outcome: Sendable {
    /// Something else is where the directory should be.
    case displaced
    case failed(SystemError)
    /// What the directory is, and what the names stand for.
    case found(FileFacts, [(SystemPath, Result<FileFacts, SystemError>)])
  }

  let directory: FileNumber
  let path: SystemPath
  let inode: UInt64
  /// The device that the directory must be on, if that's known.
  let device: UInt64?
  /// For each name whether it was told that it's gone.
  let names: [SystemPath: Bool]
}

/// Where a link leads.
struct LinkTarget: Sendable {
  /// A canonical path.
  let path: SystemPath
  /// By way of other links.
  let isIndirect: Bool
}

/// What is to be done to read directories.
enum ReadStep: Sendable {
  case read(ReadOrder)
  /// Find out whether more may be watched than are by now.
  case reserveWatch(beyond: Int)
}
