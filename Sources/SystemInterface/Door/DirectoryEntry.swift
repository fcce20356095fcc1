/// One name in a directory.
///
/// - Note: readdir(3).
public struct DirectoryEntry: Hashable, Sendable {
  /// The name, a single component; never `.` or `..`.
  public var name: SystemPath

  /// What the name stands for; `nil` when the file system doesn't say and statx(2) has to be asked.
  public var kind: FileKind?

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - kind: What the name stands for, if known.
  public init(name: SystemPath, kind: FileKind?) {
    self.name = name
    self.kind = kind
  }
}
