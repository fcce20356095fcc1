import SystemInterface

/// A clock whose time moves only when a test says so.
final class LivenessClock: CoordinationClock {
  private struct State {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var lastNumber = 0
    var actions: [Int: (deadline: MonotonicTime, action: ScheduledAction)] = [:]
    var observers: [(isSatisfied: @Sendable (Int) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())

  var now: MonotonicTime { state.withLock { $0.now } }
  var scheduledCount: Int { state.withLock { $0.actions.count } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
    let scheduled = state.withLock { state -> ScheduledAction in
      state.lastNumber += 1
      let number = state.lastNumber
      let scheduled = ScheduledAction(action) { [weak self] in self?.remove(number) }
      state.actions[number] = (deadline, scheduled)
      return scheduled
    }
    notify()
    return scheduled
  }

  func advance(by duration: Duration) {
    let end = now.advanced(by: duration)
    while let action = nextDue(at: end) {
      notify()
      action.start()
    }
    state.withLock { $0.now = end }
  }

  /// Suspends until the number of actions that wait for their time satisfies a condition.
  func waitUntil(_ isSatisfied: @escaping @Sendable (Int) -> Bool) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.observers.append((isSatisfied, continuation)) }
      notify()
    }
  }

  private func remove(_ number: Int) {
    _ = state.withLock { $0.actions.removeValue(forKey: number)?.action }
    notify()
  }

  private func nextDue(at end: MonotonicTime) -> ScheduledAction? {
    state.withLock { state in
      guard
        let next = state.actions.filter({ $0.value.deadline <= end }).min(by: { $0.value.deadline < $1.value.deadline })
      else { return nil }
      state.now = max(state.now, next.value.deadline)
      return state.actions.removeValue(forKey: next.key)?.action
    }
  }

  private func notify() {
    let satisfied = state.withLock { state in
      let satisfied = state.observers.filter { $0.isSatisfied(state.actions.count) }.map(\.continuation)
      state.observers.removeAll { $0.isSatisfied(state.actions.count) }
      return satisfied
    }
    for continuation in satisfied { continuation.resume() }
  }
}

/// An event that occurs once, for which tasks suspend and threads block, and that counts the arrivals.
final class LivenessGate: Sendable {
  private struct State {
    var isOpen = false
    var arrivals = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    var observers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Guarded(State())
  private let event = ThreadEvent()

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      let waiters = state.waiters
      state.waiters = []
      return waiters
    }
    event.signal()
    for waiter in waiters { waiter.resume() }
  }

  func pass() async {
    arrive()
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state -> Bool in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  /// Never on a thread of the cooperative pool.
  func passBlocking() {
    arrive()
    event.wait()
  }

  func arrivals(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state -> Bool in
        if state.arrivals < count { state.observers.append((count, continuation)) }
        return state.arrivals >= count
      }
      if isThere { continuation.resume() }
    }
  }

  private func arrive() {
    let observers = state.withLock { state in
      state.arrivals += 1
      let reached = state.observers.filter { $0.count <= state.arrivals }.map(\.continuation)
      state.observers.removeAll { $0.count <= state.arrivals }
      return reached
    }
    for observer in observers { observer.resume() }
  }
}
