/// One name in a directory.
///
/// - Note: readdir(3).
package struct DirectoryEntry: Hashable, Sendable {
  /// The name, a single component; never `.` or `..`.
  package var name: SystemPath

  /// The kind of file; `nil` when the file system doesn't say and statx(2) has to be asked.
  package var kind: FileKind?

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - kind: The kind of item that has the name, if known.
  package init(name: SystemPath, kind: FileKind?) {
    self.name = name
    self.kind = kind
  }
}
