import FoundationEssentials
import SystemInterface

/// A directory for the files of one merge, for this user alone.
///
/// It's locked, see flock(2), by a descriptor that the merging command inherits. So the kernel unlocks it when the last of them has ended,
/// and a merge removes those that were left by processes that were killed.
struct MergeDirectory {
  private static let prefix = "filecoord-merge-"
  private static let attemptCountMax = 100

  let url: URL
  private let lock: FileDescriptor

  /// Makes one.
  ///
  /// - Throws: ``Failure`` when none can be made.
  init() throws(Failure) {
    let files = HostFileSystem()
    let parent = FileManager.default.temporaryDirectory
    do throws(SystemError) {
      for _ in 0..<Self.attemptCountMax {
        let url = parent.appending(path: Self.prefix + UUID().uuidString, directoryHint: .isDirectory)
        let path = parent.systemPath.appending(SystemPath(url.lastPathComponent))
        try files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
        let lock = try files.open(path, at: .workingDirectory, flags: .directory, mode: 0)
        // Another merge may take it for one that was left until it's locked.
        if (try? files.lock(lock)) != nil,
          try files.statusIfPresent(of: path)?.identity == files.status(of: lock).identity
        {
          self.url = url
          self.lock = lock
          ChildProgram.hand(lock.rawValue)
          return
        }
        try? files.close(lock)
      }
    } catch {
      throw Failure(.cannotCreate, "no directory for the merge can be made in '\(parent.pathText.onOneLine)': \(error)")
    }
    throw Failure(.cannotCreate, "directories in '\(parent.pathText.onOneLine)' are removed again and again")
  }

  /// Removes it with its files.
  func remove() {
    try? FileManager.default.removeItem(at: url)
    try? HostFileSystem().close(lock)
  }

  /// Removes those whose processes have ended, and those of nobody else; where that fails, they harm nobody.
  static func removeLeftovers() {
    let files = HostFileSystem()
    let parent = FileManager.default.temporaryDirectory.systemPath
    for name in (try? files.names(in: parent)) ?? [] where name.bytes.starts(with: prefix.utf8) {
      let path = parent.appending(name)
      guard let status = try? files.statusIfPresent(of: path), status.owner == HostUser.effectiveUserID else {
        continue
      }
      try? files.withDescriptor(path, flags: [.directory, .noFollow]) { (directory) throws(SystemError) in
        try files.lock(directory)
        try files.removeItem(at: path)
      }
    }
  }
}

extension URL {
  /// Without the slash at the end of a directory's URL.
  fileprivate var systemPath: SystemPath {
    let path = SystemPath(bytes: pathBytes)
    return path.parent.appending(path.lastComponent)
  }
}

extension String {
  /// The text as one word for the shell.
  var quotedForShell: String { "'" + replacing("'", with: "'\\''") + "'" }
}
