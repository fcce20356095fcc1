import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Conformance under Apple's names: nesting and batches", .blocking, .timeLimit(.minutes(4)))
struct NestingConformanceTests {
  @Test("C-130, C-131, C-133: Inside an access the same coordinator reads and writes the item without waiting")
  func nested() throws {
    try withSandbox { box in
      let url = try box.write("f")
      for outer in [Access.read, .write] {
        for inner in [Access.read, .write] {
          let coordinator = NSFileCoordinator()
          var isInside = false
          outer.run(by: coordinator, url) { url in inner.run(by: coordinator, url) { _ in isInside = true } }
          #expect(isInside, "\(inner) in \(outer)")
        }
      }
    }
  }

  @Test("C-132: Of two that go from reading to writing one gets an error, and the other writes")
  func upgrades() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let journal = Journal()
      let workers = (0..<2).map { _ in
        Worker {
          let coordinator = NSFileCoordinator()
          Access.read.run(by: coordinator, url) { url in
            journal.note("reads")
            journal.wait(for: "reads", count: 2)
            let error = Access.write.run(by: coordinator, url) { _ in journal.note("writes") }
            guard let error else { return }
            let native = error.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
            journal.note(native?.code.name ?? "\(error)")
          }
        }
      }
      for worker in workers { #expect(worker.join()) }
      #expect(journal.entries.sorted() == ["deadlock", "reads", "reads", "writes"])
    }
  }

  @Test("C-135 to C-137, C-141: A batch saves everything inside once, and grants nothing")
  func batch() throws {
    try withSandbox { box in
      let url = try box.write("d/x/f")
      let (directory, item) = (HandlerPresenter(box.url("d")), HandlerPresenter(url))
      var heard: [[String]] = []
      box.presenting(directory, item) {
        var error: NSError?
        let coordinator = NSFileCoordinator()
        coordinator.prepare(forReadingItemsAt: [box.url("d")], writingItemsAt: [], error: &error) { completion in
          heard = [directory.journal.entries, item.journal.entries]
          let others = Journal()
          #expect(box.worker(.write, "d/x/f", others).join() && others.entries == ["d/x/f"])
          Access.read(.withoutChanges).run(by: coordinator, url)
          completion()
        }
        #expect(error == nil)
      }
      #expect(heard == [["save"], ["save"]])
      #expect(item.journal.count(of: "save") == 1)
    }
  }

  @Test(
    "C-137, C-139, C-140: A preparation that deletes asks for that; a presenter that refuses ends it, and so do options it can't have"
  )
  func refusedBatch() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let coordinator = NSFileCoordinator()
      let presenter = HandlerPresenter(url)
      box.presenting(presenter) {
        coordinator.prepare(
          forReadingItemsAt: [], options: [], writingItemsAt: [url], options: .forDeleting, error: nil
        ) { $0() }
      }
      #expect(presenter.journal.entries == ["deletion"])
      box.presenting(AsyncPresenter(url)) {
        var error: NSError?
        coordinator.prepare(
          forReadingItemsAt: [], options: [], writingItemsAt: [url], options: .forDeleting, error: &error
        ) { _ in Issue.record("begun") }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.code == .fileWriteNoPermission)
      }
      var errors: [NSError?] = [nil, nil]
      coordinator.prepare(
        forReadingItemsAt: [url], options: .resolvesSymbolicLink, writingItemsAt: [], error: &errors[0]
      ) { _ in Issue.record("begun") }
      coordinator.prepare(
        forReadingItemsAt: [], options: [], writingItemsAt: [url], options: .forReplacing, error: &errors[1]
      ) { _ in Issue.record("begun") }
      let codes = errors.map { ($0?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError)?.code }
      #expect(codes == [.optionNotAllowed, .optionNotAllowed])
    }
  }

  @Test("C-150, C-151: A request on a queue returns at once, although the items aren't free")
  func request() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (journal, queue) = (Journal(), serialQueue())
      Access.write.run(url) { _ in
        NSFileCoordinator().coordinate(with: [.readingIntent(with: url)], queue: queue) { error in
          journal.note(error == nil ? "accessor" : "\(error as Any)")
        }
        box.awaitWait(for: url)
        #expect(journal.entries.isEmpty)
      }
      #expect(journal.wait(for: "accessor"))
      queue.waitUntilAllOperationsAreFinished()
      #expect(journal.entries == ["accessor"])
    }
  }
}

@Suite("Conformance under Apple's names: cancelling", .blocking, .timeLimit(.minutes(4)))
struct CancellationConformanceTests {
  @Test("C-161: cancel() in the accessor lets it end, and the call has no error")
  func inside() throws {
    try withSandbox { box in
      let coordinator = NSFileCoordinator()
      var isOver = false
      let error = Access.write.run(by: coordinator, try box.write("f")) { _ in
        coordinator.cancel()
        isOver = true
      }
      #expect(isOver && error == nil)
      #expect(Access.read.run(by: coordinator, box.url("f"))?.code == CocoaError.userCancelled.rawValue)
    }
  }

  @Test(
    "C-164, C-165, C-188: After cancel() nobody waits for a presenter; its reacquirer runs once, however often it's given"
  )
  func asked() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = SlowPresenter(url)
      box.presenting(presenter) {
        let coordinator = NSFileCoordinator()
        let shared = SharedCoordinator(coordinator)
        let worker = Worker {
          let error = Access.read.run(by: shared.value, url) { _ in Issue.record("read") }
          #expect(error?.code == CocoaError.userCancelled.rawValue)
        }
        #expect(presenter.journal.wait(for: "asked"))
        coordinator.cancel()
        #expect(worker.join())
        presenter.answer()
        #expect(presenter.journal.wait(for: "reacquired"))
      }
      #expect(presenter.journal.entries == ["asked", "reacquired"])
    }
  }

  @Test("C-166, C-167: A cancelled writer disturbs no other coordinator, and holds up nobody behind it")
  func queued() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (writer, journal) = (NSFileCoordinator(), Journal())
      let shared = SharedCoordinator(writer)
      Access.read.run(url) { _ in
        let waiting = Worker { Access.write.run(by: shared.value, url) { _ in Issue.record("written") } }
        box.awaitWait(for: url)
        let behind = box.worker(.read, "f", journal)
        box.awaitWaits(for: url, count: 2)
        writer.cancel()
        // It reads beside the read that goes on.
        #expect(journal.wait(for: "f"))
        #expect(waiting.join() && behind.join())
      }
    }
  }
}

/// Answers at the request of the test, twice.
private final class SlowPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let lock = NSLock()
  private var reader: (@Sendable ((@Sendable () -> Void)?) -> Void)?

  func relinquishPresentedItem(toReader reader: @escaping @Sendable ((@Sendable () -> Void)?) -> Void) {
    lock.withLock { self.reader = reader }
    note("asked")
  }

  func answer() {
    let reader = lock.withLock { self.reader.take() }
    for _ in 1...2 { reader? { [self] in note("reacquired") } }
  }
}
