internal import SystemInterface

/// The right of one process to upload and download for all processes that have a store open.
///
/// It's a lock of a file, which ends with the process, however it ends: flock(2). Locks of the coordination domain aren't used, because a store
/// must work for programs that don't coordinate, also in other domains. The file stays open while a process waits, so its event when the holder ends
/// isn't one of those who wait.
struct SyncTurn: ~Copyable, Sendable {
  static let name = SystemPath("syncing")

  private let files: any FileSystem
  private let descriptor: FileDescriptor

  init(in directory: SystemPath, _ files: any FileSystem) throws(KeyValueStoreError) {
    self.files = files
    descriptor = try translating { () throws(SystemError) in
      try files.open(
        directory.appending(Self.name), at: .workingDirectory, flags: [.create, .readWrite, .noFollow, .nonBlocking],
        mode: 0o600)
    }
  }

  deinit { try? files.close(descriptor) }

  /// Takes the turn if nobody has it.
  func take() throws(KeyValueStoreError) -> Bool {
    do throws(SystemError) {
      try files.lock(descriptor)
      return true
    } catch {
      if error.number == .resourceTemporarilyUnavailable { return false }
      throw KeyValueStoreError(error)
    }
  }
}
