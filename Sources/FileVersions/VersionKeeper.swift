internal import FileCoordination
internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface
internal import VersionStore

/// Uses stores, and keeps processes out of each other's way there.
///
/// All methods block.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `recovered` | its own lock | any thread may be the first to use a store |
/// | `unadopted` | its own lock | any thread may look at a file whose history is elsewhere |
final class VersionKeeper: Sendable {
  let domain: CoordinationDomain
  let storage: VersionStorage
  let attributes: VersionAttributes
  /// The sync engines whose conflict copies beside a file are versions of it.
  let conflictCopies: Set<ConflictCopyEngine>
  let time: @Sendable () -> Int64
  /// The door to the kernel of its stores.
  let files: any FileSystem
  /// How long accesses may wait; those of the domain unless stated.
  let deadlines: AccessDeadlines?
  /// How long a version that was removed can be brought back.
  let removalWindow: Duration
  /// Ends the waits of the call that it's for.
  private let cancellation: CallCancellation?
  /// The stores in which this process has cleared up.
  static let recovered = Guarded<Set<SystemPath>>([])

  init(
    _ domain: CoordinationDomain, _ storage: VersionStorage, _ attributes: VersionAttributes,
    conflictCopies: Set<ConflictCopyEngine> = [], deadlines: AccessDeadlines? = nil,
    removalWindow: Duration = .zero, cancellation: CallCancellation? = nil, files: any FileSystem = HostFileSystem(),
    time: @escaping @Sendable () -> Int64
  ) {
    self.domain = domain
    self.storage = storage
    self.attributes = attributes
    self.conflictCopies = conflictCopies
    self.deadlines = deadlines
    self.removalWindow = removalWindow
    self.cancellation = cancellation
    self.files = files
    self.time = time
  }

  /// The same for one call, whose waits end when its task is cancelled; or for what mustn't be cut off, with `nil`.
  func cancellable(by cancellation: CallCancellation?) -> VersionKeeper {
    copy(removalWindow: removalWindow, cancellation: cancellation)
  }

  /// The same, but what it removes can't be brought back.
  var removingAtOnce: VersionKeeper { copy(removalWindow: .zero, cancellation: cancellation) }

  private func copy(removalWindow: Duration, cancellation: CallCancellation?) -> VersionKeeper {
    VersionKeeper(
      domain, storage, attributes, conflictCopies: conflictCopies, deadlines: deadlines, removalWindow: removalWindow,
      cancellation: cancellation, files: files, time: time)
  }

  /// Another one for each operation: accesses of one coordinator don't wait for each other.
  var coordinator: FileCoordinator {
    let coordinator = FileCoordinator(label: "file versions", domain: domain, deadlines: deadlines)
    cancellation?.end(coordinator)
    return coordinator
  }

  /// Ends a call that waits for nothing when its task is cancelled.
  func checkCancellation() throws(FileVersionError) {
    if cancellation?.isCancelled == true { throw FileVersionError(.coordination, "The task was cancelled.") }
  }

  /// The store for what is at a path; unless `making`, the one that's there.
  func store(for path: SystemPath, making: Bool = true) throws -> VersionStore {
    let root = try storage.directory(for: path, making: making)
    if !making, !VersionStore.exists(at: root) { throw VersionStoreError.missing(root) }
    let store = try VersionStore(
      at: root, files: files, worker: Self.worker,
      hashingIsDue: { [domain, time] in
        BackgroundHasher.shared.begin(BackgroundHasher.Store(root: root, domain: domain, time: time))
      },
      unfoldingIsDue: { [domain, time] item in
        let store = BackgroundHasher.Store(root: root, domain: domain, time: time)
        BackgroundHasher.shared.noteBareVersion(of: item, in: store)
      },
      resolutionIsCompleted: { [domain] resolution, item, path in
        Self.announce(resolution, of: item, at: path, in: domain)
      }, isAlive: Self.isAlive, time: time)
    if !Self.recovered.withLock({ $0.contains(store.root) }) {
      try store.checkDirectories()
      storage.note(store.root)
      try Self.withAccess(to: [Self.url(of: store.root.appending("steps"))], coordinator) {
        if try store.recover() > 0 { try store.sweepContents() }
        // Other programs may have other windows.
        try copy(removalWindow: max(removalWindow, FileVersions.standardRemovalWindow), cancellation: nil)
          .forgetRemovals(in: store)
      }
      Self.recovered.withLock { _ = $0.insert(store.root) }
      takeLeftovers(in: store)
    }
    return store
  }

  /// Removes versions for good that were removed longer ago than the window for bringing them back.
  func forgetRemovals(in store: VersionStore, of item: ItemID? = nil) throws {
    let (seconds, attoseconds) = removalWindow.components
    let window = Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    try store.forgetRemovals(before: time().subtractingReportingOverflow(window).partialValue, of: item)
  }

  /// Keeps others from changing the histories at some paths, and below them, meanwhile.
  ///
  /// Claims the places in the store, never the files: the caller may have these in any way, or not at all.
  ///
  /// Leftovers at the paths are taken first; those whose histories are at other paths by now, afterwards.
  func withStore<Result>(
    at paths: [SystemPath], making: Bool = true, _ body: (VersionStore) throws -> Result
  ) throws -> Result {
    var elsewhere: Set<SystemPath> = []
    defer {
      // If the histories have moved once more, or can't be claimed, the next call about the paths takes them.
      if !elsewhere.isEmpty { try? withClaims(at: paths + elsewhere.subtracting(paths).sorted()) { _, _ in } }
    }
    var claimed = paths
    while true {
      var unclaimed: Set<SystemPath> = []
      let result: Result? = try withClaims(at: claimed, making: making) { store, taken in
        elsewhere = taken.elsewhere
        // A file may have been about to get another name when its process was killed: both names are needed for the rest.
        unclaimed = taken.unclaimed.subtracting(claimed)
        return unclaimed.isEmpty ? try body(store) : nil
      }
      if let result { return result }
      claimed += unclaimed.sorted()
    }
  }

  /// The same; `body` is also passed the paths to which the histories of leftovers have moved.
  private func withClaims<Result>(
    at paths: [SystemPath], making: Bool = true, _ body: (VersionStore, TakenLeftovers) throws -> Result
  ) throws -> Result {
    guard let first = paths.first else { preconditionFailure("no path") }
    let store = try store(for: first, making: making)
    let places = paths.map { Self.url(of: store.place(of: $0)) }
    var taken = TakenLeftovers()
    defer { for (version, path) in taken.added { announce(FileVersion.ID(version.item, version.id), takenAt: path) } }
    do {
      return try Self.withAccess(to: places, coordinator) {
        for path in paths {
          try adoptHistory(of: path, into: store)
          let there = takeLeftovers(at: path, in: store, claimed: paths)
          taken.added += there.added
          taken.elsewhere.formUnion(there.elsewhere)
          taken.unclaimed.formUnion(there.unclaimed)
        }
        return try body(store, taken)
      }
    } catch let error as VersionStoreError {
      throw diagnosed(error, in: store)
    } catch let error as FileCoordinationError {
      // The places themselves can't be claimed.
      guard let failure = error.underlyingError as? SystemError else { throw error }
      let diagnosis = diagnosed(.system(failure), in: store)
      if case .system = diagnosis { throw error }
      throw diagnosis
    }
  }

  /// The damage to the store, if an error says that there's some; the next call looks at its directories again.
  private func diagnosed(_ error: VersionStoreError, in store: VersionStore) -> VersionStoreError {
    let diagnosis = store.diagnosed(error)
    if diagnosis != error { Self.recovered.withLock { _ = $0.remove(store.root) } }
    return diagnosis
  }

  /// Whether a file may have versions, as far as that's known without a look into any store.
  func mayHaveVersions(at path: SystemPath) -> Bool {
    if !conflictCopies.isEmpty { return true }
    return (try? storage.hasStore(for: path)) ?? true
  }

  /// The same, but only if there are versions of anything at all: a look makes no store.
  func withStoreIfPresent<Result>(
    at path: SystemPath, otherwise nothing: Result, _ body: (VersionStore) throws -> Result
  ) throws -> Result {
    if try !storage.hasStore(for: path) { return nothing }
    let own = try storage.directory(for: path, making: false)
    let exists = VersionStore.exists(at: own)
    if !exists, try !mayHaveComeFromElsewhere(path, own) { return nothing }
    // A file that has come from elsewhere takes its history to a store of this volume.
    return try looking(at: path, making: !exists, body)
  }

  /// Whether a file says of itself that another store may have its history.
  private func mayHaveComeFromElsewhere(_ path: SystemPath, _ own: SystemPath) throws -> Bool {
    for directory in try storage.otherDirectories(than: own) where VersionStore.exists(at: directory) {
      return try !elsewhere(directory).tags(of: path).isEmpty
    }
    return false
  }

  /// Takes over the history of a file that has come from another volume.
  private func adoptHistory(of path: SystemPath, into store: VersionStore) throws {
    if storage.isSingle { return }
    // It's there if this store couldn't be made before.
    if let home = try storage.homeDirectory, home != store.root, VersionStore.exists(at: home) {
      let other = try elsewhere(home)
      if let item = try store.itemWithoutTag(at: path, in: other), try store.adopt(item, at: path, from: other) {
        try store.revive(GoneItem(item: item, path: path, time: time()), at: path)
        return
      }
    }
    let items = try store.unknownItems(at: path)
    if items.isEmpty { return }
    for directory in try storage.otherDirectories(than: store.root) where VersionStore.exists(at: directory) {
      let other = try elsewhere(directory)
      for item in items where try store.adopt(item, at: path, from: other) { return }
    }
  }

  /// Keeps others from changing what is in some directories of a store.
  private static func withAccess<Result>(
    to places: [URL], _ coordinator: FileCoordinator, _ body: () throws -> Result
  ) throws -> Result {
    // An access to one item needs no arbiter while nobody else is there.
    if places.count == 1 { return try coordinator.change(places[0], body) }
    let intents = places.map { FileAccessIntent.writing($0, options: .forMerging) }
    return try coordinator.blocking.coordinate(intents) { _ in try body() }
  }

  static func url(of path: SystemPath) -> URL {
    guard let url = path.url else { preconditionFailure("not an absolute path: \(path)") }
    return url
  }

  // MARK: - Processes

  /// Where the numbers of processes are those of this one, and what it is there; `nil` without proc(5).
  private static let room: String? = {
    let link = try? HostFileSystem().readLink(SystemPath("/proc/self/ns/pid"), at: .workingDirectory)
    return link.map { $0.description.filter(\.isNumber) }
  }()

  static let worker =
    name(of: ProcessIdentity(of: HostProcess.processIdentifier)) ?? "\(HostProcess.processIdentifier)"

  private static func name(of process: ProcessIdentity?) -> String? {
    guard let process, let room else { return nil }
    return "\(process.pid)-\(process.startTime)-\(room)"
  }

  /// Whether the process of that name is running; `nil` for one of another container, whose number says nothing here.
  static func isAlive(_ worker: String) -> Bool? {
    if worker == Self.worker { return true }
    let parts = worker.split(separator: "-")
    guard parts.count == 3, let pid = Int32(parts[0]), let room, parts[2] == room else { return nil }
    return name(of: ProcessIdentity(of: pid)) == worker
  }
}
