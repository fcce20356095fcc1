/// Base64 with its usual alphabet and padding, RFC 4648.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The value of each byte in the alphabet; 255 for others.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 255, count: 256)
    for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
    return values
  }()

  /// Encodes bytes.
  ///
  /// - Parameter bytes: The bytes.
  /// - Returns: Their text.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var start = 0
    while start < bytes.count {
      let count = min(3, bytes.count - start)
      var group = UInt32(bytes[start]) << 16
      if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[start + 2]) }
      for index in 0..<4 {
        text.append(index <= count ? alphabet[Int(group >> UInt32(18 - 6 * index) & 63)] : padding)
      }
      start += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes a text.
  ///
  /// - Parameter text: The text.
  /// - Returns: Its bytes; `nil` if it's no Base64.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count / 4 * 3)
    var (group, count, paddingCount): (UInt32, Int, Int) = (0, 0, 0)
    for byte in text.utf8 {
      if byte == padding {
        paddingCount += 1
      } else {
        let value = values[Int(byte)]
        guard value < 64, paddingCount == 0 else { return nil }
        group = group << 6 | UInt32(value)
      }
      count += 1
      guard count % 4 == 0 else { continue }
      guard paddingCount <= 2 else { return nil }
      group <<= 6 * UInt32(paddingCount)
      for index in 0..<(3 - paddingCount) { bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))) }
      group = 0
    }
    // The bits behind the last byte are zero in what encoders write; others are let pass.
    return count % 4 == 0 ? bytes : nil
  }
}
