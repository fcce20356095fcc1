import CoordinationWorker

/// Finds accesses that overlapped and must not have, and presenters that weren't asked or notified.
struct HoldChecker {
  /// One part of a process, which acts beside others: its own accesses, or those of its presenter.
  private struct Actor: Hashable {
    let process: Int32
    let lane: HoldLog.Lane
  }

  private struct Hold {
    let actor: Actor
    let item: Int
    let isWrite: Bool
    let begin: Int
  }

  private struct Presenter {
    let item: Int
    /// For how many accesses it has let go of the item.
    var relinquishedCount = 0
    /// The last write of the item by others that it has to hear of.
    var lastWrite: Int?
  }

  private var problems: [String] = []
  private(set) var holdCount = 0
  private(set) var tornCount = 0
  /// How often a presenter was asked, saved, and was notified.
  private(set) var relinquishedCount = 0
  private(set) var savedCount = 0
  private(set) var toldCount = 0
  private var holds: [Actor: Hold] = [:]
  private var presenters: [Int32: Presenter] = [:]
  private var quiet: Set<Int32> = []
  private var processes: Set<Int32> = []

  /// - Parameters:
  ///   - log: The notes of the workers.
  ///   - deaths: For each worker that was killed, how many entries there were just before.
  /// - Returns: The problems, in words.
  static func check(_ log: HoldLog, deaths: [Int32: Int]) -> (problems: [String], checker: HoldChecker) {
    var checker = HoldChecker()
    checker.run(log, deaths)
    if let first = checker.problems.first, let index = first.split(separator: ":").first.flatMap({ Int($0) }) {
      checker.problems.append(story(of: log, deaths, around: index))
    }
    return (checker.problems, checker)
  }

  /// The entries before and after an entry.
  private static func story(of log: HoldLog, _ deaths: [Int32: Int], around center: Int) -> String {
    var lines: [String] = []
    for index in max(0, center - 40)..<min(log.count, center + 10) {
      lines += deaths.filter { $0.value == index }.map { "      pid \($0.key) is killed" }
      guard let entry = log[index] else { continue }
      let lane = HoldLog.Lane(rawValue: entry.detail).map { "\($0)" } ?? "\(entry.detail)"
      lines.append("\(index): pid \(entry.process), \(lane), item \(entry.item), \(entry.kind)")
    }
    return lines.joined(separator: "\n")
  }

  /// The processes of these that aren't quiet: a process that has noted nothing yet, or that hasn't received the last
  /// write of the item that it presents.
  static func unheard(_ log: HoldLog, of living: [Int32], deaths: [Int32: Int]) -> [Int32] {
    var checker = HoldChecker()
    checker.run(log, deaths)
    return living.filter { !checker.quiet.contains($0) || checker.presenters[$0]?.lastWrite != nil }
  }

  private mutating func run(_ log: HoldLog, _ deaths: [Int32: Int]) {
    for index in 0..<log.count {
      for process in processes where deaths[process].map({ $0 <= index }) ?? false { bury(process) }
      guard let entry = log[index] else { continue }
      processes.insert(entry.process)
      take(entry, at: index, isAnybodyKilled: !deaths.isEmpty)
    }
  }

  /// The dead hold and present nothing any more.
  private mutating func bury(_ process: Int32) {
    holds = holds.filter { $0.key.process != process }
    presenters[process] = nil
    processes.remove(process)
  }

  private mutating func take(_ entry: HoldLog.Entry, at index: Int, isAnybodyKilled: Bool) {
    let actor = Actor(process: entry.process, lane: HoldLog.Lane(rawValue: entry.detail) ?? .worker)
    switch entry.kind {
    case .beganReading, .beganWriting:
      begin(Hold(actor: actor, item: entry.item, isWrite: entry.kind == .beganWriting, begin: index))
    case .ended: holds[actor] = nil
    case .sawTornContents:
      tornCount += 1
      if !isAnybodyKilled { problems.append("\(index): pid \(entry.process) saw torn contents of item \(entry.item)") }
    case .failed: problems.append("\(index): a request of pid \(entry.process) failed")
    case .presents: presenters[entry.process] = Presenter(item: entry.item)
    case .relinquished:
      relinquishedCount += 1
      presenters[entry.process]?.relinquishedCount += 1
    case .reacquired: presenters[entry.process]?.relinquishedCount -= 1
    case .told:
      toldCount += 1
      // Of a write that goes on it will hear once more.
      let isWritten = holds.values.contains { $0.isWrite && $0.item == entry.item && $0.actor != actor }
      if !isWritten { presenters[entry.process]?.lastWrite = nil }
    case .quiet: quiet.insert(entry.process)
    }
  }

  private mutating func begin(_ hold: Hold) {
    holdCount += 1
    if hold.actor.lane == .presenter { savedCount += 1 }
    for other in holds.values where other.actor != hold.actor && (hold.isWrite || other.isWrite) {
      if HoldItems.overlap(hold.item, other.item) { problems.append("\(hold.begin): \(hold) while \(other)") }
    }
    for (process, presenter) in presenters where Actor(process: process, lane: .presenter) != hold.actor {
      guard HoldItems.overlap(hold.item, presenter.item) else { continue }
      if presenter.relinquishedCount <= 0 {
        problems.append("\(hold.begin): \(hold) unasked of \(process)'s presenter")
      }
      if hold.isWrite, hold.item == presenter.item { presenters[process]?.lastWrite = hold.begin }
    }
    holds[hold.actor] = hold
  }
}
