public import HTTPTransport

/// The failure of a call: its kind, its reason, and whether the store can have been changed.
///
/// ```
/// permissionDenied: put of 'notes/1' failed: etcdserver: permission denied
/// ```
public struct EtcdError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public var code: Code
  /// The event and the remedy, without the code.
  public var message: String
  /// Whether a write that was asked for may have been made nevertheless, or may be made yet.
  public var mayHaveBeenApplied: Bool
  /// The revision below which the server has forgotten everything; only with the code `compacted`, and only for watches.
  public var compactRevision: Int64?
  /// The failure of the exchange with the server, if that's the reason; `nil` if the server itself has refused the call.
  public var cause: HTTPTransportError?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The event and the remedy.
  ///   - mayHaveBeenApplied: Whether a write may have been made nevertheless.
  ///   - compactRevision: The revision below which the server has forgotten everything.
  public init(_ code: Code, _ message: String, mayHaveBeenApplied: Bool = false, compactRevision: Int64? = nil) {
    self.code = code
    self.message = message
    self.mayHaveBeenApplied = mayHaveBeenApplied
    self.compactRevision = compactRevision
  }

  /// The code and the message.
  public var description: String {
    "\(code): \(message)" + (mayHaveBeenApplied ? " (the write may have been made; read before repeating it)" : "")
  }

  /// The kind of a failure; more kinds may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// A number that stays the same.
    public let number: Int
    /// The name of the kind.
    public let description: String

    private init(_ number: Int, _ description: String) {
      self.number = number
      self.description = description
    }

    /// A key is missing, a number is negative, or the like.
    public static let invalidArgument = Code(1, "invalidArgument")
    /// A transaction has more than 128 operations or comparisons.
    public static let tooManyOperations = Code(2, "tooManyOperations")
    /// A transaction writes a key twice.
    public static let duplicateKey = Code(3, "duplicateKey")
    /// The request has more bytes than the server takes, 1.5 MiB unless it was started otherwise.
    public static let tooLarge = Code(4, "tooLarge")
    /// The revision was compacted: read everything anew, and watch from there.
    public static let compacted = Code(5, "compacted")
    /// The server hasn't reached the revision yet, or was restored from a backup that's older.
    public static let futureRevision = Code(6, "futureRevision")
    /// The lease has ended or never existed.
    public static let leaseNotFound = Code(7, "leaseNotFound")
    /// Another lease has the number.
    public static let leaseExists = Code(8, "leaseExists")
    /// The user may not do it.
    public static let permissionDenied = Code(9, "permissionDenied")
    /// The user is unknown, or the password is wrong.
    public static let wrongPassword = Code(10, "wrongPassword")
    /// The token has expired; the client gets another one by itself if it has a password.
    public static let tokenRefused = Code(11, "tokenRefused")
    /// The server wants a user, and the client has none, or the other way round.
    public static let authenticationMismatch = Code(12, "authenticationMismatch")
    /// There's no leader, because too few servers are there.
    public static let noLeader = Code(13, "noLeader")
    /// No server answered in time.
    public static let timedOut = Code(14, "timedOut")
    /// No server can be reached, or it can't answer now.
    public static let unavailable = Code(15, "unavailable")
    /// The store is full; a write that's refused with it may have been made nevertheless.
    public static let noSpace = Code(16, "noSpace")
    /// The server has too many requests; try later.
    public static let tooManyRequests = Code(17, "tooManyRequests")
    /// The answer isn't one of an etcd with a JSON gateway of version 3.4 or later.
    public static let invalidAnswer = Code(18, "invalidAnswer")
    /// The task was cancelled.
    public static let cancelled = Code(19, "cancelled")
    /// An endpoint belongs to another cluster than the others.
    public static let differentCluster = Code(20, "differentCluster")
    /// The server has ended a watch for another reason.
    public static let watchRefused = Code(21, "watchRefused")
    /// The certificate of the server, or of this client, isn't trusted, or the server doesn't speak TLS at this port: see the message.
    public static let notTrusted = Code(22, "notTrusted")
    /// The system has no libcurl; the message names the package.
    public static let libraryMissing = Code(23, "libraryMissing")
    /// Any other failure; the message has the server's words.
    public static let other = Code(24, "other")
    /// A lock isn't held any more, so that nothing was written on its behalf.
    public static let lockLost = Code(25, "lockLost")
  }
}

// MARK: - The vocabulary of the server

extension EtcdError {
  /// The error that a server has answered with.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP.
  ///   - grpcCode: The code of gRPC; 0 if the answer had none.
  ///   - message: The server's words.
  package init(status: Int, grpcCode: Int64, message: String) {
    let code = Self.code(of: message) ?? Self.code(status: status, grpcCode: grpcCode)
    self.init(code, message, mayHaveBeenApplied: Self.leavesOutcomeOpen(code, message))
  }

  /// The error of an answer that isn't from etcd, for example a page of a proxy.
  package init(status: Int, body: [UInt8]) {
    let start = String(decoding: body.prefix(80), as: UTF8.self)
    switch status {
    case 500...:
      self.init(.unavailable, "the server answered with status \(status): \(start)", mayHaveBeenApplied: true)
    case 404:
      self.init(.invalidAnswer, "there's no JSON gateway of etcd 3.4 or later at the endpoint: \(start)")
    default:
      self.init(
        .invalidAnswer, "the server answered with status \(status), but not as etcd does: \(start)",
        mayHaveBeenApplied: true)
    }
  }

  private static func code(of message: String) -> Code? {
    // Some have more words behind them.
    let words: [(String, Code)] = [
      ("key is not provided", .invalidArgument), ("value is provided", .invalidArgument),
      ("lease is provided", .invalidArgument), ("too many operations", .tooManyOperations),
      ("duplicate key given", .duplicateKey), ("request is too large", .tooLarge),
      ("message larger than max", .tooLarge),
      ("revision has been compacted", .compacted), ("is a future revision", .futureRevision),
      ("lease not found", .leaseNotFound), ("lease already exists", .leaseExists),
      ("too large lease TTL", .invalidArgument), ("permission denied", .permissionDenied),
      ("authentication failed", .wrongPassword), ("user name not found", .wrongPassword),
      ("user name is empty", .authenticationMismatch), ("authentication is not enabled", .authenticationMismatch),
      ("invalid auth token", .tokenRefused), ("revision in header is old", .tokenRefused),
      ("revision of auth store is old", .tokenRefused), ("no leader", .noLeader),
      ("database space exceeded", .noSpace), ("too many requests", .tooManyRequests),
      ("request timed out", .timedOut), ("context deadline exceeded", .timedOut),
    ]
    return words.first { message.contains($0.0) }?.1
  }

  private static func code(status: Int, grpcCode: Int64) -> Code {
    switch (grpcCode, status) {
    case (3, _), (11, _): .invalidArgument
    case (4, _), (_, 504): .timedOut
    case (7, _): .permissionDenied
    case (8, _): .tooManyRequests
    case (16, _), (_, 401): .tokenRefused
    case (1, _), (14, _), (_, 502), (_, 503): .unavailable
    default: .other
    }
  }

  /// Refusals are final.
  ///
  /// The server may go on with a request that it answers with a failure of its own.
  private static func leavesOutcomeOpen(_ code: Code, _ message: String) -> Bool {
    switch code {
    case .timedOut, .unavailable, .other: true
    // A server whose disk becomes full while it makes a write makes it, and answers with that.
    case .noSpace: true
    // Said before the request enters the log, but also about one that was under way when the leader was lost.
    case .noLeader: true
    default: false
    }
  }
}
