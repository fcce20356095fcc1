internal import Glibc

extension FileSystem {
  /// Copies a regular file with its metadata to a name that isn't taken.
  func copyFile(
    _ source: DirectoryItem, to target: DirectoryItem, durability: CopyDurability
  ) throws(SystemError) {
    do {
      try copyOpenFile(source, to: target, durability: durability)
    } catch {
      throw error.located(in: SystemPath(""), subject: source.name)
    }
  }

  private func copyOpenFile(
    _ source: DirectoryItem, to target: DirectoryItem, durability: CopyDurability
  ) throws(SystemError) {
    // Should the name have become a FIFO meanwhile, opening it must not wait for a writer.
    let reading: OpenFlags = [.noFollow, .nonBlocking]
    try withDescriptor(source.name, at: source.directory, flags: reading) { (input) throws(SystemError) in
      let status = try status(of: input)
      let writing: OpenFlags = [.create, .exclusive, .writeOnly]
      try withDescriptor(target.name, at: target.directory, flags: writing, mode: 0o600) {
        (output) throws(SystemError) in
        try copyContents(from: input, status, to: output)
        try copyMetadata(from: input, status, to: output)
        try setModificationTime(of: output, to: status.modificationTime)
        if durability == .synchronized { try synchronize(output) }
      }
    }
  }

  /// Shares the blocks if the file system can; copies the bytes otherwise, leaving holes where there were holes.
  private func copyContents(
    from input: FileDescriptor, _ status: FileStatus, to output: FileDescriptor
  ) throws(SystemError) {
    if try cloned(from: input, to: output) { return }
    if status.allocatedSize < status.size, try copiedWithHoles(from: input, status.size, to: output) { return }
    try copyBytes(from: input, to: output, count: .max)
  }

  private func cloned(from input: FileDescriptor, to output: FileDescriptor) throws(SystemError) -> Bool {
    do {
      try clone(input, to: output)
      return true
    } catch let error where error.isUnsupported || error.isOne(of: EXDEV, ENOTTY, EPERM) {
      return false
    }
  }

  /// Copies the parts that aren't holes; returns `false`, having copied nothing, when the file system can't tell.
  private func copiedWithHoles(
    from input: FileDescriptor, _ size: Int64, to output: FileDescriptor
  ) throws(SystemError) -> Bool {
    var offset: Int64 = 0
    while offset < size {
      let data: Int64
      do {
        data = try seek(input, to: offset, .data)
      } catch let error where error.errno == ENXIO {
        break
      } catch let error where error.isUnsupported && offset == 0 {
        return false
      }
      let end = try seek(input, to: data, .hole)
      _ = try seek(input, to: data, .start)
      _ = try seek(output, to: data, .start)
      try copyBytes(from: input, to: output, count: Int(end - data))
      offset = end
    }
    try truncate(output, to: size)
    return true
  }

  /// Copies at most `count` bytes, or up to the end of the file, inside the kernel as far as it can.
  private func copyBytes(
    from input: FileDescriptor, to output: FileDescriptor, count: Int
  ) throws(SystemError) {
    let chunkMax = 1 << 30
    var left = count
    do {
      while left > 0 {
        let copied = try copyRange(from: input, to: output, count: min(left, chunkMax))
        if copied == 0 { break }
        left -= copied
      }
    } catch let error where error.isUnsupported || error.isOne(of: EXDEV, EPERM) {
      // Two file systems, or one that doesn't know the call; both positions are where the last success left them.
    }
    try copyBytesByHand(from: input, to: output, count: left)
  }

  /// Reads and writes; also finds the end of files in /proc, for which the kernel's copy reports 0 bytes.
  private func copyBytesByHand(
    from input: FileDescriptor, to output: FileDescriptor, count: Int
  ) throws(SystemError) {
    if count == 0 { return }
    var buffer = [UInt8](repeating: 0, count: min(count, 1 << 18))
    var left = count
    while left > 0 {
      let filled = min(try read(input, into: &buffer), left)
      if filled == 0 { return }
      try writeAll(Array(buffer[..<filled]), to: output)
      left -= filled
    }
  }
}
