internal import CompactContainers
internal import FilePackages
internal import SystemInterface

/// The altered members of a package, with their bytes, and how to find the others: the contents of a package's crash journal.
///
/// A value without a package: it can be applied to the package as it is later, also if another program has written it since. Its size is
/// that of the changes.
struct PackageManifest: Hashable, Sendable {
  /// A member of the package as it was, without its bytes.
  struct Identity: Hashable, Sendable {
    let kind: PackageTree.Kind
    let file: FileIdentity
    let size: Int64
    let modificationTime: Int64

    /// - Returns: `nil` for what no package can have.
    init?(_ status: FileStatus) {
      switch status.kind {
      case .regular: kind = .file
      case .directory: kind = .directory
      case .symbolicLink: kind = .symbolicLink
      case .fifo, .socket, .characterDevice, .blockDevice, .unknown: return nil
      }
      file = status.identity
      size = status.size
      modificationTime = status.modificationTime
    }

    fileprivate init(kind: PackageTree.Kind, file: FileIdentity, size: Int64, modificationTime: Int64) {
      (self.kind, self.file, self.size, self.modificationTime) = (kind, file, size, modificationTime)
    }

    /// Whether it's the same member, with the contents that it had.
    ///
    /// A directory is known by what is in it: its size and its time also change with attributes.
    func isSame(as other: Identity?) -> Bool {
      guard let other, kind == other.kind else { return false }
      if kind == .directory { return true }
      return file == other.file && size == other.size && modificationTime == other.modificationTime
    }
  }

  indirect enum Member: Hashable, Sendable {
    case file([UInt8], mode: UInt32?)
    case symbolicLink(target: SystemPath)
    case directory(Directory)
    /// The member that the package has at this path, which it may have had at another one.
    case kept(SystemPath, Identity?)
  }

  struct Directory: Hashable, Sendable {
    /// The directory of the package that it was made from; `nil` if it's new.
    var origin: SystemPath?
    /// Whether the members of that directory are in it unless an entry says otherwise.
    var hasMembersOfOrigin = true
    var mode: UInt32?
    /// In the order of their names' bytes.
    var entries: [Entry] = []
  }

  struct Entry: Hashable, Sendable {
    var name: SystemPath
    /// The member of this name in the directory's origin when the manifest was made.
    var former: Identity?
    /// `nil` if the member was removed.
    var member: Member?
  }

  var root: Directory
}

// MARK: - Bytes

extension PackageManifest {
  /// The bytes aren't a manifest.
  struct Unreadable: Error {}

  private static let mark = Array("pkgman1\n".utf8)

  /// The manifest as bytes, which are always the same for one manifest.
  var bytes: [UInt8] {
    var bytes = Self.mark
    Self.append(root, to: &bytes)
    return bytes
  }

  private static func append(_ directory: Directory, to bytes: inout [UInt8]) {
    bytes.append((directory.origin == nil ? 0 : 1) | (directory.hasMembersOfOrigin ? 2 : 0))
    if let origin = directory.origin { append(origin.bytes, to: &bytes) }
    append(mode: directory.mode, to: &bytes)
    bytes.append(littleEndian: UInt32(directory.entries.count))
    for entry in directory.entries {
      append(entry.name.bytes, to: &bytes)
      append(entry.former, to: &bytes)
      switch entry.member {
      case nil: bytes.append(0)
      case .file(let contents, let mode):
        bytes.append(1)
        append(mode: mode, to: &bytes)
        append(contents, to: &bytes)
      case .symbolicLink(let target):
        bytes.append(2)
        append(target.bytes, to: &bytes)
      case .directory(let inner):
        bytes.append(3)
        append(inner, to: &bytes)
      case .kept(let path, let identity):
        bytes.append(4)
        append(path.bytes, to: &bytes)
        append(identity, to: &bytes)
      }
    }
  }

  private static func append(_ text: some Collection<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt64(text.count))
    bytes += text
  }

  /// Modes have twelve bits; more of them stand for none.
  private static func append(mode: UInt32?, to bytes: inout [UInt8]) { bytes.append(littleEndian: mode ?? .max) }

  private static func append(_ identity: Identity?, to bytes: inout [UInt8]) {
    guard let identity else { return bytes.append(0) }
    switch identity.kind {
    case .file: bytes.append(1)
    case .directory: bytes.append(2)
    case .symbolicLink: bytes.append(3)
    }
    bytes.append(littleEndian: identity.file.device)
    bytes.append(littleEndian: identity.file.inode)
    bytes.append(littleEndian: identity.size)
    bytes.append(littleEndian: identity.modificationTime)
  }

  /// Reads a manifest.
  ///
  /// - Throws: ``Unreadable`` for bytes that ``bytes`` doesn't give for any manifest.
  /// - Complexity: O(bytes), which bounds the memory as well.
  init(bytes: [UInt8]) throws(Unreadable) {
    guard bytes.starts(with: Self.mark) else { throw Unreadable() }
    var reader = Reader(bytes: bytes, offset: Self.mark.count)
    root = try reader.directory(depth: 0)
    if reader.offset != bytes.count { throw Unreadable() }
  }

  private struct Reader {
    let bytes: [UInt8]
    var offset: Int

    private mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
      _: Number.Type = Number.self
    ) throws(Unreadable) -> Number {
      let size = Number.bitWidth / 8
      if bytes.count - offset < size { throw Unreadable() }
      defer { offset += size }
      return unsafe bytes.span.bytes.integer(littleEndianAt: offset)
    }

    private mutating func text() throws(Unreadable) -> ArraySlice<UInt8> {
      let count = try number(UInt64.self)
      if count > UInt64(bytes.count - offset) { throw Unreadable() }
      defer { offset += Int(count) }
      return bytes[offset..<(offset + Int(count))]
    }

    private mutating func mode() throws(Unreadable) -> UInt32? {
      let mode = try number(UInt32.self)
      if mode == .max { return nil }
      if mode > 0o7777 { throw Unreadable() }
      return mode
    }

    private mutating func path() throws(Unreadable) -> SystemPath {
      let path = SystemPath(bytes: try text())
      do { return try MemberPath(path).path } catch { throw Unreadable() }
    }

    private mutating func identity() throws(Unreadable) -> Identity? {
      let kind: PackageTree.Kind
      switch try number(UInt8.self) {
      case 0: return nil
      case 1: kind = .file
      case 2: kind = .directory
      case 3: kind = .symbolicLink
      default: throw Unreadable()
      }
      let file = FileIdentity(device: try number(), inode: try number())
      return Identity(kind: kind, file: file, size: try number(), modificationTime: try number())
    }

    mutating func directory(depth: Int) throws(Unreadable) -> Directory {
      if depth > PackageTree.depthMax { throw Unreadable() }
      let flags = try number(UInt8.self)
      if flags > 3 { throw Unreadable() }
      var directory = Directory(hasMembersOfOrigin: flags & 2 != 0)
      if flags & 1 != 0 { directory.origin = try path() }
      directory.mode = try mode()
      for _ in 0..<(try number(UInt32.self)) {
        let name = SystemPath(bytes: try text())
        // In order, and each once; never a path.
        guard name.canBeMember, directory.entries.last.map({ $0.name < name }) ?? true else { throw Unreadable() }
        directory.entries.append(Entry(name: name, former: try identity(), member: try member(depth: depth + 1)))
      }
      return directory
    }

    private mutating func member(depth: Int) throws(Unreadable) -> Member? {
      switch try number(UInt8.self) {
      case 0: return nil
      case 1:
        let mode = try mode()
        return .file(Array(try text()), mode: mode)
      case 2:
        let target = SystemPath(bytes: try text())
        if target.bytes.isEmpty || target.bytes.contains(0) { throw Unreadable() }
        return .symbolicLink(target: target)
      case 3: return .directory(try directory(depth: depth))
      case 4:
        let path = try path()
        return .kept(path, try identity())
      default: throw Unreadable()
      }
    }
  }
}
