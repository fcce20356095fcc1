import FileCoordination
import Foundation
import Testing

@testable import FileVersions

@Suite("Changes of versions", .timeLimit(.minutes(4)))
struct FileVersionChangesTests {
  @Test("FV-25: The list, and then each change of it, also by others and after a move")
  func changes() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let others = FileVersions(domain: fixture.domain, storage: fixture.storage, deviceName: "other")
      let first = try await others.addVersion(of: file)
      var updates = try fixture.versions.changes(of: file).makeAsyncIterator()
      #expect(try await updates.next() == .versions([first]))
      let second = try await others.addVersion(of: file, isConflict: true)
      #expect(try await updates.next() == .gained(second))
      try await others.markResolved(second, of: file)
      guard case .resolved(let resolved) = try await updates.next() else {
        Issue.record("not resolved")
        return
      }
      #expect(resolved == second && resolved.isResolved)
      let moved = fixture.root.appending(path: "b")
      try await FileCoordinator(domain: fixture.domain).move(file, to: moved)
      #expect(try await updates.next() == .moved(to: moved))
      try await others.remove(first, of: moved)
      #expect(try await updates.next() == .lost(first))
    }
  }

  @Test("A version that was added and removed before a look is no change; the deletion of the file loses its versions")
  func coalesced() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let kept = try await fixture.versions.addVersion(of: file)
      var updates = try fixture.versions.changes(of: file).makeAsyncIterator()
      #expect(try await updates.next() == .versions([kept]))
      let brief = try await fixture.versions.addVersion(of: file)
      try await fixture.versions.remove(brief, of: file)
      let last = try await fixture.versions.addVersion(of: file)
      #expect(try await updates.next() == .gained(last))
      try await FileCoordinator(domain: fixture.domain).delete(file)
      #expect(try await updates.next() == .lost(kept))
      #expect(try await updates.next() == .lost(last))
    }
  }

  @Test("FV-24, CV-10: Events of a directory name each file and its version, those of strangers don't")
  func events() async throws {
    try await withFixture { fixture in
      let (file, other) = (try fixture.write("a", "1"), try fixture.write("b", "2"))
      var events = try fixture.versions.events(at: fixture.root).makeAsyncIterator()
      let version = try await fixture.versions.addVersion(of: file)
      var event = try #require(await events.next())
      #expect(event.change == .gained && event.url == file && event.version == version)
      #expect(event.origin.label == "file versions")
      try await FileCoordinator(domain: fixture.domain).write(other) { $0.didChangeVersion(.gained, version: "mine") }
      try await fixture.versions.remove(version, of: file)
      event = try #require(await events.next())
      #expect(event.change == .lost && event.id == version.id && event.version == nil)
      try await FileCoordinator(domain: fixture.domain)
        .replaceContents(of: other, with: Data(), keepingVersion: fixture.versions)
      event = try #require(await events.next())
      #expect(event.change == .gained && event.url == other && event.version?.size == 1)
    }
  }
}
