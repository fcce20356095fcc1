import BenchmarkShims

/// Berkeley DB 5.3's lock manager, if this machine has it.
///
/// Unchecked because of the pointer: the environment is opened with `DB_THREAD`, so all threads may use it.
final class BerkeleyDB: @unchecked Sendable {
  private let environment: OpaquePointer

  private init(_ environment: OpaquePointer) { self.environment = environment }

  deinit { bench_bdb_close(environment) }

  enum Availability {
    case present(BerkeleyDB)
    case absent(reason: String)
  }

  /// - Parameter home: The directory of the region that processes share; `nil` for one of this process alone.
  /// - Returns: The environment, or why there's none.
  static func open(sharedIn home: String? = nil) -> Availability {
    var reason = [CChar](repeating: 0, count: 256)
    if let environment = bench_bdb_open(home, &reason, reason.count) { return .present(BerkeleyDB(environment)) }
    let text = reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
    return .absent(reason: String(decoding: text, as: UTF8.self))
  }

  /// The name of the item at which processes take turns.
  static let sharedItem = "turn"

  func worker(_ path: String) throws -> Worker { try Worker(self, path) }

  /// A locker of its own for one thread, and the bytes of one path.
  struct Worker: LockWorker, ~Copyable {
    private let owner: BerkeleyDB
    private let environment: OpaquePointer
    private let locker: UInt32
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    fileprivate init(_ owner: BerkeleyDB, _ path: String) throws {
      self.owner = owner
      environment = owner.environment
      var locker: UInt32 = 0
      try check(bench_bdb_locker(environment, &locker), "lock_id")
      self.locker = locker
      bytes = .allocate(capacity: path.utf8.count)
      _ = bytes.initialize(from: path.utf8)
    }

    deinit {
      bench_bdb_free_locker(environment, locker)
      bytes.deallocate()
    }

    func read(_ body: () -> Void) throws { try lock(false, body) }

    func write(_ body: () -> Void) throws { try lock(true, body) }

    @inline(__always)
    private func lock(_ isWritten: Bool, _ body: () -> Void) throws {
      var held = bench_bdb_lock()
      try check(
        bench_bdb_get(environment, locker, bytes.baseAddress, UInt32(bytes.count), isWritten, &held), "lock_get")
      body()
      try check(bench_bdb_put(environment, &held), "lock_put")
    }
  }
}
