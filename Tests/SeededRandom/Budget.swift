import Foundation

/// How much to explore, from the environment.
package enum Budget {
  /// `FILE_COORDINATION_SEEDS=long` explores more than a normal run can afford.
  package static let isLong = ProcessInfo.processInfo.environment["FILE_COORDINATION_SEEDS"] == "long"
  /// `FILE_COORDINATION_SEED=<n>` replays one seed.
  package static let seed = ProcessInfo.processInfo.environment["FILE_COORDINATION_SEED"].flatMap(UInt64.init)
}
