import Glibc

/// `pthread_rwlock_t` without any path: the cost of a lock that's found already.
///
/// Unchecked because of the pointers, which are never changed and which the locks themselves guard.
final class ReaderWriterLocks: @unchecked Sendable {
  private let locks: UnsafeMutablePointer<pthread_rwlock_t>
  private let count: Int
  /// Locks lie so far apart that two of them don't share a cache line.
  private static let stride = 4

  init(count: Int) {
    self.count = count * Self.stride
    locks = .allocate(capacity: self.count)
    for index in 0..<self.count { pthread_rwlock_init(locks + index, nil) }
  }

  deinit {
    for index in 0..<count { pthread_rwlock_destroy(locks + index) }
    locks.deallocate()
  }

  func worker(_ item: Int) -> Worker { Worker(owner: self, lock: locks + item * Self.stride) }

  struct Worker: LockWorker, ~Copyable {
    let owner: ReaderWriterLocks
    let lock: UnsafeMutablePointer<pthread_rwlock_t>

    func read(_ body: () -> Void) throws {
      try check(pthread_rwlock_rdlock(lock), "pthread_rwlock_rdlock")
      body()
      pthread_rwlock_unlock(lock)
    }

    func write(_ body: () -> Void) throws {
      try check(pthread_rwlock_wrlock(lock), "pthread_rwlock_wrlock")
      body()
      pthread_rwlock_unlock(lock)
    }
  }
}
