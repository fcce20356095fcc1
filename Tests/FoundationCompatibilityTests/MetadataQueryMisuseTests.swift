import Foundation
import FoundationCompatibility
import MetadataPredicates
import TestSupport
import Testing

@Suite("Mistakes with Apple's metadata queries", .serialized, .blocking, .timeLimit(.minutes(4)))
struct MetadataQueryMisuseTests {
  @Test("A query that's started on any thread, which ends at once, gathers and updates")
  func anyThread() throws {
    try withSandbox { box in
      _ = try box.write("a")
      let watcher = QueryWatcher(box)
      let starter = Worker { [watcher] in
        #expect(!Thread.isMainThread && RunLoop.current.currentMode == nil)
        #expect(watcher.query.start())
      }
      #expect(starter.join())
      #expect(watcher.journal.wait(for: "finished"))
      _ = try box.write("b", "")
      #expect(watcher.journal.wait(for: "updated +b"))
      let stopper = Worker { [watcher] in watcher.query.stop() }
      #expect(stopper.join())
      #expect(watcher.query.isStopped)
    }
  }

  @Test("An equality with asterisks finds names that have asterisks, which is reported; LIKE finds what was meant")
  func wildcardInEquality() throws {
    try withSandbox { box in
      for name in ["a.plist", "*.plist"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box, nil)
      watcher.query.predicate = NSPredicate(format: "%K == '*.plist'", NSMetadataItemFSNameKey)
      watcher.gather()
      #expect(watcher.names == ["*.plist"])
      #expect(Sandbox.misuse.entries.contains { $0.contains("'*.plist'") && $0.contains("LIKE") })
      watcher.query.predicate = NSPredicate(format: "%K LIKE '*.plist'", NSMetadataItemFSNameKey)
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(watcher.names == ["*.plist", "a.plist"])
      let reportCount = Sandbox.misuse.entries.count { $0.contains("for a pattern") }
      // In Spotlight's language they're patterns.
      watcher.query.predicate = NSPredicate(fromMetadataQueryString: "kMDItemFSName == 'a*.plist'")
      #expect(watcher.journal.wait(for: "finished", count: 3))
      #expect(watcher.names == ["a.plist"])
      #expect(Sandbox.misuse.entries.count { $0.contains("for a pattern") } == reportCount)
    }
  }

  @Test(
    "A condition that no file can fulfil is reported, and one that some file can isn't",
    arguments: [
      ("kMDItemFSSize > '3'", "never holds"), ("kMDItemFSName == 3", "never holds"),
      ("NOT (kMDItemFSSize != 'x') AND kMDItemFSName == 'a'", "holds for every file"),
      ("kMDItemAuthorz == 'x'", "kMDItemAuthorz"), ("kMDItemFSSize > 3 OR kMDItemFSName == '3'", nil),
      ("NSMetadataUbiquitousItemIsDownloadingKey == 1", nil),
    ] as [(String, String?)])
  func impossible(format: String, report: String?) throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box, nil)
      let before = Sandbox.misuse.entries.count
      watcher.query.predicate = NSPredicate(format: format)
      watcher.gather()
      let reports = Sandbox.misuse.entries.dropFirst(before).filter { $0.contains("finds less or more") }
      #expect(reports.count == (report == nil ? 0 : 1) && reports.allSatisfy { $0.contains(report ?? "") })
    }
  }

  @Test("LIKE on the URL is LIKE on the path")
  func likeOnURL() throws {
    try withSandbox { box in
      for name in ["d/a.txt", "e/a.txt"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box, nil)
      watcher.query.predicate = NSPredicate(format: "%K LIKE '*/d/*.txt'", NSMetadataItemURLKey)
      watcher.gather()
      let paths = watcher.query.results.map { result in
        (result as? NSMetadataItem)?.value(forAttribute: NSMetadataItemPathKey) as? String
      }
      #expect(paths == [box.url("d/a.txt").path])
    }
  }

  @Test("Status keys are missing, whatever they're cast to, and predicates about them hold for nothing")
  func statusKeys() throws {
    try withSandbox { box in
      let url = try box.write("a")
      let item = try #require(NSMetadataItem(url: url))
      let keys = [
        NSMetadataUbiquitousItemDownloadingStatusKey, NSMetadataUbiquitousItemIsDownloadedKey,
        NSMetadataUbiquitousItemPercentDownloadedKey, NSMetadataUbiquitousItemHasUnresolvedConflictsKey,
      ]
      for key in keys {
        let (flag, text) = (item.value(forAttribute: key) as? Bool, item.value(forAttribute: key) as? String)
        #expect(flag == nil && text == nil)
      }
      let watcher = QueryWatcher(box, nil)
      watcher.query.predicate = NSPredicate(
        format: "%K == %@", NSMetadataUbiquitousItemDownloadingStatusKey,
        NSMetadataUbiquitousItemDownloadingStatusCurrent)
      watcher.gather()
      #expect(watcher.names.isEmpty)
    }
  }

  @Test("Fewer arguments than placeholders end the program with the place; the twin that throws says the same")
  func missingArguments() async throws {
    let exit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSPredicate(format: "%K == %@ AND %K == %@", NSMetadataItemFSNameKey, "a")
    }
    let lines = String(decoding: exit?.standardErrorContent ?? [], as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let place = try #require(lines.firstIndex { $0.contains("NSPredicate(format:)") }, "\(lines)")
    #expect(lines[place].hasSuffix("(line 1, column 14)"), "\(lines[place])")
    try #require(lines.count > place + 2)
    #expect(lines[place + 1] == "  %K == %@ AND %K == %@")
    #expect(lines[place + 2] == "               ^")
    let error = try #require(
      #expect(throws: MetadataPredicateError.self) {
        try NSPredicate.parsing("%K == %@ AND %K == %@", arguments: [NSMetadataItemFSNameKey, "a"])
      })
    #expect(error.code == .arguments && error.location?.column == 14)
    let twin = error.description.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[place].hasSuffix(twin[0]))
    #expect(lines.dropFirst(place + 1).prefix(twin.count - 1) == twin.dropFirst())
  }

  @Test("Handlers may stop, start, freeze, change and read the query that calls them")
  func handlersThatDoEverything() throws {
    try withSandbox { box in
      for name in ["a", "b"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      let rounds = Journal()
      watcher.on(.NSMetadataQueryDidFinishGathering) { _ in
        rounds.note("round")
        let query = watcher.query
        query.disableUpdates()
        #expect(query.results.count == query.resultCount)
        query.enableUpdates()
        if rounds.entries.count == 1 {
          query.stop()
          #expect(query.resultCount == 2)
          query.searchScopes = [box.root, box.root.path]
          #expect(query.start() && !query.start())
        }
      }
      watcher.gather()
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(watcher.names == ["a", "b"])
    }
  }

  @Test("A handler that never returns holds up its own query, and no other one over the same scope")
  func blockedHandler() throws {
    try withSandbox { box in
      let (stuck, other) = (QueryWatcher(box), QueryWatcher(box, on: serialQueue("other")))
      let (isStuck, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      stuck.on(.NSMetadataQueryDidUpdate) { _ in
        isStuck.signal()
        mayGoOn.wait()
      }
      stuck.gather()
      other.gather()
      try FileManager.default.createDirectory(at: box.url("a"), withIntermediateDirectories: false)
      #expect(isStuck.wait(timeout: .now() + patience) == .success)
      try FileManager.default.createDirectory(at: box.url("b"), withIntermediateDirectories: false)
      #expect(other.journal.wait { lines in lines.contains { $0.contains("+b") } })
      stuck.query.disableUpdates()
      #expect(stuck.query.resultCount == 1)
      stuck.query.enableUpdates()
      mayGoOn.signal()
      mayGoOn.signal()
      #expect(stuck.journal.wait { lines in lines.contains { $0.contains("+b") } })
    }
  }

  @Test("Observers without an object hear of all queries, each with itself as the object")
  func observersOfAll() throws {
    try withSandbox { box in
      let queries = (0..<3).map { _ in QueryWatcher(box) }
      let known = Set(queries.map { ObjectIdentifier($0.query) })
      let heard = Journal()
      let token = NotificationCenter.default.addObserver(
        forName: .NSMetadataQueryDidFinishGathering, object: nil, queue: nil
      ) { notification in
        guard let query = notification.object as? NSMetadataQuery, known.contains(ObjectIdentifier(query)) else {
          return
        }
        heard.note("\(ObjectIdentifier(query))")
      }
      defer { NotificationCenter.default.removeObserver(token) }
      for watcher in queries {
        watcher.gather()
        // Observers are called in any order; now all of them have been.
        watcher.onQueue {}
      }
      #expect(Set(heard.entries).count == 3 && heard.entries.count == 3)
    }
  }

  @Test("Scopes and items of other kinds, of no file and of too long paths are reported, and the rest is searched")
  func strangePlaces() throws {
    try withSandbox { box in
      _ = try box.write("a")
      let watcher = QueryWatcher(box)
      let long = "/" + String(repeating: "n", count: 300)
      watcher.query.searchScopes = [
        box.root, URL(string: "https://example.org/x") as Any, long, NSNumber(value: 1), "",
      ]
      watcher.gather()
      #expect(watcher.names == ["a"])
      #expect(Sandbox.misuse.entries.contains { $0.contains("https://example.org/x") })
      #expect(Sandbox.misuse.entries.contains { $0.contains("ENAMETOOLONG") })
      watcher.query.stop()
      watcher.query.searchScopes = []
      watcher.query.searchItems = [box.url("a"), long, 3, NSMetadataItem()]
      watcher.gather()
      #expect(watcher.names == ["a"])
    }
  }

  @Test("Intervals that are no time count as none or as for ever, and end nothing")
  func strangeIntervals() throws {
    try withSandbox { box in
      _ = try box.write("a")
      for interval in [-1, TimeInterval.nan, -TimeInterval.infinity, 0] {
        let watcher = QueryWatcher(box)
        watcher.query.notificationBatchingInterval = interval
        watcher.gather()
        #expect(watcher.names == ["a"])
      }
      let patient = QueryWatcher(box)
      patient.query.notificationBatchingInterval = .infinity
      patient.gather()
      #expect(patient.names == ["a"])
    }
  }
}
