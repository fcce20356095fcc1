import FileCoordination
import FileDocuments
import FileVersions
import Foundation
import Testing

@testable import FoundationCompatibility

@Suite("UIDocument, beside others", .timeLimit(.minutes(8)))
@MainActor struct DocumentNeighbourTests {
  init() { _ = Sandbox.versionStore }

  private func open(_ url: URL) async -> NoteDocument {
    let document = NoteDocument(fileURL: url)
    #expect(await document.open())
    return document
  }

  @Test("CD-18: Another reader finds what is unsaved")
  func readers() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      document.type(" two")
      #expect(try await readElsewhere(document.fileURL) == "one two")
      #expect(!document.hasUnsavedChanges)
      #expect(await document.close())
    }
  }

  @Test("CD-17, CD-19: While another program writes, editing is disabled; then the document has what was written")
  func writers() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let start = document.journal.entries.count
      try await writeElsewhere("two", to: document.fileURL)
      // Notifications of the state may come before or after the calls that enable editing.
      await document.until {
        document.text == "two" && document.documentState == .normal
          && document.journal.count(of: "enable") == document.journal.count(of: "disable")
      }
      let events = document.journal.entries.dropFirst(start).filter { ["disable", "load", "enable"].contains($0) }
      #expect(events.prefix(3) == ["disable", "load", "enable"])
      #expect(!document.hasUnsavedChanges)
      #expect(await document.close())
    }
  }

  @Test("CD-17: The end of a writer that came while the document was open before isn't that of one that writes now")
  func formerWriters() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let former = await Reacquirer(document)
      #expect(await document.close())
      #expect(await document.open())
      let present = await Reacquirer(document)
      former.call()
      // Calls of reacquirers take effect in their order.
      await withCheckedContinuation { end in MainTurns.later { end.resume() } }
      #expect(document.runner.core.published.editingObstacles.contains(.writer))
      present.call()
      await document.until { document.documentState == .normal }
      #expect(!document.runner.core.published.editingObstacles.contains(.writer))
      #expect(await document.close())
    }
  }

  @Test("CD-17: Editing isn't enabled before what a writer has written was read, although the news of it come later")
  func lateNews() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let reacquirer = await Reacquirer(document)
      #expect(document.documentState.contains(.editingDisabled))
      try Data("two".utf8).write(to: document.fileURL)
      reacquirer.call()
      await document.until { document.journal.count(of: "enable") > 0 }
      #expect(document.text == "two")
      #expect(await document.close())
    }
  }

  @Test("CD-20, UD-22: A change of attributes doesn't reload the contents")
  func attributeChanges() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let url = document.fileURL
      try await elsewhere {
        NSFileCoordinator().coordinate(writingItemAt: url, options: .contentIndependentMetadataOnly, error: nil) {
          url in
          try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
        }
      }
      await document.until { document.journal.count(of: "enable") >= 1 && document.documentState == .normal }
      #expect(document.journal.count(of: "load") == 1)
      #expect(await document.close())
    }
  }

  @Test(
    "CD-19, CD-23, UD-23: Text that another program writes beside unsaved changes becomes a conflict; both texts survive"
  )
  func conflicts() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let url = document.fileURL
      document.type(" mine")
      // A writer that needs nothing of what was there.
      try await elsewhere { try Data("theirs".utf8).write(to: url) }
      #expect(await document.autosave())
      #expect(try box.text(url) == "one mine")
      await document.until { document.states.last == .inConflict }
      #expect(document.states.count { $0 == .inConflict } == 1)
      let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: url))
      #expect(try conflicts.map { try box.text($0.url) } == ["theirs"])
      let start = document.states.count
      for conflict in conflicts { conflict.isResolved = true }
      await document.until { document.states.last == .normal }
      #expect(document.states.dropFirst(start) == [.normal])
      #expect(await document.close())
    }
  }

  @Test("CD-21, UD-22: A document follows its file")
  func moves() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      try await elsewhere { box.move("a.txt", to: "b.txt") }
      await document.until { document.fileURL.lastPathComponent == "b.txt" }
      document.type(" two")
      #expect(await document.close())
      #expect(try box.text(box.url("b.txt")) == "one two")
      #expect(!FileManager.default.fileExists(atPath: box.url("a.txt").path))
    }
  }

  @Test(
    "CD-23: The news of a move makes a document look for conflicts, which it may have looked for at the former place")
  func conflictsAfterMove() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      // Nobody in this domain is notified of it.
      let versions = FileVersions(domain: CoordinationDomain(), storage: .directory(Sandbox.versionStore))
      _ = try await versions.addVersion(of: document.fileURL, isConflict: true)
      try FileManager.default.moveItem(at: document.fileURL, to: box.url("b.txt"))
      #expect(document.documentState == .normal)
      document.presentedItemDidMove(to: box.url("b.txt"))
      await document.until { document.documentState == .inConflict }
      #expect(await document.close())
    }
  }

  @Test(
    "CD-22, SP-7: A document whose file is deleted is closed, keeps its contents, and doesn't make the file again unasked"
  )
  func deletions() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let url = document.fileURL
      let wasClosed = try await elsewhere {
        var wasClosed = false
        NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: nil) { url in
          wasClosed = document.documentState.contains(.closed)
          try? FileManager.default.removeItem(at: url)
        }
        return wasClosed
      }
      #expect(wasClosed)
      await document.until { document.documentState == .closed }
      document.type(" two")
      #expect(await document.save(to: url, for: .forOverwriting) == false)
      #expect(!FileManager.default.fileExists(atPath: url.path))
      #expect(await document.save(to: url, for: .forCreating))
      #expect(try box.text(url) == "one two" && document.documentState == .normal)
      #expect(await document.close())
    }
  }

  @Test("CD-28, PP-7: Two documents of one process on one file neither wait for ever nor lose edits")
  func twoDocuments() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let (first, second) = (await open(url), await open(url))
      first.type(" two")
      #expect(await first.autosave())
      await second.until { second.text == "one two" && second.documentState == .normal }
      second.type(" three")
      #expect(await second.close())
      await first.until { first.text == "one two three" && first.documentState == .normal }
      #expect(await first.close())
      #expect(try box.text(url) == "one two three")
    }
  }

  @Test("CD-29, PP-8: Two writers in quick succession during a revert come to an end")
  func writersDuringRevert() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let url = document.fileURL
      document.type(" two")
      async let reverted = document.revert(toContentsOf: url)
      async let first: Void = writeElsewhere("first", to: url)
      async let second: Void = writeElsewhere("second", to: url)
      _ = try await (first, second)
      #expect(await reverted)
      // The contents from before the revert may have become a conflict.
      await document.until {
        document.documentState.isSubset(of: .inConflict) && !document.hasUnsavedChanges
          && document.text == (try? box.text(url))
      }
      #expect(await document.close())
    }
  }

  @Test("CD-30: A document isn't notified of its own saves")
  func ownSaves() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      document.type(" two")
      #expect(await document.autosave())
      #expect(await document.close())
      #expect(document.journal.count(of: "load") == 1 && document.journal.count(of: "disable") == 0)
    }
  }

  @Test("CD-19: After a save of a package, what a program does inside that doesn't coordinate is still noticed")
  func strangersInPackages() async throws {
    try await withSandbox { box in
      // A directory, not a package, for the domain.
      let member = try box.write("a.box/text.txt", "one")
      let document = PackagedNote(fileURL: box.url("a.box"), noticingStrangers: true)
      let (loads, loaded) = AsyncStream.makeStream(of: String.self)
      document.whenLoaded = { loaded.yield($0) }
      #expect(await document.open())
      var texts = loads.makeAsyncIterator()
      #expect(await texts.next() == "one")
      for number in 1...3 {
        document.text = "saved \(number)"
        document.updateChangeCount(.done)
        #expect(await document.save(to: document.fileURL, for: .forOverwriting))
        try Data("foreign \(number)".utf8).write(to: member, options: .atomic)
        while let text = await texts.next(), text != "foreign \(number)" {}
      }
      #expect(await document.close())
    }
  }

  @Test("CD-18: A main thread that's blocked by its own access gets what is unsaved")
  func blockedMainThread() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let plain = PlainNote(fileURL: try box.write("b.txt", "one"))
      #expect(await plain.open())
      plain.text = "one two"
      plain.updateChangeCount(.done)
      var text: String?
      var error: NSError?
      let url = plain.fileURL
      blockingRead(url, &error) { text = try? String(contentsOf: $0, encoding: .utf8) }
      #expect(error == nil && text == "one two")
      #expect(await plain.close())
      #expect(await document.close())
    }
  }
}

/// Blocks the main thread.
@MainActor private func blockingRead(_ url: URL, _ error: inout NSError?, _ body: (URL) -> Void) {
  NSFileCoordinator().coordinate(readingItemAt: url, error: &error, byAccessor: body)
}

final class PlainNote: UIDocument {
  var text = ""

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }
  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }
}

/// The reacquirer that a document has handed to a writer.
private struct Reacquirer: Sendable {
  private let closure: (@Sendable () -> Void)?

  @MainActor init(_ document: UIDocument) async {
    closure = await withCheckedContinuation { (end: CheckedContinuation<(@Sendable () -> Void)?, Never>) in
      document.relinquishPresentedItem(toWriter: { end.resume(returning: $0) })
    }
  }

  func call() {
    #expect(closure != nil)
    closure?()
  }
}
