public import FoundationEssentials

/// A file that a killed save has left beside its own: it may have a text that another program has written in that moment.
public struct SaveLeftover: Hashable, Sendable {
  /// The file or package that was left.
  public let url: URL
  /// The file that was saved; it may be gone.
  public let fileURL: URL
}

extension FileVersions {
  /// The leftovers of killed saves in a directory and everything below it, by the names of the files there.
  ///
  /// Nothing is changed. ``keepLeftovers(of:)`` makes versions of it. The list has no new contents that never had their place: the next save
  /// removes them. It may have the file of a save that's under way at this moment.
  ///
  /// - Parameter directory: The directory. Links aren't followed, and directories that can't be read are left out, like stores of versions.
  /// - Returns: The leftovers, in the order of their paths.
  /// - Throws: ``FileVersionError``.
  /// - Complexity: O(names below the directory).
  /// - Note: Rule CV-39.
  public func leftovers(below directory: URL) async throws(FileVersionError) -> [SaveLeftover] {
    try await perform { keeper in try keeper.leftovers(below: keeper.path(ofDirectory: directory)) }
  }

  /// Makes versions of the leftovers that killed saves of a file have left beside it, and removes them.
  ///
  /// Waits for accesses that write the file. A leftover whose contents the file or one of its versions has is only removed. If the file is gone, the
  /// versions are those of the file that was there last, see ``deletedFiles(below:)``, or that has moved from there.
  ///
  /// - Parameter url: The file; it doesn't have to be there.
  /// - Returns: The versions that were added.
  /// - Throws: ``FileVersionError`` if some couldn't be kept; that stays where it is.
  /// - Complexity: O(names in the directory of the file), and O(bytes) of what was left.
  /// - Note: Rule CV-39.
  @discardableResult
  public func keepLeftovers(of url: URL) async throws(FileVersionError) -> [FileVersion.ID] {
    try await perform { keeper in try keeper.keepLeftovers(ofSavesOf: keeper.path(of: url)) }
  }
}
