import Foundation
import FoundationCompatibility
import Scene

// A class that wrote only `presentedItemDidChange`, on the main queue, in a program whose main thread waits on a
// semaphore for work that coordinates. Nothing has determined yet which methods the class has written; the writer
// neither fails for that nor waits.

final class TitleUpdater: NSObject, NSFilePresenter, @unchecked Sendable {
  let presentedItemURL: URL?
  var presentedItemOperationQueue: OperationQueue { .main }
  private let lock = NSLock()
  private var count = 0

  init(_ url: URL) { presentedItemURL = url }

  var changeCount: Int { lock.withLock { count } }
  func presentedItemDidChange() { lock.withLock { count += 1 } }
}

@main
struct Program {
  static func main() {
    let url = Scene.file("title")
    let presenters = [TitleUpdater(url), TitleUpdater(url)]
    for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
    write(url, passingOver: presenters.count)
    // The news come when the queue runs, and at that time the package determines the methods of the class.
    wait(for: 1, presenters)
    write(url, passingOver: presenters.count)
    wait(for: 2, presenters)
    // By now the methods of the class have been determined.
    write(url, passingOver: 0)
    wait(for: 3, presenters)
    for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
    Scene.finish()
  }

  static func write(_ url: URL, passingOver count: Int) {
    let written = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      var error: NSError?
      let coordinator = NSFileCoordinator()
      coordinator.coordinate(writingItemAt: url, error: &error) { url in
        try? Data("new".utf8).write(to: url)
        let passedOver = coordinator.unansweredPresenters
        Scene.check(passedOver.count <= count, "\(passedOver)")
        Scene.check(passedOver.allSatisfy { $0.contains("its queue didn't begin it") }, "\(passedOver)")
      }
      Scene.check(error == nil, "\(String(describing: error))")
      written.signal()
    }
    Scene.wait(written, "the writer")
  }

  static func wait(for count: Int, _ presenters: [TitleUpdater]) {
    let end = Date(timeIntervalSinceNow: 60)
    while presenters.contains(where: { $0.changeCount < count }), Date() < end {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
    Scene.check(presenters.allSatisfy { $0.changeCount >= count }, "the change \(count)")
  }
}
