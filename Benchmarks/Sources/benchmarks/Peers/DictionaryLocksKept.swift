import Glibc
import Synchronization

/// The usual first solution in Swift: a mutex around a dictionary from paths to locks, which stay in it for ever.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `locks` | its mutex | all threads look up |
final class DictionaryLocksKept: Sendable {
  /// A lock of its own for one path.
  ///
  /// Unchecked because of the pointer, which is never changed and which the lock itself guards.
  final class PathLock: @unchecked Sendable {
    let pointer = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() { pthread_rwlock_init(pointer, nil) }

    deinit {
      pthread_rwlock_destroy(pointer)
      pointer.deallocate()
    }
  }

  private let locks = Mutex<[String: PathLock]>([:])

  func lock(for path: String) -> PathLock {
    locks.withLock { locks in
      if let lock = locks[path] { return lock }
      let lock = PathLock()
      locks[path] = lock
      return lock
    }
  }

  struct Worker: LockWorker, ~Copyable {
    let table: DictionaryLocksKept
    let path: String

    func read(_ body: () -> Void) throws {
      let lock = table.lock(for: path)
      try check(pthread_rwlock_rdlock(lock.pointer), "pthread_rwlock_rdlock")
      body()
      pthread_rwlock_unlock(lock.pointer)
    }

    func write(_ body: () -> Void) throws {
      let lock = table.lock(for: path)
      try check(pthread_rwlock_wrlock(lock.pointer), "pthread_rwlock_wrlock")
      body()
      pthread_rwlock_unlock(lock.pointer)
    }
  }
}
