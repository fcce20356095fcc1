import Foundation
import KeyValueReplicas
import Observation
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("Sealed values", .blocking)
struct StoreSealingTests {
  /// For tests: an exclusive or with a byte, and a check of the key's name.
  private static func sealing(_ secret: UInt8) -> StoreSealing {
    StoreSealing { bytes, key in
      (Array(key.utf8) + bytes).map { $0 ^ secret }
    } open: { bytes, key in
      let plain = bytes.map { $0 ^ secret }
      guard plain.starts(with: key.utf8) else { throw CocoaError(.fileReadCorruptFile) }
      return Array(plain.dropFirst(key.utf8.count))
    }
  }

  private static func configuration(_ sandbox: StoreSandbox, _ secret: UInt8?) -> KeyValueStore.Configuration {
    var configuration = sandbox.configuration()
    configuration.sealing = secret.map(sealing)
    return configuration
  }

  @Test("KV-12: The disk has no value as it is, and programs with the secret read, change and hear of them")
  func roundTrip() async throws {
    let sandbox = try StoreSandbox()
    let configuration = Self.configuration(sandbox, 0x5A)
    let (store, other) = (try sandbox.store("s", configuration), try sandbox.store("s", configuration))
    let changes = other.changes
    try store.set(.string("the secret text"), for: "k")
    try store.transaction { (transaction) throws(KeyValueStoreError) in
      #expect(transaction["k"] == .string("the secret text"))
      transaction["n"] = .integer(5)
    }
    let bytes = try sandbox.bytes(sandbox.journal())
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret text"))
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next()?.items.first?.new == .string("the secret text"))
    #expect(await iterator.next()?.items.first?.new == .integer(5))
    #expect(try sandbox.store("s", configuration).dictionary == ["k": .string("the secret text"), "n": .integer(5)])
  }

  @Test("Without the secret or with another one, values aren't there, the status says why, and they stay")
  func wrongSecret() throws {
    let sandbox = try StoreSandbox()
    try sandbox.store("s", Self.configuration(sandbox, 1)).set(.integer(5), for: "k")
    let wrong = try sandbox.store("s", Self.configuration(sandbox, 2))
    #expect(wrong["k"] == nil && wrong.status.failure?.code == .notSealed)
    #expect(try sandbox.store("s", Self.configuration(sandbox, 1))["k"] == .integer(5))
    try sandbox.store("t").set(.integer(5), for: "k")
    let unsealed = try sandbox.store("t", Self.configuration(sandbox, 1))
    #expect(unsealed["k"] == nil && unsealed.status.failure?.code == .notSealed)
  }

  @Test("A value that can't be opened is no ground to build on: such a transaction fails, and removing the key doesn't")
  func groundless() throws {
    let sandbox = try StoreSandbox()
    let right = try sandbox.store("s", Self.configuration(sandbox, 1))
    try right.set(.integer(5), for: "k")
    try right.set(.integer(6), for: "other")
    let wrong = try sandbox.store("s", Self.configuration(sandbox, 2))
    let addition = code { () throws(KeyValueStoreError) in
      try wrong.transaction { (transaction) throws(KeyValueStoreError) in
        #expect(transaction["k"] == nil)
        transaction["k"] = .integer(1)
      }
    }
    #expect(addition == .notSealed)
    #expect(
      code { () throws(KeyValueStoreError) in _ = try wrong.value(for: StoreKey("k", default: 0)) } == .notSealed)
    #expect(try sandbox.store("s", Self.configuration(sandbox, 1))["k"] == .integer(5))
    try wrong.remove("k")
    #expect(wrong.status.failure?.code == .notSealed, "there's another one")
    try wrong.set(.integer(7), for: "other")
    #expect(wrong.status.failure == nil)
    let last = try sandbox.store("s", Self.configuration(sandbox, 2))
    #expect(last.dictionary == ["other": .integer(7)] && last.status.failure == nil)
  }

  @Test("KV-13: A preference keeps its copy of a value while another program writes one that can't be opened")
  func preference() async throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store("s", Self.configuration(sandbox, 1))
    let preference = StorePreference(StoreKey("theme", default: "light"), in: store)
    preference.value = "dark"
    let wrong = try sandbox.store("s", Self.configuration(sandbox, 2))
    try await observed(preference) { try wrong.set(.string("blue"), for: "theme") }
    // The preference takes changes one after the other: the first one has been taken in when the second one is announced.
    let copies = try sandbox.store("copies of s", Self.configuration(sandbox, 1))
    let copy = Guarded<StoredValue?>(nil)
    let right = try sandbox.store("s", Self.configuration(sandbox, 1))
    try await observed(preference) {
      try right.set(.string("green"), for: "theme")
    } then: {
      copy.withLock { $0 = copies["theme"] }
    }
    #expect(copy.withLock { $0 } == .string("dark"))
  }

  /// Waits until an observer is told.
  private func observed(
    _ preference: StorePreference<String>, after change: () throws -> Void,
    then look: @escaping @Sendable () -> Void = {}
  ) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      _ = preference.value
    } onChange: {
      look()
      continuation.yield()
    }
    try change()
    var iterator = stream.makeAsyncIterator()
    await iterator.next()
  }

  @Test("Sealed values can't be merged, and a key that asks for it is refused")
  func policies() throws {
    let sandbox = try StoreSandbox()
    var configuration = Self.configuration(sandbox, 1)
    let store = try sandbox.store("s", configuration)
    let key = StoreKey("n", default: 0, mergedBy: .counter)
    #expect(code { () throws(KeyValueStoreError) in try store.set(1, for: key) } == .notSealed)
    configuration.policies = ["n": .counter]
    #expect(code { () throws(KeyValueStoreError) in _ = try sandbox.store("s", configuration) } == .notSealed)
  }
}
