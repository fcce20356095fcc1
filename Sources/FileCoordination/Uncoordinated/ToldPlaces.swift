internal import FileAccessArbiter

/// The last reports to observers of places where they may have seen something else than the core.
///
/// An observer looks where a message says, when it has received the message. By then the item may be elsewhere, with a directory
/// around it, of which the observer is notified later. So a report is recorded until the core has taken every event of what was done
/// before it. If one of them is a move from around the place, or to around it, the report waits for the report of that move, and is
/// made once more after it, about the place where the item is then.
struct ToldPlaces: Hashable, Sendable {
  enum Report: Hashable, Sendable {
    /// Something is there, and may be another item than before, or have other contents.
    case present
    /// The same, and observers know the item: it was moved there.
    case arrived
    case gone
  }

  /// A report that waits for a move.
  struct Entry: Hashable, Sendable {
    let path: ItemPath
    let report: Report
    /// How often events were taken while it waited for a move of which the arbiter hasn't said anything.
    var turnCount = 0
  }

  private struct Recent: Hashable, Sendable {
    var report: Report
    var isDelivered = false
  }

  /// Reports since events were taken last, and earlier ones that something is gone: an observer that looks there may see an item that
  /// is gone again when the core looks.
  private var recent = PathTree<Recent>()
  /// Whether a report that anything may have changed has been delivered, until the events of what was done before are taken: observers look
  /// everywhere then, and may see what the core doesn't know.
  private var isDoubtDelivered: Bool?
  var isDoubtful: Bool { isDoubtDelivered != nil }
  /// The reports that wait for moves, in their order.
  private(set) var waiting: [Entry] = []

  static let recentCountMax = 1024
  static let waitingCountMax = 256
  /// How often events are taken while a report waits for a move for which a coordinated write may account.
  static let turnCountMax = 8

  /// Records what is reported of a place.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - path: The place.
  ///   - isWaiting: Whether something was seen to move from around the place or to around it, which isn't reported yet.
  mutating func note(_ report: Report, at path: ItemPath, isWaiting: Bool) {
    if recent.count >= Self.recentCountMax { recent = PathTree() }
    recent[path] = Recent(report: report)
    // The report before is repeated anyway, and says more.
    if report == .arrived, waiting.contains(where: { $0.path == path }) { return }
    waiting.removeAll { $0.path == path }
    if isWaiting { wait(Entry(path: path, report: report)) }
  }

  /// Everything is to be looked at.
  mutating func doubt() { isDoubtDelivered = false }

  private mutating func wait(_ entry: Entry) {
    waiting.removeAll { $0.path == entry.path }
    if waiting.count >= Self.waitingCountMax { waiting.removeFirst() }
    waiting.append(entry)
  }

  /// Something was seen to move: observers may have looked too late for what was reported around.
  mutating func wait(forMoveFrom old: ItemPath, to new: ItemPath) {
    for (path, report) in recent.inside(old).sorted(by: { $0.path < $1.path }) where report.report != .gone {
      wait(Entry(path: path, report: report.report))
    }
  }

  /// Records that all reports until now reach the observers.
  mutating func deliver() {
    if isDoubtDelivered != nil { isDoubtDelivered = true }
    for (path, report) in recent.inside(.root) where !report.isDelivered { recent[path]?.isDelivered = true }
  }

  /// All events of what was done before the delivery were taken.
  ///
  /// - Parameters:
  ///   - isUnsettled: Whether something was seen to move from around a place or to around it, and isn't reported yet.
  ///   - isUndecided: Whether there's such a move for which a coordinated write may account.
  mutating func settle(where isUnsettled: (ItemPath) -> Bool, orAtFirstWhere isUndecided: (ItemPath) -> Bool) {
    for (path, report) in recent.inside(.root) where report.isDelivered && report.report != .gone { recent[path] = nil }
    if isDoubtDelivered == true { isDoubtDelivered = nil }
    waiting = waiting.compactMap { entry in
      if isUnsettled(entry.path) { return entry }
      if entry.turnCount >= Self.turnCountMax || !isUndecided(entry.path) { return nil }
      return Entry(path: entry.path, report: entry.report, turnCount: entry.turnCount + 1)
    }
  }

  /// Whether the last report of a place is that something is gone.
  ///
  /// - Returns: Those places at a place and inside, in order.
  func ends(inside top: ItemPath) -> [ItemPath] {
    recent.inside(top).filter { $0.value.report == .gone }.map(\.path).sorted()
  }

  /// Whether observers know something at a place to which a move leads that isn't reported yet.
  func isKnownToObservers(_ path: ItemPath) -> Bool { waiting.contains { $0.path == path && $0.report != .gone } }

  /// Moves the waiting reports inside of an item that was moved on before its move was reported.
  mutating func relocate(from old: ItemPath, to new: ItemPath) {
    waiting = waiting.map { entry in
      old.contains(entry.path)
        ? Entry(path: entry.path.movedAlong(from: old, to: new), report: entry.report) : entry
    }
    waiting.removeAll { $0.path == old }
  }

  /// Takes out what waits at some places, and what was reported there and isn't delivered yet.
  mutating func take(where isWanted: (ItemPath) -> Bool) -> [Entry] {
    let found = waiting.filter { isWanted($0.path) }
    let places = Set(found.map(\.path))
    let new = recent.inside(.root).filter { !$0.value.isDelivered && isWanted($0.path) && !places.contains($0.path) }
      .map { Entry(path: $0.path, report: $0.value.report) }.sorted { $0.path < $1.path }
    waiting.removeAll { isWanted($0.path) }
    return found + new
  }
}
