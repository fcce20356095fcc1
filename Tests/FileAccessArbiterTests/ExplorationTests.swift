import SeededRandom
import TestSupport
import Testing

@testable import FileAccessArbiter

@Suite("Exploration of every interleaving")
struct ExplorationTests {
  @Test(
    "Every order of events leads to the end, without a broken invariant",
    arguments: Scenario.small + (Budget.isLong ? Scenario.large : []))
  func everyInterleaving(scenario: Scenario) async {
    let start = Simulation(scenario)
    let explorer = Explorer(stateCountMax: Budget.isLong ? 2_000_000 : 100_000)
    let (result, time) = await LongRun.run {
      let clock = ContinuousClock()
      let begin = clock.now
      return (explorer.explore(start), clock.now - begin)
    }
    print("\(scenario.name): \(result) in \(time)")
    #expect(!result.isCut, "the scenario is too large for the budget")
    if let failure = result.failure {
      let replay = Simulation.replay(failure.actions, in: start)
      Issue.record(
        """
        \(failure.problems.joined(separator: "\n"))
        after
          \((replay.log ?? []).joined(separator: "\n  "))
        in
        \(replay.world.arbiter.stateDescription)
        """)
    }
  }
}
