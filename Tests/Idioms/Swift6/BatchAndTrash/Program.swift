// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Many files at once, as file browsers copy and delete them: presenters are asked for all of them together.

/// A document that's open.
final class OpenDocument: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let lock = NSLock()
  private var saves = 0

  init(_ url: URL) {
    presentedItemURL = url
    super.init()
    presentedItemOperationQueue.maxConcurrentOperationCount = 1
    NSFileCoordinator.addFilePresenter(self)
  }

  func close() { NSFileCoordinator.removeFilePresenter(self) }

  var saveCount: Int { lock.withLock { saves } }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    lock.withLock { saves += 1 }
    completionHandler(nil)
  }

  func accommodatePresentedItemDeletion() async throws { close() }
}

/// Copies on the calling thread, in the batch's own block.
func copy(_ urls: [URL], to folder: URL) throws {
  let coordinator = NSFileCoordinator(filePresenter: nil)
  var batchError: NSError?
  var failures: [any Error] = []
  coordinator.prepare(forReadingItemsAt: urls, writingItemsAt: [folder], error: &batchError) { completion in
    for url in urls {
      var error: NSError?
      coordinator.coordinate(
        readingItemAt: url, options: .withoutChanges,
        writingItemAt: folder.appendingPathComponent(url.lastPathComponent),
        options: .forReplacing, error: &error
      ) { source, target in
        do { try FileManager.default.copyItem(at: source, to: target) } catch { failures.append(error) }
      }
      if let error { failures.append(error) }
    }
    completion()
  }
  if let error = batchError ?? failures.first { throw error }
}

/// Reads on other threads, after the batch's block has returned.
func sizes(of urls: [URL]) throws -> [Int] {
  final class Sizes: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [Int] = []

    func add(_ size: Int) { lock.withLock { all.append(size) } }
    var sorted: [Int] { lock.withLock { all.sorted() } }
  }

  let (sizes, queue) = (Sizes(), OperationQueue())
  var error: NSError?
  NSFileCoordinator().prepare(
    forReadingItemsAt: urls, options: [], writingItemsAt: [], options: [], error: &error
  ) { completion in
    for url in urls {
      queue.addOperation {
        NSFileCoordinator().coordinate(readingItemAt: url, options: .withoutChanges, error: nil) { url in
          if let data = try? Data(contentsOf: url) { sizes.add(data.count) }
        }
      }
    }
    queue.addBarrierBlock { completion() }
  }
  if let error { throw error }
  return sizes.sorted
}

/// Throws a file away when its presenters have let go.
func moveToTrash(_ url: URL) async throws -> URL? {
  let intent = NSFileAccessIntent.writingIntent(with: url, options: .forDeleting)
  return try await withCheckedThrowingContinuation { continuation in
    NSFileCoordinator().coordinate(with: [intent], queue: OperationQueue()) { error in
      if let error { return continuation.resume(throwing: error) }
      do {
        var place: NSURL?
        try FileManager.default.trashItem(at: intent.url, resultingItemURL: &place)
        continuation.resume(returning: place as URL?)
      } catch { continuation.resume(throwing: error) }
    }
  }
}

@main
struct Program {
  static func main() async throws {
    // A trash of its own.
    setenv("XDG_DATA_HOME", Scene.folder.appendingPathComponent("data").path, 1)
    let urls = ["one", "four"].map { Scene.file($0, $0) }
    let document = OpenDocument(urls[0])
    let folder = Scene.directory("copies")
    try copy(urls, to: folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    Scene.check(names == ["four", "one"], "copied")
    Scene.check(document.saveCount == 1, "saved once")
    let counts = try sizes(of: urls)
    Scene.check(counts == [3, 4], "read")
    Scene.check(document.saveCount == 2, "saved for each batch")

    let place = try await moveToTrash(urls[0])
    Scene.check(!FileManager.default.fileExists(atPath: urls[0].path), "thrown away")
    Scene.check(place.flatMap { try? String(contentsOf: $0, encoding: .utf8) } == "one", "in the trash")
    Scene.check(NSFileCoordinator.filePresenters.isEmpty, "the document is closed")
    do {
      _ = try await moveToTrash(urls[0])
      Scene.check(false, "twice")
    } catch let error as CocoaError {
      Scene.check(error.code == .fileNoSuchFile, "nothing there: \(error)")
    }
    Scene.finish()
  }
}
