import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Documents and another program have both changed the text", .timeLimit(.minutes(8)))
struct MergingTests {
  private func collide(_ fixture: Fixture, _ document: FileDocument<String>) async throws {
    try await document.edit { $0 = "mine" }
    let revision = document.state.revision
    // This writer doesn't ask for what is unsaved.
    try await fixture.other.replaceContents(of: fixture.file, with: Data("theirs".utf8))
    try await fixture.domain.waitUntil { $0.arePresentersIdle }
    try await document.waitUntil { $0.state.editingObstacles.isEmpty && $0.state.revision >= revision }
  }

  @Test(
    "CD-36: A save that's overtaken by another program again and again ends with an error, and keeps a limited number of versions"
  )
  func overtaken() {
    var core = DocumentCore(autosave: .never, hasMerge: false)
    var effects = core.receive(.called(CallID(1), .open), at: .zero)
    effects = core.receive(.completed(.doneWithoutVersions), at: .zero)
    func isOvertaken(_ times: Int, _ id: UInt64) -> Bool {
      _ = core.receive(.edited(.done, size: 1), at: .zero)
      effects = core.receive(.called(CallID(id), .save), at: .zero)
      for _ in 0..<times where effects.contains(.begin(.write, for: nil)) {
        effects = core.receive(.completed(.differs(unreadable: nil)), at: .zero)
        if effects.contains(.begin(.keep(.theirs), for: nil)) { effects = core.receive(.completed(.done), at: .zero) }
      }
      return effects.contains(.finish(CallID(id), .overtaken, didSave: false))
    }
    #expect(!isOvertaken(DocumentCore.overtakenCountMax, 2))
    #expect(effects.contains(.begin(.write, for: nil)))
    _ = core.receive(.completed(.done), at: .zero)
    // A save that succeeds ends the row.
    #expect(isOvertaken(DocumentCore.overtakenCountMax + 1, 3))
    #expect(core.published.savingError == .overtaken && core.published.hasUnsavedChanges)
    #expect(core.published.editingObstacles.isEmpty && core.problems == [])
  }

  @Test("CD-36, CD-76: A save after one that failed isn't overtaken because that one was")
  func overtakenAfterFailure() {
    var core = DocumentCore(autosave: .never, hasMerge: false)
    _ = core.receive(.called(CallID(1), .open), at: .zero)
    _ = core.receive(.completed(.doneWithoutVersions), at: .zero)
    _ = core.receive(.edited(.done, size: 1), at: .zero)
    var effects = core.receive(.called(CallID(2), .save), at: .zero)
    for _ in 1..<DocumentCore.overtakenCountMax {
      _ = core.receive(.completed(.differs(unreadable: nil)), at: .zero)
      effects = core.receive(.completed(.done), at: .zero)
    }
    #expect(effects.contains(.begin(.write, for: nil)))
    _ = core.receive(.completed(.differs(unreadable: nil)), at: .zero)
    let error = DocumentError(.versionNotKept, "no room")
    effects = core.receive(.completed(.failed(error)), at: .zero)
    #expect(effects.contains(.finish(CallID(2), error, didSave: false)))
    effects = core.receive(.called(CallID(3), .save), at: .zero)
    #expect(effects.contains(.begin(.keep(.theirs), for: nil)) || effects.contains(.begin(.write, for: nil)))
    if effects.contains(.begin(.keep(.theirs), for: nil)) { effects = core.receive(.completed(.done), at: .zero) }
    effects = core.receive(.completed(.differs(unreadable: nil)), at: .zero)
    #expect(effects.contains(.begin(.keep(.theirs), for: nil)))
  }

  @Test("CD-36: By default both survive: the document keeps its text, the other one is a conflict version")
  func byDefault() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await collide(fixture, document)
      #expect(await document.contents == "mine")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.waitUntil { $0.state.conditions == .inConflict }
      try await document.save()
      #expect(try fixture.text() == "mine")
      let conflict = try #require(try await fixture.versions.unresolvedConflicts(of: fixture.file)?.first)
      try await fixture.versions.markResolved(conflict, of: fixture.file)
      try await document.waitUntil { $0.state.conditions == .normal }
      try await document.close()
    }
  }

  @Test("CD-36: The program's hook gets three texts, and what it makes of them is saved")
  func merged() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open {
        $0.merge = { texts in .merged("\(texts.base) \(texts.mine) \(texts.theirs)") }
      }
      try await collide(fixture, document)
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(await document.contents == "old mine theirs")
      #expect(try fixture.text() == "old mine theirs")
      #expect(try await fixture.versionTexts() == [])
      try await document.close()
    }
  }

  @Test("CD-36: The program takes the other text: its own becomes a conflict version")
  func taken() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.merge = { _ in .takeTheirs } }
      try await collide(fixture, document)
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(await document.contents == "theirs")
      #expect(try await fixture.versionTexts() == ["mine"])
      try await document.close()
    }
  }

  @Test(
    "CD-36: A hook that throws, or never answers, is one that keeps both; nothing is edited before its time is over")
  func hopeless() async throws {
    try await withFixture { fixture in
      struct Stop: Error {}
      let document = try await fixture.open { $0.merge = { _ in throw Stop() } }
      try await collide(fixture, document)
      #expect(await document.contents == "mine")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
    try await withFixture { fixture in
      let gate = TestGate()
      let document = try await fixture.open {
        $0.deadline = nil
        $0.merge = { _ in
          try? await gate.pass()
          return .merged("too late")
        }
      }
      try await document.edit { $0 = "mine" }
      try await fixture.other.replaceContents(of: fixture.file, with: Data("theirs".utf8))
      try await gate.waitForArrival()
      #expect(document.state.editingObstacles.contains(.reloading))
      try await fixture.clock.waitForScheduled(count: 1)
      fixture.clock.advance(by: .seconds(30))
      try await document.waitUntil { $0.state.editingObstacles.isEmpty }
      gate.open()
      #expect(await document.contents == "mine")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
      #expect(try fixture.text() == "mine")
    }
  }

  @Test("CD-36: A save finds what a program has written that doesn't coordinate, and doesn't overwrite it")
  func unnoticed() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "mine" }
      try fixture.write("theirs")
      try await document.save()
      #expect(try fixture.text() == "mine")
      #expect(try await fixture.versionTexts() == ["theirs"])
      // The same change by both is no conflict.
      try await document.edit { $0 = "equal" }
      try fixture.write("equal")
      try await document.save()
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
  }

  @Test(
    "CD-37: Bytes that the format can't read leave the contents as they were, and are kept before they're overwritten")
  func unreadable() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await fixture.other.replaceContents(of: fixture.file, with: Data([0xff, 0xfe]))
      try await document.waitUntil { $0.state.conditions == .readingError }
      #expect(document.state.readingError?.code == .unreadableContents)
      #expect(await document.contents == "old")
      #expect(!document.hasUnsavedChanges)
      try await document.edit { $0 = "new" }
      try await document.save()
      #expect(document.state.readingError == nil)
      #expect(try fixture.text() == "new")
      let kept = try #require(try await fixture.versions.versions(of: fixture.file)?.first)
      #expect(try await fixture.versions.contents(of: kept) == Data([0xff, 0xfe]))
      try await document.close()
    }
  }

  @Test("CD-38: If no version can be kept, nothing is overwritten, and nothing is lost")
  func noVersions() async throws {
    try await withFixture { fixture in
      // Somebody's file is where the store would be.
      let store = fixture.url("store")
      try fixture.write("no store", to: store)
      let document = try await fixture.open()
      try await document.edit { $0 = "mine" }
      try fixture.write("theirs")
      await #expect { try await document.save() } throws: { ($0 as? DocumentError)?.code == .versionNotKept }
      #expect(try fixture.text() == "theirs")
      #expect(await document.contents == "mine" && document.hasUnsavedChanges)
      #expect(document.state.savingError?.code == .versionNotKept)
      await #expect { try await document.revert() } throws: { ($0 as? DocumentError)?.code == .versionNotKept }
      try FileManager.default.removeItem(at: store)
      try await document.save()
      #expect(try fixture.text() == "mine")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
  }
}
