/// One try of a repetition.
struct Attempt: Sendable {
  var value: Double
  /// The share of the processor time that others took; 0 when the kernel doesn't report it.
  var disturbance: Double
}

/// One thing to measure: a row of the table.
struct Cell: Sendable {
  /// Names the result, such as `claims/1-thread-read/by-handle`.
  let id: String
  /// The subject of the measurement, for people.
  let subject: String
  /// The rows below one heading.
  let group: String
  let unit: String
  /// Ours, or a peer's.
  let isOurs: Bool
  /// Whether it's part of the comparison that is drawn.
  var isPlotted = false
  /// The row that shows how little it can cost on this machine, whatever the design.
  var floor: String?
  let attempt: @Sendable (Laboratory) throws -> Attempt
}

/// Where measurements are made: threads, processors, settings, files.
struct Laboratory: Sendable {
  let settings: Settings
  let processors: Processors
  let workers: WorkerPool
  let tree: TemporaryTree
  let progress: @Sendable (String) -> Void

  /// Measures cells together: each repetition visits all of them, so that a disturbance of the machine for a while, or
  /// a slower machine, hits subject and peer alike.
  func measure(_ allCells: [Cell]) throws -> [ResultRow] {
    let cells = allCells.filter { settings.selects($0.id) }
    var samples = [[Double]](repeating: [], count: cells.count)
    var noisy = [Bool](repeating: false, count: cells.count)
    var retriesLeft = [Int](repeating: settings.retryCountMaxOfMeasurement, count: cells.count)
    for repetition in 1...settings.repetitionCount {
      for (index, cell) in cells.enumerated() {
        progress("repetition \(repetition) of \(settings.repetitionCount): \(cell.group), \(cell.subject)")
        let attempt = try leastDisturbed(cell, &retriesLeft[index])
        samples[index].append(attempt.value)
        if attempt.disturbance > settings.disturbanceMax { noisy[index] = true }
      }
    }
    return cells.indices.map {
      ResultRow(cells[$0], Measurement(samples: samples[$0], isNoisy: noisy[$0] && !settings.isTiny))
    }
  }

  /// Repeats a disturbed repetition, and gives the least disturbed one if none was undisturbed.
  private func leastDisturbed(_ cell: Cell, _ retriesLeft: inout Int) throws -> Attempt {
    var best = try cell.attempt(self)
    var retries = 0
    while best.disturbance > settings.disturbanceMax, retries < settings.retryCountMax, retriesLeft > 0 {
      retries += 1
      retriesLeft -= 1
      let next = try cell.attempt(self)
      if next.disturbance < best.disturbance { best = next }
    }
    return best
  }
}

/// Why a run can't go on.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
