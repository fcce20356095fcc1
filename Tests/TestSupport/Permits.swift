import Synchronization

/// Lets only so many tests at a time have something of which a user has few.
///
/// All asynchronous tests begin at once, and each keeps what it has taken while the others have their turns.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its mutex | taken and given back on any thread |
package final class Permits: Sendable {
  private struct State {
    var freeCount: Int
    /// In the order in which they came.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  package init(count: Int) { state = Mutex(State(freeCount: count)) }

  /// Suspends until it's the caller's turn, and runs `body`.
  package func withPermit<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    await take()
    defer { giveBack() }
    return try await body()
  }

  private func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.freeCount == 0 {
          state.waiting.append(continuation)
          return false
        }
        state.freeCount -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private func giveBack() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if !state.waiting.isEmpty { return state.waiting.removeFirst() }
      state.freeCount += 1
      return nil
    }
    next?.resume()
  }
}
