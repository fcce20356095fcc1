internal import FileAccessArbiter
package import FoundationEssentials
package import SystemInterface

// For targets of this package that keep something beside files.

extension FileCoordinator {
  /// The path that coordination goes by.
  package func canonicalPath(of url: URL) throws(FileCoordinationError) -> SystemPath {
    SystemPath(bytes: try FileLocation(url, in: fileSystem).path.bytes)
  }
}

extension FileAccess {
  /// Where the item is now.
  package var canonicalPath: SystemPath { path }
}
