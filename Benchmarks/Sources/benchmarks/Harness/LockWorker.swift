/// One thread's access to one item through a lock: ours or a peer's.
///
/// Each thread of a scenario makes its own worker, so that only the lock itself shares anything.
protocol LockWorker: ~Copyable, SendableMetatype {
  /// Acquires for reading, runs `body`, releases.
  ///
  /// - Parameter body: The work to do while reading.
  /// - Throws: When the lock can't be acquired or released.
  func read(_ body: () -> Void) throws

  /// Acquires for writing, runs `body`, releases.
  ///
  /// - Parameter body: The work to do while writing.
  /// - Throws: When the lock can't be acquired or released.
  func write(_ body: () -> Void) throws
}

/// The same for a lock whose users suspend.
protocol AsyncLockWorker: Sendable {
  /// Acquires for reading, runs `body`, releases.
  ///
  /// - Parameter body: The work to do while reading.
  /// - Throws: When the lock can't be acquired or released.
  func read(_ body: () -> Void) async throws

  /// Acquires for writing, runs `body`, releases.
  ///
  /// - Parameter body: The work to do while writing.
  /// - Throws: When the lock can't be acquired or released.
  func write(_ body: () -> Void) async throws
}

/// A system call of a peer failed, which would make its figures meaningless.
struct PeerFailure: Error, CustomStringConvertible {
  let description: String

  init(_ operation: String, _ code: Int32) { description = "\(operation) failed with \(code)" }
}

@inline(__always)
func check(_ code: Int32, _ operation: @autoclosure () -> String) throws {
  if code != 0 { throw PeerFailure(operation(), code) }
}
