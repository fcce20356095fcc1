internal import FileAccessArbiter
internal import SystemInterface

// Waiting for a state of the domain. Conditions are foreign code, so they're asked outside of the lock, about a snapshot.

extension CoordinationDomain {
  /// Suspends until the domain is in a state that satisfies a condition.
  ///
  /// The condition is asked about the state right now and about the one after each event, also about states that are over
  /// soon. Nothing is polled, so a test that waits for "the writer waits" needs no sleep:
  ///
  /// ```swift
  /// try await domain.waitUntil { state in
  ///   state.accesses.contains { $0.party.label == "writer" && !$0.isGranted }
  /// }
  /// ```
  ///
  /// A state of so many parties that it fits into no message between processes, about a hundred thousand, is left out.
  ///
  /// - Parameter condition: Examines a state. It runs on the thread that caused the event, possibly on several at once
  ///   and not in the order of events; never under a lock. Be brief, and don't use the domain in it.
  /// - Throws: ``FileCoordinationError`` with code `.cancelled` when the task is cancelled first, and
  ///   `.domainUnreachable` when the processes of the domain can't be reached: a call that returns has met the state.
  /// - Complexity: O(accesses and presenters) for each event of the domain while a caller waits: for tests and tools.
  public func waitUntil(
    _ condition: @escaping @Sendable (CoordinationSnapshot) -> Bool
  ) async throws(FileCoordinationError) {
    let observer = StateObserver(condition)
    let host = host
    let snapshot = try await host.withoutBlocking { () throws(FileCoordinationError) in try host.addObserver(observer) }
    defer { host.removeObserver(observer) }
    observer.look(at: CoordinationSnapshot(snapshot))
    let isReached = await withTaskCancellationHandler {
      await observer.result()
    } onCancel: {
      observer.finish(false)
    }
    if !isReached { throw .waitCancelled }
  }
}

extension ArbiterHost {
  func show(_ snapshot: ArbiterSnapshot, to observers: [StateObserver]) {
    let snapshot = CoordinationSnapshot(snapshot)
    for observer in observers { observer.look(at: snapshot) }
  }
}

/// A caller that waits for a state.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | any thread may cause the awaited state, or cancel the wait |
final class StateObserver: Sendable {
  private enum State {
    /// The result isn't awaited yet.
    case looking
    case awaited(CheckedContinuation<Bool, Never>)
    /// The first result counts.
    case finished(Bool)
  }

  private let condition: @Sendable (CoordinationSnapshot) -> Bool
  private let state = Guarded(State.looking)

  init(_ condition: @escaping @Sendable (CoordinationSnapshot) -> Bool) { self.condition = condition }

  func look(at snapshot: CoordinationSnapshot) {
    if condition(snapshot) { finish(true) }
  }

  func finish(_ isSatisfied: Bool) {
    let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      switch state {
      case .finished: return nil
      case .looking:
        state = .finished(isSatisfied)
        return nil
      case .awaited(let continuation):
        state = .finished(isSatisfied)
        return continuation
      }
    }
    continuation?.resume(returning: isSatisfied)
  }

  func result() async -> Bool {
    await withCheckedContinuation { continuation in
      let result = state.withLock { state -> Bool? in
        switch state {
        case .finished(let isSatisfied): return isSatisfied
        case .looking:
          state = .awaited(continuation)
          return nil
        case .awaited: preconditionFailure("two tasks wait for one observer")
        }
      }
      if let result { continuation.resume(returning: result) }
    }
  }
}
