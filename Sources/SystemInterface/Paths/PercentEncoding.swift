/// Bytes of a path as they stand in the text of a URL, and back: the only place for these rules.
///
/// Bytes that Foundation's `URL(filePath:)` leaves as they are stay as they are, and all others are encoded, bytes that
/// aren't UTF-8 too. So one path always has one text, and file URLs of one path are equal whichever code made them.
///
/// - Note: RFC 3986, part 3.3.
package enum PercentEncoding {
  /// The text of a path's bytes, in which slashes separate components.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  package static func encode(_ bytes: [UInt8]) -> String {
    let count = bytes.reduce(0) { $0 + (isPlain($1) ? 1 : 3) }
    return unsafe String(unsafeUninitializedCapacity: count) { text in
      var index = 0
      func append(_ byte: UInt8) {
        unsafe text[index] = byte
        index += 1
      }
      for byte in bytes {
        if isPlain(byte) {
          append(byte)
        } else {
          append(UInt8(ascii: "%"))
          append(digit(byte >> 4))
          append(digit(byte & 15))
        }
      }
      return index
    }
  }

  /// The bytes that a text stands for; `nil` if a percent sign in it isn't followed by two hexadecimal digits.
  ///
  /// - Complexity: O(*n*) in the length of the text.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var iterator = text.makeIterator()
    while let byte = iterator.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = iterator.next().flatMap(value), let low = iterator.next().flatMap(value) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// Letters, digits and the marks `-._~!$&'()*+,;=:@/`, which have no meaning in a path: one bit for each byte below 64.
  private static var plainLow: UInt64 { 0x2fff_ffd2_0000_0000 }
  /// The same for the bytes from 64 to 127.
  private static var plainHigh: UInt64 { 0x47ff_fffe_87ff_ffff }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte < 128 && ((byte < 64 ? plainLow : plainHigh) >> UInt64(byte & 63)) & 1 == 1
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
