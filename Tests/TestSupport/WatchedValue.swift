import SystemThreads

/// A value that threads share, and for whose changes a task waits without taking a processor meanwhile.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the value, those who wait | `state` | changed by any thread, which resumes the tasks that wait for that |
package final class WatchedValue<Value: Sendable>: Sendable {
  private struct Waiter {
    let isMet: @Sendable (Value) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var value: Value
    var waiters: [Waiter] = []
  }

  private let state: Guarded<State>

  package init(_ value: Value) { state = Guarded(State(value: value)) }

  package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    let (result, met) = state.withLock { state in
      let result = body(&state.value)
      let value = state.value
      let met = state.waiters.filter { $0.isMet(value) }
      state.waiters.removeAll { $0.isMet(value) }
      return (result, met)
    }
    for waiter in met { waiter.continuation.resume() }
    return result
  }

  /// Returns as soon as the value has met a condition, which another thread may have undone since.
  package func wait(until isMet: @escaping @Sendable (Value) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetNow = state.withLock { state in
        if isMet(state.value) { return true }
        state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
        return false
      }
      if isMetNow { continuation.resume() }
    }
  }
}
