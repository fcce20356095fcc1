internal import SystemInterface

/// The orders of a ``ScopeCore``, carried out one after the other; each outcome is passed back before the next.
///
/// Reading directories is ordered apart from this, see ``ReadOrder``: several are read at the same time.
enum ScopeOrder: Hashable, Sendable {
  /// Take all events of changes before now.
  case takeEvents
  /// Wait for a moment, the longer the more often it has waited, and take events: one half of a rename is there and the
  /// other isn't.
  case awaitArrival(attemptCount: Int)
  /// Inspect the file at the place of a root.
  case check(Int, SystemPath)
  /// Watch the way to a root: each directory first, and then inspect its contents.
  case secure(Int, SystemPath, RootReach)
  /// Inspect the files that some names in a directory stand for.
  case look(LookOrder)
  /// Find where a link leads.
  case resolve(FileNumber, SystemPath)
  case unwatch(WatchID)
  /// Read the mounts.
  case readMounts
}

/// The outcome of an order.
enum ScopeOutcome: Sendable {
  case events([WatchEvent])
  case checked(Int, SystemPath, Result<FileFacts, SystemError>)
  case secured(Int, SystemPath, RootWay)
  case looked(LookOrder, LookOrder.Outcome)
  case resolved(FileNumber, SystemPath, Result<LinkTarget, SystemError>)
  case mounts(Set<MountTable.Mount>)
  /// It's done, and has no result.
  case done
}

/// Names in a directory that are to be checked.
struct LookOrder: Hashable, Sendable {
  enum Outcome: Sendable {
    /// Another file is where the directory should be.
    case displaced
    case failed(SystemError)
    /// The facts of the directory, and of the files that the names stand for.
    case found(FileFacts, [(SystemPath, Result<FileFacts, SystemError>)])
  }

  let directory: FileNumber
  let path: SystemPath
  let inode: UInt64
  /// The device that the directory must be on, if that's known.
  let device: UInt64?
  /// For each name whether its end was reported.
  let names: [SystemPath: Bool]
}

/// Where a link leads.
struct LinkTarget: Sendable {
  /// A canonical path.
  let path: SystemPath
  /// By way of other links.
  let isIndirect: Bool
}

/// The next step of reading directories.
enum ReadStep: Sendable {
  case read(ReadOrder)
  /// Find whether more may be watched than are by now.
  case reserveWatch(beyond: Int)
}
