package import HTTPTransport

extension EtcdError {
  /// The error of a transport.
  package init(_ error: HTTPTransportError) {
    let code: Code =
      switch error.code {
      case .timedOut: .timedOut
      case .cancelled: .cancelled
      case .notTrusted: .notTrusted
      case .libraryMissing: .libraryMissing
      case .invalidRequest: .invalidArgument
      case .invalidResponse: .invalidAnswer
      default: .unavailable
      }
    self.init(code, error.message, mayHaveBeenApplied: !error.isUnsent)
    cause = error
  }

  /// Whether another endpoint, or the same one later, may do better.
  package var isTransient: Bool {
    switch code {
    case .unavailable, .timedOut, .noLeader, .tooManyRequests: true
    // A proxy in front of one of them, or a server that isn't trusted: others may be what they should.
    case .invalidAnswer, .notTrusted: true
    default: false
    }
  }
}
