package import FoundationEssentials
package import SystemInterface

/// File URLs and the bytes of paths.
///
/// `URL.path` has a replacement character for what isn't UTF-8; percent encoding keeps every byte.
package enum FileURLCoding {
  /// The path of a file URL; `nil` for any other URL.
  package static func path(of url: URL) -> SystemPath? {
    guard url.isFileURL else { return nil }
    var bytes: [UInt8] = []
    var rest = Array(url.absoluteURL.path(percentEncoded: true).utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return SystemPath(bytes: bytes)
  }

  /// The URL of an absolute path.
  package static func url(of path: SystemPath, isDirectory: Bool) -> URL? {
    var text = "file://"
    for byte in path.bytes { text += plain.contains(byte) ? String(UnicodeScalar(byte)) : escaped(byte) }
    if isDirectory, path.bytes.last != UInt8(ascii: "/") { text += "/" }
    return URL(string: text)
  }

  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,=@".utf8)

  private static func escaped(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return digits.count == 1 ? "%0" + digits : "%" + digits
  }
}
