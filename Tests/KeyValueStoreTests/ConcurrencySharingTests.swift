import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// Stores of several devices, which have separate homes and a server in memory.
@Suite("Stores that several devices share: Concurrency", .blocking, .timeLimit(.minutes(8)))
struct ConcurrencySharingTests {
  private let sandbox: StoreSandbox
  private let server = MemoryServer()

  init() throws { sandbox = try StoreSandbox() }

  private func device(
    _ home: String, _ change: (inout KeyValueStore.Configuration) -> Void = { _ in }
  ) throws(KeyValueStoreError) -> KeyValueStore {
    var configuration = sandbox.configuration(home)
    configuration.sharing = server.sharing
    configuration.account = "me"
    configuration.uploadInterval = .zero
    change(&configuration)
    return try sandbox.store("s", configuration)
  }

  @Test(
    "CK-09, CK-18: A transaction of one device is one change on another, with the reason server and exactly its keys")
  func arrival() async throws {
    let (a, b) = (try device("a"), try device("b"))
    try a.set(.integer(0), for: "before")
    try await a.flush()
    await b.wait(for: ["before": .integer(0)])
    let changes = b.changes
    try a.transaction { (transaction) throws(KeyValueStoreError) in
      transaction["x"] = .integer(1)
      transaction["y"] = .integer(2)
    }
    try await a.flush()
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(
      change
        == StoreChange(
          reason: .server,
          items: [.init(key: "x", old: nil, new: .integer(1)), .init(key: "y", old: nil, new: .integer(2))]))
    #expect(a.pendingKeys.isEmpty && a.status.failure == nil && a.status.isConnected)
  }

  @Test("CK-10, CK-19: A fresh device gets the first values as initialSync, and its early writes don't replace them")
  func gate() async throws {
    let a = try device("a")
    try a.set(.string("old"), for: "k")
    try await a.flush()
    server.change { $0.failure = SharedStorageFailure(.unreachable, "away") }
    let b = try device("b")
    let changes = b.changes
    try b.set(.string("default"), for: "k")
    try b.set(.string("mine"), for: "other")
    server.change { $0.failure = nil }
    try await b.flush()
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(change?.reason == .initialSync)
    #expect(change?.items == [.init(key: "k", old: .string("default"), new: .string("old"))])
    await a.wait(for: ["k": .string("old"), "other": .string("mine")])
    #expect(b.losses.map(\.value) == [.string("default")])
  }

  @Test("CK-24: Two machines with copies of one home both upload what they write, and hear of each other")
  func copiedHome() async throws {
    do {
      let store = try device("a")
      try store.set(.integer(0), for: "before")
      try await store.flush()
    }
    try FileManager.default.copyItem(atPath: sandbox.path + "/a", toPath: sandbox.path + "/b")
    let (a, b) = (try device("a"), try device("b"))
    var expected: [String: StoredValue] = ["before": .integer(0)]
    for number in Int64(0)..<10 {
      try a.set(.integer(number), for: "a\(number)")
      try b.set(.integer(number), for: "b\(number)")
      try await a.flush()
      try await b.flush()
      (expected["a\(number)"], expected["b\(number)"]) = (.integer(number), .integer(number))
    }
    await a.wait(for: expected)
    await b.wait(for: expected)
    await (try device("c")).wait(for: expected)
  }

  @Test("CK-12, CK-16: Writes without a connection meet when it comes back")
  func offline() async throws {
    let (a, b) = (try device("a"), try device("b"))
    try a.set(.integer(1), for: "both")
    try await a.flush()
    await b.wait(for: ["both": .integer(1)])
    server.change { state in
      state.failure = SharedStorageFailure(.unreachable, "away")
      state.cutCount += 1
    }
    try a.set(.integer(2), for: "a")
    try b.set(.integer(3), for: "b")
    #expect(a["a"] == .integer(2))
    server.change { $0.failure = nil }
    try await a.flush()
    try await b.flush()
    let all: [String: StoredValue] = ["both": .integer(1), "a": .integer(2), "b": .integer(3)]
    await a.wait(for: all)
    await b.wait(for: all)
  }

  @Test("CK-21: A removed key doesn't come back from a device that was away")
  func removal() async throws {
    let a = try device("a")
    do {
      let c = try device("c")
      try a.set(.integer(1), for: "k")
      try await a.flush()
      await c.wait(for: ["k": .integer(1)])
    }
    try a.remove("k")
    try await a.flush()
    let c = try device("c")
    await c.wait(for: [:])
    try await c.flush()
    #expect(a.dictionary.isEmpty)
  }

  @Test("CK-24: A lost answer changes nothing twice")
  func lostAnswers() async throws {
    let key = StoreKey("n", default: 0, mergedBy: .counter)
    let (a, b) = (try device("a"), try device("b"))
    server.change { $0.lostAnswerCount = 3 }
    for number in 1...5 {
      try a.set(number, for: key)
      try await a.flush()
    }
    await b.wait(for: ["n": .integer(5)])
    #expect(server.state.withLock { $0.lostAnswerCount } == 0)
  }

  @Test("A gap in the stream of changes is filled by reading everything")
  func gap() async throws {
    let (a, b) = (try device("a"), try device("b"))
    try a.set(.integer(1), for: "k")
    try await a.flush()
    await b.wait(for: ["k": .integer(1)])
    server.change { $0.compactedRevision = .max }
    server.change { $0.compactedRevision = 0 }
    try a.set(.integer(2), for: "k")
    try await a.flush()
    await b.wait(for: ["k": .integer(2)])
  }

  @Test("CK-20: A thousand writes make no more uploads than are allowed, and the last value arrives")
  func budget() async throws {
    let a = try device("a") { configuration in
      configuration.uploadCountMax = 3
      configuration.uploadInterval = .milliseconds(200)
    }
    let b = try device("b")
    let begin = HostClock.shared.now
    for number in 0..<1_000 { try a.set(.integer(Int64(number)), for: "k") }
    try await a.flush()
    let elapsed = begin.duration(to: HostClock.shared.now)
    await b.wait(for: ["k": .integer(999)])
    #expect(server.state.withLock { $0.sentCount } <= 3 + Int(elapsed / .milliseconds(200)) + 1)
  }

  @Test("KV-5: A server without room leaves the keys here, with the reason quotaViolation")
  func full() async throws {
    let a = try device("a")
    try a.set(.data(Array(repeating: 0, count: 100)), for: "k")
    try await a.flush()
    server.change { $0.byteCountMax = 150 }
    let changes = a.changes
    try a.set(.data(Array(repeating: 0, count: 100)), for: "l")
    await #expect(throws: KeyValueStoreError.self) { try await a.flush() }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next()?.reason == .quotaViolation)
    #expect(a.status.heldKeys == ["l"] && a["l"] != nil)
  }

  @Test("A refusal is told, and what was written stays")
  func refusal() async throws {
    server.change { $0.failure = SharedStorageFailure(.denied, "the password is wrong") }
    let a = try device("a")
    try a.set(.integer(1), for: "k")
    do throws(KeyValueStoreError) {
      try await a.flush()
      Issue.record("it was uploaded")
    } catch { #expect(error == KeyValueStoreError(.permissionDenied, "the password is wrong")) }
    #expect(a["k"] == .integer(1) && a.pendingKeys == ["k"])
  }

  @Test("Without a place to share, waiting for an upload is an error")
  func alone() async throws {
    let store = try sandbox.store()
    try store.set(.integer(1), for: "k")
    do throws(KeyValueStoreError) {
      try await store.flush()
      Issue.record("it was uploaded")
    } catch { #expect(error.code == .notShared) }
  }

  @Test("One store of a device uploads for all, and another takes over when it ends")
  func turns() async throws {
    let b = try device("b")
    var first: KeyValueStore? = try device("a")
    try first?.set(.integer(1), for: "k")
    try await first?.flush()
    let second = try device("a")
    try second.set(.integer(2), for: "k")
    try await second.flush()
    #expect(first?.status.isSynchronizing == true && !second.status.isSynchronizing)
    first = nil
    try second.set(.integer(3), for: "k")
    try await second.flush()
    #expect(second.status.isSynchronizing)
    await b.wait(for: ["k": .integer(3)])
  }

  @Test("CK-11, CK-12: Values from before the sign-in are the account's then, and never those of another account")
  func accounts() async throws {
    let (ann, bob) = (MemoryServer(), MemoryServer())
    let sharing = StoreSharing { (identity, _) in
      MemoryStorage(server: identity.account == "ann" ? ann : bob, replica: identity.replica)
    }
    let store = try device("a") { $0.account = nil }
    try store.set(.integer(1), for: "early")
    let shared = try device("a") { configuration in
      configuration.sharing = sharing
      configuration.account = nil
    }
    let changes = shared.changes
    try shared.signIn(as: "ann")
    #expect(shared["early"] == .integer(1) && shared.account == "ann")
    try shared.set(.integer(2), for: "late")
    try await shared.flush()
    #expect(Set(ann.state.withLock { $0.items.keys }) == ["early", "late"])
    try shared.signIn(as: "bob")
    #expect(shared.dictionary.isEmpty)
    try shared.set(.integer(3), for: "bobs")
    try await shared.flush()
    #expect(Set(bob.state.withLock { $0.items.keys }) == ["bobs"])
    try shared.signIn(as: nil)
    #expect(shared.dictionary.isEmpty)
    try shared.signIn(as: "ann")
    #expect(shared.dictionary == ["early": .integer(1), "late": .integer(2)])
    var iterator = changes.makeAsyncIterator()
    var reasons: [StoreChange.Reason] = []
    for _ in 0..<2 { if let change = await iterator.next() { reasons.append(change.reason) } }
    #expect(reasons.first == .accountChange)
    #expect(Set(ann.state.withLock { $0.items.keys }) == ["early", "late"])
  }
}
