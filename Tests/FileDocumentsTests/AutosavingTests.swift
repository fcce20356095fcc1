import FileCoordination
import FileCoordinationTesting
import Foundation
import Observation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Documents that save by themselves", .timeLimit(.minutes(8)))
struct AutosavingTests {
  private static let policy = AutosavePolicy(interval: .seconds(10), idleTime: .seconds(2))

  /// Waits until the timer of an autosave is armed, and lets the time come.
  private func pass(_ duration: Duration, _ fixture: Fixture) { fixture.clock.advance(by: duration) }

  @Test("CD-34, UD-13: It saves when nothing was edited for a while")
  func idle() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old", .text, Self.policy)
      try await document.edit { $0 = "a" }
      pass(.seconds(1), fixture)
      try await document.edit { $0 = "ab" }
      // The timer of the first edit fires, and is armed anew for the second one.
      pass(.seconds(1), fixture)
      try await fixture.clock.waitForDeadline(within: .seconds(1))
      #expect(try fixture.text() == "old")
      pass(.seconds(1), fixture)
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "ab")
      try await document.close()
    }
  }

  @Test("CD-34, UD-13: It saves during continuous work as well")
  func interval() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("", .text, AutosavePolicy(interval: .seconds(10)))
      for _ in 0..<10 {
        try await document.edit { $0 += "x" }
        pass(.milliseconds(999), fixture)
      }
      #expect(document.hasUnsavedChanges)
      pass(.milliseconds(10), fixture)
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "xxxxxxxxxx")
      try await document.close()
    }
  }

  @Test("CD-34, UD-13: It saves when much was edited")
  func size() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("", .text, AutosavePolicy(sizeMax: 100))
      try await document.edit(size: 60) { $0 = "sixty" }
      #expect(document.hasUnsavedChanges)
      try await document.edit(size: 40) { $0 = "hundred" }
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "hundred")
      try await document.close()
    }
  }

  @Test("CD-34: An autosave that fails is repeated after the same time")
  func failing() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format, Self.policy)
      format.refusesWriting.add(1)
      try await document.edit { $0 = "new" }
      pass(.seconds(2), fixture)
      try await document.waitUntil { $0.state.conditions == .savingError }
      format.refusesWriting.add(-1)
      try await fixture.clock.waitForDeadline(within: .seconds(2))
      pass(.seconds(2), fixture)
      try await document.waitUntil { $0.state.conditions == .normal && !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "new")
      try await document.close()
    }
  }

  @Test("CD-08: When the time has come and nothing is unsaved, nothing is written")
  func nothing() async throws {
    try await withFixture { fixture in
      let format = GatedFormat()
      let document = try await fixture.open("old", format, Self.policy)
      try await document.edit { $0 = "new" }
      try await document.edit(.undone) { $0 = "old" }
      #expect(!document.hasUnsavedChanges)
      pass(.seconds(60), fixture)
      #expect(try await document.close() == false)
      #expect(format.writing.value == 0)
    }
  }

  @Test("CD-10: An edit that's taken back leaves nothing unsaved; one after a save does")
  func undo() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "new" }
      #expect(document.hasUnsavedChanges)
      try await document.edit(.undone) { $0 = "old" }
      #expect(!document.hasUnsavedChanges)
      try await document.edit(.redone) { $0 = "new" }
      try await document.save()
      #expect(!document.hasUnsavedChanges)
      let token = await document.editToken
      try await document.edit(.undone) { $0 = "old" }
      #expect(document.hasUnsavedChanges)
      await document.noteSaved(token)
      #expect(document.hasUnsavedChanges)
      try await document.edit(.cleared) { _ in }
      #expect(!document.hasUnsavedChanges)
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }

  @Test("CD-33, ND-6: An edit never waits for an autosave, and closing saves what was edited meanwhile")
  func editingDuringAutosave() async throws {
    try await withFixture { fixture in
      let gate = TestGate()
      let document = try await fixture.open("old", GatedFormat(gate: gate), Self.policy)
      try await document.edit { $0 = "a" }
      pass(.seconds(2), fixture)
      try await gate.waitForArrival()
      try await document.edit { $0 = "ab" }
      let closing = Task { try await document.close() }
      // While it closes nothing is edited, so that no save is the last but one.
      try await document.waitUntil { $0.state.editingObstacles == .closing }
      gate.open()
      #expect(try await closing.value)
      #expect(try fixture.text() == "ab")
    }
  }

  @Test("CD-35, UD-4: Observers of a document are told of each change")
  func observation() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      let timeline = EventTimeline()
      withObservationTracking {
        _ = document.hasUnsavedChanges
      } onChange: {
        timeline.note("changed")
      }
      try await document.edit { $0 = "new" }
      try await timeline.wait(for: "changed")
      try await document.close()
    }
  }

  @Test(
    "CD-39, UD-12: Nothing is edited while the program has disabled that, and editing goes on afterwards, also after an error"
  )
  func leases() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      struct Stop: Error {}
      await #expect(throws: Stop.self) {
        try await document.withEditingDisabled {
          #expect(document.state.editingObstacles == .lease)
          #expect(await document.assumeRefused())
          throw Stop()
        }
      }
      #expect(document.state.editingObstacles.isEmpty)
      try await document.edit { $0 = "new" }
      try await document.close()
    }
  }
}
