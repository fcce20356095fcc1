import FileCoordination
import Foundation
import Observation
import SeededRandom
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

/// Counts the calls of a door.
private final class CallCounter: Sendable {
  private let calls = Guarded<[SystemCall]>([])

  var files: ScriptedFileSystem {
    ScriptedFileSystem { [self] made in
      calls.withLock { $0.append(made.call) }
      return .proceed
    }
  }

  func count(_ call: SystemCall) -> Int { calls.withLock { calls in calls.count { $0 == call } } }
  var list: [SystemCall] { calls.withLock { $0 } }
  var total: Int { calls.withLock { $0.count } }
  func restart() { calls.withLock { $0 = [] } }
}

@Suite("The cost of documents, counted", .timeLimit(.minutes(8)))
struct CostTests {
  /// How many calls of the door to the system one open and one close may make.
  private static let callCountMax = 18

  @Test(
    "T-80: Without a store of versions an open lists the names of one directory, reads one file, and looks for no versions"
  )
  func opening() async throws {
    let counter = CallCounter()
    try await withFixture(counter.files) { fixture in
      try fixture.write("old")
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      counter.restart()
      try await document.open()
      // The file, and the directory that holds it.
      #expect(counter.count(.open) <= 2)
      let (needsConflicts, running) = (await document.core.needsConflicts, await document.core.running)
      #expect(!needsConflicts && running == nil)
      try await document.close()
      #expect(counter.count(.open) <= 2)
      #expect(counter.total <= Self.callCountMax, "\(counter.list)")
      #expect(!fixture.exists(fixture.url("store")))
    }
  }

  @Test("CD-14, T-80: Behind so many names that an open doesn't look at all of them, leftovers are removed after it")
  func manyNames() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      for number in 0..<3_000 { try fixture.write("", to: fixture.url("\(number)")) }
      let leftovers = try (0..<3).map { _ in try fixture.leaveLeftover("left") }
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await document.open()
      // A call whose turn comes after that.
      try await document.duplicate(to: fixture.url("copy.txt"))
      try await document.close()
      #expect(leftovers.allSatisfy { !fixture.exists($0) })
    }
  }

  @Test("CD-23, T-80: A conflict that was there before is in the state after an open")
  func conflictsBefore() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try await fixture.versions.addVersion(of: fixture.file, isConflict: true)
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await document.open()
      try await document.waitUntil { $0.state.conditions == .inConflict }
      try await document.close()
    }
  }

  @Test(
    "T-81: An edit that's noted in short has the effects of any edit",
    arguments: Budget.seeds(normal: 40, long: 1_000))
  func shortEdits(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let policy = AutosavePolicy(interval: .seconds(15), idleTime: .seconds(2), sizeMax: seed % 2 == 0 ? nil : 30)
    var core = DocumentCore(autosave: policy, hasMerge: false)
    var (now, lastCall, shortCount) = (MonotonicTime(nanoseconds: 0), UInt64(0), 0)
    func call(_ kind: DocumentCall) -> DocumentEvent {
      lastCall += 1
      return .called(CallID(lastCall), kind)
    }
    _ = core.receive(call(.open), at: now)
    _ = core.receive(.completed(.doneWithoutVersions), at: now)
    for _ in 0..<300 {
      now = now.advanced(by: .milliseconds(.random(in: 0...900, using: &random)))
      switch Int.random(in: 0..<30, using: &random) {
      case 0: _ = core.receive(call(.save), at: now)
      case 1: _ = core.receive(.timerFired, at: now)
      case 2...4: _ = core.receive(.editedRegardless(.undone, size: 1), at: now)
      case 5: _ = core.receive(.editedRegardless(.redone, size: 1), at: now)
      case 6: _ = core.receive(.editedRegardless(.cleared, size: 1), at: now)
      case 7: _ = core.receive(.tokenSaved(core.editToken), at: now)
      case 8...10 where core.running?.operation == .write: _ = core.receive(.completed(.done), at: now)
      case 11: if core.running == nil { _ = core.receive(.leaseTaken, at: now) }
      case 12: if core.leaseCount > 0 { _ = core.receive(.leaseEnded, at: now) }
      default:
        if core.editingError != nil { continue }
        let size = Int.random(in: -1...3, using: &random)
        var (short, whole) = (core, core)
        let effects = whole.receive(.edited(.done, size: size), at: now)
        if short.noteFurtherEdit(size: size, at: now) {
          #expect(short == whole && effects == [.publish(whole.published)])
          shortCount += 1
        } else {
          #expect(short == core)
        }
        core = whole
      }
    }
    #expect(shortCount > 0)
  }

  @Test("T-81, CD-35: Observers and readers see the revision of each edit that's noted in short, and its steps of undo")
  func observedEdits() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("", .text, .standard) { $0.undo = DocumentUndoPolicy() }
      try await document.edit { $0 += "a" }
      let first = document.snapshot
      #expect(first.canUndo)
      try await document.undo()
      try await document.edit { $0 += "b" }
      try await document.undo()
      #expect(document.snapshot.canRedo)
      try await document.edit { $0 += "c" }
      try await document.edit { $0 += "d" }
      #expect(!document.snapshot.canRedo && document.snapshot.canUndo)
      let former = document.state.revision
      let noticed = Counter()
      _ = withObservationTracking {
        document.snapshot
      } onChange: {
        noticed.add(1)
      }
      try await document.edit { $0 += "e" }
      #expect(noticed.value == 1 && document.state.revision == former + 1)
      try await document.close(discardingChanges: true)
    }
  }
}
