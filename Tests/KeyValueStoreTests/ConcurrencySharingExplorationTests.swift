import Foundation
import KeyValueReplicas
import SeededRandom
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// The real stores, files and synchronizers of several devices at a server in memory whose answers get lost, whose streams break and
/// which is away at times: beside a plain record of what was written.
@Suite("Devices in any order of writes, failures and ends: Concurrency", .blocking, .timeLimit(.minutes(8)))
struct ConcurrencySharingExplorationTests {
  private final class World {
    var random: SplitMix
    let sandbox: StoreSandbox
    let server = MemoryServer()
    /// Two stores of the first device, as of two programs, and one of each other.
    var stores: [KeyValueStore?]
    /// The last value that each key was given, by its place in the order of all writes.
    var counts: [String: Int64] = [:]
    var heard: [StoreListener] = []

    static let homes = ["a", "a", "b", "c"]
    static let keys = ["k", "l", "m"]

    init(_ seed: UInt64) throws {
      random = SplitMix(seed: seed)
      sandbox = try StoreSandbox()
      stores = Self.homes.map { _ in nil }
      for index in stores.indices { stores[index] = try open(index) }
    }

    func open(_ index: Int) throws(KeyValueStoreError) -> KeyValueStore {
      var configuration = sandbox.configuration(Self.homes[index])
      configuration.account = "me"
      configuration.sharing = server.sharing
      configuration.uploadInterval = .zero
      configuration.policies = ["sum": .counter, "set": .union]
      return try sandbox.store("s", configuration)
    }

    func step() throws {
      let index = random.below(stores.count)
      switch random.below(12) {
      case 0, 1, 2:
        let key = random.pick(Self.keys)
        let value = random.chance(1, in: 5) ? nil : StoredValue.integer(Int64(random.below(1_000)))
        try stores[index]?.set(value, for: key)
      case 3, 4: try add(index)
      case 5:
        // Keys that are always equal.
        let value = StoredValue.integer(Int64(random.below(1_000)))
        try stores[index]?.transaction { (transaction) throws(KeyValueStoreError) in
          (transaction["left"], transaction["right"]) = (value, value)
        }
      case 6: server.change { $0.lostAnswerCount += 1 }
      case 7: server.change { $0.cutCount += 1 }
      case 8: server.change { $0.compactedRevision = $0.revision }
      case 9: stores[index] = nil
      case 10: if stores[index] == nil { stores[index] = try open(index) }
      default:
        let pair = stores[index]?.dictionary
        #expect(pair?["left"] == pair?["right"])
      }
    }

    /// Counts on one device; the sum of all is to be there in the end.
    private func add(_ index: Int) throws {
      guard let store = stores[index] else { return }
      let amount = Int64(1 + random.below(9))
      try store.transaction { (transaction) throws(KeyValueStoreError) in
        guard case .integer(let sum) = transaction["sum"] ?? .integer(0) else { return }
        transaction["sum"] = .integer(sum + amount)
      }
      counts["sum", default: 0] += amount
    }

    private var sharedValues: [String: StoredValue] {
      server.state.withLock { $0.items.compactMapValues(\.value) }
    }

    /// Whether a device has nothing that it would still alter, or that the others don't have.
    private func isSettled(_ store: KeyValueStore, _ shared: [String: StoredValue]) -> Bool {
      store.pendingKeys.isEmpty && store.status.hasInitialValues && store.dictionary == shared
    }

    /// Everything is uploaded, and all have the same.
    func settle() async throws {
      server.change { state in
        state.lostAnswerCount = 0
        state.compactedRevision = 0
      }
      for index in stores.indices where stores[index] == nil { stores[index] = try open(index) }
      let all = stores.compactMap(\.self)
      let wakeUp = WakeUp()
      for store in all { store.engine.add(wakeUp) }
      let end = HostClock.shared.now.advanced(by: .seconds(60))
      while HostClock.shared.now < end {
        for store in all { store.engine.takeInNews() }
        // At one moment: a device that's looked at later may be ahead of one that was looked at before.
        let shared = sharedValues
        if all.allSatisfy({ isSettled($0, shared) }) { break }
        await wakeUp.wait(until: end, HostClock.shared)
      }
      let shared = sharedValues
      for store in all {
        #expect(isSettled(store, shared), "\(store.status)")
        #expect(store["left"] == store["right"])
        #expect(store["sum"] == counts["sum"].map(StoredValue.integer))
      }
    }
  }

  @Test(
    "CK-15, CK-16, CK-18, CK-23, CK-24: In the end all devices have the same, every addition counts once",
    arguments: Budget.seeds(normal: 10, long: 150, complete: 1_000))
  func devices(seed: UInt64) async throws {
    let world = try World(seed)
    for _ in 0..<40 { try world.step() }
    try await world.settle()
  }
}
