import FoundationEssentials
import Glibc

/// A directory for the tour, which is gone afterwards.
struct TemporaryDirectory {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  let url: URL

  init() throws(Failure) {
    let parent = URL.temporaryDirectory.path
    var template = Array((parent + "/filecoord-tour-XXXXXX").utf8CString)
    guard let path = mkdtemp(&template) else {
      throw Failure(
        description: "couldn't make a directory in '\(parent)': \(String(cString: strerror(errno))). Set TMPDIR.")
    }
    url = URL(filePath: String(cString: path), directoryHint: .isDirectory)
  }

  func makeDirectory(_ name: String) throws -> URL {
    let directory = url.appending(path: name, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    return directory
  }

  /// Removes it with everything in it.
  ///
  /// - Returns: Whether it's gone.
  func remove() -> Bool {
    try? FileManager.default.removeItem(at: url)
    return !FileManager.default.fileExists(atPath: url.path)
  }
}
