/// A text prepared for being sorted as people expect: `a2` before `A10` before `b1`.
///
/// Numbers count by their value, then letters without case and marks, then marks, then case with small letters first: of marks and of
/// case the first difference decides, as in Unicode's collation: `cote`, `coté`, `côte`, `côté`, and `aB` before `Ab`. Signs come before
/// digits, and digits before letters. It's one order for all languages, close to what `localizedStandardCompare` does for
/// English: there is no table of a language's own order. Texts that are canonically equal have equal keys.
///
/// Making a key costs much more than comparing two: make one for each text, once.
///
/// - Note: Rule R32.
public struct CollationKey: Hashable, Sendable, Comparable {
  /// The first bytes, which usually decide.
  private let head: UInt64
  private let bytes: [UInt8]

  /// Makes the key of a text.
  ///
  /// - Parameter text: Any text.
  /// - Complexity: O(*n*).
  public init(_ text: String) {
    let text = Self.canonical(text)
    var builder = Builder()
    builder.append(text)
    bytes = builder.finished(text)
    head = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - min(8, bytes.count)))
  }

  /// The text in the form that all texts have that are canonically equal to it.
  private static func canonical(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 128 }) { return text }
    return String(String.UnicodeScalarView(Folding([]).folded(text)))
  }

  /// Compares the texts of both keys.
  public static func < (left: Self, right: Self) -> Bool {
    if left.head != right.head { return left.head < right.head }
    return left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// Levels one after the other, divided by a zero, which no level contains.
  private struct Builder {
    private var letters: [UInt8] = []
    private var marks: [UInt8] = []
    private var cases: [UInt8] = []

    private static let sign: UInt8 = 0x10
    private static let number: UInt8 = 0x20
    private static let latin: UInt8 = 0x30
    private static let otherLetter: UInt8 = 0x60
    /// For a number with more digits than a byte counts.
    private static let digitCountMax = 250

    private static let folding = Folding([.caseInsensitive])

    mutating func append(_ text: String) {
      letters.reserveCapacity(2 * text.utf8.count + 8)
      var rest = text.unicodeScalars[...]
      while let scalar = rest.first {
        if ("0"..."9").contains(scalar) {
          let digits = rest.prefix { ("0"..."9").contains($0) }
          append(digits: digits)
          rest = rest[digits.endIndex...]
        } else if scalar.isASCII {
          append(ascii: UInt8(scalar.value))
          rest.removeFirst()
        } else {
          append(other: scalar)
          rest.removeFirst()
        }
      }
    }

    private mutating func append(digits: Substring.UnicodeScalarView) {
      let significant = digits.drop { $0 == "0" }
      letters.append(Self.number)
      letters.append(UInt8(min(significant.count, Self.digitCountMax)) + 1)
      letters += significant.map { UInt8($0.value) }
    }

    private mutating func append(ascii byte: UInt8) {
      let lower = byte.lowercasedASCII
      if lower &- 97 < 26 {
        letters.append(Self.latin + (lower - 97))
        note(isUpper: lower != byte)
      } else {
        letters.append(Self.sign)
        letters.append(byte | 0x80)
      }
    }

    private mutating func append(other scalar: Unicode.Scalar) {
      var folded: [Unicode.Scalar] = []
      Self.folding.append(scalar, to: &folded)
      for part in folded {
        if part.isDiacritic {
          // Which letter it belongs to, and which mark it is.
          appendPlace(to: &marks)
          appendNumber(part.value, to: &marks)
        } else if part.isASCII {
          append(ascii: UInt8(part.value))
        } else {
          letters.append(
            part.properties.isAlphabetic || part.properties.numericType != nil ? Self.otherLetter : Self.sign + 1)
          appendNumber(part.value, to: &letters)
        }
      }
      if scalar.properties.isUppercase { note(isUpper: true) }
    }

    private mutating func note(isUpper: Bool) {
      guard isUpper else { return }
      appendPlace(to: &cases)
    }

    /// Where the text is: a later place comes first, since a text without the difference comes first that another one has here.
    private func appendPlace(to bytes: inout [UInt8]) {
      appendNumber(Self.numberMax - min(UInt32(clamping: letters.count), Self.numberMax), to: &bytes)
    }

    private static let numberMax: UInt32 = 1 << 21 - 1

    /// Three bytes without a zero.
    private func appendNumber(_ number: UInt32, to bytes: inout [UInt8]) {
      bytes.append(UInt8(number >> 14 & 0x7F) | 0x80)
      bytes.append(UInt8(number >> 7 & 0x7F) | 0x80)
      bytes.append(UInt8(number & 0x7F) | 0x80)
    }

    /// The text itself is last: only texts that are canonically equal have equal keys.
    func finished(_ text: String) -> [UInt8] { letters + [0] + marks + [0] + cases + [0] + Array(text.utf8) }
  }
}
