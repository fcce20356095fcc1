import Foundation
import FoundationCompatibility
import Scene
import Synchronization

// A subclass that logs, behind a protocol of the program, so that tests can put something else in its place.

protocol Coordinating {
  func coordinate(
    readingItemAt url: URL, options: NSFileCoordinator.ReadingOptions, error outError: NSErrorPointer,
    byAccessor reader: (URL) -> Void)
  func coordinate(
    writingItemAt url: URL, options: NSFileCoordinator.WritingOptions, error outError: NSErrorPointer,
    byAccessor writer: (URL) -> Void)
  func cancel()
}

extension NSFileCoordinator: Coordinating {}

final class LoggingCoordinator: NSFileCoordinator {
  private let log = Mutex<[String]>([])
  var lines: [String] { log.withLock(\.self) }

  override init(filePresenter: (any NSFilePresenter)?) {
    super.init(filePresenter: filePresenter)
    purposeIdentifier = "org.example.logging"
  }

  override func coordinate(
    readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
    byAccessor reader: (URL) -> Void
  ) {
    log.withLock { $0.append("reads \(url.lastPathComponent)") }
    super.coordinate(readingItemAt: url, options: options, error: outError, byAccessor: reader)
  }

  override func coordinate(
    writingItemAt url: URL, options: WritingOptions = [], error outError: NSErrorPointer,
    byAccessor writer: (URL) -> Void
  ) {
    log.withLock { $0.append("writes \(url.lastPathComponent)") }
    super.coordinate(writingItemAt: url, options: options, error: outError, byAccessor: writer)
  }

  override func item(at oldURL: URL, didMoveTo newURL: URL) {
    log.withLock { $0.append("moved \(oldURL.lastPathComponent)") }
    super.item(at: oldURL, didMoveTo: newURL)
  }

  override func cancel() {
    log.withLock { $0.append("cancels") }
    super.cancel()
  }
}

struct Library<Coordinator: Coordinating> {
  var coordinator: Coordinator

  func text(at url: URL) -> String? {
    var text: String?
    coordinator.coordinate(readingItemAt: url, options: .withoutChanges, error: nil) {
      text = try? String(contentsOf: $0, encoding: .utf8)
    }
    return text
  }
}

@main
struct Program {
  static func main() {
    let url = Scene.file("shared", "text")
    nonisolated(unsafe) let logging = LoggingCoordinator(filePresenter: nil)
    Scene.check(Library(coordinator: logging).text(at: url) == "text", "read")
    // One coordinator for many operations, from several threads.
    DispatchQueue.concurrentPerform(iterations: 8) { index in
      logging.coordinate(writingItemAt: Scene.folder.appendingPathComponent("\(index)"), error: nil) { url in
        try? Data().write(to: url)
      }
    }
    let other = Scene.folder.appendingPathComponent("other")
    logging.coordinate(
      writingItemAt: url, options: .forMoving, writingItemAt: other, options: .forReplacing, error: nil
    ) { url, other in
      try? FileManager.default.moveItem(at: url, to: other)
      logging.item(at: url, didMoveTo: other)
    }
    logging.cancel()
    Scene.check(
      logging.lines.sorted()
        == (["cancels", "moved shared", "reads shared"] + (0..<8).map { "writes \($0)" }), "\(logging.lines)")
    Scene.check(Library(coordinator: logging).text(at: other) == nil, "cancelled for good")
    Scene.finish()
  }
}
