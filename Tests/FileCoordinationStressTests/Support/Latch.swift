import SystemInterface

/// An event that occurs once, for which tasks suspend and threads block.
final class Latch: Sendable {
  private struct State {
    var remaining: Int
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Guarded<State>
  private let event = ThreadEvent()

  /// The event occurs when the latch has been counted down to zero.
  init(_ count: Int = 1) {
    state = Guarded(State(remaining: count))
    if count == 0 { event.signal() }
  }

  func countDown() {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
      state.remaining -= 1
      guard state.remaining == 0 else { return nil }
      let waiters = state.waiters
      state.waiters = []
      return waiters
    }
    guard let waiters else { return }
    event.signal()
    for waiter in waiters { waiter.resume() }
  }

  var isDone: Bool { state.withLock { $0.remaining <= 0 } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state -> Bool in
        if state.remaining <= 0 { return true }
        state.waiters.append(continuation)
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Never on a thread of the cooperative pool.
  @available(*, noasync)
  func waitBlocking() { event.wait() }
}
