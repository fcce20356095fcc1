/// A file in an index: one name of a file, so that two hard links are two.
///
/// Stays the same when the file is renamed. Is used again for another file some time after the file is gone, see
/// ``FileIndex/recycle(before:)``.
package struct FileNumber: Hashable, Comparable, Sendable {
  package let rawValue: UInt32

  package init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// No file.
  static let none = FileNumber(0)

  package static func < (left: FileNumber, right: FileNumber) -> Bool { left.rawValue < right.rawValue }
}
