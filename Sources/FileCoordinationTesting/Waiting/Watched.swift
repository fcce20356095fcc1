internal import SystemInterface

/// A value whose changes can be awaited.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `content` | its lock | a change and the list of tasks that wait for one are read together |
///
/// Conditions are checked outside the lock, because they are foreign code. A waiter that finds its condition unmet
/// waits for a change since the revision it checked, so no change is missed.
final class Watched<State: Sendable>: Sendable {
  private struct Content {
    var state: State
    var revision: UInt64 = 0
    var lastWaiter: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
  }

  private let content: Guarded<Content>

  init(_ state: State) { content = Guarded(Content(state: state)) }

  var value: State { content.withLock { $0.state } }

  /// Changes the value and wakes all tasks that wait for a change.
  ///
  /// No foreign code may run in `body`.
  func update<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, waiters) = content.withLock { content -> (Result, [CheckedContinuation<Void, Never>]) in
      let result = body(&content.state)
      content.revision += 1
      let waiters = content.waiters.sorted { $0.key < $1.key }.map(\.value)
      content.waiters = [:]
      return (result, waiters)
    }
    for waiter in waiters { waiter.resume() }
    return result
  }

  /// Suspends until the value satisfies a condition.
  ///
  /// - Returns: The value that satisfied it.
  /// - Throws: `CancellationError` when the task is cancelled first.
  @discardableResult
  func waitUntil(_ isSatisfied: (State) -> Bool) async throws -> State {
    while true {
      let (state, revision) = content.withLock { ($0.state, $0.revision) }
      if isSatisfied(state) { return state }
      try Task.checkCancellation()
      await waitForChange(since: revision)
    }
  }

  private func waitForChange(since revision: UInt64) async {
    let waiter = content.withLock { content -> UInt64 in
      content.lastWaiter += 1
      return content.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasChanged = content.withLock { content -> Bool in
          if content.revision != revision { return true }
          content.waiters[waiter] = continuation
          return false
        }
        if hasChanged { return continuation.resume() }
        // A cancellation that came before the line above found no waiter to wake.
        if Task.isCancelled { wake(waiter) }
      }
    } onCancel: {
      wake(waiter)
    }
  }

  private func wake(_ waiter: UInt64) {
    content.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
  }
}
