/// How far the reading or writing of a large file has come.
///
/// - Note: Rule CD-26.
public struct DocumentProgress: Hashable, Sendable {
  /// The operation that runs.
  public enum Activity: Hashable, Sendable {
    /// The file is read.
    case reading
    /// The file is written.
    case writing
  }

  /// The operation that runs.
  public let activity: Activity
  /// How many bytes were read or written.
  public let completedByteCount: Int64
  /// How many there are; another program may change that meanwhile.
  public let totalByteCount: Int64

  /// The part that's done: from 0 to 1.
  public var fractionCompleted: Double {
    totalByteCount > 0 ? min(1, Double(completedByteCount) / Double(totalByteCount)) : 1
  }

  /// Smaller files take no time worth showing.
  package static let byteCountMin: Int64 = 4 << 20

  /// Tells of a progress, if there are enough bytes.
  package static func note(
    _ activity: Activity, _ count: Int64, of size: Int64, to progress: (DocumentProgress?) -> Void
  ) {
    guard size >= byteCountMin else { return }
    progress(DocumentProgress(activity: activity, completedByteCount: count, totalByteCount: size))
  }
}
