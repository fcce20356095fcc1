internal import FileAccessArbiter
internal import SystemInterface

/// Holds on to an item itself, wherever it's moved to.
///
/// An open descriptor without access to the contents (`O_PATH`, open(2)): the kernel tells where the item is, by
/// proc_pid_fd(5). While it's open the file system can't be unmounted.
final class ItemHandle: Sendable {
  let identity: FileIdentity
  let kind: FileKind
  private let files: any FileSystem
  private let descriptor: FileDescriptor

  private static let deletionMark = Array(" (deleted)".utf8)

  /// - Returns: `nil` when nothing is there, or when it can't be opened.
  init?(_ path: ItemPath, in files: any FileSystem) {
    let opened = try? files.open(path.systemPath, at: .workingDirectory, flags: [.pathOnly, .noFollow], mode: 0)
    guard let opened else { return nil }
    guard let status = try? files.status(of: opened) else {
      try? files.close(opened)
      return nil
    }
    self.files = files
    descriptor = opened
    identity = status.identity
    kind = status.kind
  }

  deinit { try? files.close(descriptor) }

  /// Where the item is now; `nil` when it's gone, or out of sight.
  var currentPath: ItemPath? {
    let door = SystemPath("/proc/self/fd/\(descriptor.rawValue)")
    guard let target = try? files.readLink(door, at: .workingDirectory), target.isAbsolute else { return nil }
    var path = target
    if !isHere(path) {
      // One that's gone is marked, but a name may end like the mark.
      guard path.bytes.count > Self.deletionMark.count,
        path.bytes.suffix(Self.deletionMark.count) == Self.deletionMark[...]
      else { return nil }
      path = SystemPath(bytes: path.bytes.dropLast(Self.deletionMark.count))
      if !isHere(path) { return nil }
    }
    return ItemPath(canonical: path.bytes)
  }

  private func isHere(_ path: SystemPath) -> Bool {
    ((try? files.statusIfPresent(of: path)) ?? nil)?.identity == identity
  }
}
