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
      #expect(throws: WriteRefusal.keyTooLong(key, length: key.utf16.count, lengthMax: 128, unit: "UTF-16 code units"))
      { try store.write(KeyWrite(key, .boolean(true))) }
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

  @Test("CK-19: A forced write keeps its force when its key is written again before the first read")
  func forcedAgain() throws {
    var old = Store(2)
    try old.read()
    try old.write(KeyWrite("a", .integer(1)), KeyWrite("b", .integer(1)))
    try old.upload()
    var new = Store()
    new.server = old.server
    new.now = 5_000
    try new.write(KeyWrite("a", .integer(2)), isForced: true)
    try new.write(KeyWrite("a", .integer(3)), KeyWrite("b", .integer(3)))
    try new.read()
    #expect(new.core.values == ["a": .integer(3), "b": .integer(1)])
  }

  @Test("KV-11: The longest interval between uploads is one that never ends")
  func longestInterval() {
    var budget = UploadBudget(countMax: 1, interval: .max)
    #expect(budget.take(at: 1_000) && !budget.take(at: 2_000))
    #expect(budget.next(at: 2_000) == .max)
    #expect(UploadBudget(countMax: 1, interval: .max - 1_000).next(at: 1_000) == 1_000)
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

  @Test("CK-20: More than a megabyte is uploaded in parts, and an upload that the server refuses holds up no other")
  func largeValues() throws {
    var limits = StoreLimits()
    limits.byteCountMax = 9 << 20
    var core = ReplicaCore(ReplicaID(rawValue: 1), limits: limits)
    _ = try core.step(.received(SharedBatch(items: [], acknowledgement: nil, isComplete: true, revision: 1)), at: 1)
    let sizes = ["a": 700_000, "b": 1_600_000, "c": 300_000, "d": 1]
    for (key, size) in sizes.sorted(by: { $0.key < $1.key }) {
      _ = try core.step(.write([KeyWrite(key, .data([UInt8](repeating: 7, count: size)))], isForced: false), at: 2)
    }
    var uploads: [[String]] = []
    var revision: Int64 = 1
    while case .upload(let upload)? = try core.step(.uploadIsDue, at: 3).first {
      uploads.append(upload.items.map(\.key))
      revision += 1
      let outcome = upload.items.contains { $0.key == "b" } ? UploadOutcome.overQuota : .applied(revision: revision)
      _ = try core.step(.uploadEnded(upload.id, outcome), at: 3)
    }
    #expect(uploads == [["a", "c", "d"], ["b"]])
    #expect(core.heldKeys == ["b"] && core.pendingKeys == ["b"])
    // Removed, it's no more in the way.
    _ = try core.step(.write([KeyWrite("b", nil)], isForced: false), at: 4)
    guard case .upload(let upload)? = try core.step(.uploadIsDue, at: 4).first else {
      Issue.record("nothing is uploaded")
      return
    }
    #expect(upload.items.map(\.key) == ["b"] && upload.items[0].value == nil)
  }

  @Test("CK-20: A clock that was ahead holds uploads back for one interval, however far it was ahead")
  func budgetAfterClockAhead() throws {
    var store = Store(budget: UploadBudget(countMax: 2, interval: 1_000))
    store.now = 1_000_000
    try store.read()
    for number in Int64(0)..<3 {
      try store.write(KeyWrite("k", .integer(number)))
      try store.upload()
    }
    #expect(store.core.pendingKeys == ["k"])
    store.now = 10
    #expect(try store.upload() == [])
    #expect(store.core.nextUpload(at: 10) == 1_010)
    store.now = 900
    #expect(store.core.nextUpload(at: 900) == 1_010)
    store.now = 1_010
    #expect(try store.upload() == ["k"])
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

  @Test("Of writes that have no room together, the largest stay here, and others are uploaded")
  func quotaOfMany() throws {
    var store = Store()
    try store.read()
    try store.write(KeyWrite("large", .string(String(repeating: "x", count: 900))))
    try store.write(KeyWrite("small", .integer(1)))
    try store.write(KeyWrite("pair.a", .integer(2)), KeyWrite("pair.b", .integer(3)))
    #expect(try store.upload(.overQuota) == ["large", "small", "pair.a", "pair.b"])
    #expect(store.core.heldKeys == ["large"] && store.events.last?.items.map(\.key) == ["large"])
    #expect(try store.upload() == ["small", "pair.a", "pair.b"])
    #expect(store.core.pendingKeys == ["large"] && store.core.nextUpload(at: store.now) == nil)
  }

  @Test("Writes that are too large for the server together are uploaded in parts; one that's too large by itself stays")
  func tooLarge() throws {
    var store = Store()
    try store.read()
    for key in ["a", "b", "c"] { try store.write(KeyWrite(key, .string(String(repeating: "x", count: 900)))) }
    try store.write(KeyWrite("p", .integer(1)), KeyWrite("q", .integer(1)))
    #expect(try store.upload(.tooLarge) == ["a", "b", "c", "p", "q"])
    #expect(store.core.heldKeys.isEmpty && store.events.isEmpty)
    // The size that it has learned is part of its state.
    var restored = ReplicaCore(store.core.replica)
    _ = restored.replay(.restored(store.core.state), at: store.now)
    #expect(restored.state == store.core.state)
    #expect(try store.upload() == ["a", "p", "q"])
    #expect(try store.upload(.tooLarge) == ["b"])
    #expect(store.core.heldKeys == ["b"] && store.events.last?.reason == .quotaViolation)
    #expect(try store.upload() == ["c"])
    #expect(store.core.pendingKeys == ["b"])
  }

  @Test("The bytes of a request count for its size, not those of the values' contents")
  func encodedSize() throws {
    var store = Store()
    try store.read()
    // Empty strings have no contents.
    let many = StoredValue.array(Array(repeating: .string(""), count: 120_000))
    for key in ["a", "b"] { try store.write(KeyWrite(key, many)) }
    #expect(try store.upload() == ["a"])
    #expect(try store.upload() == ["b"])
    let parts = store.core.parts(of: [KeyWrite("a", many), KeyWrite("b", many), KeyWrite("c", nil)])
    #expect(parts.map(\.count) == [1, 2])
  }

  @Test("Values that were given up are kept up to a number, and up to a megabyte; the last one always")
  func lossLimits() {
    var core = ReplicaCore(ReplicaID(rawValue: 1))
    let time = HybridTime(wall: 1, count: 0, replica: ReplicaID(rawValue: 2))
    func data(_ count: Int) -> StoredValue { .data(Array(repeating: 1, count: count)) }
    for number in 0..<101 { core.lose("\(number)", .integer(1), time, to: time) }
    #expect(core.losses.count == 100 && core.losses.first?.key == "1")
    core.lose("half", data(1 << 19), time, to: time)
    core.lose("other half", data(1 << 19), time, to: time)
    #expect(core.losses.map(\.key) == ["half", "other half"])
    core.lose("small", .boolean(true), time, to: time)
    #expect(core.losses.map(\.key) == ["other half", "small"])
    core.lose("large", data(1 << 21), time, to: time)
    #expect(core.losses.map(\.key) == ["large"])
  }

  @Test("A write for which there was no room is tried again when another replica makes room")
  func room() throws {
    var (store, other) = (Store(), Store(2))
    try other.read()
    try other.write(KeyWrite("theirs", .string(String(repeating: "x", count: 900))), KeyWrite("n", .integer(1)))
    try other.upload()
    try store.read()
    try store.write(KeyWrite("mine", .integer(1)))
    try store.upload(.overQuota)
    for (value, isTried) in [(StoredValue.string(String(repeating: "y", count: 900)), false), (nil, true)] {
      other.server = store.server
      try other.write(KeyWrite("theirs", value))
      try other.read()
      try other.upload()
      store.server = other.server
      guard let last = store.server.log.last else { continue }
      try store.step(
        .received(
          SharedBatch(items: last.items, acknowledgement: nil, isComplete: false, revision: last.revision)))
      #expect((store.core.nextUpload(at: store.now) != nil) == isTried)
    }
    #expect(try store.upload() == ["mine"])
    #expect(store.core.pendingKeys == [])
  }

  @Test("CK-24: An upload of another machine with a copy of the journal isn't taken for an own one")
  func copies() throws {
    var original = Store()
    try original.read()
    try original.write(KeyWrite("before", .integer(1)))
    try original.upload()
    var copy = original
    copy.now = 2_000
    try original.write(KeyWrite("a", .integer(1)))
    try copy.write(KeyWrite("b", .integer(2)))
    try original.upload()
    copy.server = original.server
    #expect(try copy.upload() == ["b"], "it's outdated")
    try copy.read()
    #expect(copy.core.replica != original.core.replica && copy.core.pendingKeys == ["b"])
    #expect(try copy.upload() == ["b"])
    original.server = copy.server
    try original.read()
    #expect(original.core.replica == ReplicaID(rawValue: 1))
    #expect(original.core.values == copy.core.values && original.core.values.count == 3)
  }

  @Test("Policies that a journal states count for each process, whatever its own are")
  func statedPolicies() throws {
    let write = ReplicaInput.write([KeyWrite("n", .integer(3))], isForced: false)
    let other = SharedItem(
      key: "n", value: .integer(4), time: HybridTime(wall: 9, count: 0, replica: ReplicaID(rawValue: 2)), revision: 5)
    let batch = SharedBatch(items: [other], acknowledgement: nil, isComplete: false, revision: 5)
    var core = ReplicaCore(ReplicaID(rawValue: 1))
    let settings = ReplicaSettings(policies: ["n": .counter])
    #expect(!core.has(settings))
    let empty = SharedBatch(items: [], acknowledgement: nil, isComplete: true, revision: 1)
    for input in [.configured(settings), .received(empty), write, .received(batch)] as [ReplicaInput] {
      _ = try core.step(input, at: 1)
    }
    #expect(core["n"] == .integer(7))
    #expect(core.has(settings))
    #expect(!core.has(ReplicaSettings(policies: ["n": .counter], budget: UploadBudget(countMax: 1))))
  }

  @Test("A write that a journal has is taken although the limits are smaller now")
  func replay() {
    var limits = StoreLimits()
    limits.keyCountMax = 1
    var core = ReplicaCore(ReplicaID(rawValue: 1), limits: limits)
    _ = core.replay(.write([KeyWrite("a", .integer(1)), KeyWrite("b", .integer(2))], isForced: false), at: 1)
    #expect(core.values == ["a": .integer(1), "b": .integer(2)])
    #expect(throws: WriteRefusal.tooManyKeys(countMax: 1)) {
      try core.step(.write([KeyWrite("c", .integer(3))], isForced: false), at: 2)
    }
  }
}
