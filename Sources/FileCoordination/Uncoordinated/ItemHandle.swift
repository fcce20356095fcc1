internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Holds on to an item itself, wherever it's moved to.
///
/// An open descriptor without access to the contents (`O_PATH`, open(2)): the kernel shows where the item is, by
/// proc_pid_fd(5). While it's open the file system can't be unmounted.
///
/// A program may present more items than it may have files open. So handles take no more than ``shareOfDescriptors`` of
/// its descriptors. Further ones keep only the identity of the item, and find it only where it's expected.
final class ItemHandle: Sendable {
  let identity: FileIdentity
  let kind: FileKind
  private let files: any FileSystem
  private let path: ItemPath
  /// Absent when the process has none to spare.
  private let descriptor: FileDescriptor?

  /// Handles take one in so many of the descriptors that the process may have.
  static let shareOfDescriptors = 4
  private static let openCount = Atomic<Int>(0)
  private static let deletionMark = Array(" (deleted)".utf8)

  /// - Returns: `nil` when nothing is there, or when it can't be inspected.
  init?(_ path: ItemPath, in files: any FileSystem) {
    let opened = Self.open(path, in: files)
    let status =
      if let opened { try? files.status(of: opened) } else { (try? files.statusIfPresent(of: path.systemPath)) ?? nil }
    guard let status else {
      if let opened { Self.close(opened, in: files) }
      return nil
    }
    self.files = files
    self.path = path
    descriptor = opened
    identity = status.identity
    kind = status.kind
  }

  deinit { if let descriptor { Self.close(descriptor, in: files) } }

  private static func open(_ path: ItemPath, in files: any FileSystem) -> FileDescriptor? {
    let count = openCount.wrappingAdd(1, ordering: .relaxed).newValue
    if count <= HostProcess.descriptorCountMax / shareOfDescriptors,
      let opened = try? files.open(path.systemPath, at: .workingDirectory, flags: [.pathOnly, .noFollow], mode: 0)
    {
      return opened
    }
    openCount.wrappingSubtract(1, ordering: .relaxed)
    return nil
  }

  private static func close(_ descriptor: FileDescriptor, in files: any FileSystem) {
    try? files.close(descriptor)
    openCount.wrappingSubtract(1, ordering: .relaxed)
  }

  /// Whether the item is found wherever it goes.
  var isHeld: Bool { descriptor != nil }

  /// Where the item is now; `nil` when it's gone, or out of sight.
  var currentPath: ItemPath? { currentPath(orAt: nil) }

  /// Where the item is now.
  ///
  /// - Parameter place: Where it may have gone, for an item that isn't held.
  /// - Returns: Its path; `nil` when it's gone, or out of sight.
  func currentPath(orAt place: ItemPath?) -> ItemPath? {
    guard let descriptor else { return [path, place].compactMap { $0 }.first { isHere($0.systemPath) } }
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
