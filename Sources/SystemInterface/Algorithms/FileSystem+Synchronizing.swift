internal import Glibc

extension FileSystem {
  /// Waits until an item is on the disk with everything in it, so that a rename that follows can't come there before it.
  ///
  /// Files that can't be opened for reading are left to the file system.
  ///
  /// - Parameter path: The item, as a canonical path; a symbolic link is on the disk with its directory.
  /// - Throws: ENOENT, EIO and other errors of open(2), fsync(2) and getdents64(2).
  /// - Complexity: O(*n*) in the number of files.
  package func synchronizeItem(at path: SystemPath) throws(SystemError) {
    try synchronizeItem(path, at: .workingDirectory)
  }

  private func synchronizeItem(_ name: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    do {
      switch try status(of: name, at: directory, links: .noFollow).kind {
      case .regular:
        try withDescriptor(name, at: directory, flags: [.noFollow, .nonBlocking]) { (file) throws(SystemError) in
          try synchronizeDirectory(file)
        }
      case .directory:
        try withDescriptor(name, at: directory, flags: [.directory, .noFollow]) { (opened) throws(SystemError) in
          while let entries = try readDirectory(opened) {
            for entry in entries { try synchronizeItem(entry.name, at: opened) }
          }
          try synchronizeDirectory(opened)
        }
      default: return
      }
    } catch let error where error.isOne(of: EACCES, EPERM) {
      return
    }
  }
}
