import Foundation
import FoundationCompatibility
import SystemInterface
import Testing

@Suite("UIDocument, in forms and types that a class chooses", .timeLimit(.minutes(8)))
@MainActor struct DocumentFormTests {
  init() { _ = Sandbox.versionStore }

  @Test(
    "CD-15: A class may override the async form of a call: each caller gets the override, and the document itself, too")
  func asyncForms() async throws {
    try await withSandbox { box in
      let document = AsyncNote(fileURL: try box.write("a.txt", ""))
      #expect(await document.handled { $0.open(completionHandler: $1) })
      #expect(document.calls == ["open"])
      document.type("a")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting))
      document.type("b")
      #expect(await document.handled { $0.save(to: $0.fileURL, for: .forOverwriting, completionHandler: $1) })
      #expect(document.calls == ["open", "save", "save"])
      document.type("c")
      #expect(try await readElsewhere(document.fileURL) == "abc")
      #expect(document.calls == ["open", "save", "save", "save"])
      document.type("d")
      #expect(await document.handled { $0.autosave(completionHandler: $1) })
      #expect(await document.handled { $0.revert(toContentsOf: $0.fileURL, completionHandler: $1) })
      document.type("e")
      #expect(await document.handled { $0.close(completionHandler: $1) })
      #expect(document.calls.suffix(5) == ["autosave", "save", "revert", "close", "save"])
      #expect(try box.text(document.fileURL) == "abcde")
    }
  }

  @Test("CD-06: With an override of the async form, contents are taken before a save returns")
  func asyncSnapshot() async throws {
    try await withSandbox { box in
      let document = AsyncNote(fileURL: box.url("new.txt"))
      document.text = "first"
      let isSaved = await document.handled { document, handler in
        document.save(to: document.fileURL, for: .forCreating, completionHandler: handler)
        #expect(self.count(of: "contents", in: document) == 1)
        document.type(" second")
      }
      let written = try box.text(document.fileURL)
      #expect(isSaved && document.hasUnsavedChanges && written == "first")
      #expect(await document.close())
    }
  }

  @Test("CD-15: A class that overrides both forms gets each call in the form in which it was made")
  func bothForms() async throws {
    try await withSandbox { box in
      let document = TwofoldNote(fileURL: try box.write("a.txt", ""))
      #expect(await document.open())
      document.type("a")
      #expect(await document.handled { $0.save(to: $0.fileURL, for: .forOverwriting, completionHandler: $1) })
      #expect(document.calls == ["handler"])
      document.type("b")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting))
      #expect(document.calls == ["handler", "async", "handler"])
      #expect(await document.close())
    }
  }

  @Test("CD-47, UD-19: A save moves the document if its type has changed, in the access that writes it")
  func changedType() async throws {
    try await withSandbox { box in
      let document = RichNote(fileURL: try box.write("a.txt", "plain"))
      try NSFileVersion.addOfItem(at: document.fileURL, withContentsOf: box.write("earlier.txt", "earlier"))
      #expect(await document.open())
      document.type(" text")
      document.isRich.set()
      #expect(document.fileNameExtension(forType: document.savingFileType, saveOperation: .forOverwriting) == "rtf")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting))
      #expect(document.fileURL == box.url("a.rtf") && document.fileType == "public.rtf")
      #expect(try box.text(box.url("a.rtf")) == "plain text")
      #expect(!FileManager.default.fileExists(atPath: box.url("a.txt").path))
      // It's presented there.
      document.type("!")
      #expect(try await readElsewhere(box.url("a.rtf")) == "plain text!")
      #expect(await document.close())
      // So are its versions.
      let versions = try #require(NSFileVersion.otherVersionsOfItem(at: box.url("a.rtf")))
      #expect(try versions.map { try box.text($0.url) } == ["earlier"])
    }
  }

  @Test("CD-47: A save that would move the document to where something is fails, and changes nothing")
  func occupiedType() async throws {
    try await withSandbox { box in
      let document = RichNote(fileURL: try box.write("a.txt", "plain"))
      let other = try box.write("a.rtf", "other")
      #expect(await document.open())
      document.type(" text")
      document.isRich.set()
      #expect(await !document.save(to: document.fileURL, for: .forOverwriting))
      #expect(document.documentState == .savingError && document.hasUnsavedChanges)
      #expect((document.errors.last as? CocoaError)?.code == .fileWriteFileExists)
      #expect(try box.text(box.url("a.txt")) == "plain" && box.text(other) == "other")
      try FileManager.default.removeItem(at: other)
      #expect(await document.close())
      #expect(try box.text(other) == "plain text")
    }
  }

  @Test("CD-12, CD-47: If it can't be written there, the file is back at its former name, and the document as well")
  func failedType() async throws {
    try await withSandbox { box in
      let document = RichNote(fileURL: try box.write("a.txt", "plain"))
      #expect(await document.open())
      document.type(" text")
      document.isRich.set()
      document.failsToWrite = true
      for _ in 0..<2 {
        #expect(await !document.save(to: document.fileURL, for: .forOverwriting))
        #expect(document.fileURL == box.url("a.txt") && document.documentState == .savingError)
        #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.txt"])
        #expect(try box.text(box.url("a.txt")) == "plain")
      }
      // It's presented there.
      document.failsToWrite = false
      #expect(try await readElsewhere(box.url("a.txt")) == "plain text")
      #expect(document.fileURL == box.url("a.rtf"))
      #expect(await document.close())
      #expect(try box.text(box.url("a.rtf")) == "plain text")
    }
  }

  @Test(
    "CD-48: A document that's opened by a symbolic link is that of the file that the link leads to",
    arguments: ["a.txt", "a.pkg"])
  func links(name: String) async throws {
    try await withSandbox { box in
      let file = name == "a.pkg" ? "a.pkg/text.txt" : name
      _ = try box.write(file, "one")
      let link = box.url("link")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: name)
      let document = name == "a.pkg" ? PackagedNote(fileURL: link) : NoteDocument(fileURL: link)
      #expect(await document.open())
      #expect(document.fileURL.path == box.url(name).path)
      document.updateChangeCount(.done)
      (document as? NoteDocument)?.text = "two"
      (document as? PackagedNote)?.text = "two"
      #expect(await document.close())
      #expect(try box.text(box.url(file)) == "two")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == name)
    }
  }

  @Test("UD-19: A save gives the file the attributes that the class states")
  func statedAttributes() async throws {
    try await withSandbox { box in
      let document = LockedNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      #expect(await document.close())
      let attributes = try FileManager.default.attributesOfItem(atPath: document.fileURL.path)
      #expect(attributes[.posixPermissions] as? Int == 0o440)
      #expect(try box.text(document.fileURL) == "one two")
    }
  }

  @Test("UD-19, CD-24: A save that can't set an attribute fails before it replaces anything, as often as it's tried")
  func refusedAttributes() async throws {
    try await withSandbox { box in
      let document = RefusedAttributeNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      for _ in 0..<2 {
        #expect(await !document.handled { $0.autosave(completionHandler: $1) })
        #expect(try box.text(document.fileURL) == "one")
        #expect(document.documentState == .savingError && document.hasUnsavedChanges)
      }
      #expect(await !document.save(to: box.url("b.txt"), for: .forCreating))
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.txt"])
      #expect(NSFileVersion.otherVersionsOfItem(at: document.fileURL)?.count == 0)
      document.hasAttribute.withLock { $0 = false }
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two")
      #expect(NSFileVersion.otherVersionsOfItem(at: document.fileURL)?.count == 0)
    }
  }

  @Test("CD-02: Errors of the system and of packages are errors of Cocoa")
  func errorsOfTheSystem() async throws {
    try await withSandbox { box in
      let pipe = box.url("pipe.txt")
      #expect(mkfifo(pipe.path, 0o600) == 0)
      _ = try box.write("deep/" + String(repeating: "d/", count: 80) + "text.txt")
      for url in [pipe, box.url("deep")] {
        let document = NoteDocument(fileURL: url)
        #expect(await !document.open())
        let error = document.errors.first as? CocoaError
        #expect(error?.code == .fileReadUnknown && error?.underlying != nil)
      }
    }
  }

  @Test("CD-33: An edit doesn't wait for an autosave, and what is edited while the document closes is saved with it")
  func editingDuringSaves() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", ""))
      #expect(await document.open())
      document.type("a")
      document.whileWriting = { [unowned document] in
        document.whileWriting = nil
        document.type("b")
      }
      #expect(await document.handled { $0.autosave(completionHandler: $1) })
      #expect(document.hasUnsavedChanges && document.text == "ab")
      #expect(try box.text(document.fileURL) == "a")
      document.whileWriting = { [unowned document] in
        document.whileWriting = nil
        #expect(document.documentState.contains(.editingDisabled))
        document.type("c")
      }
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "abc")
    }
  }

  private func count(of event: String, in document: NoteDocument) -> Int { document.journal.count(of: event) }
}

extension NoteDocument {
  /// Makes a call in the form with a completion handler, and waits for that.
  fileprivate func handled(_ body: (NoteDocument, @escaping (Bool) -> Void) -> Void) async -> Bool {
    await withCheckedContinuation { end in body(self) { end.resume(returning: $0) } }
  }
}

/// Overrides the `async` forms, as people do.
private final class AsyncNote: NoteDocument {
  var calls: [String] = []

  override func open() async -> Bool {
    calls.append("open")
    return await super.open()
  }

  override func close() async -> Bool {
    calls.append("close")
    return await super.close()
  }

  override func revert(toContentsOf url: URL) async -> Bool {
    calls.append("revert")
    return await super.revert(toContentsOf: url)
  }

  override func save(to url: URL, for saveOperation: SaveOperation) async -> Bool {
    calls.append("save")
    return await super.save(to: url, for: saveOperation)
  }

  override func autosave() async -> Bool {
    calls.append("autosave")
    return await super.autosave()
  }
}

private final class TwofoldNote: NoteDocument {
  var calls: [String] = []

  override func save(to url: URL, for saveOperation: SaveOperation) async -> Bool {
    calls.append("async")
    return await super.save(to: url, for: saveOperation)
  }

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    calls.append("handler")
    super.save(to: url, for: saveOperation, completionHandler: completionHandler)
  }
}

/// States attributes.
private final class LockedNote: NoteDocument {
  override nonisolated func fileAttributesToWrite(
    to url: URL, for saveOperation: SaveOperation
  ) throws -> [AnyHashable: Any] {
    [FileAttributeKey.posixPermissions: 0o440]
  }
}

/// States an attribute that no file can have: its name is empty.
private final class RefusedAttributeNote: NoteDocument {
  nonisolated let hasAttribute = Guarded(true)

  override nonisolated func fileAttributesToWrite(
    to url: URL, for saveOperation: SaveOperation
  ) throws -> [AnyHashable: Any] {
    hasAttribute.withLock { $0 } ? [FileAttributeKey("NSFileExtendedAttributes"): ["user.": Data()]] : [:]
  }
}

/// Set once, on any thread.
private final class Mark: @unchecked Sendable {
  private let lock = NSLock()
  private var value = false

  var isSet: Bool { lock.withLock { value } }
  func set() { lock.withLock { value = true } }
}

/// A text that becomes a rich one.
private final class RichNote: NoteDocument {
  nonisolated let isRich = Mark()

  override nonisolated var savingFileType: String? { isRich.isSet ? "public.rtf" : super.savingFileType }
}
