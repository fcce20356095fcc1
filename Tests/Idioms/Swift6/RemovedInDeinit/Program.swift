import Foundation
import FoundationCompatibility
import Scene

// Presenters that remove themselves at their end, on any thread, and others that never do.

final class Observer: NSObject, NSFilePresenter {
  let presentedItemURL: URL?
  let presentedItemOperationQueue = OperationQueue()
  private let onChange: @Sendable () -> Void
  private let removes: Bool

  init(_ url: URL, removes: Bool = true, onChange: @escaping @Sendable () -> Void) {
    presentedItemURL = url
    self.onChange = onChange
    self.removes = removes
    super.init()
    NSFileCoordinator.addFilePresenter(self)
  }

  deinit { if removes { NSFileCoordinator.removeFilePresenter(self) } }

  func presentedItemDidChange() { onChange() }
}

@main
struct Program {
  static func main() {
    let url = Scene.file("observed")
    let changed = DispatchSemaphore(value: 0)
    var observer: Observer? = Observer(url) { changed.signal() }
    NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { try? Data("1".utf8).write(to: $0) }
    Scene.wait(changed, "the change")
    Scene.check(observer?.presentedItemURL == url, "lives")
    observer = nil
    NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { try? Data("2".utf8).write(to: $0) }
    // Messages come in order: a message to the former presenter would have come before this one.
    let last = Observer(url) { changed.signal() }
    NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { try? Data("3".utf8).write(to: $0) }
    Scene.wait(changed, "the last change")
    Scene.check(changed.wait(timeout: .now()) == .timedOut, "one that has gone is told nothing")
    NSFileCoordinator.removeFilePresenter(last)
    NSFileCoordinator.removeFilePresenter(last)

    // Many, from several threads, half of which forget to remove themselves, while others write.
    DispatchQueue.concurrentPerform(iterations: 64) { index in
      let short = Observer(url, removes: index % 2 == 0) {}
      NSFileCoordinator(filePresenter: short).coordinate(writingItemAt: url, error: nil) { _ in }
    }
    var error: NSError?
    NSFileCoordinator().coordinate(readingItemAt: url, error: &error) { _ in }
    Scene.check(error == nil, "nobody blocks: \(String(describing: error))")
    Scene.finish()
  }
}
