import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

/// Calls that wait for a journal, and not for an operation of the document.
@Suite("Deadlines of calls that wait for crash journals", .timeLimit(.minutes(8)))
struct JournalDeadlineTests {
  @Test(
    "CD-60, CD-43: A format that never ends with a journal's bytes keeps no open, no close and no other document",
    arguments: [true, false])
  func openingBesideHungFormat(isCancelled: Bool) async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let format = PickyFormat()
      defer { format.gate.open() }
      let document = FileDocument(fixture.file, as: format, options: fixture.journaled(), in: nil)
      let opening = Task { try await document.open(within: .seconds(5)) }
      try await format.gate.waitForArrival()
      if isCancelled { opening.cancel() } else { fixture.clock.advance(by: .seconds(5)) }
      try await fixture.end(of: opening)
      #expect(await document.contents == "old")
      #expect(await document.recoveries.isEmpty)
      try await document.edit { $0 = "new" }
      #expect(try await document.close())
      #expect(try fixture.text() == "new")
      // Nothing was decided, so the next one gets it.
      let other = fixture.document()
      try await other.open()
      #expect(await other.recoveries.map(\.contents) == ["typed"])
      try await other.close()
    }
  }

  @Test("CD-60: Contents that a slow format reads from a journal after the deadline of the open are offered then")
  func lateRecovery() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let format = PickyFormat()
      let document = FileDocument(fixture.file, as: format, options: fixture.journaled(), in: nil)
      let opening = Task { try await document.open(within: .seconds(5)) }
      try await format.gate.waitForArrival()
      fixture.clock.advance(by: .seconds(5))
      try await fixture.end(of: opening)
      #expect(document.state.conditions == .normal)
      format.gate.open()
      try await document.waitUntil { $0.state.conditions == .recoverable }
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      try await document.close()
    }
  }

  @Test(
    "CD-60: A decision about recovered contents ends by its deadline, nothing has changed then, and it can be repeated",
    arguments: [true, false])
  func deciding(isRestoring: Bool) async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let document = fixture.document()
      try await document.open()
      let recovery = try #require(await document.recoveries.first)
      let gate = TestGate()
      let writing = Task { try await fixture.other.write(fixture.file) { _ in try await gate.pass() } }
      try await gate.waitForArrival()
      let decision: DocumentRecovery<String>.Decision = isRestoring ? .restoring : .keepingAsVersion
      let resolving = Task { try await document.resolve(recovery, by: decision, within: .seconds(5)) }
      try await fixture.clock.waitForDeadline(within: .seconds(5))
      fixture.clock.advance(by: .seconds(5))
      await #expect { try await fixture.end(of: resolving) } throws: { ($0 as? DocumentError)?.code == .timedOut }
      #expect(await document.contents == "old")
      #expect(await document.recoveries.map(\.contents) == ["typed"])
      gate.open()
      try await writing.value
      try await document.resolve(recovery, by: decision)
      #expect(await document.contents == (isRestoring ? "typed" : "old"))
      #expect(try await fixture.versionTexts() == (isRestoring ? [] : ["typed"]))
      try await document.close()
    }
  }

  @Test("CD-60: A format that never ends with recovered contents keeps no decision beyond its deadline")
  func decidingBesideHungFormat() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      try fixture.leaveOrphan("typed")
      let format = PickyFormat()
      defer { format.gate.open() }
      let document = FileDocument(fixture.file, as: format, options: fixture.journaled(), in: nil)
      format.isStuck.withLock { $0 = false }
      try await document.open()
      format.isStuck.withLock { $0 = true }
      let recovery = try #require(await document.recoveries.first)
      let resolving = Task { try await document.resolve(recovery, by: .restoring, within: .seconds(5)) }
      try await format.gate.waitForArrival()
      fixture.clock.advance(by: .seconds(5))
      await #expect { try await fixture.end(of: resolving) } throws: { ($0 as? DocumentError)?.code == .timedOut }
      format.isStuck.withLock { $0 = false }
      try await document.resolve(recovery, by: .restoring)
      #expect(await document.contents == "typed")
      try await document.close()
    }
  }

  @Test("CD-61: A close that drops what is unsaved doesn't wait for a format that never ends with it")
  func closingBesideHungFormat() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let format = GatedFormat(gate: TestGate())
      let gate = try #require(format.gate)
      defer { gate.open() }
      let document = FileDocument(fixture.file, as: format, options: fixture.journaled(), in: nil)
      try await document.open()
      try await document.edit { $0 = "new" }
      let writing = Task { try await document.writeJournal(within: .seconds(5)) }
      try await gate.waitForArrival()
      fixture.clock.advance(by: .seconds(5))
      await #expect { try await fixture.end(of: writing) } throws: { ($0 as? DocumentError)?.code == .timedOut }
      try await document.close(discardingChanges: true)
      #expect(try fixture.journalNames() == [])
      #expect(try fixture.text() == "old")
    }
  }

  @Test(
    "CD-61: A close or a deletion ends by its deadline also while the journal's volume doesn't answer",
    arguments: [true, false])
  func endingBesideHungVolume(isDeletion: Bool) async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let (gate, isOpen) = (TestGate(), Guarded(false))
      defer { gate.open() }
      var options = fixture.journaled()
      // Asked right before the record is written, on the thread that writes it, and when others are looked for.
      options.crashJournal?.time = {
        if isOpen.withLock({ $0 }) { gate.passBlocking() }
        return 0
      }
      let document = FileDocument(fixture.file, as: .text, options: options, in: nil)
      try await document.open()
      isOpen.withLock { $0 = true }
      try await document.edit { $0 = "new" }
      let writing = Task { try await document.writeJournal() }
      try await gate.waitForArrival()
      let ending = Task {
        if isDeletion {
          try await document.delete(within: .seconds(5))
        } else {
          try await document.close(discardingChanges: true, within: .seconds(5))
        }
      }
      try await document.waitUntil { $0.state.conditions == .closed }
      fixture.clock.advance(by: .seconds(5))
      try await fixture.end(of: ending)
      #expect(fixture.exists() != isDeletion)
      gate.open()
      try await writing.value
      // The removal has gone on; another close waits for its end.
      try await document.open(creatingWith: "")
      try await document.close()
      let names = try fixture.journalNames()
      #expect(names == [])
    }
  }
}

extension Fixture {
  /// The result of a task that may arm a timer for a time that has come already: those fire with the next move of the clock.
  func end<Value>(of task: Task<Value, any Error>) async throws -> Value {
    let hasEnded = Guarded(false)
    Task {
      _ = await task.result
      hasEnded.withLock { $0 = true }
    }
    while !hasEnded.withLock({ $0 }) {
      clock.advance(by: .zero)
      await Task.yield()
    }
    return try await task.value
  }
}

/// Texts, of which "typed" is read behind a gate.
private struct PickyFormat: DocumentFormat {
  let gate = TestGate()
  let isStuck = Guarded(true)

  func contents(of bytes: Data) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    if text == "typed", isStuck.withLock({ $0 }) { gate.passBlocking() }
    return text
  }

  func bytes(of contents: String) -> Data { Data(contents.utf8) }
}
