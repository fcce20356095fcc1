import SystemInterface
import TestSupport
import Testing

@testable import FileDocuments

/// A journal's core with the disk that it writes to, and the contents that it's about.
private struct JournalModel: Hashable, Sendable {
  var core = JournalCore(delay: .seconds(1))
  var now = MonotonicTime(nanoseconds: 0)
  /// The contents in memory.
  var revision: UInt64 = 0
  var unsaved: JournalStamp?
  /// The newest whole record.
  var disk: UInt64?
  /// The contents that the running operation writes; `nil` in it for a removal.
  var running: JournalStamp??
  var deadlines: [MonotonicTime] = []
  /// Revisions that somebody waits for, and that were adopted.
  var waits: [UInt64: UInt64] = [:]
  var adopted: UInt64?
  /// The contents that a save has which began earlier, and those that the file has.
  var saving: UInt64?
  var saved: UInt64 = 0
  var left: [Step: Int]
  var problems: [String] = []

  enum Step: Hashable, CaseIterable {
    case edit, save, move, wait, adopt, fail
    /// A save begins, which takes its time.
    case begin
    /// The time of a timer comes, but not the news of that.
    case late
    // Not limited.
    case fire, succeed
  }

  init(_ left: [Step: Int]) { self.left = left }

  var steps: [Step] {
    var steps = Step.allCases.filter { (left[$0] ?? 0) > 0 && $0 != .fail && $0 != .save }
    if unsaved == nil || saving != nil { steps.removeAll { $0 == .begin } }
    if unsaved != nil, (left[.save] ?? 0) > 0 || saving != nil { steps.append(.save) }
    if running != nil {
      steps.append(.succeed)
      if (left[.fail] ?? 0) > 0 { steps.append(.fail) }
    }
    if !deadlines.isEmpty { steps.append(.fire) } else { steps.removeAll { $0 == .late } }
    return steps
  }

  mutating func take(_ step: Step) {
    if let count = left[step], count > 0 { left[step] = count - 1 }
    switch step {
    case .edit:
      revision += 1
      unsaved = JournalStamp(revision: revision, base: nil, move: unsaved?.move ?? 0)
      send(.changed(unsaved))
    case .move:
      unsaved?.move += 1
      send(.changed(unsaved))
    case .begin: saving = revision
    case .late: now = max(now, deadlines.first ?? now)
    case .save:
      saved = saving ?? revision
      saving = nil
      send(.saved(saved))
      // Edits that came since the save has begun are unsaved still.
      if saved == revision { unsaved = nil }
      send(.changed(unsaved))
    case .wait:
      let id = JournalWaitID(number: UInt64(left[.wait] ?? 0))
      waits[id.number] = unsaved?.revision ?? 0
      send(.awaited(id))
    case .adopt:
      revision += 1
      unsaved = JournalStamp(revision: revision, base: nil, move: unsaved?.move ?? 0)
      adopted = revision
      send(.changed(unsaved))
      send(.adopted(revision: revision, journal: "other"))
    case .fire:
      now = max(now, deadlines.removeFirst())
      send(.timerFired)
    case .succeed, .fail:
      guard let operation = running else { return }
      running = nil
      let error = step == .fail ? DocumentError(.journalNotWritten, "full") : nil
      guard let stamp = operation else {
        if error == nil { disk = nil }
        return send(.removed(error))
      }
      // A record that fails leaves the one before.
      if error == nil { disk = stamp.revision }
      send(.written(error))
    }
  }

  private mutating func send(_ event: JournalEvent) {
    for effect in core.receive(event, at: now) { carryOut(effect) }
    problems += core.problems
  }

  private mutating func carryOut(_ effect: JournalEffect) {
    switch effect {
    case .armTimer(let time):
      deadlines.append(time)
      deadlines.sort()
      if time < now { problems.append("a timer for the past") }
    case .write(let stamp):
      if running != nil { problems.append("two operations") }
      if stamp != unsaved || stamp.revision <= saved { problems.append("writes what isn't unsaved") }
      running = .some(stamp)
    case .remove:
      if running != nil { problems.append("two operations") }
      if let unsaved, unsaved.revision > saved, disk.map({ $0 > saved }) ?? true {
        problems.append("removes what is needed")
      }
      running = .some(nil)
    case .release:
      let isSafe = unsaved == nil || max(disk ?? 0, saved) >= (adopted ?? .max)
      if !isSafe { problems.append("released what is in memory alone") }
      adopted = nil
    case .finish(let id, let error):
      guard let revision = waits.removeValue(forKey: id.number) else { return problems.append("finished twice") }
      let isDone = unsaved == nil ? disk == nil : max(disk ?? 0, saved) >= revision
      if error == nil, !isDone { problems.append("\(revision) isn't on the disk") }
    }
  }

  /// The violated properties when nothing happens any more.
  var endProblems: [String] {
    var problems: [String] = []
    if disk != unsaved?.revision { problems.append("the disk has \(String(describing: disk))") }
    if !waits.isEmpty { problems.append("somebody waits for ever") }
    if adopted != nil { problems.append("nothing was released") }
    if core.error != nil { problems.append("an error for ever") }
    return problems
  }

  /// Lets all timers fire and all operations succeed.
  func ended() -> JournalModel {
    var end = self
    for _ in 0..<100 where end.running != nil || !end.deadlines.isEmpty {
      end.take(end.running != nil ? .succeed : .fire)
    }
    return end
  }
}

@Suite("Decisions about the crash journal", .timeLimit(.minutes(8)))
struct JournalCoreTests {
  @Test(
    "CD-61: In each order of events what is unsaved gets to the disk, what is saved goes from it, and nobody waits for ever",
    arguments: [
      [.edit: 3, .save: 2, .fail: 2, .wait: 1], [.edit: 2, .save: 1, .move: 2, .wait: 2, .fail: 1],
      [.edit: 2, .save: 1, .adopt: 1, .fail: 2, .wait: 1], [.edit: 3, .begin: 2, .fail: 1, .wait: 1],
      [.edit: 2, .begin: 1, .adopt: 1, .move: 1, .wait: 1], [.edit: 2, .save: 2, .late: 1, .wait: 1, .fail: 1],
    ] as [[JournalModel.Step: Int]])
  private func everyOrder(left: [JournalModel.Step: Int]) async {
    let (count, problem) = await LongRun.run { Self.explore(JournalModel(left)) }
    #expect(problem == nil)
    #expect(count > 1_000)
  }

  private static func explore(_ start: JournalModel) -> (count: Int, problem: String?) {
    var seen: Set<JournalModel> = [start]
    var waiting = [start]
    while let model = waiting.popLast() {
      let end = model.ended()
      let problems = model.problems + end.problems + end.endProblems
      if !problems.isEmpty { return (seen.count, "\(problems) in \(model), at last \(end)") }
      for step in model.steps {
        var next = model
        next.take(step)
        if seen.insert(next).inserted { waiting.append(next) }
      }
    }
    return (seen.count, nil)
  }

  @Test("CD-61: A record is begun when the time since the first edit has passed, and not later, however much is edited")
  func delay() {
    var core = JournalCore(delay: .seconds(2))
    var now = MonotonicTime(nanoseconds: 0)
    func stamp(_ revision: UInt64) -> JournalStamp { JournalStamp(revision: revision, base: nil) }
    let due = now.advanced(by: .seconds(2))
    #expect(core.receive(.changed(stamp(1)), at: now) == [.armTimer(due)])
    now = now.advanced(by: .seconds(1))
    #expect(core.receive(.changed(stamp(2)), at: now) == [])
    #expect(core.receive(.timerFired, at: due) == [.write(stamp(2))])
    #expect(core.receive(.changed(stamp(3)), at: due) == [])
    #expect(core.receive(.written(nil), at: due) == [.armTimer(due.advanced(by: .seconds(2)))])
  }

  @Test("CD-64: After each failure the next attempt comes later, up to 64 times the delay")
  func failing() {
    var core = JournalCore(delay: .seconds(1))
    var now = MonotonicTime(nanoseconds: 0)
    let stamp = JournalStamp(revision: 1, base: nil)
    var waits: [Duration] = []
    guard case .armTimer(var due)? = core.receive(.changed(stamp), at: now).first else {
      Issue.record("no timer")
      return
    }
    for _ in 0..<8 {
      now = due
      #expect(core.receive(.timerFired, at: now) == [.write(stamp)])
      guard case .armTimer(let next)? = core.receive(.written(.notOpen), at: now).first else {
        Issue.record("no timer")
        return
      }
      waits.append(now.duration(to: next))
      due = next
    }
    #expect(waits == [2, 4, 8, 16, 32, 64, 64, 64].map { .seconds($0) })
    #expect(core.error == .notOpen)
    #expect(core.receive(.changed(nil), at: now) == [.remove])
    #expect(core.receive(.removed(nil), at: now) == [])
    #expect(core.error == nil)
  }
}
