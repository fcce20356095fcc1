/// A signal that one task waits for, with a time limit; signals that come before the wait aren't lost, and several are one.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | any thread gives the signal, the clock ends the wait |
package final class WakeUp: Sendable {
  private struct State: Sendable {
    var isSignaled = false
    var waiter: CheckedContinuation<Void, Never>?
    /// How many waits have begun: a time limit of an earlier one ends no other.
    var number = 0
  }

  private let state = Guarded(State())

  /// Makes one without a signal.
  package init() {}

  /// Gives the signal.
  package func signal() {
    let waiter = state.withLock { state in
      state.isSignaled = state.waiter == nil
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Suspends until the signal, a time or the cancellation of the task.
  ///
  /// - Parameters:
  ///   - time: When the wait ends at the latest; `nil` if it has no limit.
  ///   - clock: The clock of that time.
  package func wait(until time: MonotonicTime?, _ clock: any CoordinationClock) async {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    let limit = time.map { clock.schedule(at: $0) { [self] in end(number) } }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isSignaled || Task.isCancelled || time.map({ $0 <= clock.now }) ?? false {
            state.isSignaled = false
            return true
          }
          state.waiter = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      end(number)
    }
    limit?.cancel()
  }

  private func end(_ number: Int) {
    let waiter = state.withLock { state in state.number == number ? state.waiter.take() : nil }
    waiter?.resume()
  }
}

extension CoordinationClock {
  /// Suspends until a time has come, or the task is cancelled.
  package func pause(until time: MonotonicTime) async { await WakeUp().wait(until: time, self) }

  /// Suspends for a while, or until the task is cancelled.
  package func pause(_ duration: Duration) async { await pause(until: now.advanced(by: duration)) }
}

/// Those who wait for signals, as long as they're referenced.
package struct WakeUps {
  private struct Weak {
    weak var wakeUp: WakeUp?
  }

  private var members: [Weak] = []

  /// Nobody.
  package init() {}

  /// Adds one.
  package mutating func add(_ wakeUp: WakeUp) {
    members.removeAll { $0.wakeUp == nil }
    members.append(Weak(wakeUp: wakeUp))
  }

  /// Gives the signal to all.
  package func signal() { for member in members { member.wakeUp?.signal() } }
}
