import FileCoordination
import Foundation
import Testing

@testable import FileVersions

@Suite("Versions that a policy removes while others change the history", .timeLimit(.minutes(4)))
struct PruningTests {
  /// Starts a call that removes versions while the file is claimed, lets something happen when it waits, and returns what it has removed.
  private func pruning(
    _ file: URL, _ fixture: Fixture, by policy: FileVersionRetention, _ body: () async throws -> Void
  ) async throws -> [FileVersion] {
    let coordinator = FileCoordinator(label: "editor", domain: fixture.domain)
    let pruning = try await coordinator.write(file, options: .contentIndependentMetadataOnly) { _ in
      // Otherwise it would be a part of this access.
      let pruning = Task.detached { try await fixture.versions.prune(file, by: policy) }
      try await fixture.domain.waitUntil { $0.accesses.contains { !$0.isGranted } }
      try await body()
      return pruning
    }
    return try await pruning.value
  }

  @Test("F-2: A version of which a conflict was made after the removal had begun stays")
  func parent() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      var versions: [FileVersion] = []
      for text in ["1", "2", "3"] {
        try fixture.write("a", text)
        versions.append(try await fixture.versions.addVersion(of: file))
      }
      let theirs = try fixture.write("b", "theirs")
      let removed = try await pruning(file, fixture, by: FileVersionRetention(countMax: 0)) {
        try await fixture.versions.addVersion(of: file, contentsOf: theirs, isConflict: true, parents: [versions[0].id])
      }
      #expect(removed == [versions[1], versions[2]])
      #expect(try await fixture.texts(file) == ["theirs", "1"])
    }
  }

  @Test("A version that was added after the removal had begun counts")
  func added() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      for text in ["1", "2", "3"] {
        try fixture.write("a", text)
        try await fixture.versions.addVersion(of: file)
      }
      let removed = try await pruning(file, fixture, by: FileVersionRetention(countMax: 2)) {
        try fixture.write("a", "4")
        try await fixture.versions.addVersion(of: file)
      }
      #expect(removed.count == 2)
      #expect(try await fixture.texts(file) == ["4", "3"])
    }
  }

  @Test("More versions than are removed at a time go, oldest first", arguments: [255, 256, 257, 600])
  func batches(count: Int) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      for number in 0..<count {
        try fixture.write("a", "\(number % 7)")
        try await fixture.versions.addVersion(of: file)
      }
      let before = try await fixture.versions.versions(of: file) ?? []
      let removed = try await fixture.versions.prune(file, by: FileVersionRetention(countMax: 1))
      #expect(removed == before.dropFirst().reversed())
      #expect(try await fixture.versions.versions(of: file) == [before[0]])
    }
  }
}
