import Testing

@testable import FileCoordination

@Suite("Exploration of the fast tier")
struct FastTierExplorationTests {
  @Test("Every interleaving keeps what a claim promises", arguments: [Model.readerAndWriter])
  func model(_ model: Model) {
    let clock = ContinuousClock()
    let begin = clock.now
    let result = model.explore()
    print(
      "\(model): \(result.stateCount) states, \(result.stepCount) steps, \(result.replayCount) replays, \(clock.now - begin)"
    )
    if let violation = result.violation {
      Issue.record("\(violation.message)\n  \(violation.trace.joined(separator: "\n  "))")
    }
  }
}
