import Testing

@testable import FileCoordination

/// The values that threads can find in small programs: the usual tests of memory models, with all their outcomes.
///
/// Each letter of an outcome is the value that a load found, thread by thread; the final values of a program's words
/// follow where they matter.
@Suite("The explorer itself: the values that small programs can find in each memory")
struct LitmusTests {
  // x = 1; read y. y = 1; read x.
  @Test(
    "Store buffering",
    arguments: [
      Orders(.sequentiallyConsistent, .sequentiallyConsistent, .messages, ["01", "10", "11"]),
      Orders(.releasing, .sequentiallyConsistent, .messages, ["00", "01", "10", "11"]),
      Orders(.sequentiallyConsistent, .acquiring, .messages, ["00", "01", "10", "11"]),
      Orders(.relaxed, .relaxed, .messages, ["00", "01", "10", "11"]),
      Orders(.sequentiallyConsistent, .relaxed, .buffers, ["00", "01", "10", "11"]),
    ])
  func storeBuffering(orders: Orders) {
    orders.check([
      [.store(0, 1), .load(1)],
      [.store(1, 1), .load(0)],
    ])
  }

  /// The stores are updates: with buffers they are fences, in C++ only for loads that are sequentially consistent too.
  @Test(
    "Store buffering with updates",
    arguments: [
      Orders(.sequentiallyConsistent, .sequentiallyConsistent, .messages, ["01", "10", "11"]),
      Orders(.sequentiallyConsistent, .relaxed, .messages, ["00", "01", "10", "11"]),
      Orders(.acquiringAndReleasing, .sequentiallyConsistent, .messages, ["00", "01", "10", "11"]),
      Orders(.relaxed, .relaxed, .buffers, ["01", "10", "11"]),
    ])
  func storeBufferingWithUpdates(orders: Orders) {
    orders.check([
      [.exchange(0, 1), .load(1)],
      [.exchange(1, 1), .load(0)],
    ])
  }

  // x = 1; y = 1. Read y; read x.
  @Test(
    "Message passing",
    arguments: [
      Orders(.releasing, .acquiring, .messages, ["00", "01", "11"]),
      Orders(.sequentiallyConsistent, .sequentiallyConsistent, .messages, ["00", "01", "11"]),
      Orders(.relaxed, .acquiring, .messages, ["00", "01", "10", "11"]),
      Orders(.releasing, .relaxed, .messages, ["00", "01", "10", "11"]),
      Orders(.relaxed, .relaxed, .buffers, ["00", "01", "11"]),
    ])
  func messagePassing(orders: Orders) {
    orders.check([
      [.plainStore(0, 1), .store(1, 1)],
      [.load(1), .plainLoad(0)],
    ])
  }

  /// Two loads of one word never find its values in the wrong order.
  @Test(
    "Coherence of loads",
    arguments: [
      Orders(.relaxed, .relaxed, .messages, ["00", "01", "02", "11", "12", "22"]),
      Orders(.relaxed, .relaxed, .buffers, ["00", "01", "02", "11", "12", "22"]),
    ])
  func coherence(orders: Orders) {
    orders.check([
      [.store(0, 1), .store(0, 2)],
      [.load(0), .load(0)],
    ])
  }

  /// Whether two threads see the stores of two others in the same order.
  @Test(
    "Independent reads of independent writes",
    arguments: [
      Orders(.sequentiallyConsistent, .sequentiallyConsistent, .messages, fourBits.subtracting(["1010"])),
      Orders(.releasing, .sequentiallyConsistent, .messages, fourBits.subtracting(["1010"])),
      Orders(.releasing, .acquiring, .messages, fourBits),
      Orders(.sequentiallyConsistent, .acquiring, .messages, fourBits),
      Orders(.relaxed, .relaxed, .buffers, fourBits.subtracting(["1010"])),
    ])
  func independentReads(orders: Orders) {
    orders.check([
      [.store(0, 1)], [.store(1, 1)],
      [.load(0), .load(1)], [.load(1), .load(0)],
    ])
  }

  private static let fourBits = Set((16..<32).map { String(String($0, radix: 2).dropFirst()) })

  // Read x; y = 1. Read y; x = 1. C++ allows relaxed operations to find both: this memory does nothing in advance.
  @Test(
    "Load buffering",
    arguments: [
      Orders(.relaxed, .relaxed, .messages, ["00", "01", "10"]),
      Orders(.releasing, .acquiring, .messages, ["00", "01", "10"]),
      Orders(.relaxed, .relaxed, .buffers, ["00", "01", "10"]),
    ])
  func loadBuffering(orders: Orders) {
    orders.check([
      [.load(0), .store(1, 1)],
      [.load(1), .store(0, 1)],
    ])
  }

  // x = 1; y = 1, which releases. y += 2, relaxed. Read y; read x: a thread that finds 1 or 3 in y knows x.
  @Test("An update continues a release sequence, even a relaxed one")
  func releaseSequence() {
    Orders(.releasing, .acquiring, .messages, ["00", "01", "11", "20", "21", "31"]).check([
      [.plainStore(0, 1), .store(1, 1)],
      [.plainAdd(1, 2)],
      [.load(1), .plainLoad(0)],
    ])
  }

  // x = 1; y = 1, which releases; y = 2, which doesn't.
  @Test("A relaxed store ends a release sequence, even one of the same thread")
  func endOfReleaseSequence() {
    Orders(.releasing, .acquiring, .messages, ["00", "01", "11", "20", "21"]).check([
      [.plainStore(0, 1), .store(1, 1), .plainStore(1, 2)],
      [.load(1), .plainLoad(0)],
    ])
  }

  // x = 1; y = 2. y = 1; x = 2. The final values of x and y: both may be 1 unless stores reach all in one order.
  @Test(
    "Two stores by each of two threads",
    arguments: [
      Orders(.sequentiallyConsistent, .relaxed, .messages, ["12", "21", "22"]),
      Orders(.releasing, .relaxed, .messages, ["11", "12", "21", "22"]),
      Orders(.relaxed, .relaxed, .messages, ["11", "12", "21", "22"]),
      Orders(.relaxed, .relaxed, .buffers, ["12", "21", "22"]),
    ])
  func twoStores(orders: Orders) {
    orders.check(
      [
        [.store(0, 1), .store(1, 2)],
        [.store(1, 1), .store(0, 2)],
      ], words: [0, 1])
  }

  @Test("Updates are atomic", arguments: [Ordering.relaxed, .acquiringAndReleasing, .sequentiallyConsistent])
  func updates(ordering: Ordering) {
    Orders(ordering, .relaxed, .messages, ["0123", "0213", "1023", "1203", "2013", "2103"])
      .check([[.add(0, 1)], [.add(0, 1)], [.add(0, 1)]], words: [0])
  }

  /// The store comes before or behind the update, which then leaves 6 or is overwritten.
  @Test("No store comes between an update and the message that it replaces", arguments: [Ordering.relaxed, .releasing])
  func lateStore(ordering: Ordering) {
    Orders(ordering, .relaxed, .messages, ["05", "56"]).check([[.add(0, 1)], [.store(0, 5)]], words: [0])
  }

  // x += 1. If x is 1, it becomes 2.
  @Test("A comparison may fail because of a stale value, and never succeeds because of one")
  func comparison() {
    Orders(.relaxed, .relaxed, .messages, ["01", "12"])
      .check([[.plainAdd(0, 1)], [.compareExchange(0, 1, 2)]], words: [0])
  }

  @Test("A value that a thread writes under a lock is known to the next one that takes it")
  func lock() {
    Orders(.relaxed, .relaxed, .messages, ["01", "10"])
      .check([[.lock, .load(0), .store(0, 1), .unlock], [.lock, .load(0), .store(0, 1), .unlock]])
  }
}

/// Operations of a litmus test, and what can come of them.
struct Orders: CustomStringConvertible, Sendable {
  enum Memory { case messages, buffers }

  let store: Ordering
  let load: Ordering
  let memory: Memory
  let allowed: Set<String>

  init(_ store: Ordering, _ load: Ordering, _ memory: Memory, _ allowed: Set<String>) {
    (self.store, self.load, self.memory, self.allowed) = (store, load, memory, allowed)
  }

  var description: String { "\(store), \(load), \(memory)" }

  /// Checks that exactly the allowed outcomes are found: the values that loads and additions find, then what is left in
  /// some words.
  func check(_ threads: [[LitmusAct]], words: [Int] = []) {
    let found = outcomes(threads, words)
    #expect(
      found == allowed, "never: \(allowed.subtracting(found).sorted()), but: \(found.subtracting(allowed).sorted())")
  }

  private func outcomes(_ threads: [[LitmusAct]], _ words: [Int]) -> Set<String> {
    var firstResult = 24
    var programs: [Program] = []
    for acts in threads {
      programs.append(program(acts, firstResult))
      firstResult += acts.filter(\.hasResult).count
    }
    let state = ModelState()
    let map = MemoryMap()
    defer {
      state.deallocate()
      map.deallocate()
    }
    var outcomes = Set<String>()
    let places = Array(24..<firstResult) + words.map { 16 + $0 }
    let limits = Explorer.Limits(memoryModel: memory == .buffers ? .storeBuffers : .messages(lateCountMax: nil))
    let memory = ModelMemory()
    _ = memory.number(of: ModelHost(layout: .standard))
    let result = Explorer(memory, state, programs, map: map, rules: ClaimRules([]), limits: limits).explore {
      outcomes.insert(places.map { String(state[$0]) }.joined())
      return nil
    }
    #expect(result.violation?.message == nil)
    return outcomes
  }

  private func program(_ acts: [LitmusAct], _ firstResult: Int) -> Program {
    func run(_ memory: ModelMemory) throws(TurnOver) {
      var place = firstResult
      for act in acts {
        let result = try memory.perform(act.operation(self))
        if !act.hasResult { continue }
        try memory.perform(Operation(kind: .store, address: place * 8, first: result, ordering: .relaxed))
        place += 1
      }
    }
    return run
  }
}

/// An operation of a litmus test: plain ones are relaxed, the others have the order of the test.
enum LitmusAct {
  case store(Int, UInt64), plainStore(Int, UInt64)
  case load(Int), plainLoad(Int)
  case exchange(Int, UInt64)
  case add(Int, UInt64), plainAdd(Int, UInt64)
  case compareExchange(Int, UInt64, UInt64)
  case lock, unlock

  /// Whether its result belongs to the outcome.
  var hasResult: Bool {
    switch self {
    case .load, .plainLoad, .add, .compareExchange: true
    case .store, .plainStore, .exchange, .plainAdd, .lock, .unlock: false
    }
  }

  func operation(_ orders: Orders) -> Operation {
    switch self {
    case .store(let word, let value): operation(.store, word, value, orders.store)
    case .plainStore(let word, let value): operation(.store, word, value, .relaxed)
    case .load(let word): operation(.load, word, 0, orders.load)
    case .plainLoad(let word): operation(.load, word, 0, .relaxed)
    case .exchange(let word, let value): operation(.exchange, word, value, orders.store)
    case .add(let word, let value): operation(.add, word, value, orders.store)
    case .plainAdd(let word, let value): operation(.add, word, value, .relaxed)
    case .compareExchange(let word, let old, let new):
      Operation(kind: .compareExchange, address: (16 + word) * 8, first: old, second: new, ordering: orders.store)
    case .lock: Operation(kind: .lock)
    case .unlock: Operation(kind: .unlock)
    }
  }

  private func operation(_ kind: Operation.Kind, _ word: Int, _ value: UInt64, _ ordering: Ordering) -> Operation {
    Operation(kind: kind, address: (16 + word) * 8, first: value, ordering: ordering)
  }
}
