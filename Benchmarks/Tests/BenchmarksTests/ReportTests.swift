import FoundationEssentials
import Testing
import benchmarks

@Suite("Report")
struct ReportTests {
  @Test(
    "Every string survives JSON",
    arguments: ["", "plain", "\"\\/", "\n\r\t\u{0}\u{1F}\u{7F}", "µs ≤ é 👩‍🚀", "a\u{2028}b"])
  func strings(text: String) throws {
    let json = JSONValue.object([(text, .string(text))]).text
    #expect(try JSONDecoder().decode([String: String].self, from: Data(json.utf8)) == [text: text])
  }

  @Test(
    "Numbers are written as JSON knows them",
    arguments: [(1.0, "1"), (0.25, "0.25"), (-3, "-3"), (1e300, "1e+300"), (.infinity, "null"), (.nan, "null")])
  func numbers(number: Double, expected: String) {
    #expect(JSONValue.number(number).compactText == expected)
  }

  private struct Decoded: Decodable {
    struct Row: Decodable, Equatable {
      var id, subject, unit: String
      var median, min, max: Double
      var timesFloor: Double?
    }
    struct Target: Decodable, Equatable {
      var id, what: String
      var ratio: Double?
      var target: Double
      var higherIsBetter: Bool
      var holds: Bool?
    }
    struct Counter: Decodable, Equatable {
      var id, what: String
      var value: Double
      var limit: Double?
      var holds: Bool?
    }
    var results: [Row]
    var targets: [Target]
    var counters: [Counter]
    var absent: [String]
    var noisy: [String]
  }

  @Test("The report for programs has the promised members")
  func members() throws {
    var report = Samples.report
    report.targets = [
      TargetLine("T-1 read", "speed", ratio: 6, target: 5, goal: 9),
      TargetLine("T-8", "difference", ratio: 300, target: 250, higherIsBetter: false, unit: " ns"),
      TargetLine("T-5", "speed", ratio: nil, target: 10),
    ]
    report.counters = [
      CounterLine("a", "calls", value: 1, limit: 0), CounterLine("b", "calls", value: 0, limit: 0),
      CounterLine("c", "calls", value: 7, limit: nil),
    ]
    report.absent = ["Berkeley DB: not here"]
    let decoded = try JSONDecoder().decode(Decoded.self, from: Data(report.json.text.utf8))
    #expect(
      decoded.results.first
        == Decoded.Row(
          id: "claims/a/ours", subject: "ours <&>", unit: "ns", median: 20, min: 10, max: 30, timesFloor: 2.5))
    #expect(decoded.results.dropFirst().allSatisfy { $0.timesFloor == nil })
    #expect(decoded.targets.map(\.holds) == [true, false, nil])
    #expect(decoded.targets.map(\.ratio) == [6, 300, nil])
    #expect(decoded.targets.first?.what == "speed (goal 9)")
    #expect(decoded.counters.map(\.holds) == [false, true, nil])
    #expect(decoded.absent == ["Berkeley DB: not here"])
    #expect(decoded.noisy == ["claims/a/peer"])
    #expect(report.brokenCounters.map(\.id) == ["a"])
  }

  @Test("A peer that is absent is never beaten")
  func absentPeer() {
    #expect(Samples.report.speed("claims/a/ours", comparedWith: "claims/a/missing") == nil)
    #expect(Samples.report.speed("claims/a/ours", comparedWith: "claims/a/peer") == 100)
    let line = TargetLine("T-1 read", "speed", ratio: nil, target: 5)
    #expect(line.text.contains("not measured"))
    #expect(!line.text.contains("holds"))
  }

  @Test("The text names every row, the noisy one marked, and each target's verdict")
  func text() {
    var report = Samples.report
    report.targets = [
      TargetLine("T-1 read", "speed", ratio: 6, target: 5), TargetLine("T-1 write", "speed", ratio: 0.5, target: 1),
    ]
    let lines = report.text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("  ours <&>") && $0.contains("20 ns") && $0.contains("[10 – 30]") })
    #expect(lines.contains { $0.hasPrefix("  ours <&>") && $0.hasSuffix("× 2.5") })
    #expect(lines.contains { $0.hasPrefix("~ peer") && !$0.contains("×") })
    #expect(lines.contains { $0.contains("T-1 read") && $0.contains("≥ 5") && $0.contains(" holds") })
    #expect(lines.contains { $0.contains("T-1 write") && $0.contains("DOES NOT HOLD") })
  }
}

enum Samples {
  static let machine = Machine(
    processorCount: 2, processorModel: "a \"model\"", kernel: "Linux <6.1>", swiftVersion: "6.3.1")

  static var report: Report {
    var report = Report(machine: machine)
    report.results = [
      ResultRow(
        id: "claims/a/ours", group: "2 threads & one item", subject: "ours <&>", unit: "ns", isOurs: true,
        isPlotted: true, floor: "claims/a/floor", measurement: Measurement(samples: [10, 30, 20])),
      ResultRow(
        id: "claims/a/floor", group: "2 threads & one item", subject: "floor", unit: "ns", isOurs: false,
        isPlotted: false, measurement: Measurement(samples: [8, 8, 8])),
      ResultRow(
        id: "claims/a/peer", group: "2 threads & one item", subject: "peer", unit: "ns", isOurs: false, isPlotted: true,
        measurement: Measurement(samples: [1500, 2000, 36_000], isNoisy: true)),
      ResultRow(
        id: "claims/b/memory", group: "memory", subject: "each", unit: "bytes", isOurs: true, isPlotted: false,
        measurement: Measurement(samples: [380])),
    ]
    return report
  }
}
