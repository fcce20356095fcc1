internal import Glibc

extension FileSystem {
  /// Removes a file, a symbolic link (not its target) or a whole directory.
  ///
  /// Blocks until everything is removed and the directory above is on the disk. Names are looked up in open
  /// directories, never by path, so a directory swapped for a symbolic link meanwhile leads nowhere. Things that appear
  /// meanwhile are removed as well, for a bounded number of rounds.
  ///
  /// - Parameter path: The item to remove.
  /// - Throws: ENOENT when nothing is there; the error of the call that failed otherwise, with part of the directory
  ///   possibly gone.
  /// - Complexity: O(*n*) in the number of items below; one descriptor at any depth.
  /// - Note: unlinkat(2).
  package func removeItem(at path: SystemPath) throws(SystemError) {
    try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (parent) throws(SystemError) in
        try removeTree(try path.itemName(), at: parent)
        try synchronizeAfterCommit(parent)
      }
    }
  }

  /// Removes the file that a name in a directory stands for.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - parent: The directory that holds it.
  ///   - overridingMode: Whether directories without write permission are given it, for trees of our own making.
  /// - Throws: The error of the call that failed; its paths are relative to `parent`.
  package func removeTree(
    _ name: SystemPath, at parent: FileDescriptor, overridingMode: Bool = false
  ) throws(SystemError) {
    do {
      return try unlink(name, at: parent, .file)
    } catch let error where error.errno == EISDIR {
      // Falls through.
    }
    for round in 1... {
      do {
        var visitor = RemovalVisitor(files: self, overridesMode: overridingMode)
        return try walkTree(name, at: parent, &visitor)
      } catch let error where error.errno == ENOTEMPTY && round < RemovalVisitor<Self>.roundsMax {
        continue
      }
    }
  }
}

private struct RemovalVisitor<Files: FileSystem>: TreeVisitor {
  /// How often a tree is walked when another program keeps adding to it.
  static var roundsMax: Int { 8 }

  let files: Files
  let overridesMode: Bool

  func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError) {
    do {
      try files.unlink(entry.name, at: directory, .file)
    } catch let error where error.errno == ENOENT {
      return
    }
  }

  func didEnter(_ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus) throws(SystemError) {
    if overridesMode && status.mode & 0o300 != 0o300 {
      try files.setMode(of: directory, to: 0o700)
    }
  }

  func didLeave(_ name: SystemPath, in parent: FileDescriptor) throws(SystemError) {
    try files.unlink(name, at: parent, .emptyDirectory)
  }
}
