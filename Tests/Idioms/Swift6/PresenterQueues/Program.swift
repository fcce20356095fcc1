// swift-format-ignore-file: NeverForceUnwrap
// As people write it.

import Foundation
import FoundationCompatibility
import Scene
import Synchronization

// Presenters with a serial queue of their own, with one that several share, and with a concurrent one.

final class Watcher: NSObject, NSFilePresenter, Sendable {
  let presentedItemURL: URL?
  let presentedItemOperationQueue: OperationQueue
  let saved = Mutex(0)
  let told = DispatchSemaphore(value: 0)

  init(_ url: URL, _ queue: OperationQueue) {
    presentedItemURL = url
    presentedItemOperationQueue = queue
  }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    saved.withLock { $0 += 1 }
    // Answered later, from somewhere else.
    DispatchQueue.global().async { completionHandler(nil) }
  }

  func relinquishPresentedItem(toWriter writer: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    writer { [told] in told.signal() }
  }

  func presentedItemDidChange() {
    // A coordinated read inside the message, which waits for no presenter but this one.
    NSFileCoordinator(filePresenter: self).coordinate(readingItemAt: presentedItemURL!, error: nil) { _ in }
    told.signal()
  }
}

@main
struct Program {
  static func main() {
    let serial = OperationQueue()
    serial.maxConcurrentOperationCount = 1
    let shared = OperationQueue()
    shared.maxConcurrentOperationCount = 1
    let onDispatchQueue = OperationQueue()
    let dispatchQueue = DispatchQueue(label: "presenter")
    onDispatchQueue.underlyingQueue = dispatchQueue
    let url = Scene.file("watched")
    let watchers = [serial, shared, shared, OperationQueue(), onDispatchQueue].map { Watcher(url, $0) }
    for watcher in watchers { NSFileCoordinator.addFilePresenter(watcher) }
    Scene.check(NSFileCoordinator.filePresenters.count == 5, "registered")

    NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in }
    Scene.check(watchers.allSatisfy { $0.saved.withLock(\.self) == 1 }, "each saved once")
    NSFileCoordinator().coordinate(writingItemAt: url, options: .forMerging, error: nil) { url in
      try? Data("new".utf8).write(to: url)
    }
    for watcher in watchers {
      Scene.wait(watcher.told, "the first of the turn after the write and the change")
      Scene.wait(watcher.told, "the second")
    }
    withExtendedLifetime(dispatchQueue) {
      for watcher in watchers { NSFileCoordinator.removeFilePresenter(watcher) }
    }
    Scene.check(NSFileCoordinator.filePresenters.isEmpty, "removed")
    Scene.finish()
  }
}
