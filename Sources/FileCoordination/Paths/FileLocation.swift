internal import FileAccessArbiter
internal import FoundationEssentials
internal import SystemInterface

/// Where a URL leads: the canonical path that coordination goes by, and the spelling that its owner sees.
struct FileLocation: Sendable {
  let url: URL
  let path: ItemPath
  let spelling: PathSpelling

  /// Resolves a URL: symbolic links in the middle always, in the last component only when asked (C-305).
  ///
  /// - Complexity: one pass of realpath(3) over the directories of the path.
  init(_ url: URL, followingLastLink: Bool = false, in fileSystem: any FileSystem) throws(FileCoordinationError) {
    let spelled = try FileURLCoding.path(of: url)
    let canonical = try FileCoordinationError.wrapping { () throws(SystemError) in
      try fileSystem.canonicalPath(of: SystemPath(bytes: spelled), resolvingLastComponent: followingLastLink)
    }
    self.init(url, spelled: spelled, canonical: canonical.bytes, followsLastLink: followingLastLink)
  }

  /// Where an item is by now that has been somewhere else.
  init(_ url: URL, at path: ItemPath, spelling: PathSpelling) {
    self.url = url
    self.path = path
    self.spelling = spelling
  }

  /// Puts together what was found out about a URL.
  init(_ url: URL, spelled: [UInt8], canonical: [UInt8], followsLastLink: Bool) {
    path = ItemPath(canonical: canonical)
    let spelled = FileURLCoding.withoutTrailingSlashes(spelled)
    if followsLastLink, canonical != spelled {
      // The accessor is to see the target, not the link.
      self.url = FileURLCoding.url(of: canonical)
      spelling = PathSpelling(spelled: canonical, canonical: canonical)
    } else {
      self.url = url
      spelling = PathSpelling(spelled: spelled, canonical: canonical)
    }
  }

  /// Takes an absolute path at its word, without asking the file system; `.`, `..` and spare slashes are removed.
  init(lexicalPath path: String) throws(FileCoordinationError) {
    if path.isEmpty { throw .invalidPath(path, because: "it's empty") }
    if path.utf8.first != FileURLCoding.slash { throw .relativePath(path) }
    if path.utf8.contains(0) { throw .invalidPath(path, because: "it contains a NUL") }
    let canonical = try FileCoordinationError.wrapping { () throws(SystemError) in
      try SystemPath(path).lexicallyCanonical()
    }
    self.path = ItemPath(canonical: canonical.bytes)
    url = FileURLCoding.url(of: canonical.bytes)
    spelling = PathSpelling(spelled: canonical.bytes, canonical: canonical.bytes)
  }
}

extension FileCoordinationError {
  fileprivate static func relativePath(_ path: String) -> Self {
    Self(
      .relativeURL, subjects: [path],
      message: "'\(path)' is relative, and its meaning changes with the working directory. Pass an absolute path, "
        + "such as that of 'URL(filePath:).absoluteFileURL()'.")
  }
}

/// Turns canonical paths back into the spelling that somebody used: `/var/x` instead of `/private/var/x` (C-424).
///
/// The two paths differ in a prefix, up to what their last components have in common; the difference applies to every
/// path that begins with the canonical prefix.
struct PathSpelling: Equatable, Sendable {
  private final class Difference: Equatable, Sendable {
    let spelledPrefix: [UInt8]
    let canonicalPrefix: [UInt8]

    init(_ spelledPrefix: [UInt8], _ canonicalPrefix: [UInt8]) {
      self.spelledPrefix = spelledPrefix
      self.canonicalPrefix = canonicalPrefix
    }

    static func == (left: Difference, right: Difference) -> Bool {
      left.spelledPrefix == right.spelledPrefix && left.canonicalPrefix == right.canonicalPrefix
    }
  }

  /// Absent if paths are spelled as they are, which is usual: then a spelling is one word.
  private let difference: Difference?

  /// Whether paths are spelled as they are.
  var isCanonical: Bool { difference == nil }

  init(spelled: [UInt8], canonical: [UInt8]) {
    if spelled == canonical {
      difference = nil
      return
    }
    var common = 0
    for (left, right) in zip(spelled.reversed(), canonical.reversed()) {
      if left != right { break }
      common += 1
    }
    // Back to the start of a component, so that no component is cut in two.
    while common > 0, spelled[spelled.count - common] != FileURLCoding.slash { common -= 1 }
    difference = Difference(Array(spelled.dropLast(common)), Array(canonical.dropLast(common)))
  }

  func url(of path: ItemPath) -> URL {
    let bytes = path.bytes
    guard let difference, bytes.starts(with: difference.canonicalPrefix) else { return FileURLCoding.url(of: bytes) }
    let prefixCount = difference.canonicalPrefix.count
    guard bytes.count == prefixCount || bytes[prefixCount] == FileURLCoding.slash else {
      return FileURLCoding.url(of: bytes)
    }
    return FileURLCoding.url(of: difference.spelledPrefix + bytes.dropFirst(prefixCount))
  }
}

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
    let bytes = try decode(encoded, text)
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

  /// What is behind `file://` and the host, which is empty or `localhost`.
  private static func pathPart(of text: String) -> Substring.UTF8View? {
    let rest = text.utf8[...]
    if let authority = rest.droppingPrefix("file://") {
      let host = authority.prefix { $0 != slash }
      guard host.isEmpty || String(Substring(host)).lowercased() == "localhost" else { return nil }
      return authority.dropFirst(host.count)
    }
    return rest.droppingPrefix("file:")
  }

  private static func decode(_ encoded: Substring.UTF8View, _ text: String) throws(FileCoordinationError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count)
    var iterator = encoded.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap(hexValue), let low = iterator.next().flatMap(hexValue) else {
        throw .invalidPath(text, because: "a '%' is not followed by two hexadecimal digits")
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  static func withoutTrailingSlashes(_ path: [UInt8]) -> [UInt8] {
    var path = path
    while path.count > 1, path.last == slash { path.removeLast() }
    return path
  }

  static func url(of path: [UInt8]) -> URL {
    if let text = String(validating: path, as: UTF8.self) { return URL(filePath: text, directoryHint: .notDirectory) }
    let encoded = path.map { byte in
      byte == slash || (byte < 0x80 && isUnreserved(byte))
        ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    guard let url = URL(string: "file://" + encoded.joined()) else {
      preconditionFailure("an encoded path is a URL: \(encoded.joined())")
    }
    return url
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    let scalar = Character(UnicodeScalar(byte))
    return scalar.isLetter || scalar.isNumber || "-._~".contains(scalar)
  }
}

extension String {
  fileprivate var hasFilePrefix: Bool { utf8[...].droppingPrefix("file:") != nil }
}

extension Substring.UTF8View {
  /// What follows a prefix in small letters, which may be capital ones here; `nil` when it isn't there.
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
