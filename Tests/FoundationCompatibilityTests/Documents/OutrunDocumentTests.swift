import Foundation
import FoundationCompatibility
import Synchronization
import Testing

// One after the other: each occupies a thread of Dispatch, which adds one each second at most.
@Suite("UIDocument, when its file is moved in the middle of an operation", .serialized, .timeLimit(.minutes(2)))
@MainActor struct OutrunDocumentTests {
  init() { _ = Sandbox.versionStore }

  enum Operation: String, CaseIterable, Sendable {
    case save, check, revert
  }

  @Test(
    "CD-21: News of a move that comes after an operation has chosen the place, and before it requests the access, is followed by the operation; another file at the former place isn't touched",
    arguments: Operation.allCases, [false, true])
  func outrun(operation: Operation, isTaken: Bool) async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("a.txt", "one"), box.url("b.txt"))
      let document = OutrunNote(fileURL: old)
      #expect(await document.open())
      // The listing of conflicts that follows the open is over after that.
      await withCheckedContinuation { end in document.performAsynchronousFileAccess { end.resume() } }
      if operation != .check { document.type(", mine") }
      document.meanwhile.withLock { deed in
        deed = {
          box.move("a.txt", to: "b.txt")
          // The document has answered the news.
          box.quiesce()
          if isTaken { do { try Data("another".utf8).write(to: old) } catch { Issue.record(error) } }
          DispatchQueue.main.async { document.occurred("moved") }
        }
      }
      switch operation {
      case .save: #expect(await document.autosave())
      case .check: try await writeElsewhere("theirs", to: old)
      case .revert: #expect(await document.revert(toContentsOf: old))
      }
      await document.until {
        document.fileURL == new && document.documentState == .normal && document.journal.entries.contains("moved")
      }
      switch operation {
      case .save: #expect(try box.text(new) == "one, mine" && document.text == "one, mine")
      case .check: await document.until { document.text == "theirs" }
      case .revert: #expect(document.text == "one")
      }
      #expect(NSFileVersion.unresolvedConflictVersionsOfItem(at: new)?.isEmpty == true)
      #expect(await document.close())
      let names = isTaken ? ["a.txt", "b.txt"] : ["b.txt"]
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path).sorted() == names)
      if isTaken { #expect(try box.text(old) == "another") }
    }
  }

  @Test(
    "CD-21: A save that a class goes on with after the file was moved goes to the new place, also if it names the former one"
  )
  func movedBeforeSave() async throws {
    try await withSandbox { box in
      let (old, new) = (try box.write("a.txt", "one"), box.url("b.txt"))
      let document = PreparingNote(fileURL: old)
      #expect(await document.open())
      for (number, (source, target)) in [(old, new), (new, old)].enumerated() {
        document.type(", mine")
        document.prepare = {
          do {
            try await elsewhere { box.move(source.lastPathComponent, to: target.lastPathComponent) }
          } catch { Issue.record(error) }
          await document.until { document.fileURL == target }
        }
        #expect(await document.autosave())
        #expect(document.fileURL == target)
        #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == [target.lastPathComponent])
        #expect(try box.text(target) == "one" + String(repeating: ", mine", count: number + 1))
      }
      // A place that the program chooses is another one, although the file has been there.
      #expect(await document.save(to: new, for: .forCreating))
      document.type(", more")
      #expect(await document.save(to: old, for: .forOverwriting))
      #expect(document.fileURL == old)
      #expect(try box.text(new) == "one, mine, mine")
      #expect(try box.text(old) == "one, mine, mine, more")
      #expect(await document.close())
    }
  }
}

/// A class that does something before each save of its own.
private final class PreparingNote: NoteDocument {
  var prepare: (() async -> Void)?

  override func save(to url: URL, for saveOperation: SaveOperation) async -> Bool {
    let prepare = prepare
    self.prepare = nil
    await prepare?()
    return await super.save(to: url, for: saveOperation)
  }
}

/// Something happens when an operation has chosen the place of its access.
private final class OutrunNote: NoteDocument {
  let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)
  private nonisolated static let marker = "operation"

  override nonisolated func performAsynchronousFileAccess(_ block: @escaping @Sendable () -> Void) {
    super.performAsynchronousFileAccess {
      Thread.current.threadDictionary[Self.marker] = true
      block()
      Thread.current.threadDictionary.removeObject(forKey: Self.marker)
    }
  }

  override nonisolated var fileURL: URL {
    let url = super.fileURL
    // The library asks as well.
    if Thread.current.threadDictionary[Self.marker] == nil { return url }
    let deed = meanwhile.withLock { deed in
      defer { deed = nil }
      return deed
    }
    deed?()
    return url
  }
}
