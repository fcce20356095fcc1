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
  package init?(_ text: some StringProtocol) {
    guard text.utf8.count == 64,
      text.utf8.allSatisfy({
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
      })
    else { return nil }
    var words: [UInt64] = []
    var rest = text[...]
    while !rest.isEmpty {
      guard let word = UInt64(rest.prefix(16), radix: 16) else { return nil }
      words.append(word)
      rest = rest.dropFirst(16)
    }
    self.words = (words[0], words[1], words[2], words[3])
  }

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
