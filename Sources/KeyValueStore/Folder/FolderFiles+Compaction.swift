internal import KeyValueReplicas
internal import SystemInterface

extension FolderFiles {
  /// Runs `body` unless another process compacts.
  func withCompactionLock(
    _ directory: FileDescriptor, _ body: () throws(SharedStorageFailure) -> Void
  ) throws(SharedStorageFailure) {
    let lock = try calling { () throws(SystemError) in
      try files.open(
        Self.lockName, at: directory, flags: [.create, .readWrite, .noFollow, .nonBlocking], mode: 0o600)
    }
    defer { try? files.close(lock) }
    try calling { () throws(SystemError) in try files.lock(lock) }
    try body()
  }

  /// Makes the file with everything; it's on the disk when this returns.
  func make(
    _ values: FolderValues, _ state: SharedState, _ directory: FileDescriptor
  ) throws(SharedStorageFailure) {
    try calling { () throws(SystemError) in
      let name = FolderName.values(values).path
      try files.makeFile(name, at: directory, with: SharedFile.bytes(of: state), mode: 0o600)
      try files.synchronizeDirectory(directory)
    }
  }

  /// Removes older files with everything, and then changes that aren't kept, each oldest first, and what processes that ended have left.
  func removeAll(
    before values: FolderValues, _ survey: FolderSurvey, _ directory: FileDescriptor
  ) throws(SharedStorageFailure) {
    let old = survey.values.filter { $0 < values }.map { FolderName.values($0).path }
    let unneeded = survey.changes.prefix { $0 <= values.floor }.map { FolderName.change($0).path }
    // Their writers, if they're still there, find that others were faster.
    let drafts = survey.drafts.filter { draft in
      switch draft.name {
      case .change(let revision): revision <= values.revision
      case .values(let made): made < values
      }
    }
    for name in old + unneeded + drafts.map(\.path) {
      do throws(SystemError) { try files.unlink(name, at: directory, .file) } catch {
        if error.number != .noSuchFileOrDirectory { throw SharedStorageFailure(error, in: path) }
      }
    }
  }
}
