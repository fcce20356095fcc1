extension Suite {
  static let claimsTable = Suite(
    name: "claims/table", rows: "claims",
    summary: "claims beside other locks, one to eight threads (T-1 to T-5, T-8, T-10)"
  ) { laboratory, report in
    let contenders =
      CoordinatorContenders.all(laboratory.tree) + PeerContenders.all(laboratory.tree, absent: &report.absent)
    for contender in contenders {
      laboratory.progress("does it exclude? \(contender.name)")
      let violations = try contender.exclusionViolations(laboratory)
      if !violations.isEmpty {
        throw BenchmarkFailure("\(contender.name) is no lock: \(violations.joined(separator: ", "))")
      }
    }
    let cells = (contenders + Floors.contenders).flatMap { $0.cells(suite: "claims") }
    // In the order of scenarios, so that those compared are measured one after the other.
    let order = Scenario.all.flatMap { scenario in cells.filter { $0.group == scenario.title } }
    report.results += try laboratory.measure(order)
    report.targets += ClaimTargets(report).lines
  }
}

/// The results of the table for T-1 to T-5 and T-8.
private struct ClaimTargets {
  private typealias Ours = CoordinatorContenders
  private typealias Peers = PeerContenders

  private let report: Report

  init(_ report: Report) { self.report = report }

  var lines: [TargetLine] { uncontended + twoThreads + eightThreads + [asyncForm] }

  private var uncontended: [TargetLine] {
    [
      line("T-1 read", "read by handle, speed of Berkeley DB", .read, Ours.handle, Peers.berkeleyDB, 5, goal: 9),
      line(
        "T-1 write", "write by handle, speed of Berkeley DB", .write, Ours.handle, Peers.berkeleyDB, 1, goal: 1.5),
      line("T-2 path BDB", "read by path, speed of Berkeley DB", .read, Ours.path, Peers.berkeleyDB, 1.5),
      line(
        "T-2 path Mutex", "read by path, speed of Mutex + Dictionary, added and removed", .read, Ours.path,
        Peers.dictionaryAddedAndRemoved, 1.5),
      line(
        "T-2 URL BDB", "read by URL that is looked at each second, speed of Berkeley DB", .read, Ours.cachedURL,
        Peers.berkeleyDB, 1),
      line(
        "T-2 URL Mutex", "read by URL that is looked at each second, speed of Mutex + Dictionary, added and removed",
        .read, Ours.cachedURL, Peers.dictionaryAddedAndRemoved, 1),
      line(
        "T-3", "read by URL through a link, looked at each time, speed of open + flock + unlock + close", .read,
        Ours.linkedURL, Peers.flockOpenedThroughLink, 1.5),
    ]
  }

  private var twoThreads: [TargetLine] {
    [
      scaling("T-4 different items", "2 threads read different items, throughput of one", .readDifferent),
      scaling("T-4 one item", "2 threads read one item, throughput of one", .readOne),
      scaling(
        "T-10", "2 threads write different items, throughput of one", .writeDifferent, beside: .write, target: 1.5,
        goal: 1.8),
      line(
        "T-5 50/50 flock", "2 threads, half writes, throughput of a kept flock", .halfWritten, Ours.handle,
        Peers.flockKept, 1.3),
      line(
        "T-5 50/50 BDB", "2 threads, half writes, throughput of Berkeley DB", .halfWritten, Ours.handle,
        Peers.berkeleyDB, 10),
      line(
        "T-5 95/5 flock", "2 threads, 95 % reads, throughput of a kept flock", .mostlyRead, Ours.handle,
        Peers.flockKept, 4),
    ]
  }

  private var eightThreads: [TargetLine] {
    [
      TargetLine(
        "T-5 8 threads 50/50", "8 threads, half writes, throughput of 2 threads",
        ratio: report.speed(id(.crowdHalfWritten, Ours.handle), comparedWith: id(.halfWritten, Ours.handle)),
        target: 0.5),
      TargetLine(
        "T-5 8 threads 95/5", "8 threads, 95 % reads, throughput of 2 threads",
        ratio: report.speed(id(.crowdMostlyRead, Ours.handle), comparedWith: id(.mostlyRead, Ours.handle)),
        target: 0.5),
    ]
  }

  private var asyncForm: TargetLine {
    let blocking = report.median(id(.read, Ours.handle))
    let async = report.median(id(.read, Ours.async))
    let difference = blocking.flatMap { blocking in async.map { $0 - blocking } }
    return TargetLine(
      "T-8", "read by handle, async form minus blocking form", ratio: difference, target: 250, higherIsBetter: false,
      unit: " ns")
  }

  private func id(_ scenario: Scenario, _ contender: String) -> String { "claims/\(scenario.id)/\(contender)" }

  private func line(
    _ name: String, _ what: String, _ scenario: Scenario, _ ours: String, _ peer: String, _ target: Double,
    goal: Double? = nil
  ) -> TargetLine {
    let ratio = report.speed(id(scenario, ours), comparedWith: id(scenario, peer))
    return TargetLine(name, what, ratio: ratio, target: target, goal: goal)
  }

  /// Rows are per processor in use: two threads that don't disturb each other have the time of one, and twice its
  /// throughput.
  private func scaling(
    _ name: String, _ what: String, _ scenario: Scenario, beside alone: Scenario = .read, target: Double = 1.7,
    goal: Double = 1.9
  ) -> TargetLine {
    let speed = report.speed(id(scenario, Ours.handle), comparedWith: id(alone, Ours.handle))
    let processors = Double(min(scenario.threadCount, report.machine.processorCount))
    return TargetLine(name, what, ratio: speed.map { $0 * processors }, target: target, goal: goal)
  }
}
