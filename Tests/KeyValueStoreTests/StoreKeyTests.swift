import Foundation
import KeyValueReplicas
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("Keys whose values have a type", .blocking)
struct StoreKeyTests {
  struct Window: Codable, Equatable, Sendable {
    enum Side: String, Codable { case left, right }

    var title: String
    var width: Int
    var scale: Double?
    var sides: [Side]
    var bytes: [UInt8]
    var inner: [String: [Bool]]
    var opened: Date
  }

  @Test("A structure is read as it was set")
  func structures() throws {
    let sandbox = try StoreSandbox()
    let key = StoreKey<Window?>("window", default: nil)
    let window = Window(
      title: "ä", width: .max, scale: nil, sides: [.left, .right], bytes: [1, 2], inner: ["a": [true, false]],
      opened: Date(timeIntervalSinceReferenceDate: 1.25))
    let store = try sandbox.store()
    #expect(store[key] == nil)
    try store.set(window, for: key)
    let read = try sandbox.store().value(for: key)
    #expect(read == window)
    guard case .dictionary(let members) = store["window"] else {
      Issue.record("it's no dictionary")
      return
    }
    #expect(members["bytes"] == .data([1, 2]) && members["width"] == .integer(.max) && members["scale"] == nil)
  }

  @Test("A value of another type is an error, or the default")
  func mismatch() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    try store.set(.string("seven"), for: "n")
    let key = StoreKey("n", default: 5)
    #expect(code { () throws(KeyValueStoreError) in _ = try store.value(for: key) } == .typeMismatch)
    #expect(store[key] == 5)
    try store.set(.integer(300), for: "n")
    #expect(
      code { () throws(KeyValueStoreError) in _ = try store.value(for: StoreKey<UInt8>("n", default: 0)) }
        == .typeMismatch)
    #expect(try store.value(for: StoreKey<Double>("n", default: 0)) == 300)
  }

  @Test("CK-03: A value that isn't made of property-list values is refused, and the store is unchanged")
  func unencodable() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    #expect(
      code { () throws(KeyValueStoreError) in try store.set(UInt64.max, for: StoreKey<UInt64>("n", default: 0)) }
        == .typeMismatch)
    #expect(
      code { () throws(KeyValueStoreError) in try store.set([1, nil], for: StoreKey<[Int?]>("l", default: [])) }
        == .typeMismatch)
    #expect(store.dictionary.isEmpty)
  }

  @Test("The policy of a key is stated once, and all processes merge by it")
  func policies() throws {
    let sandbox = try StoreSandbox()
    let key = StoreKey("n", default: 0, mergedBy: .counter)
    let store = try sandbox.store()
    try store.set(1, for: key)
    let length = try sandbox.bytes(sandbox.journal()).count
    try store.set(2, for: key)
    let other = try sandbox.store()
    #expect(other.engine.read { $0.policies } == ["n": .counter])
    #expect(try sandbox.bytes(sandbox.journal()).count - length < 100)
  }

  @Test("Names are checked where keys are defined")
  func names() {
    #expect(
      code { () throws(KeyValueStoreError) in _ = try StoreKey(checking: "", default: 1) } == .emptyKey)
    #expect(
      code { () throws(KeyValueStoreError) in
        _ = try StoreKey(checking: String(repeating: "k", count: 129), default: 1)
      } == .keyTooLong)
  }
}
