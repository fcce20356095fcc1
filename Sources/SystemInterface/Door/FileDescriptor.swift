internal import CSystemShims
internal import Glibc

/// A number that names an open file in this process.
///
/// A plain value: nothing closes it but ``FileSystem/close(_:)``.
package struct FileDescriptor: Hashable, Sendable {
  /// The number the kernel knows.
  package let rawValue: Int32

  /// Wraps a number the kernel handed out.
  ///
  /// - Parameter rawValue: The number.
  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Stands for the working directory in calls that take a directory and a path.
  package static let workingDirectory = FileDescriptor(rawValue: AT_FDCWD)
}

/// How to open a file; every descriptor is closed on exec besides.
///
/// - Note: open(2).
package struct OpenFlags: OptionSet, Hashable, Sendable {
  /// The flags as the kernel knows them.
  package let rawValue: Int32

  /// Creates a set of flags.
  ///
  /// - Parameter rawValue: The flags as the kernel knows them.
  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Open for writing only; without it and ``readWrite``, for reading only.
  package static let writeOnly = OpenFlags(rawValue: O_WRONLY)
  /// Open for reading and writing.
  package static let readWrite = OpenFlags(rawValue: O_RDWR)
  /// Create the file when it is missing.
  package static let create = OpenFlags(rawValue: O_CREAT)
  /// Fail with EEXIST when the file is there.
  package static let exclusive = OpenFlags(rawValue: O_EXCL)
  /// Write at the end of the file, wherever that is by then.
  package static let append = OpenFlags(rawValue: O_APPEND)
  /// Empty the file.
  package static let truncate = OpenFlags(rawValue: O_TRUNC)
  /// Fail with ENOTDIR when it isn't a directory.
  package static let directory = OpenFlags(rawValue: O_DIRECTORY)
  /// Fail with ELOOP when the last component is a symbolic link.
  package static let noFollow = OpenFlags(rawValue: O_NOFOLLOW)
  /// Don't wait for the other end of a FIFO.
  package static let nonBlocking = OpenFlags(rawValue: O_NONBLOCK)
  /// Name the place only; contents can't be read or written.
  package static let pathOnly = OpenFlags(rawValue: Int32(shim_O_PATH))
  /// Make a file without a name in the directory; linkat(2) can give it one.
  package static let unnamed = OpenFlags(rawValue: Int32(shim_O_TMPFILE))
}
