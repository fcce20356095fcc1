// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A store of documents with a delegate, closures on dispatch queues, and errors through NSError pointers.

protocol DocumentStoreDelegate: AnyObject {
  func documentStore(_ store: DocumentStore, didChange url: URL)
  func documentStore(_ store: DocumentStore, didMove url: URL)
}

class DocumentStore: NSObject {
  weak var delegate: DocumentStoreDelegate?
  private let workQueue = DispatchQueue(label: "store")
  private lazy var queue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.name = "presenter"
    return queue
  }()
  private let folder: URL

  init(folder: URL) {
    self.folder = folder
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  deinit { NSFileCoordinator.removeFilePresenter(self) }

  func read(_ url: URL, completion: @escaping (Result<Data, Error>) -> Void) {
    workQueue.async {
      let coordinator = NSFileCoordinator(filePresenter: self)
      var coordinationError: NSError?
      var result: Result<Data, Error>?
      coordinator.coordinate(readingItemAt: url, options: [], error: &coordinationError) { newURL in
        result = Result { try Data(contentsOf: newURL) }
      }
      if let error = coordinationError { result = .failure(error) }
      completion(result!)
    }
  }

  func write(_ data: Data, to url: URL) throws {
    var coordinationError: NSError?
    var writeError: Error?
    NSFileCoordinator(filePresenter: nil).coordinate(
      writingItemAt: url, options: .forReplacing, error: &coordinationError
    ) { newURL in
      do { try data.write(to: newURL, options: .atomic) } catch { writeError = error }
    }
    if let error = coordinationError ?? writeError as NSError? { throw error }
  }

  func move(_ source: URL, to destination: URL) throws {
    let coordinator = NSFileCoordinator()
    let errorPointer: NSErrorPointer = nil
    var moveError: Error?
    coordinator.coordinate(
      writingItemAt: source, options: .forMoving, writingItemAt: destination, options: .forReplacing,
      error: errorPointer,
      byAccessor: { newSource, newDestination in
        do {
          coordinator.item(at: newSource, willMoveTo: newDestination)
          try FileManager.default.moveItem(at: newSource, to: newDestination)
          coordinator.item(at: newSource, didMoveTo: newDestination)
        } catch { moveError = error }
      })
    if let error = moveError { throw error }
  }

  func remove(_ url: URL) -> NSError? {
    var error: NSError?
    NSFileCoordinator().coordinate(writingItemAt: url, options: [.forDeleting], error: &error) {
      try? FileManager.default.removeItem(at: $0)
    }
    return error
  }
}

extension DocumentStore: NSFilePresenter {
  var presentedItemURL: URL? { return folder }
  var presentedItemOperationQueue: OperationQueue { return queue }

  func presentedSubitemDidChange(at url: URL) { delegate?.documentStore(self, didChange: url) }
  func presentedSubitemDidAppear(at url: URL) { delegate?.documentStore(self, didChange: url) }
  func presentedSubitem(at oldURL: URL, didMoveTo newURL: URL) { delegate?.documentStore(self, didMove: newURL) }
  func accommodatePresentedSubitemDeletion(at url: URL, completionHandler: @escaping (Error?) -> Void) {
    completionHandler(nil)
  }
}

private class Listener: DocumentStoreDelegate {
  let changed = DispatchSemaphore(value: 0)
  let moved = DispatchSemaphore(value: 0)
  func documentStore(_ store: DocumentStore, didChange url: URL) { changed.signal() }
  func documentStore(_ store: DocumentStore, didMove url: URL) { moved.signal() }
}

func runDocumentStore() {
  let listener = Listener()
  var store: DocumentStore? = DocumentStore(folder: Scene.folder)
  store?.delegate = listener
  let url = Scene.folder.appendingPathComponent("stored")
  do { try store?.write(Data("one".utf8), to: url) } catch { Scene.check(false, "\(error)") }
  Scene.wait(listener.changed, "the change")
  let done = DispatchSemaphore(value: 0)
  store?.read(url) { result in
    Scene.check((try? result.get()) == Data("one".utf8), "what was written is read")
    done.signal()
  }
  Scene.wait(done, "the contents")
  let moved = Scene.folder.appendingPathComponent("moved")
  do { try store?.move(url, to: moved) } catch { Scene.check(false, "\(error)") }
  Scene.wait(listener.moved, "the move")
  Scene.check(store?.remove(moved) == nil, "removed")
  store?.read(moved) { result in
    if case .failure(let error as CocoaError) = result { Scene.check(error.code == .fileReadNoSuchFile, "\(error)") }
    done.signal()
  }
  Scene.wait(done, "the error")
  store = nil
}

@main
struct Program {
  static func main() {
    runDocumentStore()
    Scene.finish()
  }
}
