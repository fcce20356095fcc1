import SeededRandom
import TestSupport
import Testing

@testable import CoordinationService

@Suite("Exploration of larger models of clients and service by seed")
struct ServiceRandomExplorationTests {
  static let seeds = Budget.seeds(normal: 10, long: 3000) + (Budget.seed == nil ? found : [])
  /// Seeds of fresh runs that found something: a connection whose first frame is received after that of a later connection; a holder
  /// whose item another access has moved and who hasn't learned of it; a question and a stale callback that an access of the presenter let
  /// run beside each other; a request inside of an access that's lost, inside of a callback; a cycle that the end of the middle one of three callbacks closed.
  private static let found: [UInt64] = [1_795_571_434, 1_795_572_044, 1743, 1931, 2109, 2274, 2989, 501_891]

  @Test("A random model of clients and service ends well under a random schedule", arguments: seeds)
  func randomModel(seed: UInt64) async {
    let report = await LongRun.run { Self.report(seed: seed) }
    if let report { Issue.record("\(report)") }
  }

  /// The problems, if there are any.
  private static func report(seed: UInt64) -> String? {
    let start = ServiceModel(.random(seed: seed))
    let strategies: [SeededSchedule.Strategy] = [
      .uniform, .uniform, .priorities(changePoints: 1), .priorities(changePoints: 3), .priorities(changePoints: 7),
    ]
    for (index, strategy) in strategies.enumerated() {
      var scheduler = ServiceScheduler(seed: seed &+ UInt64(index) &* 1_000_003, strategy)
      let run = scheduler.run(start)
      if run.problems.isEmpty { continue }
      let shrunk = ServiceShrinker.shrink(run.actions, in: start)
      return """
        FILE_COORDINATION_SEED=\(seed)
        \(run.problems.joined(separator: "\n"))
        shrunk from \(run.actions.count) to \(shrunk.count) actions, which end with
        \(ServiceModel.story(of: shrunk, in: start))
        """
    }
    return nil
  }
}
