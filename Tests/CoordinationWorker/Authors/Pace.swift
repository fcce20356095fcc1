import Synchronization

/// Lets the lanes of a process make as many steps as the test says, and reports when all of them wait for more.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | itself | lanes run beside each other |
final class Pace: Sendable {
  private struct State {
    var left: [Int]
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state: Mutex<State>

  init(laneCount: Int) { state = Mutex(State(left: Array(repeating: 0, count: laneCount))) }

  /// Waits for the next step of a lane.
  func step(_ lane: Int) async {
    await withCheckedContinuation { continuation in
      let (isReady, areAllWaiting) = state.withLock { state in
        if state.left[lane] > 0 {
          state.left[lane] -= 1
          return (true, false)
        }
        state.waiting[lane] = continuation
        return (false, state.waiting.count == state.left.count)
      }
      if isReady { continuation.resume() }
      if areAllWaiting { Worker.report("paused") }
    }
  }

  /// Lets each lane make so many steps, at least one; called when all of them wait.
  func grant(_ count: Int) {
    let waiting = state.withLock { state in
      for lane in state.left.indices { state.left[lane] = count - 1 }
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }
}
