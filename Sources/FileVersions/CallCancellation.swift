internal import FileCoordination
internal import FileWatching
internal import SystemInterface

/// Ends the waits of one call when its task is cancelled.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | the task may be cancelled on any thread, at any moment of the call |
final class CallCancellation: Sendable {
  private struct State {
    var isCancelled = false
    var coordinators: [FileCoordinator] = []
  }

  private let state = Guarded(State())

  /// Lets an operation of the call end with it.
  func end(_ coordinator: FileCoordinator) {
    let isCancelled = state.withLock { state in
      state.coordinators.append(coordinator)
      return state.isCancelled
    }
    if isCancelled { coordinator.cancel() }
  }

  /// Whether the task was cancelled.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// The task was cancelled.
  func cancel() {
    let coordinators = state.withLock { state in
      state.isCancelled = true
      return state.coordinators
    }
    for coordinator in coordinators { coordinator.cancel() }
  }
}
