import Foundation
import FoundationCompatibility
import Scene

// The list of an app's documents: it creates, renames and deletes them, while one is open.

class NoteDocument: UIDocument {
  var text = ""

  override func contents(forType typeName: String) throws -> Any { Data(text.utf8) }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    text = String(decoding: contents as? Data ?? Data(), as: UTF8.self)
  }
}

@MainActor
final class NoteListController {
  let folder: URL
  private(set) var names: [String] = []

  init(folder: URL) { self.folder = folder }

  func reload() throws {
    names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  func createNote(_ name: String, completion: @escaping (NoteDocument?) -> Void) {
    let document = NoteDocument(fileURL: folder.appendingPathComponent(name))
    document.save(to: document.fileURL, for: .forCreating) { success in
      completion(success ? document : nil)
    }
  }

  func renameNote(_ name: String, to newName: String) async throws {
    let (source, target) = (folder.appendingPathComponent(name), folder.appendingPathComponent(newName))
    try await inBackground { coordinator, error in
      coordinator.coordinate(
        writingItemAt: source, options: .forMoving, writingItemAt: target, options: .forReplacing, error: &error
      ) { source, target in
        coordinator.item(at: source, willMoveTo: target)
        do {
          try FileManager.default.moveItem(at: source, to: target)
          coordinator.item(at: source, didMoveTo: target)
        } catch { Scene.check(false, "\(error)") }
      }
    }
  }

  func deleteNote(_ name: String) async throws {
    let url = folder.appendingPathComponent(name)
    try await inBackground { coordinator, error in
      coordinator.coordinate(writingItemAt: url, options: .forDeleting, error: &error) { url in
        do { try FileManager.default.removeItem(at: url) } catch { Scene.check(false, "\(error)") }
      }
    }
  }

  private func inBackground(
    _ body: @escaping @Sendable (NSFileCoordinator, inout NSError?) -> Void
  ) async throws {
    try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global(qos: .userInitiated).async {
        var error: NSError?
        body(NSFileCoordinator(filePresenter: nil), &error)
        if let error { end.resume(throwing: error) } else { end.resume() }
      }
    }
  }
}

@main @MainActor
struct Program {
  static func main() async throws {
    let list = NoteListController(folder: Scene.directory("Notes"))
    let made = await withCheckedContinuation { end in list.createNote("Shopping.txt") { end.resume(returning: $0) } }
    guard let note = made else { return Scene.check(false, "not created") }
    try list.reload()
    Scene.check(list.names == ["Shopping.txt"] && note.documentState == .normal, "\(list.names)")

    note.text = "milk"
    note.updateChangeCount(.done)
    try await list.renameNote("Shopping.txt", to: "Groceries.txt")
    try list.reload()
    Scene.check(list.names == ["Groceries.txt"], "\(list.names)")
    var moves = NotificationCenter.default.notifications(named: UIDocument.stateChangedNotification, object: note)
      .makeAsyncIterator()
    let isSaved = await note.autosave()
    Scene.check(isSaved && note.fileURL.lastPathComponent == "Groceries.txt", "the document follows: \(note.fileURL)")
    try list.reload()
    Scene.check(list.names == ["Groceries.txt"], "\(list.names)")
    let url = note.fileURL
    Scene.check(try String(contentsOf: url, encoding: .utf8) == "milk", "saved at the new place")

    try await list.deleteNote("Groceries.txt")
    while note.documentState != .closed { _ = await moves.next() }
    try list.reload()
    Scene.check(list.names.isEmpty, "\(list.names)")
    note.text = "bread"
    note.updateChangeCount(.done)
    let isAgain = await note.save(to: url, for: .forOverwriting)
    try list.reload()
    Scene.check(!isAgain && list.names.isEmpty, "a deleted note is there again")
    let isElsewhere = await note.save(to: list.folder.appendingPathComponent("Rescued.txt"), for: .forCreating)
    try list.reload()
    Scene.check(isElsewhere && list.names == ["Rescued.txt"], "\(list.names)")
    let isClosed = await note.close()
    Scene.check(isClosed, "closed")
    Scene.finish()
  }
}
