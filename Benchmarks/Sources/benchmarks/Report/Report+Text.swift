// The report for people.

extension Report {
  package var text: String {
    var text = "\(machine.description)\n"
    if !results.isEmpty {
      text += """

        median [min – max]; ns = wall time × processors in use ÷ operations, an operation being acquire and release
        ~ others used the machine meanwhile, however often it was tried
        × times the floor: the least that any design needs on this machine, measured in this run

        """
    }
    for group in groups { text += "\n\(group)\n" + rows(of: group) }
    if !targets.isEmpty { text += "\ntargets\n" + targets.map { "  \($0.text)\n" }.joined() }
    if !counters.isEmpty { text += "\ncounters\n" + counters.map { "  \($0.text)\n" }.joined() }
    if !absent.isEmpty { text += "\nabsent, neither measured nor beaten\n" + absent.map { "  \($0)\n" }.joined() }
    return text
  }

  /// Headings in order of appearance.
  package var groups: [String] {
    var groups: [String] = []
    for row in results where !groups.contains(row.group) { groups.append(row.group) }
    return groups
  }

  private func rows(of group: String) -> String {
    let rows = results.filter { $0.group == group }
    let width = results.map(\.subject.count).max() ?? 0
    return rows.map { row in
      let measurement = row.measurement
      let range = "[\(format(measurement.min)) – \(format(measurement.max))]"
      let distance = timesFloor(row).map { "  × \(format($0))" } ?? ""
      return "\(measurement.isNoisy ? "~" : " ") \(row.subject.padded(to: width))  "
        + "\(format(measurement.median).padded(to: 9, alignedRight: true)) \(row.unit)  \(range)\(distance)\n"
    }.joined()
  }
}

extension TargetLine {
  package var whatWithGoal: String { goal.map { "\(what) (goal \(format($0))\(unit))" } ?? what }

  package var text: String {
    let relation = higherIsBetter ? "≥" : "≤"
    let verdict =
      switch holds {
      case true?: "holds"
      case false?: "DOES NOT HOLD"
      case nil: "not measured"
      }
    let figure = ratio.map { format($0) + unit } ?? "–"
    return "\(id.padded(to: 20)) \(figure.padded(to: 9, alignedRight: true))  "
      + "\("\(relation) \(format(target))\(unit)".padded(to: 11))  \(verdict.padded(to: 13))  \(whatWithGoal)"
  }
}

extension CounterLine {
  package var text: String {
    let verdict =
      switch holds {
      case true?: "holds"
      case false?: "BROKEN"
      case nil: ""
      }
    let bound = limit.map { "≤ \(format($0))" } ?? ""
    return "\(id.padded(to: 34)) \(format(value).padded(to: 9, alignedRight: true))  \(bound.padded(to: 6))  "
      + "\(verdict.padded(to: 6))  \(what)"
  }
}

/// Three significant digits, thousands grouped.
///
/// - Parameter number: The number to show.
/// - Returns: A text such as `8.12`, `43.1`, `128`, `35,757`.
package func format(_ number: Double) -> String {
  if !number.isFinite { return "–" }
  let magnitude = abs(number)
  if magnitude >= 99.95 {
    var digits = String(Int64(magnitude.rounded()))
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
  }
  let decimals = magnitude >= 9.995 ? 1 : 2
  let scale: Double = decimals == 1 ? 10 : 100
  let scaled = Int64((magnitude * scale).rounded())
  let fraction = String(scaled % Int64(scale))
  let zeros = String(repeating: "0", count: decimals - fraction.count)
  var text = "\(scaled / Int64(scale)).\(zeros)\(fraction)"
  while text.hasSuffix("0") { text.removeLast() }
  if text.hasSuffix(".") { text.removeLast() }
  return (number < 0 && scaled > 0 ? "-" : "") + text
}

extension String {
  package func padded(to width: Int, alignedRight: Bool = false) -> String {
    let padding = String(repeating: " ", count: max(0, width - count))
    return alignedRight ? padding + self : self + padding
  }
}
