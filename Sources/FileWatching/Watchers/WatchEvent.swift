package import SystemInterface

/// A watched item, by the number that its events are told with.
///
/// Paths that lead to one item have one number.
package struct WatchID: Hashable, Sendable {
  package let rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// Ties the two halves of a rename together.
package struct RenameCookie: Hashable, Sendable {
  package let rawValue: UInt32

  package init(_ rawValue: UInt32) { self.rawValue = rawValue }
}

/// One thing that happened.
///
/// An event means "look there": what it tells may be over when it's read.
package enum WatchEvent: Hashable, Sendable {
  /// A name in a watched directory, and what happened to it.
  case name(WatchID, SystemPath, Happening, isDirectory: Bool)
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
  package enum Happening: Hashable, Sendable {
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
