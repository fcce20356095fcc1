/// The part of a client that its calls share, as a value: which endpoint to ask, and the token of the user.
package struct EtcdSession: Hashable, Sendable {
  /// How many endpoints there are.
  package let endpointCount: Int
  /// Whether there's a user, for whom a token is needed.
  package let hasUser: Bool
  /// The endpoint to ask next.
  package private(set) var preferred = 0
  /// The token; `nil` without a user, or until one was given.
  package private(set) var token: String?
  /// The cluster, by the first answer.
  private var cluster: String?
  /// The endpoints that have answered as its members.
  private var members: Set<Int> = []

  /// Begins a session.
  package init(endpointCount: Int, hasUser: Bool) {
    precondition(endpointCount > 0, "a client needs an endpoint")
    self.endpointCount = endpointCount
    self.hasUser = hasUser
  }

  /// An endpoint has failed: others are asked, unless another call has found another one since.
  package mutating func endpointFailed(_ endpoint: Int) {
    if endpoint == preferred { preferred = (preferred + 1) % endpointCount }
  }

  /// An endpoint has answered as a member of a cluster; `nil` if it didn't say of which one.
  ///
  /// - Returns: Whether that's the cluster of the other endpoints. One that was a member has another cluster after that was made anew from a
  ///   backup, and then the others have, too.
  package mutating func answered(_ endpoint: Int, as cluster: String?) -> Bool {
    guard let cluster else { return true }
    if let known = self.cluster, known != cluster {
      if !members.contains(endpoint) { return false }
      members = []
    }
    self.cluster = cluster
    members.insert(endpoint)
    return true
  }

  /// A token was given.
  package mutating func authenticated(_ token: String) { self.token = token }

  /// A token was refused, unless another call has got another one since.
  package mutating func tokenRefused(_ token: String?) {
    if self.token == token { self.token = nil }
  }
}

/// How often a call is tried, and when it's over.
package struct EtcdCallLimits: Hashable, Sendable {
  /// How long the call may take with all attempts.
  package var whole: Duration
  /// How long one attempt may take.
  package var attempt: Duration
  /// How many attempts there are at most.
  package var attemptCountMax: Int

  package init(whole: Duration, attempt: Duration, attemptCountMax: Int) {
    self.whole = whole
    self.attempt = attempt
    self.attemptCountMax = attemptCountMax
  }

  /// The pause before all endpoints are asked once more.
  static func pause(round: Int) -> Duration { .milliseconds(25 << min(round, 6)) }
}
