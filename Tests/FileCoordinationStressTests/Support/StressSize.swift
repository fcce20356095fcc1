import SeededRandom

extension SplitMix {
  mutating func chance(_ percent: Int) -> Bool { chance(percent, in: 100) }
}

/// How much a stress test does.
enum StressSize {
  static let seeds: [UInt64] = Budget.isLong ? Array(1...12) : [1, 2]
  static let stepCount = Budget.isLong ? 300 : 100
}
