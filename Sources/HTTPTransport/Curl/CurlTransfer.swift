internal import CCurlShims
internal import SystemInterface

/// One transfer of libcurl: only the thread of its loop uses it.
@safe final class CurlTransfer {
  let number: UInt64
  let exchange: Exchange
  let easy: UnsafeMutableRawPointer
  private let curl: UnsafePointer<shim_curl>
  private let name: String
  private let words: UnsafeMutablePointer<CChar>
  private var headers: UnsafeMutableRawPointer?
  private var parser = HeadParser()
  private var isMalformed = false
  private var bodyLeft: ArraySlice<UInt8>

  /// CURL_ERROR_SIZE.
  private static let wordsLength = 256

  /// Prepares a transfer; `nil` if the system refuses memory.
  init?(_ submission: CurlLoop.Submission, _ library: CurlLibrary, _ options: CurlTransport.Options) {
    guard let easy = unsafe library.functions.pointee.easy_init?() else { return nil }
    number = submission.number
    exchange = submission.exchange
    bodyLeft = (submission.request.body ?? [])[...]
    name = "\(submission.request.method) \(submission.request.url)"
    unsafe self.easy = unsafe easy
    unsafe curl = unsafe library.functions
    unsafe words = .allocate(capacity: Self.wordsLength)
    unsafe words.initialize(repeating: 0, count: Self.wordsLength)
    set(options)
    set(submission.request, options)
    setReceivers()
  }

  /// libcurl lets go of the pointers before this.
  deinit {
    unsafe curl.pointee.easy_cleanup?(easy)
    if let headers = unsafe headers { unsafe curl.pointee.slist_free_all?(headers) }
    unsafe words.deallocate()
  }

  /// The error of a result; `nil` for 0.
  func failure(of result: Int32, _ library: CurlLibrary) -> HTTPTransportError? {
    if result == 0 { return nil }
    let isSent = unsafe shim_curl_number(curl, easy, Int32(shim_curl_info_request_size)) != 0
    let details = unsafe String(cString: words)
    let text = details.isEmpty ? library.text(of: result) : details
    return HTTPTransportError(
      curl: isMalformed ? 1_000 : result, of: name, text: isMalformed ? "the answer isn't HTTP" : text, isSent: isSent)
  }
}

// MARK: - Options

extension CurlTransfer {
  private func set(_ option: some BinaryInteger, _ value: Int) {
    unsafe _ = shim_curl_set_number(curl, easy, Int32(option), value)
  }

  /// libcurl copies it.
  private func set(_ option: some BinaryInteger, _ text: String) {
    unsafe text.withCString { unsafe _ = shim_curl_set_pointer(curl, easy, Int32(option), $0) }
  }

  private func set(_ options: CurlTransport.Options) {
    set(shim_curl_no_signal, 1)
    // CURLPROTO_HTTP and CURLPROTO_HTTPS.
    set(shim_curl_protocols, 3)
    // CURL_HTTP_VERSION_2TLS: offered where TLS can agree on it.
    set(shim_curl_http_version, 4)
    if let path = options.certificateAuthorityPath { set(shim_curl_authorities, path) }
    if let path = options.certificatePath { set(shim_curl_certificate, path) }
    if let path = options.keyPath { set(shim_curl_key, path) }
    // Otherwise OpenSSL asks for the one of an encrypted key at the terminal, and stops the thread of all transfers until somebody answers.
    set(shim_curl_key_password, "")
    unsafe _ = shim_curl_set_pointer(curl, easy, Int32(shim_curl_error_buffer), words)
  }

  private func set(_ request: HTTPRequest, _ options: CurlTransport.Options) {
    set(shim_curl_url, request.url)
    // 0 would be libcurl's default of 300 s.
    let milliseconds = request.limits.connection / Duration.milliseconds(1)
    set(shim_curl_connect_milliseconds, Int(min(max(milliseconds, 1), 1e9)))
    // An empty name of a proxy is none, also where the environment names one (H-7).
    if request.isLocal || !options.usesProxies { set(shim_curl_proxy, "") }
    if let path = request.socketPath { set(shim_curl_socket_path, path) }
    if request.method == "HEAD" { set(shim_curl_no_body, 1) }
    if let body = request.body {
      set(shim_curl_post, 1)
      unsafe _ = shim_curl_set_size(curl, easy, Int32(shim_curl_body_size), Int64(body.count))
      // libcurl sends a request again by itself if a connection that it has used before ends without an answer; a write could be made
      // twice. It can't if it would have to read a part of the body again, and has no function for that. Without a body
      // nothing else helps than a new connection.
      if body.isEmpty { set(shim_curl_fresh_connection, 1) }
    }
    set(shim_curl_method, request.method)
    setHeaders(request)
  }

  private func setHeaders(_ request: HTTPRequest) {
    // libcurl adds these by itself unless they're named without a value.
    var lines = ["Expect:"]
    if request.body != nil, !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      lines.append("Content-Type:")
    }
    // A header without a value ends with a semicolon for libcurl.
    lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    for line in lines {
      unsafe line.withCString { text in
        if let list = unsafe curl.pointee.slist_append?(headers, text) { unsafe headers = unsafe list }
      }
    }
    unsafe _ = shim_curl_set_pointer(curl, easy, Int32(shim_curl_headers), headers)
  }
}

// MARK: - What arrives

extension CurlTransfer {
  /// The loop keeps the transfer alive until libcurl has let go of it.
  private func setReceivers() {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    for option in [shim_curl_private, shim_curl_read_data, shim_curl_write_data, shim_curl_header_data] {
      unsafe _ = shim_curl_set_pointer(curl, easy, Int32(option), context)
    }
    unsafe _ = shim_curl_set_receiver(curl, easy, Int32(shim_curl_read_function)) { bytes, size, count, context in
      guard let context = unsafe context else { return 0 }
      let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
      return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().give(to: buffer)
    }
    unsafe _ = shim_curl_set_receiver(curl, easy, Int32(shim_curl_header_function)) { bytes, size, count, context in
      guard let bytes = unsafe bytes, let context = unsafe context else { return 0 }
      let line = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: size * count))
      return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().takeLine(line) ? line.count : -1
    }
    unsafe _ = shim_curl_set_receiver(curl, easy, Int32(shim_curl_write_function)) { bytes, size, count, context in
      guard let context = unsafe context else { return 0 }
      let piece = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: size * count))
      return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().take(piece)
    }
  }

  /// Gives the next bytes of the body.
  private func give(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    let piece = bodyLeft.prefix(buffer.count)
    unsafe buffer.copyBytes(from: piece)
    bodyLeft = bodyLeft.dropFirst(piece.count)
    return piece.count
  }

  private func takeLine(_ line: [UInt8]) -> Bool {
    switch parser.take(line) {
    case .more: break
    case .head(let head): exchange.headArrived(head)
    case .malformed:
      isMalformed = true
      return false
    }
    return true
  }

  /// Another number than that of the bytes ends the transfer.
  private func take(_ piece: [UInt8]) -> Int {
    if exchange.pieceArrived(piece) { return piece.count }
    return exchange.isEnded ? -1 : Int(shim_curl_pause_write)
  }

  /// Delivers again what wasn't taken.
  func resume() {
    // CURLPAUSE_CONT.
    unsafe _ = curl.pointee.easy_pause?(easy, 0)
  }
}
