import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Queues of Apple's presenters", .blocking, .timeLimit(.minutes(4)))
struct PresenterQueueTests {
  enum QueueKind { case serial, onDispatchQueue }

  @Test("C-185: Two presenters that read in presentedItemDidChange, on serial queues of their own, both get through")
  func readingInDidChange() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenters = [ReadingPresenter(url), ReadingPresenter(url)]
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ = try? Data("new".utf8).write(to: $0) }
      for presenter in presenters { #expect(presenter.journal.wait(for: "read new")) }
      for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
      for presenter in presenters { #expect(!presenter.journal.entries.contains { $0.hasPrefix("error") }) }
    }
  }

  @Test("C-185: Two presenters that share one serial queue and read in presentedItemDidChange both get through")
  func sharedQueue() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let queue = serialQueue("shared")
      let presenters = [ReadingPresenter(url, queue), ReadingPresenter(url, queue)]
      for presenter in presenters { NSFileCoordinator.addFilePresenter(presenter) }
      NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ = try? Data("new".utf8).write(to: $0) }
      for presenter in presenters { #expect(presenter.journal.wait(for: "read new")) }
      for presenter in presenters { NSFileCoordinator.removeFilePresenter(presenter) }
      for presenter in presenters { #expect(!presenter.journal.entries.contains { $0.hasPrefix("error") }) }
    }
  }

  @Test(
    "A coordinated read on a presenter's own queue is served by the thread that waits, if there may be no other",
    arguments: [QueueKind.serial, .onDispatchQueue])
  func readOnPresentersQueue(kind: QueueKind) throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      let dispatchQueue = DispatchQueue(label: "presenter")
      if kind == .onDispatchQueue {
        presenter.queue.maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
        unsafe presenter.queue.underlyingQueue = dispatchQueue
      }
      // The operation queue doesn't keep it.
      defer { withExtendedLifetime(dispatchQueue) {} }
      NSFileCoordinator.addFilePresenter(presenter)
      presenter.queue.addOperation {
        let thread = Thread.current
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in
          presenter.note(Thread.current === thread ? "read" : "read elsewhere")
        }
      }
      #expect(presenter.journal.wait(for: "reacquire"))
      NSFileCoordinator.removeFilePresenter(presenter)
      #expect(presenter.journal.entries == ["relinquish to reader", "save", "read", "reacquire"])
    }
  }

  @Test("C-193: A presenter that comes while its queue waits already is served by the thread that waits")
  func presenterThatComesLater() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reader = Thread {
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in
          isReading.signal()
          mayEnd.wait()
          NSFileCoordinator.addFilePresenter(presenter)
        }
      }
      reader.start()
      isReading.wait()
      let written = DispatchSemaphore(value: 0)
      presenter.queue.addOperation {
        NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in presenter.note("written") }
        written.signal()
      }
      box.awaitWait(for: url)
      mayEnd.signal()
      written.wait()
      NSFileCoordinator.removeFilePresenter(presenter)
      #expect(presenter.journal.entries.contains("written"))
    }
  }

  @Test("News that wait in a blocked queue don't keep questions up, and come afterwards in their order")
  func newsBehindTheWait() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      NSFileCoordinator.addFilePresenter(presenter)
      presenter.queue.addOperation {
        isBlocked.signal()
        mayGoOn.wait()
        NSFileCoordinator().coordinate(readingItemAt: url, options: .withoutChanges, error: nil) { _ in
          presenter.note("read")
        }
      }
      isBlocked.wait()
      let writer = NSFileCoordinator()
      writer.item(at: url, didChangeUbiquityAttributes: [.isUbiquitousItemKey])
      writer.item(at: url, didChangeUbiquityAttributes: [.isUbiquitousItemKey, .ubiquitousItemIsUploadedKey])
      while presenter.queue.operationCount < 2 { sched_yield() }
      mayGoOn.signal()
      #expect(presenter.journal.wait(for: "reacquire"))
      NSFileCoordinator.removeFilePresenter(presenter)
      #expect(
        presenter.journal.entries == ["relinquish to reader", "read", "attributes 1", "attributes 2", "reacquire"])
    }
  }

  @Test("C-181: Messages come on a concurrent queue too, one at a time for each presenter")
  func concurrentQueue() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url, OperationQueue())
      NSFileCoordinator.addFilePresenter(presenter)
      NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in presenter.journal.note("read") }
      #expect(presenter.journal.wait(for: "reacquire"))
      NSFileCoordinator.removeFilePresenter(presenter)
      #expect(presenter.journal.entries == ["relinquish to reader", "save", "read", "reacquire"])
    }
  }

  @Test("A program that cancels all operations of a presenter's queue loses no message")
  func cancelledOperations() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      presenter.queue.isSuspended = true
      let worker = Worker {
        NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in presenter.journal.note("read") }
      }
      while presenter.queue.operationCount == 0 { sched_yield() }
      presenter.queue.cancelAllOperations()
      presenter.queue.isSuspended = false
      #expect(worker.join())
      #expect(presenter.journal.wait(for: "read"))
      NSFileCoordinator.removeFilePresenter(presenter)
    }
  }

  @Test("N-9: A native access asks Apple's presenters, and Apple's access asks native ones")
  func nativeNeighbours() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      let native = NativePresenter(url)
      let registration = try Sandbox.domain.register(native)
      try FileCoordinator(label: "native", domain: Sandbox.domain).blocking.read(url) { _ in }
      NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { _ in }
      registration.end()
      NSFileCoordinator.removeFilePresenter(presenter)
      #expect(presenter.journal.count(of: "save") == 2)
      #expect(native.journal.count(of: "save") == 2)
    }
  }
}

/// Reads its item when that has changed, on its queue.
private final class ReadingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) { reader(nil) }
  func presentedItemDidChange() {
    guard let url = presentedItemURL else { return }
    var error: NSError?
    NSFileCoordinator().coordinate(readingItemAt: url, error: &error) { url in
      note("read \((try? String(contentsOf: url, encoding: .utf8)) ?? "nothing")")
    }
    if let error { note("error \(error)") }
  }
}

private final class NativePresenter: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = .saveChanges
  let journal = Journal()

  init(_ url: URL) { presentedItemURL = url }

  func savePresentedItemChanges(origin: AccessOrigin) async throws { journal.note("save") }
}
