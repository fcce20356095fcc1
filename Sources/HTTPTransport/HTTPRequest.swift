/// A line of the head of a request or response.
public struct HTTPHeader: Hashable, Sendable {
  /// The name, whose case doesn't count.
  public var name: String
  /// The value, without spaces around it.
  public var value: String

  /// Creates a line.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - value: The value.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// How long an exchange may take, and how much memory.
///
/// Times are on the clock of the transport.
public struct HTTPLimits: Hashable, Sendable {
  /// How long until there's a connection; a request that exceeds it certainly wasn't sent.
  public var connection: Duration
  /// How long until the head of the response is there, from the call on.
  public var head: Duration
  /// How long until the end of the response, from the call on; `nil` doesn't limit a stream.
  public var whole: Duration?
  /// How long the server may send no byte of the body while there's room for it; `nil` doesn't limit the silence of a stream.
  public var silence: Duration?
  /// How many bytes of the body may wait for their reader before the server has to wait.
  public var bufferedByteCount: Int

  /// Creates limits.
  ///
  /// - Parameters:
  ///   - connection: How long until there's a connection.
  ///   - head: How long until the head of the response.
  ///   - whole: How long until its end.
  ///   - silence: How long no byte of the body may come.
  ///   - bufferedByteCount: How many bytes may wait for their reader; at least 1.
  public init(
    connection: Duration = .seconds(3), head: Duration = .seconds(10), whole: Duration? = nil, silence: Duration? = nil,
    bufferedByteCount: Int = 256 << 10
  ) {
    precondition(bufferedByteCount > 0, "a body needs room for a byte, not for \(bufferedByteCount)")
    self.connection = connection
    self.head = head
    self.whole = whole
    self.silence = silence
    self.bufferedByteCount = bufferedByteCount
  }
}

/// A request to a server.
public struct HTTPRequest: Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// The address, with `http` or `https`.
  public var url: String
  /// The path of the Unix-domain socket to connect to in place of the host of the address.
  public var socketPath: String?
  /// The lines of the head, besides those that the transport adds.
  public var headers: [HTTPHeader]
  /// The body, if there's one.
  public var body: [UInt8]?
  /// How long it may take.
  public var limits: HTTPLimits

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The address.
  ///   - socketPath: The path of a Unix-domain socket.
  ///   - headers: The lines of the head.
  ///   - body: The body.
  ///   - limits: How long it may take.
  public init(
    _ method: String, _ url: String, socketPath: String? = nil, headers: [HTTPHeader] = [], body: [UInt8]? = nil,
    limits: HTTPLimits = HTTPLimits()
  ) {
    self.method = method
    self.url = url
    self.socketPath = socketPath
    self.headers = headers
    self.body = body
    self.limits = limits
  }
}

extension HTTPRequest {
  /// The reason why nobody should send it: a part that would end its line and begin another one.
  package var flaw: String? {
    if method.isEmpty || !method.utf8.allSatisfy(Self.isTokenByte) { return "'\(method)' is no method" }
    if !url.hasPrefix("http://") && !url.hasPrefix("https://") {
      return "'\(url)' begins with neither http:// nor https://"
    }
    if let byte = url.utf8.first(where: { $0 <= 0x20 || $0 == 0x7F }) { return "the address contains the byte \(byte)" }
    if socketPath?.utf8.contains(0) == true { return "the path of the socket contains a zero" }
    for header in headers {
      if header.name.isEmpty || !header.name.utf8.allSatisfy(Self.isTokenByte) {
        return "'\(header.name)' is no name of a header"
      }
      if header.value.utf8.contains(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) {
        return "the value of the header '\(header.name)' contains the end of a line"
      }
    }
    return nil
  }

  /// `tchar` of RFC 9110.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// Whether the server is on this computer by its address alone: no proxy can reach it for us.
  package var isLocal: Bool {
    if socketPath != nil { return true }
    let host = host
    return host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
      || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) })
  }

  /// The host of the address, in small letters; brackets are kept.
  private var host: String {
    guard let scheme = url.firstIndex(of: ":") else { return "" }
    var authority = url[scheme...].dropFirst(3).prefix { !"/?#".contains($0) }
    if let user = authority.lastIndex(of: "@") { authority = authority[user...].dropFirst() }
    if authority.first == "[" { return authority.prefix { $0 != "]" }.lowercased() + "]" }
    return authority.prefix { $0 != ":" }.lowercased()
  }
}
