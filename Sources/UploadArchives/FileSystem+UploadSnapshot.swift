package import SystemInterface

/// A private copy of an item, made to be uploaded while the original changes.
package struct UploadSnapshot: Hashable, Sendable {
  /// The directory of its own that holds the copy; remove it with ``FileSystem/removeItem(at:)``.
  package let container: SystemPath
  /// The copy: a file under its own name, or a zip archive of a directory.
  package let item: SystemPath
  /// Sockets, FIFOs and devices in a directory, which an archive can't hold, by their paths.
  package let leftOut: [SystemPath]
}

extension FileSystem {
  /// Makes a private copy of a file, or a zip archive of a directory, for an upload.
  ///
  /// The copy is in a new directory that only this user may enter. A file shares its blocks with the original where the
  /// file system can. A directory becomes one archive `NAME.zip` with everything under `NAME/`: contents (stored, not
  /// compressed), modes, times, empty directories, and symbolic links as links. Sockets, FIFOs and devices have nothing
  /// to upload; they are left out and listed. All users may read the archive if all may read everything in it (less the
  /// umask); otherwise only this user may.
  ///
  /// Blocks until the copy is complete; it isn't brought to the disk. Keep writers out until then: the archive holds
  /// each file's contents at the time of its turn.
  ///
  /// - Parameters:
  ///   - path: The item to copy, as a canonical path. A symbolic link is copied as a link.
  ///   - directory: Where to make the directory of the copy; it must exist.
  /// - Returns: The copy and the directory that holds it.
  /// - Throws: The error of the call that failed; nothing is left then. ENAMETOOLONG for a path of more than 65535
  ///   bytes in an archive.
  /// - Complexity: O(*n*) in the bytes and items copied; memory grows with the number of items in an archive.
  package func makeUploadSnapshot(
    of path: SystemPath, in directory: SystemPath
  ) throws(SystemError) -> UploadSnapshot {
    let name = try path.itemName()
    let container = try withTemporaryName(for: SystemPath("upload")) { (temporary) throws(SystemError) in
      try makeDirectory(directory.appending(temporary), at: .workingDirectory, mode: 0o700)
      return directory.appending(temporary)
    }
    do {
      return try locatingErrors(at: path) { () throws(SystemError) in
        try fillSnapshot(container, with: name, from: path.parent)
      }
    } catch {
      try? removeItem(at: container)
      throw error
    }
  }

  private func fillSnapshot(
    _ container: SystemPath, with name: SystemPath, from parent: SystemPath
  ) throws(SystemError) -> UploadSnapshot {
    try withDescriptor(parent, flags: .directory) { (source) throws(SystemError) in
      try withDescriptor(container, flags: [.directory, .noFollow]) { (target) throws(SystemError) in
        let original = DirectoryItem(name: name, directory: source, place: parent)
        let isDirectory = try status(of: name, at: source, links: .noFollow).kind == .directory
        let copy = DirectoryItem(
          name: isDirectory ? name.archiveName : name, directory: target, place: container)
        var leftOut: [SystemPath] = []
        if isDirectory {
          leftOut = try writeArchive(of: original, to: copy)
        } else {
          try copyTree(original, to: copy, durability: .temporary)
        }
        return UploadSnapshot(container: container, item: copy.path, leftOut: leftOut)
      }
    }
  }

  /// - Returns: The paths of the files that were left out.
  private func writeArchive(of source: DirectoryItem, to archive: DirectoryItem) throws(SystemError) -> [SystemPath] {
    let flags: OpenFlags = [.create, .exclusive, .writeOnly]
    // Until it's done no other user gets to it: its directory is private.
    return try withDescriptor(archive.name, at: archive.directory, flags: flags, mode: 0o644) {
      (output) throws(SystemError) in
      let writer = ZipArchiveWriter(files: self, output: output, path: archive.path)
      var visitor = ArchiveVisitor(files: self, writer: writer)
      try walkTree(source.name, at: source.directory, &visitor)
      try visitor.writer.finish()
      try archive.locatingErrors { () throws(SystemError) in
        if !visitor.isReadableByAll { try setMode(of: output, to: 0o600) }
      }
      return visitor.leftOut.map { source.place.appending($0) }
    }
  }
}

extension SystemPath {
  /// `NAME.zip`, cut to the length that a file system takes.
  fileprivate var archiveName: SystemPath {
    let suffix = Array(".zip".utf8)
    return SystemPath(bytes: bytes.prefix(Self.nameLengthMax - suffix.count) + suffix)
  }
}

/// Adds everything a walk comes across to an archive.
struct ArchiveVisitor<Files: FileSystem>: TreeVisitor {
  let files: Files
  var writer: ZipArchiveWriter<Files>
  /// The files that were left out, below the directory that holds the top of the tree.
  private(set) var leftOut: [SystemPath] = []
  /// Whether the modes of everything so far let group and others read it.
  private(set) var isReadableByAll = true
  /// The current directory inside the archive, with a slash at the end.
  private var prefix: [UInt8] = []

  init(files: Files, writer: ZipArchiveWriter<Files>) {
    self.files = files
    self.writer = writer
  }

  mutating func didEnter(
    _ name: SystemPath, _ directory: FileDescriptor, _ status: FileStatus
  ) throws(SystemError) {
    prefix += name.bytes
    prefix.append(SystemPath.separator)
    note(status, mode: 0o055)
    try writer.add(prefix, status)
  }

  mutating func didLeave(_ name: SystemPath, in parent: FileDescriptor) throws(SystemError) {
    prefix.removeLast(name.bytes.count + 1)
  }

  mutating func visit(_ entry: DirectoryEntry, in directory: FileDescriptor) throws(SystemError) {
    switch entry.kind {
    case .regular:
      try addFile(entry.name, in: directory)
    case .symbolicLink:
      let status = try files.status(of: entry.name, at: directory, links: .noFollow)
      let target = try files.readLink(entry.name, at: directory)
      try writer.add(prefix + entry.name.bytes, status, contents: target.bytes)
    case .directory, .fifo, .socket, .characterDevice, .blockDevice, .unknown, nil:
      leftOut.append(SystemPath(bytes: prefix + entry.name.bytes))
    }
  }

  private mutating func note(_ status: FileStatus, mode: UInt32) {
    isReadableByAll = isReadableByAll && status.mode & mode == mode
  }

  private mutating func addFile(_ name: SystemPath, in directory: FileDescriptor) throws(SystemError) {
    let input = try files.open(name, at: directory, flags: [.noFollow, .nonBlocking], mode: 0)
    defer { try? files.close(input) }
    let status = try files.status(of: input)
    note(status, mode: 0o044)
    try writer.add(prefix + name.bytes, status, contentsOf: input)
  }
}
