import FoundationEssentials

/// A sequence of numbers that a seed decides: SplitMix64.
struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// How much a stress test does.
enum StressSize {
  static let isLong = ProcessInfo.processInfo.environment["FILE_COORDINATION_SEEDS"] == "long"

  static let seeds: [UInt64] = isLong ? Array(1...12) : [1, 2]
  static let stepCount = isLong ? 300 : 100
}
