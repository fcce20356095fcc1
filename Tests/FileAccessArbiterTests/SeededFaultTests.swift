import Testing

@testable import FileAccessArbiter

#if DEBUG
  /// Shows that the checks would find a mistake: each seeded fault is caught by a small model or by a random one.
  @Suite("Seeded faults")
  struct SeededFaultTests {
    @Test("A mistake built in on purpose is found", arguments: SeededFault.allCases)
    func faultIsCaught(fault: SeededFault) {
      let catcher = catcher(of: [fault])
      #expect(catcher != nil, "\(fault) survives every model")
      print("\(fault.rawValue): caught by \(catcher ?? "nothing")")
    }

    @Test("The models that find the faults find nothing when there is none")
    func nothingIsCaught() {
      for (scenario, stateCountMax) in FaultScenarios.all {
        let result = Explorer(stateCountMax: stateCountMax).explore(Simulation(scenario))
        #expect(result.failure?.problems == nil, "\(scenario.name)")
      }
    }

    private func catcher(of faults: Set<SeededFault>) -> String? {
      for (scenario, stateCountMax) in FaultScenarios.all {
        let result = Explorer(stateCountMax: stateCountMax).explore(Simulation(scenario, faults: faults))
        if let failure = result.failure { return "exploring '\(scenario.name)': \(failure.problems[0])" }
      }
      for seed in UInt64(1)...40 {
        var scheduler = Scheduler(seed: seed, .uniform)
        let run = scheduler.run(Simulation(.random(seed: seed), faults: faults))
        if !run.problems.isEmpty { return "random seed \(seed): \(run.problems[0])" }
      }
      return nil
    }
  }
#endif

/// Models as small as a fault needs.
enum FaultScenarios {
  static let all: [(Scenario, stateCountMax: Int)] = [
    (queue, 10_000), (package, 10_000), (saving, 10_000), (.readersInDidChange, 10_000),
    (.stubbornReadersInDidChange, 10_000), (moving, 10_000), (upgrade, 10_000), (.adoption, 3_000),
    (.adoptionAndMoves, 3_000),
  ]

  /// A presenter with everything declared but deletion, a reader that may give up, and writers, one of them deep.
  static let queue = Scenario(
    name: "queue",
    presenters: [
      PresenterPlan("/d/f", [.relinquishToReader, .relinquishToWriter, .itemDidChange]) {
        $0.onRelinquish = [.reacquirer]
      }
    ],
    actors: [
      ActorPlan(.read("/d/f") { $0.mayBeCancelled = true }), ActorPlan(.write("/d", .deleting)),
      ActorPlan(.write("/d/f")),
    ])

  static let package = Scenario(
    name: "package", actors: [ActorPlan(.write("/k.pkg/a")), ActorPlan(.read("/k.pkg/b")), ActorPlan(.read("/k.pkg"))])

  static let saving = Scenario(
    name: "saving",
    presenters: [
      PresenterPlan("/f", [.saveChanges, .itemDidChange]) { $0.onSave = [.doing(.write("/f") { $0.own = 0 })] }
    ],
    actors: [ActorPlan(.read("/f")), ActorPlan(.write("/f") { $0.own = 0 })])

  static let moving = Scenario(
    name: "moving",
    actors: [
      ActorPlan(.write("/d/f", .moving, .move(to: "/e/f"))), ActorPlan(.read("/d/f")),
      ActorPlan(.write("/d/f", .replacing)),
    ])

  static let upgrade = Scenario(
    name: "upgrade", actors: [ActorPlan(.read("/f", .write("/f"))), ActorPlan(.read("/f", .write("/f")))])
}
