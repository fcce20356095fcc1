/// A file in an index: one name of a file, so that two hard links are two.
///
/// Stays the same when the file is renamed. Is used again for another file some time after the file is gone, see
/// ``FileIndex/recycle(before:)``.
@usableFromInline
package struct FileNumber: Hashable, Comparable, Sendable {
  @usableFromInline package let rawValue: UInt32

  @inlinable
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }

  /// No file.
  @inlinable package static var none: FileNumber { FileNumber(0) }

  @inlinable
  package static func < (left: FileNumber, right: FileNumber) -> Bool { left.rawValue < right.rawValue }
}
