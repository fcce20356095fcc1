internal import SystemInterface

/// Threads that read directories for one thread that takes the results.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | orders and readings go from thread to thread |
/// | `bell` | itself | rung after each change that a thread may wait for; a thread that sleeps has read it before the state |
///
/// Helpers end with ``end()``. Directories that have been ordered by then are read, and the results aren't taken.
final class ReadingTeam: Sendable {
  private struct State: Sendable {
    var orders: [ReadOrder] = []
    var readings: [(DirectoryReading, rest: FileDescriptor?)] = []
    /// How many directories are being read by helpers.
    var activeCount = 0
    var sleeperCount = 0
    var isOver = false
  }

  /// The next step of the thread that takes readings.
  enum Step {
    case take([(DirectoryReading, rest: FileDescriptor?)])
    case read(ReadOrder)
    /// Everything that was ordered has been taken.
    case done
  }

  /// How many directories are read before they're taken.
  private static let readingCountMax = 8

  private let reader: DirectoryReader
  private let state = Guarded(State())
  private let bell = Doorbell()

  init(_ reader: DirectoryReader, helperCount: Int) {
    self.reader = reader
    for _ in 0..<helperCount {
      // With fewer threads it takes longer, no more.
      _ = HostThread.tryStart(name: "file-reading") { self.help() }
    }
  }

  func order(_ orders: [ReadOrder]) {
    let isAwaited = state.withLock { state in
      state.orders += orders
      return state.sleeperCount > 0
    }
    if isAwaited { bell.ring() }
  }

  /// Takes finished readings, or else an order to read; waits while helpers read the last directories.
  func next() -> Step {
    while true {
      let count = bell.count
      var isAwaited = false
      let step = state.withLock { state -> Step? in
        if !state.readings.isEmpty {
          defer { state.readings = [] }
          isAwaited = state.sleeperCount > 0
          return .take(state.readings)
        }
        if let order = state.orders.popLast() { return .read(order) }
        if state.activeCount == 0 { return .done }
        state.sleeperCount += 1
        return nil
      }
      if isAwaited { bell.ring() }
      if let step { return step }
      sleep(count)
    }
  }

  /// Takes back the orders that no thread has begun.
  func takeBackOrders() -> [ReadOrder] {
    state.withLock { state in
      defer { state.orders = [] }
      return state.orders
    }
  }

  func end() {
    state.withLock { $0.isOver = true }
    bell.ring()
  }

  private func help() {
    while true {
      let count = bell.count
      let (order, isOver) = state.withLock { state -> (ReadOrder?, Bool) in
        if state.readings.count < Self.readingCountMax, let order = state.orders.popLast() {
          state.activeCount += 1
          return (order, false)
        }
        if !state.isOver { state.sleeperCount += 1 }
        return (nil, state.isOver)
      }
      if let order { hand(over: reader.read(order)) } else if isOver { return } else { sleep(count) }
    }
  }

  private func hand(over reading: (DirectoryReading, rest: FileDescriptor?)) {
    let isAwaited = state.withLock { state in
      state.readings.append(reading)
      state.activeCount -= 1
      return state.sleeperCount > 0
    }
    if isAwaited { bell.ring() }
  }

  private func sleep(_ count: UInt32) {
    bell.wait(since: count)
    state.withLock { $0.sleeperCount -= 1 }
  }
}
