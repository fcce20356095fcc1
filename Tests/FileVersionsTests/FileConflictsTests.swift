import FileCoordination
import FileVersions
import Foundation
import SystemInterface
import Testing

private let copyName = "a.sync-conflict-20260102-030405-ABCDEFG.txt"

@Suite("The conflicts in a directory", .timeLimit(.minutes(2)))
struct FileConflictsTests {
  /// A change, in short: a name below the directory, and how many copies and stored conflicts there are.
  private func text(_ change: FileConflictUpdate.Change, _ sandbox: ConflictCopySandbox) -> String {
    func name(_ path: SystemPath) -> String {
      SystemPath(bytes: path.bytes.dropFirst(sandbox.path("").bytes.count)).description.trimmingCharacters(in: ["/"])
    }
    switch change {
    case .appeared(let file): return "+ \(name(file.path)) \(file.copies.count) \(file.storedConflictCount)"
    case .changed(let file): return "~ \(name(file.path)) \(file.copies.count) \(file.storedConflictCount)"
    case .ended(let path): return "- \(name(path))"
    }
  }

  /// Reads updates until one of them reports something; other reports may come before it.
  private func read(
    _ iterator: inout FileConflicts.Iterator, _ sandbox: ConflictCopySandbox, until expected: String
  ) async throws -> FileConflictUpdate {
    while let update = try await iterator.next() {
      if update.changes.map({ text($0, sandbox) }).contains(expected) { return update }
    }
    throw CancellationError()
  }

  @Test("CV-35: First all that there is, and then what comes, goes and moves, by any program")
  func live() async throws {
    try await withConflictCopies { sandbox in
      try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      try sandbox.write("in/b.txt.conflict1", "no file of it")
      var iterator = sandbox.versions.conflicts(in: sandbox.directory).makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.changes.map { text($0, sandbox) } == ["+ a.txt 1 0"])
      #expect(first.conflicts.map(\.url) == [sandbox.url("a.txt")])
      #expect(first.conflicts.first?.copyURLs == [sandbox.url(copyName)])
      try sandbox.write("in/b.txt", "now there's one")
      let second = try await read(&iterator, sandbox, until: "+ in/b.txt 1 0")
      #expect(second.conflicts.map(\.path) == [sandbox.path("a.txt"), sandbox.path("in/b.txt")])
      try sandbox.write("in/b (Jane's conflicted copy 2026-01-02).txt", "one more")
      _ = try await read(&iterator, sandbox, until: "~ in/b.txt 2 0")
      let manager = FileManager.default
      try manager.moveItem(at: sandbox.url("in"), to: sandbox.url("out"))
      let moved = try await read(&iterator, sandbox, until: "+ out/b.txt 2 0")
      #expect(moved.conflicts.map(\.path) == [sandbox.path("a.txt"), sandbox.path("out/b.txt")])
      try sandbox.remove("a.txt")
      _ = try await read(&iterator, sandbox, until: "- a.txt")
      try manager.moveItem(at: sandbox.url(copyName), to: sandbox.url("a.txt"))
      try sandbox.remove("out")
      let last = try await read(&iterator, sandbox, until: "- out/b.txt")
      #expect(last.conflicts == [])
    }
  }

  @Test("CV-35: Conflicts in the store are listed, and come and go with the versions")
  func stored() async throws {
    try await withConflictCopies { sandbox in
      let (a, b) = (try sandbox.write("a.txt", "mine"), try sandbox.write("in/b.txt", "mine"))
      let source = try sandbox.write("source", "theirs")
      try await sandbox.versions.addVersion(of: a, contentsOf: source, isConflict: true)
      try await sandbox.versions.addVersion(of: b, contentsOf: source)
      let conflicts = sandbox.versions.conflicts(in: sandbox.directory)
      #expect(try await conflicts.snapshot().map(\.path) == [sandbox.path("a.txt")])
      var iterator = conflicts.makeAsyncIterator()
      _ = try await read(&iterator, sandbox, until: "+ a.txt 0 1")
      try await sandbox.versions.addVersion(of: b, contentsOf: source, isConflict: true)
      _ = try await read(&iterator, sandbox, until: "+ in/b.txt 0 1")
      try FileManager.default.moveItem(at: b, to: sandbox.url("c.txt"))
      _ = try await read(&iterator, sandbox, until: "+ c.txt 0 1")
      try sandbox.write(copyName, "hers")
      _ = try await read(&iterator, sandbox, until: "~ a.txt 1 1")
      try await sandbox.versions.resolve(at: a) { _ in .current }
      _ = try await read(&iterator, sandbox, until: "- a.txt")
      try await sandbox.versions.resolve(at: sandbox.url("c.txt")) { _ in .current }
      let last = try await read(&iterator, sandbox, until: "- c.txt")
      #expect(last.conflicts == [])
    }
  }

  @Test("CV-35: Without engines only conflicts in the store are listed, and directories may be left out")
  func scope() async throws {
    try await withConflictCopies([]) { sandbox in
      try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      #expect(try await sandbox.versions.conflicts(in: sandbox.directory).snapshot() == [])
    }
    try await withConflictCopies { sandbox in
      for place in ["x", "out/x", ".stversions/x", "git/x"] {
        try sandbox.write("\(place)/a.txt", "mine")
        try sandbox.write("\(place)/\(copyName)", "theirs")
      }
      let conflicts = sandbox.versions.conflicts(in: sandbox.directory, unenteredNames: ["gi*"])
      #expect(try await conflicts.snapshot().map(\.path) == ["out/x/a.txt", "x/a.txt"].map { sandbox.path($0) })
      #expect(try await sandbox.versions.conflicts(in: sandbox.url("none")).snapshot() == [])
    }
  }

  @Test("CV-35: A copy of a copy belongs to the file as soon as there's one")
  func copiesOfCopies() async throws {
    try await withConflictCopies { sandbox in
      try sandbox.write("a.txt.conflict1", "theirs")
      try sandbox.write("a.txt.conflict1.conflict1", "theirs, too")
      var iterator = sandbox.versions.conflicts(in: sandbox.directory).makeAsyncIterator()
      _ = try await read(&iterator, sandbox, until: "+ a.txt.conflict1 1 0")
      try sandbox.write("a.txt", "mine")
      let update = try await read(&iterator, sandbox, until: "+ a.txt 2 0")
      #expect(update.conflicts.count == 1)
      try sandbox.remove("a.txt.conflict1")
      _ = try await read(&iterator, sandbox, until: "~ a.txt 1 0")
    }
  }

  @Test(
    "CV-35: Conflicts in the store stay with the file when an engine renames it to the copy", arguments: [false, true])
  func renamedByEngine(looksInBetween: Bool) async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("b.txt", "mine")
      let source = try sandbox.write("source", "theirs")
      try await sandbox.versions.addVersion(of: file, contentsOf: source, isConflict: true)
      let link = sandbox.url("../link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: sandbox.directory)
      var iterator = sandbox.versions.conflicts(in: link).makeAsyncIterator()
      _ = try await read(&iterator, sandbox, until: "+ b.txt 0 1")
      try FileManager.default.moveItem(at: file, to: sandbox.url("b (Jane's conflicted copy 2026-01-02).txt"))
      // Somebody looks at the moment at which there's no file.
      if looksInBetween { _ = try await read(&iterator, sandbox, until: "- b.txt") }
      try sandbox.write("b.txt", "won")
      var last = try #require(try await iterator.next())
      while last.conflicts.map(\.copies.count) != [1] { last = try #require(try await iterator.next()) }
      #expect(last.conflicts.map(\.path) == [sandbox.path("b.txt")])
      #expect(try await sandbox.conflictTexts("b.txt").count == 2)
      #expect(try await sandbox.versions.conflicts(in: sandbox.directory).snapshot().map(\.storedConflictCount) == [1])
    }
  }

  @Test("CV-35: A cancelled task ends its sequence")
  func cancelling() async throws {
    try await withConflictCopies { sandbox in
      let conflicts = sandbox.versions.conflicts(in: sandbox.directory)
      let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        var count = 0
        for try await _ in conflicts {
          count += 1
          beginning.yield()
        }
        return count
      }
      for await _ in begun { break }
      task.cancel()
      let count = try await task.value
      #expect(count == 1)
    }
  }
}
