extension ScriptedFileSystem {
  /// Logged and scripted, then openat(2).
  package func open(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags, mode: UInt32
  ) throws(SystemError) -> FileDescriptor {
    let descriptor = try run(.open, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.open(paths[0], at: directory, flags: flags, mode: mode)
    }
    note(descriptor, openedBy: path)
    return descriptor
  }

  /// Logged and scripted, then openat2(2).
  package func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor {
    let descriptor = try run(.openWithoutSymbolicLinks, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.openWithoutSymbolicLinks(paths[0], at: directory, flags: flags)
    }
    note(descriptor, openedBy: path)
    return descriptor
  }

  /// Logged and scripted, then close(2).
  package func close(_ descriptor: FileDescriptor) throws(SystemError) {
    try run(.close, on: descriptor) { (base, _, _) throws(SystemError) in
      // Before the kernel hands out the number again.
      note(descriptor, openedBy: nil)
      try base.close(descriptor)
    }
  }

  /// Logged and scripted, then flock(2).
  package func lock(_ descriptor: FileDescriptor) throws(SystemError) {
    try run(.lock, on: descriptor) { (base, _, _) throws(SystemError) in try base.lock(descriptor) }
  }

  /// Logged and scripted, then flock(2).
  package func unlock(_ descriptor: FileDescriptor) throws(SystemError) {
    try run(.lock, on: descriptor) { (base, _, _) throws(SystemError) in try base.unlock(descriptor) }
  }

  /// Logged and scripted, then read(2).
  package func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws(SystemError) -> Int {
    try run(.read, on: descriptor) { (base, _, limit) throws(SystemError) in
      if limit >= buffer.count { return try base.read(descriptor, into: &buffer) }
      var part = [UInt8](repeating: 0, count: limit)
      let count = try base.read(descriptor, into: &part)
      buffer.replaceSubrange(..<count, with: part[..<count])
      return count
    }
  }

  /// Logged and scripted, then write(2).
  package func write(_ descriptor: FileDescriptor, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
    try run(.write, on: descriptor) { (base, _, limit) throws(SystemError) in
      try base.write(descriptor, bytes.prefix(limit))
    }
  }

  /// Logged and scripted, then lseek(2).
  package func seek(
    _ descriptor: FileDescriptor, to offset: Int64, _ origin: SeekOrigin
  ) throws(SystemError) -> Int64 {
    try run(.seek, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.seek(descriptor, to: offset, origin)
    }
  }

  /// Logged and scripted, then ftruncate(2).
  package func truncate(_ descriptor: FileDescriptor, to size: Int64) throws(SystemError) {
    try run(.truncate, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.truncate(descriptor, to: size)
    }
  }

  /// Logged and scripted, then fsync(2).
  package func synchronize(_ descriptor: FileDescriptor) throws(SystemError) {
    try run(.synchronize, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.synchronize(descriptor)
    }
  }

  /// Logged and scripted, then ioctl_ficlone(2).
  package func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(SystemError) {
    try run(.clone, on: target) { (base, _, _) throws(SystemError) in
      try base.clone(source, to: target)
    }
  }

  /// Logged and scripted, then copy_file_range(2).
  package func copyRange(
    from source: FileDescriptor, to target: FileDescriptor, count: Int
  ) throws(SystemError) -> Int {
    try run(.copyRange, on: target) { (base, _, limit) throws(SystemError) in
      try base.copyRange(from: source, to: target, count: min(count, limit))
    }
  }
}
