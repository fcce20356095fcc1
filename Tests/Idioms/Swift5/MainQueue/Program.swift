// swift-format-ignore-file: NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A view controller whose presenter uses the main queue, and which coordinates on the main thread.

class EditorController: NSObject, NSFilePresenter {
  let fileURL: URL
  var text = "edited"
  var changeCount = 0

  init(_ url: URL) {
    fileURL = url
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  var presentedItemURL: URL? { fileURL }
  var presentedItemOperationQueue: OperationQueue { .main }

  func savePresentedItemChanges(completionHandler: @escaping (Error?) -> Void) {
    Scene.check(Thread.isMainThread, "saved on the main thread")
    var error: NSError?
    NSFileCoordinator(filePresenter: self).coordinate(writingItemAt: fileURL, options: [], error: &error) { url in
      try! text.write(to: url, atomically: true, encoding: .utf8)
    }
    completionHandler(error)
  }

  func presentedItemDidChange() {
    Scene.check(Thread.isMainThread, "told on the main thread")
    changeCount += 1
  }
}

func runMainQueue() {
  let url = Scene.file("main")
  let controller = EditorController(url)
  var read: String?
  NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { read = try? String(contentsOf: $0, encoding: .utf8) }
  Scene.check(read == "edited", "the controller saved while the main thread waited")
  NSFileCoordinator().coordinate(writingItemAt: url, options: .forMerging, error: nil) { _ in }
  let end = Date(timeIntervalSinceNow: 60)
  while controller.changeCount == 0, Date() < end {
    _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
  }
  Scene.check(controller.changeCount > 0, "the change")
  NSFileCoordinator.removeFilePresenter(controller)
}

@main
struct Program {
  static func main() {
    runMainQueue()
    Scene.finish()
  }
}
