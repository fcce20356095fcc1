import Testing

@testable import FileCoordination

@Suite("Exploration of the fast tier", .serialized)
struct FastTierExplorationTests {
  @Test(
    "Every interleaving keeps what a claim promises", arguments: Budget.isLong ? Model.small + Model.large : Model.small
  )
  func model(_ model: Model) {
    let clock = ContinuousClock()
    let begin = clock.now
    let result = model.explore(limits: .init(stateCountMax: 20_000_000))
    print(
      "\(model): \(result.stateCount) states, \(result.stepCount) steps, \(result.replayCount) replays, \(result.endCount) ends, \(clock.now - begin)"
    )
    #expect(!result.isCut)
    if let violation = result.violation {
      Issue.record("\(violation.message)\n  \(violation.trace.joined(separator: "\n  "))")
    }
  }
}
