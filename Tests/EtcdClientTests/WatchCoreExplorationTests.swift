import EtcdClient
import SeededRandom
import Testing

/// Every break of a watch at a small model of a server, and longer ones at random.
@Suite("Streams of watches, all breaks")
struct WatchCoreExplorationTests {
  /// A history in which some revisions change watched keys, some two of them, and some none.
  private struct Server {
    let history: [[EtcdChange]]
    var written: Int64
    var compacted: Int64 = 0
    /// The next revision that the stream sends.
    var streamNext: Int64 = 1

    init(revisionCount: Int64, written: Int64) {
      history = (1...revisionCount).map { revision in
        (0..<(revision % 3)).map { part in
          let key = EtcdBytes("k\(part)")
          if revision % 4 == 0 { return .delete(key, revision: revision, previous: nil) }
          let keyValue = EtcdKeyValue(key: key, value: "v", createRevision: 1, modRevision: revision, version: revision)
          return .put(keyValue, previous: nil)
        }
      }
      self.written = written
    }

    func changes(_ revisions: ClosedRange<Int64>) -> [EtcdChange] {
      revisions.flatMap { history[Int($0) - 1] }
    }

    func message(_ changes: [EtcdChange] = []) -> EtcdWatchMessage {
      var message = EtcdWatchMessage()
      message.clusterID = "7"
      message.revision = written
      message.changes = changes
      return message
    }
  }

  private enum Move: CaseIterable {
    case send, sendTwo, progress, cut, silentAndStale, write, compact, end
  }

  private struct Reader {
    var first: Int64?
    var reached: Int64?
    var changes: [EtcdChange] = []
    var error: EtcdError?
  }

  /// Lets the server make so many moves, chosen by `pick`.
  private func run(
    from revision: Int64?, moves: Int, revisionCount: Int64, endpointCount: Int, _ pick: ([Move]) -> Move
  ) -> (Reader, Server) {
    var server = Server(revisionCount: revisionCount, written: 2)
    var session = EtcdSession(endpointCount: endpointCount, hasUser: false)
    var reader = Reader(first: revision)
    var core = WatchCore(from: revision)
    var order = core.start(session)
    var pending: [EtcdWatchMessage] = []
    var movesLeft = moves
    let lost = EtcdError(.unavailable, "lost")
    while true {
      var event: WatchCore.Event
      switch order {
      case .open(_, _, let from):
        if let from {
          #expect(from == (reader.reached.map { $0 + 1 } ?? reader.first))
        } else {
          #expect(reader.reached == nil)
        }
        server.streamNext = from ?? server.written + 1
        if movesLeft > 0, pick([.send, .cut]) == .cut {
          movesLeft -= 1
          event = .opened(lost)
        } else {
          var created = server.message()
          created.isCreated = true
          pending = [created]
          if server.streamNext <= server.compacted {
            var canceled = server.message()
            canceled.isCanceled = true
            canceled.compactRevision = server.compacted + 1
            pending.append(canceled)
          }
          event = .opened(nil)
        }
      case .askRevision: event = .revisionAsked(.success(server.written))
      case .read:
        if !pending.isEmpty {
          event = .message(pending.removeFirst())
          break
        }
        if movesLeft == 0 { return (reader, server) }
        movesLeft -= 1
        event = .streamEnded(lost)
        switch pick(Move.allCases) {
        case .send, .sendTwo:
          let last = min(server.written, server.streamNext + 1)
          if server.streamNext <= last {
            let changes = server.changes(server.streamNext...last)
            server.streamNext = last + 1
            // Revisions without watched changes make no message.
            if changes.isEmpty { continue }
            event = .message(server.message(changes))
          } else {
            continue
          }
        case .progress:
          // Only a stream that has sent everything reports progress.
          if server.streamNext <= server.written, !server.changes(server.streamNext...server.written).isEmpty {
            continue
          }
          server.streamNext = max(server.streamNext, server.written + 1)
          event = .message(server.message())
        case .silentAndStale:
          // A member that hasn't all revisions yet says how far it is, at most what it has sent.
          var stale = server.message()
          stale.revision = min(1, server.streamNext - 1)
          event = .message(stale)
        case .cut: break
        case .write:
          server.written = min(revisionCount, server.written + 1)
          continue
        case .compact:
          server.compacted = server.written - 1
          continue
        case .end: return (reader, server)
        }
      case .deliver(let batch):
        if let reached = reader.reached { #expect(batch.revision > reached) }
        #expect(batch.changes.allSatisfy { $0.revision <= batch.revision })
        if reader.first == nil { reader.first = batch.revision + 1 }
        reader.reached = batch.revision
        reader.changes += batch.changes
        order = core.proceed()
        continue
      case .pause: event = .pauseEnded
      case .fail(let error):
        reader.error = error
        return (reader, server)
      case .authenticate:
        Issue.record("no user")
        return (reader, server)
      }
      order = core.take(event, &session)
    }
  }

  private func check(_ reader: Reader, _ server: Server) {
    if let first = reader.first, let reached = reader.reached, first <= reached {
      #expect(reader.changes == server.changes(first...reached), "gap or echo from \(first) to \(reached)")
    } else {
      #expect(reader.changes.isEmpty)
    }
    if let error = reader.error {
      #expect(error.code == .compacted && error.compactRevision != nil)
      // Only if the next change to report was really gone.
      #expect((reader.reached.map { $0 + 1 } ?? reader.first ?? 0) <= server.compacted)
    }
  }

  @Test(
    "CE-07: a watch reports every change once and in order, whatever breaks, or says that it can't",
    arguments: [nil, 1, 3] as [Int64?])
  func everyBreak(revision: Int64?) {
    let moves = Budget.isLong ? 6 : 4
    let count = Choices.explore { choices in
      let (reader, server) = run(from: revision, moves: moves, revisionCount: 6, endpointCount: 2) { choices.pick($0) }
      check(reader, server)
    }
    #expect(count > 1_000, "\(count) runs")
  }

  @Test("CE-07: long watches with many breaks", arguments: Budget.seeds(normal: 200, long: 3_000, complete: 20_000))
  func random(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let (reader, server) = run(from: 1, moves: 200, revisionCount: 120, endpointCount: 3) { moves in
      let move = random.pick(moves)
      return move == .end || (move == .compact && !random.chance(1, in: 30)) ? .write : move
    }
    check(reader, server)
  }

  @Test("a token that has expired is renewed once; one that's refused at once ends the watch")
  func tokens() {
    var session = EtcdSession(endpointCount: 1, hasUser: true)
    var core = WatchCore(from: 5)
    let refused = EtcdError(status: 401, grpcCode: 16, message: "etcdserver: invalid auth token")
    #expect(core.start(session) == .authenticate(endpoint: 0))
    #expect((core.take(.authenticationEnded(.success("a")), &session)) == .open(endpoint: 0, token: "a", from: 5))
    #expect((core.take(.opened(refused), &session)) == .authenticate(endpoint: 0))
    #expect((core.take(.authenticationEnded(.success("b")), &session)) == .open(endpoint: 0, token: "b", from: 5))
    guard case .fail(let error) = core.take(.opened(refused), &session) else {
      Issue.record("goes on")
      return
    }
    #expect(error.code == .tokenRefused)
  }

  @Test("a watch that the server refuses, or that's resumed at another cluster, ends with the reason")
  func refusals() {
    var session = EtcdSession(endpointCount: 1, hasUser: false)
    var message = EtcdWatchMessage()
    message.clusterID = "1"
    message.isCreated = true
    for (isCanceled, reason, cluster, code) in [
      (true, "etcdserver: permission denied", "1", EtcdError.Code.permissionDenied),
      (true, "why not", "1", .watchRefused),
      (false, "", "2", .differentCluster),
    ] {
      var core = WatchCore(from: 1)
      _ = core.start(session)
      _ = core.take(.opened(nil), &session)
      #expect((core.take(.message(message), &session)) == .read)
      var last = message
      (last.isCanceled, last.cancelReason, last.clusterID) = (isCanceled, reason, cluster)
      guard case .fail(let error) = core.take(.message(last), &session) else {
        Issue.record("goes on")
        continue
      }
      #expect(error.code == code)
    }
  }

  @Test("a watch whose servers were restored from a backup ends, and one server that's behind the others is waited for")
  func setBack() {
    var session = EtcdSession(endpointCount: 1, hasUser: false)
    var behind = EtcdWatchMessage()
    (behind.isCreated, behind.revision) = (true, 5)
    for (revision, isOver) in [(5, true), (8, true), (9, false), (12, false)] as [(Int64, Bool)] {
      var core = WatchCore(from: 10)
      _ = core.start(session)
      _ = core.take(.opened(nil), &session)
      #expect(core.take(.message(behind), &session) == .askRevision)
      switch core.take(.revisionAsked(.success(revision)), &session) {
      case .fail(let error): #expect(isOver && error.code == .futureRevision)
      case let order: #expect(!isOver && order == .read)
      }
    }
    var core = WatchCore(from: 10)
    _ = core.start(session)
    _ = core.take(.opened(nil), &session)
    _ = core.take(.message(behind), &session)
    let lost = EtcdError(.unavailable, "lost")
    #expect(core.take(.revisionAsked(.failure(lost)), &session) == .pause(.milliseconds(25)))
  }

  @Test("a watch of something that isn't etcd ends, unless it was etcd before")
  func strangers() {
    let strange = EtcdError(.invalidAnswer, "HTML")
    for isKnown in [false, true] {
      var session = EtcdSession(endpointCount: 2, hasUser: false)
      var core = WatchCore(from: 1)
      var order = core.start(session)
      if isKnown {
        var created = EtcdWatchMessage()
        (created.isCreated, created.clusterID) = (true, "7")
        _ = core.take(.opened(nil), &session)
        _ = core.take(.message(created), &session)
        order = core.take(.streamEnded(strange), &session)
      }
      var count = 0
      var failure: EtcdError?
      while failure == nil, count < 100 {
        switch order {
        case .open: order = core.take(.opened(strange), &session)
        case .pause: order = core.take(.pauseEnded, &session)
        case .fail(let error): failure = error
        default: Issue.record("\(order)")
        }
        count += 1
      }
      #expect(failure?.code == (isKnown ? nil : .invalidAnswer) && failure?.mayHaveBeenApplied != true)
    }
  }

  @Test("a server that ends each stream as soon as it has begun is asked again ever more slowly")
  func pauses() {
    var session = EtcdSession(endpointCount: 1, hasUser: false)
    var core = WatchCore(from: 1)
    var created = EtcdWatchMessage()
    created.isCreated = true
    _ = core.start(session)
    var pauses: [Duration] = []
    for _ in 0..<9 {
      _ = core.take(.opened(nil), &session)
      _ = core.take(.message(created), &session)
      guard case .pause(let pause) = core.take(.streamEnded(EtcdError(.unavailable, "cut")), &session) else {
        Issue.record("no pause")
        return
      }
      pauses.append(pause)
      _ = core.take(.pauseEnded, &session)
    }
    #expect(pauses == [25, 50, 100, 200, 400, 800, 1600, 1600, 1600].map { Duration.milliseconds($0) })
  }
}
