import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("A key-value store on the disk", .blocking)
struct KeyValueStoreTests {
  static let values: [StoredValue] = [
    .boolean(true), .integer(.min), .real(.pi), .string("ä\0😀"), .data([0, 255]), .date(-1.5),
    .array([.integer(1), .array([])]), .dictionary(["a": .dictionary([:]), "": .string("")]),
  ]

  @Test("CK-01, CK-13: Values of every kind are there again after a restart", arguments: values)
  func roundTrip(value: StoredValue) throws {
    let sandbox = try StoreSandbox()
    try sandbox.store().set(value, for: "key")
    let store = try sandbox.store()
    #expect(store["key"] == value)
    #expect(store["other"] == nil)
    #expect(store.dictionary == ["key": value])
  }

  @Test("CK-02: To set nil removes the key, and so does remove")
  func removal() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    try store.set(.integer(1), for: "a")
    try store.set(.integer(1), for: "b")
    try store.set(nil as StoredValue?, for: "a")
    try store.remove("b")
    try store.remove("never there")
    #expect(try sandbox.store().dictionary.isEmpty)
  }

  @Test("CK-04 to CK-07: A write that breaks a limit is refused with its code, and the store is unchanged")
  func limits() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    #expect(code { () throws(KeyValueStoreError) in try store.set(.integer(1), for: "") } == .emptyKey)
    let long = String(repeating: "k", count: 129)
    #expect(code { () throws(KeyValueStoreError) in try store.set(.integer(1), for: long) } == .keyTooLong)
    try store.set(.data(Array(repeating: 7, count: 1 << 20)), for: String(long.dropLast()))
    #expect(code { () throws(KeyValueStoreError) in try store.set(.boolean(true), for: "b") } == .tooManyBytes)
    try store.remove(String(long.dropLast()))
    for number in 0..<1024 { try store.set(.integer(1), for: "\(number)") }
    #expect(code { () throws(KeyValueStoreError) in try store.set(.integer(1), for: "1025th") } == .tooManyKeys)
    #expect(store.dictionary.count == 1024)
    #expect(try sandbox.store().dictionary == store.dictionary)
  }

  static let unusable: [(String, @Sendable (inout KeyValueStore.Configuration) -> Void)] = [
    ("depthMax", { $0.limits.depthMax = 257 }), ("depthMax", { $0.limits.depthMax = -1 }),
    ("keysOfTransactionMax", { $0.limits.keysOfTransactionMax = 127 }),
    ("keysOfTransactionMax", { $0.limits.keysOfTransactionMax = 0 }),
    ("keyCountMax", { $0.limits.keyCountMax = -1 }), ("byteCountMax", { $0.limits.byteCountMax = -1 }),
  ]

  @Test("A limit that no journal or server could keep is refused at once", arguments: unusable)
  func unusableLimits(name: String, change: @Sendable (inout KeyValueStore.Configuration) -> Void) throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    change(&configuration)
    do throws(KeyValueStoreError) {
      _ = try sandbox.store("s", configuration)
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .invalidConfiguration && error.message.contains(name))
    }
  }

  @Test("The deepest value, the largest transaction and the longest interval that limits allow can be read again")
  func greatestLimits() throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    configuration.limits.depthMax = 256
    configuration.limits.keysOfTransactionMax = 126
    configuration.uploadInterval = .seconds(Int64.max)
    let store = try sandbox.store("s", configuration)
    let value = (0..<256).reduce(StoredValue.integer(1)) { value, _ in .array([value]) }
    try store.transaction { (transaction) throws(KeyValueStoreError) in
      for number in 0..<126 { transaction["\(number)"] = .integer(1) }
    }
    try store.set(value, for: "0")
    #expect(code { () throws(KeyValueStoreError) in try store.set(.array([value]), for: "1") } == .nestedTooDeep)
    #expect(try sandbox.store()["0"] == value)
  }

  @Test("KV-7: A write over the limit is an error, and a change with the reason quotaViolation")
  func quotaMessage() async throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    configuration.limits.keyCountMax = 1
    let store = try sandbox.store("s", configuration)
    let changes = store.changes
    try store.set(.integer(1), for: "a")
    #expect(code { () throws(KeyValueStoreError) in try store.set(.integer(2), for: "b") } == .tooManyKeys)
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(change == StoreChange(reason: .quotaViolation, items: [.init(key: "b", old: nil, new: nil)]))
  }

  @Test("A write that's refused takes in what others have written meanwhile all the same")
  func refusedAfterNews() async throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    configuration.limits.keyCountMax = 1
    let (writer, other) = (try sandbox.store("s", configuration), try sandbox.store("s", configuration))
    let changes = other.changes
    // The other one can't have noticed it yet, or it has: the outcome is the same.
    try writer.set(.integer(1), for: "a")
    #expect(code { () throws(KeyValueStoreError) in try other.set(.integer(2), for: "b") } == .tooManyKeys)
    #expect(other["a"] == .integer(1))
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next()?.reason == .otherProcess)
    #expect(await iterator.next()?.reason == .quotaViolation)
  }

  @Test("CK-08, CK-18: Another store of the same name hears of a transaction as one change, and the writer doesn't")
  func changes() async throws {
    let sandbox = try StoreSandbox()
    let (writer, reader) = (try sandbox.store(), try sandbox.store())
    let (own, others) = (writer.changes, reader.changes)
    try writer.transaction { (transaction) throws(KeyValueStoreError) in
      transaction["a"] = .integer(1)
      transaction["b"] = .integer(2)
    }
    var iterator = others.makeAsyncIterator()
    let change = await iterator.next()
    #expect(
      change
        == StoreChange(
          reason: .otherProcess,
          items: [.init(key: "a", old: nil, new: .integer(1)), .init(key: "b", old: nil, new: .integer(2))]))
    #expect(reader.dictionary == writer.dictionary)
    try reader.set(.integer(3), for: "a")
    var ownIterator = own.makeAsyncIterator()
    let heard = await ownIterator.next()
    #expect(
      heard == StoreChange(reason: .otherProcess, items: [.init(key: "a", old: .integer(1), new: .integer(3))]))
  }

  @Test("CK-23: Two processes see each other's writes")
  func processes() async throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    let changes = store.changes
    try store.set(.string("from here"), for: "mine")
    let path: String = sandbox.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      var configuration = KeyValueStore.Configuration()
      configuration.directory = path + "/home"
      let store = try KeyValueStore("s", configuration)
      #expect(store["mine"] == .string("from here"))
      try store.set(.string("from there"), for: "theirs")
    }
    var iterator = changes.makeAsyncIterator()
    let change = await iterator.next()
    #expect(change?.reason == .otherProcess && change?.items.map(\.key) == ["theirs"])
    #expect(store["theirs"] == .string("from there"))
  }

  @Test("CK-13: A process that is killed between two writes loses none of them")
  func killed() async throws {
    let sandbox = try StoreSandbox()
    let path: String = sandbox.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      var configuration = KeyValueStore.Configuration()
      configuration.directory = path + "/home"
      let store = try KeyValueStore("s", configuration)
      for number in 0..<100 { try store.set(.integer(Int64(number)), for: "key \(number)") }
      kill(getpid(), SIGKILL)
    }
    #expect(try sandbox.store().dictionary.count == 100)
  }

  @Test("Files belong to the user alone, and links in their place are refused")
  func privacy() throws {
    let sandbox = try StoreSandbox()
    _ = try sandbox.store()
    let files = HostFileSystem()
    let status = try files.status(of: SystemPath(sandbox.journal()), at: .workingDirectory, links: .noFollow)
    #expect(status.mode == 0o600)
    let directory = SystemPath(sandbox.path + "/home/-local/s")
    #expect(try files.status(of: directory, at: .workingDirectory, links: .noFollow).mode == 0o700)
    _ = try sandbox.store("t")
    try files.unlink(SystemPath(sandbox.journal("t")), at: .workingDirectory, .file)
    try files.makeSymbolicLink(
      SystemPath(sandbox.journal("t")), at: .workingDirectory, target: SystemPath(sandbox.journal()))
    #expect(code { () throws(KeyValueStoreError) in _ = try sandbox.store("t") } == .notAStore)
  }

  @Test("A directory that's there keeps its permissions, and one that others may write to is refused")
  func directories() throws {
    for (mode, isTaken) in [
      (0o755, true), (0o700, true), (0o1777, true), (0o2755, true), (0o775, false), (0o777, false),
    ] {
      let sandbox = try StoreSandbox()
      let home = SystemPath(sandbox.path + "/home")
      let files = HostFileSystem()
      try files.makeDirectory(home, at: .workingDirectory, mode: 0o700)
      try files.withDescriptor(home, flags: .directory) { (directory) throws(SystemError) in
        try files.setMode(of: directory, to: UInt32(mode))
      }
      let refusal = code { () throws(KeyValueStoreError) in
        let store = try sandbox.store()
        try store.set(.integer(1), for: "a")
      }
      #expect(refusal == (isTaken ? nil : .permissionDenied), "\(mode)")
      let found = try files.status(of: home, at: .workingDirectory, links: .noFollow).mode
      #expect(found == mode, "\(mode)")
    }
  }

  @Test(
    "Names that could lead elsewhere are refused",
    arguments: ["", ".", "..", "a/b", "-local", "a\0b", "a\nb", String(repeating: "n", count: 121)])
  func names(name: String) throws {
    let sandbox = try StoreSandbox()
    #expect(code { () throws(KeyValueStoreError) in _ = try sandbox.store(name) } == .invalidName)
    var configuration = sandbox.configuration()
    configuration.account = name
    #expect(code { () throws(KeyValueStoreError) in _ = try sandbox.store("s", configuration) } == .invalidName)
  }

  @Test("CK-11: Values of one account can't be read with another")
  func accounts() throws {
    let sandbox = try StoreSandbox()
    var (first, second) = (sandbox.configuration(), sandbox.configuration())
    (first.account, second.account) = ("ann", "bob")
    try sandbox.store("s", first).set(.integer(1), for: "a")
    #expect(try sandbox.store("s", second).dictionary.isEmpty)
    #expect(try sandbox.store("s").dictionary.isEmpty)
    #expect(try sandbox.store("s", first)["a"] == .integer(1))
  }

  @Test("A long journal is written anew, and stores that have it open go on")
  func compaction() throws {
    let sandbox = try StoreSandbox()
    let (writer, reader) = (try sandbox.store(), try sandbox.store())
    let text = String(repeating: "x", count: 1_000)
    var longest = 0
    for number in 0..<1_000 {
      try writer.set(.string(text + "\(number)"), for: "key \(number % 10)")
      if number % 100 == 0 { try reader.set(.integer(Int64(number)), for: "reader") }
      longest = max(longest, try sandbox.bytes(sandbox.journal()).count)
    }
    #expect(longest > 200_000 && longest < 300_000)
    reader.engine.takeInNews()
    #expect(reader.dictionary == writer.dictionary && reader.dictionary.count == 11)
    #expect(try sandbox.store().dictionary == writer.dictionary)
    #expect(reader.engine.lastFailure == nil)
  }

  @Test(
    "On a full disk the journal is written anew if that makes room; otherwise the error says what to do, and nothing is changed"
  )
  func fullDisk() throws {
    let sandbox = try StoreSandbox()
    let refusals = Guarded(0)
    let door = ScriptedFileSystem { call in
      guard call.call == .write else { return .proceed }
      return refusals.withLock { count in
        if count == 0 { return .proceed }
        count -= 1
        return .fail(28)
      }
    }
    let store = try sandbox.store("s", nil, files: door)
    for number in 0..<50 { try store.set(.integer(Int64(number)), for: "k") }
    let before = try sandbox.bytes(sandbox.journal()).count
    refusals.withLock { $0 = 1 }
    try store.set(.integer(50), for: "k")
    #expect(try sandbox.bytes(sandbox.journal()).count < before / 4)
    refusals.withLock { $0 = .max }
    do throws(KeyValueStoreError) {
      try store.set(.integer(51), for: "k")
      Issue.record("nothing was thrown")
    } catch {
      #expect(error.code == .noSpace && error.message.contains(sandbox.journal()))
      #expect(error.message.contains("remove other files"))
    }
    #expect(store["k"] == .integer(50))
    refusals.withLock { $0 = 0 }
    #expect(try sandbox.store()["k"] == .integer(50))
    try store.set(.integer(52), for: "k")
    #expect(try sandbox.store()["k"] == .integer(52))
  }

  @Test("Keys that are spelled differently in Unicode are different keys")
  func spellings() throws {
    let sandbox = try StoreSandbox()
    let (store, other) = (try sandbox.store(), try sandbox.store())
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    try store.set(.integer(1), for: composed)
    try store.transaction { (transaction) throws(KeyValueStoreError) in
      #expect(transaction[decomposed] == nil && transaction[composed] == .integer(1))
      transaction[decomposed] = .integer(2)
      transaction["x"] = transaction[composed]
    }
    other.engine.takeInNews()
    for store in [store, other, try sandbox.store()] {
      #expect(store[composed] == .integer(1) && store[decomposed] == .integer(2) && store["x"] == .integer(1))
    }
    try store.remove(composed)
    #expect(store[composed] == nil && store[decomposed] == .integer(2))
  }

  @Test("A damaged journal, another file and a newer one are refused with what to do, and stay as they are")
  func damage() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    for number in 0..<5 { try store.set(.integer(Int64(number)), for: "k") }
    let good = try sandbox.bytes(sandbox.journal())
    var flipped = good
    flipped[60] ^= 4
    var otherReplica = good
    otherReplica[9] ^= 1
    let cases: [([UInt8], KeyValueStoreError.Code)] = [
      (flipped, .damaged), (otherReplica, .damaged), (Array("hello, world, I'm no store".utf8), .notAStore),
      (Array("kvjourn9".utf8) + good.dropFirst(8), .newerFormat),
    ]
    for (bytes, expected) in cases {
      try HostFileSystem().replaceContents(of: SystemPath(sandbox.journal()), with: bytes)
      #expect(code { () throws(KeyValueStoreError) in _ = try sandbox.store() } == expected)
      #expect(try sandbox.bytes(sandbox.journal()) == bytes)
      // The store that was open keeps its values, and says why it can't write.
      #expect(code { () throws(KeyValueStoreError) in try store.set(.integer(9), for: "k") } == expected)
      #expect(store["k"] == .integer(4))
    }
  }

  @Test("The end of an event that was cut off is left out, and the next one is written in its place")
  func torn() throws {
    let sandbox = try StoreSandbox()
    do {
      let store = try sandbox.store()
      try store.set(.integer(1), for: "a")
      try store.set(.integer(2), for: "b")
    }
    let bytes = try sandbox.bytes(sandbox.journal())
    try HostFileSystem().replaceContents(of: SystemPath(sandbox.journal()), with: Array(bytes.dropLast(3)))
    let store = try sandbox.store()
    #expect(store.dictionary == ["a": .integer(1)])
    try store.set(.integer(3), for: "c")
    #expect(try sandbox.store().dictionary == ["a": .integer(1), "c": .integer(3)])
  }

  @Test("A lock that another process keeps is an error that says so")
  func busy() throws {
    let sandbox = try StoreSandbox()
    let store = try sandbox.store()
    try store.set(.integer(1), for: "a")
    let files = HostFileSystem()
    let path = SystemPath(sandbox.journal())
    let other = try files.open(path, at: .workingDirectory, flags: .readWrite, mode: 0)
    defer { try? files.close(other) }
    try files.lock(other)
    #expect(
      code { () throws(KeyValueStoreError) in
        _ = try ReplicaFile.opened(in: path.parent, patience: .milliseconds(20)) { ReplicaCore($0) }
      } == .busy)
    // Reading needs no lock.
    #expect(store["a"] == .integer(1))
  }
}
