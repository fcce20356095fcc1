internal import FileAccessArbiter
package import SystemInterface

/// A file that's found wherever it's moved to, as long as this object lives: for documents.
///
/// Takes a descriptor of the same budget as the held items of presenters; without one it's found only where it was.
package final class HeldFile: Sendable {
  private let handle: ItemHandle
  private let files: any FileSystem
  /// Fails if nothing is there.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - files: The door through which it's opened.
  package init?(_ path: SystemPath, _ files: any FileSystem) {
    guard let handle = ItemHandle(ItemPath(canonical: path.bytes), in: files, .shared) else { return nil }
    self.handle = handle
    self.files = files
  }

  deinit { handle.close(in: files, .shared) }

  /// Its device and inode.
  package var identity: FileIdentity { handle.identity }

  /// Where the file is; `nil` if it has no name any more, or none that's in sight.
  package var place: SystemPath? { handle.currentPath(orAt: nil, in: files)?.systemPath }
}
