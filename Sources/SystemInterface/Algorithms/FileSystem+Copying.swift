internal import Glibc

extension FileSystem {
  /// Copies a file, a symbolic link or a whole directory; it appears under its new name whole or not at all.
  ///
  /// The copy is made under a temporary name beside the destination, brought to the disk, and renamed into place. File
  /// systems that can share blocks do. Holes, mode, modification time, extended attributes and, if permitted, owner are
  /// kept; symbolic links are copied as links; hard links become files of their own. Symbolic links and special files
  /// don't keep extended attributes.
  ///
  /// Blocks until the copy is on the disk. A writer that isn't kept out may be copied half done.
  ///
  /// - Parameters:
  ///   - from: The item to copy, as a canonical path.
  ///   - to: The name of the copy, as a canonical path.
  ///   - replacing: Whether something there is replaced, whatever its kind.
  /// - Throws: EEXIST when something is there and `replacing` is false; EINVAL for a copy onto itself or of a directory
  ///   into itself; the error of the call that failed otherwise. The destination is untouched then, unless the error
  ///   says that the change is in place.
  /// - Complexity: O(*n*) in the bytes and items copied; two descriptors more than one file needs, at any depth.
  /// - Note: ioctl_ficlone(2), copy_file_range(2).
  package func copyItem(from: SystemPath, to: SystemPath, replacing: Bool) throws(SystemError) {
    try refuseNesting("copyItem", from, to)
    if replacing && from == to {
      throw SystemError(call: "copyItem", paths: [from, to], errno: EINVAL, advice: "Pass another destination.")
    }
    try withItems(from, to) { (source, target) throws(SystemError) in
      try placeCopy(of: source, as: target, replacing: replacing)
    }
  }

  /// Copies under a temporary name, then renames; the destination and its directory are on the disk afterwards.
  func placeCopy(
    of source: DirectoryItem, as target: DirectoryItem, replacing: Bool
  ) throws(SystemError) {
    if !replacing, try statusIfPresent(of: target.name, at: target.directory) != nil {
      // Noticed before the work instead of after it; the rename checks again.
      throw SystemError(.rename, paths: [source.name, target.name], errno: EEXIST)
    }
    let copy = DirectoryItem(name: .temporaryName(for: target.name), directory: target.directory)
    let displaced: DirectoryItem?
    do {
      try copyTree(source, to: copy, durability: .synchronized)
      displaced = try place(copy, as: target, replacing: replacing)
    } catch {
      try? removeTree(copy.name, at: copy.directory, overridingMode: true)
      throw error
    }
    try synchronizeAfterCommit(target.directory)
    try removeDisplaced(displaced)
  }

  /// Copies whatever an item is to a name that isn't taken.
  func copyTree(
    _ source: DirectoryItem, to target: DirectoryItem, durability: CopyDurability
  ) throws(SystemError) {
    let status = try status(of: source.name, at: source.directory, links: .noFollow)
    if status.kind == .directory {
      var visitor = CopyVisitor(files: self, target: target, durability: durability)
      defer { visitor.close() }
      try walkTree(source.name, at: source.directory, &visitor)
    } else {
      try copyLeaf(source, status, to: target, durability: durability)
    }
  }

  /// Copies anything but a directory.
  func copyLeaf(
    _ source: DirectoryItem, _ status: FileStatus, to target: DirectoryItem, durability: CopyDurability
  ) throws(SystemError) {
    switch status.kind {
    case .regular:
      return try copyFile(source, to: target, durability: durability)
    case .symbolicLink:
      let text = try readLink(source.name, at: source.directory)
      try makeSymbolicLink(target.name, at: target.directory, target: text)
    case .fifo, .socket, .characterDevice, .blockDevice:
      try makeNode(target.name, at: target.directory, like: status)
    case .directory, .unknown:
      throw SystemError(
        call: "copyItem", paths: [source.name], errno: ENOTSUP, advice: "It changed its kind meanwhile.")
    }
    try? setOwner(of: target.name, at: target.directory, to: status.owner, group: status.group)
    try setModificationTime(of: target.name, at: target.directory, to: status.modificationTime)
  }
}

/// Whether a copy is brought to the disk before it counts as made.
enum CopyDurability {
  /// Every file and directory is synchronised: the copy takes the place of something.
  case synchronized
  /// Left to the kernel: the copy is thrown away soon.
  case temporary
}

/// Makes beside each directory and file of a walk its copy in another tree.
private struct CopyVisitor<Files: FileSystem>: TreeVisitor {
  private let files: Files
  private let target: DirectoryItem
  private let durability: CopyDurability
  private var cursor: DirectoryCursor
  private var targetIdentity: FileIdentity?

  init(files: Files, target: DirectoryItem, durability: CopyDurability) {
    self.files = files
    self.target = target
    self.durability = durability
    self.cursor = DirectoryCursor(base: target.directory)
  }

  mutating func willEnter(_ name: SystemPath) throws(SystemError) {
    let isTop = cursor.depth == 0
    let copy = isTop ? target.name : name
    try files.makeDirectory(copy, at: cursor.current, mode: 0o700)
    let status = try cursor.descend(into: copy, using: files)
    if isTop { targetIdentity = status.identity }
  }

  func didEnter(_ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus) throws(SystemError) {
    // The paths differed, but a bind mount led the walk into its own output, which would never end.
    if status.identity == targetIdentity {
      throw SystemError(call: "copyItem", paths: [name], errno: EINVAL, advice: "It would be copied into itself.")
    }
  }

  func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError) {
    let status = try files.status(of: entry.name, at: directory, links: .noFollow)
    try files.copyLeaf(
      DirectoryItem(name: entry.name, directory: directory), status,
      to: DirectoryItem(name: entry.name, directory: cursor.current), durability: durability)
  }

  mutating func willLeave(_ directory: FileDescriptor) throws(SystemError) {
    let status = try files.status(of: directory)
    try files.copyMetadata(from: directory, status, to: cursor.current)
    try files.setModificationTime(of: cursor.current, to: status.modificationTime)
    if durability == .synchronized { try files.synchronizeDirectory(cursor.current) }
    _ = try cursor.ascend(using: files)
  }

  mutating func close() {
    cursor.close(using: files)
  }
}
