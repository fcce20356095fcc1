import Testing

@testable import KeyValueReplicas

/// Two replicas and a server, which is set back to an earlier state.
private struct Pair {
  var server = ModelServer()
  var cores: [ReplicaCore]

  init(policies: [String: MergePolicy] = [:]) {
    cores = [1, 2].map { number in
      ReplicaCore(ReplicaID(rawValue: number), budget: UploadBudget(interval: 0)) { policies[$0] ?? .lastWriter }
    }
  }

  mutating func write(_ index: Int, _ writes: KeyWrite..., at now: Int64) throws {
    _ = try cores[index].step(.write(writes, isForced: false), at: now)
  }

  /// Reads, as at the beginning of a connection, and uploads until nothing is pending.
  mutating func synchronize(_ index: Int) throws {
    for _ in 0..<8 {
      let all = server.everything(for: cores[index].replica)
      _ = try cores[index].step(.received(all), at: 1)
      for case .upload(let upload) in try cores[index].step(.uploadIsDue, at: 1) {
        _ = try cores[index].step(
          .uploadEnded(upload.id, server.execute(upload, of: cores[index].replica)), at: 1)
      }
    }
    #expect(cores[index].pendingKeys == [])
  }

  mutating func synchronizeAll(_ order: [Int]) throws { for index in order + order { try synchronize(index) } }

  var shown: [[String: StoredValue]] { cores.map(\.values) + [server.items.compactMapValues(\.value)] }
}

@Suite("Replicas of a server that was set back")
struct ReplicaSetBackTests {
  @Test(
    "After the server was restored from a backup or emptied, all replicas and the server have the latest values again",
    arguments: [[0, 1], [1, 0]], [true, false])
  func restored(_ order: [Int], _ isEmptied: Bool) throws {
    var pair = Pair(policies: ["n": .counter])
    try pair.write(0, KeyWrite("old", .integer(1)), KeyWrite("gone", .integer(1)), KeyWrite("n", .integer(3)), at: 10)
    try pair.synchronizeAll([0, 1])
    let backup = isEmptied ? ModelServer() : pair.server
    try pair.write(1, KeyWrite("old", .integer(2)), KeyWrite("gone", nil), at: 20)
    try pair.write(0, KeyWrite("new", .integer(2)), KeyWrite("n", .integer(5)), at: 21)
    try pair.synchronizeAll([0, 1])
    pair.server = backup
    try pair.write(0, KeyWrite("after", .integer(3)), at: 30)
    try pair.write(1, KeyWrite("n", .integer(6)), at: 31)
    try pair.synchronizeAll(order)
    let values: [String: StoredValue] = [
      "old": .integer(2), "new": .integer(2), "after": .integer(3), "n": .integer(6),
    ]
    #expect(pair.shown == [values, values, values])
    #expect(pair.server.items["gone"]?.value == nil)
    #expect(pair.cores.allSatisfy { $0.losses.isEmpty })
  }

  @Test("A write of another replica since the server was set back counts")
  func writtenSince() throws {
    var pair = Pair(policies: ["m": .maximum])
    try pair.write(0, KeyWrite("k", .integer(1)), KeyWrite("m", .integer(5)), at: 10)
    try pair.synchronizeAll([0, 1])
    try pair.write(0, KeyWrite("k", .integer(2)), KeyWrite("m", .integer(7)), at: 20)
    try pair.synchronizeAll([0, 1])
    pair.server = ModelServer()
    try pair.write(1, KeyWrite("k", .integer(3)), KeyWrite("m", .integer(6)), at: 30)
    try pair.synchronizeAll([1, 0])
    let values: [String: StoredValue] = ["k": .integer(3), "m": .integer(7)]
    #expect(pair.cores[0].values == pair.cores[1].values)
    #expect(pair.shown == [values, values, values])
  }
}
