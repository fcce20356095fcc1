import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Apple's coordinator", .blocking, .timeLimit(.minutes(4)))
struct CoordinatorTests {
  @Test("N-1: The raw values of options are Apple's")
  func rawValues() {
    let reading: [NSFileCoordinator.ReadingOptions] = [
      .withoutChanges, .resolvesSymbolicLink, .immediatelyAvailableMetadataOnly, .forUploading,
    ]
    #expect(reading.map(\.rawValue) == [1, 2, 4, 8])
    let writing: [NSFileCoordinator.WritingOptions] = [
      .forDeleting, .forMoving, .forMerging, .forReplacing, .contentIndependentMetadataOnly,
    ]
    #expect(writing.map(\.rawValue) == [1, 2, 4, 8, 16])
  }

  @Test("C-168, C-180: Accessors run on the calling thread, and success leaves the error alone")
  func synchronous() throws {
    try withSandbox { box in
      let url = try box.write("d/f")
      let (thread, coordinator) = (Thread.current, NSFileCoordinator())
      let marker = NSError(domain: "before", code: 1)
      var error: NSError? = marker
      var read = ""
      coordinator.coordinate(readingItemAt: url, options: .withoutChanges, error: &error) { url in
        #expect(Thread.current === thread)
        read = (try? box.text(url)) ?? ""
      }
      #expect(read == "old")
      coordinator.coordinate(writingItemAt: url, error: &error) { url in
        #expect(Thread.current === thread)
        #expect((try? Data("new".utf8).write(to: url)) != nil)
      }
      #expect(error === marker)
      #expect(try box.text(url) == "new")
      let pointer: NSErrorPointer = nil
      coordinator.coordinate(readingItemAt: url, error: pointer) { #expect($0 == url) }
    }
  }

  @Test("C-134: Calls with two items get both URLs in the order of the arguments")
  func twoItems() throws {
    try withSandbox { box in
      let (first, second) = (try box.write("a"), try box.write("b"))
      let coordinator = NSFileCoordinator()
      var error: NSError?
      var calls = 0
      coordinator.coordinate(readingItemAt: first, writingItemAt: second, error: &error) {
        #expect($0 == first)
        #expect($1 == second)
        calls += 1
      }
      coordinator.coordinate(
        writingItemAt: second, options: .forMoving, writingItemAt: first, options: .forReplacing, error: &error
      ) {
        #expect($0 == second)
        #expect($1 == first)
        calls += 1
      }
      #expect(calls == 2)
      #expect(error == nil)
    }
  }

  @Test("C-004: A write of one coordinator waits for that of another")
  func exclusion() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let journal = Journal()
      NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in
        let worker = Worker {
          NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in journal.note("second") }
        }
        box.awaitWait(for: url)
        journal.note("first")
        _ = worker
      }
      journal.wait(for: "second")
      #expect(journal.entries == ["first", "second"])
    }
  }

  @Test("C-160, C-162: cancel() ends a wait with Cocoa error 3072, and each later call too")
  func cancelling() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let coordinator = NSFileCoordinator()
      let canceller = SharedCoordinator(coordinator)
      NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in
        let worker = Worker {
          var error: NSError?
          canceller.value.coordinate(readingItemAt: url, error: &error) { _ in Issue.record("read") }
          #expect(error?.domain == NSCocoaErrorDomain)
          #expect(error?.code == CocoaError.userCancelled.rawValue)
        }
        box.awaitWait(for: url)
        coordinator.cancel()
        #expect(worker.join())
      }
      var error: NSError?
      coordinator.coordinate(writingItemAt: url, error: &error) { _ in Issue.record("written") }
      #expect(error?.code == 3072)
    }
  }

  @Test("C-170: A URL that names no file is an error, and an impossible pair of options too")
  func badInput() throws {
    try withSandbox { box in
      let web = try #require(URL(string: "https://example.com/f"))
      var error: NSError?
      NSFileCoordinator().coordinate(readingItemAt: web, error: &error) { _ in Issue.record("read") }
      #expect(error?.domain == NSCocoaErrorDomain)
      #expect(error?.code == CocoaError.fileReadUnsupportedScheme.rawValue)
      NSFileCoordinator().coordinate(
        writingItemAt: box.url("f"), options: [.forMoving, .forDeleting], error: &error
      ) { _ in Issue.record("written") }
      #expect(error?.domain == FileCoordinationError.nativeErrorDomain)
      let native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
      #expect(native?.code == .conflictingOptions)
      #expect(error?.localizedDescription == native?.description)
      #expect(error?.code == native?.nativeErrorNumber)
    }
  }

  @Test("C-169: More than one writing option is refused, and so are bits without a meaning, by every call")
  func writingOptions() async throws {
    @Sendable func code(_ error: (any Error)?) -> FileCoordinationError.Code? {
      ((error as NSError?)?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError)?.code
    }
    try await withSandbox { box in
      let url = box.url("f"), coordinator = NSFileCoordinator()
      for bits in UInt(0)..<64 where bits.nonzeroBitCount > 1 || bits >= 32 {
        let options = NSFileCoordinator.WritingOptions(rawValue: bits)
        let expected: FileCoordinationError.Code = bits >= 32 ? .optionNotAllowed : .conflictingOptions
        var errors = [NSError?](repeating: nil, count: 4)
        coordinator.coordinate(writingItemAt: url, options: options, error: &errors[0]) { _ in Issue.record("ran") }
        coordinator.coordinate(
          readingItemAt: url, options: [], writingItemAt: url, options: options, error: &errors[1]
        ) { _, _ in Issue.record("ran") }
        coordinator.coordinate(
          writingItemAt: url, options: [], writingItemAt: url, options: options, error: &errors[2]
        ) { _, _ in Issue.record("ran") }
        coordinator.prepare(
          forReadingItemsAt: [], options: [], writingItemsAt: [url], options: options, error: &errors[3]
        ) { _ in Issue.record("ran") }
        #expect(errors.map(code) == Array(repeating: expected, count: 4), "\(bits)")
        let intent = NSFileAccessIntent.writingIntent(with: url, options: options)
        #expect(intent.url == url)
        let problem = await withCheckedContinuation { continuation in
          coordinator.coordinate(with: [intent], queue: OperationQueue()) { continuation.resume(returning: code($0)) }
        }
        #expect(problem == expected, "\(bits)")
      }
    }
  }

  @Test("C-021: A path where nothing is can be coordinated, and a snapshot of it can't be made: error 260")
  func missing() throws {
    try withSandbox { box in
      var error: NSError?
      var count = 0
      NSFileCoordinator().coordinate(readingItemAt: box.url("none"), error: &error) { _ in count += 1 }
      NSFileCoordinator().coordinate(writingItemAt: box.url("none"), options: .forDeleting, error: &error) { _ in
        count += 1
      }
      #expect(count == 2)
      #expect(error == nil)
      NSFileCoordinator().coordinate(readingItemAt: box.url("none"), options: .forUploading, error: &error) { _ in
        Issue.record("there is nothing to upload")
      }
      #expect(error?.code == CocoaError.fileReadNoSuchFile.rawValue)
    }
  }

  @Test("A deadline that passes is an error of the native domain that says who is in the way")
  func deadline() throws {
    try withSandbox { box in
      let url = try box.write("f")
      NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in
        let late = NSFileCoordinator()
        late.deadlines = .within(.milliseconds(20))
        let waiting = SharedCoordinator(late)
        let worker = Worker {
          var inner: NSError?
          waiting.value.coordinate(readingItemAt: url, error: &inner) { _ in Issue.record("read") }
          #expect((inner?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError)?.code == .timedOut)
        }
        #expect(worker.join())
      }
    }
  }

  @Test("C-138: prepare() returns when its handler has been called on another thread, and fails if it's dropped")
  func preparing() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let journal = Journal()
      var error: NSError?
      NSFileCoordinator().prepare(forReadingItemsAt: [url], writingItemsAt: [], error: &error) { completion in
        _ = Worker {
          journal.note("done")
          completion()
        }
      }
      #expect(journal.entries == ["done"])
      #expect(error == nil)
      NSFileCoordinator().prepare(forReadingItemsAt: [], writingItemsAt: [url], error: &error) { _ in }
      #expect((error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError)?.code == .answerDropped)
    }
  }

  @Test("C-138: prepare() in an operation of a serial queue waits for presenters, and then for its handler as well")
  func preparingInOperation() throws {
    try withSandbox { box in
      let (url, other) = (try box.write("f"), try box.write("other"))
      let (presenter, queue) = (LateSavingPresenter(url, box), serialQueue())
      let neighbour = HandlerPresenter(other, queue)
      let journal = presenter.journal
      box.presenting(presenter, neighbour) {
        queue.addOperations(
          [
            BlockOperation {
              var error: NSError?
              NSFileCoordinator().prepare(forReadingItemsAt: [url], writingItemsAt: [], error: &error) { completion in
                journal.note("begun")
                _ = Worker {
                  journal.wait(for: "left")
                  // Asks a presenter of the blocked queue, and so comes back when that thread waits for the handler.
                  Access.read.run(other)
                  journal.note("done")
                  completion()
                }
                journal.note("left")
              }
              journal.note("over \(error as Any)")
            }
          ], waitUntilFinished: true)
      }
      #expect(journal.entries == ["saved", "begun", "left", "done", "over nil"])
      #expect(neighbour.journal.entries == ["relinquish to reader", "save", "reacquire"])
    }
  }

  @Test("C-113 to C-116: The purpose is the presenter's, or one's own, and those of one purpose overlap")
  func purposes() throws {
    try withSandbox { box in
      let presenter = QuietPresenter(box.url("f"))
      let pair = [NSFileCoordinator(filePresenter: presenter), NSFileCoordinator(filePresenter: presenter)]
      #expect(pair[0].purposeIdentifier == pair[1].purposeIdentifier)
      #expect(NSFileCoordinator().purposeIdentifier != NSFileCoordinator().purposeIdentifier)
      let (first, second) = (NSFileCoordinator(), NSFileCoordinator())
      first.purposeIdentifier = "test.purpose"
      second.purposeIdentifier = "test.purpose"
      var reached = false
      first.coordinate(writingItemAt: box.url("f"), error: nil) { url in
        second.coordinate(writingItemAt: url, error: nil) { _ in reached = true }
      }
      #expect(reached)
    }
  }

  @Test("C-117: A purpose that's set twice, after use or for a presenter's coordinator is reported, and stays")
  func purposesThatStay() throws {
    try withSandbox { box in
      let presenter = PurposePresenter(box.url("f"))
      let own = NSFileCoordinator(filePresenter: presenter)
      let purpose = own.purposeIdentifier
      own.purposeIdentifier = "test.other"
      #expect(own.purposeIdentifier == purpose)
      #expect(NSFileCoordinator(filePresenter: presenter).purposeIdentifier == purpose)
      #expect(Sandbox.misuse.entries.contains { $0.contains("'PurposePresenter' has its presenter's purpose") })
      let (twice, used) = (NSFileCoordinator(), NSFileCoordinator())
      twice.purposeIdentifier = "test.once"
      Access.read.run(by: used, box.url("f"))
      for coordinator in [twice, used] {
        let purpose = coordinator.purposeIdentifier
        let reportCount = Sandbox.misuse.entries.count { $0.contains("has been set or used already") }
        coordinator.purposeIdentifier = "test.late"
        #expect(coordinator.purposeIdentifier == purpose)
        #expect(Sandbox.misuse.entries.count { $0.contains("has been set or used already") } > reportCount)
      }
      #expect(twice.purposeIdentifier == "test.once")
    }
  }

  @Test("C-118: An empty purpose is reported and changes nothing; another can still be set")
  func emptyPurpose() {
    _ = Sandbox.domain
    let coordinator = NSFileCoordinator()
    let purpose = coordinator.purposeIdentifier
    coordinator.purposeIdentifier = ""
    #expect(coordinator.purposeIdentifier == purpose && !purpose.isEmpty)
    #expect(Sandbox.misuse.entries.contains { $0.contains("must not be empty") })
    coordinator.purposeIdentifier = "test.full"
    #expect(coordinator.purposeIdentifier == "test.full")
  }

  @Test("Subclasses override what they like")
  func subclass() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let coordinator = CountingCoordinator()
      var reads = 0
      coordinator.coordinate(readingItemAt: url, error: nil) { _ in reads += 1 }
      #expect(coordinator.count == 1)
      #expect(reads == 1)
    }
  }
}

@Suite("Apple's coordinator on a queue", .blocking, .timeLimit(.minutes(4)))
struct QueueAccessTests {
  @Test("N-8: The accessor runs once on the queue, with access")
  func granted() throws {
    try withSandbox { box in
      let (first, second) = (try box.write("a"), try box.write("b"))
      let (journal, queue) = (Journal(), serialQueue())
      let intents = [NSFileAccessIntent.readingIntent(with: first), .writingIntent(with: second, options: .forMerging)]
      NSFileCoordinator().coordinate(with: intents, queue: queue) { error in
        #expect(error == nil)
        #expect(OperationQueue.current === queue)
        #expect(intents.map(\.url) == [first, second])
        journal.note("accessor")
      }
      #expect(journal.wait(for: "accessor"))
      queue.waitUntilAllOperationsAreFinished()
      #expect(journal.entries == ["accessor"])
    }
  }

  @Test("N-8: When there's no access the accessor runs once on the queue, with the error")
  func refused() throws {
    try withSandbox { box in
      let (journal, queue, coordinator) = (Journal(), serialQueue(), NSFileCoordinator())
      coordinator.cancel()
      coordinator.coordinate(with: [.readingIntent(with: box.url("f"))], queue: queue) { error in
        #expect((error as? CocoaError)?.code == .userCancelled)
        #expect(OperationQueue.current === queue)
        journal.note("accessor")
      }
      #expect(journal.wait(for: "accessor"))
      coordinator.coordinate(with: [], queue: queue) { error in
        #expect(error != nil)
        journal.note("nothing")
      }
      #expect(journal.wait(for: "nothing"))
    }
  }

  @Test("N-8: Cancelling all operations of the queue doesn't lose the accessor")
  func cancelledOperations() throws {
    try withSandbox { box in
      let (journal, queue) = (Journal(), serialQueue())
      queue.isSuspended = true
      NSFileCoordinator().coordinate(with: [.writingIntent(with: box.url("f"))], queue: queue) { error in
        #expect(error == nil)
        journal.note("accessor")
      }
      while queue.operationCount == 0 { sched_yield() }
      queue.cancelAllOperations()
      queue.isSuspended = false
      #expect(journal.wait(for: "accessor"))
    }
  }

  @Test("C-098: Intents show where the mover has put the item")
  func movedWhileWaiting() throws {
    try withSandbox { box in
      let (old, new) = (try box.write("old"), box.url("new"))
      let (journal, mover) = (Journal(), NSFileCoordinator())
      let intent = NSFileAccessIntent.readingIntent(with: old)
      mover.coordinate(writingItemAt: old, options: .forMoving, writingItemAt: new, options: .forReplacing, error: nil)
      {
        mover.item(at: $0, willMoveTo: $1)
        NSFileCoordinator().coordinate(with: [intent], queue: serialQueue()) { error in
          #expect(error == nil)
          #expect(intent.url == new)
          journal.note("read")
        }
        box.awaitWait(for: old)
        #expect((try? FileManager.default.moveItem(at: $0, to: $1)) != nil)
        mover.item(at: $0, didMoveTo: $1)
      }
      #expect(journal.wait(for: "read"))
    }
  }
}

/// Answers when the access that asks is waiting for it.
private final class LateSavingPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {
  private let box: Sandbox

  init(_ url: URL, _ box: Sandbox) {
    self.box = box
    super.init(url)
  }

  func savePresentedItemChanges(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    let path = presentedItemURL?.path
    _ = Worker { [box, journal] in
      box.awaitState { snapshot in
        snapshot.accesses.contains { access in
          access.party.kind == .askingAccess && access.party.items.contains { $0.path == path }
        }
      }
      journal.note("saved")
      completionHandler(nil)
    }
  }
}

/// Hands a coordinator to another thread, as programs in Swift 5 mode do.
struct SharedCoordinator: @unchecked Sendable {
  let value: NSFileCoordinator

  init(_ value: NSFileCoordinator) { self.value = value }
}

/// Has coordinators in one test.
private final class PurposePresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}

private final class CountingCoordinator: NSFileCoordinator {
  var count = 0

  override func coordinate(
    readingItemAt url: URL, options: ReadingOptions = [], error outError: NSErrorPointer,
    byAccessor reader: (URL) -> Void
  ) {
    count += 1
    super.coordinate(readingItemAt: url, options: options, error: outError, byAccessor: reader)
  }
}

/// A presenter that has implemented no method.
final class QuietPresenter: NSObject, NSFilePresenter {
  let presentedItemURL: URL?
  let presentedItemOperationQueue: OperationQueue

  init(_ url: URL?, _ queue: OperationQueue = serialQueue()) {
    presentedItemURL = url
    presentedItemOperationQueue = queue
  }
}
