internal import KeyValueReplicas
internal import SystemInterface

/// A store in one process: its replica, the values for readers, and those who listen.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `replica` | its lock, which is held during system calls | one thread at a time appends events |
/// | `values` | its lock | readers never wait for the disk |
/// | `listeners`, `wakeUps` | their locks | any thread begins and ends to listen |
/// | `customPolicies` | its lock | a key may be defined while another one is merged |
/// | `failure`, `sealFailures` | their locks | the thread that takes in news of others can't report to a caller |
final class StoreEngine: Sendable {
  private struct Replica: ~Copyable {
    var file: ReplicaFile
    var directory: SystemPath
    /// The ``ReplicaFile/reopenCount`` with which its directory is watched.
    var watchedCount = 0
    /// How often another account's replica has taken its place.
    var generation = 0
  }

  let name: String
  let limits: StoreLimits
  private let files: any FileSystem
  private let replica: Guarded<Replica>
  private let values: Guarded<KeyTable<StoredValue>>
  private let listeners = Guarded(StoreListeners())
  private let wakeUps = Guarded(WakeUps())
  private let customPolicies: Guarded<[String: MergePolicy]>
  private let failure = Guarded<KeyValueStoreError?>(nil)
  /// The present values that couldn't be opened, with the reason.
  private let sealFailures = Guarded(KeyTable<KeyValueStoreError>())
  private let sealing: StoreSealing?
  private let now: @Sendable () -> Int64
  /// The settings that the program has named, and otherwise those that a replica has.
  private let settings: @Sendable (ReplicaSettings) -> ReplicaSettings
  /// Its watches are those of the present replica, and change while that's locked, but for the first ones.
  private let watching: StoreWatch

  init(
    _ place: StorePlace, _ limits: StoreLimits, _ settings: @escaping @Sendable (ReplicaSettings) -> ReplicaSettings,
    _ policies: [String: MergePolicy],
    _ sealing: StoreSealing?, files: any FileSystem, now: @escaping @Sendable () -> Int64, watching: StoreWatch
  ) throws(KeyValueStoreError) {
    name = place.store
    self.limits = limits
    self.sealing = sealing
    self.files = files
    self.now = now
    self.watching = watching
    if sealing != nil, let policy = policies.first(where: { $0.value.kind != .lastWriter }) {
      throw Self.unmergeable(policy.key)
    }
    let directory = try translating { () throws(SystemError) in try place.directory() }
    let custom = Guarded(policies)
    customPolicies = custom
    var file = try Self.file(in: directory, of: place, limits, custom, files)
    self.settings = settings
    try Self.state(settings, in: &file, at: now())
    values = Guarded(KeyTable())
    let kept = file.core.table
    replica = Guarded(Replica(file: consume file, directory: directory))
    let opened = openedPresent(kept)
    values.withLock { $0 = opened }
  }

  // MARK: Sealed values

  private static func unmergeable(_ key: String) -> KeyValueStoreError {
    KeyValueStoreError(
      .notSealed, "sealed values are merged by the later write alone, so '\(key)' can't have another policy")
  }

  /// A value as programs have it; `nil` for one that can't be opened.
  private func opened(_ value: StoredValue?, of key: String) -> StoredValue? {
    guard let sealing else { return value }
    return try? sealing.opened(value, of: key)
  }

  /// The same of a present value: ``lastFailure`` says as long as it's there that it can't be opened.
  private func openedPresent(_ value: StoredValue?, of key: String) -> StoredValue? {
    guard let sealing else { return value }
    do throws(KeyValueStoreError) {
      let opened = try sealing.opened(value, of: key)
      sealFailures.withLock { $0[key] = nil }
      return opened
    } catch {
      sealFailures.withLock { $0[key] = error }
      return nil
    }
  }

  /// All values of a replica that takes the place of another one.
  private func openedPresent(_ values: KeyTable<StoredValue>) -> KeyTable<StoredValue> {
    if sealing == nil { return values }
    sealFailures.withLock { $0 = KeyTable() }
    var result = KeyTable<StoredValue>()
    for (key, value) in values { result[key] = openedPresent(value, of: key) }
    return result
  }

  /// Why a key seems to have no value, if it has one that can't be opened.
  func openingFailure(of key: String) -> KeyValueStoreError? { sealFailures.withLock { $0[key] } }

  private func opened(_ values: KeyTable<StoredValue>) -> KeyTable<StoredValue> {
    if sealing == nil { return values }
    var result = KeyTable<StoredValue>()
    for (key, value) in values { result[key] = opened(value, of: key) }
    return result
  }

  private func opened(_ change: StoreChange) -> StoreChange {
    if sealing == nil { return change }
    return StoreChange(
      reason: change.reason,
      items: change.items.map { item in
        StoreChange.Item(key: item.key, old: opened(item.old, of: item.key), new: opened(item.new, of: item.key))
      })
  }

  /// The values that were given up.
  var losses: [StoreLoss] { read { $0.losses }.map { StoreLoss($0, opened($0.value, of: $0.key)) } }

  private static func file(
    in directory: SystemPath, of place: StorePlace, _ limits: StoreLimits, _ custom: Guarded<[String: MergePolicy]>,
    _ files: any FileSystem
  ) throws(KeyValueStoreError) -> ReplicaFile {
    try ReplicaFile.opened(
      in: directory, files: files,
      remaking: { () throws(SystemError) in _ = try place.directory() },
      making: { replica in
        ReplicaCore(replica, limits: limits) { key in custom.withLock { $0[key] } ?? .lastWriter }
      })
  }

  /// Appends the settings that the program has named, unless they're those of the store.
  private static func state(
    _ settings: (ReplicaSettings) -> ReplicaSettings, in file: inout ReplicaFile, at now: Int64
  ) throws(KeyValueStoreError) {
    if file.core.has(settings(file.core.settings)) { return }
    _ = try file.append(at: now) { (core) in
      let settings = settings(core.settings)
      return core.has(settings) ? nil : .configured(settings)
    }
  }

  /// The directory of the present account's replica.
  var directory: SystemPath { replica.withLock { $0.directory } }

  /// The number of the present account's replica: events of an earlier one aren't taken any more.
  var generation: Int { replica.withLock { $0.generation } }

  /// Takes another account's values.
  ///
  /// - Parameters:
  ///   - place: The place of its replica.
  ///   - transfer: The function of the present replica that writes its values to the other one.
  /// - Throws: The reason why it has the former values still.
  func move(
    to place: StorePlace,
    transferring transfer: (inout ReplicaFile, inout ReplicaFile, Int64) throws(KeyValueStoreError) -> Void
  ) throws(KeyValueStoreError) {
    let (directory, registrations) = try translating { () throws(SystemError) in
      let directory = try place.directory()
      return (directory, try watch(directory))
    }
    var file = try Self.file(in: directory, of: place, limits, customPolicies, files)
    let policies = customPolicies.withLock { $0.mapValues(\.kind) }
    let settings = settings
    try Self.state(
      { present in
        var settings = settings(present)
        settings.policies.merge(policies) { $1 }
        return settings
      }, in: &file, at: now())
    var next = Optional(consume file)
    let now = now()
    let error = replica.withLock { replica -> KeyValueStoreError? in
      guard var file = next.take() else { return nil }
      let former = opened(replica.file.core.table)
      do throws(KeyValueStoreError) { try transfer(&replica.file, &file, now) } catch { return error }
      let values = openedPresent(file.core.table)
      replica = Replica(file: consume file, directory: directory, generation: replica.generation + 1)
      let items = former.difference(to: values)
      self.values.withLock { $0 = values }
      follow(registrations)
      tell([StoreChange(reason: .accountChange, items: items)])
      signal()
      return nil
    }
    if let error { throw error }
    // Others may have written something since the other replica was read.
    takeInNews()
  }

  // MARK: Reading

  func value(_ key: String) -> StoredValue? { values.withLock { $0[key] } }

  var table: KeyTable<StoredValue> { values.withLock { $0 } }

  var all: [String: StoredValue] { Dictionary(table) }

  /// Reads from the state, which is that of the last call or the last news.
  func read<Result: Sendable>(_ body: (ReplicaCore) -> Result) -> Result {
    replica.withLock { body($0.file.core) }
  }

  /// Whether there's a journal; somebody may have removed it.
  var hasJournal: Bool { read { $0.replica.rawValue != 0 } }

  /// The reason why news of others couldn't be taken in the last time, or why a value isn't there.
  var lastFailure: KeyValueStoreError? { failure.withLock { $0 } ?? sealFailures.withLock { $0.sorted().first?.value } }

  // MARK: Writing

  /// Writes keys together; nothing if one of the values that the writer has read is another one by now.
  ///
  /// - Returns: Whether they were written.
  func write(
    _ writes: [KeyWrite], isForced: Bool = false, expecting reads: KeyTable<StoredValue?> = KeyTable()
  ) throws(KeyValueStoreError) -> Bool {
    var isCurrent = true
    let plain = writes
    var writes = writes
    if let sealing {
      writes = []
      for write in plain { writes.append(try sealing.sealed(write)) }
    }
    let sealed = writes
    do throws(KeyValueStoreError) {
      _ = try append { (core) throws(KeyValueStoreError) in
        isCurrent = true
        for (key, value) in reads {
          // A value that can't be opened isn't the same as none, which the writer has seen.
          var present = core[key]
          if let sealing { present = try sealing.opened(present, of: key) }
          if present != value { isCurrent = false }
        }
        let writes = sealed
        if !isCurrent || writes.isEmpty { return nil }
        do throws(WriteRefusal) { try core.check(writes) } catch { throw KeyValueStoreError(error) }
        return .write(writes, isForced: isForced)
      }
    } catch {
      if error.code == .tooManyKeys || error.code == .tooManyBytes { tellQuota(plain) }
      throw error
    }
    return isCurrent
  }

  /// Removes a key, also one whose value can't be opened.
  func remove(_ key: String) throws(KeyValueStoreError) {
    _ = try append { (core) in core[key] == nil ? nil : .write([KeyWrite(key, nil)], isForced: false) }
  }

  /// States the policy of a key in the journal, unless it's there.
  func define(_ key: String, _ policy: MergePolicy) throws(KeyValueStoreError) {
    if sealing != nil, policy.kind != .lastWriter { throw Self.unmergeable(key) }
    customPolicies.withLock { $0[key] = policy }
    // The synchronizer may wait for its function.
    signal()
    if read({ $0.policies[key] == policy.kind }) { return }
    _ = try append { (core) in
      var settings = core.settings
      if settings.policies[key] == policy.kind { return nil }
      settings.policies = [key: policy.kind]
      return .configured(settings)
    }
  }

  /// Appends an event.
  ///
  /// - Parameters:
  ///   - generation: The replica that it's for, by ``generation``; the present one unless given.
  ///   - input: Makes the event; `nil` for none.
  /// - Returns: The tasks after it.
  /// - Throws: The reason why nothing was appended.
  func append(
    in generation: Int? = nil, _ input: (ReplicaCore) throws(KeyValueStoreError) -> ReplicaInput?
  ) throws(KeyValueStoreError) -> [ReplicaEffect] {
    let now = now()
    let outcome = replica.withLock { replica -> Swift.Result<[ReplicaEffect], KeyValueStoreError> in
      if let generation, generation != replica.generation {
        return .failure(KeyValueStoreError(.closed, "the store has the values of another account by now"))
      }
      var written: [KeyWrite] = []
      do throws(KeyValueStoreError) {
        let effects = try replica.file.append(at: now) { (core) throws(KeyValueStoreError) in
          let input = try input(core)
          if case .write(let writes, _) = input { written = writes }
          return input
        }
        let own = effects.compactMap { effect in if case .changed(let change) = effect { change } else { nil } }
        watchAgain(&replica)
        publish(replica.file.takeChanges() + own, written, replica.file.core)
        signal()
        return .success(effects)
      } catch {
        // Others may have written something nevertheless.
        publish(replica.file.takeChanges(), [], replica.file.core)
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  // MARK: Watching

  /// Takes in what others write from now on; at intervals where the directory can't be watched.
  ///
  /// - Throws: The reason why the directory can't be looked at either.
  func beginWatching() throws(SystemError) {
    follow(try watch(directory))
    // Something may have been written before.
    takeInNews()
  }

  private func watch(_ directory: SystemPath) throws(SystemError) -> [DirectoryWatch.Registration] {
    try watching.begin(directory) { [weak self] news in
      guard let self else { return }
      if news.names.contains(SyncTurn.name) { signal() }
      if news.isUncertain || news.names != [SyncTurn.name] { takeInNews() }
    }
  }

  private func follow(_ registrations: [DirectoryWatch.Registration]) {
    watching.follow(registrations) { [weak self] in self?.poll() ?? false }
  }

  /// Looks at a store whose directory isn't watched, and tries to watch it.
  ///
  /// - Returns: Whether it has to be looked at again.
  private func poll() -> Bool {
    let isWatched = replica.withLock { replica in
      if let registrations = try? watch(replica.directory), !registrations.isEmpty { follow(registrations) }
      return watching.endsPolling()
    }
    takeInNews()
    // Another process may have ended its turn.
    signal()
    return !isWatched
  }

  /// The journal may be in another directory by now, of the same name.
  private func watchAgain(_ replica: inout Replica) {
    if replica.watchedCount == replica.file.reopenCount { return }
    // Otherwise the next call tries it again.
    guard let registrations = try? watch(replica.directory) else { return }
    replica.watchedCount = replica.file.reopenCount
    follow(registrations)
  }

  /// Takes in what other processes have written.
  func takeInNews() {
    let result = replica.withLock { replica -> KeyValueStoreError? in
      if !replica.file.mayHaveNews() { return nil }
      var failure: KeyValueStoreError?
      do throws(KeyValueStoreError) { try replica.file.catchUp() } catch { failure = error }
      watchAgain(&replica)
      publish(replica.file.takeChanges(), [], replica.file.core)
      signal()
      return failure
    }
    failure.withLock { $0 = result }
  }

  /// In the order of the events: the replica is locked.
  private func publish(_ changes: [StoreChange], _ writes: [KeyWrite], _ core: ReplicaCore) {
    if changes.isEmpty && writes.isEmpty { return }
    values.withLock { values in
      for change in changes {
        for item in change.items { values[item.key] = openedPresent(core[item.key], of: item.key) }
      }
      for write in writes { values[write.key] = openedPresent(core[write.key], of: write.key) }
    }
    tell(changes.map(opened))
  }

  // MARK: Listening

  func listen() -> StoreListener { listeners.withLock { $0.add() } }

  func tell(_ changes: [StoreChange]) {
    if changes.isEmpty { return }
    let listeners = listeners.withLock { $0.current() }
    for listener in listeners { for change in changes { listener.put(change) } }
  }

  /// Signals new events from now on.
  func add(_ wakeUp: WakeUp) { wakeUps.withLock { $0.add(wakeUp) } }

  /// Tells everybody who waits for something of the store to look again.
  func signal() { wakeUps.withLock { $0.signal() } }

  /// KV-7: an error at the call, and a message.
  private func tellQuota(_ writes: [KeyWrite]) {
    let items = writes.sorted { $0.key < $1.key }.map { write in
      StoreChange.Item(key: write.key, old: value(write.key), new: value(write.key))
    }
    tell([StoreChange(reason: .quotaViolation, items: items)])
  }

  /// Nothing more is told.
  func end() {
    watching.end()
    for listener in listeners.withLock({ $0.current() }) { listener.end() }
  }
}
