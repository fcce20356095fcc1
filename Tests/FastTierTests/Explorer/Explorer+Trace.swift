extension Explorer {
  /// The steps so far, in words.
  func describeTrace() -> [String] {
    var lines: [String] = []
    for step in stride(from: 0, to: trace.count, by: 4) {
      let thread = trace[step]
      let node = trace[step + 1]
      let value = trace[step + 2]
      if node == .max {
        lines.append("thread \(thread): store of \(hex(trace[step + 3])) reaches \(rules.place(Int(value)))")
      } else {
        let late = trace[step + 3] != 0 ? ", not the newest message" : ""
        lines.append("thread \(thread): \(describe(table.operation(of: Int(node)), value))\(late)")
      }
    }
    return lines
  }

  private func describe(_ operation: Operation, _ result: UInt64) -> String {
    let place = rules.place(operation.address)
    let first = operation.first
    return switch operation.kind {
    case .done: "done"
    case .load: "load \(place) = \(hex(result))"
    case .store: "store \(hex(first)) to \(place)"
    case .exchange: "exchange \(place) \(hex(result)) -> \(hex(first))"
    case .compareExchange:
      "compareExchange \(place) \(hex(first)) -> \(hex(operation.second)) \(result != 0 ? "done" : "failed")"
    case .add: "add \(first == .max ? "-1" : hex(first)) to \(place), was \(hex(result))"
    case .allocate: "allocate \(first) words at \(hex(result))"
    case .free: "free \(place)"
    case .lock: "LOCK; knows \(memory.guardedValues[Int(result)])"
    case .unlock: "UNLOCK; knows \(memory.guardedValues[Int(first)])"
    case .sleep: "was woken"
    case .wake: "wakes thread \(first)"
    case .begins: "\(rules.name(Int(first))) BEGINS"
    case .granted: "\(rules.name(Int(first))) is GRANTED"
    case .ends: "\(rules.name(Int(first))) ENDS"
    case .registered: "presenter \(first) is REGISTERED"
    case .deregisters: "presenter \(first) goes"
    case .snapshotBegins: "a snapshot begins"
    case .snapshotEnds: "the snapshot is taken"
    case .violation: "finds something wrong"
    }
  }

  private func hex(_ value: UInt64) -> String { "0x" + String(value, radix: 16) }
}
