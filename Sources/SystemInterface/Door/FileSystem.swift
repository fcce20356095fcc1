/// The door to the files of the kernel: one requirement per system call, so that a twin can fail any of them.
///
/// Every path is taken relative to a directory; pass ``FileDescriptor/workingDirectory`` for absolute paths.
/// Requirements may be called from any thread, block for as long as the kernel does, and throw ``SystemError`` with
/// the error number of the call. A call interrupted by a signal is made again, except `close`, which has closed the
/// descriptor by then (close(2), "Dealing with error returns").
package protocol FileSystem: Sendable {
  // MARK: Descriptors

  /// Opens a file, creating it with `mode` (less the umask) when the flags say so. See openat(2).
  func open(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags, mode: UInt32
  ) throws(SystemError) -> FileDescriptor

  /// Opens a file; ELOOP when a symbolic link is on the way, ENOSYS before Linux 5.6. See openat2(2).
  ///
  /// With ``OpenFlags/pathOnly`` and ``OpenFlags/noFollow`` the last component may be a symbolic link.
  func openWithoutSymbolicLinks(
    _ path: SystemPath, at directory: FileDescriptor, flags: OpenFlags
  ) throws(SystemError) -> FileDescriptor

  /// Closes a descriptor, which must not be used afterwards, even when this throws. See close(2).
  func close(_ descriptor: FileDescriptor) throws(SystemError)

  /// Locks an open file or directory for this descriptor alone, until it's closed; EAGAIN when another one has it locked.
  ///
  /// Keeps out only programs that lock it too. See flock(2).
  func lock(_ descriptor: FileDescriptor) throws(SystemError)

  /// Ends the lock of an open file or directory before it's closed. See flock(2).
  func unlock(_ descriptor: FileDescriptor) throws(SystemError)

  // MARK: Contents

  /// Reads at most `buffer.count` bytes to the start of `buffer` and returns how many; 0 at the end. See read(2).
  func read(_ descriptor: FileDescriptor, into buffer: inout [UInt8]) throws(SystemError) -> Int

  /// Writes a prefix of `bytes` and returns how many it was. See write(2).
  func write(_ descriptor: FileDescriptor, _ bytes: ArraySlice<UInt8>) throws(SystemError) -> Int

  /// Moves the position and returns it, counted from the start of the file. See lseek(2).
  func seek(_ descriptor: FileDescriptor, to offset: Int64, _ origin: SeekOrigin) throws(SystemError) -> Int64

  /// Cuts or extends (with a hole) a file to `size` bytes. See ftruncate(2).
  func truncate(_ descriptor: FileDescriptor, to size: Int64) throws(SystemError)

  /// Waits until data and metadata of a file, or the names in a directory, are on the disk. See fsync(2).
  func synchronize(_ descriptor: FileDescriptor) throws(SystemError)

  /// Waits until all of these are on the disk, in whatever order they get there.
  ///
  /// An error is that of one of them; the others may be on the disk or not. File systems that can't synchronize a directory (EINVAL) are
  /// taken at their word.
  func synchronizeAll(_ descriptors: [FileDescriptor]) throws(SystemError)

  /// Makes `target` share the whole contents of `source`; EOPNOTSUPP where that can't be done. See ioctl_ficlone(2).
  func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(SystemError)

  /// Copies at most `count` bytes between two positions and returns how many. See copy_file_range(2).
  func copyRange(
    from source: FileDescriptor, to target: FileDescriptor, count: Int
  ) throws(SystemError) -> Int

  // MARK: Names

  /// Reads the status of an open file. See fstat(2).
  func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus

  /// Reads the status of a file by name. See statx(2).
  func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus

  /// Throws EACCES when the permissions of a file don't let this process write to it, not following a link. See
  /// faccessat(2).
  func checkWritePermission(of path: SystemPath, at directory: FileDescriptor) throws(SystemError)

  /// Renames; EINVAL where the file system doesn't support the mode. See renameat2(2).
  func rename(
    _ source: SystemPath, at sourceDirectory: FileDescriptor,
    to target: SystemPath, at targetDirectory: FileDescriptor, _ mode: RenameMode
  ) throws(SystemError)

  /// Gives a file another name; EEXIST when the name is taken. See linkat(2).
  func link(
    _ source: SystemPath, at sourceDirectory: FileDescriptor,
    to target: SystemPath, at targetDirectory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError)

  /// Removes a name; EISDIR or ENOTDIR when it stands for the other kind. See unlinkat(2).
  func unlink(_ path: SystemPath, at directory: FileDescriptor, _ kind: UnlinkKind) throws(SystemError)

  /// Makes a directory with `mode` less the umask. See mkdirat(2).
  func makeDirectory(_ path: SystemPath, at directory: FileDescriptor, mode: UInt32) throws(SystemError)

  /// Makes a node of the kind, permissions (less the umask) and represented device of `status`. See mknodat(2).
  func makeNode(_ path: SystemPath, at directory: FileDescriptor, like status: FileStatus) throws(SystemError)

  /// Reads the target of a symbolic link; EINVAL when it isn't one. See readlinkat(2).
  func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath

  /// Makes a symbolic link. See symlinkat(2).
  func makeSymbolicLink(
    _ path: SystemPath, at directory: FileDescriptor, target: SystemPath
  ) throws(SystemError)

  /// Reads the next batch of names, without `.` and `..`; `nil` after the last one. See getdents(2).
  func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]?

  // MARK: Attributes

  /// Sets permission, set-id and sticky bits, also through a descriptor that names the place only. See fchmod(2).
  func setMode(of descriptor: FileDescriptor, to mode: UInt32) throws(SystemError)

  /// Sets owner and group of an open file. See fchown(2).
  func setOwner(of descriptor: FileDescriptor, to owner: UInt32, group: UInt32) throws(SystemError)

  /// Sets owner and group of a file by name; of the link itself when it is one. See fchownat(2).
  func setOwner(
    of path: SystemPath, at directory: FileDescriptor, to owner: UInt32, group: UInt32
  ) throws(SystemError)

  /// Sets the modification time, in nanoseconds since 1970, of an open file. See futimens(3).
  func setModificationTime(of descriptor: FileDescriptor, to time: Int64) throws(SystemError)

  /// Sets the modification time, in nanoseconds since 1970, of a file or of the link itself. See utimensat(2).
  ///
  /// Only the owner may do that. With `nil` both times become the present one, for which the right to write is enough.
  func setModificationTime(
    of path: SystemPath, at directory: FileDescriptor, to time: Int64?
  ) throws(SystemError)

  /// Lists the names of the extended attributes this process may see. See flistxattr(2).
  func extendedAttributes(of descriptor: FileDescriptor) throws(SystemError) -> [ExtendedAttributeName]

  /// Reads an extended attribute; ENODATA when it isn't there. See fgetxattr(2).
  func extendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError) -> [UInt8]

  /// Reads an extended attribute of a file by name, or of the link itself; ENODATA when it isn't there. See lgetxattr(2).
  func extendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath
  ) throws(SystemError) -> [UInt8]

  /// Sets an extended attribute of a file by name, or of the link itself. See lsetxattr(2).
  func setExtendedAttribute(
    _ name: ExtendedAttributeName, ofItemAt path: SystemPath, to value: [UInt8]
  ) throws(SystemError)

  /// Sets an extended attribute. See fsetxattr(2).
  func setExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor, to value: [UInt8]
  ) throws(SystemError)

  /// Removes an extended attribute. See fremovexattr(2).
  func removeExtendedAttribute(
    _ name: ExtendedAttributeName, of descriptor: FileDescriptor
  ) throws(SystemError)
}

extension FileSystem {
  /// One call after the other.
  package func synchronizeAll(_ descriptors: [FileDescriptor]) throws(SystemError) {
    for descriptor in descriptors { try synchronizeDirectory(descriptor) }
  }
}

/// Where an offset is counted from.
///
/// - Note: lseek(2).
package enum SeekOrigin: Hashable, Sendable {
  /// The start of the file.
  case start
  /// The next byte that isn't in a hole, at or after the offset; ENXIO when there is none.
  case data
  /// The next hole, at or after the offset; the end of the file counts as one.
  case hole
}

/// Whether a call acts on a symbolic link or on what it points to.
package enum LinkTreatment: Hashable, Sendable {
  /// Act on the target.
  case follow
  /// Act on the link itself.
  case noFollow
}

/// The behaviour of a rename when the new name is taken.
///
/// - Note: renameat2(2).
package enum RenameMode: Hashable, Sendable {
  /// Replace what is there, if rename(2) allows it.
  case replacing
  /// Fail with EEXIST.
  case exclusive
  /// Swap the two.
  case exchange
}

/// Which kind of name to remove.
///
/// - Note: unlinkat(2).
package enum UnlinkKind: Hashable, Sendable {
  /// Anything but a directory.
  case file
  /// An empty directory.
  case emptyDirectory
}

/// The name of an extended attribute, with its name space, such as `user.comment`.
///
/// - Note: xattr(7).
package struct ExtendedAttributeName: Hashable, Sendable, CustomStringConvertible {
  /// The bytes of the name.
  package let bytes: [UInt8]

  /// Creates a name.
  ///
  /// - Parameter bytes: The bytes of the name.
  package init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// Creates a name.
  ///
  /// - Parameter string: The name with its name space.
  package init(_ string: String) {
    self.bytes = Array(string.utf8)
  }

  /// The record of a file as a version that's kept of an item.
  ///
  /// It's the file's own: another file that gets its metadata doesn't get that.
  package static let versionRecord = ExtendedAttributeName("user.file-coordination.version")

  /// The name as text.
  package var description: String {
    String(decoding: bytes, as: UTF8.self)
  }
}
