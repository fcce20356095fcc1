internal import CSystemShims
internal import Glibc

extension HostFileSystem {
  /// fchmod(2); chmod(2) through /proc for a descriptor that names the place only, which fchmod(2) doesn't take.
  package func setMode(of descriptor: FileDescriptor, to mode: UInt32) throws(SystemError) {
    do {
      try checked(.setMode) { fchmod(descriptor.rawValue, mode_t(mode)) }
    } catch let error where error.errno == EBADF {
      let door = SystemPath("/proc/self/fd/\(descriptor.rawValue)")
      do {
        try checked(.setMode) { unsafe door.withCString { unsafe chmod($0, mode_t(mode)) } }
      } catch let other { throw other.errno == ENOENT ? error : other }
    }
  }

  /// fchown(2).
  package func setOwner(of descriptor: FileDescriptor, to owner: UInt32, group: UInt32) throws(SystemError) {
    try checked(.setDescriptorOwner) { fchown(descriptor.rawValue, owner, group) }
  }

  /// fchownat(2).
  package func setOwner(
    of path: SystemPath, at directory: FileDescriptor, to owner: UInt32, group: UInt32
  ) throws(SystemError) {
    try checked(.setOwner, [path]) {
      unsafe path.withCString { unsafe fchownat(directory.rawValue, $0, owner, group, AT_SYMLINK_NOFOLLOW) }
    }
  }

  /// futimens(3).
  package func setModificationTime(of descriptor: FileDescriptor, to time: Int64) throws(SystemError) {
    let times = Self.times(modification: time)
    try checked(.setDescriptorTime) { unsafe futimens(descriptor.rawValue, times) }
  }

  /// utimensat(2).
  package func setModificationTime(
    of path: SystemPath, at directory: FileDescriptor, to time: Int64?
  ) throws(SystemError) {
    let times = time.map(Self.times)
    try checked(.setTime, [path]) {
      unsafe path.withCString { path in
        guard let times else { return unsafe utimensat(directory.rawValue, path, nil, AT_SYMLINK_NOFOLLOW) }
        return unsafe utimensat(directory.rawValue, path, times, AT_SYMLINK_NOFOLLOW)
      }
    }
  }

  /// The pair utimensat(2) takes: access time left alone, modification time set.
  private static func times(modification time: Int64) -> [timespec] {
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
    let floored = rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
    return [
      timespec(tv_sec: 0, tv_nsec: Int(shim_UTIME_OMIT)),
      timespec(tv_sec: Int(floored.0), tv_nsec: Int(floored.1)),
    ]
  }
}

// MARK: - Extended attributes

extension HostFileSystem {
  /// flistxattr(2).
  package func extendedAttributes(
    of descriptor: FileDescriptor
  ) throws(SystemError) -> [ExtendedAttributeName] {
    let list = try unsafe growingBuffer(.listAttributes) { unsafe flistxattr(descriptor.rawValue, $0, $1) }
    return list.split(separator: 0).map { ExtendedAttributeName(bytes: $0) }
  }

  /// fgetxattr(2).
  package func extendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) -> [UInt8] {
    try unsafe growingBuffer(.attribute) { start, size in
      unsafe SystemPath(bytes: name.bytes).withCString { unsafe fgetxattr(descriptor.rawValue, $0, start, size) }
    }
  }

  /// lgetxattr(2).
  package func extendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath
  ) throws(SystemError) -> [UInt8] {
    do {
      return try unsafe growingBuffer(.attributeByName) { start, size in
        unsafe path.withCString { path in
          unsafe SystemPath(bytes: name.bytes).withCString { unsafe lgetxattr(path, $0, start, size) }
        }
      }
    } catch {
      throw SystemError(.attributeByName, paths: [path], errno: error.errno)
    }
  }

  /// lsetxattr(2).
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath, to value: [UInt8]
  ) throws(SystemError) {
    try checked(.setAttributeByName, [path]) {
      unsafe path.withCString { path in
        unsafe SystemPath(bytes: name.bytes).withCString { name in
          unsafe value.withUnsafeBytes { unsafe lsetxattr(path, name, $0.baseAddress, $0.count, 0) }
        }
      }
    }
  }

  /// fsetxattr(2).
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor, to value: [UInt8]
  ) throws(SystemError) {
    try checked(.setAttribute) {
      unsafe SystemPath(bytes: name.bytes).withCString { name in
        unsafe value.withUnsafeBytes {
          unsafe fsetxattr(descriptor.rawValue, name, $0.baseAddress, $0.count, 0)
        }
      }
    }
  }

  /// fremovexattr(2).
  package func removeExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) {
    try checked(.removeAttribute) {
      unsafe SystemPath(bytes: name.bytes).withCString { unsafe fremovexattr(descriptor.rawValue, $0) }
    }
  }

  /// Calls `body` with a small buffer, then with one of the size xattr(7) allows at most (64 KiB).
  private func growingBuffer(
    _ call: SystemCall, _ body: (UnsafeMutablePointer<CChar>?, Int) -> Int
  ) throws(SystemError) -> [UInt8] {
    do {
      return try unsafe filledBuffer(call, size: 512, body)
    } catch let error where error.errno == ERANGE {
      return try unsafe filledBuffer(call, size: 65536, body)
    }
  }

  private func filledBuffer(
    _ call: SystemCall, size: Int, _ body: (UnsafeMutablePointer<CChar>?, Int) -> Int
  ) throws(SystemError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: size)
    let count = try checked(call) {
      unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe body($0.baseAddress, $0.count) }
      }
    }
    buffer.removeLast(size - count)
    return buffer
  }
}
