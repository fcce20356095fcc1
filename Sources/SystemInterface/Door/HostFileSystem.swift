internal import CSystemShims
internal import Glibc

/// The files of this machine: every requirement is the system call it names.
///
/// Stateless, so one value serves all threads.
package struct HostFileSystem: FileSystem {
  /// Creates the door to the files of this machine.
  package init() {}
}

extension HostFileSystem {
  /// Makes a call until it isn't interrupted by a signal, and turns -1 into an error.
  @discardableResult
  func checked<Result: SignedInteger>(
    _ call: SystemCall, _ paths: @autoclosure () -> [SystemPath] = [], _ body: () -> Result
  ) throws(SystemError) -> Result {
    while true {
      let result = body()
      if result >= 0 { return result }
      let code = Glibc.errno
      if code != EINTR { throw SystemError(call, paths: paths(), errno: code) }
    }
  }
}

// MARK: - Descriptors and contents

extension HostFileSystem {
  /// openat(2).
  package func open(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags, mode: UInt32
  ) throws(SystemError) -> FileDescriptor {
    let number = try checked(.open, [path]) {
      unsafe path.withCString { unsafe openat(directory.rawValue, $0, flags.rawValue | O_CLOEXEC, mode_t(mode)) }
    }
    return FileDescriptor(rawValue: number)
  }

  /// openat2(2).
  package func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor {
    let number = try checked(.openWithoutSymbolicLinks, [path]) {
      unsafe path.withCString {
        unsafe shim_open_without_symlinks(directory.rawValue, $0, UInt64(flags.rawValue | O_CLOEXEC), 0)
      }
    }
    return FileDescriptor(rawValue: number)
  }

  /// close(2).
  package func close(_ descriptor: FileDescriptor) throws(SystemError) {
    // Linux has released the descriptor even when it reports EINTR: a second close could hit another thread's file.
    if Glibc.close(descriptor.rawValue) != 0 {
      throw SystemError(.close, errno: Glibc.errno)
    }
  }

  /// flock(2).
  package func lock(_ descriptor: FileDescriptor) throws(SystemError) {
    try checked(.lock) { flock(descriptor.rawValue, LOCK_EX | LOCK_NB) }
  }

  /// flock(2).
  package func unlock(_ descriptor: FileDescriptor) throws(SystemError) {
    try checked(.lock) { flock(descriptor.rawValue, LOCK_UN) }
  }

  /// read(2).
  package func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws(SystemError) -> Int {
    try checked(.read) {
      unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor.rawValue, $0.baseAddress, $0.count) }
    }
  }

  /// write(2).
  package func write(_ descriptor: FileDescriptor, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
    try checked(.write) {
      unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor.rawValue, $0.baseAddress, $0.count) }
    }
  }

  /// lseek(2).
  package func seek(
    _ descriptor: FileDescriptor, to offset: Int64, _ origin: SeekOrigin
  ) throws(SystemError) -> Int64 {
    let whence: Int32 =
      switch origin {
      case .start: SEEK_SET
      case .data: Int32(shim_SEEK_DATA)
      case .hole: Int32(shim_SEEK_HOLE)
      }
    return try Int64(checked(.seek) { lseek(descriptor.rawValue, off_t(offset), whence) })
  }

  /// ftruncate(2).
  package func truncate(_ descriptor: FileDescriptor, to size: Int64) throws(SystemError) {
    try checked(.truncate) { ftruncate(descriptor.rawValue, off_t(size)) }
  }

  /// fsync(2).
  package func synchronize(_ descriptor: FileDescriptor) throws(SystemError) {
    try checked(.synchronize) { fsync(descriptor.rawValue) }
  }

  /// ioctl_ficlone(2).
  package func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(SystemError) {
    try checked(.clone) { shim_clone(target.rawValue, source.rawValue) }
  }

  /// copy_file_range(2).
  package func copyRange(
    from source: FileDescriptor, to target: FileDescriptor, count: Int
  ) throws(SystemError) -> Int {
    try checked(.copyRange) {
      copy_file_range(source.rawValue, nil, target.rawValue, nil, count, 0)
    }
  }
}
