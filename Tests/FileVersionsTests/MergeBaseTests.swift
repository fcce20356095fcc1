import FileCoordination
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

private let copyName = "a.sync-conflict-20260102-030405-ABCDEFG.txt"

@Suite("The text that most likely came first")
struct LikelyBaseTests {
  private func choice(_ sides: [String], _ candidates: [String]) -> Int? {
    var base = LikelyBase(sides: sides.map { Array($0.utf8) })
    for (number, text) in candidates.enumerated() { base.look(at: Array(text.utf8), number: number) }
    return base.choice
  }

  @Test("CV-40: A version that one side doesn't continue isn't chosen, though it's newer")
  func unsynchronized() {
    // Kept after the first of two edits here, neither of which the other side has.
    let here = "A\nb\nC\n", there = "a\nB\nc\n"
    #expect(choice([there, here], ["A\nb\nc\n", "a\nb\nc\n"]) == 1)
    #expect(choice([here, there], ["A\nb\nc\n", "a\nb\nc\n"]) == 1)
    // Both continue it.
    #expect(choice(["A\nB\nc\n", "A\nb\nC\n"], ["A\nb\nc\n", "a\nb\nc\n", "a\n"]) == 0)
  }

  @Test("CV-40: Of several that are as near, the oldest is chosen; without any, none")
  func ties() {
    #expect(choice(["x\n", "y\n"], ["1\n", "2\n", "3\n"]) == 2)
    #expect(choice(["x\n", "y\n"], []) == nil)
    // How often a line is there counts as well.
    #expect(choice(["a\na\na\nx\n", "a\na\na\ny\n"], ["a\na\na\n", "a\n"]) == 0)
  }
}

@Suite("The base of a merge", .timeLimit(.minutes(4)))
struct MergeBaseChoiceTests {
  private static let lines = (1...12).map { "line \($0)\n" }

  private func text(_ changes: [Int: String]) -> String {
    Self.lines.enumerated().map { changes[$0.offset] ?? $0.element }.joined()
  }

  private func base(_ sandbox: ConflictCopySandbox) async throws -> FileVersion? {
    nonisolated(unsafe) var base: FileVersion?
    let isConflict = try await sandbox.versions.resolve(at: sandbox.url("a.txt")) { conflict in
      base = try await conflict.mergeBase()
      return .current
    }
    #expect(isConflict)
    return base
  }

  @Test("CV-40: Without a base that was kept, a merge begins with the version from which both texts were made")
  func merging() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", text([:]))
      let common = try await sandbox.versions.addVersion(of: file)
      // Two edits that no other device has, each of which is kept.
      try sandbox.write("a.txt", text([0: "ours\n"]))
      try await sandbox.versions.addVersion(of: file)
      try sandbox.write("a.txt", text([0: "ours\n", 11: "ours, too\n"]))
      try await sandbox.versions.addVersion(of: file)
      try sandbox.write(copyName, text([5: "theirs\n"]))
      let merged = Received()
      try await sandbox.versions.resolve(at: file) { conflict in
        let base = try #require(try await conflict.mergeBase())
        #expect(base == common && conflict.base == nil)
        // A merge that begins with nothing has conflicts.
        #expect(try await merge(conflict, nil, sandbox).status != 0)
        let (status, result) = try await merge(conflict, base, sandbox)
        #expect(status == 0)
        await merged.set(sandbox.url("a.txt"))
        return .merged(result)
      }
      #expect(await merged.url != nil)
      #expect(try sandbox.text("a.txt") == text([0: "ours\n", 5: "theirs\n", 11: "ours, too\n"]))
      #expect(try sandbox.names() == ["a.txt"])
    }
  }

  /// Runs `git merge-file` on verified contents.
  private func merge(
    _ conflict: FileConflict, _ base: FileVersion?, _ sandbox: ConflictCopySandbox
  ) async throws -> (status: Int32, result: Data) {
    let folder = sandbox.root.appending("merge-\(UUID())").description
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let (mine, common, theirs) = (folder + "/mine", folder + "/base", folder + "/theirs")
    try await conflict.contents(of: conflict.current).write(to: URL(filePath: mine))
    var text = Data()
    if let base { text = try await conflict.contents(of: base) }
    try text.write(to: URL(filePath: common))
    try await conflict.contents(of: conflict.others[0]).write(to: URL(filePath: theirs))
    let git = try Process.run(
      URL(filePath: "/usr/bin/env"), arguments: ["git", "merge-file", "-q", mine, common, theirs])
    git.waitUntilExit()
    return (git.terminationStatus, try Data(contentsOf: URL(filePath: mine)))
  }

  @Test("CV-36: A base that was kept counts, and not a version that's more like the texts")
  func keptBase() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "1\n")
      let base = try await sandbox.versions.addBase(of: file)
      try sandbox.write("a.txt", "1\n2\n")
      try await sandbox.versions.addVersion(of: file)
      try sandbox.write("a.txt", "1\n2\nmine\n")
      try sandbox.write(copyName, "1\n2\ntheirs\n")
      #expect(try await self.base(sandbox) == base)
    }
  }

  @Test("CV-40: Versions of later than one of the texts, with the contents of one, or damaged, are no base")
  func unfit() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "0\n")
      let damaged = try await sandbox.versions.addVersion(of: file)
      try sandbox.write("a.txt", "mine\n")
      try await sandbox.versions.addVersion(of: file)
      let source = try sandbox.write("later", "later\n")
      try FileManager.default.setAttributes([.modificationDate: Date.distantFuture], ofItemAtPath: source.path)
      try await sandbox.versions.addVersion(of: file, contentsOf: source, byMoving: true)
      try sandbox.write(copyName, "theirs\n")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: damaged.url.path)
      let handle = try FileHandle(forWritingTo: damaged.url)
      try handle.write(contentsOf: Data("X".utf8))
      try handle.close()
      #expect(try await self.base(sandbox) == nil)
    }
  }

  @Test("CV-40: Without a version from before the conflict, and for packages, there's no base")
  func none() async throws {
    try await withConflictCopies { sandbox in
      try sandbox.write("a.txt", "mine\n")
      try sandbox.write(copyName, "theirs\n")
      #expect(try await self.base(sandbox) == nil)
    }
    try await withConflictCopies { sandbox in
      try sandbox.write("a.txt/t", "1")
      try await sandbox.versions.addVersion(of: sandbox.url("a.txt"))
      try sandbox.write("a.txt/t", "mine")
      try sandbox.write(copyName + "/t", "theirs")
      #expect(try await self.base(sandbox) == nil)
    }
  }

  @Test("CV-40: Beyond the limits of versions and bytes there's a choice only if no older one can be better")
  func limits() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "0\n")
      var kept: [FileVersion] = []
      for number in 1...3 {
        try sandbox.write("a.txt", (1...number).map { "\($0)\n" }.joined())
        kept.append(try await sandbox.versions.addVersion(of: file))
      }
      // Both continue the oldest one.
      try sandbox.write("a.txt", "1\nx\n")
      try sandbox.write(copyName, "1\ny\n")
      let keeper = sandbox.versions.keeper
      let conflict = try #require(
        try keeper.conflict(at: sandbox.path("a.txt"), sandbox.versions, copies: [sandbox.path(copyName)]))
      // Sides of 4 bytes each, candidates of 6, 4 and 2 bytes.
      let needed: Int64 = 4 + 4 + 6 + 4 + 2
      #expect(try conflict.likelyBase(keeper, countMax: 3, byteCountMax: needed) == kept[0])
      #expect(try conflict.likelyBase(keeper, countMax: 2, byteCountMax: needed) == nil)
      #expect(try conflict.likelyBase(keeper, countMax: 3, byteCountMax: needed - 1) == nil)
      #expect(try conflict.likelyBase(keeper, countMax: 3, byteCountMax: 7) == nil)
      // Both continue the newest one: an older one isn't looked at, and isn't better.
      try sandbox.write("a.txt", "1\n2\n3\nx\n")
      try sandbox.write(copyName, "1\n2\n3\ny\n")
      let second = try #require(
        try keeper.conflict(at: sandbox.path("a.txt"), sandbox.versions, copies: [sandbox.path(copyName)]))
      #expect(try second.likelyBase(keeper, countMax: 2, byteCountMax: 1_000) == kept[2])
      #expect(try second.likelyBase(keeper, countMax: 1, byteCountMax: 1_000) == nil)
    }
  }
}

@Suite("The text that was changed last", .timeLimit(.minutes(4)))
struct NewestTextTests {
  private func newest(_ fixture: Fixture, _ file: URL) async throws -> FileResolution {
    let keeper = fixture.versions.keeper
    return .newest(of: try #require(try keeper.conflict(at: keeper.path(of: file), fixture.versions)))
  }

  private func add(
    _ text: String, _ date: TimeInterval, to file: URL, parents: [FileVersion.ID] = [], _ fixture: Fixture
  ) async throws -> FileVersion {
    let source = try fixture.write("source", text)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: date)], ofItemAtPath: source.path)
    return try await fixture.versions.addVersion(
      of: file, contentsOf: source, byMoving: true, isConflict: true, parents: parents)
  }

  private func date(_ file: URL, _ date: TimeInterval) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: date)], ofItemAtPath: file.path)
  }

  @Test("CV-41: By date the latest text wins; of the same date the present one, and then the one that was kept last")
  func dates() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      try date(file, 1_000)
      let first = try await add("theirs", 1_000, to: file, fixture)
      #expect(try await newest(fixture, file) == .current)
      let second = try await add("hers", 2_000, to: file, fixture)
      #expect(try await newest(fixture, file) == .version(second))
      let third = try await add("his", 2_000, to: file, fixture)
      #expect(third.id > second.id)
      #expect(try await newest(fixture, file) == .version(third))
      try date(file, 2_000)
      #expect(try await newest(fixture, file) == .current)
      #expect(first.isConflict)
    }
  }

  @Test("CV-41: A text from which another one was made doesn't win by its date")
  func parents() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      let mine = try await fixture.versions.addVersion(of: file)
      try date(file, 500)
      // The clock of the other device was ahead when it wrote the first one.
      let first = try await add("theirs", 9_000, to: file, fixture)
      let second = try await add("theirs, later", 1_000, to: file, parents: [first.id], fixture)
      #expect(try await newest(fixture, file) == .version(second))
      // Over several generations.
      let third = try await add("theirs, at last", 900, to: file, parents: [second.id], fixture)
      #expect(try await newest(fixture, file) == .version(third))
      #expect(mine.id < first.id)
    }
  }
}
