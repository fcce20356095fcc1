import FileCoordination
import Foundation
import FoundationCompatibility
import TestSupport
import Testing

/// Mistakes of programs, and their consequences; further ones are in the tests of the misused methods.
@Suite("Mistakes of programs with Apple's names", .blocking, .timeLimit(.minutes(4)))
struct MisuseTests {
  @Test("A plain write that says it deletes: presenters let go, the contents are there, and who stays hears of them")
  func writeForDeleting() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let presenter = HandlerPresenter(url)
      NSFileCoordinator.addFilePresenter(presenter)
      defer { NSFileCoordinator.removeFilePresenter(presenter) }
      var error: NSError?
      NSFileCoordinator().coordinate(writingItemAt: url, options: .forDeleting, error: &error) { url in
        #expect(throws: Never.self) { try Data("new".utf8).write(to: url) }
      }
      #expect(error == nil)
      #expect(try box.text(url) == "new")
      #expect(presenter.journal.wait(for: "changed"))
      #expect(presenter.journal.entries.prefix(2) == ["relinquish to writer", "deletion"])
    }
  }

  @Test("prepare() whose completion is kept and never called is reported, holds up nobody, and ends with cancel()")
  func forgottenCompletion() throws {
    try withSandbox { box in
      let url = try box.write("f")
      // Its class is the coordinator's label: the report says whose batch it is.
      let coordinator = NSFileCoordinator(filePresenter: ForgetfulPresenter(url))
      coordinator.deadlines = AccessDeadlines(waitingForAccesses: nil, waitingForAnswers: .milliseconds(20))
      let shared = SharedCoordinator(coordinator)
      let isReported = DispatchSemaphore(value: 0)
      var kept: (@Sendable () -> Void)?
      var error: NSError?
      var writeCount = 0
      coordinator.prepare(forReadingItemsAt: [url], writingItemsAt: [], error: &error) { completion in
        kept = completion
        NSFileCoordinator().coordinate(writingItemAt: url, error: nil) { _ in writeCount += 1 }
        _ = Worker {
          let came = Sandbox.misuse.wait { lines in
            lines.contains { $0.contains("'ForgetfulPresenter' waits for the completion handler of prepare()") }
          }
          if came { isReported.signal() }
          shared.value.cancel()
        }
      }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSUserCancelledError)
      #expect(isReported.wait(timeout: .now()) == .success)
      #expect(writeCount == 1)
      #expect(Sandbox.misuse.entries.count { $0.contains("'ForgetfulPresenter'") } == 1)
      kept?()
    }
  }

  @Test("C-138: prepare() whose completion is kept and never called ends by its deadline, and says what to do")
  func overdueCompletion() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let coordinator = NSFileCoordinator()
      coordinator.deadlines = .within(.milliseconds(20))
      var kept: (@Sendable () -> Void)?
      var error: NSError?
      coordinator.prepare(forReadingItemsAt: [url], writingItemsAt: [], error: &error) { kept = $0 }
      let native = error?.userInfo[NSUnderlyingErrorKey] as? FileCoordinationError
      #expect(native?.code == .timedOut)
      for part in [url.path, "completion handler", "20 ms", "waitingForAccesses"] {
        #expect(error?.localizedDescription.contains(part) == true)
      }
      // Too late, and harmless; the coordinator can be used again.
      kept?()
      #expect(Access.read.run(by: coordinator, url) == nil)
    }
  }

  @Test("Work that an accessor begins and leaves behind has no access, and harms nobody")
  func workLeftBehind() throws {
    try withSandbox { box in
      let url = try box.write("f")
      let (mayWrite, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let coordinator = NSFileCoordinator()
      let shared = SharedCoordinator(coordinator)
      coordinator.coordinate(writingItemAt: url, error: nil) { url in
        Thread.detachNewThread {
          mayWrite.wait()
          shared.value.item(at: url, didMoveTo: box.url("g"))
          done.signal()
        }
      }
      var read: String?
      NSFileCoordinator().coordinate(readingItemAt: url, error: nil) { read = try? box.text($0) }
      #expect(read == "old")
      mayWrite.signal()
      #expect(done.wait(timeout: .now() + patience) == .success)
      #expect(Sandbox.misuse.wait { $0.contains { $0.contains(url.path) && $0.contains("didMoveTo") } })
    }
  }

  @Test("Accesses without a place for an error fail without one, and run nothing")
  func errorsNobodyWants() throws {
    try withSandbox { box in
      let coordinator = NSFileCoordinator()
      coordinator.coordinate(readingItemAt: try #require(URL(string: "https://example.org/f")), error: nil) { _ in
        Issue.record("read what is no file")
      }
      coordinator.coordinate(readingItemAt: box.url("none"), options: .forUploading, error: nil) { _ in
        Issue.record("read a snapshot of nothing")
      }
      coordinator.cancel()
      coordinator.coordinate(writingItemAt: box.url("f"), error: nil) { _ in Issue.record("written") }
    }
  }

  @Test("Patterns after == are compared as they stand, and LIKE takes the text of a URL")
  func patternsAndURLs() throws {
    let items: [[String: Any]] = ["a.plist", "*.plist"].map {
      [NSMetadataItemFSNameKey: $0, NSMetadataItemURLKey: URL(fileURLWithPath: "/d/\($0)")]
    }
    func names(_ predicate: NSPredicate) -> [String] {
      (NSArray(array: items).filtered(using: predicate) as? [[String: Any]] ?? [])
        .compactMap { $0[NSMetadataItemFSNameKey] as? String }
    }
    #expect(names(NSPredicate(format: "%K == '*.plist'", NSMetadataItemFSNameKey)) == ["*.plist"])
    #expect(names(NSPredicate(format: "%K LIKE '*.plist'", NSMetadataItemURLKey)) == ["a.plist", "*.plist"])
    #expect(names(NSPredicate(format: "%K LIKE '*/a.*'", NSMetadataItemURLKey)) == ["a.plist"])
  }

  @Test("A value that is no Bool, and one that nobody knows, are no Bool")
  func statusAsBool() throws {
    try withSandbox { box in
      let item = try #require(NSMetadataItem(url: box.write("f")))
      #expect(item.value(forAttribute: NSMetadataUbiquitousItemDownloadingStatusKey) as? Bool == nil)
      #expect(item.value(forAttribute: NSMetadataItemFSNameKey) as? Bool == nil)
      #expect(item.value(forAttribute: "kMDItemMistaken") == nil)
    }
  }
}

/// Has coordinators of its own in one test.
private final class ForgetfulPresenter: JournalPresenter, NSFilePresenter, @unchecked Sendable {}
