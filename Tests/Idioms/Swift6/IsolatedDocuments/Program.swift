import Foundation
import FoundationCompatibility
import Scene

// Document classes as they're written for SDKs in which the class belongs to the main actor, and for those in which it doesn't.

/// Says nothing of isolation.
class PlainNote: UIDocument {
  var text = ""

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }
}

/// Belongs to the main actor, which the overrides take for granted.
@MainActor
final class MainNote: UIDocument {
  var text = ""

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }
}

/// Belongs to the main actor, and overrides what doesn't.
@MainActor
final class AssumingNote: UIDocument, @unchecked Sendable {
  var text = ""

  nonisolated override func contents(forType typeName: String) throws -> Any {
    MainActor.assumeIsolated { Data(text.utf8) }
  }

  nonisolated override func load(fromContents contents: Any, ofType typeName: String?) throws {
    let text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
    MainActor.assumeIsolated { self.text = text }
  }
}

/// Belongs to nobody, and locks.
final class LockedNote: UIDocument, @unchecked Sendable {
  private let lock = NSLock()
  private var stored = ""

  var text: String {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }
}

/// As view controllers hold documents.
@MainActor
final class Editor {
  func edit<Note: UIDocument>(_ note: Note, _ text: ReferenceWritableKeyPath<Note, String>) async {
    let isOpen = await note.open()
    Scene.check(isOpen && note[keyPath: text] == "one", "opened")
    note.undoManager.registerUndo(withTarget: note) { $0[keyPath: text] = "one" }
    note[keyPath: text] += " two"
    let isSaved: Bool = await withCheckedContinuation { end in
      note.save(to: note.fileURL, for: .forOverwriting) { end.resume(returning: $0) }
    }
    let saved = (try? String(contentsOf: note.fileURL, encoding: .utf8)) ?? ""
    Scene.check(isSaved && saved == "one two", "saved '\(saved)'")
    note.undoManager.undo()
    let isClosed = await note.close()
    let closed = (try? String(contentsOf: note.fileURL, encoding: .utf8)) ?? ""
    Scene.check(isClosed && closed == "one", "closed with '\(closed)'")
  }
}

@main @MainActor
struct Program {
  static func main() async {
    let editor = Editor()
    await editor.edit(PlainNote(fileURL: Scene.file("a.txt", "one")), \.text)
    await editor.edit(MainNote(fileURL: Scene.file("b.txt", "one")), \.text)
    await editor.edit(AssumingNote(fileURL: Scene.file("c.txt", "one")), \.text)
    await editor.edit(LockedNote(fileURL: Scene.file("d.txt", "one")), \.text)
    Scene.finish()
  }
}
