import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Calls of a document: their order, their end, and what they do with its file", .timeLimit(.minutes(8)))
struct CallsAndPlacesTests {
  @Test(
    "CD-40, ND-2, SP-9: A document moves, renames, copies and deletes its file, and stays open until that's deleted")
  func verbs() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "unsaved" }
      try await document.rename(to: "renamed.txt")
      #expect(document.url.lastPathComponent == "renamed.txt")
      #expect(try fixture.names() == ["renamed.txt"])
      #expect(document.hasUnsavedChanges)
      try await document.duplicate(to: fixture.url("copy.txt"))
      #expect(try fixture.text(of: fixture.url("copy.txt")) == "unsaved")
      #expect(!document.hasUnsavedChanges)
      await #expect { try await document.rename(to: "copy.txt") } throws: {
        ($0 as? DocumentError)?.code == .fileExists
      }
      for name in ["", ".", "..", "a/b"] {
        await #expect { try await document.rename(to: name) } throws: { ($0 as? DocumentError)?.code == .invalidName }
      }
      await #expect {
        try await document.duplicate(to: fixture.url("copy.txt"))
      } throws: {
        ($0 as? DocumentError)?.code == .fileExists
      }
      try await document.edit { $0 = "later" }
      // It's still the document that others ask.
      #expect(try await fixture.other.contents(of: document.url) == Data("later".utf8))
      try await document.move(to: fixture.url("copy.txt"), replacing: true)
      #expect(try fixture.names() == ["copy.txt"])
      #expect(try await fixture.other.contents(of: fixture.url("copy.txt")) == Data("later".utf8))
      try await document.delete()
      #expect(document.state.conditions == .closed)
      #expect(try fixture.names() == [])
    }
  }

  @Test("CD-40: A move of which only a later step failed has moved the document, which goes on at the new place")
  func stepAfterMoveFails() async throws {
    let isFull = Guarded(false)
    let files = ScriptedFileSystem { made in
      made.call == .synchronize && isFull.withLock { $0 } ? .fail(SystemError.Number.noSpace.rawValue) : .proceed
    }
    try await withFixture(files) { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "new" }
      isFull.withLock { $0 = true }
      let error = await #expect(throws: DocumentError.self) { try await document.move(to: fixture.url("b.txt")) }
      isFull.withLock { $0 = false }
      #expect(error?.message.contains("in place") == true)
      #expect(document.url == fixture.url("b.txt"))
      try await document.save()
      #expect(try fixture.names() == ["b.txt"] && fixture.text(of: fixture.url("b.txt")) == "new")
      // The former place is free, and the new one is taken.
      try fixture.write("another")
      let another = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await another.open()
      let second = FileDocument(fixture.url("b.txt"), as: .text, options: fixture.options())
      await #expect { try await second.open() } throws: { ($0 as? DocumentError)?.code == .alreadyOpen }
      try await another.close()
      try await document.close()
    }
  }

  @Test("CD-41, ND-2: Contents saved elsewhere are the document's from then on, and the former file stays")
  func savingElsewhere() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      try await document.edit { $0 = "new" }
      try await document.save(as: fixture.url("b.txt"))
      #expect(try fixture.text() == "old")
      #expect(try fixture.text(of: fixture.url("b.txt")) == "new")
      #expect(!document.hasUnsavedChanges && document.url.lastPathComponent == "b.txt")
      await #expect { try await document.save(as: fixture.file) } throws: {
        ($0 as? DocumentError)?.code == .fileExists
      }
      // The former file is nobody's, and what happens to it doesn't concern the document.
      let another = FileDocument(fixture.file, as: .text, options: fixture.options())
      try await another.open()
      try await another.edit { $0 = "other" }
      try await another.close()
      try await document.edit { $0 = "newer" }
      try await document.close()
      #expect(try fixture.text() == "other")
      #expect(try fixture.text(of: fixture.url("b.txt")) == "newer")
    }
  }

  @Test(
    "CD-41: A document isn't saved elsewhere over its own file, which may have another program's text by then",
    arguments: ["note.txt", "link", "other name"])
  func savingElsewhereHere(name: String) async throws {
    try await withFixture { fixture in
      let document = try await fixture.open { $0.observesUncoordinatedChanges = name == "other name" }
      try await document.edit { $0 = "new" }
      try FileManager.default.createSymbolicLink(at: fixture.url("link"), withDestinationURL: fixture.file)
      try FileManager.default.linkItem(at: fixture.file, to: fixture.url("other name"))
      // Written in place, as an editor does that keeps links.
      let file = try FileHandle(forWritingTo: fixture.file)
      try file.write(contentsOf: Data("theirs".utf8))
      try file.close()
      let error = await #expect(throws: DocumentError.self) {
        try await document.save(as: fixture.url(name), replacing: true)
      }
      #expect(error?.code == .fileExists && error?.message.contains("save()") == true)
      #expect(try fixture.text() == "theirs" && document.url == fixture.file)
      try await document.save()
      #expect(try fixture.text() == "new")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
  }

  @Test(
    "CD-28, PP-7: A second document of one item is refused, whatever its path is called; opening again joins the first one"
  )
  func joining() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      let link = fixture.url("link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: fixture.file)
      for url in [fixture.file, link, fixture.root.appending(path: "x/../note.txt")] {
        let second = FileDocument(url, as: .text, options: fixture.options())
        if url.path.contains("x/") {
          try FileManager.default.createDirectory(at: fixture.url("x"), withIntermediateDirectories: false)
        }
        await #expect { try await second.open() } throws: { ($0 as? DocumentError)?.code == .alreadyOpen }
        #expect(second.state.conditions == .closed)
      }
      let joined = try await FileDocument.opened(link, as: .text, options: fixture.options())
      #expect(joined === document)
      try await joined.edit { $0 = "shared" }
      try await joined.close()
      #expect(document.state.conditions == .normal)
      #expect(try fixture.text() == "shared")
      await #expect {
        _ = try await FileDocument.opened(fixture.file, as: .data, options: DocumentOptions(domain: fixture.domain))
      } throws: {
        ($0 as? DocumentError)?.code == .alreadyOpen
      }
      try await document.close()
      #expect(document.state.conditions == .closed)
      // A link is followed: saving doesn't replace it.
      let linked = try await FileDocument.opened(link, as: .text, options: fixture.options())
      #expect(linked !== document)
      try await linked.edit { $0 = "through the link" }
      try await linked.close()
      #expect(try fixture.text() == "through the link")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == fixture.file.path)
    }
  }

  @Test("CD-42, UD-16, ND-5, PP-11: Calls that come while the document opens wait for their turn")
  func order() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      let gate = TestGate()
      async let holding: Void = fixture.other.write(fixture.file) { _ in try await gate.pass() }
      try await gate.waitForArrival()
      async let opening: Void = document.open()
      try await fixture.domain.waitUntil { $0.accesses.contains { !$0.isGranted } }
      async let saving = document.save()
      async let closing = document.close()
      gate.open()
      try await holding
      try await opening
      #expect(try await saving == false)
      #expect(try await closing == false)
      #expect(document.state.conditions == .closed)
    }
  }

  @Test(
    "CD-27, CD-43, ND-5, ND-6, SP-11, PP-10: A call ends when its task is cancelled or its deadline has passed, and the document goes on"
  )
  func ending() async throws {
    try await withFixture { fixture in
      try fixture.write("old")
      let document = FileDocument(fixture.file, as: .text, options: fixture.options())
      let gate = TestGate()
      async let holding: Void = fixture.other.write(fixture.file) { _ in try await gate.pass() }
      try await gate.waitForArrival()
      let cancelled = Task { try await document.open() }
      try await fixture.domain.waitUntil { $0.accesses.contains { !$0.isGranted } }
      cancelled.cancel()
      await #expect { try await cancelled.value } throws: { ($0 as? DocumentError)?.code == .cancelled }
      #expect(document.state.conditions == .closed)
      let late = Task { try await document.open(within: .seconds(5)) }
      try await fixture.domain.waitUntil { $0.accesses.contains { !$0.isGranted } }
      fixture.clock.advance(by: .seconds(5))
      await #expect { try await late.value } throws: { error in
        let error = error as? DocumentError
        return error?.code == .timedOut && error?.message.contains("held for writing by 'other'") == true
      }
      gate.open()
      try await holding
      try await document.open()
      // Waiting for the end of what disables editing has a deadline, too.
      try await document.withEditingDisabled {
        let editing = Task { try await document.edit(within: .seconds(1)) { $0 = "never" } }
        try await fixture.clock.waitForDeadline(within: .seconds(1))
        fixture.clock.advance(by: .seconds(1))
        await #expect { try await editing.value } throws: { ($0 as? DocumentError)?.code == .timedOut }
      }
      #expect(await document.contents == "old")
      try await document.close()
    }
  }

  @Test("A document that nobody uses any more isn't presented, and its file can be opened again")
  func abandoned() async throws {
    try await withFixture { fixture in
      func openAndForget() async throws { _ = try await fixture.open() }
      try await openAndForget()
      while !fixture.domain.presenters.isEmpty { await Task.yield() }
      let document = try await FileDocument.opened(fixture.file, as: .text, options: fixture.options())
      #expect(await document.contents == "old")
      try await document.close()
    }
  }

  @Test("CD-44, UD-8: Values in JSON are documents, and equal values have equal bytes")
  func values() async throws {
    struct List: Codable, Sendable, Equatable { var items: [String: Int] }
    try await withFixture { fixture in
      var options = DocumentOptions<List>(domain: fixture.domain, versions: fixture.versions)
      options.autosave = .never
      let document = FileDocument(fixture.file, as: .json(List.self), options: options)
      try await document.open(creatingWith: List(items: ["a": 1, "b": 2]))
      try await document.edit { $0.items["b"] = nil }
      try await document.close()
      #expect(try JSONDecoder().decode(List.self, from: Data(contentsOf: fixture.file)) == List(items: ["a": 1]))
      let bytes = try Data(contentsOf: fixture.file)
      try await document.open()
      try await document.edit { $0 = List(items: ["a": 1]) }
      try await document.close()
      #expect(try Data(contentsOf: fixture.file) == bytes)
    }
  }
}
