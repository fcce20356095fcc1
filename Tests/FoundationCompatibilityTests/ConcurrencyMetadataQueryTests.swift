import Foundation
import FoundationCompatibility
import TestSupport
import Testing

@Suite("Concurrency of Apple's metadata queries", .blocking, .timeLimit(.minutes(4)))
struct ConcurrencyMetadataQueryTests {
  @Test("N-4, N-5: threads may start, stop, freeze, change and read one query while files change")
  func threads() throws {
    try withSandbox { box in
      for number in 0..<20 { _ = try box.write("f\(number)") }
      let watcher = QueryWatcher(box)
      watcher.query.groupingAttributes = [NSMetadataItemContentTypeKey]
      let query = Shared(watcher.query)
      let roundCount = 60
      let workers = [
        Worker { for _ in 0..<roundCount { query.value.start() } },
        Worker { for round in 0..<roundCount where round % 4 == 0 { query.value.stop() } },
        Worker {
          for _ in 0..<roundCount {
            query.value.enumerateResults { result, position, _ in
              if query.value.index(ofResult: result) == NSNotFound { return }
              #expect(position >= 0)
            }
          }
        },
        Worker { for _ in 0..<roundCount { _ = (query.value.groupedResults, query.value.results.count) } },
        Worker {
          for round in 0..<roundCount {
            query.value.predicate = NSPredicate(format: "kMDItemFSName != %@", "\(round)")
          }
        },
        Worker {
          for round in 0..<roundCount {
            try? Data().write(to: box.url("n\(round % 7)"))
            try? FileManager.default.removeItem(at: box.url("f\(round % 20)"))
          }
        },
      ]
      for worker in workers { #expect(worker.join()) }
      watcher.query.stop()
      watcher.gather()
      // The search may be over before the last removals are recorded.
      let expected = (0..<7).map { "n\($0)" }
      #expect(watcher.journal.wait { Self.told($0) == Set(expected) })
      #expect(watcher.names == expected)
    }
  }

  /// The names that the notifications of the last run leave.
  private static func told(_ lines: [String]) -> Set<String> {
    let run = lines.lastIndex(of: "began").map { lines[$0...] } ?? []
    var names: Set<String> = []
    for sign in run.flatMap({ $0.split(separator: " ").dropFirst() }) {
      if sign.hasPrefix("+") { names.insert(String(sign.dropFirst())) }
      if sign.hasPrefix("-") { names.remove(String(sign.dropFirst())) }
    }
    return names
  }

  private struct Shared: @unchecked Sendable {
    let value: NSMetadataQuery

    init(_ value: NSMetadataQuery) { self.value = value }
  }
}
