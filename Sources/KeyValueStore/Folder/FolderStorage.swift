package import KeyValueReplicas
package import SystemInterface

/// A folder through which the replicas of a store reach each other.
///
/// Each change is a file that gets its name in one step if no other change has it yet. So the folder has to be on one machine, or on a file
/// system whose link(2) and rename(2) are atomic for all machines that use it. Programs that copy folders between machines, such as
/// Syncthing, aren't that: two machines could give the same number to two changes. Directories that are made have the mode 0700, and files 0600:
/// devices belong to one user.
///
/// inotify(7) reports changes at once. Where other machines make changes without this kernel, as on NFS, and while the user has as many watches
/// as the kernel allows, the folder is looked at every five seconds instead.
///
/// Functions work on threads that may block, and may be called from any task, also at once. They end when their task is cancelled, unless the
/// file system doesn't answer.
///
/// - Note: CE-07 to CE-09; link(2), open(2) on `O_TMPFILE`.
package struct FolderStorage: SharedStorage {
  private let contents: FolderContents
  private let beginWatch: @Sendable (SystemPath, WakeUp) throws(SystemError) -> DirectoryWatch.Registration
  /// How often a folder is looked at that can't be watched.
  let unwatchedInterval: Duration
  let clock: any CoordinationClock
  var replica: ReplicaID { contents.replica }

  /// Makes the connection; nothing is read or written.
  ///
  /// - Parameters:
  ///   - folder: The path of the shared folder, which has to be there; a directory for the account and the store is made in it.
  ///   - identity: The replica.
  ///   - clock: The clock for a folder that can't be watched.
  /// - Throws: `denied` for a name of a store or an account that no directory can have.
  package init(
    _ folder: String, for identity: StoreIdentity, clock: any CoordinationClock = HostClock.shared
  ) throws(SharedStorageFailure) {
    try self.init(SystemPath(folder), for: identity, clock: clock)
  }

  init(
    _ folder: SystemPath, for identity: StoreIdentity, files: any FileSystem = HostFileSystem(),
    compaction: FolderContents.Compaction = FolderContents.Compaction(),
    unwatchedInterval: Duration = DirectoryWatch.unwatchedInterval,
    clock: any CoordinationClock = HostClock.shared,
    watching beginWatch: @escaping @Sendable (SystemPath, WakeUp) throws(SystemError) -> DirectoryWatch.Registration = {
      (directory, wakeUp) throws(SystemError) in
      try DirectoryWatch.begin(directory) { [weak wakeUp] _ in wakeUp?.signal() }
    }
  ) throws(SharedStorageFailure) {
    do throws(KeyValueStoreError) {
      _ = try StorePlace(home: folder, account: identity.account, store: identity.store)
    } catch { throw SharedStorageFailure(.denied, error.message) }
    let place = FolderFiles(
      files: files, folder: folder, account: identity.account ?? StorePlace.localAccount, store: identity.store)
    contents = FolderContents(place, identity.replica, identity.limits, compaction)
    self.beginWatch = beginWatch
    self.unwatchedInterval = unwatchedInterval
    self.clock = clock
  }

  /// Reads everything up to the last change.
  ///
  /// - Throws: `unreachable` if the folder isn't there, `denied`, `damaged`, `newerFormat`.
  /// - Complexity: O(changes since the last call); O(keys) for the first one.
  package func readAll() async throws(SharedStorageFailure) -> SharedBatch {
    try await Self.run { [contents] () throws(SharedStorageFailure) in try contents.readAll() }
  }

  /// Carries out an upload as the next change.
  ///
  /// - Returns: `unknown` when the file system has failed in the instant at which the file got its name.
  /// - Throws: As ``readAll()``, or `full`; nothing was changed then.
  /// - Complexity: O(bytes of the upload and of the changes since the last call); now and then O(keys).
  package func upload(_ upload: Upload) async throws(SharedStorageFailure) -> UploadOutcome {
    try await Self.run { [contents] () throws(SharedStorageFailure) in
      try contents.upload(upload) { Task.isCancelled }
    }
  }

  /// All changes after a revision, in order, each once.
  ///
  /// The sequence throws `gap` if one of them isn't kept any more, or the folder is another one; `unreachable`, `denied`, `damaged`,
  /// `newerFormat`.
  package func batches(after revision: Int64) -> FolderBatches { FolderBatches(storage: self, revision: revision) }

  func next(
    after revision: Int64, in identity: FileIdentity?
  ) async throws(SharedStorageFailure) -> (SharedTransaction?, FileIdentity?) {
    try await Self.run { [contents] () throws(SharedStorageFailure) in
      var identity = identity
      return (try contents.next(after: revision, in: &identity), identity)
    }
  }

  /// Watches the directory of the store and those above it up to the folder, which may be moved away.
  ///
  /// - Returns: Nothing for a folder that can't be watched now or at all.
  func beginWatch(_ wakeUp: WakeUp) async throws(SharedStorageFailure) -> [DirectoryWatch.Registration] {
    try await Self.run { [contents, beginWatch] () throws(SharedStorageFailure) in
      // The directory is made if it isn't there.
      try contents.folder.withDirectory { (_) throws(SharedStorageFailure) in
        let path = contents.folder.path
        do throws(SystemError) {
          var registrations: [DirectoryWatch.Registration] = []
          for directory in [path, path.parent, contents.folder.folder] {
            registrations.append(try beginWatch(directory, wakeUp))
          }
          return registrations
        } catch {
          if error.forbidsWatching { return [] }
          throw SharedStorageFailure(error, in: path)
        }
      }
    }
  }

  private static func run<Result: Sendable>(
    _ work: @escaping @Sendable () throws(SharedStorageFailure) -> Result
  ) async throws(SharedStorageFailure) -> Result {
    let outcome = await withTaskExecutorPreference(ElasticThreadPool.shared) { await capture(work) }
    return try outcome.get()
  }

  @concurrent
  private static func capture<Result: Sendable>(
    _ work: @Sendable () throws(SharedStorageFailure) -> Result
  ) async -> Swift.Result<Result, SharedStorageFailure> {
    do throws(SharedStorageFailure) { return .success(try work()) } catch { return .failure(error) }
  }
}

extension StoreSharing {
  /// A folder that all devices of a user can use.
  ///
  /// It has to be on one machine, or on a file system whose link(2) and rename(2) are atomic for all machines that use it. A folder that isn't
  /// there is the failure `unreachable` of the store's status, and is tried again.
  ///
  /// - Parameter path: The path of the folder, which has to be there. Stores have directories in it.
  /// - Returns: The place for ``KeyValueStore/Configuration/sharing``.
  public static func folder(_ path: String) -> StoreSharing {
    StoreSharing { (identity, clock) throws(SharedStorageFailure) in
      try FolderStorage(path, for: identity, clock: clock)
    }
  }
}
