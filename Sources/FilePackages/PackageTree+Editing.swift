public import SystemInterface

// Changes are made in the value; `write(to:_:)` brings them to the disk.

extension PackageTree {
  /// Sets the contents of a file, which is made if there's none; its permissions stay.
  ///
  /// - Parameters:
  ///   - path: The member. The directory that holds it must be there.
  ///   - bytes: The contents.
  /// - Throws: ``PackageError/Code/wrongKind`` if the member isn't a file, ``PackageError/Code/notFound`` without the directory,
  ///   ``PackageError/Code/invalidName``, ``PackageError/Code/tooDeep``, and errors of reading.
  public mutating func update(_ path: SystemPath, _ bytes: [UInt8]) throws(PackageError) {
    try update(path, FileNode(.bytes(bytes)))
  }

  /// Sets the contents of a file to those that another file has when the package is written.
  ///
  /// They are copied, and never in memory as a whole; file systems that can share blocks do.
  ///
  /// - Parameters:
  ///   - path: The member. The directory that holds it must be there.
  ///   - source: The other file, as a canonical path.
  /// - Throws: As ``update(_:_:)``.
  public mutating func update(_ path: SystemPath, contentsOf source: SystemPath) throws(PackageError) {
    try update(path, FileNode(.file(source)))
  }

  private mutating func update(_ path: SystemPath, _ file: FileNode) throws(PackageError) {
    let place = try member(path)
    var file = file
    switch try node(at: place) {
    case nil: break
    case .file(let present): file.mode = present.mode
    case .stored(let stored):
      if try stored.status().kind != .regular { throw PackageError(.wrongKind, path) }
      file.mode = nil
      Self.noteDigests(of: stored)
    case .directory, .symbolicLink: throw PackageError(.wrongKind, path)
    }
    try change(place, .member(.file(file)))
  }

  /// Adds a file under a name, or under one like it if that's taken.
  ///
  /// - Parameters:
  ///   - bytes: The contents.
  ///   - name: The name wished for. See ``PackageTree`` for the one it gets if that's taken.
  ///   - directory: The directory; the package itself unless stated.
  /// - Returns: The path of the member.
  /// - Throws: ``PackageError/Code/invalidName``, ``PackageError/Code/notFound`` without the directory, and errors of reading.
  public mutating func add(
    _ bytes: [UInt8], preferring name: SystemPath, in directory: SystemPath = SystemPath("")
  ) throws(PackageError) -> SystemPath {
    if !name.canBeMember { throw PackageError(.invalidName, name) }
    let place = try MemberPath(directory)
    let path = try withDirectory(place, directory) { (holder) throws(PackageError) in
      // Taken out, so that neither of both is copied.
      var numbers = holder.numbers.take()
      defer { holder.numbers = numbers }
      let free = try numbers.firstFree(name) { (name) throws(PackageError) in try holder.member(name) != nil }
      let path = try place.appending(free)
      holder.changes[free] = .member(.file(FileNode(.bytes(bytes))))
      return path
    }
    return path.path
  }

  /// Makes a directory without members.
  ///
  /// - Parameter path: Where. The directory that holds it must be there.
  /// - Throws: ``PackageError/Code/nameTaken``, and errors as ``update(_:_:)``.
  public mutating func makeDirectory(_ path: SystemPath) throws(PackageError) {
    try insert(path, .directory(DirectoryNode()))
  }

  /// Makes a symbolic link.
  ///
  /// - Parameters:
  ///   - path: Where. The directory that holds it must be there.
  ///   - target: The path that the link leads to; kept byte for byte.
  /// - Throws: ``PackageError/Code/nameTaken``, and errors as ``update(_:_:)``.
  public mutating func makeSymbolicLink(_ path: SystemPath, to target: SystemPath) throws(PackageError) {
    if target.bytes.isEmpty || target.bytes.contains(0) { throw PackageError(.invalidName, target) }
    try insert(path, .symbolicLink(target: target))
  }

  private mutating func insert(_ path: SystemPath, _ node: MemberNode) throws(PackageError) {
    let place = try member(path)
    if try self.node(at: place) != nil { throw PackageError(.nameTaken, path) }
    try change(place, .member(node))
  }

  /// Removes a member with all that's in it.
  ///
  /// - Parameter path: The member.
  /// - Throws: ``PackageError/Code/notFound``, and errors of reading.
  public mutating func remove(_ path: SystemPath) throws(PackageError) {
    let place = try member(path)
    switch try node(at: place) {
    case nil: throw PackageError(.notFound, path)
    case .stored(let stored): Self.noteDigests(of: stored)
    case .directory(let directory): if let base = directory.base { Self.noteDigests(of: base) }
    case .file, .symbolicLink: break
    }
    try change(place, .removed)
  }

  /// From now on the bytes of a member matter to the document whose package it is: those that another program stores are lost with a save.
  private static func noteDigests(of stored: StoredMember) {
    var left = Int64(MemberDigests.unreadSizeMax)
    stored.noteDigests(&left)
  }

  /// Gives a member another name or place; its bytes aren't read, nor written again.
  ///
  /// - Parameters:
  ///   - path: The member.
  ///   - newPath: Its new path.
  /// - Throws: ``PackageError/Code/notFound``, ``PackageError/Code/nameTaken``, ``PackageError/Code/invalidName`` for a place inside
  ///   of itself, and errors of reading. Nothing has changed then.
  public mutating func move(_ path: SystemPath, to newPath: SystemPath) throws(PackageError) {
    let (old, new) = (try member(path), try member(newPath))
    guard let node = try node(at: old) else { throw PackageError(.notFound, path) }
    if new.names.starts(with: old.names) && new != old { throw PackageError(.invalidName, newPath) }
    if new == old { return }
    if try self.node(at: new) != nil { throw PackageError(.nameTaken, newPath) }
    var changed = self
    try changed.change(new, .member(node))
    try changed.change(old, .removed)
    self = changed
  }

  private func member(_ path: SystemPath) throws(PackageError) -> MemberPath {
    let place = try MemberPath(path)
    if place.isTop { throw PackageError(.invalidName, path) }
    return place
  }

  private mutating func change(_ place: MemberPath, _ change: DirectoryNode.Change) throws(PackageError) {
    let name = place.name
    try withDirectory(place.parent, place.path) { (directory) throws(PackageError) in
      // A name that the open package hasn't got needs no mark that it's gone.
      if case .removed = change {
        directory.numbers.noteRemoval()
        if directory.base == nil || !directory.hasMembersOfBase {
          directory.changes[name] = nil
          return
        }
      }
      directory.changes[name] = change
    }
  }

  /// Alters a directory in its place.
  private mutating func withDirectory<Result>(
    _ place: MemberPath, _ path: SystemPath, _ body: (inout DirectoryNode) throws(PackageError) -> Result
  ) throws(PackageError) -> Result {
    try Self.withDirectory(&root, place.names[...], path, body)
  }

  private static func withDirectory<Result>(
    _ directory: inout DirectoryNode, _ names: ArraySlice<SystemPath>, _ path: SystemPath,
    _ body: (inout DirectoryNode) throws(PackageError) -> Result
  ) throws(PackageError) -> Result {
    guard let name = names.first else { return try body(&directory) }
    guard var inner = try directory.member(name)?.asDirectory(path) else { throw PackageError(.notFound, path) }
    // Taken out, so that its members aren't copied with each of them that's altered.
    let wasAltered = directory.changes.removeValue(forKey: name) != nil
    do throws(PackageError) {
      let result = try withDirectory(&inner, names.dropFirst(), path, body)
      directory.changes[name] = .member(.directory(inner))
      return result
    } catch {
      if wasAltered { directory.changes[name] = .member(.directory(inner)) }
      throw error
    }
  }
}
