import FileCoordination

extension Suite {
  static let claimsCounters = Suite(
    name: "claims/counters", summary: "what an uncontended claim does, counted (T-1)"
  ) { laboratory, report in
    for counter in EventCounter.allCases {
      laboratory.progress("counting \(counter.title)")
      // On a worker, because the hooks count per thread.
      let count = laboratory.settings.countedClaims
      let tree = laboratory.tree
      let outcome = try laboratory.workers.run(1) { _ in try ClaimCounts(counter, count, tree) }
      if let reason = outcome[0].failure {
        report.absent.append("counter of \(counter.title): \(reason)")
      } else {
        report.counters += outcome[0].lines
      }
      let lines = try laboratory.workers.run(1) { _ in try QuestionCounts.lines(counter, count, tree.paths[1]) }
      report.counters += lines[0]
    }
  }
}

/// The number of one kind of event in claims of each form.
private struct ClaimCounts: Sendable {
  let failure: String?
  private(set) var lines: [CounterLine]

  init(_ counter: EventCounter, _ count: Int, _ tree: TemporaryTree) throws {
    failure = counter.failure()
    if failure != nil {
      lines = []
      return
    }
    let path = tree.paths[0]
    let handle = try HandleWorker(path)
    let byPath = PathWorker(path)
    let byURL = URLWorker(path)
    let cached = URLWorker(path, domainThatTrustsIdentities())
    let linked = URLWorker(tree.linkedPaths[0])
    lines = [
      try Self.line(counter, "read-by-handle", "reads by handle", count, limit: 0) { try handle.read {} },
      try Self.line(counter, "write-by-handle", "writes by handle", count) { try handle.write {} },
      try Self.line(counter, "read-by-path", "reads by path", count) { try byPath.read {} },
      try Self.line(counter, "read-by-url", "reads by URL", count) { try byURL.read {} },
      try Self.line(counter, "read-by-url-cached", "reads by URL, looked at each second", count) {
        try cached.read {}
      },
      try Self.line(counter, "read-by-url-link", "reads by URL, through a link", count) { try linked.read {} },
    ]
  }

  private static func line(
    _ counter: EventCounter, _ id: String, _ what: String, _ count: Int, limit: Double? = nil,
    _ claim: () throws -> Void
  ) throws -> CounterLine {
    // Events that occur once, such as giving the thread its slots, aren't the cost of a claim.
    for _ in 0..<count { try claim() }
    let events = try counter.count { () throws in
      for _ in 0..<count { try claim() }
    }
    return CounterLine(
      "\(id)/\(counter.id)", "\(counter.title) in \(format(Double(count))) uncontended \(what)",
      value: Double(events ?? 0), limit: limit)
  }
}
