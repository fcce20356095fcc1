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

  /// With a server that's restored from each of its earlier states.
  static let restored = [
    Setting(
      name: "one key, a backup",
      scripts: [[[.set("a", number(1))]], [[.set("a", number(3))]]],
      clocks: [10, 10], restoreCount: 1),
    Setting(
      name: "a removal and a backup",
      scripts: [[[.set("a", number(1))], [.remove("a")]], []],
      clocks: [10, 3_600], restoreCount: 1),
  ]
  static let restoredLong = [
    Setting(
      name: "a counter, a backup", scripts: [[[.add("a", 1)]], [[.add("a", 10)]]],
      policies: ["a": .counter], clocks: [10, 10], restoreCount: 1),
    Setting(
      name: "a set, a backup", scripts: [[[.insert("a", 1)]], [[.insert("a", 3)]]],
      policies: ["a": .union], clocks: [10, 20], restoreCount: 1),
  ]

  /// With a journal that another machine gets a copy of, at any moment.
  static let copied = [
    Setting(
      name: "a counter, a copy", scripts: [[[.add("a", 1)], [.add("a", 2)]]], policies: ["a": .counter], clocks: [10],
      copyScript: [[.add("a", 10)]])
  ]
  static let copiedLong = [
    Setting(
      name: "one key, a copy", scripts: [[[.set("a", number(1))], [.set("a", number(2))]]], clocks: [10],
      copyScript: [[.set("a", number(3))]]),
    Setting(
      name: "a key of each, a copy", scripts: [[[.set("a", number(1))], [.set("b", number(2))]]], clocks: [10],
      copyScript: [[.set("c", number(3))]]),
    Setting(
      name: "a key of each, a copy and a loss", scripts: [[[.set("a", number(1))], [.set("b", number(2))]]],
      clocks: [10], lossCount: 1, copyScript: [[.set("c", number(3))]]),
    Setting(
      name: "a counter, a copy that writes twice", scripts: [[[.add("a", 1)], [.add("a", 2)]]],
      policies: ["a": .counter], clocks: [10], copyScript: [[.add("a", 10)], [.add("a", 20)]]),
  ]

  static let medium = [
    Setting(
      name: "a counter, a crash", scripts: [[[.add("a", 1)], [.add("a", 2)]], [[.add("a", 10)]]],
      policies: ["a": .counter], clocks: [10, 10], crashCount: 1),
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
    "CK-08, CK-09, CK-15, CK-16, CK-18, CK-24: All replicas end with the same values, and each change counts once",
    arguments: small + (Budget.isLong ? medium : []))
  func everyOrder(setting: Setting) { explore(setting, stateCountMax: 3_000_000) }

  private func explore(_ setting: Setting, stateCountMax: Int) {
    var explorer = Explorer(stateCountMax: stateCountMax)
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
      restoreCount: random.below(2),
      copyScript: random.chance(1, in: 2) ? [[.add("counter", 40)], [.set("a", .string("copy"))]] : [],
      beginsWithReading: true)
  }

  @Test(
    "CK-15, CK-21, CK-22, CK-24: The same with more writes, losses and crashes, in orders that seeds choose",
    arguments: Budget.seeds(normal: 8, long: 1_000))
  func manyOrders(seed: UInt64) {
    for run in 0..<50 {
      var random = SplitMix(seed: seed &* 50 &+ UInt64(run))
      var world = ReplicaWorld(Self.large(&random))
      var stepCount = 0
      while let action = Self.next(world, &random), stepCount < 100_000 {
        world.perform(action)
        stepCount += 1
      }
      #expect(stepCount < 100_000, "seed \(seed), run \(run) doesn't end")
      let problem = world.problem ?? world.finalProblem()
      #expect(problem == nil, "seed \(seed), run \(run)")
    }
  }

  private static func next(_ world: ReplicaWorld, _ random: inout SplitMix) -> ReplicaWorld.Action? {
    let actions = world.actions
    return actions.isEmpty ? nil : random.pick(actions)
  }

  @Test(
    "If the server is restored from any backup, all replicas end with the same values, and no key loses its latest write",
    arguments: restored + (Budget.isLong ? restoredLong : []))
  func everyBackup(setting: Setting) { explore(setting, stateCountMax: 100_000) }

  @Test(
    "CK-24: If another machine has a copy of a replica's journal, both upload what they write, and no write is lost",
    arguments: copied + (Budget.isLong ? copiedLong : []))
  func everyCopy(setting: Setting) { explore(setting, stateCountMax: 1_000_000) }

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
