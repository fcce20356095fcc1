import Testing
import benchmarks

@Suite("Measurement")
struct MeasurementTests {
  @Test(
    "The median is the middle sample, or between the two in the middle",
    arguments: [([3.0], 3.0), ([9, 1, 5], 5), ([4, 1, 3, 2], 2.5), ([7, 7, 7, 1], 7)] as [([Double], Double)])
  func median(samples: [Double], expected: Double) {
    #expect(Measurement(samples: samples).median == expected)
  }

  @Test(
    "A percentile lies between its neighbours in proportion",
    arguments: [(0.0, 10.0), (25, 20), (50, 30), (90, 46), (100, 50)])
  func percentile(percent: Double, expected: Double) {
    let measurement = Measurement(samples: [50, 10, 40, 20, 30])
    #expect(abs(measurement.percentile(percent) - expected) < 1e-9)
  }

  @Test("The smallest and the greatest sample are the bounds, wherever they stand")
  func bounds() {
    let measurement = Measurement(samples: [5, -2, 11, 3])
    #expect(measurement.min == -2)
    #expect(measurement.max == 11)
  }

  @Test(
    "Numbers are shown with three digits, and thousands are grouped",
    arguments: [
      (0.0, "0"), (0.456, "0.46"), (1, "1"), (8.126, "8.13"), (9.999, "10"), (12.34, "12.3"), (99.94, "99.9"),
      (99.96, "100"), (175.4, "175"), (1182, "1,182"), (35_757.2, "35,757"), (1_000_000, "1,000,000"), (-3.5, "-3.5"),
      (-0.001, "0"), (.nan, "–"),
    ])
  func format(number: Double, expected: String) {
    #expect(benchmarks.format(number) == expected)
  }
}
