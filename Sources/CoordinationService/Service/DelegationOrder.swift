internal import FileAccessArbiter

/// The delegations of a process, the oldest first.
///
/// Each change costs O(1), over many of them.
struct DelegationOrder: Hashable, Sendable {
  private var order: [AccessID] = []
  private var start = 0
  private var present: Set<AccessID> = []

  var count: Int { present.count }

  mutating func append(_ access: AccessID) {
    order.append(access)
    present.insert(access)
  }

  mutating func remove(_ access: AccessID) {
    if present.remove(access) != nil { dropAbsent() }
  }

  mutating func removeFirst() -> AccessID? {
    while start < order.count {
      start += 1
      let first = order[start - 1]
      if present.remove(first) != nil {
        dropAbsent()
        return first
      }
    }
    return nil
  }

  private mutating func dropAbsent() {
    guard order.count > 2 * present.count + 16 else { return }
    order = order[start...].filter(present.contains)
    start = 0
  }
}
