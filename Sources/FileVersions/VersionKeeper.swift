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
final class VersionKeeper: Sendable {
  let domain: CoordinationDomain
  let storage: VersionStorage
  let attributes: VersionAttributes
  /// The sync engines whose conflict copies beside a file are versions of it.
  let conflictCopies: Set<ConflictCopyEngine>
  private let time: @Sendable () -> Int64
  /// The stores in which this process has cleared up.
  private let recovered = Guarded<Set<SystemPath>>([])

  init(
    _ domain: CoordinationDomain, _ storage: VersionStorage, _ attributes: VersionAttributes,
    conflictCopies: Set<ConflictCopyEngine> = [], time: @escaping @Sendable () -> Int64
  ) {
    self.domain = domain
    self.storage = storage
    self.attributes = attributes
    self.conflictCopies = conflictCopies
    self.time = time
  }

  /// Another one for each operation: accesses of one coordinator don't wait for each other.
  var coordinator: FileCoordinator { FileCoordinator(label: "file versions", domain: domain) }

  /// The store for what is at a path.
  func store(for path: SystemPath) throws -> VersionStore {
    let store = try VersionStore(at: storage.directory(for: path), worker: Self.worker, time: time)
    if recovered.withLock({ $0.insert(store.root).inserted }) { try store.recover(isAlive: Self.isAlive) }
    return store
  }

  /// Keeps others from changing the histories at some paths, and below them, meanwhile.
  ///
  /// Claims the places in the store, never the files: the caller may have these in any way, or not at all.
  func withStore<Result>(at paths: [SystemPath], _ body: (VersionStore) throws -> Result) throws -> Result {
    guard let first = paths.first else { preconditionFailure("no path") }
    let store = try store(for: first)
    let intents = paths.map { path in
      FileAccessIntent.writing(Self.url(of: store.place(of: path)), options: .forMerging)
    }
    return try Self.blocking(coordinator, intents) { try body(store) }
  }

  private static func blocking<Result>(
    _ coordinator: FileCoordinator, _ intents: [FileAccessIntent], _ body: () throws -> Result
  ) throws -> Result {
    try coordinator.blocking.coordinate(intents) { _ in try body() }
  }

  static func url(of path: SystemPath) -> URL {
    guard let url = path.url else { preconditionFailure("not an absolute path: \(path)") }
    return url
  }

  // MARK: - Processes

  private static let worker = name(of: ProcessIdentity(of: HostProcess.processIdentifier))

  private static func name(of process: ProcessIdentity?) -> String {
    process.map { "\($0.pid)-\($0.startTime)" } ?? "\(HostProcess.processIdentifier)-"
  }

  /// Whether the process of that name runs.
  ///
  /// Without proc(5) it's taken to.
  private static func isAlive(_ worker: String) -> Bool {
    let pid = worker.split(separator: "-").first.flatMap { Int32($0) }
    guard let pid, !worker.hasSuffix("-") else { return true }
    return name(of: ProcessIdentity(of: pid)) == worker
  }
}
