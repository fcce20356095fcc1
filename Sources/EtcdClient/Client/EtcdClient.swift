public import HTTPTransport
public import SystemInterface

/// The address of a server.
public struct EtcdEndpoint: Hashable, Sendable {
  /// The start of its addresses, such as `http://127.0.0.1:2379`.
  public var url: String
  /// The path of the Unix-domain socket to connect to in place of the host.
  public var socketPath: String?

  /// Creates an address.
  ///
  /// - Parameters:
  ///   - url: The start of its addresses, with or without a slash at the end.
  ///   - socketPath: The path of a Unix-domain socket.
  public init(_ url: String, socketPath: String? = nil) {
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    self.socketPath = socketPath
  }
}

/// A client of an etcd cluster, version 3.4 or later, through its JSON gateway.
///
/// ```swift
/// let client = try EtcdClient(.init(endpoints: [EtcdEndpoint("http://127.0.0.1:2379")]))
/// try await client.put("greeting", "hello")
/// for try await batch in client.watch(.prefix("greeting")) { print(batch.changes) }
/// ```
///
/// Calls may be made from any thread, many at once. Each has a limit of time and ends when its task is cancelled. If a server can't be
/// reached, the next one is asked, as long as that can't make a write twice: see ``EtcdError/mayHaveBeenApplied``.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `session` | its lock | all calls share the token, and the endpoint that works |
public final class EtcdClient: Sendable {
  /// The cluster, the user and the limits of calls.
  public struct Configuration: Hashable, Sendable {
    /// The addresses of the servers; at least one.
    public var endpoints: [EtcdEndpoint]
    /// The name of the user; `nil` for a cluster without users.
    public var user: String?
    /// The password of the user.
    public var password: String
    /// How long a call may take with all its attempts.
    public var callLimit = Duration.seconds(10)
    /// How long an attempt may take before the next server is asked.
    public var attemptLimit = Duration.seconds(4)
    /// How many attempts a call makes at most; at least as many as there are endpoints.
    public var attemptCountMax: Int
    /// How long the stream of a watch may bring nothing before it's replaced by another one.
    ///
    /// A stopped server is noticed after that time. Servers report that they're alive every 10 minutes, unless started with
    /// `--experimental-watch-progress-notify-interval`; with a shorter limit the stream of a watch without changes is replaced each time,
    /// which costs a request and loses nothing.
    public var watchSilenceMax = Duration.seconds(60)
    /// How many bytes an answer may have.
    public var answerByteCountMax = 256 << 20

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - endpoints: The addresses of the servers; at least one.
    ///   - user: The name of the user.
    ///   - password: The password of the user.
    public init(endpoints: [EtcdEndpoint], user: String? = nil, password: String = "") {
      self.endpoints = endpoints
      self.user = user
      self.password = password
      attemptCountMax = max(4, endpoints.count * 2)
    }
  }

  let configuration: Configuration
  let clock: any CoordinationClock
  /// The time that leases are counted on: it goes on while the system is suspended, as that of the servers does.
  let leaseTime: @Sendable () -> MonotonicTime
  let transport: any HTTPTransport
  let session: Guarded<EtcdSession>

  /// Creates a client; it connects with the first call.
  ///
  /// - Parameters:
  ///   - configuration: The cluster, the user and the limits of calls.
  ///   - options: The authority to trust, and the certificate of the client.
  /// - Throws: ``EtcdError`` with the code `libraryMissing` if the system has no libcurl, `invalidArgument` without an endpoint.
  public convenience init(
    _ configuration: Configuration, options: CurlTransport.Options = CurlTransport.Options()
  ) throws(EtcdError) {
    if configuration.endpoints.isEmpty {
      throw EtcdError(.invalidArgument, "the configuration has no endpoint; name at least one server")
    }
    do {
      self.init(configuration, transport: try CurlTransport(options: options), clock: HostClock.shared)
    } catch { throw EtcdError(error) }
  }

  /// Creates a client on a transport.
  ///
  /// - Parameters:
  ///   - configuration: The cluster, the user and the limits of calls.
  ///   - transport: Sends the requests.
  ///   - clock: The clock of the limits, which the transport should have too.
  public convenience init(
    _ configuration: Configuration, transport: any HTTPTransport, clock: any CoordinationClock
  ) {
    let isHost = clock is HostClock
    self.init(
      configuration, transport: transport, clock: clock,
      leaseTime: { isHost ? MonotonicTime.hostSinceBoot() : clock.now })
  }

  package init(
    _ configuration: Configuration, transport: any HTTPTransport, clock: any CoordinationClock,
    leaseTime: @escaping @Sendable () -> MonotonicTime
  ) {
    precondition(!configuration.endpoints.isEmpty, "a client needs an endpoint")
    self.configuration = configuration
    self.transport = transport
    self.clock = clock
    self.leaseTime = leaseTime
    session = Guarded(EtcdSession(endpointCount: configuration.endpoints.count, hasUser: configuration.user != nil))
  }
}
