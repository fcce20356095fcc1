internal import SystemInterface

extension CoordinationClock {
  /// Suspends until a time has come, or the task is cancelled.
  func pause(until time: MonotonicTime) async {
    let pause = Pause()
    let action = schedule(at: time) { pause.end() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { pause.wait($0) }
    } onCancel: {
      pause.end()
    }
    action.cancel()
  }

  /// Suspends for a while, or until the task is cancelled.
  func pause(_ duration: Duration) async { await pause(until: now.advanced(by: duration)) }
}

/// A wait that ends once.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the clock, a cancellation and the waiting task come in any order |
private final class Pause: Sendable {
  private enum State: Sendable {
    case new
    case waiting(CheckedContinuation<Void, Never>)
    case ended
  }

  private let state = Guarded(State.new)

  func wait(_ continuation: CheckedContinuation<Void, Never>) {
    let isEnded = state.withLock { state -> Bool in
      if case .ended = state { return true }
      state = .waiting(continuation)
      return false
    }
    if isEnded { continuation.resume() }
  }

  func end() {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      defer { state = .ended }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    continuation?.resume()
  }
}
