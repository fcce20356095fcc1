internal import FileCoordination
internal import SystemInterface
internal import VersionStore

// A file that has come to a full volume has its history in the store of the former one, until there's room for it: it's looked at there.

extension VersionKeeper {
  /// Until when a look at a file, in nanoseconds since 1970, doesn't try to take over its history: there was no room for it.
  private static let unadopted = Guarded<[SystemPath: Int64]>([:])
  private static let unadoptedCountMax = 256
  /// In nanoseconds.
  private static let adoptionPause: Int64 = 60_000_000_000

  /// Keeps others from changing the history at a path while it's only looked at, in whatever store it is.
  func looking<Result>(
    at path: SystemPath, making: Bool = true, _ body: (VersionStore) throws -> Result
  ) throws -> Result {
    // Each attempt to take the history over copies as much of it as there's room for.
    if Self.unadopted.withLock({ ($0[path] ?? .min) > time() }), let other = try? storeElsewhere(of: path) {
      return try withClaim(of: path, in: other, body)
    }
    do { return try withStore(at: [path], making: making, body) } catch {
      guard FileVersionError(error).isOfFullVolume, let other = try? storeElsewhere(of: path) else { throw error }
      Self.unadopted.withLock { unadopted in
        if unadopted.count >= Self.unadoptedCountMax { unadopted = [:] }
        unadopted[path] = time() + Self.adoptionPause
      }
      return try withClaim(of: path, in: other, body)
    }
  }

  private func withClaim<Result>(
    of path: SystemPath, in store: VersionStore, _ body: (VersionStore) throws -> Result
  ) throws -> Result {
    let place = FileAccessIntent.writing(Self.url(of: store.place(of: path)), options: .forMerging)
    return try coordinator.blocking.coordinate([place]) { _ in try body(store) }
  }

  /// Another store that has the history which a file says is its own, if the store of its volume hasn't.
  private func storeElsewhere(of path: SystemPath) throws -> VersionStore? {
    let own = try storage.directory(for: path, making: false)
    // There may have been no room to complete that of this volume, which knows nothing then.
    let ownStore = VersionStore.exists(at: own) ? try? elsewhere(own) : nil
    for directory in try storage.otherDirectories(than: own) where VersionStore.exists(at: directory) {
      let other = try elsewhere(directory)
      let items = try ownStore.map { try $0.unknownItems(at: path) } ?? other.tags(of: path)
      if items.contains(where: other.hasHistory) { return other }
    }
    return nil
  }

  /// A store to which this process adds nothing.
  func elsewhere(_ root: SystemPath) throws -> VersionStore {
    try VersionStore(at: root, files: files, worker: Self.worker, isAlive: Self.isAlive, time: time)
  }
}

extension FileVersionError {
  /// Whether a call failed because a volume, or the user's share of it, is full.
  fileprivate var isOfFullVolume: Bool {
    let failure = (underlyingError as? FileCoordinationError)?.underlyingError ?? underlyingError
    return (failure as? SystemError)?.isOne(of: .noSpace, .quotaExceeded) == true
  }

  /// The same, or because it's read-only.
  var isOfUnwritableVolume: Bool {
    let failure = (underlyingError as? FileCoordinationError)?.underlyingError ?? underlyingError
    return (failure as? SystemError)?.isOne(of: .noSpace, .quotaExceeded, .readOnlyFileSystem) == true
  }
}
