import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

@Suite("Documents whose own text is in the file already, or doesn't belong there", .timeLimit(.minutes(8)))
struct OwnTextTests {
  // MARK: - Text that the program has written by itself

  @Test("CD-07: Text that the program has written by itself, and said so, isn't a conflict after further edits")
  func writtenByProgram() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      _ = try await document.edit { $0 = "first" }
      let token = await document.editToken
      try fixture.write("first")
      await document.noteSaved(token)
      #expect(!document.hasUnsavedChanges)
      _ = try await document.edit { $0 = "second" }
      #expect(try await document.save())
      #expect(try fixture.text() == "second")
      #expect(document.state.conditions == .normal)
      #expect(try await fixture.versions.unresolvedConflicts(of: fixture.file)?.isEmpty == true)
      // The text of another program is one as before.
      _ = try await document.edit { $0 = "third" }
      try fixture.write("theirs")
      try await document.save()
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
  }

  @Test("CD-07: A file that hasn't the text which the program says to have written is a conflict as before")
  func notWrittenByProgram() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      _ = try await document.edit { $0 = "first" }
      let token = await document.editToken
      try fixture.write("theirs")
      await document.noteSaved(token)
      _ = try await document.edit { $0 = "second" }
      try await document.save()
      #expect(try fixture.text() == "second")
      #expect(try await fixture.versionTexts() == ["theirs"])
      try await document.close()
    }
  }

  @Test("CD-07: Text that the program has written by itself is the common ancestor of what is merged")
  func mergedWithNoted() async throws {
    try await withFixture { fixture in
      let bases = Guarded<[String]>([])
      let document = try await fixture.open { options in
        options.merge = { texts in
          bases.withLock { $0.append(texts.base) }
          return .merged(texts.mine + texts.theirs)
        }
      }
      _ = try await document.edit { $0 = "first" }
      let token = await document.editToken
      try fixture.write("first")
      await document.noteSaved(token)
      _ = try await document.edit { $0 = "mine " }
      try fixture.write("theirs")
      try await document.save()
      #expect(bases.withLock { $0 } == ["first"])
      #expect(try fixture.text() == "mine theirs")
      try await document.close()
    }
  }

  @Test("CD-19: Another program that writes just what is unsaved makes no conflict, and then it's saved")
  func equalTexts() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open()
      _ = try await document.edit { $0 = "same" }
      try await fixture.other.replaceContents(of: fixture.file, with: Data("same".utf8))
      try await document.waitUntil { $0.state.editingObstacles.isEmpty && !$0.state.hasUnsavedChanges }
      #expect(try await fixture.versionTexts() == [])
      _ = try await document.edit { $0 = "next" }
      try await document.close()
      #expect(try fixture.text() == "next")
      #expect(try await fixture.versionTexts() == [])
    }
  }

  // MARK: - Names

  @Test("CD-40, ND-9: A file that another program moves first gets its name in the directory where it is then")
  func renamedBehindMove() async throws {
    try await withFixture { fixture in
      let (here, there) = (fixture.url("here"), fixture.url("there"))
      for url in [here, there] { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
      let (old, new) = (here.appending(path: "n"), there.appending(path: "n"))
      try fixture.write("text", to: old)
      let document = FileDocument(old, as: .text, options: fixture.options())
      try await document.open()
      let (isHeld, mayMove) = (TestGate(), TestGate())
      async let move: Void = fixture.other.write(
        old, options: .forMoving, and: new, secondOptions: .forReplacing
      ) { former, present in
        isHeld.open()
        try await mayMove.pass()
        try FileManager.default.moveItem(at: former.url, to: present.url)
        try await former.didMove(to: present.url)
      }
      try await isHeld.pass()
      async let rename: Void = document.rename(to: "m")
      try await Self.awaitWait(for: here.appending(path: "m"), fixture)
      mayMove.open()
      try await move
      try await rename
      #expect(try FileManager.default.contentsOfDirectory(atPath: here.path) == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: there.path) == ["m"])
      #expect(document.url.path == there.appending(path: "m").path)
      try await document.close()
    }
  }

  @Test("CD-40, ND-9: A name that's given while the document moves its file is one in the directory of its new place")
  func renamedBehindOwnMove() async throws {
    try await withFixture { fixture in
      let there = fixture.url("there")
      try FileManager.default.createDirectory(at: there, withIntermediateDirectories: false)
      let document = try await fixture.open()
      let (isHeld, mayEnd) = (TestGate(), TestGate())
      // A reader of the new place holds the move up.
      let place = there.appending(path: "note.txt")
      async let reader: Void = fixture.other.read(place) { _ in
        isHeld.open()
        try await mayEnd.pass()
      }
      try await isHeld.pass()
      async let move: Void = document.move(to: place)
      try await Self.awaitWait(for: place, fixture)
      async let rename: Void = document.rename(to: "m")
      while await document.core.calls.count < 2 { await Task.yield() }
      mayEnd.open()
      try await reader
      try await move
      try await rename
      #expect(try fixture.names() == ["there"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: there.path) == ["m"])
      try await document.close()
    }
  }

  /// Returns when an access to a place waits.
  private static func awaitWait(for url: URL, _ fixture: Fixture) async throws {
    while try await !fixture.domain.snapshot().accesses.contains(where: { access in
      !access.isGranted && access.party.items.contains { $0.path == url.path }
    }) { await Task.yield() }
  }

  // MARK: - The limit

  @Test("CD-02, CD-24: Contents with more bytes than are opened aren't saved, and the error names the limit")
  func tooLargeToSave() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("1234") { $0.byteCountMax = 5 }
      _ = try await document.edit { $0 = "12345" }
      try await document.save()
      #expect(try fixture.text() == "12345")
      _ = try await document.edit { $0 = "123456" }
      let error = await #expect(throws: DocumentError.self) { try await document.save() }
      #expect(error?.code == .fileTooLarge)
      #expect(error?.message.contains("'byteCountMax'") == true && error?.message.contains("allows 5") == true)
      await #expect { try await document.save(as: fixture.url("other")) } throws: {
        ($0 as? DocumentError)?.code == .fileTooLarge
      }
      #expect(try fixture.text() == "12345" && fixture.names() == ["note.txt"])
      #expect(document.hasUnsavedChanges && document.state.savingError?.code == .fileTooLarge)
      // Shorter ones are saved, and the file can be opened again.
      _ = try await document.edit { $0 = "54321" }
      try await document.close()
      try await document.open()
      #expect(await document.contents == "54321")
      try await document.close()
    }
  }

  @Test("CD-02: A new file isn't made with more bytes than are opened")
  func tooLargeToMake() async throws {
    try await withFixture { fixture in
      var options = fixture.options()
      options.byteCountMax = 4
      let document = FileDocument(fixture.file, as: .text, options: options)
      await #expect { try await document.open(creatingWith: "12345") } throws: {
        ($0 as? DocumentError)?.code == .fileTooLarge
      }
      #expect(!fixture.exists() && document.state.conditions == .closed)
      try await document.open(creatingWith: "1234")
      try await document.close()
    }
  }

  // MARK: - Members

  @Test("CD-70, SP-6: A member is read also if the package is replaced between the call and the reading")
  func memberOfReplacedPackage() async throws {
    let isReplaced = Guarded<(@Sendable () -> Void)?>(nil)
    let files = ScriptedFileSystem { made in
      // The member is about to be read from the package that the document knows.
      if [.open, .openWithoutSymbolicLinks].contains(made.call),
        made.paths.contains(where: { $0.lastComponent == SystemPath("b.txt") }),
        let act = isReplaced.withLock({ $0.take() })
      {
        act()
      }
      return .proceed
    }
    try await withFixture(files) { fixture in
      try fixture.makeAlbum()
      let document = try await fixture.openAlbum()
      isReplaced.withLock { act in
        act = {
          // Another program replaces the package, and nobody is notified.
          let (root, new) = (fixture.album, fixture.url("new"))
          try? FileManager.default.copyItem(at: root, to: new)
          try? Data("theirs".utf8).write(to: new.appending(path: "b.txt"))
          try? FileManager.default.removeItem(at: root)
          try? FileManager.default.moveItem(at: new, to: root)
        }
      }
      #expect(try await document.text("b.txt") == "theirs")
      #expect(isReplaced.withLock { $0 == nil })
      try await document.close()
    }
  }
}
