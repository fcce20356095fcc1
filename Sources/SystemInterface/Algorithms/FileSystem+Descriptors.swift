internal import Glibc

extension SystemPath {
  /// The last component, for operations on the item of that name: `..` would name the directory above instead.
  package func itemName() throws(SystemError) -> SystemPath {
    let name = lastComponent
    if name.bytes.isEmpty || name == SystemPath(".") || name == SystemPath("..") {
      throw SystemError(
        call: "itemName", paths: [self], errno: EINVAL, advice: "Pass a canonical path other than the root.")
    }
    return name
  }
}

extension FileSystem {
  /// Opens a file for the duration of `body`.
  ///
  /// An error of close(2) is ignored: bytes that have to be on the disk have been synchronised before.
  package func withDescriptor<Result>(
    _ path: SystemPath, at directory: FileDescriptor = .workingDirectory, flags: OpenFlags, mode: UInt32 = 0,
    _ body: (FileDescriptor) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let descriptor = try open(path, at: directory, flags: flags, mode: mode)
    defer { try? close(descriptor) }
    return try body(descriptor)
  }

  /// Writes all bytes, however few each call takes.
  package func writeAll(_ bytes: [UInt8], to descriptor: FileDescriptor) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      rest = rest.dropFirst(try write(descriptor, rest))
    }
  }

  /// Waits until the names in a directory are on the disk; file systems that can't (EINVAL) are taken at their word.
  package func synchronizeDirectory(_ directory: FileDescriptor) throws(SystemError) {
    do {
      try synchronize(directory)
    } catch let error where error.isUnsupported {
      return
    }
  }

  /// The status of a name in a directory, not following a link; `nil` when nothing is there.
  package func statusIfPresent(
    of name: SystemPath, at directory: FileDescriptor
  ) throws(SystemError) -> FileStatus? {
    do {
      return try status(of: name, at: directory, links: .noFollow)
    } catch let error where error.isAbsence {
      return nil
    }
  }
}
