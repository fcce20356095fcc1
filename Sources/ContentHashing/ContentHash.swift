/// The SHA-256 of some contents.
///
/// - Note: FIPS 180-4.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  /// Eight words, the first of which holds the first four bytes.
  private let words: (UInt64, UInt64, UInt64, UInt64)

  init(words: [UInt32]) {
    func pair(_ index: Int) -> UInt64 { UInt64(words[2 * index]) << 32 | UInt64(words[2 * index + 1]) }
    self.words = (pair(0), pair(1), pair(2), pair(3))
  }

  /// Hashes bytes.
  ///
  /// - Parameter bytes: All of the contents.
  package init(of bytes: some Collection<UInt8>) {
    var hasher = ContentHasher()
    hasher.update(Array(bytes))
    self = hasher.finalized()
  }

  /// Reads the text of a hash.
  ///
  /// - Parameter text: 64 lower-case hexadecimal digits; anything else isn't a hash.
  package init?(_ text: some StringProtocol) { self.init(hexadecimal: Array(text.utf8)) }

  /// Reads 64 hexadecimal digits in lower case.
  ///
  /// - Parameter digits: The digits as text; `nil` if they are anything else.
  package init?(hexadecimal digits: [UInt8]) {
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var count = 0
    for byte in digits {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      default: return nil
      }
      switch count >> 4 {
      case 0: words.0 = words.0 << 4 | UInt64(digit)
      case 1: words.1 = words.1 << 4 | UInt64(digit)
      case 2: words.2 = words.2 << 4 | UInt64(digit)
      case 3: words.3 = words.3 << 4 | UInt64(digit)
      default: return nil
      }
      count += 1
    }
    if count != 64 { return nil }
    self.words = words
  }

  /// The first eight bytes: enough to find out whether a short text was changed by accident.
  package var prefix: UInt64 { words.0 }

  /// 64 lower-case hexadecimal digits.
  package var description: String {
    [words.0, words.1, words.2, words.3].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  package static func == (first: Self, second: Self) -> Bool { first.words == second.words }

  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
