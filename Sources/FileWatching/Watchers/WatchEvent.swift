public import SystemInterface

/// A watched item, by the number that its events are told with.
///
/// Paths that lead to one item have one number.
public struct WatchID: Hashable, Sendable {
  /// What the backend calls the item.
  public let rawValue: Int32

  /// Makes a number.
  ///
  /// - Parameter rawValue: What the backend calls the item.
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// Ties the two halves of a rename together.
public struct RenameCookie: Hashable, Sendable {
  /// What the backend tells the two halves with.
  public let rawValue: UInt32

  /// Makes a cookie.
  ///
  /// - Parameter rawValue: What the backend tells the two halves with.
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// One thing that happened.
///
/// An event means "look there": what it tells may be over when it's read.
public enum WatchEvent: Hashable, Sendable {
  /// A name in a watched directory, and what happened to it.
  case name(WatchID, SystemPath, Action, isDirectory: Bool)
  /// The watched item itself has other contents or attributes.
  case itemChanged(WatchID)
  /// The watched item itself was moved. Nobody tells where.
  case itemMoved(WatchID)
  /// The item isn't watched any more: it's gone, unmounted, or was unwatched. The last that is heard of the watch.
  case ended(WatchID)
  /// Something was mounted or unmounted somewhere.
  case mountsChanged
  /// Events were lost: read again whatever is watched.
  case overflow

  /// What happened to a name.
  public enum Action: Hashable, Sendable {
    /// There's something new.
    case created
    /// There's nothing any more.
    case removed
    /// What was there was moved; the other half has the same cookie, if that place is watched too.
    case departed(RenameCookie)
    /// Something was moved there, in the place of what there was.
    case arrived(RenameCookie)
    /// What is there may have other contents or attributes.
    case changed
  }
}

/// What to hear of a watched item.
public struct WatchInterest: OptionSet, Hashable, Sendable {
  /// The bits of the set.
  public let rawValue: UInt8

  /// Makes a set.
  ///
  /// - Parameter rawValue: The bits of the set.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Names in the watched directory come and go.
  public static let names = Self(rawValue: 1)
  /// Contents or attributes of the watched item, or of what is in the watched directory, change.
  public static let contents = Self(rawValue: 2)
  /// Attributes of the watched item change, among them how many names it has.
  public static let attributes = Self(rawValue: 4)
  /// The watched item itself is moved, or is gone.
  public static let itself = Self(rawValue: 8)
}
