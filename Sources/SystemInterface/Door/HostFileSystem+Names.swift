internal import CSystemShims
internal import Glibc

extension HostFileSystem {
  /// fstat(2).
  package func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus {
    var raw = stat()
    try checked(.descriptorStatus) { unsafe fstat(descriptor.rawValue, &raw) }
    return FileStatus(raw)
  }

  /// Calls statx(2), for the time of creation.
  package func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus {
    var raw = shim_status()
    let flags = links == .follow ? 0 : AT_SYMLINK_NOFOLLOW
    try checked(.status, [path]) {
      unsafe path.withCString { unsafe shim_read_status(directory.rawValue, $0, flags, &raw) }
    }
    return FileStatus(raw)
  }

  /// The working directory of the process, see getcwd(3).
  ///
  /// - Returns: Its absolute path.
  /// - Throws: ENOENT when it has been removed; any other error of getcwd(3).
  package func workingDirectory() throws(SystemError) -> SystemPath {
    guard let path = unsafe getcwd(nil, 0) else { throw SystemError(call: "getcwd(3)", errno: errno) }
    defer { unsafe free(path) }
    return unsafe SystemPath(bytes: UnsafeRawBufferPointer(start: path, count: strlen(path)))
  }

  /// faccessat(2), for the effective user.
  package func checkWritePermission(of path: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    try checked(.writePermission, [path]) {
      unsafe path.withCString { unsafe faccessat(directory.rawValue, $0, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) }
    }
  }

  /// rename(2).
  package func rename(
    _ source: SystemPath, at sourceDirectory: FileDescriptor,
    to target: SystemPath, at targetDirectory: FileDescriptor, _ mode: RenameMode
  ) throws(SystemError) {
    let flags: Int =
      switch mode {
      case .replacing: 0
      case .exclusive: Int(shim_RENAME_NOREPLACE)
      case .exchange: Int(shim_RENAME_EXCHANGE)
      }
    try checked(.rename, [source, target]) {
      unsafe source.withCString { from in
        unsafe target.withCString { to in
          unsafe renameat2(sourceDirectory.rawValue, from, targetDirectory.rawValue, to, UInt32(flags))
        }
      }
    }
  }

  /// linkat(2).
  package func link(
    _ source: SystemPath, at sourceDirectory: FileDescriptor,
    to target: SystemPath, at targetDirectory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) {
    let flags = links == .follow ? AT_SYMLINK_FOLLOW : 0
    try checked(.link, [source, target]) {
      unsafe source.withCString { from in
        unsafe target.withCString { to in
          unsafe linkat(sourceDirectory.rawValue, from, targetDirectory.rawValue, to, flags)
        }
      }
    }
  }

  /// unlinkat(2).
  package func unlink(_ path: SystemPath, at directory: FileDescriptor, _ kind: UnlinkKind) throws(SystemError) {
    let flags = kind == .emptyDirectory ? AT_REMOVEDIR : 0
    try checked(.unlink, [path]) {
      unsafe path.withCString { unsafe unlinkat(directory.rawValue, $0, flags) }
    }
  }

  /// mkdirat(2).
  package func makeDirectory(_ path: SystemPath, at directory: FileDescriptor, mode: UInt32) throws(SystemError) {
    try checked(.makeDirectory, [path]) {
      unsafe path.withCString { unsafe mkdirat(directory.rawValue, $0, mode_t(mode)) }
    }
  }

  /// mknodat(2).
  package func makeNode(
    _ path: SystemPath, at directory: FileDescriptor, like status: FileStatus
  ) throws(SystemError) {
    try checked(.makeNode, [path]) {
      unsafe path.withCString {
        unsafe mknodat(
          directory.rawValue, $0, status.kind.modeBits | status.mode, dev_t(status.representedDevice))
      }
    }
  }

  /// readlinkat(2).
  package func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = try checked(.readLink, [path]) {
      unsafe path.withCString { name in
        unsafe buffer.withUnsafeMutableBytes { bytes in
          unsafe bytes.withMemoryRebound(to: CChar.self) { text in
            guard let start = text.baseAddress else { return -1 }
            return unsafe readlinkat(directory.rawValue, name, start, text.count)
          }
        }
      }
    }
    return SystemPath(bytes: buffer[..<count])
  }

  /// symlinkat(2).
  package func makeSymbolicLink(
    _ path: SystemPath, at directory: FileDescriptor, target: SystemPath
  ) throws(SystemError) {
    try checked(.makeSymbolicLink, [target, path]) {
      unsafe target.withCString { text in
        unsafe path.withCString { unsafe symlinkat(text, directory.rawValue, $0) }
      }
    }
  }
}
