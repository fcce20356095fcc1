internal import SystemInterface

/// Between the engine that follows trees and the readers of its updates.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all | `state`'s lock | any thread asks; the thread that takes a waiter out resumes it |
final class TreePort: Sendable {
  typealias Waiter = CheckedContinuation<TreeUpdate?, Never>

  /// The orders to the engine.
  enum Order: Sendable {
    /// Report when the index contains everything that was done before.
    case barrier(Barrier)
    /// Report everything that was done before, be it nothing.
    case catchUp(Waiter)
    /// No reader needs updates any more.
    case leave
  }

  private struct State: Sendable {
    /// In the order in which they came.
    var waiters: [(number: Int, waiter: Waiter)] = []
    var waiterCount = 0
    var isStopped = false
    var error: SystemError?
    var engine: IndexEngine?
  }

  private let state = Guarded(State())

  var error: SystemError? { state.withLock { $0.error } }

  // MARK: The side of the readers

  /// Begins to follow.
  func join(_ engine: IndexEngine) { state.withLock { if !$0.isStopped { $0.engine = engine } } }

  /// The engine, unless it's over.
  var engine: IndexEngine? { state.withLock { $0.engine } }

  /// Gives an order, which is ended if it's over.
  func give(_ order: Order) {
    if let engine { engine.give(TreeOrder(port: self, order: order)) } else { order.end() }
  }

  /// A number for a wait that begins or is cancelled later.
  func makeWaiterNumber() -> Int {
    state.withLock { state in
      state.waiterCount += 1
      return state.waiterCount
    }
  }

  func wait(_ number: Int, _ waiter: Waiter) {
    let engine = state.withLock { state in
      if state.engine != nil { state.waiters.append((number, waiter)) }
      return state.engine
    }
    if let engine { engine.wake() } else { waiter.resume(returning: nil) }
  }

  func cancel(_ number: Int) {
    let waiter = state.withLock { state -> Waiter? in
      guard let place = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
      return state.waiters.remove(at: place).waiter
    }
    waiter?.resume(returning: nil)
  }

  /// Ends everything.
  func stop(_ error: SystemError? = nil) {
    let (waiters, engine) = state.withLock { state in
      state.isStopped = true
      if state.error == nil { state.error = error }
      defer {
        state.waiters = []
        state.engine = nil
      }
      return (state.waiters, state.engine)
    }
    for (_, waiter) in waiters { waiter.resume(returning: nil) }
    engine?.give(TreeOrder(port: self, order: .leave))
  }

  // MARK: The engine's thread

  var hasWaiter: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// The waiter that has waited longest.
  func takeWaiter() -> Waiter? {
    state.withLock { $0.waiters.isEmpty ? nil : $0.waiters.removeFirst().waiter }
  }
}

extension TreePort.Order {
  /// It isn't carried out.
  func end() {
    switch self {
    case .barrier(let barrier): barrier.end()
    case .catchUp(let waiter): waiter.resume(returning: nil)
    case .leave: break
    }
  }
}
