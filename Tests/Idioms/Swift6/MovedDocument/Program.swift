import Foundation
import FoundationCompatibility
import Scene

// A document that reads its file after a move of that file: it receives the move when the mover has finished, so
// neither waits for the other, and it finds the last text of the mover.

final class Document: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemOperationQueue = OperationQueue()
  private let lock = NSLock()
  private var url: URL
  private let didRead: @Sendable (String) -> Void

  init(_ url: URL, didRead: @escaping @Sendable (String) -> Void) {
    self.url = url
    self.didRead = didRead
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
  }

  var presentedItemURL: URL? { lock.withLock { url } }

  func presentedItemDidMove(to newURL: URL) {
    lock.withLock { url = newURL }
    var error: NSError?
    NSFileCoordinator(filePresenter: self).coordinate(readingItemAt: newURL, error: &error) { url in
      didRead((try? String(contentsOf: url, encoding: .utf8)) ?? "nothing")
    }
    if let error { didRead("\(error)") }
  }
}

@main
struct Program {
  static func main() {
    let url = Scene.file("draft", "draft")
    let destination = Scene.folder.appendingPathComponent("final")
    let read = DispatchSemaphore(value: 0)
    let document = Document(url) { text in
      Scene.check(text == "final", "not '\(text)'")
      read.signal()
    }
    NSFileCoordinator.addFilePresenter(document)
    let mover = NSFileCoordinator()
    var error: NSError?
    mover.coordinate(
      writingItemAt: url, options: .forMoving, writingItemAt: destination, options: .forReplacing, error: &error
    ) { source, target in
      mover.item(at: source, willMoveTo: target)
      try? FileManager.default.moveItem(at: source, to: target)
      mover.item(at: source, didMoveTo: target)
      // The document isn't notified before this accessor ends.
      Scene.check(read.wait(timeout: .now() + 0.1) == .timedOut, "told too early")
      try? Data("final".utf8).write(to: target)
    }
    Scene.check(error == nil, "\(String(describing: error))")
    Scene.wait(read, "the move")
    Scene.check(
      document.presentedItemURL?.lastPathComponent == "final", "\(String(describing: document.presentedItemURL))")
    NSFileCoordinator.removeFilePresenter(document)
    Scene.finish()
  }
}
