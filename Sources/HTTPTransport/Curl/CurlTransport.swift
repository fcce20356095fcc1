public import SystemInterface

/// Sends requests through the system's libcurl, which is loaded at run time.
///
/// All transfers share one thread, which starts with the first request and ends with ``shutDown()`` or the last reference. Connections are
/// kept and used again. It handles no signals. HTTP/2 is used where TLS agrees on it. Proxies that the environment names
/// (curl(1), "ENVIRONMENT") are used, but never for a server on this computer: `localhost`, 127.0.0.0/8, `::1` and Unix-domain sockets.
///
/// The bodies of requests are in memory; those of responses arrive piece by piece, see ``HTTPBody``. A piece has at most 16 KiB.
public final class CurlTransport: HTTPTransport {
  /// How connections are made.
  public struct Options: Hashable, Sendable {
    /// The file with the certificates of authorities to trust, in PEM; `nil` trusts those of the system.
    public var certificateAuthorityPath: String?
    /// The file with the certificate of this client, in PEM.
    public var certificatePath: String?
    /// The file with the key of that certificate, in PEM.
    public var keyPath: String?
    /// Whether proxies that the environment names are used.
    public var usesProxies: Bool

    /// Creates options.
    ///
    /// - Parameters:
    ///   - certificateAuthorityPath: The authorities to trust.
    ///   - certificatePath: The certificate of this client.
    ///   - keyPath: The key of that certificate.
    ///   - usesProxies: Whether proxies that the environment names are used.
    public init(
      certificateAuthorityPath: String? = nil, certificatePath: String? = nil, keyPath: String? = nil,
      usesProxies: Bool = true
    ) {
      self.certificateAuthorityPath = certificateAuthorityPath
      self.certificatePath = certificatePath
      self.keyPath = keyPath
      self.usesProxies = usesProxies
    }
  }

  private let loop: CurlLoop
  private let clock: any CoordinationClock

  /// Creates a transport without a thread or connection.
  ///
  /// - Parameters:
  ///   - options: How connections are made.
  ///   - clock: The clock of the limits of requests.
  /// - Throws: ``HTTPTransportError`` with the code `libraryMissing` if the system has no libcurl 7.68 or later; its message names the
  ///   package.
  public convenience init(
    options: Options = Options(), clock: any CoordinationClock = HostClock.shared
  ) throws(HTTPTransportError) {
    self.init(try CurlLibrary.shared.get(), options, clock)
  }

  /// Creates a transport on another library, for tests.
  package convenience init(library: String) throws(HTTPTransportError) {
    self.init(try CurlLibrary.load(library).get(), Options(), HostClock.shared)
  }

  private init(_ library: CurlLibrary, _ options: Options, _ clock: any CoordinationClock) {
    loop = CurlLoop(library, options)
    self.clock = clock
  }

  deinit { loop.shutDown() }

  /// Sends a request and waits for the head of the response.
  ///
  /// Costs a wake-up of the transport's thread, and a connection if none to that server is free.
  ///
  /// - Parameter request: The request.
  /// - Returns: The response.
  /// - Throws: ``HTTPTransportError``: `cancelled` when the task was cancelled, `timedOut` after the limits of the request, `shutDown`
  ///   after ``shutDown()``.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    if let flaw = request.flaw { throw HTTPTransportError(.invalidRequest, flaw, isUnsent: true) }
    let exchange = loop.start(request, clock: clock)
    let body = HTTPBody(exchange)
    return HTTPResponse(head: try await exchange.head(), body: body)
  }

  /// Ends all exchanges with the code `shutDown`, closes all connections and ends the thread, which may take a moment.
  ///
  /// Later requests fail.
  public func shutDown() { loop.shutDown() }

  /// Occurs when the thread has closed everything.
  package var ended: ThreadEvent { loop.ended }
}
