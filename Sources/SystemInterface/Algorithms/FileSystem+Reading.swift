internal import Glibc

extension SystemError {
  /// Whether the error means that nothing has that name: it is missing, or a file stands where a directory should.
  package var isAbsence: Bool {
    isOne(of: ENOENT, ENOTDIR)
  }
}

extension FileSystem {
  /// The status of the file at a path, `nil` when nothing is there; a symbolic link at the end is not followed.
  ///
  /// Blocks for one system call. The answer is that of one moment.
  ///
  /// - Parameter path: The path.
  /// - Returns: The status, or `nil` for ENOENT and ENOTDIR.
  /// - Throws: The error of statx(2), such as EACCES for a directory that may not be searched.
  /// - Complexity: One system call.
  package func statusIfPresent(of path: SystemPath) throws(SystemError) -> FileStatus? {
    try statusIfPresent(of: path, at: .workingDirectory)
  }

  /// Reads a whole file, following symbolic links.
  ///
  /// Blocks until all of it is read, never for another process: a FIFO, socket or device isn't opened. A writer that isn't
  /// kept out may be seen half done.
  ///
  /// - Parameter path: The file to read.
  /// - Returns: Its bytes.
  /// - Throws: The error of statx(2), openat(2), fstat(2) or read(2); EISDIR for a directory; EINVAL for a FIFO, socket or
  ///   device.
  /// - Complexity: O(*n*) in the size of the file; six system calls for a small one.
  package func contents(of path: SystemPath) throws(SystemError) -> [UInt8] {
    try contentsAndStatus(of: path).contents
  }

  /// Reads a whole file, like ``contents(of:)``, piece by piece.
  ///
  /// - Parameters:
  ///   - path: The file to read.
  ///   - countMax: How many bytes to read at most.
  ///   - note: Called after each piece of a mebibyte with the number of bytes read, and the size of the file; may stop the reading.
  /// - Returns: Its bytes, and its status before the first of them was read.
  /// - Throws: As above, EFBIG for a file with more bytes, or the error of `note`.
  package func contentsAndStatus(
    of path: SystemPath, countMax: Int64 = .max,
    noting note: (_ count: Int64, _ size: Int64) throws(SystemError) -> Void = { _, _ throws(SystemError) in }
  ) throws(SystemError) -> (contents: [UInt8], status: FileStatus) {
    try locatingErrors(at: path) { () throws(SystemError) in
      // Opening a FIFO would let its writer go on, and opening a device may do anything.
      try refuseSpecialFile(status(of: path, at: .workingDirectory, links: .follow), path)
      let file = try openRegularFile(path)
      defer { try? close(file) }
      let status = try status(of: file)
      try refuseSpecialFile(status, path)
      let contents = try readToEnd(of: file, expecting: status.size) { (count) throws(SystemError) in
        if max(count, status.size) > countMax {
          throw SystemError(
            call: "contents", paths: [path], errno: EFBIG, advice: "It has more than \(countMax) bytes.")
        }
        try note(count, status.size)
      }
      return (contents, status)
    }
  }

  private func refuseSpecialFile(_ status: FileStatus, _ path: SystemPath) throws(SystemError) {
    let kind: String
    switch status.kind {
    case .regular, .directory, .symbolicLink: return
    case .fifo: kind = "a FIFO"
    case .socket: kind = "a socket"
    case .characterDevice, .blockDevice: kind = "a device"
    case .unknown: kind = "of no known kind"
    }
    throw SystemError(
      call: "contents", paths: [path], errno: EINVAL,
      advice: "It is \(kind), which has no end that could be waited for; open it yourself inside the access.")
  }

  /// Reads the names in a directory.
  ///
  /// - Parameters:
  ///   - directory: A canonical path.
  ///   - flags: How it's opened.
  /// - Returns: The names, in no order; none if the directory isn't there.
  /// - Throws: The error of a system call.
  /// - Complexity: O(names).
  package func names(in directory: SystemPath, flags: OpenFlags = .directory) throws(SystemError) -> [SystemPath] {
    do throws(SystemError) {
      return try withDescriptor(directory, flags: flags) { (descriptor) throws(SystemError) in
        var names: [SystemPath] = []
        while let entries = try readDirectory(descriptor) { names += entries.map(\.name) }
        return names
      }
    } catch let error {
      if error.isAbsence { return [] }
      throw error
    }
  }

  /// Opens a file that was regular a moment ago: should it have become a FIFO, without waiting for its writer.
  private func openRegularFile(_ path: SystemPath) throws(SystemError) -> FileDescriptor {
    do {
      return try open(path, at: .workingDirectory, flags: .nonBlocking, mode: 0)
    } catch let error where error.errno == EAGAIN {
      // Only for regular files: another process holds a lease on it and is asked to give it up (fcntl(2), "Leases").
      return try open(path, at: .workingDirectory, flags: [], mode: 0)
    }
  }

  /// Reads from the current position to the end; the size is only a hint, so that files in /proc work too.
  private func readToEnd(
    of file: FileDescriptor, expecting size: Int64, noting note: (Int64) throws(SystemError) -> Void
  ) throws(SystemError) -> [UInt8] {
    try note(0)
    // One byte more than expected, so that a small file takes two reads: its bytes, and the end.
    var chunk = [UInt8](repeating: 0, count: Int(min(max(size, 511), 1 << 20)) + 1)
    let isInOnePiece = size < chunk.count
    var contents: [UInt8] = []
    if !isInOnePiece { contents.reserveCapacity(Int(min(size, 1 << 30))) }
    while true {
      let count = try read(file, into: &chunk)
      if count == 0 { return contents }
      if isInOnePiece, contents.isEmpty {
        // It isn't copied; the next read finds the end.
        contents = chunk
        chunk = [UInt8](repeating: 0, count: 4096)
        contents.removeSubrange(count...)
      } else {
        contents.append(contentsOf: chunk[..<count])
      }
      try note(Int64(contents.count))
    }
  }
}
