import Testing

@testable import KeyValueReplicas

/// One replica, and a server that answers at once.
private struct Store {
  var core: ReplicaCore
  var server = ModelServer()
  var events: [StoreChange] = []
  var now: Int64 = 1_000

  init(
    _ replica: UInt64 = 1, limits: StoreLimits = StoreLimits(), budget: UploadBudget = UploadBudget(interval: 0)
  ) {
    core = ReplicaCore(ReplicaID(rawValue: replica), limits: limits, budget: budget)
  }

  @discardableResult
  mutating func step(_ input: ReplicaInput) throws(WriteRefusal) -> [ReplicaEffect] {
    let effects = try core.step(input, at: now)
    for case .changed(let change) in effects { events.append(change) }
    return effects
  }

  @discardableResult
  mutating func write(_ writes: KeyWrite..., isForced: Bool = false) throws(WriteRefusal) -> [ReplicaEffect] {
    try step(.write(writes, isForced: isForced))
  }

  mutating func read() throws(WriteRefusal) { try step(.received(server.everything(for: core.replica))) }

  /// - Returns: The keys that were uploaded.
  @discardableResult
  mutating func upload(_ outcome: UploadOutcome? = nil) throws(WriteRefusal) -> Set<String> {
    for case .upload(let upload) in try step(.uploadIsDue) {
      try step(.uploadEnded(upload.id, outcome ?? server.execute(upload, of: core.replica)))
      return Set(upload.items.map(\.key))
    }
    return []
  }
}

@Suite("The decisions of one replica of a key-value store")
struct ReplicaCoreTests {
  @Test("CK-04: A key of 128 UTF-16 code units is taken, a longer one isn't; a store may have a limit in bytes")
  func keyLengths() throws {
    var store = Store()
    try store.write(KeyWrite(String(repeating: "k", count: 128), .boolean(true)))
    for key in [String(repeating: "k", count: 129), String(repeating: "😀", count: 65)] {
      #expect(throws: WriteRefusal.keyTooLong(key, lengthMax: 128)) { try store.write(KeyWrite(key, .boolean(true))) }
    }
    #expect(throws: WriteRefusal.emptyKey) { try store.write(KeyWrite("", .boolean(true))) }
    var limits = StoreLimits()
    limits.keyByteCountMax = 64
    var strict = Store(limits: limits)
    try strict.write(KeyWrite(String(repeating: "ä", count: 32), .boolean(true)))
    #expect(throws: WriteRefusal.self) { try strict.write(KeyWrite(String(repeating: "ä", count: 33), .boolean(true))) }
  }

  @Test("CK-05: The 1025th key is refused, and the 1024 others stay; a removed one makes room")
  func keyCount() throws {
    var store = Store()
    for number in 0..<1024 { try store.write(KeyWrite("\(number)", .integer(1))) }
    #expect(throws: WriteRefusal.tooManyKeys(countMax: 1024)) { try store.write(KeyWrite("more", .integer(1))) }
    #expect(throws: WriteRefusal.tooManyKeys(countMax: 1024)) {
      try store.write(KeyWrite("0", .integer(2)), KeyWrite("more", .integer(1)))
    }
    #expect(store.core.values.count == 1024 && store.core["0"] == .integer(1))
    try store.write(KeyWrite("0", nil), KeyWrite("more", .integer(1)))
    #expect(store.core.values.count == 1024 && store.core["more"] == .integer(1))
    #expect(WriteRefusal.tooManyKeys(countMax: 1).isQuotaViolation && !WriteRefusal.emptyKey.isQuotaViolation)
  }

  @Test("CK-06, CK-07: Values of more than a megabyte are refused without a partial effect; keys don't count")
  func byteCount() throws {
    var store = Store()
    let megabyte = StoredValue.data(Array(repeating: 1, count: 1 << 20))
    try store.write(KeyWrite(String(repeating: "k", count: 100), megabyte))
    #expect(throws: WriteRefusal.tooManyBytes(byteCountMax: 1 << 20)) {
      try store.write(KeyWrite("a", .boolean(true)))
    }
    #expect(store.core.values.count == 1 && store.core.sequence == 1)
    try store.write(KeyWrite(String(repeating: "k", count: 100), nil), KeyWrite("a", .boolean(true)))
    #expect(store.core.values == ["a": .boolean(true)])
  }

  @Test("One key twice in a transaction, too many keys and values that are nested too deep are refused")
  func malformed() throws {
    var store = Store()
    let nested = (0..<70).reduce(StoredValue.integer(1)) { value, _ in .array([value]) }
    #expect(throws: WriteRefusal.nestedTooDeep("a", depthMax: 64)) { try store.write(KeyWrite("a", nested)) }
    #expect(throws: WriteRefusal.keyRepeated("a")) { try store.write(KeyWrite("a", nil), KeyWrite("a", nil)) }
    #expect(throws: WriteRefusal.tooManyKeysAtOnce(countMax: 100)) {
      try store.step(.write((0...100).map { KeyWrite("\($0)", nil) }, isForced: false))
    }
    #expect(store.core.values.isEmpty && store.core.sequence == 0)
  }

  @Test(
    "CK-10, CK-19: A new replica's writes lose against what's there, unless they're forced; its first event says so")
  func gate() throws {
    var old = Store(2)
    try old.read()
    try old.write(KeyWrite("a", .integer(1)), KeyWrite("b", .integer(1)), KeyWrite("c", .integer(1)))
    try old.upload()
    var new = Store()
    new.server = old.server
    new.now = 5_000
    try new.write(KeyWrite("a", .integer(2)), KeyWrite("d", .integer(2)))
    try new.write(KeyWrite("b", .integer(2)), isForced: true)
    #expect(try new.step(.uploadIsDue) == [])
    try new.read()
    #expect(new.core.values == ["a": .integer(1), "b": .integer(2), "c": .integer(1), "d": .integer(2)])
    let items = [
      StoreChange.Item(key: "a", old: .integer(2), new: .integer(1)),
      StoreChange.Item(key: "c", old: nil, new: .integer(1)),
    ]
    #expect(new.events == [StoreChange(reason: .initialSync, items: items)])
    #expect(new.core.losses.map(\.key) == ["a", "b"] && new.core.losses.map(\.value) == [.integer(2), .integer(1)])
    #expect(try new.upload() == ["b", "d"])
    #expect(new.core.pendingKeys == [] && new.core.confirmedSequence == 2)
  }

  @Test("CK-18: Keys that were written together are uploaded together, also after some were written again")
  func transactions() throws {
    var limits = StoreLimits()
    limits.keysOfTransactionMax = 3
    var store = Store(limits: limits)
    try store.read()
    try store.write(KeyWrite("a", .integer(1)), KeyWrite("b", .integer(1)))
    try store.write(KeyWrite("c", .integer(1)), KeyWrite("d", .integer(1)))
    try store.write(KeyWrite("b", .integer(2)))
    #expect(try store.upload() == ["a", "b"])
    #expect(try store.upload() == ["c", "d"])
    try store.write(KeyWrite("a", .integer(3)), KeyWrite("b", .integer(3)))
    try store.write(KeyWrite("b", .integer(4)), KeyWrite("c", .integer(4)))
    #expect(try store.upload() == ["a", "b", "c"])
  }

  @Test("CK-20: A thousand writes make as many uploads as the budget allows, and the last values arrive")
  func budget() throws {
    var store = Store(budget: UploadBudget(countMax: 3, interval: 1_000))
    try store.read()
    var uploads = 0
    for number in 0..<1_000 {
      store.now += 5
      try store.write(KeyWrite("\(number % 10)", .integer(Int64(number))))
      if try !store.upload().isEmpty { uploads += 1 }
    }
    #expect(uploads == 3 + 4)
    let next = try #require(store.core.nextUpload(at: store.now))
    #expect(next > store.now && next <= store.now + 1_000)
    store.now = next
    try store.upload()
    #expect(store.core.pendingKeys == [] && store.core.nextUpload(at: next) == nil)
    #expect(store.server.items.compactMapValues(\.value) == store.core.values)
    #expect(store.core["9"] == .integer(999))
  }

  @Test(
    "CK-21: A key that another replica has removed doesn't come back from one that was away, unless it was written later"
  )
  func removal() throws {
    var first = Store(2)
    try first.read()
    try first.write(KeyWrite("a", .integer(1)), KeyWrite("b", .integer(1)))
    try first.upload()
    var away = Store()
    away.server = first.server
    try away.read()
    try away.write(KeyWrite("a", .integer(2)))
    first.now += 10
    try first.write(KeyWrite("a", nil), KeyWrite("b", nil))
    try first.upload()
    away.server = first.server
    away.now += 20
    try away.write(KeyWrite("c", .integer(3)))
    try away.read()
    #expect(away.core.values == ["c": .integer(3)])
    #expect(away.core.losses.map(\.value) == [.integer(2)])
    // The tombstones have been removed from the server in the meantime.
    away.server.items["b"] = nil
    try away.read()
    try away.write(KeyWrite("b", .integer(4)))
    #expect(try away.upload() == ["b", "c"])
    #expect(away.core.pendingKeys == [])
  }

  @Test("CK-22: A write is later than all that its replica had seen, though its clock is an hour behind")
  func clockBehind() throws {
    var ahead = Store(2)
    ahead.now += 3_600_000_000_000
    try ahead.read()
    try ahead.write(KeyWrite("a", .integer(1)))
    try ahead.upload()
    var behind = Store()
    behind.server = ahead.server
    try behind.read()
    try behind.write(KeyWrite("a", .integer(2)))
    try behind.upload()
    ahead.server = behind.server
    try ahead.read()
    #expect(ahead.core["a"] == .integer(2) && behind.core["a"] == .integer(2))
  }

  @Test("An instant that no clock can have isn't noted, and the key keeps its value")
  func impossibleInstants() throws {
    var store = Store()
    let time = HybridTime(wall: .max, count: .max, replica: ReplicaID(rawValue: 9))
    store.server.items["a"] = SharedItem(key: "a", value: .integer(1), time: time, revision: 1)
    try store.read()
    #expect(store.core["a"] == nil)
    store.now = .max
    try store.write(KeyWrite("a", .integer(2)))
    try store.write(KeyWrite("a", .integer(3)))
    #expect(store.core["a"] == .integer(3))
  }

  @Test("A server that's full keeps nobody from reading; the keys wait until something is written again")
  func fullServer() throws {
    var store = Store()
    try store.read()
    try store.write(KeyWrite("a", .integer(1)))
    try store.upload(.overQuota)
    #expect(store.events.map(\.reason) == [.quotaViolation] && store.events[0].items.map(\.key) == ["a"])
    #expect(store.core["a"] == .integer(1) && store.core.nextUpload(at: store.now) == nil)
    try store.write(KeyWrite("b", nil))
    #expect(try store.upload() == ["a", "b"])
    #expect(store.core.pendingKeys == [])
  }
}
