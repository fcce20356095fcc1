@testable import FileCoordination

extension Explorer {
  /// Does a thread's operation.
  ///
  /// - Returns: Its result.
  func perform(_ thread: Int, _ node: Int) -> UInt64 {
    let address = table.address(of: node)
    let first = table.first(of: node)
    switch Operation.Kind(rawValue: table.kind(of: node)) {
    case .load: return load(thread, address, table.ordering(of: node))
    case .store:
      store(thread, address, first, table.ordering(of: node))
      return 0
    case .exchange:
      let old = update(thread, address, table.ordering(of: node)) { _ in first }
      publish(thread, first)
      return old
    case .compareExchange:
      let second = table.second(of: node)
      return update(thread, address, table.ordering(of: node), expected: first) { _ in second } == first ? 1 : 0
    case .add: return update(thread, address, table.ordering(of: node)) { $0 &+ first }
    case .allocate: return UInt64(allocate(thread, wordCount: Int(first)))
    case .free:
      free(thread, address, wordCount: Int(first))
      return 0
    default: return performBeyondMemory(thread, node, first)
    }
  }

  private func performBeyondMemory(_ thread: Int, _ node: Int, _ first: UInt64) -> UInt64 {
    switch Operation.Kind(rawValue: table.kind(of: node)) {
    case .lock:
      acquire(thread, ModelState.lockView)
      state[ModelState.lockOwner] = UInt64(thread) + 1
      return state[ModelState.guardedValue]
    case .unlock:
      release(thread, ModelState.lockView)
      state[ModelState.lockOwner] = 0
      state[ModelState.guardedValue] = first
      if let message = rules.problem(in: memory.guardedValues[Int(first)]) { note(problem: message) }
      return 0
    case .sleep:
      if model.hasMessages { messages.join(ModelState.wakeView(of: thread), into: ModelState.view(of: thread)) }
      state[ModelState.wakes] &= ~(1 << UInt64(thread))
      return 0
    case .wake:
      if model.hasMessages { release(thread, ModelState.wakeView(of: Int(first))) }
      state[ModelState.wakes] |= 1 << first
      return 0
    case .violation:
      note(problem: first == .max ? "thread \(thread) runs in circles" : memory.messages[Int(first)])
      return 0
    default:
      performStatement(Operation.Kind(rawValue: table.kind(of: node)), thread, first, table.second(of: node))
      return 0
    }
  }

  /// The statements of programs about their claims.
  private func performStatement(_ kind: Operation.Kind?, _ thread: Int, _ first: UInt64, _ second: UInt64) {
    switch kind {
    case .begins:
      if rules.presenters(concernedBy: Int(first)) & state[ModelState.registered] != 0 {
        state[ModelState.mustAsk] |= 1 << first
      }
    case .granted: grant(thread, Int(first), wasAsked: second != 0)
    case .ends:
      if model.hasMessages { messages.record(ModelEvents.ends(ofClaims: 1 << first), by: thread) }
      state[ModelState.granted] &= ~(1 << first)
      state[ModelState.inSnapshot] &= ~(1 << first)
      state[ModelState.mustAsk] &= ~(1 << first)
    case .registered:
      state[ModelState.registered] |= 1 << first
      // At the end of a claim: the claims that it has kept out until then aren't granted unless the presenter is asked.
      if second != 0 {
        let asking = rules.conflicts(of: Int(second) - 1) & rules.claims(concerning: Int(first))
        state[ModelState.mustAsk] |= asking & ~state[ModelState.granted]
      }
    case .deregisters: state[ModelState.registered] &= ~(1 << first)
    case .snapshotBegins: state[ModelState.inSnapshot] = state[ModelState.granted]
    case .snapshotEnds:
      let missing = state[ModelState.inSnapshot] & ~first
      if missing != 0 { note(problem: "\(rules.names(missing)) granted, but not in the snapshot") }
      state[ModelState.inSnapshot] = 0
    default: preconditionFailure("not an operation: \(String(describing: kind))")
    }
  }

  private func grant(_ thread: Int, _ claim: Int, wasAsked: Bool) {
    let others = state[ModelState.granted] & rules.conflicts(of: claim)
    if others != 0 { note(problem: "\(rules.name(claim)) is granted beside \(rules.names(others))") }
    if model.hasMessages {
      let unknown = messages.unknownEvents(ModelEvents.ends(ofClaims: rules.conflicts(of: claim)), to: thread)
      if unknown != 0 {
        note(problem: "\(rules.name(claim)) is granted, but may miss the end of \(rules.names(unknown))")
      }
    }
    if !wasAsked, state[ModelState.mustAsk] & (1 << UInt64(claim)) != 0,
      rules.presenters(concernedBy: claim) & state[ModelState.registered] != 0
    {
      note(problem: "\(rules.name(claim)) began when a presenter was registered, who wasn't asked")
    }
    state[ModelState.granted] |= 1 << UInt64(claim)
  }
}

// MARK: - Memory

extension Explorer {
  private func load(_ thread: Int, _ address: Int, _ ordering: Ordering) -> UInt64 {
    let word = address >> 3
    if !model.hasMessages, let value = bufferedValue(thread, address) { return value }
    if let message = wrongLook(thread, word) { note(problem: message) }
    if !model.hasMessages { return state[word] }
    recordLook(thread, word)
    return isOrdinary(thread, address) ? state[word] : messages.load(thread, word, ordering)
  }

  private func store(_ thread: Int, _ address: Int, _ value: UInt64, _ ordering: Ordering) {
    // No thread can see when exactly an ordinary word changes: see the checks.
    if isOrdinary(thread, address) {
      checkWrite(thread, address >> 3)
      state[address >> 3] = value
    } else if model.hasMessages {
      checkWrite(thread, address >> 3)
      messages.store(thread, address >> 3, value, ordering)
    } else {
      buffer(thread, address, value)
    }
  }

  /// Updates a word, unless its value isn't the expected one, if any.
  ///
  /// - Returns: The former value.
  private func update(
    _ thread: Int, _ address: Int, _ ordering: Ordering, expected: UInt64? = nil, _ result: (UInt64) -> UInt64
  ) -> UInt64 {
    let word = address >> 3
    if model.hasMessages {
      if let message = wrongLook(thread, word) { note(problem: message) }
      if expected == nil || expected == state[word] { checkWrite(thread, word) }
      return messages.update(thread, word, ordering, expected: expected, result)
    }
    flushAll(thread)
    let old = state[word]
    if old == ModelState.poison { note(problem: "freed memory is used") }
    if let expected, expected != old { return old }
    write(thread, address, result(old))
    return old
  }

  /// Has a thread take a lock.
  private func acquire(_ thread: Int, _ view: Int) {
    if model.hasMessages { messages.join(view, into: ModelState.view(of: thread)) } else { flushAll(thread) }
  }

  private func release(_ thread: Int, _ view: Int) {
    if !model.hasMessages { return flushAll(thread) }
    messages.announceEvents(of: thread)
    messages.join(ModelState.view(of: thread), into: view)
  }

  func write(_ thread: Int, _ address: Int, _ value: UInt64) {
    checkWrite(thread, address >> 3)
    state[address >> 3] = value
  }

  private func checkWrite(_ thread: Int, _ word: Int) {
    if state[word] == ModelState.poison { note(problem: "freed memory is used") }
    if memory.fault == nil, let message = foreignWrite(thread, word) { note(problem: message) }
    if !model.hasMessages { return }
    if map.role(word) == .note {
      let slot = map.number(word)
      let others = ModelEvents.noteRead(slot: slot) | ModelEvents.noteWrite(slot: slot)
      if messages.unknownEvents(others, to: thread) != 0 { note(problem: "a note changes while it may be read") }
      messages.record(ModelEvents.noteWrite(slot: slot), by: thread)
    } else {
      recordLook(thread, word)
    }
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

  private func wrongLook(_ thread: Int, _ word: Int) -> String? {
    if map.role(word) == .note, map.owner(word) != thread {
      let slot = SlotState(state[map.state(word)])
      if !slot.has(SlotState.isFrozen | SlotState.isAdopted) { return "a note is read that may change" }
    }
    return state[word] == ModelState.poison ? "freed memory is used" : nil
  }

  /// Checks that a look is ordered after what it may not meet, and records it for what may not meet it.
  private func recordLook(_ thread: Int, _ word: Int) {
    if map.role(word) == .note {
      let slot = map.number(word)
      let others = ModelEvents.noteRead(slot: slot) | ModelEvents.noteWrite(slot: slot)
      if messages.unknownEvents(others, to: thread) != 0 { note(problem: "a note is read that may be incomplete") }
      return messages.record(ModelEvents.noteRead(slot: slot), by: thread)
    }
    guard let region = region(of: word) else { return }
    if messages.unknownEvents(ModelEvents.making(region: region), to: thread) != 0 {
      note(problem: "memory is used that may not be ready")
    }
    messages.record(ModelEvents.use(region: region, by: thread), by: thread)
  }

  /// The number of the region of a table that a word is in, if any.
  private func region(of word: Int) -> Int? {
    if word < map.firstTable { return nil }
    var region = Int(state[ModelState.regionCount]) - 1
    while state[ModelState.regions + region] > UInt64(word) { region -= 1 }
    return region
  }

  /// Whether a word is the first one of a table, which never changes.
  private func isMask(_ word: Int) -> Bool {
    region(of: word).map { state[ModelState.regions + $0] == UInt64(word) } ?? false
  }

  func allocate(_ thread: Int, wordCount: Int) -> Int {
    let base = Int(state[ModelState.allocated])
    precondition(base + wordCount <= ModelState.memoryWordCount, "the model's memory is full")
    state[ModelState.allocated] = UInt64(base + wordCount)
    state[ModelState.privateBase] = UInt64(base * 8)
    state[ModelState.privateOwner] = UInt64(thread)
    let region = Int(state[ModelState.regionCount])
    precondition(region < ModelState.regionCountMax, "the model has too many regions")
    state[ModelState.regions + region] = UInt64(base)
    state[ModelState.regionCount] = UInt64(region + 1)
    if base >= map.firstTable, model.hasMessages { messages.record(ModelEvents.making(region: region), by: thread) }
    return base * 8
  }

  private func free(_ thread: Int, _ address: Int, wordCount: Int) {
    if model.hasMessages, let region = region(of: address / 8) {
      let others = ModelEvents.making(region: region) | ModelEvents.uses(region: region)
      if messages.unknownEvents(others, to: thread) != 0 { note(problem: "memory is freed while it may be used") }
    }
    free(address, wordCount: wordCount)
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

  /// Whether accesses of a word never meet.
  @inline(__always)
  private func isOrdinary(_ thread: Int, _ address: Int) -> Bool {
    map.role(address >> 3) == .note || isPrivate(thread, address)
  }
}

// MARK: - Reduction

extension Explorer {
  /// Whether no operation of another thread can meet this one, now or later: then its place in the order doesn't matter.
  func isQuiet(_ thread: Int, _ node: Int) -> Bool {
    let kind = table.kind(of: node)
    if Operation.alwaysQuiet &>> kind & 1 != 0 { return true }
    // No thread can take the lock before, and nothing else becomes visible.
    if kind == Operation.unlock { return model.hasMessages || state[ModelState.bufferCount(of: thread)] == 0 }
    if kind == Operation.store { return !model.hasMessages || isOrdinary(thread, table.address(of: node)) }
    if kind != Operation.load { return false }
    return isQuietLoad(thread, table.address(of: node), table.ordering(of: node))
  }

  private func isQuietLoad(_ thread: Int, _ address: Int, _ ordering: Ordering) -> Bool {
    let word = address >> 3
    if isPrivate(thread, address) { return true }
    switch map.role(word) {
    case .constant: return true
    case .note: return true
    case .guarded:
      if state[ModelState.lockOwner] != UInt64(truncatingIfNeeded: thread) &+ 1 { return isMask(word) }
    case .slotState:
      if map.owner(word) != thread || !SlotState(state[word]).isFree { return false }
      if !model.hasMessages { return state[ModelState.bufferCount(of: thread)] == 0 }
    case .plain: return false
    }
    return !model.hasMessages || messages.isSettled(thread, word, ordering)
  }
}
