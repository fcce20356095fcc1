@testable import KeyValueReplicas

extension ReplicaWorld {
  /// CK-08, CK-09, CK-18: each step that alters what programs see says so in one event, and a program's own write isn't one.
  mutating func check(_ index: Int, _ input: ReplicaInput, _ before: [String: StoredValue], _ effects: [ReplicaEffect])
  {
    let core = members[index].core
    let changes = effects.compactMap { effect -> StoreChange? in
      if case .changed(let change) = effect { return change }
      return nil
    }
    if changes.count > 1 { problem = "replica \(index) gets \(changes.count) events at once" }
    if case .write = input {
      if !changes.isEmpty { problem = "replica \(index) hears of its own write" }
      return
    }
    let after = core.values
    let altered = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    let told = Set(changes.flatMap(\.items).map(\.key))
    if altered != told {
      problem = "replica \(index) is told of \(told.sorted()), and \(altered.sorted()) have changed"
    }
    for item in changes.flatMap(\.items) where item.old != before[item.key] || item.new != after[item.key] {
      problem = "replica \(index) is told of other values than it has: \(item)"
    }
    let bytes = after.values.reduce(0) { $0 + $1.byteCount }
    if core.keyCount != after.count || core.byteCount != bytes { problem = "replica \(index) has wrong counts" }
  }

  /// The broken promise, if there is one, when nothing is under way any more.
  func finalProblem() -> String? {
    let shared = server.items.compactMapValues(\.value)
    for (index, member) in members.enumerated() {
      if !member.core.pendingKeys.isEmpty {
        return "replica \(index) never uploads \(member.core.pendingKeys.sorted())"
      }
      if member.core.uploadUnderWay != nil { return "an upload of replica \(index) never ends" }
      if member.core.confirmedSequence != member.core.sequence {
        return "replica \(index) never confirms its last write"
      }
      if member.core.values != shared { return "replica \(index) has \(member.core.values), the server \(shared)" }
    }
    let keys = Set(members.flatMap { $0.written.keys })
    for key in keys.sorted() {
      if let problem = finalProblem(of: key) { return problem }
    }
    return nil
  }

  private func finalProblem(of key: String) -> String? {
    // A journal is copied unless the run ends before.
    let scripts = setting.scripts + (members.count > setting.scripts.count ? [setting.copyScript] : [])
    let edits = scripts.flatMap { $0.flatMap { $0 } }
    let value = server.items[key]?.value
    // Additions of two replicas since a backup aren't told apart: one of their values stays, or both are counted.
    if setting.restoreCount > 0, setting.policies[key] != nil { return nil }
    switch setting.policies[key] ?? .lastWriter {
    case .lastWriter:
      let last = members.compactMap { $0.written[key]?.max() }.max()
      // A new replica's writes lose against what's there already, whatever their instants.
      if setting.beginsWithReading, server.items[key]?.time != last {
        return
          "\(key) has the write of \(server.items[key].map { "\($0.time)" } ?? "nobody"), not of \(last.map { "\($0)" } ?? "nobody")"
      }
    case .counter:
      let sum = edits.reduce(Int64(0)) { if case .add(key, let number) = $1 { $0 + number } else { $0 } }
      // Two machines have the same addition that isn't uploaded, and may both make it: nothing is lost.
      if copiedKeys.contains(key), case .integer(let number) = value, number > sum { return nil }
      if value != .integer(sum) { return "\(key) is \(value.map { "\($0)" } ?? "nothing"), not \(sum)" }
    case .union:
      let all = Set(
        edits.compactMap { edit -> StoredValue? in
          if case .insert(key, let number) = edit { return .integer(number) }
          return nil
        })
      guard case .array(let elements) = value, Set(elements) == all, elements.count == all.count else {
        return "\(key) is \(value.map { "\($0)" } ?? "nothing"), not \(all)"
      }
    case .maximum, .minimum, .custom: return nil
    }
    return nil
  }
}
