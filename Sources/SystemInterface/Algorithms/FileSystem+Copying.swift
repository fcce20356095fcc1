internal import Glibc

extension FileSystem {
  /// Copies a file, a symbolic link or a whole directory; it appears under its new name whole or not at all.
  ///
  /// The copy is made under a temporary name beside the destination, brought to the disk, and renamed into place. File
  /// systems that can share blocks do. Holes, mode, modification time, extended attributes and, if permitted, owner are
  /// kept; symbolic links are copied as links; hard links become files of their own. Symbolic links and special files
  /// don't keep extended attributes. Where group or access list can't be kept, group and others get at most the
  /// permissions that both had.
  ///
  /// Blocks until the copy is on the disk. A writer that isn't kept out may be copied half done.
  ///
  /// - Parameters:
  ///   - from: The item to copy, as a canonical path.
  ///   - to: The name of the copy, as a canonical path.
  ///   - replacing: Whether something there is replaced, whatever its kind.
  /// - Throws: EEXIST when something is there and `replacing` is false; EINVAL when both are one item, by whatever link,
  ///   mount or spelling, or one is inside the other; the error of the call that failed otherwise, with the path on whose
  ///   side it failed. The destination is untouched then, unless the error says that the change is in place.
  /// - Complexity: O(*n*) in the bytes and items copied; two descriptors more than one file needs, at any depth.
  /// - Note: ioctl_ficlone(2), copy_file_range(2).
  package func copyItem(from: SystemPath, to: SystemPath, replacing: Bool) throws(SystemError) {
    try refuseNesting("copyItem", from, to)
    try withItems(from, to) { (source, target) throws(SystemError) in
      if try relation(of: source, to: target, replacing: replacing, in: "copyItem") == .respelled && replacing {
        throw .oneItem("copyItem", source, target)
      }
      try placeCopy(of: source, as: target, replacing: replacing)
    }
  }

  /// Copies under a temporary name, then renames; the destination and its directory are on the disk afterwards.
  private func placeCopy(
    of source: DirectoryItem, as target: DirectoryItem, replacing: Bool
  ) throws(SystemError) {
    let displaced = try withCopy(of: source, for: target, replacing: replacing) { (copy) throws(SystemError) in
      try place(copy, as: target, replacing: replacing)
    }
    do { try synchronizeAfterCommit(target.directory) } catch { throw error.leaving(displaced) }
    try removeDisplaced(displaced)
  }

  /// Copies an item, brings the copy to the disk, and gives it its place.
  ///
  /// - Parameters:
  ///   - source: The item.
  ///   - target: The name of the copy.
  ///   - replacing: Whether something may be there.
  ///   - place: Renames the copy, which has a temporary name beside.
  /// - Returns: The result of `place`.
  /// - Throws: EEXIST when something is there and `replacing` is false, or the error of the call that failed; the copy is gone then.
  func withCopy<Result>(
    of source: DirectoryItem, for target: DirectoryItem, replacing: Bool,
    _ place: (DirectoryItem) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    if !replacing, try statusIfPresent(of: target.name, at: target.directory) != nil {
      // Noticed before the work instead of after it; the rename checks again.
      throw SystemError(.rename, paths: [source.name, target.name], errno: EEXIST)
    }
    let copy = target.beside(.temporaryName(for: target.name))
    do {
      try copyTree(source, to: copy, durability: .synchronized)
      return try place(copy)
    } catch {
      try? removeTree(copy.name, at: copy.directory, overridingMode: true)
      throw error.naming(target.path, for: copy.path)
    }
  }

  /// Copies whatever an item is to a name that isn't taken.
  package func copyTree(
    _ source: DirectoryItem, to target: DirectoryItem, durability: CopyDurability
  ) throws(SystemError) {
    let status = try status(of: source.name, at: source.directory, links: .noFollow)
    if status.kind == .directory {
      var visitor = CopyVisitor(files: self, source: source, target: target, durability: durability)
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
      try copyFile(source, to: target, durability: durability)
    case .symbolicLink:
      let text = try source.locatingErrors { () throws(SystemError) in
        try readLink(source.name, at: source.directory)
      }
      try target.locatingErrors { () throws(SystemError) in try copyLink(text, status, to: target) }
    case .fifo, .socket, .characterDevice, .blockDevice:
      try target.locatingErrors { () throws(SystemError) in try copyNode(status, to: target) }
    case .directory, .unknown:
      throw SystemError(
        call: "copyItem", paths: [source.name], errno: ENOTSUP, advice: "It changed its kind meanwhile.")
    }
  }

  private func copyLink(_ text: SystemPath, _ status: FileStatus, to target: DirectoryItem) throws(SystemError) {
    do {
      try makeSymbolicLink(target.name, at: target.directory, target: text)
    } catch {
      // The target of the link is no path that failed.
      throw SystemError(.makeSymbolicLink, paths: [target.name], errno: error.errno)
    }
    try? setOwner(of: target.name, at: target.directory, to: status.owner, group: status.group)
    try setModificationTime(of: target.name, at: target.directory, to: status.modificationTime)
  }

  /// Makes a special file for its owner alone, and lets others use it once its owner and group are set.
  private func copyNode(_ status: FileStatus, to target: DirectoryItem) throws(SystemError) {
    var narrow = status
    narrow.mode &= 0o700
    try makeNode(target.name, at: target.directory, like: narrow)
    do {
      try setOwner(of: target.name, at: target.directory, to: status.owner, group: status.group)
    } catch let error where error.refusesOwner {
      try? setOwner(of: target.name, at: target.directory, to: UInt32.max, group: status.group)
    }
    // Opening the special file itself would wait, or start actions of its driver.
    let flags: OpenFlags = [.pathOnly, .noFollow]
    try withDescriptor(target.name, at: target.directory, flags: flags) { (node) throws(SystemError) in
      let kept = KeptPermissions(status, try self.status(of: node))
      try setMode(of: node, to: kept.mode(for: status))
    }
    try setModificationTime(of: target.name, at: target.directory, to: status.modificationTime)
  }
}

extension SystemError {
  /// The same error with the name that the caller uses in place of one that it doesn't know.
  fileprivate func naming(_ path: SystemPath, for temporary: SystemPath) -> SystemError {
    if call == SystemCall.rename.rawValue { return self }
    var error = self
    error.paths = paths.map { known in
      if known == temporary { return path }
      return known.isInside(temporary) ? SystemPath(bytes: path.bytes + known.bytes[temporary.bytes.count...]) : known
    }
    return error
  }
}

/// Whether a copy is brought to the disk before it counts as made.
package enum CopyDurability {
  /// Every file and directory is synchronised: the copy takes the place of something.
  case synchronized
  /// Left to the kernel: the copy is thrown away soon.
  case temporary
}
