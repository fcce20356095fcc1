import SystemInterface
import WatchingTestSupport

/// The doors of a ``NameDisk``, through which an operation may occur right before any call.
///
/// `@unchecked Sendable`: for the one thread that explores.
final class NameSystem: ModelFileSystem, NameChangeQueue, @unchecked Sendable {
  var disk: NameDisk
  /// An operation of another program, and the number of the system call before which it occurs.
  private let plan: (call: Int, operation: NameDisk.Operation)?
  private(set) var callCount = 0

  init(_ disk: NameDisk, _ plan: (call: Int, operation: NameDisk.Operation)?) {
    self.disk = disk
    self.plan = plan
  }

  private func enter() {
    if let plan, plan.call == callCount { disk.perform(plan.operation) }
    callCount += 1
  }

  // MARK: Changes

  var isEmpty: Bool { disk.queue.isEmpty }

  func watch(_ directory: SystemPath) throws(SystemError) -> NameWatch {
    enter()
    return try disk.watch(directory)
  }

  func unwatch(_ watch: NameWatch) {
    enter()
    disk.unwatch(watch)
  }

  func takeChanges() -> [NameChange] {
    enter()
    return disk.takeChanges()
  }

  func takeMountChange() -> Bool {
    enter()
    return disk.takeMountChange()
  }

  // MARK: Files

  func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus {
    enter()
    return try disk.status(of: path)
  }

  func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath {
    enter()
    return try disk.readLink(path)
  }

  func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus { throw unknown("fstat") }
  func open(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags, mode: UInt32
  ) throws(SystemError) -> FileDescriptor { throw unknown("open") }
  func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor { throw unknown("openWithoutSymbolicLinks") }
  func close(_ descriptor: FileDescriptor) throws(SystemError) { throw unknown("close") }
  func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    throw unknown("readDirectory")
  }
}
