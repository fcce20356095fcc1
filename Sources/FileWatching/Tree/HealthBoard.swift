internal import SystemInterface

/// The health of a scope, and the listeners for its changes.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all | `state`'s lock | the thread that follows the scope sets it, any thread reads and listens |
package final class HealthBoard: Sendable {
  private struct State: Sendable {
    var health = ScopeHealth()
    var listeners: [Int: AsyncStream<ScopeHealth>.Continuation] = [:]
    var listenerCount = 0
    var isEnded = false
  }

  private let state = Guarded(State())

  package init() {}

  package var health: ScopeHealth { state.withLock { $0.health } }

  /// Notifies listeners, if it's another one than before.
  package func note(_ health: ScopeHealth) {
    let listeners = state.withLock { state -> [AsyncStream<ScopeHealth>.Continuation] in
      if state.health == health { return [] }
      state.health = health
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.yield(health) }
  }

  /// The health now, and then whenever it's another one; a slow reader receives only the latest value.
  package var updates: AsyncStream<ScopeHealth> {
    let (stream, listener) = AsyncStream.makeStream(of: ScopeHealth.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state -> Int? in
      listener.yield(state.health)
      if state.isEnded { return nil }
      state.listenerCount += 1
      state.listeners[state.listenerCount] = listener
      return state.listenerCount
    }
    guard let number else {
      listener.finish()
      return stream
    }
    listener.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }

  /// Nothing follows.
  package func end() {
    let listeners = state.withLock { state in
      state.isEnded = true
      defer { state.listeners = [:] }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
