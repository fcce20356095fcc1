// The memory of x86-TSO: each thread's stores wait in a buffer.

extension Explorer {
  /// The newest value that a thread has stored itself and that hasn't reached the memory.
  func bufferedValue(_ thread: Int, _ address: Int) -> UInt64? {
    var entry = Int(truncatingIfNeeded: state[ModelState.bufferCount(of: thread)])
    while entry > 0 {
      entry &-= 1
      let index = ModelState.buffer(of: thread, entry)
      if state[index] == UInt64(truncatingIfNeeded: address) { return state[index &+ 1] }
    }
    return nil
  }

  func buffer(_ thread: Int, _ address: Int, _ value: UInt64) {
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

  func flushAll(_ thread: Int) {
    while state[ModelState.bufferCount(of: thread)] != 0 { flushOldest(thread) }
  }
}
