import Foundation
import FoundationCompatibility
import SystemInterface
import TestSupport
import Testing

@Suite("UIDocument, saved to places that aren't its own", .timeLimit(.minutes(8)))
@MainActor struct DocumentPlacesTests {
  init() { _ = Sandbox.versionStore }

  private func kept(_ url: URL) throws -> [String] {
    let versions = try #require(NSFileVersion.otherVersionsOfItem(at: url))
    return try versions.map { try String(decoding: Data(contentsOf: $0.url), as: Unicode.ASCII.self) }
  }

  @Test(
    "CD-77: An item at a place to which a document is saved becomes a version before it's replaced",
    arguments: [UIDocument.SaveOperation.forCreating, .forOverwriting], [false, true])
  func occupied(operation: UIDocument.SaveOperation, isOpen: Bool) async throws {
    try await withSandbox { box in
      let (place, former) = (try box.write("b.txt", "precious"), try box.write("a.txt", "mine"))
      let document = NoteDocument(fileURL: isOpen ? former : place)
      if isOpen { #expect(await document.open()) }
      document.type(" too")
      let text = document.text
      #expect(await document.save(to: place, for: operation))
      #expect(try box.text(place) == text && kept(place) == ["precious"])
      // It's the document's own file now.
      document.type("!")
      #expect(await document.close())
      #expect(try box.text(place) == text + "!" && kept(place) == ["precious"])
      #expect(try box.text(former) == "mine")
    }
  }

  @Test("CD-77: So does a file that couldn't be opened, and that's saved all the same")
  func unreadable() async throws {
    try await withSandbox { box in
      let place = box.url("a.txt")
      try Data([0x61, 0xff]).write(to: place)
      let document = NoteDocument(fileURL: place)
      #expect(await !document.open())
      document.type("new")
      #expect(await document.save(to: place, for: .forOverwriting))
      let versions = try #require(NSFileVersion.otherVersionsOfItem(at: place))
      #expect(try versions.map { try Data(contentsOf: $0.url) } == [Data([0x61, 0xff])])
      #expect(await document.close())
    }
  }

  @Test("CD-77: So does what another program writes there until the last instant")
  func writtenMeanwhile() async throws {
    try await withSandbox { box in
      let place = try box.write("b.txt", "precious")
      let document = NoteDocument(fileURL: place)
      document.text = "mine"
      var isFirst = true
      document.whileWriting = {
        if isFirst { try? Data("theirs".utf8).write(to: place) }
        isFirst = false
      }
      #expect(await document.save(to: place, for: .forCreating))
      #expect(try box.text(place) == "mine" && Set(kept(place)) == ["precious", "theirs"])
      #expect(await document.close())
    }
  }

  @Test(
    "CD-77: So does what another program puts in the place of a link until the last instant, unless it's another link",
    arguments: ["file", "renamed file", "link"])
  func linkReplacedMeanwhile(kind: String) async throws {
    try await withSandbox { box in
      let (target, other) = (try box.write("target.txt", "target"), try box.write("other.txt", "other"))
      let place = box.url("b.txt")
      try FileManager.default.createSymbolicLink(at: place, withDestinationURL: target)
      let document = NoteDocument(fileURL: place)
      document.text = "mine"
      var isFirst = true
      document.whileWriting = {
        if isFirst {
          try? FileManager.default.removeItem(at: place)
          switch kind {
          case "file": try? Data("theirs".utf8).write(to: place)
          case "renamed file": _ = try? rename(box.write("new.txt", "theirs").path, place.path)
          default: try? FileManager.default.createSymbolicLink(at: place, withDestinationURL: other)
          }
        }
        isFirst = false
      }
      #expect(await document.save(to: place, for: .forCreating))
      #expect(try box.text(place) == "mine" && kept(place) == (kind == "link" ? [] : ["theirs"]))
      #expect(try box.text(target) == "target" && box.text(other) == "other")
      let names = try FileManager.default.contentsOfDirectory(atPath: box.root.path)
      #expect(Set(names) == ["b.txt", "target.txt", "other.txt"])
      #expect(await document.close())
    }
  }

  @Test(
    "CD-77: So does what it writes into a member of a package, also by a mapping, which changes no date",
    arguments: [false, true])
  func memberWrittenMeanwhile(isMapped: Bool) async throws {
    try await withSandbox { box in
      let place = box.url("b.pkg")
      let member = try box.write("b.pkg/text.txt", "precious")
      let mapping = try #require(MappedFile(member.path))
      let document = WrappedNote(fileURL: place)
      document.text = "mine"
      var isFirst = true
      document.whileWriting = {
        if isFirst, isMapped { mapping.store("theirs, ") }
        if isFirst, !isMapped { try? Data("theirs".utf8).write(to: member) }
        isFirst = false
      }
      #expect(await document.save(to: place, for: .forCreating))
      #expect(try box.text(member) == "mine")
      let versions = try #require(NSFileVersion.otherVersionsOfItem(at: place))
      let texts = try versions.map { try box.text($0.url.appendingPathComponent("text.txt")) }
      #expect(Set(texts) == ["precious", isMapped ? "theirs, " : "theirs"] && texts.count == 2)
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["b.pkg"])
      #expect(await document.close())
    }
  }

  @Test("CD-77: So does what another program makes at a free place until the last instant", arguments: [false, true])
  func createdMeanwhile(isPackage: Bool) async throws {
    try await withSandbox { box in
      let place = box.url(isPackage ? "b.pkg" : "b.txt")
      let file = isPackage ? box.url("b.pkg/text.txt") : place
      let document = isPackage ? WrappedNote(fileURL: place) : NoteDocument(fileURL: place)
      document.text = "mine"
      var isFirst = true
      document.whileWriting = {
        if isFirst { _ = try? box.write(isPackage ? "b.pkg/text.txt" : "b.txt", "theirs") }
        isFirst = false
      }
      #expect(await document.save(to: place, for: .forCreating))
      #expect(try box.text(file) == "mine")
      let versions = try #require(NSFileVersion.otherVersionsOfItem(at: place))
      #expect(
        try versions.map { try box.text(isPackage ? $0.url.appendingPathComponent("text.txt") : $0.url) } == ["theirs"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == [place.lastPathComponent])
      #expect(await document.close())
    }
  }

  @Test("CD-77: So does a package, and what has the same contents needs no version")
  func packages() async throws {
    try await withSandbox { box in
      let place = box.url("a.pkg")
      _ = try box.write("a.pkg/text.txt", "precious")
      let document = PackagedNote(fileURL: place)
      document.text = "mine"
      #expect(await document.save(to: place, for: .forCreating))
      let versions = try #require(NSFileVersion.otherVersionsOfItem(at: place))
      #expect(try versions.map { try box.text($0.url.appendingPathComponent("text.txt")) } == ["precious"])
      #expect(try box.text(box.url("a.pkg/text.txt")) == "mine")
      #expect(await document.close())

      let same = NoteDocument(fileURL: try box.write("same.txt", "same"))
      same.text = "same"
      #expect(await same.save(to: same.fileURL, for: .forCreating))
      #expect(try kept(same.fileURL) == [])
      #expect(await same.close())
    }
  }

  @Test(
    "CD-77: An item of another kind isn't replaced", arguments: ["directory", "pipe", "file"])
  func otherKinds(kind: String) async throws {
    try await withSandbox { box in
      let place = box.url("b.txt")
      var document: UIDocument = NoteDocument(fileURL: place)
      switch kind {
      case "directory": _ = try box.write("b.txt/inside.txt", "precious")
      case "pipe": #expect(mkfifo(place.path, 0o600) == 0)
      default:
        _ = try box.write("b.txt", "precious")
        document = PackagedNote(fileURL: place)
      }
      for operation in [UIDocument.SaveOperation.forCreating, .forOverwriting] {
        #expect(await !document.save(to: place, for: operation))
      }
      let error = (document as? NoteDocument)?.errors.last ?? CocoaError(.fileWriteFileExists)
      #expect((error as? CocoaError)?.code == .fileWriteFileExists)
      switch kind {
      case "directory": #expect(try box.text(box.url("b.txt/inside.txt")) == "precious")
      case "pipe":
        let type = try FileManager.default.attributesOfItem(atPath: place.path)[.type] as? FileAttributeType
        #expect(type == .typeUnknown)
      default: #expect(try box.text(place) == "precious")
      }
      #expect(document.documentState.contains(.closed))
    }
  }

  @Test(
    "CD-77, CD-24: A directory that another program puts in the place of the file isn't replaced by a save",
    arguments: [false, true], [false, true])
  func becameDirectory(isObserved: Bool, isEditedBefore: Bool) async throws {
    try await withSandbox { box in
      let document = ObservingNote(fileURL: try box.write("a.txt", "one"), isObserving: isObserved)
      #expect(await document.open())
      if isEditedBefore { document.type(" two") }
      try FileManager.default.removeItem(at: document.fileURL)
      _ = try box.write("a.txt/inside.txt", "theirs")
      if isObserved { await document.until { !document.errors.isEmpty } }
      if !isEditedBefore { document.type(" two") }
      for _ in 0..<2 {
        #expect(await !document.save(to: document.fileURL, for: .forOverwriting))
        #expect(document.documentState.contains(.savingError) && document.hasUnsavedChanges)
      }
      #expect(await !document.close())
      #expect(try box.text(box.url("a.txt/inside.txt")) == "theirs")
      #expect(await document.save(to: box.url("b.txt"), for: .forCreating))
      #expect(try box.text(box.url("b.txt")) == "one two")
      #expect(await document.close())
      #expect(try box.text(box.url("a.txt/inside.txt")) == "theirs")
    }
  }

  @Test("CD-19: A message about the new place that comes before the document knows that it's there isn't lost")
  func earlyMessage() async throws {
    try await withSandbox { box in
      let document = HastyNote(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      let place = box.url("b.txt")
      // Right after the document has its new presenter, and before the main queue has the end of its save.
      document.whenPresented.withLock { action in
        action = {
          try? Data("theirs".utf8).write(to: place)
          document.presentedItemDidChange()
        }
      }
      #expect(await document.save(to: place, for: .forCreating))
      #expect(document.whenPresented.withLock { $0 == nil })
      #expect(await document.close())
      #expect(try document.text == "theirs" && box.text(place) == "theirs")
    }
  }

  @Test("CD-38: If there can't be a version of it, nothing is overwritten, and the error is one of Cocoa")
  func noVersion() async throws {
    try await withSandbox { box in
      // No store has a name of this length that begins like this.
      let place = try box.write("=" + String(repeating: "a", count: 254), "precious")
      let document = NoteDocument(fileURL: place)
      document.text = "mine"
      #expect(await !document.save(to: place, for: .forCreating))
      #expect(try box.text(place) == "precious")
      let error = try #require(document.errors.last) as NSError
      #expect(error.domain == NSCocoaErrorDomain)
      #expect(error.localizedDescription.contains("aaaa"))
    }
  }
}

/// A note that notices programs that don't coordinate, or doesn't.
private final class ObservingNote: NoteDocument {
  private nonisolated let isObserving: Bool

  init(fileURL url: URL, isObserving: Bool) {
    self.isObserving = isObserving
    super.init(fileURL: url)
  }

  override nonisolated var observesUncoordinatedChanges: Bool { isObserving }
}

/// A note that does something when it's presented at another place.
private final class HastyNote: NoteDocument {
  nonisolated let whenPresented = Guarded<(@Sendable () -> Void)?>(nil)

  override nonisolated var presentedItemURL: URL? {
    let url = super.presentedItemURL
    if url?.lastPathComponent == "b.txt" { whenPresented.withLock { $0.take() }?() }
    return url
  }
}

/// A note in a package.
private final class WrappedNote: NoteDocument {
  override func contents(forType typeName: String) throws -> Any {
    FileWrapper(directoryWithFileWrappers: ["text.txt": FileWrapper(regularFileWithContents: Data(text.utf8))])
  }
}
