import SeededRandom
import TestSupport
import Testing

@testable import FileAccessArbiter

#if DEBUG
  /// Shows that the checks would find a mistake: each seeded fault is caught by a small model or by a random one.
  @Suite("Seeded faults")
  struct SeededFaultTests {
    @Test("A mistake built in on purpose is found", arguments: SeededFault.allCases)
    func faultIsCaught(fault: SeededFault) async {
      let catcher = await LongRun.run { self.catcher(of: [fault]) }
      #expect(catcher != nil, "\(fault) survives every model")
      print("\(fault.rawValue): caught by \(catcher ?? "nothing")")
    }

    /// The other models that find faults are explored by `ExplorationTests`, further than here.
    @Test("The models made for the faults find nothing when there is none", arguments: FaultScenarios.own)
    func nothingIsCaught(scenario: Scenario) async {
      let result = await LongRun.run { Explorer().explore(Simulation(scenario)) }
      #expect(result.failure?.problems == nil)
      #expect(!result.isCut)
    }

    /// The check that finds the fault, the cheapest way first.
    private func catcher(of faults: Set<SeededFault>) -> String? {
      for scenario in FaultScenarios.own + [.readersInDidChange, .stubbornReadersInDidChange, .toldMovers] {
        if let catcher = exploration(of: scenario, faults) { return catcher }
      }
      for seed in UInt64(1)...40 {
        var scheduler = Scheduler(seed: seed, .uniform)
        let run = scheduler.run(Simulation(.random(seed: seed), faults: faults))
        if !run.problems.isEmpty { return "random seed \(seed): \(run.problems[0])" }
      }
      return exploration(of: .adoption, faults) ?? exploration(of: .adoptionAndMoves, faults)
    }

    private func exploration(of scenario: Scenario, _ faults: Set<SeededFault>) -> String? {
      let result = Explorer(stateCountMax: 3000).explore(Simulation(scenario, faults: faults))
      return result.failure.map { "exploring '\(scenario.name)': \($0.problems[0])" }
    }
  }
#endif

/// Models as small as a fault needs.
enum FaultScenarios {
  static let own = [queue, package, saving, moving, upgrade, presuming]

  /// A class that has written relinquish, which isn't known, and does something in it.
  static let presuming = Scenario(
    name: "presuming",
    presenters: [
      PresenterPlan("/f", presuming: [.relinquishToReader], []) {
        $0.written = .relinquishToReader
        $0.onRelinquish = [.answer, .doing(.read("/g"))]
      }
    ],
    actors: [ActorPlan(.read("/f"))])

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
