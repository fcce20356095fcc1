import FileCoordination
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

/// A process is killed while it gives a file the contents and the extension of a version, and another one looks at the file.
@Suite("Killed restorations of versions with another extension", .timeLimit(.minutes(8)))
struct RetypingTests {
  private static let done: Int32 = 17
  private static let callCountMax = 1_000

  /// The next call about the file, by one of its names, or by what is around it.
  private enum Next: CaseIterable {
    case old, new, directory, addition

    func perform(_ fixture: Fixture, _ old: URL, _ new: URL) async throws {
      let versions = fixture.versions
      switch self {
      case .old:
        // Without a file by that name there's nothing to look at.
        if try await versions.versions(of: old) == nil { _ = try await versions.versions(of: new) }
      case .new: _ = try await versions.versions(of: new)
      case .directory: _ = try await versions.deletedFiles(below: fixture.root)
      case .addition:
        let isThere = FileManager.default.fileExists(atPath: new.path)
        try await versions.addVersion(of: isThere ? new : old)
      }
    }
  }

  private func prepare(_ fixture: Fixture) async throws -> (old: URL, new: URL) {
    let new = try fixture.write("a.md", "markdown")
    try await fixture.versions.addVersion(of: new)
    let old = fixture.root.appending(path: "a.txt")
    try FileManager.default.moveItem(at: new, to: old)
    try fixture.write("a.txt", "text")
    #expect(try await fixture.texts(old) == ["markdown"])
    return (old, new)
  }

  private static func restore(in root: URL, killedAtCall number: Int) throws {
    let door = ScriptedFileSystem { $0.number == number ? .killProcess : .proceed }
    let fixture = Fixture(root)
    let keeper = VersionKeeper(
      fixture.domain, fixture.storage, fixture.versions.keeper.attributes, files: door
    ) { 2_000_000_000_000_000_000 }
    let (old, new) = (SystemPath(root.path).appending("a.txt"), SystemPath(root.path).appending("a.md"))
    let version = try #require(try keeper.versions(at: old)?.last?.stored)
    try keeper.restore(version, inPlaceOf: old, to: new) { _ in }
    exit(done)
  }

  @Test(
    "CV-18, CV-20: A restoration that's killed at any call leaves the file as it was or restored, for the next call about either name"
  )
  func kills() async throws {
    var (isOver, number) = (false, 1)
    var ends: Set<String> = []
    while !isOver {
      let next = Next.allCases[number % Next.allCases.count]
      try await withFixture { fixture in
        let (old, new) = try await prepare(fixture)
        let root = fixture.root.path
        let result = await #expect(processExitsWith: .failure) {
          [root = root as String, number = number as Int] in
          try Self.restore(in: URL(filePath: root), killedAtCall: number)
        }
        isOver = result?.exitStatus == .exitCode(Self.done)
        if !isOver { #expect(result?.exitStatus == .signal(9)) }
        try await next.perform(fixture, old, new)
        let comment: Comment = "call \(number), then \(next)"
        let names = try FileManager.default.contentsOfDirectory(atPath: root).filter { $0 != "store" }
        #expect(names == ["a.txt"] || names == ["a.md"], comment)
        let file = fixture.root.appending(path: names[0])
        let (text, texts) = (try fixture.text(file), try await fixture.texts(file))
        #expect(text == (names == ["a.md"] ? "markdown" : "text"), comment)
        #expect(Set(texts + [text]) == ["markdown", "text"], comment)
        #expect(try await fixture.versions.deletedFiles(below: fixture.root).isEmpty, comment)
        // A version that was about to be made is removed by the next process.
        let steps = try fixture.steps().filter { step in
          ["saving-", "retyping-", "restoring-", "."].contains { step.hasPrefix($0) }
        }
        #expect(steps == [], comment)
        ends.insert(names[0])
      }
      number += Budget.isLong ? 1 : 9
      #expect(number < Self.callCountMax)
    }
    #expect(ends == ["a.txt", "a.md"])
  }
}
