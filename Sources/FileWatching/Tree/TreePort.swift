internal import SystemInterface

/// Between the thread that follows trees and those who want to know.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | all | `state`'s lock | any thread asks; whoever takes a waiter out resumes it |
final class TreePort: Sendable {
  typealias Waiter = CheckedContinuation<TreeUpdate?, Never>

  /// What the thread is asked for.
  enum Order: Sendable {
    /// Tell when everything that was done before is known.
    case barrier(Barrier)
    /// Give the index when it knows everything that was done before.
    case index(CheckedContinuation<FileTable?, Never>)
    /// Tell everything that was done before, be it nothing.
    case catchUp(Waiter)
  }

  private struct State: Sendable {
    var orders: [Order] = []
    /// In the order in which they came.
    var waiters: [(number: Int, waiter: Waiter)] = []
    var waiterCount = 0
    var isStopped = false
    var error: SystemError?
    /// Ends with the thread, also if somebody still has the port: it holds descriptors and watches.
    var watcher: (any FileWatcher)?
  }

  private let state: Guarded<State>

  init(_ watcher: any FileWatcher) { state = Guarded(State(watcher: watcher)) }

  var error: SystemError? { state.withLock { $0.error } }
  var isStopped: Bool { state.withLock { $0.isStopped } }

  // MARK: Those who want to know

  /// - Returns: Whether anybody takes it.
  func give(_ order: Order) -> Bool {
    let watcher = state.withLock { state in
      if !state.isStopped { state.orders.append(order) }
      return state.isStopped ? nil : state.watcher
    }
    watcher?.wake()
    return watcher != nil
  }

  /// A number for a wait that begins or is cancelled later.
  func makeWaiterNumber() -> Int {
    state.withLock { state in
      state.waiterCount += 1
      return state.waiterCount
    }
  }

  func wait(_ number: Int, _ waiter: Waiter) {
    let watcher = state.withLock { state in
      if !state.isStopped { state.waiters.append((number, waiter)) }
      return state.isStopped ? nil : state.watcher
    }
    if let watcher { watcher.wake() } else { waiter.resume(returning: nil) }
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
    let (orders, waiters, watcher) = state.withLock { state in
      state.isStopped = true
      if state.error == nil { state.error = error }
      defer {
        state.orders = []
        state.waiters = []
        state.watcher = nil
      }
      return (state.orders, state.waiters, state.watcher)
    }
    for order in orders { order.end() }
    for (_, waiter) in waiters { waiter.resume(returning: nil) }
    watcher?.wake()
  }

  // MARK: The thread

  /// - Returns: `nil` at the end.
  func takeOrders() -> [Order]? {
    state.withLock { state in
      if state.isStopped { return nil }
      defer { state.orders = [] }
      return state.orders
    }
  }

  var hasWaiter: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// The one who has waited longest.
  func takeWaiter() -> Waiter? {
    state.withLock { $0.waiters.isEmpty ? nil : $0.waiters.removeFirst().waiter }
  }
}

extension TreePort.Order {
  /// Nobody carries it out.
  func end() {
    switch self {
    case .barrier(let barrier): barrier.end()
    case .index(let continuation): continuation.resume(returning: nil)
    case .catchUp(let waiter): waiter.resume(returning: nil)
    }
  }
}
