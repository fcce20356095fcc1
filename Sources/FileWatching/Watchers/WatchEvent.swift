public import SystemInterface

/// A watched item, by the number in its events.
///
/// Paths that lead to one item have one number.
public struct WatchID: Hashable, Sendable {
  /// The number that the backend gave the item.
  public let rawValue: Int32

  /// Makes a number.
  ///
  /// - Parameter rawValue: The number that the backend gave the item.
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// Ties the two halves of a rename together.
public struct RenameCookie: Hashable, Sendable {
  /// The number with which the backend marks the two halves.
  public let rawValue: UInt32

  /// Makes a cookie.
  ///
  /// - Parameter rawValue: The number with which the backend marks the two halves.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// One event.
///
/// An event means "check there": the state that it reports may be over when it's read.
public enum WatchEvent: Hashable, Sendable {
  /// A name in a watched directory, and the event at it.
  case name(WatchID, SystemPath, Action, isDirectory: Bool)
  /// The watched item itself has other contents or attributes.
  case itemChanged(WatchID)
  /// The watched item itself was moved. The new place isn't reported.
  case itemMoved(WatchID)
  /// The item isn't watched any more: it's gone, unmounted, or was unwatched. The last event of the watch.
  case ended(WatchID)
  /// Something was mounted or unmounted somewhere.
  case mountsChanged
  /// Events were lost: read all watched items again.
  case overflow

  /// The event at a name.
  public enum Action: Hashable, Sendable {
    /// There's something new.
    case created
    /// There's nothing any more.
    case removed
    /// The file there was moved; the other half has the same cookie, if that place is watched too.
    case departed(RenameCookie)
    /// A file was moved there, in the place of the one that was there.
    case arrived(RenameCookie)
    /// The file there may have other contents or attributes.
    case changed
  }
}

/// The events to receive of a watched item.
public struct WatchInterest: OptionSet, Hashable, Sendable {
  /// The bits of the set.
  public let rawValue: UInt8

  /// Makes a set.
  ///
  /// - Parameter rawValue: The bits of the set.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Names in the watched directory come and go.
  public static let names = Self(rawValue: 1)
  /// Contents or attributes of the watched item, or of the files in the watched directory, change.
  public static let contents = Self(rawValue: 2)
  /// Attributes of the watched item change, among them how many names it has.
  public static let attributes = Self(rawValue: 4)
  /// The watched item itself is moved, or is gone.
  public static let itself = Self(rawValue: 8)
}
