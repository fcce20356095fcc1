extension ScriptedFileSystem {
  /// Logged and scripted, then fstat(2).
  public func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus {
    try run(.descriptorStatus) { (base, _) throws(SystemError) in
      try base.status(of: descriptor)
    }
  }

  /// Logged and scripted, then statx(2).
  public func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus {
    try run(.status, [path]) { (base, _) throws(SystemError) in
      try base.status(of: path, at: directory, links: links)
    }
  }

  /// Logged and scripted, then rename(2).
  public func rename(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    _ mode: RenameMode
  ) throws(SystemError) {
    try run(.rename, [source, target]) { (base, _) throws(SystemError) in
      try base.rename(source, at: sourceDirectory, to: target, at: targetDirectory, mode)
    }
  }

  /// Logged and scripted, then linkat(2).
  public func link(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    links: LinkTreatment
  ) throws(SystemError) {
    try run(.link, [source, target]) { (base, _) throws(SystemError) in
      try base.link(source, at: sourceDirectory, to: target, at: targetDirectory, links: links)
    }
  }

  /// Logged and scripted, then unlinkat(2).
  public func unlink(_ path: SystemPath, at directory: FileDescriptor, _ kind: UnlinkKind) throws(SystemError) {
    try run(.unlink, [path]) { (base, _) throws(SystemError) in
      try base.unlink(path, at: directory, kind)
    }
  }

  /// Logged and scripted, then mkdirat(2).
  public func makeDirectory(_ path: SystemPath, at directory: FileDescriptor, mode: UInt32) throws(SystemError) {
    try run(.makeDirectory, [path]) { (base, _) throws(SystemError) in
      try base.makeDirectory(path, at: directory, mode: mode)
    }
  }

  /// Logged and scripted, then mknodat(2).
  public func makeNode(
    _ path: SystemPath, at directory: FileDescriptor, like status: FileStatus
  ) throws(SystemError) {
    try run(.makeNode, [path]) { (base, _) throws(SystemError) in
      try base.makeNode(path, at: directory, like: status)
    }
  }

  /// Logged and scripted, then readlinkat(2).
  public func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath {
    try run(.readLink, [path]) { (base, _) throws(SystemError) in
      try base.readLink(path, at: directory)
    }
  }

  /// Logged and scripted, then symlinkat(2).
  public func makeSymbolicLink(
    _ path: SystemPath, at directory: FileDescriptor, target: SystemPath
  ) throws(SystemError) {
    try run(.makeSymbolicLink, [target, path]) { (base, _) throws(SystemError) in
      try base.makeSymbolicLink(path, at: directory, target: target)
    }
  }

  /// Logged and scripted, then getdents(2).
  public func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    try run(.readDirectory) { (base, _) throws(SystemError) in
      try base.readDirectory(descriptor)
    }
  }
}
