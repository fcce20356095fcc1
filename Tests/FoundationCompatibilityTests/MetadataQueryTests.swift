import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Apple's metadata queries, from the first search on", .serialized, .blocking, .timeLimit(.minutes(4)))
struct AppleMetadataQueryTests {
  @Test("Q1, Q2, Q18: a new query runs not, has nothing, and doesn't start without a predicate")
  func unstarted() throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box, nil)
      let query = watcher.query
      #expect(!query.isStarted && !query.isGathering && query.isStopped && query.resultCount == 0)
      #expect(NSMetadataQuery().notificationBatchingInterval == 1)
      #expect(query.start() == false)
      #expect(!query.isStarted)
      watcher.onQueue {}
      #expect(watcher.journal.entries.isEmpty)
      query.stop()
      query.enableUpdates()
      #expect(Sandbox.misuse.entries.contains { $0.contains("enableUpdates()") })
    }
  }

  @Test("Q4 to Q8, Q20, Q21: one beginning, what's found, one end, on the queue, with the query as object")
  func phases() throws {
    try withSandbox { box in
      for name in ["b", "a"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      let gathering = Journal()
      for name in [
        Notification.Name.NSMetadataQueryDidStartGathering, .NSMetadataQueryGatheringProgress,
        .NSMetadataQueryDidFinishGathering,
      ] {
        watcher.on(name) { notification in
          let query = notification.object as? NSMetadataQuery
          gathering.note("\(query === watcher.query) \(query?.isGathering == true) \(query?.resultCount ?? -1)")
        }
      }
      watcher.gather()
      #expect(watcher.query.isStarted && !watcher.query.isGathering)
      #expect(watcher.journal.entries == ["began", "gathered +a +b", "finished"])
      #expect(gathering.entries == ["true true 0", "true true 2", "true false 2"])
      #expect(watcher.names == ["a", "b"])
    }
  }

  @Test("Q7: the end is posted although nothing was found")
  func nothing() throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box)
      watcher.gather()
      #expect(watcher.journal.entries == ["began", "finished"])
    }
  }

  @Test("Q3: a query that runs isn't started again, and not disturbed")
  func startedTwice() throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box)
      watcher.gather()
      #expect(watcher.query.start() == false)
      _ = try box.write("a", "")
      #expect(watcher.journal.wait(for: "updated +a"))
      #expect(watcher.journal.entries == ["began", "finished", "updated +a"])
    }
  }

  @Test(
    "Changes before start() are there when the first search is over, though another query follows the same scope")
  func barrierAtStart() throws {
    try withSandbox { box in
      let witness = QueryWatcher(box)
      witness.gather()
      for round in 0..<20 {
        let url = try box.write("\(round)", "")
        let watcher = QueryWatcher(box, "kMDItemFSName == '\(round)'")
        let found = Journal()
        watcher.on(.NSMetadataQueryDidFinishGathering) { _ in found.note("\(watcher.query.resultCount)") }
        watcher.gather()
        #expect(found.entries == ["1"] && watcher.names == ["\(round)"])
        try FileManager.default.removeItem(at: url)
      }
    }
  }

  @Test("Q9, Q11, Q12: after stop() nothing is posted and results stay; start() finds everything anew")
  func stopping() throws {
    try withSandbox { box in
      let old = try box.write("old")
      let (watcher, witness) = (QueryWatcher(box), QueryWatcher(box))
      watcher.gather()
      witness.gather()
      watcher.query.stop()
      try FileManager.default.removeItem(at: old)
      _ = try box.write("new", "")
      #expect(witness.journal.wait { lines in lines.contains { $0.contains("+new") } })
      #expect(watcher.query.isStopped && watcher.names == ["old"])
      #expect(watcher.journal.entries == ["began", "gathered +old", "finished"])
      watcher.gather()
      #expect(watcher.names == ["new"])
    }
  }

  @Test("Q10: a query that's stopped when it begins never tells of an end")
  func stoppedAtOnce() throws {
    try withSandbox { box in
      _ = try box.write("a")
      let (watcher, witness) = (QueryWatcher(box), QueryWatcher(box))
      watcher.on(.NSMetadataQueryDidStartGathering) { _ in watcher.query.stop() }
      #expect(watcher.query.start())
      #expect(watcher.journal.wait(for: "began"))
      witness.gather()
      watcher.onQueue {}
      #expect(watcher.journal.entries == ["began"])
      #expect(!watcher.query.isGathering && watcher.query.resultCount == 0)
    }
  }

  @Test(
    "Q13 to Q16, Q31: The results of a running query are found anew when its settings are changed",
    arguments: [
      Change("predicate") { $0.predicate = NSPredicate(format: "kMDItemFSName != 'x'") },
      Change("valueListAttributes") { $0.valueListAttributes = [NSMetadataItemFSSizeKey] },
      Change("groupingAttributes") { $0.groupingAttributes = [NSMetadataItemFSSizeKey] },
      Change("sortDescriptors") { $0.sortDescriptors = [NSSortDescriptor(key: "kMDItemFSName", ascending: false)] },
      Change("searchScopes") { $0.searchScopes = $0.searchScopes },
      Change("searchItems") { $0.searchItems = nil },
    ])
  func restarting(change: Change) throws {
    try withSandbox { box in
      for name in ["a", "b"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      watcher.gather()
      change.body(watcher.query)
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(
        watcher.journal.entries == ["began", "gathered +a +b", "finished", "began", "gathered +a +b", "finished"])
      #expect(watcher.names == (change.testDescription == "sortDescriptors" ? ["b", "a"] : ["a", "b"]))
    }
  }

  @Test("Q31: a running query whose scope or order is changed has the results of the new one, and follows that")
  func changingWhileRunning() throws {
    try withSandbox { box in
      for name in ["old/a", "new/b", "new/c"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      watcher.query.searchScopes = [box.url("old")]
      watcher.gather()
      #expect(watcher.names == ["a"])
      watcher.query.searchScopes = [box.url("new")]
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(watcher.names == ["b", "c"])
      _ = try box.write("old/unseen", "")
      _ = try box.write("new/d", "")
      #expect(watcher.journal.wait(for: "updated +d"))
      watcher.query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: false)]
      #expect(watcher.journal.wait(for: "finished", count: 3))
      #expect(watcher.names == ["d", "c", "b"])
      _ = try box.write("new/e", "")
      #expect(watcher.journal.wait(for: "updated +e"))
      #expect(watcher.names == ["e", "d", "c", "b"])
      #expect(!watcher.journal.entries.contains { $0.contains("unseen") })
    }
  }

  @Test("Q13: a running query whose predicate is taken away stops; a handler may change it")
  func changingInHandlers() throws {
    try withSandbox { box in
      for name in ["a", "b"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box, "kMDItemFSName == 'a'")
      watcher.on(.NSMetadataQueryDidFinishGathering) { _ in
        if watcher.query.resultCount == 1 { watcher.query.predicate = NSPredicate(value: true) }
      }
      watcher.gather()
      #expect(watcher.journal.wait(for: "finished", count: 2))
      #expect(watcher.names == ["a", "b"])
      watcher.query.predicate = nil
      #expect(watcher.query.isStopped)
      #expect(watcher.names == ["a", "b"])
    }
  }

  @Test("N-4: without a queue everything is posted on the main thread, if that runs")
  func mainThread() async throws {
    try await withSandbox { box in
      _ = try box.write("a")
      let watcher = QueryWatcher(box, on: .main)
      watcher.query.operationQueue = nil
      let places = Journal()
      watcher.on(.NSMetadataQueryDidFinishGathering) { _ in
        places.note("\(OperationQueue.current === OperationQueue.main)")
      }
      await MainActor.run { _ = watcher.query.start() }
      await untilNoted("finished", watcher.journal) {}
      await untilNoted("updated +b", watcher.journal) { try? Data().write(to: box.url("b")) }
      #expect(places.entries == ["true"])
    }
  }

  @Test("N-4: a query posts on a queue that runs several operations at once, one notification after the other")
  func concurrentQueue() throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box, on: OperationQueue())
      watcher.gather()
      _ = try box.write("a", "")
      #expect(watcher.journal.wait(for: "updated +a"))
      #expect(watcher.journal.entries == ["began", "finished", "updated +a"])
    }
  }

  @Test("N-4: where no run loop runs and the main queue is blocked, a query without a queue gathers, posts and updates")
  func noQueueAndNoRunLoop() async {
    await #expect(processExitsWith: .success) {
      try await MainActor.run {
        try withSandbox { box in
          _ = try box.write("a")
          let watcher = QueryWatcher(box, on: OperationQueue())
          watcher.query.operationQueue = nil
          #expect(watcher.query.start() && RunLoop.main.currentMode == nil)
          #expect(watcher.journal.wait(for: "finished"))
          _ = try box.write("b", "")
          #expect(watcher.journal.wait(for: "updated +b"))
          try FileManager.default.removeItem(at: box.url("a"))
          #expect(watcher.journal.wait(for: "updated -a"))
          #expect(watcher.journal.entries == ["began", "gathered +a", "finished", "updated +b", "updated -a"])
          #expect(watcher.query.results.map(QueryWatcher.name) == ["b"])
        }
      }
    }
  }

  @Test("Q22: where no run loop runs and the main queue is blocked, a query with a queue gathers, posts and updates")
  func queueWithoutRunLoop() async {
    await #expect(processExitsWith: .success) {
      try await MainActor.run {
        try withSandbox { box in
          let watcher = QueryWatcher(box)
          watcher.gather()
          #expect(RunLoop.main.currentMode == nil)
          _ = try box.write("a", "")
          #expect(watcher.journal.wait(for: "updated +a"))
          #expect(watcher.journal.entries == ["began", "finished", "updated +a"])
        }
      }
    }
  }

  @Test("Typed messages come as well, once each, and the results are there by then")
  func messages() async throws {
    try await withSandbox { box in
      _ = try box.write("a")
      let watcher = QueryWatcher(box)
      let heard = Journal()
      let center = NotificationCenter.default
      let tokens = [
        center.addObserver(of: watcher.query, for: .didStartGathering) { _ in heard.note("began") },
        center.addObserver(of: watcher.query, for: .gatheringProgress) { _ in heard.note("gathered") },
        center.addObserver(of: watcher.query, for: .didFinishGathering) { _ in heard.note("finished") },
        center.addObserver(of: watcher.query, for: .didUpdate) { _ in heard.note("updated") },
      ]
      defer { for token in tokens { center.removeObserver(token) } }
      #expect(watcher.query.start())
      await untilNoted("finished", heard) {}
      await untilNoted("updated", heard) { try? Data().write(to: box.url("b")) }
      for word in ["began", "gathered"] { await untilNoted(word, heard) {} }
      #expect(heard.entries.sorted() == ["began", "finished", "gathered", "updated"])
      #expect(watcher.names == ["a", "b"])
    }
  }

  @Test("A query that nobody keeps ends")
  func released() throws {
    try withSandbox { box in
      let ends = Journal()
      do {
        let watcher = QueryWatcher(box, query: MortalQuery(ends))
        watcher.gather()
        #expect(ends.entries.isEmpty)
      }
      // The thread that posted last may still hold it for a moment.
      #expect(ends.wait(for: "ended"))
      // Another one, over the same files, isn't disturbed.
      let other = QueryWatcher(box)
      other.gather()
      #expect(ends.entries == ["ended"])
    }
  }

  @Test("A predicate with variables doesn't start, and that's reported")
  func variables() throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box, "kMDItemFSName == $NAME")
      #expect(watcher.query.start() == false)
      #expect(!watcher.query.isStarted && !watcher.query.isGathering)
      #expect(Sandbox.misuse.entries.contains { $0.contains("$NAME") })
    }
  }

  private func untilNoted(_ line: String, _ journal: Journal, _ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread {
        body()
        #expect(journal.wait(for: line))
        continuation.resume()
      }.start()
    }
  }
}

/// A query that notes its end.
private final class MortalQuery: NSMetadataQuery {
  private let ends: Journal

  init(_ ends: Journal) {
    self.ends = ends
    super.init()
  }

  deinit { ends.note("ended") }
}

/// Something that's changed about a running query.
struct Change: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: @Sendable (NSMetadataQuery) -> Void

  init(_ name: String, _ body: @escaping @Sendable (NSMetadataQuery) -> Void) {
    testDescription = name
    self.body = body
  }
}
