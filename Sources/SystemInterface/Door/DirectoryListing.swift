/// A part of a directory's members, in one piece: for readers of millions of names.
package struct DirectoryListing: Sendable {
  /// One name, and the known facts of its file.
  package struct Member: Sendable {
    fileprivate let nameStart: UInt32
    fileprivate let nameCount: UInt8
    /// The kind of file that the name stands for, if the directory says it.
    package let kind: FileKind?
    /// Its inode, if the directory says it; that of the directory below a mount.
    package let inode: UInt64?
    /// The error number of statx(2); 0 if there was none.
    package let errorNumber: Int32
    /// The position of the results of statx(2); -1 if there are none.
    fileprivate let statusPlace: Int32
  }

  /// The members for which statx(2) is called.
  package enum Depth: Sendable {
    /// All of them.
    case statuses
    /// Directories, and members whose kind the directory doesn't have.
    case kinds
  }

  private var names: [UInt8] = []
  private var statuses: [FileStatus] = []
  package private(set) var members: [Member] = []

  package init() {}

  /// The bytes of a name.
  package func name(of member: Member) -> SystemPath {
    let start = Int(member.nameStart)
    return SystemPath(bytes: names[start..<(start + Int(member.nameCount))])
  }

  /// The results of statx(2), if it was called and succeeded.
  package func status(of member: Member) -> FileStatus? {
    member.statusPlace < 0 ? nil : statuses[Int(member.statusPlace)]
  }

  /// Calls `body` with the bytes of a name.
  @inline(__always)
  package func withName<Result>(of member: Member, _ body: (Span<UInt8>) -> Result) -> Result {
    let start = Int(member.nameStart)
    return body(names.span.extracting(start..<(start + Int(member.nameCount))))
  }

  /// Adds a member, whose name is of at most 255 bytes, as the kernel has it.
  mutating func append(
    _ name: UnsafeRawBufferPointer, kind: FileKind?, inode: UInt64?, status: FileStatus?, errorNumber: Int32
  ) {
    members.append(
      Member(
        nameStart: UInt32(names.count), nameCount: UInt8(name.count), kind: kind, inode: inode,
        errorNumber: errorNumber, statusPlace: status == nil ? -1 : Int32(statuses.count)))
    if let status { statuses.append(status) }
    unsafe names.append(contentsOf: name)
  }
}

extension FileSystem {
  /// Reads the next part of a directory.
  ///
  /// - Parameters:
  ///   - directory: An open directory.
  ///   - depth: The members whose status is read. A door that isn't the machine's own reads it of all.
  /// - Returns: Some names, without `.` and `..`; `nil` after the last one.
  /// - Throws: An error of getdents(2). Those of statx(2) are with the names.
  package func list(
    _ directory: FileDescriptor, _ depth: DirectoryListing.Depth
  ) throws(SystemError) -> DirectoryListing? {
    if let host = self as? HostFileSystem { return try host.listHere(directory, depth) }
    guard let entries = try readDirectory(directory) else { return nil }
    var listing = DirectoryListing()
    for entry in entries {
      var status: FileStatus?
      var errorNumber: Int32 = 0
      do throws(SystemError) {
        status = try self.status(of: entry.name, at: directory, links: .noFollow)
      } catch {
        errorNumber = error.errno
      }
      unsafe entry.name.bytes.withUnsafeBytes {
        unsafe listing.append($0, kind: entry.kind, inode: nil, status: status, errorNumber: errorNumber)
      }
    }
    return listing
  }
}
