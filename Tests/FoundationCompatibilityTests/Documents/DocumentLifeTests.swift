import Foundation
import FoundationCompatibility
import Testing

@Suite("UIDocument, alone", .timeLimit(.minutes(8)))
@MainActor struct DocumentLifeTests {
  init() { _ = Sandbox.versionStore }

  @Test(
    "CD-01, CD-03, CD-04, UD-1: A document is closed at first, and normal when it was opened; its file is read off the main queue"
  )
  func opening() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let document = NoteDocument(fileURL: url)
      #expect(document.documentState == .closed && document.fileModificationDate == nil)
      #expect(document.fileURL == url && document.localizedName == "a" && document.fileType == "public.plain-text")
      #expect(await document.open())
      #expect(document.documentState == .normal && document.text == "one")
      // The notification comes in a turn of the main queue.
      while document.states.isEmpty { await Task.yield() }
      let date = try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
      let known = try #require(document.fileModificationDate)
      // `Date` has no exact nanoseconds.
      #expect(try abs(known.timeIntervalSince(#require(date))) < 1e-5)
      #expect(document.journal.entries.contains("read") && !document.journal.entries.contains("read on main"))
      #expect(await document.close())
      #expect(document.documentState == .closed && document.states.first == .normal)
    }
  }

  @Test(
    "CD-02, UD-6: A failed opening leaves the document closed, and reports the error",
    arguments: ["none.txt", "bad.txt"])
  func failedOpening(name: String) async throws {
    try await withSandbox { box in
      try Data([0xFF, 0xFE]).write(to: box.url("bad.txt"))
      let document = NoteDocument(fileURL: box.url(name))
      #expect(await document.open() == false)
      #expect(document.documentState == .closed && document.errors.count == 1)
      if name == "bad.txt" {
        #expect(document.errors.first is NoteDocument.Refused)
      } else {
        #expect((document.errors.first as? CocoaError)?.code == .fileReadNoSuchFile)
      }
      // Nobody waits for it.
      try await writeElsewhere("good", to: box.url(name))
      #expect(await document.open())
      #expect(document.text == "good")
      #expect(await document.close())
    }
  }

  @Test("CD-04: A completion handler runs on the operation queue of the call")
  func callersQueue() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let document = NoteDocument(fileURL: url)
      let queue = serialQueue("caller")
      let result = await withCheckedContinuation { end in
        queue.addOperation {
          openFromAnywhere(document) { end.resume(returning: ($0, OperationQueue.current?.name)) }
        }
      }
      #expect(result.0 && result.1 == "caller" && document.text == "one")
      #expect(await document.close())
    }
  }

  @Test("CD-05, UD-8: A package is delivered as a file wrapper")
  func wrappers() async throws {
    try await withSandbox { box in
      _ = try box.write("a.pkg/text.txt", "one")
      let document = PackagedNote(fileURL: box.url("a.pkg"))
      #expect(await document.open())
      #expect(document.text == "one")
      #expect(await document.close())
    }
  }

  @Test("CD-06, UD-9: When a save returns, its contents were taken; they're written elsewhere")
  func snapshots() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: box.url("new.txt"))
      document.text = "first"
      let isSaved = await withCheckedContinuation { end in
        document.save(to: document.fileURL, for: .forCreating) { end.resume(returning: $0) }
        #expect(document.journal.entries.first == "contents")
        document.text = "second"
      }
      let written = try box.text(document.fileURL)
      #expect(isSaved && document.documentState == .normal && written == "first")
      #expect(document.journal.entries.contains("write") && !document.journal.entries.contains("write on main"))
      #expect(await document.close())
    }
  }

  @Test(
    "CD-06, CD-07: So they were if the save has to wait, because one runs or another one is before it; a noted change since then is in the file, or unsaved",
    arguments: ["a.txt", "b.txt"], [false, true])
  func snapshotsOfWaitingSaves(name: String, isNoted: Bool) async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      let place = box.url(name)
      let isSaved = await withCheckedContinuation { end in
        document.whileWriting = {
          document.whileWriting = nil
          // Nobody has noted this, but a save was asked for.
          document.text = "two"
          let count = document.journal.count(of: "contents")
          document.save(to: place, for: name == "a.txt" ? .forOverwriting : .forCreating) { end.resume(returning: $0) }
          #expect(document.journal.count(of: "contents") == count + 1)
          if isNoted { document.type(" three") } else { document.text = "three" }
        }
        document.save(to: document.fileURL, for: .forOverwriting)
      }
      let text = try box.text(place)
      #expect(isSaved && document.fileURL == place)
      #expect(isNoted ? document.hasUnsavedChanges || text == "two three" : text == "two")
      document.type("!")
      #expect(await document.close())
      #expect(try box.text(place) == (isNoted ? "two three!" : "three!"))
    }
  }

  @Test("CD-07, CD-15, UD-11: An edit during a save is still unsaved, and each of several saves ends once")
  func editingWhileSaving() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", ""))
      #expect(await document.open())
      document.type("a")
      var ends: [Bool] = []
      await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
        document.whileWriting = {
          document.whileWriting = nil
          document.type("b")
          document.save(to: document.fileURL, for: .forOverwriting) {
            ends.append($0)
            end.resume()
          }
        }
        document.save(to: document.fileURL, for: .forOverwriting) {
          ends.append($0)
          #expect(document.hasUnsavedChanges)
        }
      }
      #expect(ends == [true, true] && !document.hasUnsavedChanges)
      #expect(try box.text(document.fileURL) == "ab")
      #expect(await document.close())
      #expect(ends.count == 2)
    }
  }

  @Test("CD-08, CD-09: Without changes nothing is written; closing saves changes")
  func savingWhatIsUnsaved() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      #expect(await document.autosave())
      #expect(document.journal.count(of: "write") == 0)
      document.type(" two")
      #expect(await document.autosave())
      #expect(document.journal.count(of: "write") == 1 && !document.hasUnsavedChanges)
      document.type(" three")
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two three" && document.journal.count(of: "write") == 2)
      #expect(await document.open() && document.text == "one two three")
      #expect(await document.close())
      #expect(document.journal.count(of: "write") == 2)
    }
  }

  @Test("CD-10, UD-15: An edit that was undone is no change, and neither is a cleared one")
  func counting() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt"))
      #expect(await document.open())
      document.updateChangeCount(.done)
      #expect(document.hasUnsavedChanges)
      document.updateChangeCount(.undone)
      #expect(!document.hasUnsavedChanges)
      document.updateChangeCount(.redone)
      #expect(document.hasUnsavedChanges)
      let token = document.changeCountToken(for: .forOverwriting)
      document.updateChangeCount(.done)
      document.updateChangeCount(withToken: token, for: .forOverwriting)
      #expect(document.hasUnsavedChanges)
      document.updateChangeCount(.cleared)
      #expect(!document.hasUnsavedChanges)
      #expect(await document.close())
      #expect(document.journal.count(of: "write") == 0)
    }
  }

  @Test("CD-11, UD-14: A registration with the undo manager is a change, and its undo takes it back")
  func undoing() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      let manager = try #require(document.undoManager)
      manager.groupsByEvent = false
      manager.beginUndoGrouping()
      manager.registerUndo(withTarget: document) { $0.text = "one" }
      document.text = "two"
      manager.endUndoGrouping()
      #expect(document.hasUnsavedChanges)
      manager.undo()
      #expect(document.text == "one" && !document.hasUnsavedChanges)
      manager.beginUndoGrouping()
      manager.registerUndo(withTarget: document) { $0.text = "one" }
      document.text = "three"
      #expect(document.hasUnsavedChanges)
      manager.endUndoGrouping()
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "three")
    }
  }

  @Test("CD-13, CD-14: A save keeps permissions and extended attributes, and leaves nothing else behind")
  func attributes() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: url.path)
      let document = NoteDocument(fileURL: url)
      #expect(await document.open())
      document.type(" two")
      #expect(await document.close())
      let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
      #expect(mode == 0o640)
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.txt"])
    }
  }

  @Test("CD-16, UD-16: Blocks of file access run one at a time, in order, and not on the caller's queue")
  func fileAccess() async throws {
    let document = NoteDocument(fileURL: URL(fileURLWithPath: "/none"))
    let journal = document.journal
    let running = Counter()
    await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
      for number in 0..<20 {
        document.performAsynchronousFileAccess {
          if running.increment() != 1 { journal.note("two at a time") }
          journal.note(Thread.isMainThread ? "on the caller's queue" : "\(number)")
          running.decrement()
          if number == 19 { end.resume() }
        }
      }
    }
    #expect(journal.entries == (0..<20).map(String.init))
  }

  @Test("CD-24, CD-27: A write error is the state, and handed over; the next save clears it")
  func savingErrors() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.failsToWrite = true
      document.type(" two")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting) == false)
      #expect(document.documentState == .savingError && document.errors.first is NoteDocument.Refused)
      #expect(document.hasUnsavedChanges)
      #expect(try box.text(document.fileURL) == "one")
      #expect(await document.close() == false)
      document.failsToWrite = false
      #expect(await document.autosave())
      #expect(document.documentState == .normal)
      #expect(try box.text(document.fileURL) == "one two")
      #expect(await document.close())
    }
  }

  @Test("CD-25, UD-21: Reverting drops what is unsaved, keeps it as a version, and disables editing meanwhile")
  func reverting() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      let start = document.journal.entries.count
      #expect(await document.revert(toContentsOf: document.fileURL))
      #expect(document.text == "one" && !document.hasUnsavedChanges && document.documentState == .normal)
      let events = document.journal.entries.dropFirst(start).filter { ["disable", "load", "enable"].contains($0) }
      #expect(events == ["disable", "load", "enable"])
      let versions = try #require(NSFileVersion.otherVersionsOfItem(at: document.fileURL))
      #expect(try versions.map { try box.text($0.url) } == ["one two"])
      #expect(await document.revert(toContentsOf: versions[0].url))
      #expect(document.text == "one two")
      #expect(await document.close())
      #expect(try box.text(document.fileURL) == "one two")
    }
  }

  @Test("CD-31, UD-18: A save of a package writes what has changed, and nothing else")
  func incrementalSaves() async throws {
    try await withSandbox { box in
      _ = try box.write("a.pkg/text.txt", "one")
      let picture = try box.write("a.pkg/picture.png", "pixels")
      let number = try FileManager.default.attributesOfItem(atPath: picture.path)[.systemFileNumber] as? Int
      let document = PackagedNote(fileURL: box.url("a.pkg"))
      #expect(await document.open())
      for text in ["two", "three"] {
        document.text = text
        document.updateChangeCount(.done)
        #expect(await document.autosave())
        #expect(try box.text(box.url("a.pkg/text.txt")) == text)
      }
      let newNumber = try FileManager.default.attributesOfItem(atPath: picture.path)[.systemFileNumber] as? Int
      #expect(number != nil && number == newNumber)
      #expect(await document.close())
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["a.pkg"])
    }
  }

  @Test("CD-32, UD-26, SP-8: A document from a place that can't be written reports where it was saved")
  func writablePlaces() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      // Nobody can write to what isn't there, not even the superuser.
      let former = document.fileURL
      try FileManager.default.removeItem(at: former)
      let moved = Journal()
      let token = NotificationCenter.default.addObserver(
        of: document, for: .didMoveToWritableLocation
      ) { message in moved.note(message.oldURL.lastPathComponent) }
      defer { NotificationCenter.default.removeObserver(token) }
      #expect(await document.save(to: box.url("b.txt"), for: .forCreating))
      #expect(document.fileURL == box.url("b.txt") && document.documentState == .normal)
      #expect(moved.wait(for: "a.txt"))
      #expect(await document.close())
    }
  }

  @Test("CD-15: Of saves that a class takes over, each is made through the class, and ends once")
  func overriddenSaves() async throws {
    try await withSandbox { box in
      let document = CountingNote(fileURL: try box.write("a.txt", ""))
      #expect(await document.open())
      document.type("a")
      #expect(await document.save(to: document.fileURL, for: .forOverwriting))
      #expect(document.saveCount == 1)
      document.type("b")
      #expect(try await readElsewhere(document.fileURL) == "ab")
      #expect(document.saveCount == 2)
      document.type("c")
      #expect(await document.close())
      #expect(document.saveCount == 3)
      #expect(try box.text(document.fileURL) == "abc")
    }
  }
}

/// A program in Swift 5 mode calls from anywhere.
nonisolated private func openFromAnywhere(_ document: UIDocument, _ handler: @escaping @Sendable (Bool) -> Void) {
  let open = unsafeBitCast(
    { @MainActor (document: UIDocument, handler: @escaping @Sendable (Bool) -> Void) in
      document.open(completionHandler: handler)
    } as @MainActor (UIDocument, @escaping @Sendable (Bool) -> Void) -> Void,
    to: ((UIDocument, @escaping @Sendable (Bool) -> Void) -> Void).self)
  open(document, handler)
}

final class Counter: @unchecked Sendable {
  private let lock = NSLock()
  private var value = 0

  func increment() -> Int {
    lock.withLock {
      value += 1
      return value
    }
  }
  func decrement() { lock.withLock { value -= 1 } }
}

/// A text in a package.
class PackagedNote: UIDocument {
  var text = ""
  var whenLoaded: ((String) -> Void)?
  private nonisolated let noticesStrangers: Bool

  init(fileURL url: URL, noticingStrangers noticesStrangers: Bool) {
    self.noticesStrangers = noticesStrangers
    super.init(fileURL: url)
  }

  convenience override init(fileURL url: URL) { self.init(fileURL: url, noticingStrangers: false) }

  override nonisolated var observesUncoordinatedChanges: Bool { noticesStrangers }
  private var root = FileWrapper(directoryWithFileWrappers: [:])

  override func contents(forType typeName: String) throws -> Any {
    if let old = root.fileWrappers?["text.txt"] { root.removeFileWrapper(old) }
    _ = root.addRegularFile(withContents: Data(text.utf8), preferredFilename: "text.txt")
    return root
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let wrapper = contents as? FileWrapper, let data = wrapper.fileWrappers?["text.txt"]?.regularFileContents
    else { throw CocoaError(.fileReadCorruptFile) }
    root = wrapper
    text = String(decoding: data, as: UTF8.self)
    whenLoaded?(text)
  }
}

final class CountingNote: NoteDocument {
  var saveCount = 0

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    saveCount += 1
    super.save(to: url, for: saveOperation, completionHandler: completionHandler)
  }
}
