import EtcdClient
import SystemInterface
import Testing

/// Every sequence of what servers can do with the attempts of one call.
///
/// ```
/// client   send ── lost before ──> pause, send elsewhere
///          send ── made, answer lost ──> only a call that may be repeated is sent again
/// ```
@Suite("Attempts of calls, all sequences")
struct CallCoreExplorationTests {
  enum Fate: CaseIterable {
    case answered, refusedConnection, lostBefore, lostAfter, unavailableBefore, unavailableAfter, tokenRefused, denied,
      busy
  }

  enum TokenFate: CaseIterable { case given, unreachable, wrongPassword }

  /// A cluster that counts how often the call was made; one with a name only makes it once.
  struct Cluster {
    var isNamed: Bool
    var madeCount = 0

    mutating func make() { if !isNamed || madeCount == 0 { madeCount += 1 } }

    mutating func answer(_ fate: Fate) -> Result<JSONValue, EtcdError> {
      switch fate {
      case .answered:
        make()
        return .success(.null)
      case .refusedConnection: return .failure(EtcdError(.unavailable, "refused"))
      case .lostBefore: return .failure(EtcdError(.timedOut, "lost", mayHaveBeenApplied: true))
      case .lostAfter:
        make()
        return .failure(EtcdError(.timedOut, "lost", mayHaveBeenApplied: true))
      case .unavailableBefore: return .failure(EtcdError(status: 503, grpcCode: 14, message: "etcdserver: no leader"))
      case .unavailableAfter:
        make()
        return .failure(EtcdError(status: 503, grpcCode: 14, message: "etcdserver: leader changed"))
      case .tokenRefused:
        return .failure(EtcdError(status: 401, grpcCode: 16, message: "etcdserver: invalid auth token"))
      case .denied: return .failure(EtcdError(status: 403, grpcCode: 7, message: "etcdserver: permission denied"))
      case .busy: return .failure(EtcdError(status: 429, grpcCode: 8, message: "etcdserver: too many requests"))
      }
    }
  }

  private struct Trace {
    var cluster: Cluster
    var sendCount = 0
    var renewalCount = 0
    var outcome: Result<JSONValue, EtcdError>?
  }

  private func run(
    _ kind: CallCore.Kind, endpointCount: Int, hasUser: Bool, _ choices: inout Choices
  ) -> Trace {
    let limits = EtcdCallLimits(whole: .seconds(100), attempt: .seconds(1), attemptCountMax: 3)
    var session = EtcdSession(endpointCount: endpointCount, hasUser: hasUser)
    var trace = Trace(cluster: Cluster(isNamed: kind == .repeatable))
    var now = MonotonicTime(nanoseconds: 1 << 40)
    var core = CallCore(kind, limits, at: now)
    var order = core.start(session, at: now)
    while true {
      let event: CallCore.Event
      switch order {
      case .send(let endpoint, let token, let limit):
        #expect(endpoint < endpointCount && (token != nil) == hasUser && limit <= .seconds(1))
        trace.sendCount += 1
        event = .callEnded(trace.cluster.answer(choices.pick(Fate.allCases)))
      case .authenticate:
        trace.renewalCount += 1
        let answer: Result<String, EtcdError> =
          switch choices.pick(TokenFate.allCases) {
          case .given: .success("t\(trace.renewalCount)")
          case .unreachable: .failure(EtcdError(.unavailable, "unreachable"))
          case .wrongPassword: .failure(EtcdError(.wrongPassword, "wrong"))
          }
        event = .authenticationEnded(answer)
      case .pause(let duration):
        now = now.advanced(by: duration)
        event = .pauseEnded
      case .succeed(let value):
        trace.outcome = .success(value)
        return trace
      case .fail(let error):
        trace.outcome = .failure(error)
        return trace
      }
      order = core.take(event, &session, at: now)
    }
  }

  @Test(
    "CE-08: a call is made once at most, and the result says whether it may have been made",
    arguments: [CallCore.Kind.once, .repeatable],
    [1, 2])
  func everySequence(kind: CallCore.Kind, endpointCount: Int) {
    for hasUser in [false, true] {
      let count = Choices.explore { choices in
        let trace = run(kind, endpointCount: endpointCount, hasUser: hasUser, &choices)
        #expect(trace.cluster.madeCount <= 1)
        #expect(trace.sendCount <= 4 && trace.renewalCount <= 5)
        switch trace.outcome {
        case .success: #expect(trace.cluster.madeCount == 1)
        case .failure(let error): if !error.mayHaveBeenApplied { #expect(trace.cluster.madeCount == 0) }
        case nil: Issue.record("no outcome")
        }
      }
      #expect(count > 50, "\(count) sequences")
    }
  }

  @Test("a read never says that it may have changed something")
  func reads() {
    _ = Choices.explore { choices in
      let trace = run(.read, endpointCount: 2, hasUser: false, &choices)
      if case .failure(let error) = trace.outcome { #expect(!error.mayHaveBeenApplied) }
    }
  }

  @Test("a call that's always answered too late ends at its limit, however many attempts are left")
  func limit() {
    let limits = EtcdCallLimits(whole: .seconds(10), attempt: .seconds(4), attemptCountMax: 1000)
    var session = EtcdSession(endpointCount: 2, hasUser: false)
    let start = MonotonicTime(nanoseconds: 0)
    var now = start
    var core = CallCore(.read, limits, at: now)
    var order = core.start(session, at: now)
    var endpoints: [Int] = []
    while true {
      let event: CallCore.Event
      switch order {
      case .send(let endpoint, _, let limit):
        endpoints.append(endpoint)
        now = now.advanced(by: limit)
        event = .callEnded(.failure(EtcdError(.timedOut, "late", mayHaveBeenApplied: true)))
      case .pause(let duration):
        now = now.advanced(by: duration)
        event = .pauseEnded
      case .fail(let error):
        #expect(error.code == .timedOut)
        #expect(endpoints == [0, 1, 0])
        #expect(start.duration(to: now) <= .seconds(10))
        return
      case .succeed, .authenticate:
        Issue.record("\(order)")
        return
      }
      order = core.take(event, &session, at: now)
    }
  }
}
