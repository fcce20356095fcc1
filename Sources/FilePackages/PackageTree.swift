public import SystemInterface

/// A package, which is a directory that counts as one document: a tree of files, directories and symbolic links, as a value.
///
/// A tree that's read from disk knows nothing but the open directory and what was altered since. Names and bytes are read
/// when they are asked for, and not kept. So opening costs the same for every package, and memory doesn't grow with what was
/// looked at. Copies of a tree share what they haven't altered.
///
/// **Nothing is mixed.** When another package takes the place of this one, by ``write(to:_:linking:)`` of any program with this library,
/// a tree that was opened before reads what it was opened on, or says `packageReplaced`; it never finds a part of the one and a part of
/// the other. If a program alters single members in place, reads before and after the change may differ. ``loadAll(sizeMax:)`` makes a
/// snapshot in memory.
///
/// **Names.** A member is named by its path in the package, such as `images/1.png`, byte for byte. No path leads up or through
/// a symbolic link. An addition under a name that's taken gets `NAME 2.ext`, `NAME 3.ext` and so on, the first that's free; the
/// one that was there keeps its name. Names such as `.NAME.x3k9q0ab.fcsave` are those of saves that were cut off, and of no member.
///
/// All functions that read or write block for the disk; call them where that's allowed. Values may be sent between tasks.
///
/// - Note: Rules FW-1, FW-4, SP-6; PP-15 and PP-16 are what it does better.
public struct PackageTree: Sendable {
  /// How many directories may be inside each other.
  ///
  /// Writing keeps two descriptors open for each.
  public static let depthMax = 64

  /// The kinds of members.
  public enum Kind: Hashable, Sendable {
    /// A file with contents.
    case file
    /// A directory.
    case directory
    /// A symbolic link.
    case symbolicLink
  }

  package var root: DirectoryNode
  package let files: any FileSystem

  /// Makes a package without members.
  public init() { self.init(files: HostFileSystem()) }

  package init(files: any FileSystem) {
    root = DirectoryNode()
    self.files = files
  }

  package init(_ root: DirectoryNode, files: any FileSystem) {
    self.root = root
    self.files = files
  }

  /// Opens a package.
  ///
  /// - Parameter path: Its directory, as a canonical path.
  /// - Throws: ``PackageError/Code/notFound``, ``PackageError/Code/wrongKind`` if it isn't a directory, or
  ///   ``PackageError/Code/fileSystem``.
  /// - Complexity: Two system calls; a descriptor stays open until the last copy of the tree is gone.
  public init(openingPackageAt path: SystemPath) throws(PackageError) {
    try self.init(openingPackageAt: path, files: HostFileSystem())
  }

  /// The same through a door of the caller's, and with the hashes of the document that it's opened for.
  package init(
    openingPackageAt path: SystemPath, files: any FileSystem, digests: MemberDigests? = nil
  ) throws(PackageError) {
    self.init(try PinnedDirectory(at: path, files, digests: digests))
  }

  /// The package that was opened.
  package var top: StoredMember? { root.base }

  package init(_ directory: PinnedDirectory) {
    root = DirectoryNode(base: StoredMember(directory, .top))
    files = directory.files
  }
}

/// A member that was added or altered in memory, or is one of an open package.
package indirect enum MemberNode: Sendable {
  /// A member of an open package, with all that's in it.
  case stored(StoredMember)
  case file(FileNode)
  case directory(DirectoryNode)
  case symbolicLink(target: SystemPath)
}

/// A file whose contents aren't in the package yet.
package struct FileNode: Sendable {
  package enum Contents: Sendable {
    case bytes([UInt8])
    /// Those of a file elsewhere, as it is when the package is written.
    case file(SystemPath)
  }

  package var contents: Contents
  /// The permissions; those of the member of the same name before, or `0o666` less the umask, unless stated.
  package var mode: UInt32?

  package init(_ contents: Contents, mode: UInt32? = nil) {
    self.contents = contents
    self.mode = mode
  }
}

/// A directory: one of an open package, if it has a base, in which some members are altered.
package struct DirectoryNode: Sendable {
  package enum Change: Sendable {
    case removed
    case member(MemberNode)
  }

  package var base: StoredMember?
  /// Whether the members of the base that aren't in `changes` are members: otherwise they only lend their attributes.
  package var hasMembersOfBase: Bool
  package var changes: [SystemPath: Change]
  /// How far the names that were wished for are taken.
  var numbers = NameNumbers()
  /// The permissions; those of the base, or `0o777` less the umask, unless stated.
  package var mode: UInt32?

  package init(
    base: StoredMember? = nil, hasMembersOfBase: Bool = true, changes: [SystemPath: Change] = [:], mode: UInt32? = nil
  ) {
    self.base = base
    self.hasMembersOfBase = hasMembersOfBase
    self.changes = changes
    self.mode = mode
  }

  /// The member of a name; `nil` if there's none.
  ///
  /// One of an open package is looked for on disk.
  func member(_ name: SystemPath) throws(PackageError) -> MemberNode? {
    switch changes[name] {
    case .removed: return nil
    case .member(let node): return node
    case nil:
      guard hasMembersOfBase, let stored = try base?.appending(name) else { return nil }
      do { _ = try stored.status() } catch  where error.code == .notFound { return nil }
      return .stored(stored)
    }
  }

  /// The names of all members, in the order of their bytes.
  func names() throws(PackageError) -> [SystemPath] {
    var names: [SystemPath] = []
    if hasMembersOfBase {
      try base?.forEachEntries { part in names += part.map(\.name).filter { changes[$0] == nil } }
    }
    for (name, change) in changes {
      if case .member = change { names.append(name) }
    }
    return names.sorted()
  }
}

extension MemberNode {
  /// The kind of the member.
  ///
  /// - Parameter path: The path of the member, for the error.
  /// - Returns: The kind.
  /// - Throws: `unsupportedKind` for what no package can have; errors of reading.
  func kind(_ path: SystemPath) throws(PackageError) -> PackageTree.Kind {
    switch self {
    case .file: return .file
    case .directory: return .directory
    case .symbolicLink: return .symbolicLink
    case .stored(let stored):
      switch try stored.status().kind {
      case .regular: return .file
      case .directory: return .directory
      case .symbolicLink: return .symbolicLink
      case .fifo, .socket, .characterDevice, .blockDevice, .unknown: throw PackageError(.unsupportedKind, path)
      }
    }
  }

  /// It as a directory, in which members can be altered.
  func asDirectory(_ path: SystemPath) throws(PackageError) -> DirectoryNode {
    switch self {
    case .directory(let node): return node
    case .stored(let stored):
      if try stored.status().kind == .directory { return DirectoryNode(base: stored) }
      throw PackageError(.wrongKind, path)
    case .file, .symbolicLink: throw PackageError(.wrongKind, path)
    }
  }
}
