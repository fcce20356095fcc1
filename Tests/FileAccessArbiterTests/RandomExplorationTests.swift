import SeededRandom
import TestSupport
import Testing

@testable import FileAccessArbiter

@Suite("Exploration of larger models by seed")
struct RandomExplorationTests {
  static let seeds = Budget.seeds(normal: 6, long: 900) + (Budget.seed == nil ? found : [])
  /// Seeds of fresh runs that found something: callbacks on a queue that can't go on under another one that waits, accesses
  /// that failed as deadlocked although another order would have let them go on, and a deadlock after a move.
  private static let found: [UInt64] = [
    1_795_480_756, 1_795_510_717, 1_795_520_570, 1_795_520_903, 1_795_531_495, 1_795_550_306, 1_795_550_393,
    1_795_570_769,
  ]

  @Test("A random model ends well under a random schedule", arguments: seeds)
  func randomModel(seed: UInt64) async {
    let report = await LongRun.run { Self.report(seed: seed) }
    if let report { Issue.record("\(report)") }
  }

  /// The problems, if there are any.
  private static func report(seed: UInt64) -> String? {
    let start = Simulation(.random(seed: seed))
    let strategies: [SeededSchedule.Strategy] = [
      .uniform, .uniform, .priorities(changePoints: 1), .priorities(changePoints: 3), .priorities(changePoints: 7),
    ]
    for (index, strategy) in strategies.enumerated() {
      var scheduler = Scheduler(seed: seed &+ UInt64(index) &* 1_000_003, strategy)
      let run = scheduler.run(start)
      if !run.problems.isEmpty { return Shrinker.report(run, in: start, seed: seed) }
    }
    return nil
  }
}
