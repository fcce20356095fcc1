/// The kernel calls that go through a ``FileSystem``, by their manual page.
///
/// One case per requirement of the protocol; a script uses them to say which call fails.
package enum SystemCall: String, Hashable, Sendable, CaseIterable {
  /// Opens a file.
  case open = "openat(2)"
  /// Opens a file unless a symbolic link is on the way.
  case openWithoutSymbolicLinks = "openat2(2)"
  /// Closes a descriptor.
  case close = "close(2)"
  /// Locks a file.
  case lock = "flock(2)"
  /// Reads bytes.
  case read = "read(2)"
  /// Writes bytes.
  case write = "write(2)"
  /// Moves the read and write position.
  case seek = "lseek(2)"
  /// Sets the size of a file.
  case truncate = "ftruncate(2)"
  /// Writes a file's data and metadata to the disk.
  case synchronize = "fsync(2)"
  /// Shares the contents of a file with another one.
  case clone = "ioctl_ficlone(2)"
  /// Copies bytes between two files inside the kernel.
  case copyRange = "copy_file_range(2)"
  /// Reads the status of an open file.
  case descriptorStatus = "fstat(2)"
  /// Reads the status of a file by name.
  case status = "statx(2)"
  /// Asks whether the permissions of a file let this process write to it.
  case writePermission = "faccessat(2)"
  /// Renames.
  case rename = "rename(2)"
  /// Makes a hard link.
  case link = "linkat(2)"
  /// Removes a name.
  case unlink = "unlinkat(2)"
  /// Makes a directory.
  case makeDirectory = "mkdirat(2)"
  /// Makes a FIFO, socket or device node.
  case makeNode = "mknodat(2)"
  /// Reads the target of a symbolic link.
  case readLink = "readlinkat(2)"
  /// Makes a symbolic link.
  case makeSymbolicLink = "symlinkat(2)"
  /// Reads a batch of directory entries.
  case readDirectory = "getdents(2)"
  /// Sets permission bits.
  case setMode = "fchmod(2)"
  /// Sets the owner of an open file.
  case setDescriptorOwner = "fchown(2)"
  /// Sets the owner of a file by name.
  case setOwner = "fchownat(2)"
  /// Sets the modification time of an open file.
  case setDescriptorTime = "futimens(3)"
  /// Sets the modification time of a file by name.
  case setTime = "utimensat(2)"
  /// Lists the names of extended attributes.
  case listAttributes = "flistxattr(2)"
  /// Reads an extended attribute.
  case attribute = "fgetxattr(2)"
  /// Reads an extended attribute of a file by name.
  case attributeByName = "lgetxattr(2)"
  /// Sets an extended attribute of a file by name.
  case setAttributeByName = "lsetxattr(2)"
  /// Sets an extended attribute.
  case setAttribute = "fsetxattr(2)"
  /// Removes an extended attribute.
  case removeAttribute = "fremovexattr(2)"
}
