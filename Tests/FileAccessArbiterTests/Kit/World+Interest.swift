import CompactContainers
@testable import FileAccessArbiter

// The interests that keep others from going ahead unasked, a second time: from the host's records, and without a tree.

extension World {
  static let seed: UInt64 = 0x5eed_0f_9a75

  /// The work of a host after each step: apply the changes to its table.
  mutating func noteInterest() {
    for change in arbiter.takeInterestChanges() {
      if change.old == change.new { problems.append("\(change) is no change") }
      add(change.old, -1, change.fingerprint)
      add(change.new, 1, change.fingerprint)
    }
    if !arbiter.takeInterestChanges().isEmpty { problems.append("changes of interest are told twice") }
  }

  private mutating func add(_ kinds: ItemInterest, _ count: Int, _ fingerprint: PathFingerprint) {
    for kind in ItemInterest.kinds where kinds.contains(kind) {
      interest[fingerprint, default: [:]][kind, default: 0] += count
      if interest[fingerprint]?[kind] == 0 { interest[fingerprint]?[kind] = nil }
    }
    if interest[fingerprint]?.isEmpty == true { interest[fingerprint] = nil }
  }

  /// The sum of the changes is the present interest of claims and presenters at each item.
  mutating func checkInterest() {
    var expected: [PathFingerprint: [ItemInterest: Int]] = [:]
    var names: [PathFingerprint: ItemPath] = [:]
    for (path, kinds) in interestByRules() {
      guard let fingerprint = PathFingerprint.prefixes(of: path, seed: World.seed).last else { continue }
      names[fingerprint] = path
      for kind in ItemInterest.kinds where kinds.contains(kind) { expected[fingerprint, default: [:]][kind] = 1 }
    }
    if expected == interest { return }
    for fingerprint in Set(expected.keys).union(interest.keys) where expected[fingerprint] != interest[fingerprint] {
      let name = names[fingerprint]?.description ?? "an item that nobody is interested in"
      problems.append(
        "\(name) has interests \(interest[fingerprint] ?? [:]) in the journal, not \(expected[fingerprint] ?? [:])")
    }
  }

  private func interestByRules() -> [ItemPath: ItemInterest] {
    var result: [ItemPath: ItemInterest] = [:]
    for id in order where isWaiting(id) || isGranted(id) {
      for item in claimed(by: id) {
        var kinds: ItemInterest = .blocksWriting
        if item.access.isWrite { kinds.insert(.blocksReading) }
        if reachesInside(item.access, .write(.update)) { kinds.insert(.blocksWritingBelow) }
        if reachesInside(item.access, .read(withoutChanges: false)) { kinds.insert(.blocksReadingBelow) }
        result[item.path, default: []].formUnion(kinds)
      }
    }
    for (id, path) in presenterPlaces where !removed.contains(id) {
      result[path, default: []].formUnion([.blocksReading, .blocksWriting, .blocksWritingBelow])
    }
    return result
  }

  /// An access that goes ahead unasked must be in no other's way, and need no answer.
  mutating func noteAdoption(_ id: AccessID) {
    for other in order where other != id && (isWaiting(other) || isGranted(other)) && conflict(id, other) {
      problems.append("\(id) is adopted beside \(other)")
    }
    for item in requests[id]?.items ?? [] {
      let name = item.path.description
      for (presenter, path) in presenterPlaces where !removed.contains(presenter) {
        let isTold = item.access.isWrite && path.contains(item.path)
        if path == item.path || isTold || unit(name) != name {
          problems.append("\(id) is adopted at \(item.path), and \(presenter) at \(path) is not asked")
        }
      }
      if unit(name) != name || isPackage(name[...]) { problems.append("\(id) is adopted in the package \(unit(name))") }
    }
  }
}

extension ItemInterest {
  static let kinds: [ItemInterest] = [.blocksReading, .blocksWriting, .blocksReadingBelow, .blocksWritingBelow]
}
