import FileCoordination
import Foundation
import Testing

@testable import FileVersions

@Suite("Many saves that keep versions", .timeLimit(.minutes(4)))
struct ManySavesTests {
  /// The versions in a store that have no directory.
  private func bareNames(_ fixture: Fixture) -> [String] {
    let items = fixture.root.appending(path: "store/items").path
    let names = FileManager.default.enumerator(atPath: items)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.contains("/bare/") }
  }

  @Test("Their versions have no directories until there are many, or somebody looks at them")
  func directories() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "0")
      let coordinator = FileCoordinator(domain: fixture.domain)
      func save(_ number: Int) async throws {
        try await coordinator.replaceContents(
          of: file, with: Data("\(number)".utf8), keepingVersion: fixture.versions)
      }
      for number in 1..<BackgroundHasher.bareCountMax { try await save(number) }
      await FileVersions.waitForHashes()
      #expect(bareNames(fixture).count == BackgroundHasher.bareCountMax - 1)
      try await save(BackgroundHasher.bareCountMax)
      await FileVersions.waitForHashes()
      #expect(bareNames(fixture) == [])
      try await save(BackgroundHasher.bareCountMax + 1)
      #expect(bareNames(fixture).count == 1)
      let texts = try await fixture.texts(file)
      #expect(texts == (0...BackgroundHasher.bareCountMax).reversed().map { "\($0)" })
      #expect(bareNames(fixture) == [])
    }
  }

  @Test("A version that was announced can be looked at at once")
  func announced() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "old")
      let changes = try fixture.versions.changes(of: file)
      var iterator = changes.makeAsyncIterator()
      _ = try await iterator.next()
      try await FileCoordinator(domain: fixture.domain).replaceContents(
        of: file, with: Data("new".utf8), keepingVersion: fixture.versions)
      guard case .gained(let version)? = try await iterator.next() else {
        Issue.record("no version was announced")
        return
      }
      #expect(try Data(contentsOf: version.url) == Data("old".utf8))
    }
  }
}
