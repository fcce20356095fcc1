import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// Stores whose files somebody removes while programs have them open.
@Suite("Stores that are removed while they're open", .blocking, .timeLimit(.minutes(2)))
struct ConcurrencyRemovedStoreTests {
  private let sandbox: StoreSandbox

  init() throws { sandbox = try StoreSandbox() }

  /// The removed thing, as a path in the home of the stores.
  enum Removed: String, CaseIterable, Sendable {
    case journal = "/-local/s/journal"
    case store = "/-local/s"
    case account = "/-local"
    case everything = ""
  }

  @Test(
    "Its values are gone for all programs, which are told; the next write makes it anew", arguments: Removed.allCases)
  func removal(removed: Removed) async throws {
    let (one, other) = (try sandbox.store(), try sandbox.store())
    try one.set(.integer(1), for: "a")
    await other.wait(for: ["a": .integer(1)])
    let changes = other.changes
    try FileManager.default.removeItem(atPath: sandbox.path + "/home" + removed.rawValue)
    await one.wait(for: [:])
    await other.wait(for: [:])
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(change?.reason == .otherProcess && change?.items == [.init(key: "a", old: .integer(1), new: nil)])
    // Nobody makes anything as long as nobody writes.
    #expect(!FileManager.default.fileExists(atPath: sandbox.path + "/home" + removed.rawValue))
    try one.set(.integer(2), for: "b")
    try await one.synchronize()
    #expect(one.dictionary == ["b": .integer(2)] && one.status.failure == nil)
    if removed != .everything {
      await other.wait(for: ["b": .integer(2)])
      // Also what comes later.
      try one.set(.integer(3), for: "c")
      await other.wait(for: ["b": .integer(2), "c": .integer(3)])
    }
    // The directory around all stores isn't watched: the program's next write takes everything in.
    try other.set(.integer(4), for: "d")
    await one.wait(for: other.dictionary)
    #expect(one["d"] == .integer(4) && other["b"] == .integer(2))
  }

  @Test("Uploaded values come back, and the new store uploads", arguments: [Removed.journal, .everything])
  func shared(removed: Removed) async throws {
    let server = MemoryServer()
    func device(_ home: String) throws(KeyValueStoreError) -> KeyValueStore {
      var configuration = sandbox.configuration(home)
      (configuration.sharing, configuration.account) = (server.sharing, "me")
      configuration.uploadInterval = .zero
      return try sandbox.store("s", configuration)
    }
    let (a, b) = (try device("home"), try device("elsewhere"))
    for number in 0..<5 { try a.set(.integer(Int64(number)), for: "k") }
    try await a.flush()
    await b.wait(for: ["k": .integer(4)])
    let path = removed == .journal ? "/me/s/journal" : ""
    try FileManager.default.removeItem(atPath: sandbox.path + "/home" + path)
    try a.set(.integer(9), for: "new")
    try await a.flush()
    let all: [String: StoredValue] = ["k": .integer(4), "new": .integer(9)]
    await a.wait(for: all)
    await b.wait(for: all)
    #expect(a.pendingKeys.isEmpty && a.status.failure == nil)
  }
}
