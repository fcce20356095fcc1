package import EtcdClient
import HTTPTestSupport
import HTTPTransport
package import SystemInterface

/// An etcd in memory behind the gateway's messages: revisions, history, transactions, leases, watches, compaction, and faults at any call.
///
/// It answers as the facts about servers say. Leases end only when a test says so.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock | calls come from any task, and messages of watches leave in the order of the revisions |
package final class ScriptedEtcd: Sendable {
  /// The fate of a call.
  package enum Fault: Hashable, Sendable {
    case none
    /// It doesn't arrive, and the client can't know.
    case requestIsLost
    /// It's carried out, and the answer is lost.
    case answerIsLost
    /// The connection is lost, and the request arrives with ``ScriptedEtcd/deliverLate()``.
    case requestIsLate
    /// Nobody listens.
    case refused
    /// It's carried out, and the answer is that there's no space.
    case hasNoSpace
    /// It's refused because of its size.
    case isTooLarge
  }

  struct Watch: Sendable {
    var keys: EtcdKeyRange
    var hasPuts: Bool
    var hasDeletes: Bool
    var exchange: ScriptedExchange
  }

  struct State: Sendable {
    var revision: Int64 = 1
    var compacted: Int64 = 0
    var store: [EtcdBytes: EtcdKeyValue] = [:]
    /// The store at each revision since the last compaction.
    var snapshots: [Int64: [EtcdBytes: EtcdKeyValue]] = [1: [:]]
    var history: [(revision: Int64, changes: [EtcdChange])] = []
    var leases: Set<Int64> = []
    var leaseCount: Int64 = 0
    var watches: [Watch] = []
    var late: [(path: String, body: JSONValue)] = []
    var fault: @Sendable (String) -> Fault = { _ in .none }
    /// How many calls there were, for each path.
    var callCounts: [String: Int] = [:]
  }

  let state = Guarded(State())
  package let clock: any CoordinationClock

  package init(clock: any CoordinationClock) { self.clock = clock }

  /// A client of it.
  package func client(_ alter: (inout EtcdClient.Configuration) -> Void = { _ in }) -> EtcdClient {
    client(leaseTime: { [clock] in clock.now }, alter)
  }

  /// A client that counts its leases on another time than that of the clock.
  package func client(
    leaseTime: @escaping @Sendable () -> MonotonicTime, _ alter: (inout EtcdClient.Configuration) -> Void
  ) -> EtcdClient {
    var configuration = EtcdClient.Configuration(endpoints: [EtcdEndpoint("http://etcd")])
    alter(&configuration)
    let transport = ScriptedTransport(clock: clock) { request, exchange in self.answer(request, exchange) }
    return EtcdClient(configuration, transport: transport, clock: clock, leaseTime: leaseTime)
  }

  // MARK: - Faults

  /// Chooses the fault of each call by the end of its path, such as `kv/range`; `kv/txn:write` is a transaction that may write.
  package func setFault(_ fault: @escaping @Sendable (String) -> Fault) { state.withLock { $0.fault = fault } }

  /// Carries out the requests that came late, in their order.
  package func deliverLate() {
    state.withLock { state in
      let late = state.late
      state.late = []
      for call in late { _ = state.execute(call.path, call.body) }
    }
  }

  /// Ends all streams.
  package func cutWatches() {
    state.withLock { state in
      for watch in state.watches { watch.exchange.perform(.end(HTTPTransportError(.connectionLost, "cut"))) }
      state.watches = []
    }
  }

  /// Forgets everything before a revision, the last one if it's `nil`.
  package func compact(_ revision: Int64? = nil) {
    state.withLock { state in
      state.compacted = revision ?? state.revision
      let compacted = state.compacted
      state.history.removeAll { $0.revision < compacted }
      state.snapshots = state.snapshots.filter { $0.key >= compacted }
    }
  }

  /// Ends a lease as time would.
  package func expire(_ lease: EtcdLeaseID) { state.withLock { _ = $0.endLease(lease.number) } }

  // MARK: - What's there

  package var revision: Int64 { state.withLock { $0.revision } }
  package var keys: [EtcdKeyValue] { state.withLock { $0.store.values.sorted { $0.key < $1.key } } }
  package var leases: Set<Int64> { state.withLock { $0.leases } }
  package var watchCount: Int { state.withLock { $0.watches.count { !$0.exchange.isEnded } } }

  /// How many calls of a kind there were.
  package func callCount(_ path: String) -> Int { state.withLock { $0.callCounts[path] ?? 0 } }

  /// Writes a key beside all clients.
  package func put(_ key: EtcdBytes, _ value: EtcdBytes) {
    let message = JSONValue.object(["key": .bytes(key.bytes), "value": .bytes(value.bytes)])
    state.withLock { _ = $0.execute("kv/put", message) }
  }

  /// Removes a key beside all clients.
  package func delete(_ key: EtcdBytes) {
    state.withLock { _ = $0.execute("kv/deleterange", .object(["key": .bytes(key.bytes)])) }
  }

  // MARK: - Calls

  private func answer(_ request: HTTPRequest, _ exchange: ScriptedExchange) {
    let path = String(request.url.dropFirst("http://etcd/v3/".count))
    guard let body = try? JSONParser.parse((request.body ?? [])[...]) else {
      return exchange.respond(400, "{\"code\":3,\"message\":\"no JSON\"}")
    }
    state.withLock { state in
      state.callCounts[path, default: 0] += 1
      let mayWrite = path == "kv/txn" && !State.puts(body).isEmpty
      let fault = state.fault(mayWrite ? "kv/txn:write" : path)
      switch fault {
      case .refused: exchange.perform(.end(HTTPTransportError(.cannotConnect, "refused", isUnsent: true)))
      case .isTooLarge:
        let answer = ScriptedAnswer.error(400, 3, "request is too large")
        exchange.respond(answer.status, String(decoding: answer.body.encoded, as: UTF8.self))
      case .requestIsLost: exchange.perform(.end(HTTPTransportError(.connectionLost, "cut")))
      case .requestIsLate:
        state.late.append((path, body))
        exchange.perform(.end(HTTPTransportError(.connectionLost, "cut")))
      case .none, .answerIsLost, .hasNoSpace:
        if path == "watch" { return state.watch(body["create_request"], exchange) }
        var answer = state.execute(path, body)
        if fault == .hasNoSpace { answer = .error(429, 8, "mvcc: database space exceeded") }
        if fault == .answerIsLost {
          exchange.perform(.end(HTTPTransportError(.connectionLost, "cut")))
        } else {
          exchange.respond(answer.status, String(decoding: answer.body.encoded, as: UTF8.self))
        }
      }
    }
  }
}
