internal import SystemInterface

/// Brings a file to the disk for many tasks at once: those that ask while it's going on share the next time.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | any task asks, one thread at a time synchronizes |
final class DiskSynchronizer: Sendable {
  private typealias Waiter = CheckedContinuation<KeyValueStoreError?, Never>

  private struct State: Sendable {
    var waiters: [Waiter] = []
    var isRunning = false
  }

  private let state = Guarded(State())
  private let synchronize: @Sendable () throws(KeyValueStoreError) -> Void

  init(_ synchronize: @escaping @Sendable () throws(KeyValueStoreError) -> Void) { self.synchronize = synchronize }

  /// How many tasks wait for the next time.
  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Suspends until everything is on the disk that was written before the call.
  func run() async throws(KeyValueStoreError) {
    let error = await withCheckedContinuation { (waiter: Waiter) in
      let begins = state.withLock { state in
        state.waiters.append(waiter)
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if begins { Task(executorPreference: ElasticThreadPool.shared) { self.runAll() } }
    }
    if let error { throw error }
  }

  private func runAll() {
    while true {
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        state.isRunning = !state.waiters.isEmpty
        return state.waiters
      }
      if waiters.isEmpty { return }
      var failure: KeyValueStoreError?
      do throws(KeyValueStoreError) { try synchronize() } catch { failure = error }
      for waiter in waiters { waiter.resume(returning: failure) }
    }
  }
}
