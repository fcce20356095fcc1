internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

/// The arbiter's timers, by time and by name.
struct TimerQueue {
  private typealias Token = PriorityHeap<MonotonicTime, ArbiterTimer>.Token

  private var heap = PriorityHeap<MonotonicTime, ArbiterTimer>()
  private var tokens: [ArbiterTimer: Token] = [:]

  var next: MonotonicTime? { heap.least }

  mutating func arm(_ timer: ArbiterTimer, at time: MonotonicTime) {
    _ = heap.insert(at: time) { token in
      tokens[timer] = token
      return timer
    }
  }

  mutating func cancel(_ timer: ArbiterTimer) {
    if let token = tokens.removeValue(forKey: timer) { _ = heap.remove(token) }
  }

  mutating func popDue(at now: MonotonicTime) -> ArbiterTimer? {
    guard let timer = heap.popFirst(upTo: now) else { return nil }
    tokens[timer] = nil
    return timer
  }
}

/// Gives each connection a number that no other has at the same time.
struct ClientNumbers {
  private var last: UInt64

  /// - Parameter last: The number before the first one.
  init(after last: UInt64 = 0) { self.last = last }

  /// The next number; after the largest comes one, as in a process that serves for years.
  mutating func next(isUsed: (ClientID) -> Bool) -> ClientID {
    repeat { last = last % (ServiceCore.clientNumberEnd - 1) + 1 } while isUsed(ClientID(last))
    return ClientID(last)
  }
}
