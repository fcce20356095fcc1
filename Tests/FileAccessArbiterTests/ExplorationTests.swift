import Testing

@testable import FileAccessArbiter

@Suite("Exploration of every interleaving")
struct ExplorationTests {
  @Test(
    "Every order of events leads to the end, without a broken invariant",
    arguments: Scenario.small + (Budget.isLong ? Scenario.large : []))
  func everyInterleaving(scenario: Scenario) {
    let start = Simulation(scenario)
    let explorer = Explorer(stateCountMax: Budget.isLong ? 2_000_000 : 100_000)
    let clock = ContinuousClock()
    let begin = clock.now
    let result = explorer.explore(start)
    print("\(scenario.name): \(result) in \(clock.now - begin)")
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
