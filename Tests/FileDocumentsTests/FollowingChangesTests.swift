import FileCoordination
import FileCoordinationTesting
import FileVersions
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Following some attributes of documents", .timeLimit(.minutes(8)))
struct FollowingChangesTests {
  @Test("ND-10: The first element is the present snapshot, and only attributes that were asked for lead to others")
  func filtered() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      var places = document.changes(of: .place).makeAsyncIterator()
      let first = try #require(await places.next())
      #expect(first.attributes == .place && first.snapshot.url == document.url)
      try await document.edit { $0 = "new" }
      try await document.save()
      try await document.move(to: fixture.url("moved.txt"))
      // Neither the edit nor the save has led to an element.
      let second = try #require(await places.next())
      #expect(second.attributes == .place && second.snapshot.url.lastPathComponent == "moved.txt")
      try await document.close()
      let third = try #require(await places.next())
      #expect(third.attributes == .place && third.snapshot.state.conditions == .closed)
    }
  }

  @Test("ND-10: Changes that nobody waits for are one element, with all attributes and the latest snapshot")
  func puttingTogether() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      var changes = document.changes(of: [.contents, .unsavedChanges, .place, .modificationDate]).makeAsyncIterator()
      _ = await changes.next()
      try await document.edit { $0 = "a" }
      try await document.edit { $0 = "b" }
      try await document.save()
      try await document.rename(to: "b.txt")
      let change = try #require(await changes.next())
      // Unsaved changes came and went.
      #expect(change.attributes.isSuperset(of: [.contents, .unsavedChanges, .place]))
      #expect(!change.snapshot.state.hasUnsavedChanges && change.snapshot.url.lastPathComponent == "b.txt")
      #expect(change.snapshot.state.revision == document.state.revision)
      try await document.close()
    }
  }

  @Test("ND-10: No change is lost between the first element and those after it, also beside edits on other threads")
  func withoutGap() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("")
      let editing = Task { for number in 0..<500 { try await document.edit { $0 = "\(number)" } } }
      // Readers that join at any moment all reach the last revision, one element after the other.
      let readers = (0..<8).map { _ in
        Task {
          var last: UInt64 = 0
          for await change in document.changes(of: .contents) {
            #expect(change.attributes == .contents && (last == 0 || change.snapshot.state.revision > last))
            last = change.snapshot.state.revision
            if last == 501 { return true }
          }
          return false
        }
      }
      try await editing.value
      for reader in readers { #expect(await reader.value) }
      try await document.close()
    }
  }

  @Test("ND-10: A reader ends with its task, with nil, and when the document is gone")
  func ending() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      let changes = document.changes(of: .undo)
      let reader = Task {
        var count = 0
        for await _ in changes { count += 1 }
        return count
      }
      reader.cancel()
      #expect(await reader.value <= 1)
      var iterator = changes.makeAsyncIterator()
      #expect(await iterator.next() == nil)
      try await document.close()
      var orphan = Self.changesOfForgottenDocument(fixture).makeAsyncIterator()
      #expect(await orphan.next()?.snapshot.state.conditions == .closed)
      #expect(await orphan.next() == nil)
    }
  }

  private static func changesOfForgottenDocument(_ fixture: Fixture) -> DocumentChanges {
    FileDocument(fixture.file, as: .text, options: fixture.options()).changes(of: .all)
  }

  @Test("ND-10: Versions that others add, permissions and obstacles are attributes of their own")
  func others() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      var versions = document.changes(of: .versions).makeAsyncIterator()
      var permissions = document.changes(of: .permissions).makeAsyncIterator()
      var editing = document.changes(of: .editing).makeAsyncIterator()
      _ = await (versions.next(), permissions.next(), editing.next())
      let other = fixture.url("other.txt")
      try fixture.write("other", to: other)
      _ = try await fixture.versions.addVersion(of: fixture.file, contentsOf: other)
      let added = try #require(await versions.next())
      #expect(added.attributes == .versions && added.snapshot.versionsRevision == 1)
      try await document.lock()
      #expect(await permissions.next()?.snapshot.isLocked == true)
      #expect(await editing.next()?.snapshot.state.editingObstacles.contains(.locked) == true)
      try await document.close()
    }
  }

  @Test("ND-10: Each attribute names what differs in the snapshot, and nothing else", arguments: Self.differences)
  func comparison(difference: Difference) {
    let former = DocumentSnapshot(state: DocumentState(), url: URL(filePath: "/a"))
    var snapshot = former
    difference.change(&snapshot)
    #expect(snapshot.attributes(otherThanIn: former, among: .all) == difference.attributes)
    let others = DocumentAttributes.all.subtracting(difference.attributes)
    #expect(snapshot.attributes(otherThanIn: former, among: others) == [])
    #expect(snapshot.attributes(otherThanIn: snapshot, among: .all) == [])
  }

  struct Difference: Sendable {
    let attributes: DocumentAttributes
    let change: @Sendable (inout DocumentSnapshot) -> Void
  }

  static let differences: [Difference] = [
    Difference(attributes: .contents) { $0.state.revision = 2 },
    Difference(attributes: .unsavedChanges) { $0.state.hasUnsavedChanges = true },
    Difference(attributes: .place) { $0.url = URL(filePath: "/b") },
    Difference(attributes: .place) { $0.state.conditions = .deleted },
    Difference(attributes: .modificationDate) { $0.fileModificationDate = Date() },
    Difference(attributes: .permissions) { $0.isWritable = false },
    Difference(attributes: [.permissions, .editing]) { $0.state.editingObstacles = [.closed, .locked] },
    Difference(attributes: .versions) { $0.versionsRevision = 1 },
    Difference(attributes: .versions) { $0.state.conditions.insert(.inConflict) },
    Difference(attributes: .errors) { $0.state.savingError = .timedOut },
    Difference(attributes: .errors) { $0.state.journalError = .timedOut },
    Difference(attributes: .editing) { $0.state.editingObstacles = .lease },
    Difference(attributes: .undo) { $0.canRedo = true },
    Difference(attributes: .progress) {
      $0.progress = DocumentProgress(activity: .reading, completedByteCount: 0, totalByteCount: 1)
    },
    Difference(attributes: .recoveries) { $0.state.conditions.insert(.recoverable) },
    Difference(attributes: .draft) { $0.isDraft = true },
  ]
}
