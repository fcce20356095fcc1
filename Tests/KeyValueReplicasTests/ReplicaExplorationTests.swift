import SeededRandom
import Testing

@testable import KeyValueReplicas

/// Goes every way through a setting.
private struct Explorer {
  var visited: Set<ReplicaWorld.Fingerprint> = []
  var endCount = 0
  let stateCountMax: Int

  mutating func explore(_ setting: ReplicaWorld.Setting) -> String? {
    var open: [(world: ReplicaWorld, path: [ReplicaWorld.Action])] = [(ReplicaWorld(setting), [])]
    visited = [open[0].world.fingerprint]
    while let (world, path) = open.popLast() {
      let actions = world.actions
      if actions.isEmpty {
        endCount += 1
        if let problem = world.problem ?? world.finalProblem() { return "\(problem) after \(path)" }
      }
      for action in actions {
        var next = world
        next.perform(action)
        if let problem = next.problem { return "\(problem) after \(path + [action])" }
        if visited.insert(next.fingerprint).inserted { open.append((next, path + [action])) }
      }
      if visited.count > stateCountMax { return "more than \(stateCountMax) states" }
    }
    return nil
  }
}

@Suite("The decisions of replicas of a key-value store, in every order")
struct ReplicaExplorationTests {
  typealias Setting = ReplicaWorld.Setting

  private static let number: @Sendable (Int64) -> StoredValue = { .integer($0) }

  static let small = [
    Setting(
      name: "one key, no loss", scripts: [[[.set("a", number(1))], [.set("a", number(2))]], [[.set("a", number(3))]]],
      clocks: [10, 10]),
    Setting(
      name: "one key, a loss", scripts: [[[.set("a", number(1))]], [[.set("a", number(3))]]], clocks: [10, 10],
      lossCount: 1),
    Setting(
      name: "a counter, a loss", scripts: [[[.add("a", 1)]], [[.add("a", 10)]]], policies: ["a": .counter],
      clocks: [10, 10], lossCount: 1),
    Setting(
      name: "a counter, a crash", scripts: [[[.add("a", 1)], [.add("a", 2)]], [[.add("a", 10)]]],
      policies: ["a": .counter], clocks: [10, 10], crashCount: 1),
    Setting(
      name: "a set", scripts: [[[.insert("a", 1)], [.insert("a", 2)]], [[.insert("a", 3)]]], policies: ["a": .union],
      clocks: [10, 20]),
    Setting(
      name: "a removal, and a clock that's ahead",
      scripts: [[[.set("a", number(1))], [.remove("a")]], [[.set("a", number(3))]]],
      clocks: [10, 3_600]),
    Setting(
      name: "two keys at once",
      scripts: [[[.set("a", number(1)), .set("b", number(1))]], [[.set("b", number(2)), .set("a", number(2))]]],
      clocks: [10, 10]),
  ]

  static let medium = [
    Setting(
      name: "a counter, two losses", scripts: [[[.add("a", 1)], [.add("a", 2)]], [[.add("a", 10)]]],
      policies: ["a": .counter], clocks: [10, 10], lossCount: 2),
    Setting(
      name: "a counter of three", scripts: [[[.add("a", 1)]], [[.add("a", 10)]], [[.add("a", 100)]]],
      policies: ["a": .counter], clocks: [10, 10, 10]),
    Setting(
      name: "a counter and another key, a loss and a crash",
      scripts: [[[.add("a", 1), .set("b", number(1))]], [[.add("a", 10)]]], policies: ["a": .counter],
      clocks: [10, 10],
      lossCount: 1, crashCount: 1),
  ]

  @Test(
    "CK-15, CK-16, CK-24: All replicas end with the same values, and each change counts once",
    arguments: small + (Budget.isLong ? medium : []))
  func everyOrder(setting: Setting) {
    var explorer = Explorer(stateCountMax: 3_000_000)
    let problem = explorer.explore(setting)
    #expect(problem == nil, "\(setting.name): \(problem ?? "")")
    #expect(explorer.endCount > 0)
    print("\(setting.name): \(explorer.visited.count) states, \(explorer.endCount) ends")
  }

  /// Everything at once.
  private static func large(_ random: inout SplitMix) -> Setting {
    var inserted: Int64 = 0
    let scripts = (0..<3).map { replica in
      (0..<4).map { round -> [ReplicaWorld.Edit] in
        var edits: [ReplicaWorld.Edit] = []
        if random.chance(1, in: 2) { edits.append(.add("counter", Int64(1 + random.below(9)))) }
        if random.chance(1, in: 2) {
          inserted += 1
          edits.append(.insert("set", inserted))
        }
        let key = random.pick(["a", "b"])
        edits.append(random.chance(1, in: 4) ? .remove(key) : .set(key, .string("\(replica).\(round)")))
        return edits
      }
    }
    return Setting(
      name: "everything", scripts: scripts, policies: ["counter": .counter, "set": .union],
      clocks: [10, 10, random.chance(1, in: 2) ? 10 : 3_600], lossCount: random.below(6), crashCount: random.below(3),
      beginsWithReading: true)
  }

  @Test(
    "CK-15, CK-21, CK-22, CK-24: The same with more writes, losses and crashes, in orders that seeds choose",
    arguments: Budget.seeds(normal: 20, long: 1_000))
  func manyOrders(seed: UInt64) {
    for run in 0..<50 {
      var random = SplitMix(seed: seed &* 50 &+ UInt64(run))
      var world = ReplicaWorld(Self.large(&random))
      while let action = Self.next(world, &random) { world.perform(action) }
      let problem = world.problem ?? world.finalProblem()
      #expect(problem == nil, "seed \(seed), run \(run)")
    }
  }

  private static func next(_ world: ReplicaWorld, _ random: inout SplitMix) -> ReplicaWorld.Action? {
    let actions = world.actions
    return actions.isEmpty ? nil : random.pick(actions)
  }

  @Test("A mistake of the surroundings is found", arguments: ReplicaWorld.Mistake.allCases)
  func mistakes(mistake: ReplicaWorld.Mistake) {
    let isFound = (Self.small + Self.medium).contains { setting in
      var setting = setting
      setting.mistake = mistake
      var explorer = Explorer(stateCountMax: 200_000)
      guard let problem = explorer.explore(setting) else { return false }
      return !problem.hasPrefix("more than")
    }
    #expect(isFound, "\(mistake)")
  }
}

extension ReplicaWorld.Setting: CustomTestStringConvertible {
  var testDescription: String { name }
}
