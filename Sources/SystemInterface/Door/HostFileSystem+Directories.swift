internal import CSystemShims
internal import Glibc

extension HostFileSystem {
  /// getdents(2).
  public func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    var buffer = [UInt8](repeating: 0, count: 32768)
    let count = try checked(.readDirectory) {
      unsafe buffer.withUnsafeMutableBytes { unsafe getdents64(descriptor.rawValue, $0.baseAddress, $0.count) }
    }
    return count == 0 ? nil : Self.entries(in: buffer[..<count])
  }

  /// Parses `struct linux_dirent64`: inode (8 bytes), offset (8), record length (2), type (1), name up to a NUL.
  private static func entries(in buffer: ArraySlice<UInt8>) -> [DirectoryEntry] {
    var entries: [DirectoryEntry] = []
    var rest = buffer
    while rest.count > 19 {
      let start = rest.startIndex
      let length = Int(rest[start + 16]) | Int(rest[start + 17]) << 8
      let name = rest[(start + 19)..<(start + length)].prefix { $0 != 0 }
      if name != [dot] && name != [dot, dot] {
        entries.append(DirectoryEntry(name: SystemPath(bytes: name), kind: kind(type: rest[start + 18])))
      }
      rest = rest.dropFirst(length)
    }
    return entries
  }

  private static let dot = UInt8(ascii: ".")

  /// `d_type` holds the `S_IFMT` bits shifted right by twelve; 0 means that the file system doesn't know.
  private static func kind(type: UInt8) -> FileKind? {
    type == 0 ? nil : FileKind(modeBits: UInt32(type) << 12)
  }
}
