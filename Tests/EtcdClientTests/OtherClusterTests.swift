import EtcdClient
import SystemInterface
import Testing

/// Endpoints of one client that belong to different clusters.
@Suite("Endpoints of another cluster")
struct OtherClusterTests {
  private let now = MonotonicTime(nanoseconds: 0)
  private let limits = EtcdCallLimits(whole: .seconds(100), attempt: .seconds(1), attemptCountMax: 3)

  private func answer(of cluster: String?) -> CallCore.Event {
    .callEnded(.success(.object(["header": .object(cluster.map { ["cluster_id": .string($0)] } ?? [:])])))
  }

  /// Makes a call at the first endpoint that is asked, which answers as a member of a cluster.
  private func call(
    _ kind: CallCore.Kind, _ session: inout EtcdSession, answered cluster: String?
  ) -> (endpoint: Int?, order: CallCore.Order) {
    var core = CallCore(kind, limits, at: now)
    guard case .send(let endpoint, _, _) = core.start(session, at: now) else { return (nil, .pause(.zero)) }
    return (endpoint, core.take(answer(of: cluster), &session, at: now))
  }

  private func error(_ order: CallCore.Order) -> EtcdError? {
    if case .fail(let error) = order { return error }
    return nil
  }

  @Test("A write that an endpoint of another cluster takes is an error, and the next call goes elsewhere")
  func write() throws {
    var session = EtcdSession(endpointCount: 2, hasUser: false)
    _ = call(.once, &session, answered: "1")
    session.endpointFailed(0)
    let (endpoint, order) = call(.once, &session, answered: "2")
    let found = try #require(error(order))
    #expect(endpoint == 1 && found.code == .differentCluster && found.mayHaveBeenApplied)
    #expect(found.message.contains("endpoint 2 of 2"))
    let (next, succeeded) = call(.once, &session, answered: "1")
    #expect(next == 0 && error(succeeded) == nil)
  }

  @Test(
    "A read that an endpoint of another cluster answers is made at the next endpoint, and an error if there's no other")
  func read() throws {
    var session = EtcdSession(endpointCount: 2, hasUser: false)
    _ = call(.read, &session, answered: "1")
    session.endpointFailed(0)
    var core = CallCore(.read, limits, at: now)
    #expect(core.start(session, at: now) == .send(endpoint: 1, token: nil, limit: .seconds(1)))
    #expect(core.take(answer(of: "2"), &session, at: now) == .send(endpoint: 0, token: nil, limit: .seconds(1)))
    let refused = CallCore.Event.callEnded(.failure(EtcdError(.unavailable, "refused")))
    guard case .pause = core.take(refused, &session, at: now) else {
      Issue.record("no pause after both")
      return
    }
    #expect(core.take(.pauseEnded, &session, at: now) == .send(endpoint: 1, token: nil, limit: .seconds(1)))
    let found = try #require(error(core.take(answer(of: "2"), &session, at: now)))
    #expect(found.code == .differentCluster && !found.mayHaveBeenApplied)
  }

  @Test(
    "CE-07: The first stream of a watch at an endpoint of another cluster is an error, and the next one goes elsewhere")
  func watch() throws {
    var session = EtcdSession(endpointCount: 2, hasUser: false)
    _ = call(.once, &session, answered: "1")
    session.endpointFailed(0)
    var core = WatchCore(from: nil)
    #expect(core.start(session) == .open(endpoint: 1, token: nil, from: nil))
    #expect(core.take(.opened(nil), &session) == .read)
    var created = EtcdWatchMessage()
    (created.isCreated, created.clusterID) = (true, "2")
    guard case .fail(let found) = core.take(.message(created), &session) else {
      Issue.record("the watch goes on")
      return
    }
    #expect(found.code == .differentCluster && !found.mayHaveBeenApplied && found.message.contains("endpoint 2 of 2"))
    var next = WatchCore(from: nil)
    #expect(next.start(session) == .open(endpoint: 0, token: nil, from: nil))
    _ = next.take(.opened(nil), &session)
    created.clusterID = "1"
    if case .fail(let error) = next.take(.message(created), &session) { Issue.record("\(error)") }
  }

  @Test("A cluster that was made anew from a backup is the same for the client once a former member says so")
  func restored() {
    var session = EtcdSession(endpointCount: 3, hasUser: false)
    let answers: [(endpoint: Int, cluster: String?, isSame: Bool)] = [
      (0, "1", true), (1, "1", true), (2, "2", false), (1, "2", true), (2, "2", true), (0, "2", true),
      // An answer without the number is no news.
      (0, nil, true), (0, "3", true),
    ]
    for (endpoint, cluster, isSame) in answers {
      let found = session.answered(endpoint, as: cluster)
      #expect(found == isSame, "\(endpoint) \(cluster ?? "-")")
    }
  }
}
