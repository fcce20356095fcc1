// swift-format-ignore-file: NeverForceUnwrap
// As people write it.

import Foundation
import FoundationCompatibility
import Scene

// Requests of several items that are given up after a while: cancel() from a timer, and from a group of tasks.

struct TimedOut: Error {}

func coordinate(
  _ intents: [NSFileAccessIntent], timeout: TimeInterval, completion: @escaping @Sendable ((any Error)?) -> Void
) {
  let queue = OperationQueue()
  nonisolated(unsafe) let coordinator = NSFileCoordinator()
  nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: .global())
  timer.setEventHandler { coordinator.cancel() }
  timer.schedule(deadline: .now() + timeout)
  timer.resume()
  coordinator.coordinate(with: intents, queue: queue) { error in
    timer.cancel()
    completion(error)
  }
}

/// The result of the one that ends first: the access, or the clock.
func access(_ url: URL, within duration: Duration) async throws -> Int {
  try await withThrowingTaskGroup(of: Int.self) { group in
    nonisolated(unsafe) let coordinator = NSFileCoordinator()
    group.addTask {
      try await withCheckedThrowingContinuation { continuation in
        let intent = NSFileAccessIntent.readingIntent(with: url)
        coordinator.coordinate(with: [intent], queue: OperationQueue()) { error in
          continuation.resume(
            with: Result { if let error { throw error } else { try Data(contentsOf: intent.url).count } })
        }
      }
    }
    group.addTask {
      try await Task.sleep(for: duration)
      coordinator.cancel()
      throw TimedOut()
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}

@main
struct Program {
  static func main() async throws {
    let url = Scene.file("timed", "text")
    let free = DispatchSemaphore(value: 0)
    coordinate([.readingIntent(with: url), .writingIntent(with: Scene.directory("other"))], timeout: 60) { error in
      Scene.check(error == nil, "\(String(describing: error))")
      free.signal()
    }
    waitFor(free, "free items")

    // Another access writes, and doesn't end before both have given up.
    let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in
        held.signal()
        Scene.wait(release, "the end")
      }
    }
    waitFor(held, "the writer")
    let late = DispatchSemaphore(value: 0)
    coordinate([.readingIntent(with: url), .writingIntent(with: url)], timeout: 0.05) { error in
      Scene.check((error as NSError?)?.code == NSUserCancelledError, "\(String(describing: error))")
      Scene.check((error as? CocoaError)?.code == .userCancelled, "as a Cocoa error")
      late.signal()
    }
    waitFor(late, "the timeout")
    do {
      _ = try await access(url, within: .milliseconds(50))
      Scene.check(false, "read what is being written")
    } catch is TimedOut {
      // The clock was first, and then the access ended.
    } catch let error as CocoaError where error.code == .userCancelled {
      // The clock has cancelled the access, which reported that before the clock did.
    }
    release.signal()
    Scene.check(try await access(url, within: .seconds(60)) == 4, "read when it's free")
    Scene.finish()
  }

  static func waitFor(_ semaphore: DispatchSemaphore, _ what: String) { Scene.wait(semaphore, what) }
}
