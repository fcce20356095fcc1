// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap, NeverUseForceTry
// As people write it.

import Foundation
import Scene

// A coordinator of a program's own, behind a protocol, and requests of several items with a timeout.

protocol Coordinating {
  func coordinate(
    readingItemAt url: URL, options: NSFileCoordinator.ReadingOptions, error outError: NSErrorPointer,
    byAccessor reader: (URL) -> Void)
  func cancel()
}

extension NSFileCoordinator: Coordinating {}

final class LoggingCoordinator: NSFileCoordinator {
  private(set) var reads = 0

  override func coordinate(
    readingItemAt url: URL, options: NSFileCoordinator.ReadingOptions = [], error outError: NSErrorPointer,
    byAccessor reader: (URL) -> Void
  ) {
    reads += 1
    super.coordinate(readingItemAt: url, options: options, error: outError, byAccessor: reader)
  }
}

extension NSFileCoordinator {
  func withThrowingRead<T>(_ url: URL, _ body: (URL) throws -> T) throws -> T {
    var error: NSError?
    var result: Result<T, Error>?
    coordinate(readingItemAt: url, options: .withoutChanges, error: &error) { url in result = Result { try body(url) } }
    if let error = error { throw error }
    return try result!.get()
  }
}

func runCoordinating() {
  let url = Scene.file("shared")
  let logging = LoggingCoordinator(filePresenter: nil)
  let coordinating: Coordinating = logging
  coordinating.coordinate(readingItemAt: url, options: [], error: nil) { _ in }
  Scene.check(logging.reads == 1, "overridden")
  let count = try? NSFileCoordinator().withThrowingRead(url) { try Data(contentsOf: $0).count }
  Scene.check(count == 4, "the result comes back")

  let done = DispatchSemaphore(value: 0)
  let late = NSFileCoordinator()
  NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in
    let intents = [NSFileAccessIntent.readingIntent(with: url), NSFileAccessIntent.writingIntent(with: url)]
    late.coordinate(with: intents, queue: OperationQueue()) { error in
      Scene.check((error as NSError?)?.code == NSUserCancelledError, "cancelled by the timeout")
      done.signal()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { late.cancel() }
    Scene.wait(done, "the timeout")
  }

  NSFileCoordinator().prepare(
    forReadingItemsAt: [url], options: [], writingItemsAt: [Scene.folder], options: [], error: nil
  ) { completion in
    DispatchQueue.global().async {
      NSFileCoordinator().coordinate(readingItemAt: url, options: .withoutChanges, error: nil) { _ in }
      completion()
    }
  }
}

@main
struct Program {
  static func main() {
    runCoordinating()
    Scene.finish()
  }
}
