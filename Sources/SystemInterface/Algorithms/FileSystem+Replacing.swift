internal import Glibc

/// Whether a file that's replaced has to be one that this process may write to.
package enum WritePermission {
  case required
  /// The permission to change the directory is enough, as for rename(2).
  case ignored
}

extension FileSystem {
  /// Saves a file safely: readers and crashes see all of the old contents or all of the new ones.
  ///
  /// The contents are written to a temporary file beside the old one, brought to the disk, and renamed over it. Mode,
  /// owner, group and extended attributes of the old file are kept. Where the owner or the group can't be, set-id bits
  /// go; where the group or the access list can't be, group and others get at most the permissions that both had. A new
  /// file gets mode `0o666` less the umask. Other hard links to the old file keep the old contents.
  ///
  /// Blocks until the contents are on the disk. Of two calls at once one wins, whole.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - contents: Its new contents.
  ///   - permission: Whether the permissions of the old file have to allow it.
  /// - Throws: EISDIR for a directory, EINVAL for a symbolic link or another special file, EACCES for a file that this
  ///   process may not write to, or the error of the call that failed. The old file is untouched then and no temporary is left, with one exception: when the last call,
  ///   fsync(2) on the directory, fails, the new contents are in place but may be lost with the power.
  /// - Complexity: O(*n*) in the number of bytes; about sixteen system calls, two of which wait for the disk.
  /// - Note: rename(2), fsync(2), open(2) on `O_TMPFILE`.
  package func replaceContents(
    of path: SystemPath, with contents: [UInt8], permission: WritePermission = .required
  ) throws(SystemError) {
    try replace(path, permission) { (file) throws(SystemError) in try writeAll(contents, to: file) }
  }

  /// Saves a file safely, like ``replaceContents(of:with:permission:)``, with the contents of another one.
  ///
  /// The file system shares their blocks if it can.
  ///
  /// - Parameters:
  ///   - path: The file, as a canonical path.
  ///   - source: A regular file that nobody changes meanwhile.
  ///   - mode: The permissions of a file that isn't there yet; `0o666` less the umask unless stated.
  ///   - permission: Whether the permissions of the old file have to allow it.
  /// - Throws: As above, and errors of reading `source`.
  package func replaceContents(
    of path: SystemPath, withContentsOf source: SystemPath, mode: UInt32? = nil, permission: WritePermission = .required
  ) throws(SystemError) {
    let isNew = try statusIfPresent(of: path) == nil
    try withDescriptor(source.parent, flags: .directory) { (directory) throws(SystemError) in
      let item = DirectoryItem(name: source.lastComponent, directory: directory, place: source.parent)
      try replace(path, permission) { (file) throws(SystemError) in
        try copyContents(of: item, to: file)
        if let mode, isNew { try setMode(of: file, to: mode) }
      }
    }
  }

  /// Saves a file in an open directory safely, like ``replaceContents(of:with:permission:)``.
  ///
  /// - Parameters:
  ///   - name: A single component.
  ///   - directory: The directory that holds it, or will.
  ///   - contents: Its new contents.
  /// - Throws: As above; the paths of errors are relative to `directory`.
  package func replaceContents(
    of name: SystemPath, at directory: FileDescriptor, with contents: [UInt8]
  ) throws(SystemError) {
    try replace(name, at: directory, .required) { (file) throws(SystemError) in try writeAll(contents, to: file) }
    try synchronizeAfterCommit(directory)
  }

  private func replace(
    _ path: SystemPath, _ permission: WritePermission, fill: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    try locatingErrors(at: path) { () throws(SystemError) in
      try withDescriptor(path.parent, flags: .directory) { (directory) throws(SystemError) in
        try replace(try path.itemName(), at: directory, permission, fill: fill)
        try synchronizeAfterCommit(directory)
      }
    }
  }

  private func replace(
    _ name: SystemPath, at directory: FileDescriptor, _ permission: WritePermission,
    fill: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    let old = try replaceableStatus(of: name, at: directory)
    if old != nil && permission == .required { try refuseReadOnlyFile(name, at: directory) }
    do {
      try save(as: name, at: directory, like: old, unnamed: true, fill: fill)
    } catch let error where error.call == SystemCall.link.rawValue && error.errno == ENOENT {
      // Without /proc an unnamed file can't get a name.
      try save(as: name, at: directory, like: old, unnamed: false, fill: fill)
    }
  }

  private func replaceableStatus(
    of name: SystemPath, at directory: FileDescriptor
  ) throws(SystemError) -> FileStatus? {
    func refusal(_ code: Int32, _ advice: String) -> SystemError {
      SystemError(call: "replaceContents", paths: [name], errno: code, advice: advice)
    }
    let status = try statusIfPresent(of: name, at: directory)
    switch status?.kind {
    case nil, .regular: return status
    case .directory: throw refusal(EISDIR, "It is a directory; pass the path of a file.")
    case .symbolicLink: throw refusal(EINVAL, "It is a symbolic link; pass the path of its target.")
    case .fifo, .socket, .characterDevice, .blockDevice, .unknown:
      throw refusal(EINVAL, "It isn't a regular file, so it has no contents to replace.")
    }
  }

  /// Throws EACCES for a file whose permissions don't let this process write to it, though its directory does.
  private func refuseReadOnlyFile(_ name: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    do {
      try checkWritePermission(of: name, at: directory)
    } catch let error where error.errno == EACCES {
      throw SystemError(
        call: "replaceContents", paths: [name], errno: EACCES,
        advice: "Its permissions don't allow writing; pass the option '.replacesReadOnly' to replace it all the same.")
    } catch {
      // Other obstacles, such as EROFS, stop the calls that follow; old sandboxes don't support this one.
    }
  }

  private func save(
    as name: SystemPath, at directory: FileDescriptor, like old: FileStatus?, unnamed: Bool,
    fill: (FileDescriptor) throws(SystemError) -> Void
  ) throws(SystemError) {
    // 0o600 until the old file's own mode is set: a user who couldn't read the old contents may not read the new ones.
    var file = try makeTemporaryFile(
      for: name, in: directory, mode: old == nil ? 0o666 : 0o600, unnamed: unnamed)
    do {
      try fill(file.descriptor)
      if old != nil { try copyMetadata(of: name, at: directory, to: file.descriptor) }
      try synchronize(file.descriptor)
      try nameTemporaryFile(&file, for: name, in: directory)
      if let temporary = file.name {
        try rename(temporary, at: directory, to: name, at: directory, .replacing)
      }
    } catch {
      discard(file, in: directory)
      throw error
    }
    try? close(file.descriptor)
  }

  private func copyMetadata(
    of name: SystemPath, at directory: FileDescriptor, to target: FileDescriptor
  ) throws(SystemError) {
    try withDescriptor(name, at: directory, flags: [.noFollow, .nonBlocking]) { (source) throws(SystemError) in
      try copyMetadata(from: source, status(of: source), to: target)
    }
  }

  /// Brings a finished rename to the disk; says in the error that it is finished.
  package func synchronizeAfterCommit(_ directory: FileDescriptor) throws(SystemError) {
    do {
      try synchronizeDirectory(directory)
    } catch {
      var error = error
      error.advice = "The change is in place but may not survive a power failure."
      throw error
    }
  }
}
