import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

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
      #expect(event.change == .lost && event.id == version.id && event.version?.id == version.id)
      #expect(try await fixture.versions.contents(of: #require(event.version)) == Data("1".utf8))
      try await FileCoordinator(domain: fixture.domain)
        .replaceContents(of: other, with: Data(), keepingVersion: fixture.versions)
      event = try #require(await events.next())
      #expect(event.change == .gained && event.url == other && event.version?.size == 1)
    }
  }

  @Test("FV-24, CV-10: A version that's removed for good is lost without anything that could be read")
  func lostForGood() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let versions = FileVersions(domain: fixture.domain, storage: fixture.storage, removalWindow: .zero)
      let version = try await versions.addVersion(of: file)
      var events = try versions.events(at: fixture.root).makeAsyncIterator()
      try await versions.remove(version, of: file)
      let event = try #require(await events.next())
      #expect(event.change == .lost && event.id == version.id && event.version == nil)
    }
  }

  @Test("FV-24, CV-10: Presenters of the directory lose the versions of a deleted file when these are removed")
  func deletedFile() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let first = try await fixture.versions.addVersion(of: file)
      try fixture.write("a", "2")
      let second = try await fixture.versions.addVersion(of: file)
      try FileManager.default.removeItem(at: file)
      let deleted = try #require(try await fixture.versions.deletedFile(at: file))
      var events = try fixture.versions.events(at: fixture.root).makeAsyncIterator()
      try await fixture.versions.removeVersions(of: deleted)
      var lost: Set<FileVersion.ID> = []
      for _ in 0..<2 {
        let event = try #require(await events.next())
        #expect(event.change == .lost && event.url == file && event.version == nil)
        lost.insert(event.id)
      }
      #expect(lost == [first.id, second.id])
    }
  }

  @Test("FV-24, CV-10: Presenters hear of a resolution that another process has begun, and the next look completes")
  func completedResolution() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      let theirs = try fixture.write("b", "theirs")
      let kept = try await fixture.versions.addVersion(of: file, contentsOf: theirs, isConflict: true)
      let merged = try await fixture.versions.addVersion(of: file, contentsOf: theirs, isConflict: true)
      // The state after the result was written by a process that was killed then.
      let (path, item) = (SystemPath(file.path), kept.id.item)
      let store = try fixture.versions.keeper.store(for: path)
      let resolution = ConflictResolution(
        result: try #require(try store.contents(ofItemAt: path)?.hash),
        resolved: [kept, merged].compactMap(\.id.version), removed: [merged].compactMap(\.id.version), time: 7)
      try store.write(resolution.record, to: store.layout.resolution(of: item))
      var events = try fixture.versions.events(at: fixture.root).makeAsyncIterator()
      #expect(try await fixture.versions.versions(of: file)?.map(\.id) == [kept.id])
      var changes: [String] = []
      for _ in 0..<3 {
        let event = try #require(await events.next())
        changes.append("\(event.change) \(event.id == kept.id ? "kept" : "merged")")
      }
      #expect(changes == ["resolved kept", "resolved merged", "lost merged"])
      // It's announced once.
      _ = try await fixture.versions.versions(of: file)
      let last = try await fixture.versions.addVersion(of: file)
      #expect(await events.next()?.id == last.id)
    }
  }
}
