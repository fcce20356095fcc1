internal import SystemInterface

extension PackageWriter {
  /// Whether another name of a file is as good as a copy.
  private func mayBeLinked(_ status: FileStatus, _ stored: StoredMember) -> LinkTurn {
    switch linking {
    case .never: .never
    case .always: isReplaced(stored) || status.mode & 0o222 == 0 ? .first : .ifBlocksCannotBeShared
    case .whereNobodyCanWriteThroughIt: isReplaced(stored) || status.mode & 0o222 == 0 ? .first : .never
    }
  }

  /// Whether a member is of the package that's replaced.
  func isReplaced(_ stored: StoredMember) -> Bool { present?.identity == stored.directory.identity }

  private enum LinkTurn { case first, ifBlocksCannotBeShared, never }

  /// Brings an unchanged file: as another name of it, with the same blocks, or as a copy.
  mutating func bringFile(
    _ stored: StoredMember, _ status: FileStatus, _ source: DirectoryItem, to item: DirectoryItem
  ) throws(PackageError) {
    switch mayBeLinked(status, stored) {
    case .never: break
    case .first: if try link(stored, source, to: item) { return }
    case .ifBlocksCannotBeShared:
      if try !canClone(stored, source, beside: item), try link(stored, source, to: item) { return }
    }
    let count = try stored.reading { () throws(SystemError) in
      try files.copyFile(source, to: item, durability: .synchronized)
    }
    report.bytesWritten += count
    if count > 0 || status.size == 0 { report.filesWritten += 1 } else { report.filesCloned += 1 }
  }

  /// Gives a file another name, unless the file system or its owner doesn't allow that.
  mutating func link(
    _ stored: StoredMember, _ source: DirectoryItem, to item: DirectoryItem
  ) throws(PackageError) -> Bool {
    let isLinked = try stored.reading { () throws(SystemError) in
      do throws(SystemError) {
        try files.link(source.name, at: source.directory, to: item.name, at: item.directory, links: .noFollow)
        return true
      } catch
        where error.isUnsupported || error.isOne(of: .improperLink, .tooManyLinks, .notPermitted, .permissionDenied)
      {
        return false
      }
    }
    if isLinked { report.filesLinked += 1 }
    return isLinked
  }

  /// Whether the file system lets files share blocks; tried with a file that's gone at once.
  private func canClone(
    _ stored: StoredMember, _ source: DirectoryItem, beside item: DirectoryItem
  ) throws(PackageError) -> Bool {
    let input = try stored.reading { () throws(SystemError) in
      try files.open(source.name, at: source.directory, flags: [.noFollow, .nonBlocking], mode: 0)
    }
    defer { try? files.close(input) }
    // A file system that has no files without a name shares no blocks either, as far as is known.
    guard let trial = try? files.open(SystemPath("."), at: item.directory, flags: [.unnamed, .writeOnly], mode: 0o600)
    else { return false }
    defer { try? files.close(trial) }
    return (try? files.clone(input, to: trial)) != nil
  }

  /// Writes a file that was altered or added, with the attributes of the one that had its name.
  mutating func writeFile(
    _ file: FileNode, to item: DirectoryItem, _ path: MemberPath, _ former: StoredMember?
  ) throws(PackageError) {
    let old = try former.flatMap { (former) throws(PackageError) in try openFormer(former) }
    defer { if let old { try? files.close(old) } }
    // For its owner alone until it has the mode of its former self: users that couldn't read the old file may not read
    // this one.
    let mode: UInt32 = old == nil && file.mode == nil ? 0o666 : 0o600
    let count = try aboutMember(path.path) { () throws(SystemError) in
      try files.withDescriptor(item.name, at: item.directory, flags: [.create, .exclusive, .writeOnly], mode: mode) {
        (output) throws(SystemError) in
        let count = try write(file.contents, to: output)
        if let old { try files.copyMetadata(from: old, files.status(of: old), to: output) }
        if let mode = file.mode { try files.setMode(of: output, to: mode) }
        try files.synchronize(output)
        return count
      }
    }
    report.bytesWritten += count
    report.filesWritten += 1
  }

  private func write(_ contents: FileNode.Contents, to output: FileDescriptor) throws(SystemError) -> Int {
    switch contents {
    case .bytes(let bytes):
      try files.writeAll(bytes, to: output)
      return bytes.count
    case .file(let place):
      return try files.withDescriptor(place.parent, flags: .directory) { (directory) throws(SystemError) in
        try files.copyContents(
          of: DirectoryItem(name: place.lastComponent, directory: directory, place: place.parent), to: output)
      }
    }
  }

  /// The file that had the name in the package that was opened; `nil` if none had.
  private func openFormer(_ former: StoredMember) throws(PackageError) -> FileDescriptor? {
    do throws(PackageError) {
      if try former.status().kind != .regular { return nil }
      return try former.open(flags: [])
    } catch  where error.code == .notFound || error.code == .packageReplaced {
      return nil
    } catch  where error.systemError?.isOne(of: .permissionDenied) == true {
      // A process that may not read the file can't take over its attributes.
      return nil
    }
  }
}
