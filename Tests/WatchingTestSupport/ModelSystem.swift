package import FileWatching
import Glibc
package import SystemInterface

/// The doors of a ``ModelDisk``, through which an operation may occur right before any call.
///
/// `@unchecked Sendable`: for the one thread that explores.
package final class ModelSystem: FileSystem, FileWatcher, @unchecked Sendable {
  package var disk: ModelDisk
  /// What happens before which call.
  private let plan: [(call: Int, operation: ModelDisk.Operation)]
  package private(set) var callCount = 0
  /// What has happened, and how the files were right before.
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

  private func find(_ path: SystemPath, _ directory: FileDescriptor) throws(SystemError) -> Int {
    let start = directory == .workingDirectory ? ModelDisk.root : disk.places[directory.rawValue] ?? 0
    switch disk.node(at: path, from: start) {
    case .success(let node): return node
    case .failure(let error): throw error.error(path)
    }
  }

  // MARK: Files

  package func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor {
    enter()
    let node = try find(path, directory)
    if disk.nodes[node]?.kind != .directory { throw ModelError.notDirectory.error(path) }
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

  // MARK: Unused calls

  private func unknown(_ call: String) -> SystemError { SystemError(call: call, errno: ENOSYS) }

  package func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws(SystemError) -> Int {
    throw unknown("read")
  }
  package func write(_ descriptor: FileDescriptor, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
    throw unknown("write")
  }
  package func seek(_ descriptor: FileDescriptor, to offset: Int64, _ origin: SeekOrigin) throws(SystemError) -> Int64 {
    throw unknown("seek")
  }
  package func truncate(_ descriptor: FileDescriptor, to size: Int64) throws(SystemError) { throw unknown("truncate") }
  package func synchronize(_ descriptor: FileDescriptor) throws(SystemError) { throw unknown("synchronize") }
  package func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(SystemError) { throw unknown("clone") }
  package func copyRange(
    from source: FileDescriptor, to target: FileDescriptor, count: Int
  ) throws(SystemError) -> Int { throw unknown("copyRange") }
  package func checkWritePermission(of path: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    throw unknown("checkWritePermission")
  }
  package func rename(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    _ mode: RenameMode
  ) throws(SystemError) { throw unknown("rename") }
  package func link(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    links: LinkTreatment
  ) throws(SystemError) { throw unknown("link") }
  package func unlink(_ path: SystemPath, at directory: FileDescriptor, _ kind: UnlinkKind) throws(SystemError) {
    throw unknown("unlink")
  }
  package func makeDirectory(_ path: SystemPath, at directory: FileDescriptor, mode: UInt32) throws(SystemError) {
    throw unknown("makeDirectory")
  }
  package func makeNode(_ path: SystemPath, at directory: FileDescriptor, like status: FileStatus) throws(SystemError) {
    throw unknown("makeNode")
  }
  package func makeSymbolicLink(
    _ path: SystemPath, at directory: FileDescriptor, target: SystemPath
  ) throws(SystemError) { throw unknown("makeSymbolicLink") }
  package func setMode(of descriptor: FileDescriptor, to mode: UInt32) throws(SystemError) { throw unknown("setMode") }
  package func setOwner(of descriptor: FileDescriptor, to owner: UInt32, group: UInt32) throws(SystemError) {
    throw unknown("setOwner")
  }
  package func setOwner(
    of path: SystemPath, at directory: FileDescriptor, to owner: UInt32, group: UInt32
  ) throws(SystemError) { throw unknown("setOwner") }
  package func setModificationTime(of descriptor: FileDescriptor, to time: Int64) throws(SystemError) {
    throw unknown("setModificationTime")
  }
  package func setModificationTime(
    of path: SystemPath, at directory: FileDescriptor, to time: Int64
  ) throws(SystemError) { throw unknown("setModificationTime") }
  package func extendedAttributes(of descriptor: FileDescriptor) throws(SystemError) -> [ExtendedAttributeName] {
    throw unknown("extendedAttributes")
  }
  package func extendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) -> [UInt8] { throw unknown("extendedAttribute") }
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor, to value: [UInt8]
  ) throws(SystemError) { throw unknown("setExtendedAttribute") }
  package func removeExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) { throw unknown("removeExtendedAttribute") }
}
