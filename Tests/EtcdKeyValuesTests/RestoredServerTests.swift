import EtcdClient
import EtcdKeyValues
import EtcdTestSupport
import Foundation
import KeyValueReplicas
import SystemInterface
import TestSupport
import Testing

@testable import KeyValueStore

/// A server whose data are taken from a backup, or lost, while devices have later values.
@Suite(
  "Restored server of key-value stores (real servers)", .blocking, .serialized, .timeLimit(.minutes(3)),
  .enabled(if: EtcdCluster.isInstalled, "there's no program 'etcd'; Debian's package is 'etcd-server'"))
struct RestoredServerTests {
  private func device(_ home: String, _ cluster: EtcdCluster, clockOffset: Duration = .zero) throws -> KeyValueStore {
    var configuration = KeyValueStore.Configuration()
    configuration.directory = home
    configuration.account = "ann"
    configuration.uploadInterval = .zero
    configuration.sharing = .etcd(try cluster.client())
    let offset = clockOffset.wholeNanoseconds
    return try KeyValueStore("s", configuration, files: HostFileSystem(), now: { HostWallClock.now + offset })
  }

  private func wait(for values: [String: StoredValue], in store: KeyValueStore) async {
    let wakeUp = WakeUp()
    store.engine.add(wakeUp)
    let end = HostClock.shared.now.advanced(by: .seconds(60))
    while store.dictionary != values, HostClock.shared.now < end {
      await wakeUp.wait(until: end, HostClock.shared)
    }
    #expect(store.dictionary == values, "\(store.status)")
  }

  @Test("Devices bring back what it has lost, without any new write", arguments: [false, true])
  func restored(isEmpty: Bool) async throws {
    let cluster = try EtcdCluster(count: 1)
    let place = FileManager.default.temporaryDirectory.appending(path: "RestoredServer.\(UUID().uuidString)").path
    defer { removeSurely(place) }
    let files = FileManager.default
    try files.createDirectory(atPath: place, withIntermediateDirectories: true)
    let (a, b) = (try device(place + "/a", cluster), try device(place + "/b", cluster))
    try a.set(1, for: "k")
    try a.set(1, for: "gone")
    try await a.flush()
    await wait(for: ["k": 1, "gone": 1], in: b)
    cluster.kill()
    if !isEmpty { try files.copyItem(atPath: cluster.path("0"), toPath: place + "/backup") }
    try cluster.start()
    try a.set(2, for: "k")
    try b.set("new", for: "l")
    try a.remove("gone")
    try await a.flush()
    try await b.flush()
    let values: [String: StoredValue] = ["k": 2, "l": "new"]
    await wait(for: values, in: a)
    await wait(for: values, in: b)
    cluster.kill()
    try files.removeItem(atPath: cluster.path("0"))
    if !isEmpty { try files.moveItem(atPath: place + "/backup", toPath: cluster.path("0")) }
    try cluster.start()
    let fresh = try device(place + "/c", cluster)
    await wait(for: values, in: fresh)
    try b.set(3, for: "after")
    try await b.flush()
    let all = values.merging(["after": 3]) { $1 }
    for store in [a, b, fresh] { await wait(for: all, in: store) }
    #expect(a.status.failure == nil && a.pendingKeys.isEmpty && a.losses.isEmpty)
  }

  @Test("CK-22: A write that was made later, knowing the other one, wins, though clocks are hours apart")
  func clocks() async throws {
    let cluster = try EtcdCluster(count: 1)
    let place = FileManager.default.temporaryDirectory.appending(path: "Clocks.\(UUID().uuidString)").path
    defer { removeSurely(place) }
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let stores = try [Duration.seconds(3600), .zero, .seconds(-3600)].enumerated().map { index, offset in
      try device("\(place)/\(index)", cluster, clockOffset: offset)
    }
    for round in 0..<6 {
      let writer = stores[round % 3]
      try writer.set(.integer(Int64(round)), for: "k")
      try await writer.flush()
      for store in stores { await wait(for: ["k": .integer(Int64(round))], in: store) }
    }
    #expect(stores.allSatisfy { $0.losses.isEmpty && $0.pendingKeys.isEmpty })
  }
}
