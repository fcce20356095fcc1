import FileMetadata
import Foundation
import MetadataPredicates
import SystemInterface
import Testing
import WatchingTestSupport

/// A running query that several tasks change at once: also run under the thread sanitizer.
@Suite("A running query that's given something else by several tasks", .serialized, .timeLimit(.minutes(4)))
struct ConcurrencyReplacementTests {
  @Test("L17: Batches lead to the results, whatever is replaced, paused and written at once")
  func replacements() async throws {
    let tree = try TemporaryTree()
    for directory in ["x", "y", "z", "x/w"] {
      try tree.makeDirectory(directory)
      for number in 0..<40 { try tree.write("\(directory)/\(number)") }
    }
    func scope(_ name: String) -> MetadataScope { .directory(URL(filePath: tree.path(name).description)) }
    let scopes = ["x", "y", "z", "x/w", "none"].map(scope)
    let orders = ["kMDItemPath", "kMDItemFSName"].map { [MetadataSortDescriptor($0)] }
    let query = try MetadataQuery(.constant(true), scopes: [scopes[0]], sortedBy: orders[0], batching: .immediate)
    // One of the scopes belongs to another query too, whose index is there already.
    let other = try MetadataQuery(.constant(true), scopes: [scopes[1]])
    for query in [query, other] { try query.start() }
    let reader = Task {
      var items: [MetadataItem] = []
      for await change in query.changes {
        items = change.applied(to: items)
        #expect(items == Array(change.results))
        await Task.yield()
      }
      return items
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<3 {
        group.addTask {
          for round in 0..<60 {
            try query.replaceScopes(by: [scopes[(round * 7 + worker * 3) % scopes.count]])
            if round % 11 == 0 { try query.replacePredicate(by: round % 2 == 0 ? .constant(true) : .fileName < "2") }
            if round % 13 == 0 { query.pause() }
            if round % 17 == 0 { try query.replaceOrder(by: orders[round % 2]) }
            if round % 13 == 0 { query.resume() }
            if round % 29 == 0 { try await query.waitUntilCurrent() }
            try tree.write("x/\(round)", "\(worker)")
          }
        }
      }
      try await group.waitForAll()
    }
    try query.replaceScopes(by: [scopes[1]])
    try query.replacePredicate(by: .constant(true))
    let paths = try await query.waitUntilCurrent().map(\.path)
    #expect(try await Set(paths) == Set(other.waitUntilCurrent().map(\.path)))
    query.stop()
    #expect(await reader.value.map(\.path) == paths)
  }
}
