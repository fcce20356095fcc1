import SeededRandom
import TestSupport
import Testing

@testable import CoordinationService

@Suite("Exploration of every interleaving of clients and service")
struct ServiceExplorationTests {
  @Test(
    "Nobody is inside with anybody else, nobody waits for ever, and everybody is told, in any order of events",
    arguments: ServiceScenario.small + (Budget.isLong ? ServiceScenario.large : []))
  func everyInterleaving(scenario: ServiceScenario) async { await explore(scenario) }

  @Test(
    "An access of a child process is nested in the access that the process belongs to, in any order of events (C-432…C-434)",
    arguments: Budget.isLong ? ServiceScenario.children : ServiceScenario.quickChildren)
  func everyInterleavingOfChildren(scenario: ServiceScenario) async { await explore(scenario) }

  @Test(
    "A presenter's callbacks don't run inside of each other unless an access of its own lies between",
    arguments: Budget.isLong ? ServiceScenario.nested : ServiceScenario.quickNested)
  func everyInterleavingOfNestedAccesses(scenario: ServiceScenario) async { await explore(scenario) }

  private func explore(_ scenario: ServiceScenario) async {
    let start = ServiceModel(scenario)
    let explorer = ServiceExplorer(stateCountMax: Budget.isLong ? 3_000_000 : 100_000)
    let (result, time) = await LongRun.run {
      let clock = ContinuousClock()
      let begin = clock.now
      return (explorer.explore(start), clock.now - begin)
    }
    print("\(scenario.name): \(result) in \(time)")
    #expect(!result.isCut, "the scenario is too large for the budget")
    if let failure = result.failure { Issue.record("\(ServiceModel.story(of: failure.actions, in: start))") }
  }
}
