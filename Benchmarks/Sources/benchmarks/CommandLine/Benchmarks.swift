import Foundation
import Glibc

@main
struct Benchmarks {
  static func main() {
    // The process that the suite `processes` starts.
    if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "peer" {
      do { exit(try PeerProgram.run(CommandLine.arguments[2])) } catch { fail("peer: \(error)\n", status: 1) }
    }
    // The process that the suite `query` starts.
    if CommandLine.arguments.dropFirst() == [QueryChild.argument] {
      do { exit(try QueryChild.run()) } catch { fail("query child: \(error)\n", status: 1) }
    }
    let arguments: Arguments
    do throws(Arguments.Problem) { arguments = try Arguments.parse(Array(CommandLine.arguments.dropFirst())) } catch {
      fail("benchmarks: \(error)\n\n\(Arguments.usage)", status: 2)
    }
    switch arguments.action {
    case .help: print(Arguments.usage, terminator: "")
    case .list:
      let width = Suite.all.map(\.name.count).max() ?? 0
      for suite in Suite.all { print("\(suite.name.padded(to: width))  \(suite.summary)") }
    case .run:
      do { exit(try run(arguments)) } catch { fail("benchmarks: \(error)\n", status: 1) }
    }
  }

  /// Runs the suites and writes the reports.
  ///
  /// - Parameter arguments: The request of the command line.
  /// - Returns: The exit status: 1 if a tiny run has shown that a counter breaks its limit. Times never fail a run.
  /// - Throws: The error that keeps a suite from measuring.
  private static func run(_ arguments: Arguments) throws -> Int32 {
    let suites = Suite.selected(by: arguments.filter)
    if suites.isEmpty {
      let names = Suite.all.map(\.name).joined(separator: ", ")
      fail("benchmarks: no suite '\(arguments.filter ?? "")'; there are \(names)\n", status: 2)
    }
    var settings = arguments.isTiny ? Settings.tiny : .full
    // A suite has rows of any name.
    settings.filter = arguments.filter.flatMap { filter in
      suites.contains { $0.isNamed(by: filter) } ? nil : filter
    }
    let report = try measure(suites, settings)
    if arguments.isTiny { print("tiny: these figures prove nothing but that the benchmarks run") }
    print(report.text, terminator: "")
    if let path = arguments.jsonPath { try write(report.json.text, to: path) }
    if let path = arguments.plotPath {
      let plot = Plot(report, title: "One claim beside other locks")
      try write(plot.svg, to: path)
    }
    for counter in report.brokenCounters { report.printBroken(counter) }
    return arguments.isTiny && !report.brokenCounters.isEmpty ? 1 : 0
  }

  private static func measure(_ suites: [Suite], _ settings: Settings) throws -> Report {
    let processors = Processors.allowed()
    if !settings.isTiny { processors.claimPriority() }
    let tree = try TemporaryTree.create()
    let signals = tree.removeOnSignals()
    defer { withExtendedLifetime(signals) { tree.remove() } }
    let laboratory = Laboratory(
      settings: settings, processors: processors, workers: WorkerPool(processors), tree: tree,
      progress: ProgressLine.show)
    defer { ProgressLine.clear() }
    var report = Report(machine: .current(processors))
    for suite in suites { try suite.run(laboratory, &report) }
    report.sortTargets()
    return report
  }

  private static func write(_ text: String, to path: String) throws {
    do { try Data(text.utf8).write(to: URL(filePath: path)) } catch {
      throw BenchmarkFailure("can't write \(path): \(error.localizedDescription)")
    }
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data(message.utf8))
    exit(status)
  }
}

extension Report {
  fileprivate func printBroken(_ counter: CounterLine) {
    let message = "broken limit: \(counter.what): \(format(counter.value)), limit \(format(counter.limit ?? 0))\n"
    FileHandle.standardError.write(Data(message.utf8))
  }
}

/// One line on a terminal that shows the progress; nothing when the output isn't one.
enum ProgressLine {
  private static let isTerminal = isatty(STDERR_FILENO) == 1

  @Sendable
  static func show(_ text: String) {
    if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8)) }
  }

  static func clear() {
    if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
  }
}
