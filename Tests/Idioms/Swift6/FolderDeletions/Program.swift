import Foundation
import FoundationCompatibility
import Scene

// A plain folder's presenter that closes its open files before their deletion, or refuses.

final class Library: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let lock = NSLock()
  private var open: Set<String>

  init(_ url: URL, open: Set<String>) {
    presentedItemURL = url
    self.open = open
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
  }

  var openFiles: Set<String> { lock.withLock { open } }

  func accommodatePresentedSubitemDeletion(
    at url: URL, completionHandler: @escaping @Sendable ((any Error)?) -> Void
  ) {
    if url.lastPathComponent == "precious" { return completionHandler(CocoaError(.fileWriteNoPermission)) }
    lock.withLock { _ = open.remove(url.lastPathComponent) }
    completionHandler(nil)
  }
}

func write(_ url: URL, _ text: String) {
  var error: NSError?
  NSFileCoordinator().coordinate(writingItemAt: url, error: &error) { try? Data(text.utf8).write(to: $0) }
  Scene.check(error == nil, "\(String(describing: error))")
}

func move(_ old: URL, _ new: URL) {
  var error: NSError?
  let coordinator = NSFileCoordinator()
  coordinator.coordinate(
    writingItemAt: old, options: .forMoving, writingItemAt: new, options: .forReplacing, error: &error
  ) { source, destination in
    coordinator.item(at: source, willMoveTo: destination)
    try? FileManager.default.moveItem(at: source, to: destination)
    coordinator.item(at: source, didMoveTo: destination)
  }
  Scene.check(error == nil, "\(String(describing: error))")
}

func delete(_ url: URL) -> NSError? {
  var error: NSError?
  NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: &error) {
    try? FileManager.default.removeItem(at: $0)
  }
  return error
}

@main
struct Program {
  static func main() {
    let folder = Scene.directory("library")
    let library = Library(folder, open: ["book", "precious"])
    NSFileCoordinator.addFilePresenter(library)
    for name in ["book", "precious"] { write(folder.appendingPathComponent(name), "text") }
    Scene.check(delete(folder.appendingPathComponent("book")) == nil, "the book")
    Scene.check(library.openFiles == ["precious"], "the book was closed first")
    Scene.check(delete(folder.appendingPathComponent("precious")) != nil, "refused")
    Scene.check(FileManager.default.fileExists(atPath: folder.appendingPathComponent("precious").path), "it's there")
    // Nothing is there that could end.
    move(folder.appendingPathComponent("precious"), folder.appendingPathComponent("new"))
    NSFileCoordinator.removeFilePresenter(library)
    Scene.finish()
  }
}
