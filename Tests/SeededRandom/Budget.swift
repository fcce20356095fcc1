import Foundation

/// How much to explore, and from which seeds, from the environment.
package enum Budget {
  /// `FILE_COORDINATION_SEEDS=long` explores more than a normal run can afford, and `check` the same with an eighth of the seeds.
  package static let isLong = environment("FILE_COORDINATION_SEEDS") == "long" || isCheck || isComplete
  private static let isCheck = environment("FILE_COORDINATION_SEEDS") == "check"
  /// `FILE_COORDINATION_SEEDS=all` also explores what takes minutes by itself, which a check of each change can't afford.
  package static let isComplete = environment("FILE_COORDINATION_SEEDS") == "all"
  /// `FILE_COORDINATION_CHURN=<n>` lets files change beside live queries for so many seconds.
  package static let churnDuration = environment("FILE_COORDINATION_CHURN").flatMap(Int.init).map(Duration.seconds)
  /// `FILE_COORDINATION_SEED=<n>` replays one seed.
  package static let seed = environment("FILE_COORDINATION_SEED").flatMap(UInt64.init)
  /// `FILE_COORDINATION_FIRST_SEED=<n>` counts seeds from there, so that a run explores cases that no run before has
  /// reached.
  ///
  /// Without it every run explores the same seeds: it fails because of a change, and not because of its luck.
  package static let firstSeed = environment("FILE_COORDINATION_FIRST_SEED").flatMap(UInt64.init) ?? 0

  /// The seeds of an exploration: as many as a normal, a long or a complete run can afford, or the one to replay.
  package static func seeds(normal: Int, long: Int, complete: Int? = nil) -> [UInt64] {
    if let seed { return [seed] }
    let count = isComplete ? complete ?? long : isCheck ? max(normal, long / 8) : isLong ? long : normal
    return (0..<UInt64(count)).map { firstSeed &+ $0 }
  }

  private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}
