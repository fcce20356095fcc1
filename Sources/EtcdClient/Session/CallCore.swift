package import SystemInterface

/// One call with its attempts, as a value: events in, orders out.
package struct CallCore: Sendable {
  /// Whether a call may be made a second time when the outcome of the first isn't known.
  package enum Kind: Hashable, Sendable {
    /// It changes nothing.
    case read
    /// It has a name by which the server recognises it, or makes no difference the second time.
    case repeatable
    /// It's sent again only if it certainly wasn't made.
    case once
  }

  /// An order to the runner.
  package enum Order: Hashable, Sendable {
    /// Send the call to an endpoint, with a token; it may take so long.
    case send(endpoint: Int, token: String?, limit: Duration)
    /// Ask an endpoint for a token.
    case authenticate(endpoint: Int, limit: Duration)
    /// Wait.
    case pause(Duration)
    /// The call has succeeded.
    case succeed(JSONValue)
    /// The call has failed.
    case fail(EtcdError)
  }

  /// An event.
  package enum Event: Hashable, Sendable {
    /// The call was sent and is over.
    case callEnded(Result<JSONValue, EtcdError>)
    /// A token was asked for.
    case authenticationEnded(Result<String, EtcdError>)
    /// The pause is over.
    case pauseEnded
  }

  private enum Phase: Hashable, Sendable {
    /// Nothing was asked for; ends with ``start(_:at:)``.
    case new
    /// The call is at an endpoint, with a token; ends with its answer.
    case calling(endpoint: Int, token: String?)
    /// An endpoint is asked for a token; ends with its answer.
    case authenticating(endpoint: Int)
    /// All endpoints have failed; ends with the pause.
    case pausing
    /// Final.
    case ended
  }

  private let kind: Kind
  private let limits: EtcdCallLimits
  private let deadline: MonotonicTime
  private var phase = Phase.new
  private var attemptCount = 0
  private var renewalCount = 0
  /// An attempt ended without an answer that rules out that it was made.
  private var mayHaveBeenApplied = false

  /// Begins a call.
  package init(_ kind: Kind, _ limits: EtcdCallLimits, at now: MonotonicTime) {
    self.kind = kind
    self.limits = limits
    deadline = now.advanced(by: limits.whole)
  }

  /// Gives the first order.
  package mutating func start(_ session: EtcdSession, at now: MonotonicTime) -> Order {
    precondition(phase == .new, "a call starts once")
    return attempt(session, at: now)
  }

  /// Takes the event that the last order has led to, and gives the next order.
  package mutating func take(_ event: Event, _ session: inout EtcdSession, at now: MonotonicTime) -> Order {
    switch (phase, event) {
    case (.calling(let endpoint, _), .callEnded(.success(let answer))):
      if !session.answered(endpoint, as: answer["header"]["cluster_id"].text) {
        return answeredByAnotherCluster(endpoint, &session, at: now)
      }
      phase = .ended
      return .succeed(answer)
    case (.calling(let endpoint, let token), .callEnded(.failure(let error))):
      return callFailed(error, endpoint, token, &session, at: now)
    case (.authenticating, .authenticationEnded(.success(let token))):
      session.authenticated(token)
      return attempt(session, at: now)
    case (.authenticating(let endpoint), .authenticationEnded(.failure(let error))):
      return error.isTransient ? goOn(after: error, at: endpoint, &session, at: now) : fail(error)
    case (.pausing, .pauseEnded): return attempt(session, at: now)
    case (.new, _), (.calling, _), (.authenticating, _), (.pausing, _), (.ended, _):
      preconditionFailure("\(event) in \(phase)")
    }
  }

  private mutating func attempt(_ session: EtcdSession, at now: MonotonicTime) -> Order {
    let remaining = now.duration(to: deadline)
    if remaining <= .zero { return fail(EtcdError(.timedOut, "no answer came within \(limits.whole)")) }
    let limit = min(remaining, limits.attempt)
    let endpoint = session.preferred
    if session.hasUser, session.token == nil {
      phase = .authenticating(endpoint: endpoint)
      return .authenticate(endpoint: endpoint, limit: limit)
    }
    phase = .calling(endpoint: endpoint, token: session.token)
    return .send(endpoint: endpoint, token: session.token, limit: limit)
  }

  private mutating func callFailed(
    _ error: EtcdError, _ endpoint: Int, _ token: String?, _ session: inout EtcdSession, at now: MonotonicTime
  ) -> Order {
    if error.mayHaveBeenApplied { mayHaveBeenApplied = true }
    if error.code == .tokenRefused, session.hasUser {
      session.tokenRefused(token)
      // Once: a token that's refused as soon as it was given would be refused for ever.
      if renewalCount > 0 { return fail(error) }
      renewalCount += 1
      return attempt(session, at: now)
    }
    guard error.isTransient else { return fail(error) }
    if kind == .once, error.mayHaveBeenApplied { return fail(error) }
    return goOn(after: error, at: endpoint, &session, at: now)
  }

  /// A write has been made there, where the callers of the other endpoints never see it.
  ///
  /// A read is made elsewhere.
  private mutating func answeredByAnotherCluster(
    _ endpoint: Int, _ session: inout EtcdSession, at now: MonotonicTime
  ) -> Order {
    let error = EtcdError(
      .differentCluster,
      "endpoint \(endpoint + 1) of \(session.endpointCount) belongs to another cluster than the others. Take it from the configuration, "
        + "or make a new client if the cluster was made anew",
      mayHaveBeenApplied: kind != .read)
    if kind == .read { return goOn(after: error, at: endpoint, &session, at: now) }
    session.endpointFailed(endpoint)
    mayHaveBeenApplied = true
    return fail(error)
  }

  private mutating func goOn(
    after error: EtcdError, at endpoint: Int, _ session: inout EtcdSession, at now: MonotonicTime
  ) -> Order {
    session.endpointFailed(endpoint)
    attemptCount += 1
    if attemptCount >= limits.attemptCountMax { return fail(error) }
    guard attemptCount % session.endpointCount == 0 else { return attempt(session, at: now) }
    let pause = EtcdCallLimits.pause(round: attemptCount / session.endpointCount - 1)
    if now.advanced(by: pause) >= deadline { return fail(error) }
    phase = .pausing
    return .pause(pause)
  }

  private mutating func fail(_ error: EtcdError) -> Order {
    phase = .ended
    var error = error
    error.mayHaveBeenApplied = kind != .read && mayHaveBeenApplied
    return .fail(error)
  }
}
