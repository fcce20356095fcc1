package import FileWatching
import Glibc
package import SystemInterface

/// The doors of a ``ModelDisk``, through which an operation may occur right before any call.
///
/// `@unchecked Sendable`: for the one thread that explores.
package final class ModelSystem: ModelFileSystem, FileWatcher, @unchecked Sendable {
  package var disk: ModelDisk
  /// The operations of other programs, each with the number of the system call before which it occurs.
  private let plan: [(call: Int, operation: ModelDisk.Operation)]
  package private(set) var callCount = 0
  /// The operations that were done, each with the files right before it.
  package private(set) var happened: [(operation: ModelDisk.Operation, before: ModelDisk)] = []

  package init(_ disk: ModelDisk, _ plan: [(call: Int, operation: ModelDisk.Operation)] = []) {
    self.disk = disk
    self.plan = plan
  }

  private func enter() {
    for (call, operation) in plan where call == callCount {
      happened.append((operation, disk))
      disk.perform(operation)
    }
    callCount += 1
  }

  private func find(
    _ path: SystemPath, _ directory: FileDescriptor, followsLinks: Bool = true
  ) throws(SystemError) -> Int {
    let start = directory == .workingDirectory ? ModelDisk.root : disk.places[directory.rawValue] ?? 0
    switch disk.node(at: path, from: start, followsLinks: followsLinks) {
    case .success(let node): return node
    case .failure(let error): throw error.error(path)
    }
  }

  // MARK: Files

  package func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor {
    enter()
    let node = try find(path, directory, followsLinks: false)
    if flags.contains(.directory), disk.nodes[node]?.kind != .directory { throw ModelError.notDirectory.error(path) }
    return FileDescriptor(rawValue: disk.open(node))
  }

  package func open(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags, mode: UInt32
  ) throws(SystemError) -> FileDescriptor {
    enter()
    let node = try find(path, directory)
    if flags.contains(.directory), disk.nodes[node]?.kind != .directory { throw ModelError.notDirectory.error(path) }
    return FileDescriptor(rawValue: disk.open(node))
  }

  package func close(_ descriptor: FileDescriptor) throws(SystemError) {
    enter()
    disk.close(descriptor.rawValue)
  }

  package func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus {
    enter()
    guard let status = disk.status(of: try find(path, directory)) else { throw ModelError.missing.error(path) }
    return status
  }

  package func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus {
    enter()
    guard let status = disk.places[descriptor.rawValue].flatMap({ disk.status(of: $0) }) else {
      throw unknown("fstat(2)")
    }
    return status
  }

  /// Where an open file is, as proc_pid_fd(5) tells.
  package func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath {
    enter()
    let number = path.description.split(separator: "/").last.flatMap { Int32($0) }
    guard let node = number.flatMap({ disk.places[$0] }) else { throw ModelError.missing.error(path) }
    return disk.path(of: node) ?? SystemPath("/gone (deleted)")
  }

  package func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    enter()
    guard let node = disk.places[descriptor.rawValue], disk.readPlaces.insert(descriptor.rawValue).inserted else {
      return nil
    }
    return (disk.nodes[node]?.children ?? [:]).sorted { $0.key < $1.key }.map {
      DirectoryEntry(name: SystemPath($0.key), kind: disk.nodes[$0.value]?.kind)
    }
  }

  // MARK: Watches

  package func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
    enter()
    let opened = path.openDirectory.flatMap { disk.places[$0.rawValue] }
    let node = if let opened { opened } else { try find(path, .workingDirectory) }
    if isDirectory, disk.nodes[node]?.kind != .directory { throw ModelError.notDirectory.error(path) }
    let isLate = disk.fault == .watchesLate && path.openDirectory != nil
    guard let watch = disk.watch(node, interest, isLate: isLate) else {
      throw SystemError(call: "inotify_add_watch(2)", paths: [path], errno: ENOSPC)
    }
    return watch
  }

  package func unwatch(_ watch: WatchID) {
    enter()
    disk.unwatch(watch)
  }

  package func takeEvents() -> [WatchEvent] {
    enter()
    return disk.takeEvents()
  }

  package func waitForEvents() {}
  package func wake() {}
}
