import Foundation
import FoundationCompatibility
import KeyValueReplicas
import KeyValueStore
import SystemInterface
import TestSupport
import Testing

@Suite("NSUbiquitousKeyValueStore", .blocking)
struct NSUbiquitousKeyValueStoreTests {
  private final class Home {
    let path = FileManager.default.temporaryDirectory.appending(path: "KeyValues.\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }

    deinit { removeSurely(path) }

    func native() throws -> KeyValueStore {
      var configuration = KeyValueStore.Configuration()
      configuration.directory = path + "/stores"
      return try KeyValueStore("app", configuration)
    }

    func store() throws -> NSUbiquitousKeyValueStore { NSUbiquitousKeyValueStore(try native()) }
  }

  @Test("CK-01: Every property-list type is read as it was set, and a missing key gives nil, 0, 0.0 and false")
  func roundTrip() throws {
    let home = try Home()
    let store = try home.store()
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    store.set("text", forKey: "string")
    store.set(Data([1, 2]), forKey: "data")
    store.set(Int64.min, forKey: "long")
    store.set(0.5, forKey: "double")
    store.set(true, forKey: "bool")
    store.set([1, "two", [3.5]], forKey: "array")
    store.set(["a": date, "b": ["c": Data()]], forKey: "dictionary")
    store.set(date as Any?, forKey: "date")
    store.set(NSNumber(value: 7), forKey: "number")
    store.set(1e300, forKey: "huge")
    store.set(NSNumber(value: UInt64(Int64.max)), forKey: "largest")
    let other = try home.store()
    #expect(other.string(forKey: "string") == "text")
    #expect(other.data(forKey: "data") == Data([1, 2]))
    #expect(other.longLong(forKey: "long") == .min)
    #expect(other.double(forKey: "double") == 0.5)
    #expect(other.bool(forKey: "bool"))
    let array = try #require(other.array(forKey: "array"))
    #expect(array[0] as? Int == 1 && array[1] as? String == "two" && (array[2] as? [Any])?.first as? Double == 3.5)
    let dictionary = try #require(other.dictionary(forKey: "dictionary"))
    #expect(dictionary["a"] as? Date == date && (dictionary["b"] as? [String: Any])?["c"] as? Data == Data())
    #expect(other.object(forKey: "date") as? Date == date)
    #expect(other.longLong(forKey: "number") == 7 && other.double(forKey: "long") == Double(Int64.min))
    #expect(other.longLong(forKey: "huge") == .max && other.longLong(forKey: "largest") == .max)
    #expect(other.dictionaryRepresentation.count == 11)
    #expect(other.object(forKey: "none") == nil && other.string(forKey: "none") == nil)
    #expect(other.longLong(forKey: "none") == 0 && other.double(forKey: "none") == 0 && !other.bool(forKey: "none"))
    #expect(other.string(forKey: "long") == nil && other.array(forKey: "string") == nil)
  }

  @Test("CK-02: To set nil removes the key")
  func removal() throws {
    let store = try Home().store()
    store.set("a", forKey: "k")
    store.set(nil as String?, forKey: "k")
    #expect(store.object(forKey: "k") == nil)
    store.set("a", forKey: "k")
    store.removeObject(forKey: "k")
    #expect(store.dictionaryRepresentation.isEmpty)
  }

  @Test("CK-03, CK-04: No property list and too long a key are misuse, and change nothing")
  func misuse() async throws {
    await #expect(processExitsWith: .success) {
      let messages = Guarded<[String]>([])
      NSFileCoordinator.setMisuseHandler { message in messages.withLock { $0.append(message) } }
      let home = try Home()
      let store = try home.store()
      store.set(URL(filePath: "/") as Any?, forKey: "url")
      store.set(["a": [UUID()]], forKey: "uuid")
      store.set(1 as Int64, forKey: String(repeating: "k", count: 129))
      store.set(1 as Int64, forKey: "")
      store.set(UInt64.max as Any?, forKey: "unsigned")
      store.set(NSNumber(value: UInt64(1) << 63) as Any?, forKey: "unsigned")
      #expect(messages.withLock { $0.count } == 6)
      #expect(store.dictionaryRepresentation.isEmpty)
    }
  }

  @Test("CK-08, CK-09: A change by others is one notification with exactly its keys; own writes are none")
  func notification() async throws {
    let home = try Home()
    let (store, other) = (try home.store(), try home.native())
    let heard = AsyncStream<(reason: Int?, keys: [String]?)>.makeStream()
    let observer = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
    ) { notification in
      let info = notification.userInfo
      heard.continuation.yield(
        (
          info?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int,
          info?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
        ))
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    store.set("mine", forKey: "own")
    try other.transaction { (transaction) throws(KeyValueStoreError) in
      transaction["b"] = .integer(1)
      transaction["a"] = .integer(1)
    }
    var iterator = heard.stream.makeAsyncIterator()
    let first = await iterator.next()
    #expect(first?.reason == NSUbiquitousKeyValueStoreServerChange && first?.keys == ["a", "b"])
    #expect(store.longLong(forKey: "a") == 1)
  }

  @Test("CK-05: A write over the limit changes nothing, and is told with the reason of the quota")
  func quota() async throws {
    let home = try Home()
    let store = try home.store()
    let heard = AsyncStream<Int?>.makeStream()
    let observer = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: store, queue: nil
    ) { heard.continuation.yield($0.userInfo?[NSUbiquitousKeyValueStoreChangeReasonKey] as? Int) }
    defer { NotificationCenter.default.removeObserver(observer) }
    store.set(Data(count: 1 << 20), forKey: "all")
    store.set(true, forKey: "more")
    var iterator = heard.stream.makeAsyncIterator()
    #expect(await iterator.next() == NSUbiquitousKeyValueStoreQuotaViolationChange)
    #expect(store.object(forKey: "more") == nil && store.data(forKey: "all")?.count == 1 << 20)
  }

  @Test("CK-13, CK-14: synchronize brings values to the disk, and says when it can't")
  func synchronizing() throws {
    let home = try Home()
    let store = try home.store()
    store.set("v", forKey: "k")
    #expect(store.synchronize())
    try FileManager.default.removeItem(atPath: home.path + "/stores")
    #expect(!store.synchronize())
    // The values are gone with the files; the next one makes them anew.
    store.set("w", forKey: "k")
    #expect(store.synchronize() && store.dictionaryRepresentation as? [String: String] == ["k": "w"])
  }

  @Test("The default store is that of the program, in the user's data home")
  func standard() async throws {
    await #expect(processExitsWith: .success) {
      let home = try Home()
      setenv("XDG_DATA_HOME", home.path, 1)
      setenv("XDG_CONFIG_HOME", home.path, 1)
      NSUbiquitousKeyValueStore.default.set("v", forKey: "k")
      let names = try FileManager.default.contentsOfDirectory(atPath: home.path + "/key-values/-local")
      #expect(names.count == 1)
      #expect(try KeyValueStore(names[0])["k"] == .string("v"))
      #expect(NSUbiquitousKeyValueStore.default === NSUbiquitousKeyValueStore.default)
    }
  }

  @Test("CK-14: A configuration that can't be read leaves a store that keeps nothing, and says so")
  func badConfiguration() async throws {
    await #expect(processExitsWith: .success) {
      let messages = Guarded<[String]>([])
      NSFileCoordinator.setMisuseHandler { message in messages.withLock { $0.append(message) } }
      let home = try Home()
      setenv("XDG_DATA_HOME", home.path, 1)
      setenv("XDG_CONFIG_HOME", home.path, 1)
      try "account ann".write(toFile: home.path + "/key-values.conf", atomically: true, encoding: .utf8)
      let store = NSUbiquitousKeyValueStore.default
      #expect(!store.synchronize())
      #expect(messages.withLock { $0.first }?.contains("line 1") ?? false)
    }
  }
}
