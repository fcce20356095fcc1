public import SystemInterface

extension PackageTree {
  /// The item that may be at the place to which a package is written.
  public enum Replacement: Hashable, Sendable {
    /// Nothing.
    case nothing
    /// Nothing, or the package that the tree was opened on.
    ///
    /// Another program's save since then isn't overwritten.
    case openedPackage
    /// Anything.
    case anything
  }

  /// When an unchanged file gets another name instead of being copied.
  ///
  /// Two names of one file share what's written to it in place.
  public enum Linking: Hashable, Sendable {
    /// If the package that has it is the one that's replaced, and so loses its own name for it, or if nobody may write to it.
    case whereNobodyCanWriteThroughIt
    /// Whenever blocks can't be shared instead.
    case always
    /// Never.
    case never
  }

  /// The work of a write, in numbers.
  public struct Report: Hashable, Sendable {
    /// How many bytes of contents were written or copied; none for files that were linked, or share blocks.
    public package(set) var bytesWritten = 0
    /// How many files were written or copied.
    public package(set) var filesWritten = 0
    /// How many unchanged files got another name.
    public package(set) var filesLinked = 0
    /// How many unchanged files share their blocks with those they come from.
    public package(set) var filesCloned = 0
  }

  /// Writes the package to a place in one step: a reader of that place sees the old one or this one, complete.
  ///
  /// A new directory is made beside the place. Unchanged files of the package that was opened get their second name in it, or share
  /// their blocks, or are copied, in this order as far as `linking` and the file system allow; altered ones are written. All of it
  /// is brought to the disk, then exchanged with what's there (`RENAME_EXCHANGE`), and that is removed. After a crash, or the loss
  /// of power, at any moment, the place has the old package or the new one; all other leftovers are removed by
  /// ``removeLeftovers(of:age:)``. File systems that can't exchange need two steps, between which nothing is there. A crash between them
  /// leaves both packages beside the place, under names that begin with a dot and that of the package, and end in `.fcsave`.
  ///
  /// Mode, owner, access list and extended attributes are kept: the directory's from what is replaced, or else from the package
  /// that was opened; an altered file's from its former self.
  ///
  /// Blocks until the package is on the disk.
  ///
  /// - Parameters:
  ///   - path: The place, as a canonical path.
  ///   - replacement: The item that may be there.
  ///   - linking: When unchanged files get another name.
  /// - Returns: The tree that was written, opened, and what was done.
  /// - Throws: ``PackageError/Code/destinationExists``, ``PackageError/Code/packageReplaced`` if the package that was opened isn't
  ///   complete any more, or not at the place, ``PackageError/Code/memberChanged``, ``PackageError/Code/unsupportedKind``,
  ///   ``PackageError/Code/tooDeep`` or ``PackageError/Code/fileSystem``. Unless ``PackageError/isInPlace``, what's at the place is
  ///   untouched.
  /// - Complexity: O(*n*) in the number of members, and in the bytes that are altered or copied; memory for one part of
  ///   the names of each directory on the way to a member.
  /// - Note: Rules FW-9, CD-12, CD-31.
  public func write(
    to path: SystemPath, _ replacement: Replacement = .openedPackage,
    linking: Linking = .whereNobodyCanWriteThroughIt
  ) throws(PackageError) -> (tree: PackageTree, report: Report) {
    var writer = PackageWriter(files: files, destination: path, replacement, linking, root.base?.directory.digests)
    let directory = try writer.write(root)
    return (PackageTree(directory), writer.report)
  }

  /// The same for a document, to which the package will belong.
  package func write(
    to path: SystemPath, _ replacement: Replacement, digests: MemberDigests
  ) throws(PackageError) -> PackageTree {
    var writer = PackageWriter(files: files, destination: path, replacement, .whereNobodyCanWriteThroughIt, digests)
    let written = PackageTree(try writer.write(root))
    try? noteWritten(in: written)
    return written
  }

  /// Sets the contents of one file of the package on disk, now, without writing the package again.
  ///
  /// Readers see the old contents or the new ones; a crash leaves one of them. Other members aren't touched. Other changes that were
  /// made in this tree aren't written. In the tree, the member is the one on disk afterwards. A save of the whole package that is
  /// under way at the same time may have taken the former contents: keep it out, by a coordinated write for example.
  ///
  /// - Parameters:
  ///   - path: The member; made if there's none. The directory that holds it must be on disk.
  ///   - bytes: The contents.
  /// - Throws: ``PackageError/Code/packageReplaced``, ``PackageError/Code/wrongKind``, ``PackageError/Code/notFound`` without the
  ///   directory, or ``PackageError/Code/fileSystem``.
  /// - Note: Rule SP-5.
  public mutating func replaceOnDisk(_ path: SystemPath, _ bytes: [UInt8]) throws(PackageError) {
    let files = files
    try replaceOnDisk(path) { (item) throws(SystemError) in
      try files.replaceContents(of: item.name, at: item.directory, with: bytes)
    }
  }

  mutating func replaceOnDisk(
    _ path: SystemPath, by replace: (DirectoryItem) throws(SystemError) -> Void
  ) throws(PackageError) {
    let place = try MemberPath(path)
    guard let base = root.base, !place.isTop else { throw PackageError(.notFound, path) }
    var stored = base
    for name in place.names { stored = try stored.appending(name) }
    try base.directory.checkThatItStays()
    do throws(PackageError) {
      if try stored.status().kind != .regular { throw PackageError(.wrongKind, path) }
    } catch  where error.code == .notFound {}
    try stored.withParent { (item) throws(PackageError) in
      try aboutMember(path) { () throws(SystemError) in try replace(item) }
    }
    // The bytes that this has written are gone with a package that was replaced meanwhile.
    try base.directory.checkThatItStays()
    Self.forget(&root, place.names[...])
  }

  /// Forgets the changes at a path, so that the member on disk holds.
  private static func forget(_ directory: inout DirectoryNode, _ names: ArraySlice<SystemPath>) {
    guard let name = names.first else { return }
    if names.count == 1 {
      directory.changes[name] = nil
    } else if case .member(.directory(var inner)) = directory.changes[name] {
      forget(&inner, names.dropFirst())
      directory.changes[name] = .member(.directory(inner))
    }
  }

  /// Removes what crashes have left beside a package or a file: new packages that weren't completed, and replaced ones.
  ///
  /// - Parameters:
  ///   - path: The package, as a canonical path.
  ///   - age: How long ago the last name in such a directory must have changed; another process may be at work in a younger one.
  /// - Returns: How many there were. If nothing is at the place several stay, which are the only copies.
  /// - Throws: ``PackageError/Code/fileSystem``.
  @discardableResult
  public static func removeLeftovers(of path: SystemPath, age: Duration = .seconds(3_600)) throws(PackageError) -> Int {
    try removeLeftovers(of: path, age: age, files: HostFileSystem(), now: CoarseClock.fileTime)
  }
}
