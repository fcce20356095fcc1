/// Sends requests to servers and delivers their responses piece by piece.
///
/// ``CurlTransport`` does it for programs. A test can have its own.
public protocol HTTPTransport: Sendable {
  /// Sends a request and waits for the head of the response.
  ///
  /// It may be called from any thread, many times at once. The body arrives afterwards, see ``HTTPBody``. Any status is a success here.
  /// Redirections aren't followed.
  ///
  /// - Parameter request: The request.
  /// - Returns: The response.
  /// - Throws: ``HTTPTransportError``; its code is `cancelled` when the task was cancelled, `timedOut` after the limits of the request.
  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse
}

/// The head of a response, and its body that goes on arriving.
public struct HTTPResponse: Sendable {
  /// The head.
  public let head: HTTPHead
  /// The body, for one reader.
  public let body: HTTPBody

  /// Creates a response; for transports.
  package init(head: HTTPHead, body: HTTPBody) {
    self.head = head
    self.body = body
  }
}

/// The status of a response and the lines after it.
public struct HTTPHead: Hashable, Sendable {
  /// The status, such as 200.
  public var status: Int
  /// The lines, in their order.
  public var headers: [HTTPHeader]

  /// Creates a head.
  ///
  /// - Parameters:
  ///   - status: The status.
  ///   - headers: The lines.
  public init(status: Int, headers: [HTTPHeader] = []) {
    self.status = status
    self.headers = headers
  }

  /// The value of the first line with a name, whose case doesn't count.
  ///
  /// - Parameter name: The name.
  /// - Returns: The value; `nil` if there's no such line.
  public func value(of name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }
}

/// The pieces of a body, as they arrive.
///
/// It has one reader, who calls `next()` and waits for each piece. If the reader is slow, the transport stops receiving as soon as
/// ``HTTPLimits/bufferedByteCount`` bytes wait, and over TCP the server has to wait too. The exchange is cancelled when the task
/// that waits is cancelled, and when nothing refers to the body any more. A failure is thrown after the pieces that came before it.
public struct HTTPBody: AsyncSequence, Sendable {
  /// A piece with at least one byte.
  public typealias Element = [UInt8]
  /// The failure of the exchange.
  public typealias Failure = HTTPTransportError

  private let handle: Handle

  /// Ends an exchange that nobody reads.
  private final class Handle: Sendable {
    let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { exchange.cancel() }
  }

  /// Creates the body of an exchange; for transports.
  package init(_ exchange: Exchange) { handle = Handle(exchange) }

  /// Creates the iterator; all iterators share the pieces.
  ///
  /// - Returns: An iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(body: self) }

  /// Reads the pieces.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let body: HTTPBody

    /// Waits for the next piece.
    ///
    /// - Returns: The piece; `nil` after the last one.
    /// - Throws: The failure of the exchange, each time from then on.
    public mutating func next() async throws(HTTPTransportError) -> [UInt8]? {
      try await body.handle.exchange.nextPiece()
    }

    /// Waits for the next piece.
    ///
    /// - Parameter actor: The actor of the caller, on which it returns.
    /// - Returns: The piece; `nil` after the last one.
    /// - Throws: The failure of the exchange, each time from then on.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPTransportError) -> [UInt8]? {
      try await body.handle.exchange.nextPiece()
    }
  }

  /// Waits for the whole rest of the body.
  ///
  /// - Parameter byteCountMax: How many bytes to take at most.
  /// - Returns: The bytes.
  /// - Throws: The failure of the exchange; `invalidResponse` if there are more bytes.
  public func collect(upTo byteCountMax: Int) async throws(HTTPTransportError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await handle.exchange.nextPiece() {
      guard bytes.count + piece.count <= byteCountMax else {
        handle.exchange.cancel()
        throw HTTPTransportError(.invalidResponse, "the body has more than \(byteCountMax) bytes")
      }
      bytes += piece
    }
    return bytes
  }
}
