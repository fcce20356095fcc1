internal import FileWatching
internal import SystemInterface

// Some files can't be replaced or moved although their permissions say so, and the calls that fail name files that the caller doesn't know.

extension FileVersionError {
  /// Says why the kernel refuses to replace or move a file, and what to do; `nil` for other errors.
  static func refusal(_ error: SystemError) -> String? {
    guard error.number == .notPermitted, let path = error.paths.last(where: { !$0.isOfWork })?.withoutDot else {
      return nil
    }
    let files = HostFileSystem()
    let reason = Refusal(
      path, try? files.statusIfPresent(of: path), around: try? files.statusIfPresent(of: path.parent),
      user: HostUser.effectiveUserID)
    return "'\(path)' can't be replaced, moved or removed: \(reason.explanation) The call was: \(error.description)."
  }

  /// Why a file stays where it is, as far as that can be seen.
  struct Refusal: Hashable {
    /// The directory that keeps the files of other users, if that's why.
    let stickyDirectory: SystemPath?
    private let path: SystemPath

    init(_ path: SystemPath, _ file: FileStatus?, around directory: FileStatus?, user: UInt32) {
      self.path = path
      var isKept = false
      if let file, let directory, directory.mode & Self.stickyBit != 0 {
        isKept = file.owner != user && directory.owner != user && user != 0
      }
      stickyDirectory = isKept ? path.parent : nil
    }

    private static let stickyBit: UInt32 = 0o1000

    var explanation: String {
      if let stickyDirectory {
        return
          "it belongs to another user, and only its owner may replace the files of '\(stickyDirectory)' (the sticky bit, see inode(7)). Let its "
          + "owner do it, or restore the version to another path."
      }
      return
        "it, or the directory around it, may be immutable, or such that it can only be appended to. 'lsattr -d' shows whether, by an 'i' or an "
        + "'a', and 'chattr -i -a' ends it; or restore the version to another path."
    }
  }
}

extension SystemPath {
  /// Whether it's the name of a file in the making, or of one that's on its way into a store.
  fileprivate var isOfWork: Bool {
    lastComponent.isTemporaryName || lastComponent.bytes.starts(with: ".moved-".utf8)
  }

  /// Directories are opened by the name that they have in themselves.
  fileprivate var withoutDot: SystemPath { lastComponent == SystemPath(".") ? parent : self }
}
