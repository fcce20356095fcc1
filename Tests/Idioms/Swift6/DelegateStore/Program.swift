import Foundation
import FoundationCompatibility
import Scene

// A store whose delegate is on the main actor; the presenter's methods come on a queue.

@MainActor
protocol DelegateStoreDelegate: AnyObject {
  func store(_ store: DelegateStore, didChange url: URL)
  func store(_ store: DelegateStore, didMove url: URL, to newURL: URL)
}

final class DelegateStore: NSObject, NSFilePresenter, @unchecked Sendable {
  @MainActor weak var delegate: (any DelegateStoreDelegate)?
  private let folder: URL
  let presentedItemOperationQueue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.name = "store"
    return queue
  }()
  var presentedItemURL: URL? { folder }

  init(_ folder: URL) {
    self.folder = folder
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  deinit { NSFileCoordinator.removeFilePresenter(self) }

  private func tell(_ body: @escaping @Sendable @MainActor (any DelegateStoreDelegate) -> Void) {
    Task { @MainActor in if let delegate { body(delegate) } }
  }

  func presentedSubitemDidChange(at url: URL) { tell { $0.store(self, didChange: url) } }
  func presentedSubitemDidAppear(at url: URL) { tell { $0.store(self, didChange: url) } }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) { tell { $0.store(self, didMove: oldURL, to: newURL) } }
}

@MainActor
final class Controller: DelegateStoreDelegate {
  let events: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (events, continuation) = AsyncStream.makeStream() }

  func store(_ store: DelegateStore, didChange url: URL) { continuation.yield("changed \(url.lastPathComponent)") }
  func store(_ store: DelegateStore, didMove url: URL, to newURL: URL) {
    continuation.yield("moved \(url.lastPathComponent) to \(newURL.lastPathComponent)")
  }
}

@main
struct Program {
  @MainActor
  static func main() async throws {
    let folder = Scene.directory("library")
    let store = DelegateStore(folder)
    let controller = Controller()
    store.delegate = controller
    func expect(_ event: String) async {
      // The change of an earlier access may be reported once more.
      for await next in controller.events where next == event { return }
    }
    let (a, b) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
    let coordinator = NSFileCoordinator()
    coordinator.coordinate(writingItemAt: a, options: .forReplacing, error: nil) { try? Data("a".utf8).write(to: $0) }
    await expect("changed a")
    coordinator.coordinate(
      writingItemAt: a, options: .forMoving, writingItemAt: b, options: .forReplacing, error: nil
    ) { a, b in
      try? FileManager.default.moveItem(at: a, to: b)
      coordinator.item(at: a, didMoveTo: b)
    }
    await expect("moved a to b")
    NSFileCoordinator().coordinate(writingItemAt: b, options: .forDeleting, error: nil) {
      try? FileManager.default.removeItem(at: $0)
    }
    await expect("changed b")
    Scene.finish()
  }
}
