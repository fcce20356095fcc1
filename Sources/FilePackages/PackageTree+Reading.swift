internal import ContentHashing
public import SystemInterface

extension PackageTree {
  /// The names of the members of a directory, in the order of their bytes.
  ///
  /// - Parameter directory: The directory; the package itself unless stated.
  /// - Returns: The names, each a single component.
  /// - Throws: ``PackageError/Code/notFound``, ``PackageError/Code/wrongKind``, ``PackageError/Code/packageReplaced`` or
  ///   ``PackageError/Code/fileSystem``.
  /// - Complexity: O(*n* log *n*) in the number of members of that directory.
  public func names(in directory: SystemPath = SystemPath("")) throws(PackageError) -> [SystemPath] {
    let path = try MemberPath(directory)
    guard let node = try node(at: path) else { throw PackageError(.notFound, directory) }
    return try node.asDirectory(directory).names()
  }

  /// The kind of a member; `nil` if there's none of that name.
  ///
  /// - Parameter path: The member.
  /// - Returns: Its kind.
  /// - Throws: ``PackageError/Code/unsupportedKind`` for a socket, FIFO or device, and errors of reading.
  public func kind(of path: SystemPath) throws(PackageError) -> Kind? {
    guard let node = try node(at: try MemberPath(path)) else { return nil }
    do { return try node.kind(path) } catch  where error.code == .notFound { return nil }
  }

  /// The contents of a file.
  ///
  /// - Parameters:
  ///   - path: The member.
  ///   - sizeMax: How many bytes are accepted; 2 GiB unless stated.
  /// - Returns: Its bytes, all of one moment.
  /// - Throws: ``PackageError/Code/notFound``, ``PackageError/Code/wrongKind``, ``PackageError/Code/tooLarge``,
  ///   ``PackageError/Code/packageReplaced``, ``PackageError/Code/memberChanged`` if somebody wrote to it meanwhile, or
  ///   ``PackageError/Code/fileSystem``.
  /// - Complexity: O(*n*) in the number of bytes.
  public func contents(of path: SystemPath, sizeMax: Int = 1 << 31) throws(PackageError) -> [UInt8] {
    var contents: [UInt8] = []
    try readContents(of: path) { (part, size) throws(PackageError) in
      if size > Int64(sizeMax) || contents.count + part.count > sizeMax { throw PackageError(.tooLarge, path) }
      if contents.isEmpty { contents.reserveCapacity(Int(size)) }
      contents += part
    }
    return contents
  }

  /// Reads the contents of a file part by part, so that memory doesn't depend on its size.
  ///
  /// The file is opened once: a file that takes its place meanwhile isn't read. An error after the last part reports
  /// that the file was written while it was read.
  ///
  /// - Parameters:
  ///   - path: The member.
  ///   - body: Gets each part, of at most 256 KiB, and the size of the file when it was opened. Runs on the caller's thread.
  /// - Throws: The error of `body`; errors as ``contents(of:sizeMax:)``.
  public func readContents(
    of path: SystemPath, _ body: (_ part: ArraySlice<UInt8>, _ size: Int64) throws(PackageError) -> Void
  ) throws(PackageError) {
    guard let node = try node(at: try MemberPath(path)) else { throw PackageError(.notFound, path) }
    switch node {
    case .stored(let stored): try stored.readContents(body)
    case .file(let file):
      switch file.contents {
      case .bytes(let bytes): try body(bytes[...], Int64(bytes.count))
      case .file(let place):
        let directory = try PinnedDirectory(at: place.parent, files)
        let name = try MemberPath(place.lastComponent)
        try StoredMember(directory, name).readContents(body)
      }
    case .directory, .symbolicLink: throw PackageError(.wrongKind, path)
    }
  }

  /// The target of a symbolic link, byte for byte.
  ///
  /// - Parameter path: The member.
  /// - Returns: The target, which may be relative and lead anywhere.
  /// - Throws: ``PackageError/Code/notFound``, ``PackageError/Code/wrongKind`` or ``PackageError/Code/fileSystem``.
  public func target(of path: SystemPath) throws(PackageError) -> SystemPath {
    switch try node(at: try MemberPath(path)) {
    case nil: throw PackageError(.notFound, path)
    case .symbolicLink(let target): return target
    case .file, .directory: throw PackageError(.wrongKind, path)
    case .stored(let stored): return try stored.target()
    }
  }

  /// Whether another package has taken the place of the one that this tree was opened on.
  ///
  /// The tree can't read members of the former package any more that it hasn't read by then.
  ///
  /// - Returns: `false` also for a tree that wasn't opened.
  /// - Throws: ``PackageError/Code/fileSystem``.
  public func isReplaced() throws(PackageError) -> Bool {
    guard let directory = root.base?.directory else { return false }
    return try aboutMember(directory.path, directory.isReplaced)
  }

  /// Reads everything into memory: later changes on disk don't matter any more.
  ///
  /// - Parameter sizeMax: How many bytes of contents are accepted, all in all; 2 GiB unless stated.
  /// - Throws: ``PackageError/Code/tooLarge``, ``PackageError/Code/tooDeep``, and errors of reading; nothing has changed then.
  public mutating func loadAll(sizeMax: Int = 1 << 31) throws(PackageError) {
    var left = sizeMax
    root = try Self.loaded(root, .top, &left)
  }

  private static func loaded(
    _ directory: DirectoryNode, _ place: MemberPath, _ left: inout Int
  ) throws(PackageError) -> DirectoryNode {
    var result = DirectoryNode(mode: directory.mode)
    if result.mode == nil { result.mode = try directory.base?.status().mode }
    for name in try directory.names() {
      guard let node = try directory.member(name) else { throw PackageError(.memberChanged, place.path) }
      result.changes[name] = .member(try loaded(node, try place.appending(name), &left))
    }
    try directory.base?.directory.checkThatItStays()
    return result
  }

  private static func loaded(
    _ node: MemberNode, _ place: MemberPath, _ left: inout Int
  ) throws(PackageError) -> MemberNode {
    switch node {
    case .file, .symbolicLink: return node
    case .directory(let directory): return .directory(try loaded(directory, place, &left))
    case .stored(let stored):
      switch try node.kind(place.path) {
      case .directory: return .directory(try loaded(DirectoryNode(base: stored), place, &left))
      case .symbolicLink: return .symbolicLink(target: try stored.target())
      case .file:
        var bytes: [UInt8] = []
        let room = left
        try stored.readContents { (part, _) throws(PackageError) in
          if bytes.count + part.count > room { throw PackageError(.tooLarge, place.path) }
          bytes += part
        }
        left -= bytes.count
        return .file(FileNode(.bytes(bytes), mode: try stored.status().mode))
      }
    }
  }

  /// The member at a path; `nil` if there's none.
  func node(at path: MemberPath) throws(PackageError) -> MemberNode? {
    var node = MemberNode.directory(root)
    for (index, name) in path.names.enumerated() {
      switch node {
      case .stored(let stored):
        // The rest of the path is looked up at once.
        var member = stored
        for rest in path.names[index...] { member = try member.appending(rest) }
        do { _ = try member.status() } catch  where error.code == .notFound || error.code == .wrongKind { return nil }
        return .stored(member)
      case .directory(let directory):
        guard let next = try directory.member(name) else { return nil }
        node = next
      case .file, .symbolicLink: return nil
      }
    }
    return node
  }
}

extension StoredMember {
  /// The target of this symbolic link.
  package func target() throws(PackageError) -> SystemPath {
    if try status().kind != .symbolicLink { throw PackageError(.wrongKind, place.path) }
    return try withParent { (item) throws(PackageError) in
      try aboutMember(place.path) { () throws(SystemError) in
        try directory.files.readLink(item.name, at: item.directory)
      }
    }
  }

  /// Reads this file part by part.
  package func readContents(
    _ body: (_ part: ArraySlice<UInt8>, _ size: Int64) throws(PackageError) -> Void
  ) throws(PackageError) {
    guard let digests = directory.digests else {
      _ = try readParts(body)
      return
    }
    var hasher = ContentHasher()
    let status = try readParts { (part, size) throws(PackageError) in
      hasher.update(part)
      try body(part, size)
    }
    digests.noteFirst(hasher.finalized(), of: status)
  }

  /// The same without noting what was read.
  ///
  /// - Returns: The status, which was the same before and after.
  func readParts(
    _ body: (_ part: ArraySlice<UInt8>, _ size: Int64) throws(PackageError) -> Void
  ) throws(PackageError) -> FileStatus {
    let files = directory.files
    // Nothing but a file is opened: a FIFO would let its writer go on.
    if try status().kind != .regular { throw PackageError(.wrongKind, place.path) }
    let file = try open(flags: [])
    defer { try? files.close(file) }
    func currentStatus() throws(PackageError) -> FileStatus {
      try aboutMember(place.path) { () throws(SystemError) in try files.status(of: file) }
    }
    let before = try currentStatus()
    if before.kind != .regular { throw PackageError(.wrongKind, place.path) }
    try check(before)
    var buffer = [UInt8](repeating: 0, count: Int(min(max(before.size + 1, 512), 1 << 18)))
    while true {
      let count = try aboutMember(place.path) { () throws(SystemError) in try files.read(file, into: &buffer) }
      if count == 0 { break }
      try body(buffer[..<count], before.size)
    }
    if try !before.isSameContents(as: currentStatus()) { throw PackageError(.memberChanged, place.path) }
    return before
  }
}
