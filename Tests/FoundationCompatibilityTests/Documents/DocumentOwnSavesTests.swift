import Foundation
import FoundationCompatibility
import Glibc
import Synchronization
import Testing

// One after the other: each occupies a thread of Dispatch.
@Suite("UIDocument, whose class writes by itself", .serialized, .timeLimit(.minutes(4)))
@MainActor struct DocumentOwnSavesTests {
  init() { _ = Sandbox.versionStore }

  /// The present text and the conflicts.
  private func texts(_ url: URL, _ box: Sandbox) throws -> [String] {
    let conflicts = try #require(NSFileVersion.unresolvedConflictVersionsOfItem(at: url))
    return try [box.text(url)] + conflicts.map { try box.text($0.url) }
  }

  private func open(_ url: URL, isPresented: Bool = true) async -> SelfWritingNote {
    let document = SelfWritingNote(fileURL: url)
    document.isPresented = isPresented
    #expect(await document.open())
    return document
  }

  @Test(
    "CD-12, CD-19, SP-5: Text that another program writes between the write of an override and its end isn't lost",
    arguments: [true, false])
  func writtenBeforeEnd(isPresented: Bool) async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"), isPresented: isPresented)
      let url = document.fileURL
      document.type(" mine")
      document.beforeEnd = {
        do { try await writeElsewhere("theirs", to: url) } catch { Issue.record(error) }
      }
      #expect(await document.saveIfAsked() == nil)
      #expect(document.savedTexts == ["one mine"])
      await document.settle()
      document.type(" more")
      #expect(await document.close())
      #expect(try texts(url, box).contains { $0.contains("theirs") })
    }
  }

  @Test("CD-19: Text that another program writes between the write of an override and its end is taken over")
  func takenOver() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let url = document.fileURL
      document.type(" mine")
      document.beforeEnd = {
        do { try await writeElsewhere("theirs", to: url) } catch { Issue.record(error) }
      }
      #expect(await document.saveIfAsked() == nil)
      await document.settle()
      #expect(document.text == "theirs" && !document.hasUnsavedChanges)
      #expect(try texts(url, box) == ["theirs"])
      #expect(await document.close())
    }
  }

  @Test("CD-30: Contents of a save that has failed after they took their place are written once more")
  func failedAfterwards() async throws {
    try await withSandbox { box in
      let url = try box.write("a.txt", "one")
      let document = LateFailingNote(fileURL: url)
      #expect(await document.open())
      document.type(" two")
      #expect(await !document.save(to: url, for: .forOverwriting))
      #expect(try box.text(url) == "one two" && document.hasUnsavedChanges)
      #expect(await document.save(to: url, for: .forOverwriting))
      #expect(document.journal.count(of: "write") == 2 && !document.hasUnsavedChanges)
      #expect(try texts(url, box) == ["one two"])
      #expect(await document.close())
    }
  }

  @Test("CD-12: A file that another program has written is moved and deleted by the class without a version")
  func movedByClass() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let (url, other) = (document.fileURL, box.url("b.txt"))
      // Without coordination, so that the document hasn't noticed it.
      try Data("theirs".utf8).write(to: url)
      try await elsewhere {
        NSFileCoordinator(filePresenter: document).coordinate(
          writingItemAt: url, options: .forMoving, writingItemAt: other, options: .forReplacing, error: nil
        ) { old, new in
          do { try FileManager.default.moveItem(at: old, to: new) } catch { Issue.record(error) }
        }
      }
      #expect(try texts(other, box) == ["theirs"])
      #expect(await document.close())
    }
  }

  @Test("CD-12: Text of another program that an override overwrites becomes a conflict version before")
  func overwritten() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      let url = document.fileURL
      let mayWrite = DispatchSemaphore(value: 0)
      async let writer: Void = elsewhere {
        NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { url in
          DispatchQueue.main.async { document.occurred("held") }
          mayWrite.wait()
          do { try Data("theirs".utf8).write(to: url) } catch { Issue.record(error) }
        }
      }
      await document.until { document.journal.entries.contains("held") }
      document.type(" mine")
      async let problem = document.saveIfAsked()
      await document.until { document.journal.count(of: "save") > 0 }
      mayWrite.signal()
      try await writer
      #expect(await problem == nil)
      await document.settle()
      #expect(try texts(url, box) == ["one mine", "theirs"])
      #expect(await document.close())
    }
  }

  @Test("CD-07, UD-15: Text that a class has written by itself, and said so, isn't a conflict after further edits")
  func tokens() async throws {
    try await withSandbox { box in
      let document = await open(try box.write("a.txt", "one"))
      document.usesTokens = true
      document.type(" two")
      #expect(await document.autosave())
      #expect(!document.hasUnsavedChanges)
      document.type(" three")
      // The document looks at the file while it has unsaved changes.
      document.presentedItemDidChange()
      await document.settle()
      #expect(document.text == "one two three")
      #expect(await document.close())
      #expect(try texts(document.fileURL, box) == ["one two three"])
    }
  }

  @Test("CD-19, CD-23: Another program that writes just what is unsaved makes no conflict", arguments: [true, false])
  func equalTexts(isLookedAt: Bool) async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      document.type(" two")
      try Data("one two".utf8).write(to: document.fileURL)
      if isLookedAt {
        document.presentedItemDidChange()
        await document.settle()
        #expect(!document.hasUnsavedChanges)
      }
      #expect(await document.autosave())
      #expect(!document.hasUnsavedChanges)
      document.type(" three")
      #expect(await document.close())
      #expect(try texts(document.fileURL, box) == ["one two three"])
    }
  }

  @Test("CD-12, SP-5: Of a package whose members a class writes by itself, another program's members are taken over")
  func members() async throws {
    try await withSandbox { box in
      _ = try box.write("a.box/mine.txt", "one")
      let document = SelfWritingAlbum(fileURL: box.url("a.box"))
      #expect(await document.open())
      let url = document.fileURL
      document.members["mine.txt"] = "two"
      document.updateChangeCount(.done)
      document.beforeEnd = {
        do { try await writeElsewhere("theirs", to: url.appendingPathComponent("theirs.txt")) } catch {
          Issue.record(error)
        }
      }
      let problem = await withCheckedContinuation { end in
        document.savePresentedItemChanges { end.resume(returning: $0) }
      }
      #expect(problem == nil)
      await document.settle()
      #expect(document.members == ["mine.txt": "two", "theirs.txt": "theirs"])
      #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: url)?.isEmpty == true)
      #expect(await document.close())
    }
  }

  @Test(
    "CD-03: The date of a file that another program touches, or writes again, is the document's",
    arguments: [true, false])
  func dates(isWritten: Bool) async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("a.txt", "one"))
      #expect(await document.open())
      let (url, date) = (document.fileURL, Date(timeIntervalSince1970: 1_000_000))
      try await elsewhere {
        NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { url in
          if isWritten { try? Data("one".utf8).write(to: url) }
          try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
        }
      }
      await document.settle()
      #expect(document.fileModificationDate == date)
      #expect(document.journal.count(of: "load") == 1)
      #expect(await document.close())
    }
  }

  @Test(
    "CD-32, UD-26: A document whose file can be written, and whose directory can't, says that it was saved elsewhere",
    .enabled(if: geteuid() == 0))
  func lockedDirectory() async throws {
    try await withSandbox { box in
      let document = NoteDocument(fileURL: try box.write("here/a.txt", "one"))
      let (here, file) = (box.url("here").path, document.fileURL.path)
      // The file is writable, and nothing else in the directory.
      let flags = UInt(MS_BIND)
      try #require(mount(here, here, "", flags, nil) == 0)
      defer { umount2(here, Int32(MNT_DETACH)) }
      try #require(mount(file, file, "", flags, nil) == 0)
      defer { umount2(file, Int32(MNT_DETACH)) }
      try #require(mount("none", here, "", UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
      #expect(await document.open())
      document.type(" two")
      #expect(await !document.save(to: document.fileURL, for: .forOverwriting))
      let moved = Journal()
      let token = NotificationCenter.default.addObserver(of: document, for: .didMoveToWritableLocation) { message in
        moved.note(message.oldURL.lastPathComponent)
      }
      defer { NotificationCenter.default.removeObserver(token) }
      #expect(await document.save(to: box.url("b.txt"), for: .forCreating))
      #expect(moved.wait(for: "a.txt"))
      #expect(await document.close())
      #expect(try box.text(box.url("b.txt")) == "one two")
    }
  }

  @Test("CD-40, UD-19: A file whose type changes stays in the directory to which another program has just moved it")
  func changedTypeBehindMove() async throws {
    try await withSandbox { box in
      let document = TypedNote(fileURL: try box.write("here/a.txt", "one"))
      #expect(await document.open())
      let (old, new) = (document.fileURL, box.url("there/a.txt"))
      try FileManager.default.createDirectory(at: box.url("there"), withIntermediateDirectories: false)
      let mayMove = DispatchSemaphore(value: 0)
      async let mover: Void = elsewhere {
        let coordinator = NSFileCoordinator()
        coordinator.coordinate(
          writingItemAt: old, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil
        ) { old, new in
          DispatchQueue.main.async { document.occurred("held") }
          mayMove.wait()
          do { try FileManager.default.moveItem(at: old, to: new) } catch { Issue.record(error) }
          coordinator.item(at: old, didMoveTo: new)
        }
      }
      await document.until { document.journal.entries.contains("held") }
      document.newType.withLock { $0 = "public.html" }
      document.type(" two")
      async let isSaved = document.save(to: document.fileURL, for: .forOverwriting)
      await withCheckedContinuation { end in
        DispatchQueue.global().async {
          box.awaitWait(for: box.url("here/a.html"))
          end.resume()
        }
      }
      mayMove.signal()
      try await mover
      #expect(await isSaved)
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.url("here").path) == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.url("there").path) == ["a.html"])
      #expect(try box.text(box.url("there/a.html")) == "one two")
      #expect(await document.close())
    }
  }
}

extension UIDocument {
  /// Asks the document to save, as the request of a reader does.
  fileprivate func saveIfAsked() async -> (any Error)? {
    await withCheckedContinuation { end in savePresentedItemChanges { end.resume(returning: $0) } }
  }

  /// Returns when the document has done all that follows from what it was notified of.
  fileprivate func settle() async {
    // News of an access that has ended are on their way to the main queue; each check and save is a block of the document.
    let box = Sandbox(root: fileURL.deletingLastPathComponent())
    for _ in 0..<8 {
      await withCheckedContinuation { end in box.awaitQuiet { DispatchQueue.main.async { end.resume() } } }
      await withCheckedContinuation { end in performAsynchronousFileAccess { end.resume() } }
    }
  }
}

extension Sandbox {
  /// Runs `body` when no message is under way.
  fileprivate func awaitQuiet(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async {
      quiesce()
      body()
    }
  }
}

/// A text whose class writes the file by itself, with a coordinator of its own.
private final class SelfWritingNote: NoteDocument {
  var isPresented = true
  var usesTokens = false
  /// Runs when the text is written, and before the save ends.
  var beforeEnd: (() async -> Void)?
  private(set) var savedTexts: [String] = []

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    occurred("save")
    let (bytes, token) = (Data(text.utf8), changeCountToken(for: saveOperation))
    let presenter = isPresented ? self : nil
    savedTexts.append(text)
    Task {
      await withCheckedContinuation { end in
        performAsynchronousFileAccess {
          NSFileCoordinator(filePresenter: presenter).coordinate(writingItemAt: url, error: nil) { url in
            do { try bytes.write(to: url) } catch { Issue.record(error) }
          }
          end.resume()
        }
      }
      await beforeEnd?()
      beforeEnd = nil
      if usesTokens { updateChangeCount(withToken: token, for: saveOperation) }
      completionHandler?(true)
    }
  }
}

/// A package of texts whose class writes the members by itself.
private final class SelfWritingAlbum: UIDocument {
  var members: [String: String] = [:]
  var beforeEnd: (() async -> Void)?

  override func contents(forType typeName: String) throws -> Any { throw CocoaError(.featureUnsupported) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let wrappers = (contents as? FileWrapper)?.fileWrappers else { throw CocoaError(.fileReadCorruptFile) }
    members = wrappers.compactMapValues { $0.regularFileContents.map { String(decoding: $0, as: UTF8.self) } }
  }

  override func save(
    to url: URL, for saveOperation: SaveOperation, completionHandler: ((Bool) -> Void)? = nil
  ) {
    let members = members
    Task {
      await withCheckedContinuation { end in
        performAsynchronousFileAccess {
          for (name, text) in members {
            let member = url.appendingPathComponent(name)
            NSFileCoordinator(filePresenter: self).coordinate(
              writingItemAt: member, options: .forMerging, error: nil
            ) { member in
              do { try Data(text.utf8).write(to: member) } catch { Issue.record(error) }
            }
          }
          end.resume()
        }
      }
      await beforeEnd?()
      beforeEnd = nil
      completionHandler?(true)
    }
  }
}

/// A text that's saved as another type when a test wants that.
private final class TypedNote: NoteDocument {
  nonisolated let newType = Mutex(String?.none)

  override nonisolated var savingFileType: String? { newType.withLock { $0 } ?? fileType }
}

/// Its first save fails when the file is in its place.
private final class LateFailingNote: NoteDocument {
  private let hasFailed = Mutex(false)

  override nonisolated func writeContents(
    _ contents: Any, andAttributes additionalFileAttributes: [AnyHashable: Any]?, safelyTo url: URL,
    for saveOperation: SaveOperation
  ) throws {
    try super.writeContents(contents, andAttributes: additionalFileAttributes, safelyTo: url, for: saveOperation)
    let fails = hasFailed.withLock { hasFailed in
      defer { hasFailed = true }
      return !hasFailed
    }
    if fails { throw Refused() }
  }
}
