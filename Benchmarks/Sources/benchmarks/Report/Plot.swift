import Glibc

/// The table as horizontal bars on a logarithmic scale, with whiskers from the smallest to the greatest repetition.
///
/// Colours are stated for light and for dark surroundings, and nothing depends on them: each bar has its name and value
/// beside it.
package struct Plot: Sendable {
  private let title: String
  private let subtitle: String
  private let groups: [(title: String, rows: [ResultRow])]
  private let decades: ClosedRange<Int>

  private static let width = 960.0
  private static let labelWidth = 290.0
  private static let valueWidth = 90.0
  private static let barHeight = 13.0
  private static let rowHeight = 19.0
  private static let groupGap = 34.0
  private static let headHeight = 96.0
  private static let footHeight = 34.0

  /// - Parameters:
  ///   - report: The report to draw: the rows of the comparison.
  ///   - title: The title.
  package init(_ report: Report, title: String) {
    self.title = title
    subtitle =
      "\(report.machine.processorCount) processors, \(report.machine.kernel), Swift \(report.machine.swiftVersion)"
    groups = report.groups.compactMap { group in
      let rows = report.results.filter { $0.group == group && $0.isPlotted && $0.measurement.min > 0 }
      return rows.isEmpty ? nil : (group, rows)
    }
    let rows = groups.flatMap(\.rows)
    let smallest = rows.map(\.measurement.min).min() ?? 1
    let greatest = rows.map(\.measurement.max).max() ?? 10
    let first = Int(log10(smallest).rounded(.down))
    decades = first...max(first + 1, Int(log10(greatest).rounded(.up)))
  }

  package var svg: String {
    var y = Self.headHeight
    var body = ""
    for group in groups {
      body += text(group.title, x: 16, y: y + 14, class: "group")
      y += 24
      let top = y
      var bars = ""
      for row in group.rows {
        bars += bar(row, y: y)
        y += Self.rowHeight
      }
      body += grid(from: top - 3, to: y) + bars
      y += Self.groupGap - 24
    }
    let height = y + Self.footHeight
    let foot = text(
      "whiskers: smallest and greatest repetition · fainter bar: others used the machine meanwhile", x: 16,
      y: height - 14, class: "note")
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(coordinate(Self.width))" height="\(coordinate(height))" \
      viewBox="0 0 \(coordinate(Self.width)) \(coordinate(height))" role="img" aria-label="\(Self.escaped(title))">
      \(Self.style)
      <rect class="surface" x="0" y="0" width="100%" height="100%" rx="6"/>
      \(head)\(body)\(foot)</svg>

      """
  }

  private var head: String {
    text(title, x: 16, y: 30, class: "title")
      + text(
        "nanoseconds for one acquire and release (wall time × processors in use ÷ operations), logarithmic; shorter is faster",
        x: 16, y: 50, class: "note")
      + text(subtitle, x: 16, y: 67, class: "note")
      + "<rect class=\"ours\" x=\"16\" y=\"77\" width=\"12\" height=\"12\" rx=\"2\"/>\n"
      + text("swift-file-coordination", x: 34, y: 87, class: "label")
      + "<rect class=\"peer\" x=\"190\" y=\"77\" width=\"12\" height=\"12\" rx=\"2\"/>\n"
      + text("others", x: 208, y: 87, class: "label")
  }

  private func bar(_ row: ResultRow, y: Double) -> String {
    let measurement = row.measurement
    let start = x(of: pow(10, Double(decades.lowerBound)))
    let end = x(of: measurement.median)
    let middle = y + Self.barHeight / 2
    let low = x(of: measurement.min)
    let high = x(of: measurement.max)
    let kind = (row.isOurs ? "ours" : "peer") + (measurement.isNoisy ? " noisy" : "")
    let ends = "M\(coordinate(low)) \(coordinate(middle - 3))v6M\(coordinate(high)) \(coordinate(middle - 3))v6"
    let whisker = "M\(coordinate(low)) \(coordinate(middle))H\(coordinate(high))" + ends
    return text(row.subject, x: Self.labelWidth - 8, y: y + 10.5, class: row.isOurs ? "name own" : "name")
      + "<rect class=\"\(kind)\" x=\"\(coordinate(start))\" y=\"\(coordinate(y))\" "
      + "width=\"\(coordinate(max(1, end - start)))\" height=\"\(coordinate(Self.barHeight))\" rx=\"2\"/>\n"
      + "<path class=\"whisker\" d=\"\(whisker)\"/>\n"
      + text(format(measurement.median), x: max(end, high) + 7, y: y + 10.5, class: "value")
  }

  private func grid(from top: Double, to bottom: Double) -> String {
    decades.map { decade in
      let x = coordinate(x(of: pow(10, Double(decade))))
      return "<path class=\"grid\" d=\"M\(x) \(coordinate(top))V\(coordinate(bottom))\"/>\n"
        + text(Self.name(ofDecade: decade), x: self.x(of: pow(10, Double(decade))), y: top - 4, class: "tick")
    }.joined()
  }

  private func x(of nanoseconds: Double) -> Double {
    let span = Self.width - Self.labelWidth - Self.valueWidth
    let share = (log10(nanoseconds) - Double(decades.lowerBound)) / Double(decades.count - 1)
    return Self.labelWidth + span * share
  }

  private static func name(ofDecade decade: Int) -> String {
    switch decade {
    case ..<3: "\(format(pow(10, Double(decade)))) ns"
    case 3..<6: "\(format(pow(10, Double(decade - 3)))) µs"
    case 6..<9: "\(format(pow(10, Double(decade - 6)))) ms"
    default: "\(format(pow(10, Double(decade - 9)))) s"
    }
  }

  private func text(_ text: String, x: Double, y: Double, class name: String) -> String {
    "<text class=\"\(name)\" x=\"\(coordinate(x))\" y=\"\(coordinate(y))\">\(Self.escaped(text))</text>\n"
  }

  private func coordinate(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  private static let style = """
    <style>
    text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-size: 12px; fill: #1f2328; }
    .title { font-size: 18px; font-weight: 600; }
    .group { font-size: 13px; font-weight: 600; }
    .note, .tick { font-size: 11px; fill: #59636e; }
    .tick { text-anchor: middle; }
    .name { text-anchor: end; }
    .own { font-weight: 600; }
    .value { font-variant-numeric: tabular-nums; }
    .surface { fill: #ffffff; stroke: #d1d9e0; }
    .ours { fill: #0969da; }
    .peer { fill: #a3acb5; }
    .noisy { opacity: 0.55; }
    .grid { stroke: #d1d9e0; stroke-width: 1; fill: none; }
    .whisker { stroke: #1f2328; stroke-width: 1.2; fill: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .note, .tick { fill: #9198a1; }
      .surface { fill: #0d1117; stroke: #3d444d; }
      .ours { fill: #4493f8; }
      .peer { fill: #656c76; }
      .grid { stroke: #3d444d; }
      .whisker { stroke: #f0f6fc; }
    }
    </style>
    """
}
