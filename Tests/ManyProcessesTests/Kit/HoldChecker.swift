import CoordinationWorker

/// Looks for accesses that overlapped and must not have.
struct HoldChecker {
  private struct Hold {
    let process: Int32
    let item: Int
    let isWrite: Bool
    let begin: Int
    var end: Int?
  }

  private var problems: [String] = []
  private(set) var holdCount = 0
  private(set) var lostCount = 0
  private(set) var tornCount = 0

  /// - Parameters:
  ///   - log: What the workers noted.
  ///   - deaths: For each worker that was killed, how many entries there were just before.
  /// - Returns: What was wrong, in words.
  static func check(_ log: HoldLog, deaths: [Int32: Int]) -> (problems: [String], checker: HoldChecker) {
    var checker = HoldChecker()
    checker.run(log, deaths)
    return (checker.problems, checker)
  }

  private mutating func run(_ log: HoldLog, _ deaths: [Int32: Int]) {
    // A worker holds one thing at a time.
    var open: [Int32: Hold] = [:]
    var lastWriters: [Int: Int32] = [:]
    for index in 0..<log.count {
      // The dead hold nothing any more.
      for (process, _) in open where deaths[process].map({ $0 <= index }) ?? false { open[process] = nil }
      guard let entry = log[index] else { continue }
      switch entry.kind {
      case .beganReading, .beganWriting:
        let hold = Hold(
          process: entry.process, item: entry.item, isWrite: entry.kind == .beganWriting, begin: index)
        holdCount += 1
        for other in open.values where other.process != hold.process && (hold.isWrite || other.isWrite) {
          if HoldItems.overlap(hold.item, other.item) {
            problems.append("\(index): \(hold) while \(other)")
          }
        }
        open[entry.process] = hold
        if hold.isWrite { lastWriters[entry.item] = entry.process }
      case .ended: open[entry.process] = nil
      case .lost:
        lostCount += 1
        open[entry.process] = nil
      case .sawTornContents:
        tornCount += 1
        if deaths.isEmpty { problems.append("\(index): pid \(entry.process) saw torn contents of item \(entry.item)") }
      case .failed: problems.append("\(index): a request of pid \(entry.process) failed")
      }
    }
  }
}
