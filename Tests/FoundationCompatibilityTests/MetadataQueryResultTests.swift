import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Results of Apple's metadata queries", .serialized, .blocking, .timeLimit(.minutes(4)))
struct MetadataQueryResultTests {
  @Test("R1 to R3, N-5: results stay while updates are disabled, however often; then all comes in one update")
  func freezing() throws {
    try withSandbox { box in
      let gone = try box.write("gone")
      let (watcher, witness) = (QueryWatcher(box), QueryWatcher(box))
      watcher.gather()
      witness.gather()
      watcher.query.disableUpdates()
      watcher.query.disableUpdates()
      for name in ["a", "b"] { _ = try box.write(name) }
      try FileManager.default.removeItem(at: gone)
      #expect(witness.journal.wait { lines in Self.signs(lines).isSuperset(of: ["+a", "+b", "-gone"]) })
      watcher.query.enableUpdates()
      #expect(watcher.names == ["gone"] && watcher.query.resultCount == 1)
      watcher.query.enableUpdates()
      #expect(watcher.journal.wait(for: "updated +a +b -gone"))
      #expect(watcher.names == ["a", "b"])
    }
  }

  @Test("R2: a query that's started while updates are disabled posts when they're enabled")
  func frozenStart() throws {
    try withSandbox { box in
      _ = try box.write("a")
      let (watcher, witness) = (QueryWatcher(box), QueryWatcher(box))
      watcher.query.disableUpdates()
      #expect(watcher.query.start())
      witness.gather()
      watcher.onQueue {}
      #expect(watcher.journal.entries.isEmpty && watcher.query.resultCount == 0 && watcher.query.isGathering)
      watcher.query.enableUpdates()
      #expect(watcher.journal.wait(for: "finished"))
      #expect(watcher.journal.entries == ["began", "gathered +a", "finished"])
    }
  }

  @Test("R4, R5: results stay while they're enumerated, in both directions, until it's enough")
  func enumerating() throws {
    try withSandbox { box in
      for name in ["a", "b", "c"] { _ = try box.write(name) }
      let (watcher, witness) = (QueryWatcher(box), QueryWatcher(box))
      watcher.gather()
      witness.gather()
      var seen: [String] = []
      watcher.query.enumerateResults { result, position, stop in
        seen.append("\(QueryWatcher.name(result)) \(position)")
        try? FileManager.default.removeItem(at: box.url("c"))
        #expect(witness.journal.wait(for: "updated -c"))
        if position == 1 { stop.pointee = true }
      }
      #expect(seen == ["a 0", "b 1"])
      #expect(watcher.journal.wait(for: "updated -c"))
      seen = []
      watcher.query.enumerateResults(options: .reverse) { result, position, _ in
        seen.append("\(QueryWatcher.name(result)) \(position)")
      }
      #expect(seen == ["b 1", "a 0"])
    }
  }

  @Test("R6, R8: positions, objects and the list of results agree")
  func positions() throws {
    try withSandbox { box in
      for name in ["a", "b", "c"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      watcher.gather()
      let query = watcher.query
      #expect(query.results.count == query.resultCount && query.resultCount == 3)
      for position in 0..<3 {
        let result = query.result(at: position) as AnyObject
        #expect(query.index(ofResult: result) == position)
        #expect(query.results[position] as AnyObject === result)
      }
    }
  }

  @Test("R7: A foreign item, or one that isn't a result any more, has no position")
  func foreignResult() throws {
    try withSandbox { box in
      for name in ["a", "c"] { _ = try box.write(name) }
      let (watcher, other) = (QueryWatcher(box), QueryWatcher(box))
      watcher.gather()
      other.gather()
      let query = watcher.query
      #expect(query.index(ofResult: other.query.result(at: 0)) == NSNotFound)
      let foreign = try #require(NSMetadataItem(url: box.url("a")))
      #expect(query.index(ofResult: foreign) == NSNotFound)
      #expect(query.index(ofResult: "a") == NSNotFound)
      let last = query.result(at: 1)
      #expect(query.index(ofResult: last) == 1)
      try FileManager.default.removeItem(at: box.url("c"))
      #expect(watcher.journal.wait(for: "updated -c"))
      #expect(query.index(ofResult: last) == NSNotFound)
      #expect(QueryWatcher.name(last) == "c")
    }
  }

  @Test("R9 to R13, R17, R18, R22: each change is in the list it belongs to, though nobody looked at a result")
  func lists() throws {
    try withSandbox { box in
      let watcher = QueryWatcher(box, "kMDItemFSName BEGINSWITH 'm' AND kMDItemFSSize < 10")
      var complete = true
      watcher.on(.NSMetadataQueryDidUpdate) { notification in
        let keys = [
          NSMetadataQueryUpdateAddedItemsKey, NSMetadataQueryUpdateChangedItemsKey,
          NSMetadataQueryUpdateRemovedItemsKey,
        ]
        complete = complete && keys.allSatisfy { notification.userInfo?[$0] is [NSMetadataItem] }
      }
      watcher.gather()
      let matching = try box.write("m", "")
      #expect(watcher.journal.wait(for: "updated +m"))
      try Data("some".utf8).append(to: matching)
      #expect(watcher.journal.wait(for: "updated ~m"))
      #expect(watcher.query.result(at: 0, NSMetadataItemFSSizeKey) as? Int == 4)
      try Data("much more".utf8).append(to: matching)
      #expect(watcher.journal.wait(for: "updated -m"))
      try FileManager.default.moveItem(at: try box.write("x", ""), to: box.url("m2"))
      #expect(watcher.journal.wait(for: "updated +m2"))
      try FileManager.default.removeItem(at: box.url("m2"))
      #expect(watcher.journal.wait(for: "updated -m2"))
      watcher.onQueue {}
      #expect(complete)
    }
  }

  @Test("R16, R19 to R21: a file that's renamed, made anew or moved with its directory stays the same object")
  func identity() throws {
    try withSandbox { box in
      for name in ["d/a", "d/b"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box, "kMDItemContentType != 'public.folder'")
      watcher.gather()
      let query = watcher.query
      let (first, second) = (query.result(at: 0) as AnyObject, query.result(at: 1) as AnyObject)
      try FileManager.default.moveItem(at: box.url("d/a"), to: box.url("d/z"))
      #expect(watcher.journal.wait(for: "updated ~z"))
      #expect(query.result(at: 1) as AnyObject === first && query.index(ofResult: first) == 1)
      try FileManager.default.moveItem(at: box.url("d"), to: box.url("e"))
      #expect(watcher.journal.wait(for: "updated ~b ~z"))
      #expect(query.result(at: 0, NSMetadataItemPathKey) as? String == box.url("e/b").path)
      #expect(query.result(at: 0, NSMetadataItemURLKey) as? URL == box.url("e/b"))
      query.disableUpdates()
      let witness = QueryWatcher(box, "kMDItemFSName == 'b'")
      witness.gather()
      try FileManager.default.removeItem(at: box.url("e/b"))
      #expect(witness.journal.wait(for: "updated -b"))
      _ = try box.write("e/b")
      #expect(witness.journal.wait { lines in Self.signs(lines).contains("+b") })
      query.enableUpdates()
      #expect(watcher.journal.wait { lines in Self.signs(lines.suffix(1)).contains("~b") })
      #expect(query.result(at: 0) as AnyObject === second)
    }
  }

  @Test("R23: values of sort, value-list and grouping attributes are kept with results, others aren't")
  func gatheredValues() throws {
    try withSandbox { box in
      _ = try box.write("a", "four")
      let watcher = QueryWatcher(box)
      watcher.query.valueListAttributes = [NSMetadataItemFSSizeKey]
      watcher.query.groupingAttributes = [NSMetadataItemContentTypeKey]
      watcher.gather()
      let query = watcher.query
      #expect(query.value(ofAttribute: NSMetadataItemFSNameKey, forResultAt: 0) as? String == "a")
      #expect(query.value(ofAttribute: NSMetadataItemFSSizeKey, forResultAt: 0) as? Int == 4)
      #expect(query.value(ofAttribute: NSMetadataItemContentTypeKey, forResultAt: 0) as? String == "public.data")
      #expect(query.value(ofAttribute: NSMetadataItemPathKey, forResultAt: 0) == nil)
    }
  }

  @Test("R24: The objects that the delegate puts in the place of results are handed out, once for each result")
  func replacingObjects() throws {
    try withSandbox { box in
      for name in ["a", "b"] { _ = try box.write(name) }
      let watcher = QueryWatcher(box)
      let delegate = NamingDelegate()
      watcher.query.delegate = delegate
      watcher.gather()
      let query = watcher.query
      #expect(watcher.journal.entries == ["began", "gathered +<a> +<b>", "finished"])
      let names = query.results.compactMap { ($0 as? Named)?.name }
      #expect(names == ["a", "b"])
      #expect(query.result(at: 1) as AnyObject === query.results[1] as AnyObject)
      #expect(query.index(ofResult: query.result(at: 1)) == 1)
      #expect(query.index(ofResult: Named(name: "a")) == NSNotFound)
      try FileManager.default.removeItem(at: box.url("a"))
      #expect(watcher.journal.wait(for: "updated -<a>"))
      #expect(delegate.objectCount == 2)
      query.delegate = nil
      #expect(query.result(at: 0) is NSMetadataItem)
    }
  }

  @Test("R25 to R27, R29: values are counted, those of the delegate and missing ones too, and follow changes")
  func valueLists() throws {
    try withSandbox { box in
      for (name, text) in [("a.txt", "1"), ("b.txt", "2"), ("c.png", "333")] { _ = try box.write(name, text) }
      let watcher = QueryWatcher(box)
      watcher.query.valueListAttributes = [
        NSMetadataItemFSSizeKey, NSMetadataItemTitleKey, NSMetadataItemContentTypeTreeKey,
      ]
      let delegate = SizingDelegate()
      watcher.query.delegate = delegate
      watcher.gather()
      func counts(_ attribute: String) -> [String: Int] {
        let tuples = watcher.query.valueLists[attribute] ?? []
        #expect(tuples.allSatisfy { $0.attribute == attribute })
        return Dictionary(uniqueKeysWithValues: tuples.map { ($0.value.map { "\($0)" } ?? "none", $0.count) })
      }
      #expect(counts(NSMetadataItemFSSizeKey) == ["small": 2, "large": 1])
      #expect(counts(NSMetadataItemTitleKey) == ["none": 3])
      #expect(counts(NSMetadataItemContentTypeTreeKey)["public.image"] == 1)
      #expect(counts(NSMetadataItemContentTypeTreeKey)["public.data"] == 3)
      #expect(watcher.query.valueLists[NSMetadataItemFSNameKey] == nil)
      try FileManager.default.removeItem(at: box.url("c.png"))
      #expect(watcher.journal.wait(for: "updated -c.png"))
      #expect(counts(NSMetadataItemFSSizeKey) == ["small": 2])
    }
  }

  @Test("R25, R28: lists and groups follow the settings and the delegate of a query that's stopped")
  func listsOfStoppedQuery() throws {
    try withSandbox { box in
      for (name, text) in [("a.txt", "1"), ("b.txt", "333")] { _ = try box.write(name, text) }
      let watcher = QueryWatcher(box)
      let query = watcher.query
      query.valueListAttributes = [NSMetadataItemFSSizeKey]
      query.groupingAttributes = [NSMetadataItemFSSizeKey]
      watcher.gather()
      query.stop()
      func sizes() -> [String] { query.groupedResults.map { "\($0.value)" } }
      #expect(query.valueLists.keys.sorted() == [NSMetadataItemFSSizeKey] && sizes() == ["1", "3"])
      let delegate = SizingDelegate()
      query.delegate = delegate
      #expect(sizes() == ["small", "large"])
      #expect(query.valueLists[NSMetadataItemFSSizeKey]?.map { "\($0.value ?? "")" } == ["small", "large"])
      query.valueListAttributes = [NSMetadataItemContentTypeKey]
      query.groupingAttributes = [NSMetadataItemContentTypeKey]
      #expect(query.valueLists.keys.sorted() == [NSMetadataItemContentTypeKey])
      #expect(sizes() == ["public.plain-text"])
      query.delegate = nil
      #expect(query.groupedResults.count == 1)
    }
  }

  @Test("R25, R28, R29, R42: results are grouped by one attribute after the other")
  func groups() throws {
    try withSandbox { box in
      for (name, text) in [("a.txt", "1"), ("b.png", "2"), ("c.txt", "333"), ("d.txt", "4")] {
        _ = try box.write(name, text)
      }
      let watcher = QueryWatcher(box)
      watcher.query.groupingAttributes = [NSMetadataItemContentTypeKey, NSMetadataItemFSSizeKey]
      watcher.gather()
      let groups = watcher.query.groupedResults
      #expect(groups.map { $0.value as? String } == ["public.plain-text", "public.png"])
      #expect(groups.map(\.attribute) == [NSMetadataItemContentTypeKey, NSMetadataItemContentTypeKey])
      let texts = try #require(groups.first)
      #expect(texts.resultCount == 3 && texts.results.map(QueryWatcher.name) == ["a.txt", "c.txt", "d.txt"])
      #expect(texts.result(at: 1) as AnyObject === watcher.query.result(at: 2) as AnyObject)
      let sizes = try #require(texts.subgroups)
      #expect(sizes.map { $0.value as? Int } == [1, 3] && sizes.allSatisfy { $0.subgroups == nil })
      #expect(sizes[0].results.map(QueryWatcher.name) == ["a.txt", "d.txt"])
      #expect(watcher.query.groupedResults.first === texts)
      try FileManager.default.removeItem(at: box.url("b.png"))
      #expect(watcher.journal.wait(for: "updated -b.png"))
      #expect(watcher.query.groupedResults.count == 1)
      watcher.query.stop()
      watcher.query.groupingAttributes = [NSMetadataItemTitleKey]
      watcher.gather()
      #expect(watcher.query.groupedResults.map { $0.value is NSNull } == [true])
    }
  }

  /// The notifications, sign by sign.
  private static func signs(_ lines: some Sequence<String>) -> Set<String> {
    Set(lines.flatMap { $0.split(separator: " ").dropFirst().map(String.init) })
  }
}

extension NSMetadataQuery {
  fileprivate func result(at position: Int, _ attribute: String) -> Any? {
    (result(at: position) as? NSMetadataItem)?.value(forAttribute: attribute)
  }
}

extension Data {
  fileprivate func append(to url: URL) throws {
    let file = try FileHandle(forWritingTo: url)
    try file.seekToEnd()
    try file.write(contentsOf: self)
    try file.close()
  }
}

private final class Named: CustomStringConvertible {
  let name: String
  var description: String { "<\(name)>" }

  init(name: String) { self.name = name }
}

private final class NamingDelegate: NSObject, NSMetadataQueryDelegate, @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  var objectCount: Int { lock.withLock { count } }

  func metadataQuery(_ query: NSMetadataQuery, replacementObjectForResultObject result: NSMetadataItem) -> Any {
    lock.withLock { count += 1 }
    return Named(name: QueryWatcher.name(result))
  }
}

private final class SizingDelegate: NSObject, NSMetadataQueryDelegate {
  func metadataQuery(
    _ query: NSMetadataQuery, replacementValueForAttribute attrName: String, value attrValue: Any
  ) -> Any {
    guard attrName == NSMetadataItemFSSizeKey, let size = attrValue as? Int else { return attrValue }
    return size < 2 ? "small" : "large"
  }
}
