import KeyValueReplicas
import SeededRandom
import SharedStorageContract
import SystemInterface
import Testing

/// The decisions of replicas at the real place, over an etcd in memory whose answers get lost and come late.
@Suite("Replicas that share a place at etcd, in orders that seeds choose", .timeLimit(.minutes(8)))
struct EtcdReplicaExplorationTests {
  @Test(
    "CE-07, CE-08, CK-15, CK-24: All replicas end with the same values, and each write counts once",
    arguments: Budget.seeds(normal: 20, long: 400))
  func manyOrders(seed: UInt64) async throws {
    for number in 0..<5 {
      var run = try await ReplicaRun(at: ScriptedPlace(), seed: seed &* 5 &+ UInt64(number))
      try await run.run()
      #expect(run.problem == nil, "seed \(seed), run \(number)")
    }
  }

  @Test("The runs have conflicts and lost answers")
  func coverage() async throws {
    var (outdated, unknown) = (0, 0)
    for seed in 0..<10 as Range<UInt64> {
      var run = try await ReplicaRun(at: ScriptedPlace(), seed: seed)
      try await run.run()
      outdated += run.outdatedCount
      unknown += run.unknownCount
    }
    #expect(outdated > 0 && unknown > 0, "\(outdated), \(unknown)")
  }

  @Test("A mistake of the place is found by a clause of the contract or by a run", arguments: PlaceMistake.allCases)
  func mistakes(mistake: PlaceMistake) async throws {
    let found = Guarded<[String]>([])
    for clause in StorageClause.allCases where found.withLock({ $0.isEmpty }) {
      try await withKnownIssue(isIntermittent: true) {
        try await clause.check(MistakenPlace(mistake: mistake))
      } matching: { _ in
        found.withLock { $0.append(clause.rawValue) }
        return true
      }
    }
    if found.withLock({ $0.isEmpty }) {
      for seed in 0..<20 as Range<UInt64> {
        var run = try await ReplicaRun(at: MistakenPlace(mistake: mistake), seed: seed)
        try await run.run(idleCountMax: 100)
        guard let problem = run.problem else { continue }
        found.withLock { $0.append(problem) }
        break
      }
    }
    #expect(!found.withLock { $0.isEmpty })
  }
}
