/// The failure of an exchange: its kind, its reason, and whether the server can have seen the request.
///
/// ```
/// cannotConnect: POST http://127.0.0.1:2379/v3/kv/put failed: Connection refused
/// ```
public struct HTTPTransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public let code: Code
  /// The event and the remedy, without the code.
  public let message: String
  /// Whether the request certainly didn't reach the server, so that repeating it has no double effect.
  public let isUnsent: Bool

  /// Creates an error; for transports.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The event and the remedy.
  ///   - isUnsent: Whether the request certainly didn't reach the server.
  public init(_ code: Code, _ message: String, isUnsent: Bool = false) {
    self.code = code
    self.message = message
    self.isUnsent = isUnsent
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }

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

    /// The system has no libcurl; the message names the package.
    public static let libraryMissing = Code(1, "libraryMissing")
    /// The request can't be sent as it is.
    public static let invalidRequest = Code(2, "invalidRequest")
    /// The name of the host has no address.
    public static let cannotResolve = Code(3, "cannotResolve")
    /// No server accepts the connection.
    public static let cannotConnect = Code(4, "cannotConnect")
    /// The server or this client isn't trusted, a certificate can't be read, or the server doesn't speak TLS at this port.
    public static let notTrusted = Code(5, "notTrusted")
    /// A limit of ``HTTPLimits`` has passed.
    public static let timedOut = Code(6, "timedOut")
    /// The task was cancelled.
    public static let cancelled = Code(7, "cancelled")
    /// The connection ended before the response did.
    public static let connectionLost = Code(8, "connectionLost")
    /// The server's answer isn't HTTP, or more than a reader takes.
    public static let invalidResponse = Code(9, "invalidResponse")
    /// The transport was shut down.
    public static let shutDown = Code(10, "shutDown")
    /// The system refuses memory, a thread or a descriptor.
    public static let exhausted = Code(11, "exhausted")
    /// Any other failure; the message has libcurl's words.
    public static let other = Code(12, "other")
  }
}
