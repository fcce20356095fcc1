import SeededRandom

extension SplitMix {
  mutating func chance(_ percent: Int) -> Bool { chance(percent, in: 100) }
}

/// How much a stress test does.
enum StressSize {
  static let seeds = Budget.seeds(normal: 2, long: 12)
  /// A run takes a second; after this long it has lost something.
  static let explanationTime = Duration.seconds(100)
  static let stepCount = Budget.isLong ? 300 : 100
}
