import EtcdClient
import EtcdKeyValues
import EtcdTestSupport
import KeyValueReplicas
import SharedStorageContract
import SystemInterface

/// An etcd in memory as a place that replicas share.
struct ScriptedPlace: SharedPlace {
  let etcd: ScriptedEtcd
  /// The fault of the next transaction that writes.
  private let fault = Guarded<UploadFault?>(nil)

  init() {
    etcd = ScriptedEtcd(clock: HostClock.shared)
    etcd.setFault { [fault] path in
      // The first transaction of an upload only reads; the client repeats it by itself.
      guard path == "kv/txn:write" else { return .none }
      return fault.withLock { fault in
        defer { fault = nil }
        switch fault {
        case nil: return .none
        case .answerIsLost?: return .answerIsLost
        case .requestIsLost?: return .requestIsLost
        case .requestIsLate?: return .requestIsLate
        }
      }
    }
  }

  /// A client whose calls end only by an answer: a task may get its turn late on a busy machine, and these are no tests of limits.
  func client(_ alter: (inout EtcdClient.Configuration) -> Void = { _ in }) -> EtcdClient {
    etcd.client { configuration in
      configuration.callLimit = .seconds(3_600)
      configuration.attemptLimit = .seconds(3_600)
      alter(&configuration)
    }
  }

  func storage(_ replica: ReplicaID, _ limits: StoreLimits) -> EtcdStorage {
    EtcdStorage(client: client(), account: "a", store: "s", replica: replica, limits: limits, pageSize: 3)
  }

  func prepare(_ fault: UploadFault) async { self.fault.withLock { $0 = fault } }
  func deliverLate() async { etcd.deliverLate() }
  func forgetHistory() async { etcd.compact() }
  func cutStreams() async { etcd.cutWatches() }
}
