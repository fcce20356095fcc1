internal import Glibc

extension FileSystem {
  /// Makes a file that isn't there yet, whole: nobody sees it without its contents, and of several calls at once one makes it.
  ///
  /// The contents are on the disk when the file gets its name; the name isn't yet. If the process ends, nothing is left behind where the file
  /// system supports files without a name; elsewhere a temporary file may be, see `isTemporaryName`.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - directory: The directory that will hold it.
  ///   - contents: Its contents.
  ///   - mode: Its permissions, less the umask.
  /// - Throws: EEXIST if the name is taken; the error of the call that failed otherwise. Only an error of linkat(2) or rename(2) other than those
  ///   leaves open whether the file is there.
  /// - Complexity: O(bytes); five system calls, one of which waits for the disk.
  /// - Note: open(2) on `O_TMPFILE`, linkat(2).
  package func makeFile(
    _ name: SystemPath, at directory: FileDescriptor, with contents: [UInt8], mode: UInt32
  ) throws(SystemError) {
    do {
      try makeFile(name, at: directory, with: contents, mode: mode, unnamed: true)
    } catch let error where error.call == SystemCall.link.rawValue && error.isOne(of: ENOENT, EXDEV) {
      // Without /proc an unnamed file can't get a name.
      try makeFile(name, at: directory, with: contents, mode: mode, unnamed: false)
    }
  }

  private func makeFile(
    _ name: SystemPath, at directory: FileDescriptor, with contents: [UInt8], mode: UInt32, unnamed: Bool
  ) throws(SystemError) {
    var file = try makeTemporaryFile(for: name, in: directory, mode: mode, unnamed: unnamed)
    do {
      try writeAll(contents, to: file.descriptor)
      try synchronize(file.descriptor)
      if let temporary = file.name {
        let place = SystemPath("")
        let draft = DirectoryItem(name: temporary, directory: directory, place: place)
        try renameExclusively(draft, to: DirectoryItem(name: name, directory: directory, place: place))
        file.name = nil
      } else {
        let door = SystemPath("/proc/self/fd/\(file.descriptor.rawValue)")
        try link(door, at: .workingDirectory, to: name, at: directory, links: .follow)
      }
    } catch {
      discard(file, in: directory)
      throw error
    }
    try? close(file.descriptor)
  }
}
