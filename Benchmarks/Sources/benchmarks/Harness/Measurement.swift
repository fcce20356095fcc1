/// The results of the repetitions of one measurement.
package struct Measurement: Sendable {
  /// In the order in which they were taken.
  package let samples: [Double]
  /// Whether at least one of them stayed disturbed by others on the machine.
  package let isNoisy: Bool

  package init(samples: [Double], isNoisy: Bool = false) {
    precondition(!samples.isEmpty, "a measurement without a sample")
    self.samples = samples
    self.isNoisy = isNoisy
  }

  package var median: Double { percentile(50) }
  package var min: Double { samples.min() ?? .nan }
  package var max: Double { samples.max() ?? .nan }

  /// The value below which a share of the samples lies, interpolated between neighbours.
  ///
  /// - Parameter percent: The share, 0…100.
  /// - Returns: The value; the smallest sample for 0, the greatest for 100.
  package func percentile(_ percent: Double) -> Double {
    precondition((0...100).contains(percent), "\(percent) % of the samples")
    let sorted = samples.sorted()
    let position = percent / 100 * Double(sorted.count - 1)
    let lower = Int(position)
    let upper = Swift.min(lower + 1, sorted.count - 1)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (position - Double(lower))
  }
}
