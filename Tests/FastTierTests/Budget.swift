import Foundation

/// How much to explore, from the environment.
enum Budget {
  /// `FILE_COORDINATION_SEEDS=long` explores more than a normal run can afford.
  static let isLong = ProcessInfo.processInfo.environment["FILE_COORDINATION_SEEDS"] == "long"
}
