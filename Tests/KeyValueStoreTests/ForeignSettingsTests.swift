import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

@Suite("Programs that open a store of which they know less than others", .blocking)
struct ForeignSettingsTests {
  private static let concatenated = MergePolicy.custom { _, mine, theirs in
    guard case .string(let mine) = mine, case .string(let theirs) = theirs else { return theirs }
    return .string([mine, theirs].sorted().joined())
  }

  @Test("KV-11: A program that names no limits of uploads leaves those of others as they are")
  func limitsOfOthers() throws {
    let sandbox = try StoreSandbox()
    var configuration = sandbox.configuration()
    (configuration.uploadCountMax, configuration.uploadInterval) = (7, .seconds(60))
    let store = try sandbox.store("s", configuration)
    let other = try sandbox.store()
    try other.set(.integer(1), for: "k")
    store.engine.takeInNews()
    #expect(store.engine.read { $0.settings.uploadCountMax } == 7)
    #expect(other.engine.read { $0.settings.uploadInterval } == 60_000_000_000)
    var partly = sandbox.configuration()
    partly.uploadCountMax = 2
    let third = try sandbox.store("s", partly)
    #expect(third.engine.read { $0.settings.uploadCountMax } == 2)
    #expect(third.engine.read { $0.settings.uploadInterval } == 60_000_000_000)
    #expect(partly.uploadInterval == .seconds(12) && sandbox.configuration().uploadCountMax == 5)
  }

  @Test("A process without the function of a key doesn't write the journal anew, whose merged values it doesn't have")
  func compactionWithoutFunction() throws {
    let sandbox = try StoreSandbox()
    let directory = SystemPath(sandbox.path)
    func file(_ policy: MergePolicy, from lengthMin: Int) throws(KeyValueStoreError) -> ReplicaFile {
      try ReplicaFile.opened(in: directory, compactingFrom: lengthMin) { ReplicaCore($0) { _ in policy } }
    }
    var able = try file(Self.concatenated, from: 100_000)
    _ = try able.append(at: 1) { (_) in .configured(ReplicaSettings(policies: ["k": .custom])) }
    let empty = SharedBatch(items: [], acknowledgement: nil, isComplete: true, revision: 1)
    _ = try able.append(at: 2) { (_) in .received(empty) }
    _ = try able.append(at: 3) { (_) in .write([KeyWrite("k", .string("a"))], isForced: false) }
    let time = HybridTime(wall: 9, count: 0, replica: ReplicaID(rawValue: 9))
    let item = SharedItem(key: "k", value: .string("b"), time: time, revision: 2)
    let batch = SharedBatch(items: [item], acknowledgement: nil, isComplete: false, revision: 2)
    _ = try able.append(at: 4) { (_) in .received(batch) }
    #expect(able.core["k"] == .string("ab"))
    var other = try file(.lastWriter, from: 1)
    _ = try other.append(at: 5) { (_) in .write([KeyWrite("z", .integer(1))], isForced: false) }
    try able.catchUp()
    #expect(able.core["k"] == .string("ab") && able.core.keyWithoutFunction == nil)
    #expect(other.core.keyWithoutFunction == "k")
    #expect(try file(Self.concatenated, from: 1).core.values == ["k": .string("ab"), "z": .integer(1)])
  }

  @Test("A program without the function of a key leaves uploads to one that has it, and says so")
  func turnWithoutFunction() async throws {
    let sandbox = try StoreSandbox()
    let server = MemoryServer()
    var configuration = sandbox.configuration()
    configuration.account = "ann"
    var able = configuration
    able.policies = ["k": Self.concatenated]
    do { try sandbox.store("s", able).set(.string("a"), for: "k") }
    configuration.sharing = StoreSharing { (identity, _) in MemoryStorage(server: server, replica: identity.replica) }
    able.sharing = configuration.sharing
    let store = try sandbox.store("s", configuration)
    let wakeUp = WakeUp()
    store.engine.add(wakeUp)
    let end = HostClock.shared.now.advanced(by: .seconds(60))
    while store.status.failure == nil, server.state.withLock({ $0.items.isEmpty }), HostClock.shared.now < end {
      await wakeUp.wait(until: end, HostClock.shared)
    }
    #expect(store.status.failure?.message.contains("'k'") == true && !store.status.isSynchronizing)
    #expect(server.state.withLock { $0.items.isEmpty })
    let other = try sandbox.store("s", able)
    try await other.flush()
    #expect(server.state.withLock { $0.items["k"]?.value } == .string("a"))
    // A function that's stated later is as good.
    other.engine.end()
    try store.engine.define("k", Self.concatenated)
    #expect(store.engine.read { $0.keyWithoutFunction } == nil)
  }
}
