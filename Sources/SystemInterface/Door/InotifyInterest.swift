internal import Glibc

/// The events to receive of a watched item.
package struct InotifyInterest: OptionSet, Hashable, Sendable {
  /// The bits of inotify(7).
  package let rawValue: UInt32

  /// Creates a set of interests.
  ///
  /// - Parameter rawValue: The bits of inotify(7).
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Names in the watched directory come and go.
  package static let names = Self(rawValue: UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
  /// Contents or attributes of the watched item, or of members of the watched directory, change.
  package static let contents = Self(rawValue: UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB))
  /// Attributes of the watched item change, among them how many names it has.
  package static let attributes = Self(rawValue: UInt32(IN_ATTRIB))
  /// The watched item itself is moved, or is gone.
  package static let itself = Self(rawValue: UInt32(IN_MOVE_SELF | IN_DELETE_SELF))
}
