import Foundation
import FoundationCompatibility
import Scene

// A document class for a text file, as people write it, and the code of a view controller that opens, edits and closes it.

class TextDocument: UIDocument {
  enum TextError: Error { case notUTF8 }

  private(set) var text = ""
  var onChange: (() -> Void)?

  override func contents(forType typeName: String) throws -> Any {
    return Data(text.utf8)
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let data = contents as? Data, let text = String(data: data, encoding: .utf8) else { throw TextError.notUTF8 }
    self.text = text
    onChange?()
  }

  func setText(_ newText: String) {
    let oldText = text
    undoManager.registerUndo(withTarget: self) { $0.setText(oldText) }
    text = newText
    onChange?()
  }
}

@MainActor
final class EditorViewController {
  let document: TextDocument
  private(set) var title = ""
  private(set) var isReadOnly = true
  private var observer: (any NSObjectProtocol)?
  private var waiting: CheckedContinuation<Void, Never>?

  init(document: TextDocument) {
    self.document = document
    document.onChange = { [weak self] in self?.refresh() }
    observer = NotificationCenter.default.addObserver(
      forName: UIDocument.stateChangedNotification, object: document, queue: .main
    ) { [weak self] _ in
      MainActor.assumeIsolated { self?.refresh() }
    }
  }

  func viewWillAppear(_ completion: @escaping (Bool) -> Void) {
    document.open { success in
      self.refresh()
      completion(success)
    }
  }

  func viewWillDisappear() async -> Bool {
    if let observer { NotificationCenter.default.removeObserver(observer) }
    return await document.close()
  }

  private func refresh() {
    title = document.localizedName
    isReadOnly = !document.documentState.isDisjoint(with: [.closed, .editingDisabled])
    waiting?.resume()
    waiting = nil
  }

  func until(_ condition: () -> Bool) async {
    while !condition() { await withCheckedContinuation { waiting = $0 } }
  }
}

/// Another part of the program, on a thread of its own.
func elsewhere(_ body: @escaping @Sendable (NSFileCoordinator) -> Void) async {
  await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
    Thread.detachNewThread {
      body(NSFileCoordinator())
      end.resume()
    }
  }
}

@main @MainActor
struct Program {
  static func main() async {
    let url = Scene.file("Letter.txt", "Dear")
    let editor = EditorViewController(document: TextDocument(fileURL: url))
    let isOpen = await withCheckedContinuation { end in editor.viewWillAppear { end.resume(returning: $0) } }
    Scene.check(isOpen && editor.document.text == "Dear" && editor.title == "Letter" && !editor.isReadOnly, "opened")

    editor.document.setText("Dear Ada")
    Scene.check(editor.document.hasUnsavedChanges, "an edit is unsaved")
    await elsewhere { coordinator in
      var text: String?
      coordinator.coordinate(readingItemAt: url, error: nil) { text = try? String(contentsOf: $0, encoding: .utf8) }
      Scene.check(text == "Dear Ada", "a reader finds what is unsaved")
    }
    Scene.check(!editor.document.hasUnsavedChanges, "it was saved for the reader")

    await elsewhere { coordinator in
      coordinator.coordinate(writingItemAt: url, error: nil) { try? Data("Dear Bob".utf8).write(to: $0) }
    }
    await editor.until { editor.document.text == "Dear Bob" && !editor.isReadOnly }

    editor.document.undoManager.removeAllActions()
    editor.document.setText("Dear Bob and Ada")
    editor.document.undoManager.undo()
    Scene.check(editor.document.text == "Dear Bob", "undone")
    editor.document.undoManager.redo()
    let isReverted = await editor.document.revert(toContentsOf: url)
    Scene.check(isReverted && editor.document.text == "Dear Bob", "reverted")
    editor.document.setText("Dear all")
    let isClosed = await editor.viewWillDisappear()
    Scene.check(isClosed && editor.document.documentState == .closed, "closed")
    Scene.check((try? String(contentsOf: url, encoding: .utf8)) == "Dear all", "saved when it was closed")

    let bad = TextDocument(fileURL: Scene.folder.appendingPathComponent("none.txt"))
    let isBadOpen = await bad.open()
    Scene.check(!isBadOpen && bad.documentState.contains(.closed), "what isn't there can't be opened")
    Scene.finish()
  }
}
