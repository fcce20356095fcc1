extension ScriptedFileSystem {
  /// Logged and scripted, then fstat(2).
  package func status(of descriptor: FileDescriptor) throws(SystemError) -> FileStatus {
    try run(.descriptorStatus, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.status(of: descriptor)
    }
  }

  /// Logged and scripted, then statx(2).
  package func status(
    of path: SystemPath, at directory: FileDescriptor, links: LinkTreatment
  ) throws(SystemError) -> FileStatus {
    try run(.status, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.status(of: paths[0], at: directory, links: links)
    }
  }

  /// Logged and scripted, then faccessat(2).
  package func checkWritePermission(of path: SystemPath, at directory: FileDescriptor) throws(SystemError) {
    try run(.writePermission, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.checkWritePermission(of: paths[0], at: directory)
    }
  }

  /// Logged and scripted, then rename(2).
  package func rename(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    _ mode: RenameMode
  ) throws(SystemError) {
    try run(.rename, [(source, sourceDirectory), (target, targetDirectory)]) { (base, paths, _) throws(SystemError) in
      try base.rename(paths[0], at: sourceDirectory, to: paths[1], at: targetDirectory, mode)
    }
  }

  /// Logged and scripted, then linkat(2).
  package func link(
    _ source: SystemPath, at sourceDirectory: FileDescriptor, to target: SystemPath, at targetDirectory: FileDescriptor,
    links: LinkTreatment
  ) throws(SystemError) {
    try run(.link, [(source, sourceDirectory), (target, targetDirectory)]) { (base, paths, _) throws(SystemError) in
      try base.link(paths[0], at: sourceDirectory, to: paths[1], at: targetDirectory, links: links)
    }
  }

  /// Logged and scripted, then unlinkat(2).
  package func unlink(_ path: SystemPath, at directory: FileDescriptor, _ kind: UnlinkKind) throws(SystemError) {
    try run(.unlink, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.unlink(paths[0], at: directory, kind)
    }
  }

  /// Logged and scripted, then mkdirat(2).
  package func makeDirectory(_ path: SystemPath, at directory: FileDescriptor, mode: UInt32) throws(SystemError) {
    try run(.makeDirectory, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.makeDirectory(paths[0], at: directory, mode: mode)
    }
  }

  /// Logged and scripted, then mknodat(2).
  package func makeNode(
    _ path: SystemPath, at directory: FileDescriptor, like status: FileStatus
  ) throws(SystemError) {
    try run(.makeNode, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.makeNode(paths[0], at: directory, like: status)
    }
  }

  /// Logged and scripted, then readlinkat(2).
  package func readLink(_ path: SystemPath, at directory: FileDescriptor) throws(SystemError) -> SystemPath {
    try run(.readLink, [(path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.readLink(paths[0], at: directory)
    }
  }

  /// Logged and scripted, then symlinkat(2).
  package func makeSymbolicLink(
    _ path: SystemPath, at directory: FileDescriptor, target: SystemPath
  ) throws(SystemError) {
    // The target of a link isn't looked up.
    try run(.makeSymbolicLink, [(target, directory), (path, directory)]) { (base, paths, _) throws(SystemError) in
      try base.makeSymbolicLink(paths[1], at: directory, target: paths[0])
    }
  }

  /// Logged and scripted, then getdents(2).
  package func readDirectory(_ descriptor: FileDescriptor) throws(SystemError) -> [DirectoryEntry]? {
    try run(.readDirectory, on: descriptor) { (base, _, _) throws(SystemError) in
      try base.readDirectory(descriptor)
    }
  }
}
