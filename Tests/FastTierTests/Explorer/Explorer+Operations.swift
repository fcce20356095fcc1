@testable import FileCoordination

extension Explorer {
  /// Does a thread's operation.
  ///
  /// - Returns: Its result.
  func perform(_ thread: Int, _ node: Int) -> UInt64 {
    let address = table.address(of: node)
    let first = table.first(of: node)
    switch Operation.Kind(rawValue: table.kind(of: node)) {
    case .load, .loadRelaxed: return load(thread, address)
    case .store:
      store(thread, address, first)
      return 0
    case .exchange:
      flushAll(thread)
      let old = read(address)
      write(thread, address, first)
      publish(thread, first)
      return old
    case .compareExchange:
      flushAll(thread)
      if read(address) != first { return 0 }
      write(thread, address, table.second(of: node))
      return 1
    case .add:
      flushAll(thread)
      let old = read(address)
      write(thread, address, old &+ first)
      return old
    case .allocate: return UInt64(allocate(thread, wordCount: Int(first)))
    case .free:
      free(address, wordCount: Int(first))
      return 0
    default: return performBeyondMemory(thread, node, first)
    }
  }

  private func performBeyondMemory(_ thread: Int, _ node: Int, _ first: UInt64) -> UInt64 {
    switch Operation.Kind(rawValue: table.kind(of: node)) {
    case .lock:
      flushAll(thread)
      state[ModelState.lockOwner] = UInt64(thread) + 1
      return state[ModelState.guardedValue]
    case .unlock:
      flushAll(thread)
      state[ModelState.lockOwner] = 0
      state[ModelState.guardedValue] = first
      if let message = rules.problem(in: memory.guardedValues[Int(first)]) { note(problem: message) }
      return 0
    case .sleep:
      state[ModelState.wakes] &= ~(1 << UInt64(thread))
      return 0
    case .wake:
      state[ModelState.wakes] |= 1 << first
      return 0
    case .violation:
      note(problem: first == .max ? "thread \(thread) runs in circles" : memory.messages[Int(first)])
      return 0
    default:
      performStatement(Operation.Kind(rawValue: table.kind(of: node)), first, table.second(of: node))
      return 0
    }
  }

  /// The statements of programs about their claims.
  private func performStatement(_ kind: Operation.Kind?, _ first: UInt64, _ second: UInt64) {
    switch kind {
    case .begins:
      if rules.presenters(concernedBy: Int(first)) & state[ModelState.registered] != 0 {
        state[ModelState.mustAsk] |= 1 << first
      }
    case .granted: grant(Int(first), wasAsked: second != 0)
    case .ends:
      state[ModelState.granted] &= ~(1 << first)
      state[ModelState.inSnapshot] &= ~(1 << first)
      state[ModelState.mustAsk] &= ~(1 << first)
    case .registered: state[ModelState.registered] |= 1 << first
    case .deregisters: state[ModelState.registered] &= ~(1 << first)
    case .snapshotBegins: state[ModelState.inSnapshot] = state[ModelState.granted]
    case .snapshotEnds:
      let missing = state[ModelState.inSnapshot] & ~first
      if missing != 0 { note(problem: "\(rules.names(missing)) granted, but not in the snapshot") }
      state[ModelState.inSnapshot] = 0
    default: preconditionFailure("not an operation: \(String(describing: kind))")
    }
  }

  private func grant(_ claim: Int, wasAsked: Bool) {
    let others = state[ModelState.granted] & rules.conflicts(of: claim)
    if others != 0 { note(problem: "\(rules.name(claim)) is granted beside \(rules.names(others))") }
    if !wasAsked, state[ModelState.mustAsk] & (1 << UInt64(claim)) != 0,
      rules.presenters(concernedBy: claim) & state[ModelState.registered] != 0
    {
      note(problem: "\(rules.name(claim)) began when a presenter was registered, who wasn't asked")
    }
    state[ModelState.granted] |= 1 << UInt64(claim)
  }

  // MARK: Memory

  private func read(_ address: Int) -> UInt64 {
    let word = state[address >> 3]
    if word == ModelState.poison { note(problem: "freed memory is used") }
    return word
  }

  private func write(_ thread: Int, _ address: Int, _ value: UInt64) {
    let index = address >> 3
    if state[index] == ModelState.poison { note(problem: "freed memory is used") }
    if memory.fault == nil, let message = foreignWrite(thread, index) { note(problem: message) }
    state[index] = value
  }

  /// A write that shows that the reduction of orders is wrong.
  private func foreignWrite(_ thread: Int, _ index: Int) -> String? {
    switch map.role(index) {
    case .plain: return nil
    case .slotState:
      if SlotState(state[index]).isFree, map.owner(index) != thread {
        return "somebody else's free slot is taken"
      }
      return nil
    case .note:
      if !SlotState(state[map.state(index)]).isFree { return "a note changes while the slot isn't free" }
      return nil
    case .guarded:
      if state[ModelState.lockOwner] != UInt64(thread) + 1 { return "an interest changes without the lock" }
      return nil
    case .constant: return "a constant changes"
    }
  }

  private func load(_ thread: Int, _ address: Int) -> UInt64 {
    var entry = Int(truncatingIfNeeded: state[ModelState.bufferCount(of: thread)])
    while entry > 0 {
      entry &-= 1
      let index = ModelState.buffer(of: thread, entry)
      if state[index] == UInt64(truncatingIfNeeded: address) { return state[index &+ 1] }
    }
    let index = address >> 3
    if map.role(index) == .note, map.owner(index) != thread {
      let slot = SlotState(state[map.state(index)])
      if !slot.has(SlotState.isFrozen | SlotState.isAdopted) { note(problem: "a note is read that may change") }
    }
    return read(address)
  }

  private func store(_ thread: Int, _ address: Int, _ value: UInt64) {
    // No thread can see when exactly these become visible: see the check at loads.
    if map.role(address >> 3) == .note || isPrivate(thread, address) { return write(thread, address, value) }
    let count = Int(state[ModelState.bufferCount(of: thread)])
    precondition(count < ModelState.bufferCountMax, "the store buffer is full")
    let index = ModelState.buffer(of: thread, count)
    state[index] = UInt64(address)
    state[index + 1] = value
    state[ModelState.bufferCount(of: thread)] = UInt64(count + 1)
  }

  func flushOldest(_ thread: Int) {
    let count = Int(state[ModelState.bufferCount(of: thread)])
    let oldest = ModelState.buffer(of: thread, 0)
    let address = Int(state[oldest])
    let value = state[oldest + 1]
    trace.append(UInt64(thread))
    trace.append(.max)
    trace.append(UInt64(address))
    trace.append(value)
    write(thread, address, value)
    for entry in 1..<count + 1 {
      let target = ModelState.buffer(of: thread, entry - 1)
      let isLast = entry == count
      state[target] = isLast ? 0 : state[target + 2]
      state[target + 1] = isLast ? 0 : state[target + 3]
    }
    state[ModelState.bufferCount(of: thread)] = UInt64(count - 1)
  }

  private func flushAll(_ thread: Int) {
    while state[ModelState.bufferCount(of: thread)] != 0 { flushOldest(thread) }
  }

  func allocate(_ thread: Int, wordCount: Int) -> Int {
    let base = Int(state[ModelState.allocated])
    precondition(base + wordCount <= ModelState.memoryWordCount, "the model's memory is full")
    state[ModelState.allocated] = UInt64(base + wordCount)
    state[ModelState.privateBase] = UInt64(base * 8)
    state[ModelState.privateOwner] = UInt64(thread)
    return base * 8
  }

  func free(_ address: Int, wordCount: Int) {
    for index in address / 8..<address / 8 + wordCount {
      if state[index] == ModelState.poison { note(problem: "memory is freed twice") }
      state[index] = ModelState.poison
    }
  }

  /// From here on other threads can have the address.
  private func publish(_ thread: Int, _ value: UInt64) {
    if value != 0, value == state[ModelState.privateBase] { state[ModelState.privateBase] = 0 }
  }

  @inline(__always)
  private func isPrivate(_ thread: Int, _ address: Int) -> Bool {
    let base = state[ModelState.privateBase]
    return base != 0 && UInt64(truncatingIfNeeded: address) >= base
      && state[ModelState.privateOwner] == UInt64(truncatingIfNeeded: thread)
  }

  // MARK: Reduction

  /// Whether no operation of another thread can meet this one, now or later: then its place in the order doesn't matter.
  func isQuiet(_ thread: Int, _ node: Int) -> Bool {
    let kind = table.kind(of: node)
    if Operation.alwaysQuiet &>> kind & 1 != 0 { return true }
    // No thread can take the lock before, and nothing else becomes visible.
    if kind == Operation.unlock { return state[ModelState.bufferCount(of: thread)] == 0 }
    if kind != Operation.load { return false }
    let address = table.address(of: node)
    if isPrivate(thread, address) { return true }
    switch map.role(address >> 3) {
    case .constant: return true
    case .guarded: return state[ModelState.lockOwner] == UInt64(truncatingIfNeeded: thread) &+ 1
    case .slotState:
      return map.owner(address >> 3) == thread && SlotState(state[address >> 3]).isFree
        && state[ModelState.bufferCount(of: thread)] == 0
    case .plain, .note: return false
    }
  }
}
