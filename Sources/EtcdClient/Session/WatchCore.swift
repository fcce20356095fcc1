/// A watch with its streams, as a value: events in, orders out.
///
/// A stream that breaks is replaced by one that begins behind the last revision of which the reader has everything. So the reader gets
/// each change of its range once and in order, or an error that says from which revision on changes are missing (CE-07).
package struct WatchCore: Sendable {
  /// An order to the runner.
  package enum Order: Hashable, Sendable {
    /// Open a stream at an endpoint, with a token, from a revision on; `nil` is now.
    case open(endpoint: Int, token: String?, from: Int64?)
    /// Ask an endpoint for a token.
    case authenticate(endpoint: Int)
    /// Wait for the next message of the stream.
    case read
    /// Ask for the last revision of the whole cluster: the server that answers the stream hasn't come as far as the reader.
    case askRevision
    /// Give a batch to the reader; then ask for the next order by ``proceed()``.
    case deliver(EtcdWatchBatch)
    /// Let go of the stream and wait.
    case pause(Duration)
    /// Let go of the stream; the watch is over.
    case fail(EtcdError)
  }

  /// An event.
  package enum Event: Hashable, Sendable {
    /// The stream is open, or why not.
    case opened(EtcdError?)
    /// A token was asked for.
    case authenticationEnded(Result<String, EtcdError>)
    /// A message came.
    case message(EtcdWatchMessage)
    /// The cluster's last revision was asked for.
    case revisionAsked(Result<Int64, EtcdError>)
    /// The stream has ended.
    case streamEnded(EtcdError)
    /// The pause is over.
    case pauseEnded
  }

  private enum Phase: Hashable, Sendable {
    /// Nothing was asked for; ends with ``start(_:)``.
    case new
    /// A stream was asked for, with a token; ends when it's open or refused.
    case opening(endpoint: Int, token: String?)
    /// A token was asked for; ends with the answer.
    case authenticating(endpoint: Int)
    /// The stream is read; ends when it breaks or the server ends the watch.
    case reading(endpoint: Int, token: String?)
    /// Ends with the pause.
    case pausing
    /// Final.
    case ended
  }

  private var phase = Phase.new
  /// The first revision that the reader misses; `nil` if it's whatever comes after the first stream is open.
  private var next: Int64?
  private var clusterID: String?
  /// How many streams in a row have brought nothing.
  private var failureCount = 0
  /// How many tokens in a row were refused.
  private var refusalCount = 0

  /// Begins a watch.
  ///
  /// - Parameter revision: The first revision to report; `nil` for changes from now on.
  package init(from revision: Int64?) { next = revision }

  /// Gives the first order.
  package mutating func start(_ session: EtcdSession) -> Order {
    precondition(phase == .new, "a watch starts once")
    return open(session)
  }

  /// Gives the order after a delivery.
  package func proceed() -> Order {
    guard case .reading = phase else { preconditionFailure("proceed in \(phase)") }
    return .read
  }

  /// Takes the event that the last order has led to, and gives the next order.
  package mutating func take(_ event: Event, _ session: inout EtcdSession) -> Order {
    switch (phase, event) {
    case (.opening(let endpoint, let token), .opened(nil)):
      phase = .reading(endpoint: endpoint, token: token)
      return .read
    case (.opening(let endpoint, let token), .opened(let error?)): return broken(error, endpoint, token, &session)
    case (.authenticating, .authenticationEnded(.success(let token))):
      session.authenticated(token)
      return open(session)
    case (.authenticating(let endpoint), .authenticationEnded(.failure(let error))):
      return broken(error, endpoint, nil, &session)
    case (.reading(let endpoint, let token), .message(let message)): return arrived(message, endpoint, token, &session)
    case (.reading(let endpoint, let token), .revisionAsked(let result)):
      switch result {
      case .success(let revision): return asked(revision)
      case .failure(let error): return broken(error, endpoint, token, &session)
      }
    case (.reading(let endpoint, let token), .streamEnded(let error)): return broken(error, endpoint, token, &session)
    case (.pausing, .pauseEnded): return open(session)
    case (.new, _), (.opening, _), (.authenticating, _), (.reading, _), (.pausing, _), (.ended, _):
      preconditionFailure("\(event) in \(phase)")
    }
  }

  private mutating func open(_ session: EtcdSession) -> Order {
    let endpoint = session.preferred
    if session.hasUser, session.token == nil {
      phase = .authenticating(endpoint: endpoint)
      return .authenticate(endpoint: endpoint)
    }
    phase = .opening(endpoint: endpoint, token: session.token)
    return .open(endpoint: endpoint, token: session.token, from: next)
  }

  /// How often each server may answer as etcd doesn't before the first one has answered as it should.
  private static let strangeAnswerCountMax = 5

  private mutating func fail(_ error: EtcdError) -> Order {
    phase = .ended
    var error = error
    // It's about reading.
    error.mayHaveBeenApplied = false
    return .fail(error)
  }
}

// MARK: - Messages

extension WatchCore {
  private mutating func arrived(
    _ message: EtcdWatchMessage, _ endpoint: Int, _ token: String?, _ session: inout EtcdSession
  ) -> Order {
    if let clusterID, let other = message.clusterID, other != clusterID {
      return fail(EtcdError(.differentCluster, "the watch was resumed at an endpoint of another cluster"))
    }
    if clusterID == nil, !session.answered(endpoint, as: message.clusterID) {
      session.endpointFailed(endpoint)
      return fail(
        EtcdError(
          .differentCluster,
          "endpoint \(endpoint + 1) of \(session.endpointCount) belongs to another cluster than the others. Take it from the configuration, "
            + "or make a new client if the cluster was made anew"))
    }
    clusterID = clusterID ?? message.clusterID
    if message.isCanceled { return canceled(message, endpoint, token, &session) }
    refusalCount = 0
    if message.isCreated {
      // Everything before was never asked for, so a reader that watches from now on knows where it stands.
      guard let next else { return deliver(upTo: message.revision, []) }
      return message.revision + 1 < next ? .askRevision : .read
    }
    // Not before: a server that ends each stream as soon as it has begun isn't asked again at once.
    failureCount = 0
    let missed = next ?? 0
    // A server repeats changes of a stream that was replaced only by mistake; reporting them twice would be ours.
    let changes = message.changes.filter { $0.revision >= missed }
    if let last = message.changes.last {
      return changes.isEmpty ? .read : deliver(upTo: last.revision, changes)
    }
    // Time has passed: the server says up to which revision there was nothing else. Another server may be behind.
    return message.revision >= missed ? deliver(upTo: message.revision, []) : .read
  }

  /// One server may be behind the others; all of them together never are, unless they have lost what they had.
  private mutating func asked(_ revision: Int64) -> Order {
    guard let next, revision + 1 < next else { return .read }
    return fail(
      EtcdError(
        .futureRevision,
        "the last revision is \(revision), and changes up to \(next - 1) were reported: the servers were restored from a backup, or are others; read everything, and watch from there"
      ))
  }

  private mutating func deliver(upTo revision: Int64, _ changes: [EtcdChange]) -> Order {
    next = revision + 1
    return .deliver(EtcdWatchBatch(revision: revision, changes: changes))
  }

  private mutating func canceled(
    _ message: EtcdWatchMessage, _ endpoint: Int, _ token: String?, _ session: inout EtcdSession
  ) -> Order {
    if message.compactRevision > 0 {
      let text =
        "changes from revision \(next ?? 0) on are missing, because the store was compacted; read everything, and watch from there"
      return fail(EtcdError(.compacted, text, compactRevision: message.compactRevision))
    }
    var error = EtcdError(status: 200, grpcCode: 0, message: message.cancelReason)
    if error.code == .other { error.code = .watchRefused }
    error.mayHaveBeenApplied = false
    return broken(error, endpoint, token, &session)
  }

  private mutating func broken(
    _ error: EtcdError, _ endpoint: Int, _ token: String?, _ session: inout EtcdSession
  ) -> Order {
    if error.code == .tokenRefused, session.hasUser {
      session.tokenRefused(token)
      if refusalCount > 0 { return fail(error) }
      refusalCount += 1
      return open(session)
    }
    guard error.isTransient else { return fail(error) }
    // There may be a proxy in front of one server, or of all as they start; but something that has never answered as etcd does is something else.
    if error.code == .invalidAnswer, clusterID == nil,
      failureCount >= Self.strangeAnswerCountMax * session.endpointCount
    {
      return fail(error)
    }
    session.endpointFailed(endpoint)
    let pause = EtcdCallLimits.pause(round: failureCount)
    failureCount += 1
    // The first one after a stream that worked is opened at once.
    if failureCount == 1, session.endpointCount > 1 { return open(session) }
    phase = .pausing
    return .pause(pause)
  }
}
