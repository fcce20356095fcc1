internal import CCurlShims

/// The functions of the system's libcurl, looked up once in a process.
///
/// `Sendable` because the table doesn't change after it was filled.
@safe struct CurlLibrary: @unchecked Sendable {
  let functions: UnsafePointer<shim_curl>

  /// The library, or the reason why there's none.
  ///
  /// curl_global_init(3) is safe beside other threads since libcurl 7.84; here it runs once, whatever the version.
  static let shared: Result<CurlLibrary, HTTPTransportError> = load("libcurl.so.4")

  /// Loads a library.
  ///
  /// - Parameter name: Its name, for dlopen(3).
  /// - Returns: The library; else the error with the package to install.
  static func load(_ name: String) -> Result<CurlLibrary, HTTPTransportError> {
    // Never freed: it lives as long as the library, which stays.
    let functions = UnsafeMutablePointer<shim_curl>.allocate(capacity: 1)
    unsafe functions.initialize(to: shim_curl())
    let missing = unsafe name.withCString { unsafe shim_curl_load(functions, $0).map { unsafe String(cString: $0) } }
    if let missing {
      let what = missing == name ? "'\(name)' can't be loaded" : "'\(name)' has no function '\(missing)'"
      unsafe functions.deallocate()
      return .failure(
        HTTPTransportError(
          .libraryMissing,
          "\(what). Install libcurl 7.68 or later: the package is 'libcurl4' in Debian and Ubuntu, 'libcurl' in Fedora.",
          isUnsent: true))
    }
    // CURL_GLOBAL_ALL.
    guard let initialize = unsafe functions.pointee.global_init, initialize(3) == 0 else {
      return .failure(HTTPTransportError(.exhausted, "curl_global_init(3) failed", isUnsent: true))
    }
    return unsafe .success(CurlLibrary(functions: UnsafePointer(functions)))
  }

  /// libcurl's words for a result.
  func text(of result: Int32) -> String {
    guard let text = unsafe functions.pointee.easy_strerror?(result) else { return "error \(result)" }
    return unsafe String(cString: text)
  }
}

extension HTTPTransportError {
  /// The error of a transfer; see libcurl-errors(3).
  ///
  /// - Parameters:
  ///   - result: The result of the transfer; not 0.
  ///   - name: The request.
  ///   - text: libcurl's words.
  ///   - isSent: Whether bytes of the request were sent.
  init(curl result: Int32, of name: String, text: String, isSent: Bool) {
    // The certificate of a client is judged after the handshake, when the request may be under way, which then is read by nobody.
    let isRefused = [35, 55, 56].contains(result) && text.contains("alert") && !text.contains("alert internal")
    let code: Code =
      switch result {
      case _ where isRefused: .notTrusted
      // An answer without a head, as of HTTP/0.9, is an unknown protocol for libcurl.
      case 1: isSent ? .invalidResponse : .invalidRequest
      case 3, 43: .invalidRequest
      case 5, 6: .cannotResolve
      case 7: .cannotConnect
      case 35, 51, 53, 54, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91, 98: .notTrusted
      case 28: .timedOut
      // 65: the connection was lost, and the body can't be sent again.
      case 16, 18, 52, 55, 56, 65, 92, 95: .connectionLost
      case 1_000..., 8, 61: .invalidResponse
      case 27: .exhausted
      default: .other
      }
    // 65 is reported for the connection that comes after the lost one, on which nothing was sent yet.
    let words = result == 65 ? "the connection was lost before the server had the whole request" : text
    let advice = isRefused ? Self.clientAdvice : Self.advice(result)
    self.init(
      code, "\(name) failed: \(words)\(advice.map { ". \($0)" } ?? "")", isUnsent: isRefused || !isSent && result != 65)
  }

  private static let clientAdvice =
    "The server refuses this client: it may ask for a certificate that one of its authorities has signed, with the key"

  /// The remedy for a result; `nil` where libcurl's words say it.
  private static func advice(_ result: Int32) -> String? {
    switch result {
    case 35: "The server may not speak TLS at this port: then the address begins with http://"
    case 52: "The server may speak TLS at this port: then the address begins with https://"
    case 51, 60: "The server's certificate has to be valid, for this host, and signed by an authority that's trusted"
    case 58: "The files of the client's certificate and key have to be in PEM and fit together, and the key unencrypted"
    case 77: "The file of the authority has to be there, in PEM, with its certificate"
    default: nil
    }
  }
}
