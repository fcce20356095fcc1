import EtcdClient
import EtcdKeyValues
import EtcdTestSupport
import Foundation
import HTTPTestSupport
import KeyValueReplicas
import SeededRandom
import SharedStorageContract
import SystemInterface
import TestSupport
import Testing

/// Real servers as a place that replicas share, behind a proxy that cuts connections.
private final class ServerPlace: SharedPlace {
  struct Failure: Error {}

  let cluster: EtcdCluster
  let client: EtcdClient
  private let proxies: [LoopbackProxy]

  init(count: Int = 1) async throws {
    cluster = try EtcdCluster(count: count)
    proxies = try cluster.endpoints.map { endpoint in
      guard let port = endpoint.url.split(separator: ":").last.flatMap({ Int($0) }), let proxy = LoopbackProxy(to: port)
      else { throw Failure() }
      return proxy
    }
    var configuration = EtcdClient.Configuration(
      endpoints: proxies.map { EtcdEndpoint("http://127.0.0.1:\($0.port)") })
    configuration.callLimit = .seconds(30)
    configuration.attemptLimit = .seconds(3)
    configuration.attemptCountMax = 10_000
    configuration.watchSilenceMax = .seconds(4)
    client = try EtcdClient(configuration)
    _ = try await client.get("ready")
  }

  deinit { for proxy in proxies { proxy.close() } }

  func storage(_ replica: ReplicaID, _ limits: StoreLimits) -> EtcdStorage {
    EtcdStorage(client: client, account: "a", store: "s", replica: replica, limits: limits, pageSize: 5)
  }

  /// The answer to the upload, or to what it reads before, is cut in its middle; or a server is killed and started again.
  func prepare(_ fault: UploadFault) async {
    switch fault {
    case .answerIsLost: for proxy in proxies { proxy.cut(after: 40) }
    case .requestIsLost: for proxy in proxies { proxy.cut(after: 700) }
    case .requestIsLate:
      let index = Int.random(in: 0..<cluster.endpoints.count)
      cluster.kill(index)
      try? cluster.start(index)
    }
  }

  func forgetHistory() async {
    guard let revision = try? await client.range(.key("ready")).revision else { return }
    _ = try? await cluster.post("/v3/kv/compaction", "{\"revision\":\"\(revision)\"}")
  }

  func cutStreams() async { for proxy in proxies { proxy.cut() } }
}

/// The place of key-value stores at real servers.
@Suite(
  "Place of key-value stores at real servers", .blocking, .serialized, .timeLimit(.minutes(4)),
  .enabled(if: EtcdCluster.isInstalled, "there's no program 'etcd'; Debian's package is 'etcd-server'"))
struct EtcdStorageServerTests {
  @Test("CE-07, CE-08: It keeps what every shared place promises")
  func contract() async throws {
    for clause in StorageClause.allCases { try await clause.check(try await ServerPlace()) }
  }

  @Test(
    "CE-07, CE-08, CE-09: While connections are cut, the history is compacted and servers are killed, all replicas end with the same values and each write counts once",
    arguments: [1, 3])
  func faults(count: Int) async throws {
    for seed in Budget.seeds(normal: count == 1 ? 4 : 2, long: 20) {
      var run = try await ReplicaRun(at: try await ServerPlace(count: count), seed: seed)
      try await run.run()
      #expect(run.problem == nil, "seed \(seed)")
    }
  }

  @Test("CE-10: Without enough servers an upload ends within its limit, and says that it may have been carried out")
  func noQuorum() async throws {
    let cluster = try EtcdCluster(count: 3)
    let patient = try cluster.client()
    _ = try await patient.get("ready")
    let client = try cluster.client {
      $0.callLimit = .seconds(3); $0.attemptLimit = .seconds(1)
    }
    let storage = EtcdStorage(client: client, account: "a", store: "s", replica: ReplicaID(rawValue: 1))
    let item = Upload.Item(
      key: "a", value: .integer(1), time: HybridTime(wall: 1, count: 0, replica: ReplicaID(rawValue: 1)),
      expectedRevision: 0, sequence: 1)
    let upload = Upload(id: 1, items: [item], expectedAcknowledgement: 0)
    cluster.send(SIGSTOP, to: 0)
    cluster.send(SIGSTOP, to: 1)
    let begin = MonotonicTime.host()
    do throws(SharedStorageFailure) {
      #expect(try await storage.upload(upload) == .unknown)
    } catch { #expect(error.kind == .unreachable) }
    #expect(begin.duration(to: .host()) < .seconds(10))
    cluster.send(SIGCONT, to: 0)
    cluster.send(SIGCONT, to: 1)
    let later = EtcdStorage(client: patient, account: "a", store: "s", replica: ReplicaID(rawValue: 1))
    var all = try await later.readAll()
    if all.acknowledgement == nil {
      #expect(try await later.upload(upload) != .overQuota)
      all = try await later.readAll()
    }
    #expect(all.items.map(\.key) == ["a"] && all.acknowledgement?.upload == 1)
  }
}
