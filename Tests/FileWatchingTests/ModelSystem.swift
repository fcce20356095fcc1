import FileWatching
import Glibc
import SystemInterface

/// The doors of a ``ModelDisk``, through which an operation may occur right before any call.
///
/// `@unchecked Sendable`: for the one thread that explores.
final class ModelSystem: FileSystem, FileWatcher, @unchecked Sendable {
  var disk: ModelDisk
  /// The operations, and the call before which each occurs.
  private let plan: [(call: Int, operation: ModelDisk.Operation)]
  private(set) var callCount = 0

  init(_ disk: ModelDisk, _ plan: [(call: Int, operation: ModelDisk.Operation)] = []) {
    self.disk = disk
    self.plan = plan
  }

  private func enter() {
    for (call, operation) in plan where call == callCount { disk.perform(operation) }
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

  func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor {
    enter()
    let node = try find(path, directory)
    if disk.nodes[node]?.kind != .directory { throw ModelError.notDirectory.error(path) }
    return FileDescriptor(rawValue: disk.open(node))
  }

  func close(_ descriptor: FileDescriptor) throws(SystemError) {
    enter()
    disk.close(descriptor.rawValue)
  }

  func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus {
    enter()
    guard let status = disk.status(of: try find(path, directory)) else { throw ModelError.missing.error(path) }
    return status
  }

  func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    enter()
    guard let node = disk.places[descriptor.rawValue], disk.readPlaces.insert(descriptor.rawValue).inserted else {
      return nil
    }
    return (disk.nodes[node]?.children ?? [:]).sorted { $0.key < $1.key }.map {
      DirectoryEntry(name: SystemPath($0.key), kind: disk.nodes[$0.value]?.kind)
    }
  }

  // MARK: Watches

  func watch(_ path: SystemPath, _ interest: WatchInterest, isDirectory: Bool) throws(SystemError) -> WatchID {
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

  func unwatch(_ watch: WatchID) {
    enter()
    disk.unwatch(watch)
  }

  func takeEvents() -> [WatchEvent] {
    enter()
    return disk.takeEvents()
  }

  func waitForEvents() {}
  func wake() {}

  // MARK: Unused calls

  private func unknown(_ call: String) -> SystemError { SystemError(call: call, errno: ENOSYS) }

  func open(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags, mode: UInt32
  ) throws(SystemError) -> FileDescriptor { throw unknown("open") }
  func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws(SystemError) -> Int {
    throw unknown("read")
  }
  func write(_ descriptor: FileDescriptor, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int {
    throw unknown("write")
  }
  func seek(_ descriptor: FileDescriptor, to offset: Int64, _ origin: SeekOrigin) throws(SystemError) -> Int64 {
    throw unknown("seek")
  }
  func truncate(_ descriptor: FileDescriptor, to size: Int64) throws(SystemError) { throw unknown("truncate") }
  func synchronize(_ descriptor: FileDescriptor) throws(SystemError) { throw unknown("synchronize") }
  func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(SystemError) { throw unknown("clone") }
  func copyRange(
    from source: FileDescriptor, to target: FileDescriptor, count: Int
  ) throws(SystemError) -> Int { throw unknown("copyRange") }
  func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus { throw unknown("status") }
  func checkWritePermission(of path: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    throw unknown("checkWritePermission")
  }
  func rename(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    _ mode: RenameMode
  ) throws(SystemError) { throw unknown("rename") }
  func link(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    links: LinkTreatment
  ) throws(SystemError) { throw unknown("link") }
  func unlink(_ path: SystemPath, at directory: FileDescriptor, _ kind: UnlinkKind) throws(SystemError) {
    throw unknown("unlink")
  }
  func makeDirectory(_ path: SystemPath, at directory: FileDescriptor, mode: UInt32) throws(SystemError) {
    throw unknown("makeDirectory")
  }
  func makeNode(_ path: SystemPath, at directory: FileDescriptor, like status: FileStatus) throws(SystemError) {
    throw unknown("makeNode")
  }
  func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath {
    throw unknown("readLink")
  }
  func makeSymbolicLink(
    _ path: SystemPath, at directory: FileDescriptor, target: SystemPath
  ) throws(SystemError) { throw unknown("makeSymbolicLink") }
  func setMode(of descriptor: FileDescriptor, to mode: UInt32) throws(SystemError) { throw unknown("setMode") }
  func setOwner(of descriptor: FileDescriptor, to owner: UInt32, group: UInt32) throws(SystemError) {
    throw unknown("setOwner")
  }
  func setOwner(
    of path: SystemPath, at directory: FileDescriptor, to owner: UInt32, group: UInt32
  ) throws(SystemError) { throw unknown("setOwner") }
  func setModificationTime(of descriptor: FileDescriptor, to time: Int64) throws(SystemError) {
    throw unknown("setModificationTime")
  }
  func setModificationTime(
    of path: SystemPath, at directory: FileDescriptor, to time: Int64
  ) throws(SystemError) { throw unknown("setModificationTime") }
  func extendedAttributes(of descriptor: FileDescriptor) throws(SystemError) -> [ExtendedAttributeName] {
    throw unknown("extendedAttributes")
  }
  func extendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) -> [UInt8] { throw unknown("extendedAttribute") }
  func setExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor, to value: [UInt8]
  ) throws(SystemError) { throw unknown("setExtendedAttribute") }
  func removeExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) { throw unknown("removeExtendedAttribute") }
}
