internal import FileWatching
internal import FoundationEssentials
internal import SystemInterface

/// File URLs to bytes and back, without loss: file names need not be UTF-8.
enum FileURLCoding {
  static let slash = UInt8(ascii: "/")

  /// The absolute path of a file URL.
  static func path(of url: URL) throws(FileCoordinationError) -> [UInt8] {
    let text = url.absoluteString
    if let path = plainPath(in: text), url.baseURL == nil { return path }
    guard url.isFileURL else {
      if url.scheme == nil { throw .relativeURL(text) }
      throw .notAFileURL(text)
    }
    if url.baseURL != nil { throw .relativeURL(url.relativeString) }
    let bytes = try pathAsWritten(in: text)
    if bytes.first != slash { throw .relativeURL(text) }
    return bytes
  }

  /// The path in the text of a URL of a file or of no scheme, absolute or relative.
  static func pathAsWritten(in text: String) throws(FileCoordinationError) -> [UInt8] {
    guard let encoded = text.hasFilePrefix ? pathPart(of: text) : text.utf8[...] else {
      throw .notAFileURL(text)
    }
    if encoded.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
      throw .invalidPath(text, because: "it has a query or fragment, which files don't; encode '?' as %3F, '#' as %23")
    }
    guard let bytes = PercentEncoding.decode(encoded) else {
      throw .invalidPath(text, because: "a '%' is not followed by two hexadecimal digits")
    }
    if bytes.isEmpty { throw .invalidPath(text, because: "its path is empty") }
    if bytes.contains(0) { throw .invalidPath(text, because: "it contains a NUL") }
    return bytes
  }

  /// The usual case, in one pass: `file:///…` with nothing encoded, no query and no fragment.
  private static func plainPath(in text: String) -> [UInt8]? {
    unsafe text.utf8.withContiguousStorageIfAvailable { bytes -> [UInt8]? in
      // "file:///", as the computer sees it.
      guard bytes.count >= 8,
        unsafe UnsafeRawPointer(bytes.baseAddress)?.loadUnaligned(as: UInt64.self)
          == UInt64(littleEndian: 0x2f2f_2f3a_656c_6966)
      else { return nil }
      let path = unsafe UnsafeBufferPointer(rebasing: bytes[7...])
      for index in path.indices where unsafe isSpecial(path[index]) { return nil }
      return unsafe Array(path)
    } ?? nil
  }

  @inline(__always)
  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "%") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || byte == 0
  }

  /// The part behind `file://` and the host, which is empty or `localhost`.
  private static func pathPart(of text: String) -> Substring.UTF8View? {
    let rest = text.utf8[...]
    if let authority = rest.droppingPrefix("file://") {
      let host = authority.prefix { $0 != slash }
      guard host.isEmpty || String(Substring(host)).lowercased() == "localhost" else { return nil }
      return authority.dropFirst(host.count)
    }
    return rest.droppingPrefix("file:")
  }

  static func withoutTrailingSlashes(_ path: [UInt8]) -> [UInt8] {
    var path = path
    while path.count > 1, path.last == slash { path.removeLast() }
    return path
  }

  /// The URL of an absolute path; its text depends on the path alone.
  static func url(of path: [UInt8]) -> URL {
    guard let url = SystemPath(bytes: withoutTrailingSlashes(path)).url else {
      preconditionFailure("not an absolute path: \(SystemPath(bytes: path))")
    }
    return url
  }
}

extension String {
  fileprivate var hasFilePrefix: Bool { utf8[...].droppingPrefix("file:") != nil }
}

extension Substring.UTF8View {
  /// The rest behind a prefix in small letters, which may be capital ones here; `nil` when the prefix isn't there.
  fileprivate func droppingPrefix(_ prefix: String) -> Self? {
    func matches(_ byte: UInt8, _ expected: UInt8) -> Bool {
      byte == expected || (expected >= UInt8(ascii: "a") && byte | 0x20 == expected)
    }
    let count = prefix.utf8.count
    let start = self.prefix(count)
    guard start.count == count, zip(start, prefix.utf8).allSatisfy(matches) else { return nil }
    return dropFirst(count)
  }
}
