import FileDocuments
import FilePackages
import FileVersions
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import FoundationCompatibility

@Suite("UIDocument, and its saves", .timeLimit(.minutes(8)))
@MainActor struct DocumentSafetyTests {
  init() { _ = Sandbox.versionStore }

  // MARK: - Checked saves

  @Test(
    "CD-12: A save replaces the very file that was compared: another process that writes it meanwhile loses nothing",
    arguments: ["printf theirs > \"$0\"", "printf theirs > \"$0.new\" && mv \"$0.new\" \"$0\""])
  func writtenDuringSave(command: String) async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      let url = document.fileURL
      document.type(" mine")
      document.whileWriting = {
        document.whileWriting = nil
        shell(command, url.path)
      }
      #expect(await document.autosave())
      #expect(try box.text(url) == "one mine")
      let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: url))
      #expect(try conflicts.map { try box.text($0.url) } == ["theirs"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.txt"])
      #expect(await document.close())
    }
  }

  @Test("CD-12: Nor does it if the edits are taken back meanwhile: its text is loaded before it's overwritten")
  func takenBackDuringSave() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      let url = document.fileURL
      document.type(" mine")
      document.whileWriting = {
        document.whileWriting = nil
        shell("printf theirs > \"$0\"", url.path)
        document.text = "one"
        document.updateChangeCount(.undone)
      }
      _ = await document.autosave()
      await document.until { document.text == "theirs" }
      document.type(" and mine")
      #expect(await document.autosave())
      #expect(try box.text(url) == "theirs and mine")
      #expect(await document.close())
    }
  }

  @Test(
    "CD-12: Nor does a program that stores text in its mapping of the file, which changes no date",
    arguments: [true, false])
  func storedBesideSave(isInLastInstant: Bool) async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one, two")
      let mapping = try #require(MappedFile(url.path))
      let document = NoteDocument(fileURL: url)
      #expect(await document.open())
      document.type(" mine")
      if isInLastInstant {
        document.whileWriting = { mapping.store("theirs, ") }
      } else {
        mapping.store("theirs, ")
      }
      #expect(await document.autosave())
      #expect(try box.text(url) == "one, two mine")
      let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: url))
      #expect(try conflicts.map { try box.text($0.url) } == ["theirs, "])
      #expect(await document.close())
    }
  }

  @Test("CD-22: A save doesn't make a file again that another process has removed meanwhile")
  func removedDuringSave() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      let url = document.fileURL
      document.type(" mine")
      document.whileWriting = { shell("rm \"$0\"", url.path) }
      #expect(await document.autosave() == false)
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == [])
      #expect(document.documentState.contains(.closed) && document.text == "one mine")
    }
  }

  @Test("CD-12: The same holds for a package in which another process makes a member")
  func memberWrittenDuringSave() async throws {
    try await withSandbox { box in
      _ = try box.write("a.pkg/text.txt", "one")
      let picture = box.url("a.pkg/picture.png")
      let document = InterruptedPackage(fileURL: box.url("a.pkg"))
      #expect(await document.open())
      document.text = "mine"
      document.updateChangeCount(.done)
      document.deed.withLock { $0 = { shell("printf drawn > \"$0\"", picture.path) } }
      #expect(await document.autosave())
      #expect(try box.text(box.url("a.pkg/text.txt")) == "mine")
      let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL))
      #expect(try conflicts.map { try box.text($0.url.appendingPathComponent("picture.png")) } == ["drawn"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.pkg"])
      #expect(await document.close())
    }
  }

  @Test(
    "CD-12: And for one whose member a program stores to in its mapping, which changes no date",
    arguments: [true, false])
  func memberStoredBesideSave(isWhileWriting: Bool) async throws {
    try await withSandbox { box in
      let text = try box.write("a.pkg/text.txt", "old text")
      let other = try box.write("a.pkg/other.txt", "another text")
      let (mapping, unaltered) = (try #require(MappedFile(text.path)), try #require(MappedFile(other.path)))
      let document = InterruptedPackage(fileURL: box.url("a.pkg"))
      #expect(await document.open())
      document.text = "mine"
      document.updateChangeCount(.done)
      // A file that isn't altered is the same one afterwards.
      unaltered.store("theirs")
      if isWhileWriting {
        document.deed.withLock { $0 = { mapping.store("theirs, ") } }
      } else {
        mapping.store("theirs, ")
      }
      #expect(await document.autosave())
      #expect(try box.text(text) == "mine")
      #expect(try box.text(other) == "theirsr text")
      func kept() throws -> [String] {
        let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: document.fileURL))
        return try conflicts.map { try box.text($0.url.appendingPathComponent("text.txt")) }
      }
      #expect(try kept() == ["theirs, "])
      // It's kept once.
      document.text = "mine again"
      document.updateChangeCount(.done)
      #expect(await document.close())
      #expect(try box.text(text) == "mine again")
      #expect(try kept() == ["theirs, "])
    }
  }

  @Test("CD-12: Also in the last instant before the exchange")
  func memberStoredInLastInstant() throws {
    try withSandbox { box in
      let mapping = try #require(MappedFile(try box.write("a.pkg/text.txt", "old text").path))
      _ = try box.write("b.pkg/text.txt", "mine")
      let (old, new) = (SystemPath(box.url("a.pkg").path), SystemPath(box.url("b.pkg").path))
      let (present, written) = (try #require(try FileStamp.find(at: old)), try #require(try FileStamp.find(at: new)))
      let replaced = try present.membersReplaced(by: written, at: old, MemberDigests())
      let files = HostFileSystem()
      for text in ["old text", "theirs, "] {
        mapping.store(text)
        let isSame = text == "old text"
        var code: Int32?
        do throws(SystemError) {
          try files.exchangeItem(at: new, with: old) { (item) throws(SystemError) in
            try present.check(item, replaced)
            // Otherwise the test would have to make both again.
            throw SystemError(call: "test", errno: 0)
          }
        } catch { code = error.errno }
        #expect(code == (isSame ? 0 : SystemError.Number.changedMeanwhile.rawValue))
        #expect(try box.text(box.url("a.pkg/text.txt")) == text)
      }
    }
  }

  // MARK: - Leftovers

  @Test("CD-14: An open leaves alone what another save is writing beside the file, and removes what nobody uses")
  func leftovers() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let (files, root) = (HostFileSystem(), SystemPath(box.root.path))
      let parent = try files.open(root, at: .workingDirectory, flags: .directory, mode: 0)
      defer { try? files.close(parent) }
      let (used, use) = try files.makeDraftDirectory(for: SystemPath("a.txt"), at: parent, mode: 0o700)
      let (unused, end) = try files.makeDraftDirectory(for: SystemPath("a.txt"), at: parent, mode: 0o700)
      try Data("draft".utf8).write(to: box.url("\(unused)/a.txt"))
      // A child that another test is starting may have the descriptor for a moment.
      try files.unlock(end)
      try files.close(end)
      let document = NoteDocument(fileURL: url)
      #expect(await document.open())
      #expect(Set(try FileManager.default.contentsOfDirectory(atPath: box.root.path)) == ["a.txt", "\(used)"])
      #expect(await document.close())
      try files.unlock(use)
      try files.close(use)
      #expect(await document.open())
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.txt"])
      #expect(await document.close())
    }
  }

  // MARK: - Progress

  @Test("CD-26, UD-5: While a large file is read or written there's a progress, and exactly then the state says so")
  func progress() async throws {
    try await withSandbox { box in
      let document = LargeNote(fileURL: box.url("a.txt"))
      let size = Int(DocumentProgress.byteCountMin) + 1
      document.text = String(repeating: "x", count: size)
      #expect(await document.save(to: document.fileURL, for: .forCreating))
      #expect(document.seen.withLock { $0 } == ["writing \(size) of \(size)"])
      #expect(document.progress == nil && document.documentState == .normal)
      document.seen.withLock { $0 = [] }
      #expect(await document.close())
      #expect(await document.open())
      #expect(document.text.utf8.count == size)
      #expect(document.seen.withLock { $0 } == ["reading \(size) of \(size)"])
      #expect(document.progress == nil && document.documentState == .normal)
      await document.until { document.states.contains(.progressAvailable) || document.states.last == .normal }
      #expect(await document.close())
    }
  }

  @Test("CD-26: For a small file there's none")
  func noProgress() async throws {
    try await withSandbox { box in
      let document = LargeNote(fileURL: try box.write("a.txt"))
      #expect(await document.open())
      document.type("!")
      #expect(await document.close())
      #expect(document.seen.withLock { $0 } == [])
      #expect(!document.states.contains { $0.contains(.progressAvailable) })
    }
  }

  // MARK: - The end of the process

  @Test("CD-66: A signal that asks the process to end saves its documents first, and then ends it")
  func termination() async throws {
    try await withSandbox { box in
      let (url, closed) = (try box.write("a.txt", "one"), try box.write("b.txt", "one"))
      await #expect(processExitsWith: .signal(SIGTERM)) { [path = url.path as String, other = closed.path as String] in
        try await Self.typeAndEnd(path, other)
      }
      #expect(try box.text(url) == "one typed")
      #expect(try box.text(closed) == "one")
    }
  }

  private static func typeAndEnd(_ path: String, _ other: String) async throws {
    let url = URL(fileURLWithPath: path)
    NSFileVersion.setStorage(.directory(url.deletingLastPathComponent().appendingPathComponent("store")))
    try TerminationFlush.start(within: .seconds(60))
    let (document, closed) = (NoteDocument(fileURL: url), NoteDocument(fileURL: URL(fileURLWithPath: other)))
    _ = await document.open()
    _ = await closed.open()
    _ = await closed.close()
    document.type(" typed")
    closed.type(" typed")
    kill(getpid(), SIGTERM)
    // The signal ends the process.
    await document.until { false }
  }
}

/// Another process.
private func shell(_ command: String, _ argument: String) {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/sh")
  process.arguments = ["-c", command, argument]
  let end = DispatchSemaphore(value: 0)
  process.terminationHandler = { _ in end.signal() }
  do { try process.run() } catch {
    Issue.record(error)
    return
  }
  end.wait()
  #expect(process.terminationStatus == 0)
}

/// A package during whose save something happens.
private final class InterruptedPackage: PackagedNote {
  let deed = Guarded<(@Sendable () -> Void)?>(nil)

  override nonisolated func writeContents(
    _ contents: Any, to url: URL, for saveOperation: SaveOperation, originalContentsURL: URL?
  ) throws {
    try super.writeContents(contents, to: url, for: saveOperation, originalContentsURL: originalContentsURL)
    deed.withLock { $0.take() }?()
  }
}

/// Notes the progress at the end of reading and writing.
private final class LargeNote: NoteDocument {
  nonisolated let seen = Guarded<[String]>([])

  private nonisolated func note(_ activity: String) {
    // Both or none.
    guard documentState.contains(.progressAvailable), let progress else {
      if documentState.contains(.progressAvailable) || progress != nil { seen.withLock { $0.append("one alone") } }
      return
    }
    seen.withLock { $0.append("\(activity) \(progress.completedUnitCount) of \(progress.totalUnitCount)") }
  }

  override nonisolated func read(from url: URL) throws {
    try super.read(from: url)
    note("reading")
  }

  override nonisolated func writeContents(
    _ contents: Any, to url: URL, for saveOperation: SaveOperation, originalContentsURL: URL?
  ) throws {
    try super.writeContents(contents, to: url, for: saveOperation, originalContentsURL: originalContentsURL)
    note("writing")
  }
}
