import Testing

@Suite("The explorer itself: the known behaviour of small programs on x86-TSO")
struct ExplorerTests {
  /// Each thread stores to its own word and then loads the other's; both can load zero, because stores wait in the
  /// buffers.
  @Test("Two plain stores may both be late", arguments: [false, true])
  func storeBuffering(isFenced: Bool) {
    func program(_ memory: ModelMemory, _ own: Int) throws(TurnOver) {
      if isFenced {
        _ = try memory.exchange(1, at: Self.word(own))
      } else {
        try memory.storeRelaxed(1, at: Self.word(own))
      }
      try memory.storeRelaxed(try memory.load(Self.word(1 - own)), at: Self.word(2 + own))
    }
    func first(_ memory: ModelMemory) throws(TurnOver) { try program(memory, 0) }
    func second(_ memory: ModelMemory) throws(TurnOver) { try program(memory, 1) }
    let result = explore([first, second]) { state in
      state[Self.word(2) / 8] == 0 && state[Self.word(3) / 8] == 0 ? "both are late" : nil
    }
    #expect((result.violation?.message == "both are late") == !isFenced)
    #expect(result.endCount > 0)
  }

  @Test("Stores become visible in their order")
  func messagePassing() {
    func sender(_ memory: ModelMemory) throws(TurnOver) {
      try memory.storeRelaxed(1, at: Self.word(0))
      try memory.storeRelaxed(1, at: Self.word(1))
    }
    func receiver(_ memory: ModelMemory) throws(TurnOver) {
      let second = try memory.load(Self.word(1))
      let first = try memory.load(Self.word(0))
      if second == 1, first == 0 { try memory.violation("the second store is seen first") }
    }
    let result = explore([sender, receiver])
    #expect(result.violation?.message == nil)
    #expect(result.endCount > 0)
  }

  @Test("A thread sees its own stores at once")
  func forwarding() {
    func program(_ memory: ModelMemory) throws(TurnOver) {
      try memory.storeRelaxed(1, at: Self.word(0))
      if try memory.load(Self.word(0)) != 1 { try memory.violation("the own store is late") }
    }
    #expect(explore([program]).violation?.message == nil)
  }

  @Test("An update that isn't atomic is lost in some interleaving, an atomic one never", arguments: [false, true])
  func lostUpdate(isAtomic: Bool) {
    func increment(_ memory: ModelMemory) throws(TurnOver) {
      if isAtomic {
        _ = try memory.add(1, at: Self.word(0))
      } else {
        _ = try memory.exchange(try memory.load(Self.word(0)) + 1, at: Self.word(0))
      }
    }
    let result = explore([increment, increment, increment]) { $0[Self.word(0) / 8] == 3 ? nil : "an update is lost" }
    #expect((result.violation?.message == "an update is lost") == !isAtomic)
  }

  @Test("A sleeper that isn't woken is found", arguments: [false, true])
  func lostWake(isLooked: Bool) {
    func sleeper(_ memory: ModelMemory) throws(TurnOver) {
      _ = try memory.exchange(1, at: Self.word(1))
      if isLooked, try memory.load(Self.word(0)) != 0 { return }
      try memory.sleep()
    }
    func waker(_ memory: ModelMemory) throws(TurnOver) {
      _ = try memory.exchange(1, at: Self.word(0))
      if try memory.load(Self.word(1)) != 0 { try memory.wake(0) }
    }
    let result = explore([sleeper, waker])
    #expect((result.violation?.message == "thread 0 sleeps for ever") == !isLooked)
  }

  @Test("A look at freed memory is found")
  func useAfterFree() {
    func owner(_ memory: ModelMemory) throws(TurnOver) { try memory.free(Self.word(0), wordCount: 1) }
    func reader(_ memory: ModelMemory) throws(TurnOver) { _ = try memory.load(Self.word(0)) }
    #expect(explore([owner, reader]).violation?.message == "freed memory is used")
  }

  /// Three threads of two operations each: 6! / 2!³ = 90 orders, between 3³ = 27 states.
  @Test("Every order is looked at, every state once")
  func stateCount() {
    func program(_ memory: ModelMemory, _ own: Int) throws(TurnOver) {
      for value in UInt64(1)...2 { _ = try memory.exchange(value, at: Self.word(own)) }
    }
    func first(_ memory: ModelMemory) throws(TurnOver) { try program(memory, 0) }
    func second(_ memory: ModelMemory) throws(TurnOver) { try program(memory, 1) }
    func third(_ memory: ModelMemory) throws(TurnOver) { try program(memory, 2) }
    let result = explore([first, second, third])
    #expect(result.stateCount == 27)
    #expect(result.stepCount == 3 * 2 * 9)
    #expect(result.endCount == 1)
  }

  private static func word(_ index: Int) -> Int { (16 + index) * 8 }

  private func explore(
    _ programs: [Program], atEnd: @escaping (ModelState) -> String? = { _ in nil }
  ) -> Explorer.Result {
    let state = ModelState()
    let map = MemoryMap()
    defer {
      state.deallocate()
      map.deallocate()
    }
    return Explorer(ModelMemory(), state, programs, map: map, rules: ClaimRules([])).explore { atEnd(state) }
  }
}
