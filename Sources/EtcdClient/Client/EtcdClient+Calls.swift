internal import HTTPTransport
internal import SystemInterface

extension EtcdClient {
  /// Makes a call with all its attempts.
  ///
  /// - Parameters:
  ///   - path: The path at the gateway.
  ///   - kind: Whether it may be made a second time.
  ///   - name: The name of the call in errors.
  ///   - body: The message.
  ///   - remaining: How much time is left; `nil` for as much as the client gives each call.
  /// - Returns: The answer.
  /// - Throws: The error of the last attempt.
  func call(
    _ path: String, _ kind: CallCore.Kind, _ name: @autoclosure () -> String, _ body: JSONValue,
    remaining: Duration? = nil
  ) async throws(EtcdError) -> JSONValue {
    // With little time left, a server that doesn't answer mustn't use it up alone.
    let limits = EtcdCallLimits(
      whole: min(configuration.callLimit, remaining ?? configuration.callLimit),
      attempt: min(configuration.attemptLimit, remaining.map { $0 / 3 } ?? configuration.attemptLimit),
      attemptCountMax: max(configuration.attemptCountMax, configuration.endpoints.count))
    let bytes = body.encoded
    var core = CallCore(kind, limits, at: clock.now)
    var order = core.start(session.withLock { $0 }, at: clock.now)
    while true {
      let event: CallCore.Event
      switch order {
      case .send(let endpoint, let token, let limit):
        event = .callEnded(
          await attempt { () async throws(EtcdError) in
            try await self.send(path, bytes, to: endpoint, token: token, limit: limit)
          })
      case .authenticate(let endpoint, let limit):
        event = .authenticationEnded(
          await attempt { () async throws(EtcdError) in
            try await self.token(from: endpoint, limit: limit)
          })
      case .pause(let duration):
        await clock.pause(duration)
        event = .pauseEnded
      case .succeed(let answer): return answer
      case .fail(var error):
        error.message = "\(name()) failed: \(error.message)"
        throw error
      }
      order = session.withLock { core.take(event, &$0, at: clock.now) }
    }
  }

  private func attempt<Success>(
    _ body: () async throws(EtcdError) -> Success
  ) async -> Result<Success, EtcdError> {
    do throws(EtcdError) { return .success(try await body()) } catch { return .failure(error) }
  }

  /// Makes one attempt.
  private func send(
    _ path: String, _ body: [UInt8], to endpoint: Int, token: String?, limit: Duration
  ) async throws(EtcdError) -> JSONValue {
    let limits = HTTPLimits(connection: min(limit, .seconds(2)), head: limit, whole: limit, bufferedByteCount: 4 << 20)
    let (status, bytes): (Int, [UInt8])
    do throws(HTTPTransportError) {
      let response = try await transport.send(request(path, body, endpoint, token, limits))
      status = response.head.status
      bytes = try await response.body.collect(upTo: configuration.answerByteCountMax)
    } catch { throw EtcdError(error) }
    return try Self.answer(status, bytes).get()
  }

  func request(
    _ path: String, _ body: [UInt8], _ endpoint: Int, _ token: String?, _ limits: HTTPLimits
  ) -> HTTPRequest {
    let address = configuration.endpoints[endpoint]
    var headers = [HTTPHeader("Content-Type", "application/json")]
    // Without "Bearer", with which the gateway refuses it (E-1).
    if let token { headers.append(HTTPHeader("Authorization", token)) }
    return HTTPRequest(
      "POST", address.url + path, socketPath: address.socketPath, headers: headers, body: body, limits: limits)
  }

  static func answer(_ status: Int, _ bytes: [UInt8]) -> Result<JSONValue, EtcdError> {
    guard status == 200 else { return .failure(EtcdWire.error(status: status, body: bytes)) }
    guard let value = try? JSONParser.parse(bytes[...]), value.isObject else {
      return .failure(EtcdError(status: status, body: bytes))
    }
    return .success(value)
  }

  /// Asks an endpoint for a token.
  func token(from endpoint: Int, limit: Duration) async throws(EtcdError) -> String {
    let message = JSONValue.object([
      "name": .string(configuration.user ?? ""), "password": .string(configuration.password),
    ])
    var error = EtcdError(.invalidAnswer, "the server gave no token")
    do throws(EtcdError) {
      let answer = try await send("/v3/auth/authenticate", message.encoded, to: endpoint, token: nil, limit: limit)
      if let token = answer["token"].text { return token }
    } catch let failure { error = failure }
    // Nothing that a caller has asked for was sent.
    error.mayHaveBeenApplied = false
    throw error
  }

  /// Reads an answer.
  func decoded<Value>(_ what: String, _ body: () throws(EtcdWire.Malformed) -> Value) throws(EtcdError) -> Value {
    do throws(EtcdWire.Malformed) { return try body() } catch {
      throw EtcdError(
        .invalidAnswer, "\(what) was answered, but not as etcd 3.4 or later does", mayHaveBeenApplied: true)
    }
  }
}
