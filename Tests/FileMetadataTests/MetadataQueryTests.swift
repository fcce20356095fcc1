import CSystemShims
import FileWatching
import Foundation
import Glibc
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Queries, from the first search on", .serialized, .timeLimit(.minutes(4)))
struct MetadataQueryTests {
  @Test("Q1, Q4, Q8, Q9, Q11: a query before it's started, while it runs and after it's stopped")
  func lifeCycle() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
    #expect(!query.isStarted && !query.isGathering && query.results.isEmpty)
    #expect(try query.start())
    #expect(query.isStarted)
    try await query.waitUntilCurrent()
    #expect(!query.isGathering)
    query.stop()
    try tree.write("b")
    try await query.waitUntilCurrent()
    #expect(!query.isStarted && query.results.map(\.name) == ["a"])
  }

  @Test("Q22: a query that's read as a sequence gathers and updates while the main thread is blocked")
  func noRunLoop() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    let end = ThreadEvent()
    let blocked = ThreadEvent()
    DispatchQueue.main.async {
      blocked.signal()
      end.wait()
    }
    defer { end.signal() }
    blocked.wait()
    var live = try await LiveQuery(tree)
    try await live.gather()
    #expect(live.names == ["a"])
    try tree.write("b", "")
    #expect(try await live.next().added.map(\.item.name) == ["b"])
  }

  @Test("Dates of attributes compare with a Date")
  func dates() throws {
    let date = Date(timeIntervalSinceReferenceDate: 5)
    let moment = MetadataDate(secondsSince2001: 5)
    let after: MetadataPredicate = .contentChangeDate > date && .creationDate <= date
    let same: MetadataPredicate = .contentChangeDate > moment && .creationDate <= moment
    #expect(after == same)
    let other: MetadataPredicate = .contentChangeDate < Date.now || .creationDate.isBetween(date, date)
    guard case .or(let members) = other else {
      Issue.record("\(other)")
      return
    }
    #expect(members[1] == .creationDate.isBetween(moment, moment))
  }

  @Test("Each comparison of a date attribute with a Date holds for the dates that it names")
  func dateComparisons() throws {
    let (five, six) = (Date(timeIntervalSinceReferenceDate: 5), Date(timeIntervalSinceReferenceDate: 6))
    /// Whether it holds for the fourth, fifth and sixth second.
    func results(_ predicate: MetadataPredicate) throws -> [Bool] {
      let compiled = try predicate.compiled()
      return [4, 5, 6].map { second in
        let date = MetadataValue.date(MetadataDate(secondsSince2001: second))
        return compiled.matches(["kMDItemFSContentChangeDate": date] as MetadataValue)
      }
    }
    #expect(try results(.contentChangeDate == five) == [false, true, false])
    #expect(try results(.contentChangeDate != five) == [true, false, true])
    #expect(try results(.contentChangeDate < five) == [true, false, false])
    #expect(try results(.contentChangeDate <= five) == [true, true, false])
    #expect(try results(.contentChangeDate > five) == [false, false, true])
    #expect(try results(.contentChangeDate >= five) == [false, true, true])
    #expect(try results(.contentChangeDate.isBetween(six, five)) == [false, true, true])
  }

  @Test("The article about names of attributes lists every attribute, and the help of the tool those of a file system")
  func attributeNames() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    let article = try String(
      contentsOf: root.appending(path: "Sources/FileMetadata/FileMetadata.docc/AttributeNames.md"), encoding: .utf8)
    let help = try String(
      contentsOf: root.appending(path: "Sources/filecoord/Commands/QueryCommand.swift"), encoding: .utf8)
    for attribute in FileAttribute.allCases {
      #expect(article.contains("| `\(attribute.rawValue)` |"), "\(attribute.rawValue)")
      if attribute != .isUbiquitous { #expect(help.contains(attribute.rawValue), "\(attribute.rawValue)") }
    }
  }

  @Test("Q3: a query that runs isn't started again, and not disturbed")
  func startedTwice() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    #expect(try !live.query.start())
    try await live.gather()
    try tree.write("a")
    #expect(try await live.next().added.map(\.item.name) == ["a"])
  }

  @Test("Q12: a query that's started again finds everything anew")
  func restarted() async throws {
    let tree = try TemporaryTree()
    try tree.write("a")
    var live = try await LiveQuery(tree)
    try await live.gather()
    live.query.stop()
    try tree.unlink("a")
    try tree.write("b")
    try live.query.start()
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["b"])
  }

  @Test("Q7: the end of the search is told although nothing was found")
  func nothing() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    let change = try await live.next()
    #expect(change.finishesGathering && change.isEmpty && !change.isGathering)
  }

  @Test("Q30: a file in two scopes that are inside each other is found once")
  func nestedScopes() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("a")
    try tree.write("a/f")
    let query = try MetadataQuery(
      .fileName == "f", in: [tree.path("a"), tree.root, tree.path("a")].map { URL(filePath: $0.description) })
    try query.start()
    #expect(try await query.waitUntilCurrent().count == 1)
  }

  @Test("Q25: several scopes make one list")
  func severalScopes() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] {
      try tree.makeDirectory(name)
      try tree.write("\(name)/in \(name)")
    }
    let query = try MetadataQuery(
      .constant(true), in: ["a", "c"].map { URL(filePath: tree.path($0).description) },
      sortedBy: [MetadataSortDescriptor(.fileName, .descending)])
    try query.start()
    #expect(try await query.waitUntilCurrent().map(\.name) == ["in c", "in a"])
  }

  @Test("Queries over one scope share an index and what follows it")
  func shared() async throws {
    let tree = try TemporaryTree()
    try tree.write("a.md")
    try tree.write("b.txt")
    var first = try await LiveQuery(tree, .fileName.hasSuffix(".md"))
    try await first.gather()
    var second = try await LiveQuery(tree, .fileName.hasSuffix(".txt"))
    try await second.gather()
    #expect(first.query.current?.engine.index === second.query.current?.engine.index)
    #expect(first.names == ["a.md"] && second.names == ["b.txt"])
    try tree.rename("a.md", to: "a.txt")
    #expect(try await first.next().removed.map(\.item.name) == ["a.md"])
    #expect(try await second.next().added.map(\.item.name) == ["a.txt"])
  }

  @Test("L16: Changes before start() are found by the first search, also in an index that another query keeps")
  func barrierAtStart() async throws {
    let tree = try TemporaryTree()
    let first = try await LiveQuery(tree)
    try await first.query.waitUntilCurrent()
    for number in 0..<60 {
      try tree.write("\(number)")
      if number > 0 { try tree.rename("\(number - 1)", to: "old \(number - 1)") }
      var second = try await LiveQuery(tree, .fileName == "\(number)")
      #expect(first.query.current?.engine.index === second.query.current?.engine.index)
      try await second.gather()
      #expect(second.names == ["\(number)"])
      var third = try await LiveQuery(tree, .fileName.hasPrefix("old"), batching: .standard)
      try await third.gather()
      #expect(third.items.count == number)
    }
  }

  @Test("Q13: a predicate that's replaced while the query runs changes the results by one exact difference")
  func replacedPredicate() async throws {
    let tree = try TemporaryTree()
    for name in ["a.md", "b.md", "b.txt", "c.txt"] { try tree.write(name) }
    var live = try await LiveQuery(tree, .fileName.hasSuffix(".md"), batching: .standard)
    try await live.gather()
    #expect(live.names == ["a.md", "b.md"])
    let engine = live.query.current?.engine.index
    try live.query.replacePredicate(by: .fileName.hasPrefix("b"))
    #expect(live.query.predicate == .fileName.hasPrefix("b"))
    let change = try await live.next()
    #expect(change.removed.map(\.item.name) == ["a.md"] && change.added.map(\.item.name) == ["b.txt"])
    #expect(change.changed.isEmpty && live.names == ["b.md", "b.txt"])
    // Changes are reported by the new predicate, and a batch that waits is brought up to date.
    try tree.write("b.new")
    #expect(try await live.query.waitUntilCurrent().count == 3)
    try live.query.replacePredicate(by: .fileName.hasSuffix(".txt"))
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["b.txt", "c.txt"])
    while live.names != ["b.txt", "c.txt"] { _ = try await live.next() }
    // One that can't be used changes nothing; the next run uses the last one that can.
    let unbound = try MetadataPredicate(format: "kMDItemFSName == $NAME")
    #expect(throws: MetadataQueryError.self) { try live.query.replacePredicate(by: unbound) }
    #expect(live.query.current?.engine.index === engine && live.query.isStarted)
    live.query.stop()
    try live.query.replacePredicate(by: .fileName.hasPrefix("c"))
    #expect(live.query.results.count == 2)
    try live.query.start()
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["c.txt"])
  }

  @Test("Q25: scopes that are replaced while the query runs change the results by one exact difference")
  func replacedScopes() async throws {
    let tree = try TemporaryTree()
    for name in ["x", "y", "y/z"] { try tree.makeDirectory(name) }
    for name in ["x/a", "x/b", "y/c", "y/d", "y/z/e"] { try tree.write(name) }
    func scope(_ name: String) -> MetadataScope { .directory(URL(filePath: tree.path(name).description)) }
    let query = try MetadataQuery(
      .fileName != "z", scopes: [scope("x"), scope("y/z")], sortedBy: [MetadataSortDescriptor("kMDItemPath")],
      batching: .immediate)
    try query.start()
    var live = LiveQuery(query)
    try await live.gather()
    #expect(live.names == ["a", "b", "e"])
    let engine = query.current?.engine.index
    let cursor = try #require(query.cursor)
    try query.replaceScopes(by: [scope("y")])
    // Every file that stays has another identity, which is reported.
    let change = try await live.next()
    #expect(change.removed.map(\.item.name) == ["a", "b"] && change.added.map(\.item.name) == ["c", "d"])
    #expect(
      change.changed.map(\.new.name) == ["e"] && change.changed.allSatisfy { $0.attributes.isEmpty && !$0.isMove })
    #expect(live.names == ["c", "d", "e"] && !change.finishesGathering && query.scopes == [scope("y")])
    #expect(query.current?.engine.index !== engine && query.isStarted)
    // The new scope is followed, and the old one isn't.
    try tree.write("x/f")
    try tree.write("y/g")
    #expect(try await live.next().added.map(\.item.name) == ["g"])
    guard case .changes(let all, _)? = query.changes(since: cursor) else {
      Issue.record("the place isn't remembered")
      return
    }
    #expect(all.removed.map(\.item.name) == ["a", "b"] && all.results.map(\.name) == ["c", "d", "g", "e"])
    // While it's paused, nothing changes; a batch that hasn't been taken is brought up to date; a change from nothing
    // to nothing is no batch.
    query.pause()
    try query.replaceScopes(by: [scope("none")], items: [URL(filePath: tree.path("x/a").description)])
    #expect(try await query.waitUntilCurrent().count == 4)
    query.resume()
    #expect(try await query.waitUntilCurrent().map(\.name) == ["a"])
    try query.replaceScopes(by: [scope("none")])
    #expect(try await query.waitUntilCurrent().isEmpty)
    try query.replaceScopes(by: [scope("other")])
    #expect(try await query.waitUntilCurrent().isEmpty)
    try query.replaceScopes(by: [scope("y/z")])
    while live.names != ["e"] { _ = try await live.next() }
    // A new reader begins with the present results.
    var other = LiveQuery(query)
    try await other.gather()
    #expect(other.names == ["e"])
    // A scope that can't be searched changes nothing; the next run searches the last ones that can.
    #expect(throws: MetadataQueryError.self) { try query.replaceScopes(by: []) }
    #expect(throws: MetadataQueryError.self) { try query.replaceScopes(by: [.home, .ubiquitousData]) }
    #expect(query.scopes == [scope("y/z")] && query.isStarted)
    query.stop()
    try query.replaceScopes(by: [scope("x")])
    #expect(query.results.map(\.name) == ["e"])
    try query.start()
    #expect(try await query.waitUntilCurrent().map(\.name) == ["a", "b", "f"])
  }

  @Test(
    "Q16, Q31: an order that's replaced while the query runs moves as few results as possible, in one exact difference")
  func replacedOrder() async throws {
    let tree = try TemporaryTree()
    for (name, text) in [("a", "1"), ("b", "55555"), ("c", "333"), ("d", "4444"), ("e", "22")] {
      try tree.write(name, text)
    }
    var live = try await LiveQuery(tree, sortedBy: [MetadataSortDescriptor("kMDItemFSName")], batching: .standard)
    try await live.gather()
    let engine = live.query.current?.engine.index
    let cursor = try #require(live.query.cursor)
    try live.query.replaceOrder(by: [MetadataSortDescriptor("kMDItemFSSize")])
    let change = try await live.next()
    #expect(live.names == ["a", "e", "c", "d", "b"])
    #expect(change.added.isEmpty && change.removed.isEmpty && change.changed.allSatisfy(\.isMove))
    // "a", "c" and "d" stay.
    #expect(Set(change.changed.map(\.new.name)) == ["b", "e"])
    // Changes are reported in the new order, and a batch that waits is brought up to date.
    try tree.write("b", "")
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["b", "a", "e", "c", "d"])
    try live.query.replaceOrder(by: [MetadataSortDescriptor("kMDItemFSName", .descending)])
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["e", "d", "c", "b", "a"])
    while live.names != ["e", "d", "c", "b", "a"] { _ = try await live.next() }
    // A reader with a cursor from before all of that gets one difference, too.
    guard case .changes(let all, _)? = live.query.changes(since: cursor) else {
      Issue.record("the place isn't remembered")
      return
    }
    #expect(all.changed.map(\.new.name).contains("b") && all.results.map(\.name) == live.names)
    #expect(all.changed.filter { !$0.isMove && $0.new.name != "b" }.isEmpty)
    // One that can't be used changes nothing; the next run uses the last one that can.
    #expect(throws: MetadataQueryError.self) { try live.query.replaceOrder(by: [MetadataSortDescriptor("foo")]) }
    #expect(live.query.current?.engine.index === engine)
    #expect(live.query.sortDescriptors.map(\.attribute) == ["kMDItemFSName"])
    live.query.stop()
    try live.query.replaceOrder(by: [])
    #expect(live.query.results.map(\.name) == ["e", "d", "c", "b", "a"])
    try live.query.start()
    #expect(try await Set(live.query.waitUntilCurrent().map(\.name)).count == 5 && live.query.sortDescriptors.isEmpty)
  }

  @Test(
    "R1, Q16: while results are to stay, a replaced order changes nothing, and one that's replaced twice moves nothing")
  func replacedOrderInPause() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] { try tree.write(name) }
    let byName = [MetadataSortDescriptor("kMDItemFSName")]
    var live = try await LiveQuery(tree, sortedBy: byName)
    try await live.gather()
    live.query.pause()
    try live.query.replaceOrder(by: [MetadataSortDescriptor("kMDItemFSName", .descending)])
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["a", "b", "c"])
    try tree.unlink("b")
    try live.query.replaceOrder(by: byName)
    try await live.query.waitUntilCurrent()
    live.query.resume()
    let change = try await live.next()
    #expect(change.removed.map(\.item.name) == ["b"] && change.changed.isEmpty && live.names == ["a", "c"])
  }

  @Test("R1, Q13: while results are to stay, a replaced predicate changes nothing, and all comes in one batch then")
  func replacedPredicateInPause() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b"] { try tree.write(name) }
    var live = try await LiveQuery(tree, .fileName == "a")
    try await live.gather()
    live.query.pause()
    try live.query.replacePredicate(by: .fileName == "b")
    #expect(try await live.query.waitUntilCurrent().map(\.name) == ["a"])
    live.query.resume()
    let change = try await live.next()
    #expect(change.removed.map(\.item.name) == ["a"] && change.added.map(\.item.name) == ["b"])
  }

  @Test("Q14, Q15: any attribute's values are listed, and results grouped by it, without starting anew")
  func listsAndGroups() async throws {
    let tree = try TemporaryTree()
    for (name, text) in [("a", "1"), ("b", "22"), ("c", "1")] { try tree.write(name, text) }
    var live = try await LiveQuery(tree)
    try await live.gather()
    let results = live.query.results
    #expect(results.valueList(of: "kMDItemFSSize").map(\.count) == [2, 1])
    #expect(results.groups(by: ["kMDItemFSSize", "kMDItemFSName"]).map(\.items.count) == [2, 1])
    try tree.makeDirectory("d")
    #expect(try await live.next().added.map(\.item.name) == ["d"])
    #expect(results.count == 3 && live.query.results.valueList(of: "kMDItemContentType").map(\.count) == [3, 1])
  }

  @Test("A query with a limit has the first results of its order, and hears of nothing else")
  func limit() async throws {
    let tree = try TemporaryTree()
    for name in ["b", "c", "d"] { try tree.write(name) }
    let query = try MetadataQuery(
      .constant(true), in: [URL(filePath: tree.root.description)], sortedBy: [MetadataSortDescriptor("kMDItemFSName")],
      batching: .immediate, resultCountMax: 2)
    try query.start()
    var changes = query.changes.makeAsyncIterator()
    var items: [MetadataItem] = []
    func next() async throws -> MetadataQueryChange {
      let change = try #require(await changes.next())
      items = change.applied(to: items)
      #expect(items.map(\.name) == change.results.map(\.name))
      return change
    }
    repeat {} while try await !next().finishesGathering
    #expect(items.map(\.name) == ["b", "c"])
    // Behind the last one.
    try tree.unlink("d")
    try tree.makeDirectory("e")
    try await query.waitUntilCurrent()
    try tree.makeDirectory("a")
    let pushed = try await next()
    #expect(pushed.added.map(\.item.name) == ["a"] && pushed.removed.map(\.item.name) == ["c"])
    try tree.rename("a", to: "z")
    let back = try await next()
    #expect(back.added.map(\.item.name) == ["c"] && back.removed.map(\.item.name) == ["a"])
    #expect(try await query.waitUntilCurrent().map(\.name) == ["b", "c"])
    try query.replacePredicate(by: .fileName.hasSuffix("e") || .fileName.hasSuffix("z") || .fileName.hasSuffix("c"))
    #expect(try await query.waitUntilCurrent().map(\.name) == ["c", "e"])
    query.stop()
  }

  @Test("Q17: a query stays what it was made of, whatever becomes of the caller's arrays")
  func copiedArrays() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b"] { try tree.write(name) }
    var directories = [URL(filePath: tree.root.description)]
    var order = [MetadataSortDescriptor("kMDItemFSName", .descending)]
    let query = try MetadataQuery(.constant(true), in: directories, sortedBy: order)
    directories[0] = URL(filePath: "/nowhere")
    order.removeAll()
    try query.start()
    #expect(try await query.waitUntilCurrent().map(\.name) == ["b", "a"])
    #expect(query.scopes != directories.map { .directory($0) })
  }

  @Test("Q16, Q31: another scope is another query; one over the same scopes reads nothing anew")
  func otherOrder() async throws {
    let tree = try TemporaryTree()
    for name in ["d", "d/e"] { try tree.makeDirectory(name) }
    for (name, text) in [("a", "22"), ("b", "1"), ("d/c", "333")] { try tree.write(name, text) }
    let isFile = try MetadataPredicate(format: "kMDItemContentType != 'public.folder'")
    var live = try await LiveQuery(tree, isFile)
    try await live.gather()
    var bySize = try await LiveQuery(tree, isFile, sortedBy: [MetadataSortDescriptor("kMDItemFSSize", .descending)])
    try await bySize.gather()
    #expect(live.names == ["a", "b", "c"] && bySize.names == ["c", "a", "b"])
    #expect(live.query.current?.engine.index === bySize.query.current?.engine.index)
    #expect(bySize.query.progress.readDirectoryCount == 3)
    let deeper = try MetadataQuery(
      isFile, scopes: [.directory(URL(filePath: tree.path("d").description))],
      items: [URL(filePath: tree.path("b").description)])
    try deeper.start()
    #expect(try await Set(deeper.waitUntilCurrent().map(\.name)) == ["b", "c"])
    #expect(deeper.current?.engine.index !== live.query.current?.engine.index)
  }

  @Test("Q2, Q23, Q24: An impossible query is an error that says why")
  func errors() throws {
    let tree = try TemporaryTree()
    let scope = URL(filePath: tree.root.description)
    func code(
      _ scopes: [URL], _ predicate: MetadataPredicate = .constant(true), _ sort: [MetadataSortDescriptor] = []
    ) -> MetadataQueryError.Code? {
      do {
        _ = try MetadataQuery(predicate, in: scopes, sortedBy: sort)
        return nil
      } catch {
        #expect(error.description.contains(error.code.name))
        return error.code
      }
    }
    #expect(code([]) == .noScope)
    #expect(code([try #require(URL(string: "https://example.org"))]) == .invalidScope)
    #expect(code([scope.appending(path: "none")]) == .invalidScope)
    #expect(code([URL(filePath: "/" + String(repeating: "n", count: 300))]) == .invalidScope)
    #expect(code([URL(filePath: "/~")]) == .invalidScope)
    #expect(code([scope], .constant(true), [MetadataSortDescriptor("kMDItemComment")]) == .unsortableAttribute)
    let unbound = try MetadataPredicate(format: "kMDItemFSName == $NAME")
    #expect(code([scope], unbound) == .invalidPredicate)
    #expect(code([scope]) == nil)
  }

  @Test("L18: the index, the watches and the thread go with the last query")
  func end() async throws {
    let tree = try TemporaryTree()
    let ended = Barrier()
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)])
    _ = try query.start { key, plan, port throws(SystemError) in
      let watcher = LastBreathWatcher(try InotifyWatcher()) { ended.end() }
      let engine = try ScopeEngine(key, files: HostFileSystem(), watcher: watcher, clock: HostClock.shared)
      guard let number = engine.attach(plan, port) else { preconditionFailure("the engine has ended") }
      return (engine, number)
    }
    try await query.waitUntilCurrent()
    query.stop()
    // The query remembers its engine, but neither its thread nor its index.
    await ended.wait()
  }

  @Test("A copy of an iterator that waits too ends the wait of the other one")
  func copiedIterator() async throws {
    let tree = try TemporaryTree()
    let query = try MetadataQuery(.constant(true), in: [URL(filePath: tree.root.description)], batching: .immediate)
    try query.start()
    var iterator = query.changes.makeAsyncIterator()
    while try #require(await iterator.next()).finishesGathering == false {}
    let port = try #require(query.current).port
    let copy = iterator
    let first = Task {
      var copy = copy
      return await copy.next()
    }
    while !port.isWaitedFor { await Task.yield() }
    let second = Task {
      var copy = copy
      return await copy.next()
    }
    #expect(await first.value == nil)
    try tree.write("a")
    #expect(await second.value?.added.map(\.item.name) == ["a"])
    query.stop()
  }

  @Test("L18: after the end of an engine the next query gets a new one")
  func restartedEngine() async throws {
    let tree = try TemporaryTree()
    let first = try await LiveQuery(tree)
    try await first.query.waitUntilCurrent()
    first.query.stop()
    try tree.write("a")
    let second = try await LiveQuery(tree)
    #expect(try await second.query.waitUntilCurrent().map(\.name) == ["a"])
  }

  @Test("A reader whose task is cancelled ends, and the query goes on")
  func cancellation() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    try await live.gather()
    let query = live.query
    let reader = Task {
      var count = 0
      for await _ in query.changes { count += 1 }
      return count
    }
    // A new reader ends the one before, which shows that the task waits.
    #expect(await live.isEnded())
    reader.cancel()
    #expect(await reader.value <= 1)
    try tree.write("a")
    #expect(try await query.waitUntilCurrent().map(\.name) == ["a"])
  }
}

@Suite("Changes of results", .serialized, .timeLimit(.minutes(4)))
struct MetadataQueryChangeTests {
  @Test("R9, R10, R22: made, written and removed")
  func life() async throws {
    let tree = try TemporaryTree()
    try tree.write("b")
    var live = try await LiveQuery(tree)
    try await live.gather()
    try tree.makeDirectory("a")
    #expect(try await live.next().added.map(\.position) == [0])
    live.query.pause()
    try tree.write("b", "longer than before")
    try await live.query.waitUntilCurrent()
    live.query.resume()
    let change = try await live.next()
    #expect(change.changed.map(\.new.size) == [18] && change.changed.map(\.old.size) == [4])
    #expect(change.changed.first?.attributes.isSuperset(of: ["kMDItemFSSize", "kMDItemFSContentChangeDate"]) == true)
    try tree.unlink("b")
    #expect(try await live.next().removed.map(\.item.name) == ["b"])
    #expect(live.names == ["a"])
  }

  @Test(
    "R11, R12, R13: A file that begins or ceases to match comes and goes; one that matches before and after has changed"
  )
  func matching() async throws {
    let tree = try TemporaryTree()
    try tree.write("f", "1")
    var live = try await LiveQuery(tree, .fileSize >= .bytes(4))
    try await live.gather()
    try tree.write(tree.path("f"), "2345", adding: true)
    #expect(try await live.next().added.map(\.item.size) == [5])
    try tree.write(tree.path("f"), "6", adding: true)
    #expect(try await live.next().changed.map(\.new.size) == [6])
    truncate(tree.path("f").description, 2)
    #expect(try await live.next().removed.map(\.item.size) == [6])
  }

  @Test("R15: made and removed within one batch isn't mentioned")
  func transient() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    try await live.gather()
    live.query.pause()
    try tree.write("short-lived")
    try tree.unlink("short-lived")
    try tree.write("kept")
    try await live.query.waitUntilCurrent()
    live.query.resume()
    #expect(try await live.next().added.map(\.item.name) == ["kept"])
  }

  @Test("R16, L7: made anew under the same name, also as editors save, is changed")
  func madeAnew() async throws {
    let tree = try TemporaryTree()
    try tree.write("f", "old")
    var live = try await LiveQuery(tree)
    try await live.gather()
    for round in 1...2 {
      live.query.pause()
      if round == 1 {
        try tree.unlink("f")
        try tree.write("f", "newer")
      } else {
        try tree.write(".temporary", "the newest")
        try tree.rename(".temporary", to: "f")
      }
      try await live.query.waitUntilCurrent()
      live.query.resume()
      let change = try await live.next()
      #expect(change.added.isEmpty && change.removed.isEmpty)
      #expect(change.changed.map(\.new.size) == [round == 1 ? 5 : 10])
    }
    #expect(live.names == ["f"])
  }

  @Test("R19: a rename is one change, and the file keeps its identity")
  func rename() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b", "c"] { try tree.write(name) }
    var live = try await LiveQuery(tree)
    try await live.gather()
    let id = live.items[0].id
    try tree.rename("a", to: "d")
    let change = try await live.next()
    let moved = try #require(change.changed.first { $0.new.name == "d" })
    #expect(change.added.isEmpty && change.removed.isEmpty)
    #expect(moved.isMove && moved.oldPosition == 0 && moved.newPosition == 2 && moved.new.id == id)
    #expect(moved.old.path.hasSuffix("/a"))
    #expect(change.departedPositions == RangeSet(0..<1) && change.arrivedPositions == RangeSet(2..<3))
    #expect(live.names == ["b", "c", "d"])
  }

  @Test("R20, R21: a directory that's moved changes the paths of all in it; out of the scope it takes them along")
  func directory() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    for number in 0..<50 { try tree.write("d/\(number).md") }
    var live = try await LiveQuery(tree, .fileName.hasSuffix(".md"))
    try await live.gather()
    try tree.rename("d", to: "e")
    let change = try await live.next()
    #expect(change.changed.count == 50 && change.added.isEmpty && change.removed.isEmpty)
    #expect(live.items.allSatisfy { $0.path == tree.path("e").appending($0.name).description })
    #expect(change.changed.allSatisfy { $0.old.path == tree.path("d").appending($0.new.name).description })
    try tree.rename(tree.path("e"), to: tree.base.appending("outside"))
    #expect(try await live.next().removed.count == 50)
    try tree.rename(tree.base.appending("outside"), to: tree.path("back"))
    while live.items.count < 50 { _ = try await live.next() }
  }

  @Test("R1, R2, R3: results stay as they are during pauses, which nest, and all is told in one batch after the last")
  func pauses() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    try await live.gather()
    live.query.pause()
    live.query.pause()
    for number in 0..<5 {
      try tree.write("\(number)")
      #expect(try await live.query.waitUntilCurrent().isEmpty)
    }
    live.query.resume()
    #expect(try await live.query.waitUntilCurrent().isEmpty)
    live.query.resume()
    live.query.resume()
    #expect(try await live.next().added.count == 5)
  }

  @Test("L16: Changes before the call are in the results after it, whatever the batching")
  func barrier() async throws {
    let tree = try TemporaryTree()
    let live = try await LiveQuery(tree, batching: .standard)
    for number in 0..<50 {
      try tree.write("\(number)")
      #expect(try await live.query.waitUntilCurrent().count == number + 1)
    }
  }

  @Test("A reader that's slow gets one batch for all that has happened")
  func slowReader() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    try await live.gather()
    for number in 0..<20 {
      try tree.write("\(number)")
      if number > 0 { try tree.unlink("\(number - 1)") }
      try await live.query.waitUntilCurrent()
    }
    #expect(try await live.next().added.map(\.item.name) == ["19"])
    #expect(live.names == ["19"])
  }

  @Test("A batch that waits for a reader is taken back when everything in it has been undone")
  func undone() async throws {
    let tree = try TemporaryTree()
    var live = try await LiveQuery(tree)
    try await live.gather()
    try tree.write("a")
    #expect(try await live.query.waitUntilCurrent().count == 1)
    try tree.unlink("a")
    #expect(try await live.query.waitUntilCurrent().isEmpty)
    try tree.makeDirectory("b")
    #expect(try await live.next().added.map(\.item.name) == ["b"])
    try tree.makeDirectory("c")
    #expect(try await live.next().added.map(\.item.name) == ["c"])
  }

  @Test("A reader that begins late is told everything first, and that the first search is over")
  func lateReader() async throws {
    let tree = try TemporaryTree()
    for name in ["a", "b"] { try tree.write(name) }
    let live = try await LiveQuery(tree)
    try await live.query.waitUntilCurrent()
    var iterator = live.query.changes.makeAsyncIterator()
    let change = try #require(await iterator.next())
    #expect(change.added.map(\.item.name) == ["a", "b"] && change.finishesGathering)
  }

  @Test("A snapshot of results stays as it is")
  func snapshot() async throws {
    let tree = try TemporaryTree()
    try tree.write("a", "1")
    let live = try await LiveQuery(tree)
    let results = try await live.query.waitUntilCurrent()
    try tree.write("a", "12345")
    try tree.rename("a", to: "b")
    let later = try await live.query.waitUntilCurrent()
    #expect(results.map(\.name) == ["a"] && results.map(\.size) == [1])
    #expect(later.map(\.name) == ["b"] && later.map(\.size) == [5])
    #expect(results[0].id == later[0].id)
  }

  @Test("R40: a file that's too old leaves the results, though nothing has happened to it")
  func time() async throws {
    let tree = try TemporaryTree()
    try tree.write("f")
    let files = HostFileSystem()
    let soon = Int64(Date.now.timeIntervalSince1970 + 4) * 1_000_000_000
    try files.setModificationTime(of: tree.path("f"), at: .workingDirectory, to: soon)
    let predicate = try MetadataPredicate(query: "kMDItemFSContentChangeDate >= $time.now(-1)")
    var live = try await LiveQuery(tree, predicate)
    try await live.gather()
    #expect(live.names == ["f"])
    #expect(try await live.next().removed.map(\.item.name) == ["f"])
  }
}

@Suite("Attributes of files", .serialized)
struct MetadataItemTests {
  @Test("L20: pipes, sockets, devices and files with holes block nobody, whatever is asked of them")
  func specialFiles() async throws {
    let tree = try TemporaryTree()
    mkfifo(tree.path("pipe").description, 0o600)
    let listener = try LocalListener(binding: LocalAddress(tree.path("socket")))
    defer { withExtendedLifetime(listener) {} }
    try tree.write("holes")
    truncate(tree.path("holes").description, 1 << 40)
    // Extended attributes are read by opening the file.
    let live = try await LiveQuery(
      tree, try MetadataPredicate(format: "kMDItemComment == nil AND kMDItemUserTags == nil"))
    let results = try await live.query.waitUntilCurrent()
    #expect(Set(results.map(\.name)) == ["pipe", "socket", "holes"])
    #expect(results.first { $0.name == "holes" }?.size == 1 << 40)
    #expect(results.first { $0.name == "pipe" }?.value(forAttribute: "kMDItemContentType") == "public.data")

    let device = try MetadataPredicate(format: "kMDItemFSName == 'null' AND kMDItemComment == nil")
    let devices = try MetadataQuery(device, in: [URL(filePath: "/dev")])
    try devices.start()
    #expect(try await devices.waitUntilCurrent().map(\.path) == ["/dev/null"])
  }

  @Test(
    "R37, R38: attributes have the names that Apple's constants have",
    arguments: [
      "kMDItemFSName", "kMDItemDisplayName", "kMDItemURL", "kMDItemPath", "kMDItemFSSize", "kMDItemFSCreationDate",
      "kMDItemFSContentChangeDate", "kMDItemContentType", "kMDItemContentTypeTree", "NSMetadataItemIsUbiquitousKey",
    ])
  func names(name: String) async throws {
    let tree = try TemporaryTree()
    try tree.write("f")
    let live = try await LiveQuery(tree)
    let item = try #require(try await live.query.waitUntilCurrent().first)
    #expect(item.value(forAttribute: name) != .null)
    #expect(item.attributeNames.contains(name))
  }

  @Test("R22, R36: a plain file system gives what it knows, and nothing else")
  func attributes() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d.d")
    try tree.write("d.d/.hidden é.PNG", "12345")
    let live = try await LiveQuery(tree, .fileName.contains("hidden"))
    let item = try #require(try await live.query.waitUntilCurrent().first)
    #expect(item.value(forAttribute: "kMDItemFSSize") == 5)
    #expect(item.value(forAttribute: "kMDItemFSName") == ".hidden é.PNG")
    #expect(item.value(forAttribute: "kMDItemPath") == .string(tree.path("d.d/.hidden é.PNG").description))
    #expect(item.value(forAttribute: "kMDItemFSInvisible") == true)
    #expect(item.value(forAttribute: "kMDItemContentType") == "public.png")
    #expect(item.value(forAttribute: "kMDItemFSOwnerUserID") == .integer(Int64(getuid())))
    #expect(item.value(forAttribute: "NSMetadataItemIsUbiquitousKey") == false)
    #expect(item.value(forAttribute: "kMDItemPixelHeight") == nil)
    #expect(item.value(forAttribute: "kMDItemFSNodeCount") == nil)
    guard case .array(let tree) = item.value(forAttribute: "kMDItemContentTypeTree") else {
      Issue.record("no tree of types")
      return
    }
    #expect(Set(tree).isSuperset(of: ["public.png", "public.image", "public.data", "public.item"]))
    #expect(!tree.contains("public.text"))
    let status = try HostFileSystem().status(
      of: SystemPath(bytes: item.pathBytes), at: .workingDirectory, links: .noFollow)
    #expect(abs(item.contentChangeDate.timeIntervalSince1970 - Double(status.modificationTime) / 1e9) < 0.001)
    #expect(item.attributeNames.allSatisfy { item.value(forAttribute: $0) != nil })
    #expect(item.url?.lastPathComponent == ".hidden é.PNG")
  }

  @Test("L14: a name that isn't UTF-8 has a URL that leads to it")
  func bytes() async throws {
    let tree = try TemporaryTree()
    let name = SystemPath(bytes: [0x61, 0xFF, 0x25, 0x3F, 0x23])
    try tree.write(tree.root.appending(name), "text")
    let live = try await LiveQuery(tree)
    let item = try #require(try await live.query.waitUntilCurrent().first)
    #expect(item.pathBytes == tree.root.appending(name).bytes)
    #expect(item.name == "a\u{FFFD}%?#")
    let url = try #require(item.url)
    let query = try MetadataQuery(.constant(true), in: [url])
    try query.start()
    #expect(try await query.waitUntilCurrent().map(\.pathBytes) == [item.pathBytes])
  }

  @Test("When a file was last read is said where the volume keeps it, and of nothing but files")
  func lastUse() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("f")
    var volume = statvfs()
    #expect(unsafe statvfs(tree.root.description, &volume) == 0)
    let isKept = volume.f_flag & 1 << 10 == 0
    // Later than the last change, so that reading is noted with every option but noatime; and long ago.
    let times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000_001, tv_nsec: 0)]
    #expect(unsafe utimensat(AT_FDCWD, tree.path("f").description, times, 0) == 0)
    let live = try await LiveQuery(tree)
    let items = try await live.query.waitUntilCurrent()
    #expect(items[0].value(forAttribute: "kMDItemLastUsedDate") == .null)
    guard case .date(let before) = items[1].value(forAttribute: "kMDItemLastUsedDate") else {
      #expect(!isKept)
      return
    }
    #expect(isKept && before.secondsSince2001 == 1_000_000_000 - 978_307_200)
    _ = try HostFileSystem().contents(of: tree.path("f"))
    guard case .date(let after) = items[1].value(forAttribute: "kMDItemLastUsedDate") else {
      Issue.record("no date")
      return
    }
    #expect(after.secondsSince2001 >= before.secondsSince2001)
  }

  @Test("R35, R36: the item of a URL says the same as a query's, of files, directories and what links lead to")
  func itemOfURL() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("d")
    try tree.write("d/f.png", "12345")
    try tree.symbolicLink(tree.path("link"), to: "d/f.png")
    let live = try await LiveQuery(tree)
    let results = try await live.query.waitUntilCurrent()
    for name in ["d", "d/f.png"] {
      let found = try #require(results.first { $0.path == tree.path(name).description })
      let made = try #require(MetadataItem(url: URL(filePath: tree.path(name).description)))
      #expect(made.wholeValue == found.wholeValue && made.url == found.url)
      #expect(made.id != found.id && made != found)
      #expect(try #require(MetadataItem(url: URL(filePath: tree.path(name).description))) == made)
    }
    #expect(MetadataItem(url: URL(filePath: tree.path("link").description))?.name == "f.png")
    #expect(MetadataItem(url: URL(filePath: tree.path("none").description)) == nil)
    #expect(MetadataItem(url: try #require(URL(string: "https://example.org/"))) == nil)
    let item = try #require(MetadataItem(url: URL(filePath: tree.path("d/f.png").description)))
    try tree.unlink("d/f.png")
    #expect(item.size == 5 && item.value(forAttribute: "kMDItemFSName") == "f.png")
  }

  @Test("Comments and tags are read from extended attributes, in predicates as well")
  func extendedAttributes() async throws {
    let tree = try TemporaryTree()
    try tree.write("f")
    let files = HostFileSystem()
    let file = try files.open(tree.path("f"), at: .workingDirectory, flags: .readWrite, mode: 0)
    defer { try? files.close(file) }
    var live = try await LiveQuery(tree, try MetadataPredicate(format: "kMDItemUserTags CONTAINS 'red'"))
    try await live.gather()
    #expect(live.names == [])
    try files.setExtendedAttribute(ExtendedAttributeName("user.xdg.tags"), of: file, to: Array("blue,red".utf8))
    #expect(try await live.next().added.map(\.item.name) == ["f"])
    #expect(live.items[0].value(forAttribute: "kMDItemUserTags") == ["blue", "red"])
  }
}
