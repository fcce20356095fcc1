internal import SystemInterface

/// A wait until the engine has come to a point.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the thread that takes the waiter out resumes it; the end may come before the waiter |
package final class Barrier: Sendable {
  private enum State: Sendable {
    case open
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }

  private let state = Guarded(State.open)

  package init() {}

  package func wait() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if case .over = state { return true }
        state = .waiting(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// The point has come, or doesn't matter any more.
  package func end() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { state = .over }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiter?.resume()
  }
}
