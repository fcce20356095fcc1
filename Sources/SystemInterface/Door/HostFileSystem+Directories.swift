internal import CSystemShims
internal import Glibc

extension HostFileSystem {
  /// getdents(2).
  package func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    // Only what the kernel writes there is touched: most directories are small.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32768, alignment: 8)
    defer { unsafe buffer.deallocate() }
    let count = try checked(.readDirectory) { unsafe getdents64(descriptor.rawValue, buffer.baseAddress, buffer.count) }
    return count == 0 ? nil : unsafe Self.entries(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }

  /// Parses `struct linux_dirent64`: inode (8 bytes), offset (8), record length (2), type (1), name up to a NUL.
  private static func entries(in buffer: UnsafeRawBufferPointer) -> [DirectoryEntry] {
    var entries: [DirectoryEntry] = []
    var start = 0
    while buffer.count - start > 19 {
      let length = unsafe Int(buffer[start + 16]) | Int(buffer[start + 17]) << 8
      let name = unsafe UnsafeRawBufferPointer(rebasing: buffer[(start + 19)..<(start + length)])
      let count = unsafe name.firstIndex(of: 0) ?? name.count
      if unsafe count > 2 || name[..<count].contains(where: { $0 != dot }) {
        entries.append(
          unsafe DirectoryEntry(name: SystemPath(bytes: name[..<count]), kind: kind(type: buffer[start + 18])))
      }
      start += length
    }
    return entries
  }

  private static let dot = UInt8(ascii: ".")

  /// `d_type` holds the `S_IFMT` bits shifted right by twelve; 0 means that the file system doesn't have it.
  private static func kind(type: UInt8) -> FileKind? {
    type == 0 ? nil : FileKind(modeBits: UInt32(type) << 12)
  }
}

extension HostFileSystem {
  /// How many bytes of names are read at once: about a thousand names.
  private static let listingSize = 32768
  /// Where the members of `struct linux_dirent64` are: inode, offset, record length, type, name up to a NUL.
  private static let recordLengthOffset = 16
  private static let typeOffset = 18
  private static let nameOffset = 19

  /// getdents(2) and statx(2), without an object for each name.
  func listHere(
    _ directory: FileDescriptor, _ depth: DirectoryListing.Depth
  ) throws(SystemError) -> DirectoryListing? {
    var listing = DirectoryListing()
    var code: Int32 = 0
    let count = unsafe withUnsafeTemporaryAllocation(byteCount: Self.listingSize, alignment: 8) { buffer in
      let count = unsafe getdents64(directory.rawValue, buffer.baseAddress, buffer.count)
      if count < 0 { code = Glibc.errno } else { unsafe add(buffer[..<count], directory, depth, to: &listing) }
      return count
    }
    if count < 0 { throw SystemError(.readDirectory, errno: code) }
    return count == 0 ? nil : listing
  }

  private func add(
    _ records: Slice<UnsafeMutableRawBufferPointer>, _ directory: FileDescriptor, _ depth: DirectoryListing.Depth,
    to listing: inout DirectoryListing
  ) {
    var rest = unsafe UnsafeRawBufferPointer(rebasing: records)
    while rest.count > Self.nameOffset {
      let length = unsafe Int(rest.loadUnaligned(fromByteOffset: Self.recordLengthOffset, as: UInt16.self))
      let record = unsafe UnsafeRawBufferPointer(rebasing: rest[..<length])
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest[length...])
      unsafe add(record, directory, depth, to: &listing)
    }
  }

  private func add(
    _ record: UnsafeRawBufferPointer, _ directory: FileDescriptor, _ depth: DirectoryListing.Depth,
    to listing: inout DirectoryListing
  ) {
    guard let start = unsafe record.baseAddress?.advanced(by: Self.nameOffset) else { return }
    let text = unsafe start.assumingMemoryBound(to: CChar.self)
    let name = unsafe UnsafeRawBufferPointer(start: start, count: strlen(text))
    if unsafe name[0] == Self.dot, unsafe name.count == 1 || (name.count == 2 && name[1] == Self.dot) { return }
    let kind = unsafe Self.kind(type: record[Self.typeOffset])
    var status: FileStatus?
    var errorNumber: Int32 = 0
    if depth == .statuses || kind == nil || kind == .directory {
      var raw = shim_status()
      while true {
        if unsafe shim_read_status(directory.rawValue, text, AT_SYMLINK_NOFOLLOW, &raw) == 0 {
          status = FileStatus(raw)
        } else if Glibc.errno == EINTR {
          continue
        } else {
          errorNumber = Glibc.errno
        }
        break
      }
    }
    unsafe listing.append(
      name, kind: kind, inode: record.loadUnaligned(as: UInt64.self), status: status, errorNumber: errorNumber)
  }
}
