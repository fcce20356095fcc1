/// A measurement as the report shows it.
package struct ResultRow: Sendable {
  package let id: String
  package let group: String
  package let subject: String
  package let unit: String
  package let isOurs: Bool
  /// Whether it's part of the comparison that is drawn.
  package let isPlotted: Bool
  /// The row that shows how little it can cost on this machine, whatever the design.
  package let floor: String?
  package let measurement: Measurement

  package init(
    id: String, group: String, subject: String, unit: String, isOurs: Bool, isPlotted: Bool, floor: String? = nil,
    measurement: Measurement
  ) {
    self.id = id
    self.group = group
    self.subject = subject
    self.unit = unit
    self.isOurs = isOurs
    self.isPlotted = isPlotted
    self.floor = floor
    self.measurement = measurement
  }

  init(_ cell: Cell, _ measurement: Measurement) {
    self.init(
      id: cell.id, group: cell.group, subject: cell.subject, unit: cell.unit, isOurs: cell.isOurs,
      isPlotted: cell.isPlotted, floor: cell.floor, measurement: measurement)
  }
}

/// A condition that should hold, and whether it does.
package struct TargetLine: Sendable {
  package let id: String
  /// The two sides of the comparison.
  package let what: String
  /// `nil` when one side of it couldn't be measured: then nothing was shown.
  package let ratio: Double?
  package let target: Double
  package let higherIsBetter: Bool
  /// The aim beyond the target.
  package let goal: Double?
  /// The unit of the figures; empty for a ratio.
  package let unit: String

  package init(
    _ id: String, _ what: String, ratio: Double?, target: Double, higherIsBetter: Bool = true, goal: Double? = nil,
    unit: String = ""
  ) {
    self.id = id
    self.what = what
    self.ratio = ratio
    self.target = target
    self.higherIsBetter = higherIsBetter
    self.goal = goal
    self.unit = unit
  }

  package var holds: Bool? { ratio.map { higherIsBetter ? $0 >= target : $0 <= target } }
}

/// Something that was counted instead of timed, so that it's the same on every machine.
package struct CounterLine: Sendable {
  package let id: String
  package let what: String
  package let value: Double
  /// At most this much; `nil` for a value that is only shown.
  package let limit: Double?

  package init(_ id: String, _ what: String, value: Double, limit: Double?) {
    self.id = id
    self.what = what
    self.value = value
    self.limit = limit
  }

  package var holds: Bool? { limit.map { value <= $0 } }
}

/// Everything that a run found out.
package struct Report: Sendable {
  package var results: [ResultRow] = []
  package var targets: [TargetLine] = []
  package var counters: [CounterLine] = []
  /// Peers and counters that this machine doesn't have, and why.
  package var absent: [String] = []
  package var machine: Machine

  package init(machine: Machine) { self.machine = machine }

  package func median(_ id: String) -> Double? { results.first { $0.id == id }?.measurement.median }

  /// How many times as fast one row is as another; `nil` if one of them is absent.
  ///
  /// - Parameters:
  ///   - id: The row, measured in time per operation.
  ///   - other: The row to compare with.
  /// - Returns: Above 1 when the first takes less time.
  package func speed(_ id: String, comparedWith other: String) -> Double? {
    guard let time = median(id), let otherTime = median(other) else { return nil }
    return otherTime / time
  }

  /// How many times its floor a row takes; `nil` if it has none, or if that wasn't measured.
  package func timesFloor(_ row: ResultRow) -> Double? {
    row.floor.flatMap(median).map { row.measurement.median / $0 }
  }

  /// Orders targets by their number; those of one number stay as they are.
  package mutating func sortTargets() {
    func number(_ line: TargetLine) -> Int {
      Int(line.id.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? .max
    }
    let numbered = targets.enumerated().sorted { (number($0.element), $0.offset) < (number($1.element), $1.offset) }
    targets = numbered.map(\.element)
  }

  /// Limits of counters that are broken.
  package var brokenCounters: [CounterLine] { counters.filter { $0.holds == false } }
}
