import EtcdClient
import SeededRandom
import Testing

/// Goes every way through a setting.
private struct Explorer {
  /// The hashes of the worlds.
  var visited: Set<Int> = []
  var endCount = 0
  let stateCountMax: Int

  mutating func explore(_ setting: LockWorld.Setting) -> String? {
    var open: [(world: LockWorld, path: [LockWorld.Action])] = [(LockWorld(setting), [])]
    visited = [open[0].world.hashValue]
    while let (world, path) = open.popLast() {
      let actions = world.actions
      if actions.allSatisfy(LockWorld.isOptional) {
        endCount += 1
        if let problem = world.problem ?? world.finalProblem() { return "\(problem) after \(path)" }
      }
      for action in actions {
        var next = world
        next.perform(action)
        if let problem = next.problem { return "\(problem) after \(path + [action])" }
        if visited.insert(next.hashValue).inserted { open.append((next, path + [action])) }
      }
      if visited.count > stateCountMax { return "more than \(stateCountMax) states" }
    }
    return nil
  }
}

/// Accesses to a lock at a small model of a server, in every order, and longer ones at random.
@Suite("Accesses to a lock, in every order")
struct LockCoreExplorationTests {
  typealias Setting = LockWorld.Setting

  static let small = [
    Setting(name: "two writers, an expiry, a loss", modes: [.writing, .writing], expiryCount: 1, lossCount: 1),
    Setting(name: "two writers, two expiries, a gap", modes: [.writing, .writing], expiryCount: 2, compactionCount: 1),
    Setting(
      name: "a reader and a writer, an expiry, a loss", modes: [.reading, .writing], expiryCount: 1, lossCount: 1),
    Setting(name: "three writers", modes: [.writing, .writing, .writing]),
    Setting(name: "two readers and a writer", modes: [.reading, .reading, .writing]),
  ]

  static let medium = [
    Setting(
      name: "a reader and a writer, an expiry, a loss, a gap", modes: [.reading, .writing], expiryCount: 1,
      lossCount: 1, compactionCount: 1),
    Setting(name: "three writers, an expiry", modes: [.writing, .writing, .writing], expiryCount: 1),
    Setting(
      name: "two readers and a writer, an expiry, a gap", modes: [.reading, .reading, .writing], expiryCount: 1,
      compactionCount: 1),
    Setting(name: "two writers and a reader, a loss", modes: [.writing, .reading, .writing], lossCount: 1),
  ]

  @Test(
    "CE-01, CE-02, CE-03, CE-05: Writers are alone, tokens grow, nobody without a key waits or has the lock, and everybody gets it",
    arguments: small + (Budget.isLong ? medium : []))
  func everyOrder(setting: Setting) {
    var explorer = Explorer(stateCountMax: 4_000_000)
    let problem = explorer.explore(setting)
    #expect(problem == nil, "\(setting.name): \(problem ?? "")")
    #expect(explorer.endCount > 0)
    print("\(setting.name): \(explorer.visited.count) states, \(explorer.endCount) ends")
  }

  @Test("A mistake in the decisions is found", arguments: LockCore.Mistake.allCases)
  func mistakes(mistake: LockCore.Mistake) {
    let isFound = (Self.small + Self.medium).contains { setting in
      var setting = setting
      setting.mistake = mistake
      var explorer = Explorer(stateCountMax: 300_000)
      guard let problem = explorer.explore(setting) else { return false }
      return !problem.hasPrefix("more than")
    }
    #expect(isFound, "\(mistake)")
  }

  @Test(
    "CE-01, CE-02, CE-03, CE-05: The same with up to seven accesses and many faults, in orders that seeds choose",
    arguments: Budget.seeds(normal: 40, long: 2_000))
  func manyOrders(seed: UInt64) {
    for run in 0..<50 {
      var random = SplitMix(seed: seed &* 50 &+ UInt64(run))
      let modes = (0..<(2 + random.below(6))).map { _ in random.pick([EtcdLockMode.reading, .writing]) }
      var world = LockWorld(
        Setting(
          name: "everything", modes: modes, expiryCount: random.below(4), lossCount: random.below(6),
          compactionCount: random.below(4)))
      while true {
        let actions = world.actions
        let due = actions.filter { !LockWorld.isOptional($0) }
        if due.isEmpty { break }
        world.perform(random.chance(1, in: 5) ? random.pick(actions) : random.pick(due))
      }
      let problem = world.problem ?? world.finalProblem()
      #expect(problem == nil, "seed \(seed), run \(run)")
    }
  }

  @Test("CE-05: A reader that comes after a waiting writer waits too; readers share")
  func fairness() {
    let names = LockNames("l")
    let (first, writer, late) = (
      names.key(.reading, EtcdLeaseID(1)), names.key(.writing, EtcdLeaseID(2)), names.key(.reading, EtcdLeaseID(3))
    )
    let entries = [
      LockQueue.Entry(first, .reading, createRevision: 5), LockQueue.Entry(writer, .writing, createRevision: 6),
      LockQueue.Entry(late, .reading, createRevision: 7),
    ]
    func order(_ mode: EtcdLockMode, _ key: EtcdBytes, _ entries: [LockQueue.Entry]) -> LockCore.Order {
      var core = LockCore(mode, key: key)
      _ = core.start()
      return core.take(.joined(LockQueue(revision: 7, entries: entries)))
    }
    #expect(order(.reading, first, entries) == .grant(EtcdLockToken(key: first, number: 5)))
    #expect(order(.writing, writer, entries) == .watch(from: 8))
    #expect(order(.reading, late, entries) == .watch(from: 8))
    #expect(order(.reading, late, [entries[0], entries[2]]) == .grant(EtcdLockToken(key: late, number: 7)))
  }

  @Test("Only keys of the queue are waited for, not those of locks whose names begin alike")
  func names() {
    let names = LockNames("a")
    #expect(names.key(.writing, EtcdLeaseID(-1)) == "a/w/ffffffffffffffff")
    #expect(names.mode(of: "a/w/ff") == .writing && names.mode(of: "a/r/0") == .reading)
    for other in ["a/w", "a/w/", "a/w/r/ff", "a/x/ff", "b/w/ff", "a/wx/ff", "a/w/FF", "ab/w/ff"] as [EtcdBytes] {
      #expect(names.mode(of: other) == nil, "\(other)")
    }
  }
}

extension LockWorld.Setting: CustomTestStringConvertible {
  var testDescription: String { name }
}
