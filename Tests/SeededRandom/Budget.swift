import Foundation

/// How much to explore, from the environment.
package enum Budget {
  /// `FILE_COORDINATION_SEEDS=long` explores more than a normal run can afford.
  package static let isLong = ProcessInfo.processInfo.environment["FILE_COORDINATION_SEEDS"] == "long"
  /// `FILE_COORDINATION_CHURN=<n>` lets files change beside live queries for so many seconds, with other seeds each time.
  package static let churnDuration = ProcessInfo.processInfo.environment["FILE_COORDINATION_CHURN"].flatMap(Int.init)
    .map(Duration.seconds)
  /// `FILE_COORDINATION_SEED=<n>` replays one seed.
  package static let seed = ProcessInfo.processInfo.environment["FILE_COORDINATION_SEED"].flatMap(UInt64.init)
}
