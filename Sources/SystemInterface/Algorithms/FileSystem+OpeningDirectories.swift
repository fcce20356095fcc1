internal import Glibc

extension SystemError {
  /// Whether the error says that a path doesn't lead to a directory any more, or leads elsewhere.
  package var isDisplacement: Bool { isOne(of: ENOENT, ENOTDIR, ELOOP, ESTALE, ENODEV) }
}

extension FileSystem {
  /// Opens a directory by an absolute path of any length, without following symbolic links.
  ///
  /// - Parameters:
  ///   - path: The path; may be longer than the kernel takes at once.
  ///   - flags: Flags besides those that refuse anything but a directory.
  /// - Returns: A descriptor that the caller closes.
  /// - Throws: Errors of openat2(2); before Linux 5.6 of openat(2), which follows links on the way.
  package func openDirectory(_ path: SystemPath, flags: OpenFlags = []) throws(SystemError) -> FileDescriptor {
    var place = FileDescriptor.workingDirectory
    var rest = path.bytes[...]
    while true {
      let part = SystemPath(bytes: Self.prefix(of: rest))
      rest = rest.dropFirst(part.bytes.count).drop { $0 == SystemPath.separator }
      let next: FileDescriptor
      do {
        defer { if place != .workingDirectory { try? close(place) } }
        next = try openPart(part, at: place, flags: rest.isEmpty ? flags : .pathOnly)
      } catch {
        throw error.located(in: path.parent, subject: path)
      }
      if rest.isEmpty { return next }
      place = next
    }
  }

  private func openPart(
    _ path: SystemPath, at place: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor {
    // openat2(2) refuses flags that have no meaning beside O_PATH; openat(2) ignores them.
    let all: OpenFlags = [flags, .directory, .noFollow, flags.contains(.pathOnly) ? [] : .nonBlocking]
    do {
      return try openWithoutSymbolicLinks(path, at: place, flags: all)
    } catch let error where error.isUnsupported {
      return try open(path, at: place, flags: all, mode: 0)
    }
  }

  /// As many components as the kernel takes at once: PATH_MAX is 4096, with the NUL.
  private static func prefix(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if bytes.count < 4096 { return bytes }
    let part = bytes.prefix(4095)
    return part.lastIndex(of: SystemPath.separator).map { part[..<$0] } ?? part
  }
}
