/// Which files are others than before, or may be.
package struct IndexChanges: Sendable {
  /// Files that are new, gone, or known to have altered.
  package var files = FileNumberSet()
  /// Directories with another path than before, and all below them with them.
  package var movedDirectories: Set<FileNumber> = []
  /// Directories that have other members than before, and perhaps another number of them.
  package var recounted = FileNumberSet()

  /// Whether further facts of files have been read: the files needn't have altered.
  package var hasNewFacts = false

  package init() {}

  package var isEmpty: Bool { files.isEmpty && movedDirectories.isEmpty && !hasNewFacts }
}
