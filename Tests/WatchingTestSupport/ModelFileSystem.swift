import Glibc
package import SystemInterface

/// A file system in memory, which answers the calls that a core's hands make, and refuses all others.
package protocol ModelFileSystem: FileSystem {}

extension ModelFileSystem {
  package func unknown(_ call: String) -> SystemError { SystemError(call: call, errno: ENOSYS) }

  package func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws(SystemError) -> Int {
    throw unknown("read")
  }
  package func lock(_ descriptor: FileDescriptor) throws(SystemError) { throw unknown("lock") }
  package func unlock(_ descriptor: FileDescriptor) throws(SystemError) { throw unknown("unlock") }
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
    of path: SystemPath, at directory: FileDescriptor, to time: Int64?
  ) throws(SystemError) { throw unknown("setModificationTime") }
  package func extendedAttributes(of descriptor: FileDescriptor) throws(SystemError) -> [ExtendedAttributeName] {
    throw unknown("extendedAttributes")
  }
  package func extendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) -> [UInt8] { throw unknown("extendedAttribute") }
  package func extendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath
  ) throws(SystemError) -> [UInt8] { throw unknown("extendedAttribute") }
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath, to value: [UInt8]
  ) throws(SystemError) { throw unknown("setExtendedAttribute") }
  package func setExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor, to value: [UInt8]
  ) throws(SystemError) { throw unknown("setExtendedAttribute") }
  package func removeExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) { throw unknown("removeExtendedAttribute") }
}
