internal import Glibc

extension FileSystem {
  /// Copies a regular file with its metadata to a name that isn't taken.
  ///
  /// - Returns: How many bytes were copied: none if the two share their blocks.
  @discardableResult
  package func copyFile(
    _ source: DirectoryItem, to target: DirectoryItem, durability: CopyDurability
  ) throws(SystemError) -> Int {
    try source.locatingErrors { () throws(SystemError) in
      // Should the name have become a FIFO meanwhile, opening it must not wait for a writer.
      let reading: OpenFlags = [.noFollow, .nonBlocking]
      return try withDescriptor(source.name, at: source.directory, flags: reading) { (input) throws(SystemError) in
        let status = try status(of: input)
        return try target.locatingErrors { () throws(SystemError) in
          let writing: OpenFlags = [.create, .exclusive, .writeOnly]
          return try withDescriptor(target.name, at: target.directory, flags: writing, mode: 0o600) {
            (output) throws(SystemError) in
            let count = try FileCopy(files: self, source: source, input: input, output: output).copyContents(status)
            try copyMetadata(from: input, status, to: output)
            try setModificationTime(of: output, to: status.modificationTime)
            if durability == .synchronized { try synchronize(output) }
            return count
          }
        }
      }
    }
  }
}

extension FileSystem {
  /// Copies the bytes of a regular file into an open one that's empty.
  ///
  /// - Returns: How many bytes were copied: none if the two share their blocks.
  @discardableResult
  package func copyContents(of source: DirectoryItem, to output: FileDescriptor) throws(SystemError) -> Int {
    try source.locatingErrors { () throws(SystemError) in
      try withDescriptor(source.name, at: source.directory, flags: [.noFollow, .nonBlocking]) {
        (input) throws(SystemError) in
        try FileCopy(files: self, source: source, input: input, output: output).copyContents(status(of: input))
      }
    }
  }
}

/// Brings the bytes of one open file into another.
///
/// Errors of calls on the output are left to the caller to locate.
private struct FileCopy<Files: FileSystem> {
  let files: Files
  let source: DirectoryItem
  let input: FileDescriptor
  let output: FileDescriptor

  /// Shares the blocks if the file system can; copies the bytes otherwise, leaving holes where there were holes.
  ///
  /// - Returns: How many bytes were copied.
  func copyContents(_ status: FileStatus) throws(SystemError) -> Int {
    if try cloned() { return 0 }
    if status.allocatedSize < status.size, let count = try copyWithHoles(status.size) { return count }
    return try copyBytes(count: .max)
  }

  private func cloned() throws(SystemError) -> Bool {
    do {
      try files.clone(input, to: output)
      return true
    } catch let error where error.isUnsupported || error.isOne(of: EXDEV, ENOTTY, EPERM) {
      return false
    }
  }

  /// Copies the parts that aren't holes; returns `nil`, having copied nothing, when the file system doesn't report
  /// holes.
  private func copyWithHoles(_ size: Int64) throws(SystemError) -> Int? {
    var offset: Int64 = 0
    var count = 0
    while offset < size {
      let data: Int64
      do {
        data = try seekInput(to: offset, .data)
      } catch let error where error.errno == ENXIO {
        break
      } catch let error where error.isUnsupported && offset == 0 {
        return nil
      }
      let end = try seekInput(to: data, .hole)
      _ = try seekInput(to: data, .start)
      _ = try files.seek(output, to: data, .start)
      count += try copyBytes(count: Int(end - data))
      offset = end
    }
    try files.truncate(output, to: size)
    return count
  }

  private func seekInput(to offset: Int64, _ origin: SeekOrigin) throws(SystemError) -> Int64 {
    try source.locatingErrors { () throws(SystemError) in try files.seek(input, to: offset, origin) }
  }

  /// Copies at most `count` bytes, or up to the end of the file, inside the kernel as far as it can; returns how many.
  private func copyBytes(count: Int) throws(SystemError) -> Int {
    let chunkMax = 1 << 30
    var left = count
    do {
      while left > 0 {
        let copied = try files.copyRange(from: input, to: output, count: min(left, chunkMax))
        if copied == 0 { break }
        left -= copied
      }
    } catch let error where error.isUnsupported || error.isOne(of: EXDEV, EPERM, EIO) {
      // Two file systems, or one that doesn't support the call; both positions are where the last success left them.
      // After EIO reading and writing by hand shows which of the two is broken.
    }
    return count - left + (try copyBytesByHand(count: left))
  }

  /// Reads and writes; also finds the end of files in /proc, for which the kernel's copy reports 0 bytes.
  private func copyBytesByHand(count: Int) throws(SystemError) -> Int {
    if count == 0 { return 0 }
    var buffer = [UInt8](repeating: 0, count: min(count, 1 << 18))
    var left = count
    while left > 0 {
      let filled = min(try read(into: &buffer), left)
      if filled == 0 { break }
      try files.writeAll(Array(buffer[..<filled]), to: output)
      left -= filled
    }
    return count - left
  }

  private func read(into buffer: inout [UInt8]) throws(SystemError) -> Int {
    do { return try files.read(input, into: &buffer) } catch {
      throw error.located(in: source.place, subject: source.path)
    }
  }
}
