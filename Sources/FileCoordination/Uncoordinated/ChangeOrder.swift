internal import FileAccessArbiter
internal import FileWatching
internal import SystemInterface

/// An order of a ``ChangeCore``, whose outcome is reported before the next order.
enum ChangeOrder: Hashable, Sendable {
  /// Take all events of what was done before.
  case takeEvents
  case watch(ItemPath, WatchInterest, isDirectory: Bool)
  case unwatch(WatchID)
  /// Look whether anything is at a place.
  case look(ItemPath)
  /// Hold on to what is at a place, for a presenter; if anything is there, let go of what was held for it before.
  case hold(PresenterID, ItemPath)
  case release(PresenterID)
  /// Find out where the item is that is held for a presenter. One that has no descriptor is only found where it was, or at
  /// the second place.
  case find(PresenterID, orAt: ItemPath?)
  /// List a directory, which is watched by now.
  case list(ItemPath)
}

/// The outcome of an order.
enum ChangeOutcome: Sendable {
  case events([WatchEvent])
  case watched(Result<WatchID, SystemError>)
  case looked(isPresent: Bool)
  /// Absent when nothing is there, or when it can't be looked at.
  case held(HeldItem?)
  /// Absent when the item is gone, or out of sight.
  case found(ItemPath?)
  case listed([ListedMember])
  /// The order has no result.
  case done
}

/// The item that is held for a presenter.
struct HeldItem: Hashable, Sendable {
  let identity: FileIdentity
  let isDirectory: Bool
  /// Whether it's found wherever it goes; the process may have had no descriptor to spare.
  let isFoundAnywhere: Bool
}

/// A name in a listed directory.
struct ListedMember: Hashable, Sendable {
  let name: SystemPath
  let isDirectory: Bool
}
