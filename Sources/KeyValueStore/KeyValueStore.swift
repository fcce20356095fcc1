public import KeyValueReplicas
package import SystemInterface

/// Values with names that all programs of a user share, and all of the user's devices if they have a place in common.
///
/// ```swift
/// let store = try KeyValueStore("settings")
/// try store.set("dark", for: "theme")
/// let theme = store["theme"]
/// for await change in store.changes { print(change.reason, change.items.map(\.key)) }
/// ```
///
/// Values are in memory: to read one takes neither a system call nor a wait for the disk. A write is appended to a file before the call
/// returns, so it survives the end of the process; ``synchronize()`` waits until it survives a loss of power. Other processes
/// of the user that have opened the store see it some moments later; within five seconds where the kernel doesn't watch the directory of
/// the store, because the user has as many watches as inotify(7) allows, or because of the file system.
///
/// All functions may be called from any thread. Two stores of the same name in one process are like two processes.
///
/// - Note: Rules KV-1 to KV-14.
public final class KeyValueStore: Sendable {
  /// Where a store is, and what it may hold.
  public struct Configuration: Sendable {
    /// The absolute path of the directory for all stores; `nil` for `key-values` in the user's data home.
    public var directory: String?
    /// The account whose values these are; `nil` for values of this device alone, which aren't shared.
    public var account: String?
    /// How much it may hold; Apple's limits unless set.
    public var limits = StoreLimits()
    /// How values of keys are merged that two devices have written; the last writer wins for all others.
    public var policies: [String: MergePolicy] = [:]
    /// How many uploads may follow each other at once (KV-11).
    ///
    /// The journal keeps it for all programs of the store; one that doesn't set it leaves it as it is, five at first.
    public var uploadCountMax: Int {
      get { statedUploadCountMax ?? 5 }
      set { statedUploadCountMax = newValue }
    }
    /// How long it takes until one more upload is allowed.
    ///
    /// The journal keeps it for all programs of the store; one that doesn't set it leaves it as it is, twelve seconds at first.
    public var uploadInterval: Duration {
      get { statedUploadInterval ?? .seconds(12) }
      set { statedUploadInterval = newValue }
    }
    private var statedUploadCountMax: Int?
    private var statedUploadInterval: Duration?
    /// The place through which the devices of an account reach each other; `nil` if nothing is shared.
    public var sharing: StoreSharing?
    /// The functions that encrypt values; `nil` if they're kept as they are.
    public var sealing: StoreSealing?
    /// The clock of time limits.
    package var clock: any CoordinationClock = HostClock.shared

    /// A store of this user.
    public init() {}

    /// The settings that the program has named, and otherwise those that the store has.
    func settings(_ present: ReplicaSettings) -> ReplicaSettings {
      let interval = statedUploadInterval?.wholeNanoseconds ?? present.uploadInterval
      return ReplicaSettings(
        policies: policies.mapValues(\.kind),
        budget: UploadBudget(countMax: statedUploadCountMax ?? present.uploadCountMax, interval: interval))
    }

    func place(of store: String, _ account: String?) throws(KeyValueStoreError) -> StorePlace {
      if let directory, !directory.hasPrefix("/") {
        throw KeyValueStoreError(.invalidName, "the directory '\(directory)' must be an absolute path")
      }
      return try StorePlace(home: directory.map { SystemPath($0) }, account: account, store: store)
    }
  }

  /// The name of the store.
  public let name: String
  let configuration: Configuration
  let engine: StoreEngine
  let now: @Sendable () -> Int64
  let disk: DiskSynchronizer
  private let files: any FileSystem
  /// One sign-in at a time, from the question whose values these are until they're another account's.
  private let signingIn = Guarded(())
  private let connection: Guarded<StoreConnection>

  /// Opens a store; makes it if it isn't there.
  ///
  /// Blocks for some system calls, and reads the whole store.
  ///
  /// - Parameters:
  ///   - name: The name of the store, at most 120 bytes without a slash.
  ///   - configuration: Where it is, and what it may hold.
  /// - Throws: ``KeyValueStoreError``: `invalidName`, `damaged`, `newerFormat`, `permissionDenied`, `noSpace` and others. Nothing is
  ///   removed then.
  public convenience init(
    _ name: String = "default", _ configuration: Configuration = Configuration()
  ) throws(KeyValueStoreError) {
    try self.init(name, configuration, files: HostFileSystem(), now: { HostWallClock.now })
  }

  init(
    _ name: String, _ configuration: Configuration, files: any FileSystem, now: @escaping @Sendable () -> Int64,
    watching means: StoreWatch.Means = StoreWatch.Means()
  ) throws(KeyValueStoreError) {
    self.name = name
    self.configuration = configuration
    self.now = now
    self.files = files
    if let mistake = configuration.limits.mistake {
      throw KeyValueStoreError(.invalidConfiguration, "\(mistake), see StoreLimits")
    }
    let place = try configuration.place(of: name, configuration.account)
    let engine = try StoreEngine(
      place, configuration.limits, { configuration.settings($0) },
      configuration.policies, configuration.sealing, files: files, now: now,
      watching: StoreWatch(means, configuration.clock))
    self.engine = engine
    disk = DiskSynchronizer { [files] () throws(KeyValueStoreError) in
      try ReplicaFile.synchronize(in: engine.directory, files)
    }
    try translating { () throws(SystemError) in try engine.beginWatching() }
    connection = Guarded(StoreConnection(engine, configuration, configuration.account, files: files, now: now))
  }

  deinit {
    connection.withLock { $0.end() }
    engine.end()
  }

  /// The part that uploads and downloads; `nil` where nothing is shared.
  var synchronizer: StoreSynchronizer? { connection.withLock { $0.synchronizer } }

  // MARK: The account

  /// The account whose values these are; `nil` for those of this device.
  public var account: String? { connection.withLock { $0.account } }

  /// Takes the values of another account in the place of the present ones.
  ///
  /// Values that were written without an account go to the account at the next sign-in. Where the account has values already, these stay, unless
  /// `isForced`, and the others are among the ``losses``. Values of one account never get to another one. ``changes`` tells what has become
  /// different, with the reason `accountChange`. Other processes that write values without an account wait while they're moved. A second call
  /// waits for the first one.
  ///
  /// - Parameters:
  ///   - account: The account; `nil` for values of this device alone, which aren't shared.
  ///   - isForced: Whether values that were written without an account win over those that the account has.
  /// - Throws: ``KeyValueStoreError``; the store has the former account then.
  /// - Note: Rules CK-11, CK-12.
  public func signIn(as account: String?, isForced: Bool = false) throws(KeyValueStoreError) {
    let place = try configuration.place(of: name, account)
    let result = signingIn.withLock { _ in
      do throws(KeyValueStoreError) {
        try signInAlone(as: account, at: place, isForced: isForced)
        return Result<Void, KeyValueStoreError>.success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  private func signInAlone(
    as account: String?, at place: StorePlace, isForced: Bool
  ) throws(KeyValueStoreError) {
    let former = self.account
    if former == account { return }
    try engine.move(to: place) { (old, new, now) throws(KeyValueStoreError) in
      if former != nil { return }
      try old.transferAll(to: &new, at: now, isForced: isForced)
    }
    let next = StoreConnection(engine, configuration, account, files: files, now: now)
    connection.withLock { connection in
      connection.end()
      connection = next
    }
  }

  // MARK: Values

  /// The value of a key; `nil` if it has none.
  ///
  /// - Complexity: O(1), without a system call.
  public subscript(key: String) -> StoredValue? { engine.value(key) }

  /// All keys with their values at one moment.
  ///
  /// Of keys that differ only by their spelling in Unicode, which Swift's strings take for equal, it has one.
  public var dictionary: [String: StoredValue] { engine.all }

  /// Sets the value of a key.
  ///
  /// It's in the file when the call returns. Blocks for some system calls.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` removes the key (CK-02).
  ///   - key: The key.
  /// - Throws: ``KeyValueStoreError``; the store is unchanged then.
  public func set(_ value: StoredValue?, for key: String) throws(KeyValueStoreError) {
    _ = try engine.write([KeyWrite(key, value)])
  }

  /// Removes a key.
  ///
  /// - Parameter key: The key; there's nothing to do if it has no value.
  /// - Throws: ``KeyValueStoreError``; the store is unchanged then.
  public func remove(_ key: String) throws(KeyValueStoreError) {
    try engine.remove(key)
  }

  /// Waits until all writes before the call are on the disk.
  ///
  /// Many tasks that wait at once share one fsync(2).
  ///
  /// - Throws: ``KeyValueStoreError``, such as `noSpace`; whether the writes are on the disk isn't known then.
  public func synchronize() async throws(KeyValueStoreError) { try await disk.run() }

  /// The same, blocking the calling thread.
  ///
  /// - Returns: Whether the writes are on the disk.
  package func synchronizeBlocking() -> Bool {
    (try? ReplicaFile.synchronize(in: engine.directory, files)) != nil
  }

  // MARK: Changes

  /// The changes that this store didn't make itself, from now on.
  ///
  /// Each change is what one transaction altered. A reader that's more than 256 changes behind gets them as one, with the reason of the
  /// last. The sequence ends with the store or the task.
  ///
  /// - Note: Rules CK-08, CK-09, CK-18.
  public var changes: StoreChanges { StoreChanges(listener: engine.listen()) }

  // MARK: State

  /// The keys whose last write isn't uploaded.
  public var pendingKeys: Set<String> { engine.read { $0.pendingKeys } }

  /// The values that were given up for those of other devices, oldest first; the last hundred, or megabyte.
  public var losses: [StoreLoss] { engine.losses }
}

/// A value that was given up because another device had written the key too.
public struct StoreLoss: Hashable, Sendable {
  /// The key.
  public var key: String
  /// The value that was given up; `nil` if the key had been removed.
  public var value: StoredValue?
  /// When it was written, in nanoseconds since 1970, by the clock of the device.
  public var writtenAt: Int64

  init(_ loss: ReplicaCore.Loss, _ value: StoredValue?) {
    key = loss.key
    self.value = value
    writtenAt = loss.time.wall
  }
}

/// The changes of a store that others have made: see ``KeyValueStore/changes``.
public struct StoreChanges: AsyncSequence, Sendable {
  let listener: StoreListener

  /// Takes one change after the other.
  public struct Iterator: AsyncIteratorProtocol {
    let listener: StoreListener

    /// Suspends until the next change.
    ///
    /// - Returns: The change; `nil` after the end of the store, or if the task was cancelled.
    public mutating func next() async -> StoreChange? { await listener.next() }
  }

  /// Iterates the changes.
  ///
  /// - Returns: An iterator; a second one would share the changes with it.
  public func makeAsyncIterator() -> Iterator { Iterator(listener: listener) }
}

extension Duration {
  /// The greatest number that fits, if it's longer.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isOver ? (seconds < 0 ? .min : .max) : product + attoseconds / 1_000_000_000
  }
}
