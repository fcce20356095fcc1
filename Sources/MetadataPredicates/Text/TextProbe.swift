/// A test of a text against up to sixteen bytes of ASCII, eight bytes at a time.
///
/// It has no references, so that copying it costs nothing. It decides about most texts by their bytes. Where a byte that isn't ASCII may make
/// a difference it leaves the decision to others: a mark may belong to the last letter, and a few scalars are equal to one of ASCII.
struct TextProbe: Sendable {
  enum Kind: Sendable { case equal, prefix, suffix, contains }

  static let patternCountMax = 16
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let highBits: UInt64 = 0x8080_8080_8080_8080
  private static let caseBits: UInt64 = 0x2020_2020_2020_2020

  let kind: Kind
  private let foldsCase: Bool
  private let count: Int
  /// The first eight bytes or fewer, the first one in the lowest byte; zeros above.
  private let head: UInt64
  /// The last eight bytes, which overlap with the first ones; the same as `head` for a pattern of fewer.
  private let tail: UInt64
  /// The byte of the pattern that is searched for, eight times, and where it stands.
  private let rareBytes: UInt64
  private let rareIndex: Int
  /// The bits that make no difference in a search for that byte.
  private let rareMask: UInt64

  /// Prepares a test; `nil` for a pattern that's empty, longer, or isn't ASCII.
  ///
  /// - Parameters:
  ///   - kind: Where the pattern has to stand.
  ///   - pattern: Its bytes; small letters, if case makes no difference.
  ///   - foldsCase: Whether it doesn't.
  init?(_ kind: Kind, _ pattern: [UInt8], foldsCase: Bool) {
    if pattern.isEmpty || pattern.count > Self.patternCountMax || pattern.contains(where: { $0 >= 128 }) { return nil }
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    self.kind = kind
    self.foldsCase = foldsCase
    count = pattern.count
    head = word(pattern.prefix(8))
    tail = word(pattern.suffix(8))
    let rareIndex = pattern.indices.min { pattern[$0].commonness < pattern[$1].commonness } ?? 0
    self.rareIndex = rareIndex
    let rare = pattern[rareIndex]
    rareMask = foldsCase && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(rare) ? Self.caseBits : 0
    rareBytes = UInt64(rare) &* Self.ones
  }

  /// For steps that need none.
  static let none = TextProbe()

  private init() {
    (kind, foldsCase, count, head, tail, rareBytes, rareIndex, rareMask) = (.equal, false, 0, 0, 0, 0, 0, 0)
  }

  // MARK: Deciding

  /// Whether a text passes; `nil` if that isn't decided by bytes.
  ///
  /// - Complexity: O(*n*) for a search, otherwise O(1).
  func holds(_ text: String) -> Bool? {
    // Not by `utf8Span`, whose accessors are calls into the standard library.
    let result = unsafe text.utf8.withContiguousStorageIfAvailable { buffer in
      unsafe holds(UnsafeRawBufferPointer(buffer).bytes)
    }
    return result ?? nil
  }

  /// The same for a pattern at a fixed place; that's over so soon that calls would take longer.
  @inline(__always)
  func holdsAnchored(_ text: String) -> Bool? {
    let result = unsafe text.utf8.withContiguousStorageIfAvailable { buffer in
      unsafe holdsAnchored(UnsafeRawBufferPointer(buffer).bytes)
    }
    return result ?? nil
  }

  /// Whether a text in UTF-8 passes; `nil` if that isn't decided by bytes.
  func holds(_ bytes: RawSpan) -> Bool? { kind == .contains ? occurs(bytes) : holdsAnchored(bytes) }

  @inline(__always)
  private func holdsAnchored(_ bytes: RawSpan) -> Bool? { kind == .suffix ? isSuffix(bytes) : isPrefix(bytes) }

  /// A suffix is a whole number of characters, if its bytes are ASCII.
  @inline(__always)
  private func isSuffix(_ bytes: RawSpan) -> Bool? {
    let size = bytes.byteCount
    if size < count { return isASCII(bytes) ? false : nil }
    if count <= 8 { return isSame(word(bytes, size - count, count), head) }
    return isSame(word(bytes, size - count, 8), head, word(bytes, size - 8, 8), tail)
  }

  /// Behind the pattern a mark may follow, which belongs to its last letter.
  @inline(__always)
  private func isPrefix(_ bytes: RawSpan) -> Bool? {
    let size = bytes.byteCount
    if size < count { return isASCII(bytes) ? false : nil }
    let result =
      count <= 8
      ? isSame(word(bytes, 0, count), head)
      : isSame(word(bytes, 0, 8), head, word(bytes, count - 8, 8), tail)
    guard result == true, size > count else { return result }
    if byte(bytes, count) >= 128 { return nil }
    return kind == .prefix
  }

  private func occurs(_ bytes: RawSpan) -> Bool? {
    let size = bytes.byteCount
    if size < count { return isASCII(bytes) ? false : nil }
    var seen: UInt64 = 0
    var position = 0
    while position < size {
      // The last block overlaps the one before it; of a short text it's the only one, with zeros behind.
      let start = size < 8 ? 0 : min(position, size - 8)
      let block = word(bytes, start, min(8, size))
      seen |= block
      let difference = (block | rareMask) ^ rareBytes
      // A bit for each byte that is the sought one, and maybe for some above it.
      var candidates = (difference &- Self.ones) & ~difference & Self.highBits
      while candidates != 0 {
        let first = start + candidates.trailingZeroBitCount / 8 - rareIndex
        candidates &= candidates &- 1
        if first < 0 || first + count > size || !stands(at: first, bytes) { continue }
        // A mark behind it would belong to its last letter; there may be another place.
        return first + count < size && byte(bytes, first + count) >= 128 ? nil : true
      }
      position += 8
    }
    return seen & Self.highBits == 0 ? false : nil
  }

  private func stands(at place: Int, _ bytes: RawSpan) -> Bool {
    if count <= 8 { return folded(word(bytes, place, count)) == head }
    return folded(word(bytes, place, 8)) == head && folded(word(bytes, place + count - 8, 8)) == tail
  }

  // MARK: Words of bytes

  @inline(__always)
  private func isSame(_ bytes: UInt64, _ pattern: UInt64) -> Bool? {
    if bytes & Self.highBits != 0 { return nil }
    return folded(bytes) == pattern
  }

  @inline(__always)
  private func isSame(_ first: UInt64, _ head: UInt64, _ last: UInt64, _ tail: UInt64) -> Bool? {
    if (first | last) & Self.highBits != 0 { return nil }
    return folded(first) == head && folded(last) == tail
  }

  /// Makes small letters of large ones; other bytes stay, also those above ASCII.
  @inline(__always)
  private func folded(_ word: UInt64) -> UInt64 {
    if !foldsCase { return word }
    let low = word & ~Self.highBits
    // The high bit says whether a byte is at least "A", and whether it's above "Z".
    let isAtLeastA = low &+ UInt64(128 - 65) &* Self.ones
    let isAboveZ = low &+ UInt64(128 - 91) &* Self.ones
    return word | ((isAtLeastA & ~isAboveZ & ~word & Self.highBits) >> 2)
  }

  /// Up to eight bytes, the first one in the lowest byte, with zeros above.
  @inline(__always)
  private func word(_ bytes: RawSpan, _ start: Int, _ length: Int) -> UInt64 {
    let size = bytes.byteCount
    if size >= 8 {
      // Bytes behind the end aren't read: the word begins earlier, and is moved.
      let place = min(start, size - 8)
      let shift = UInt64(truncatingIfNeeded: (start - place) &* 8)
      let word =
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)) &>> shift
      return length == 8 ? word : word & (1 &<< UInt64(truncatingIfNeeded: length &* 8) &- 1)
    }
    var word: UInt64 = 0
    var index = start + length
    while index > start {
      index -= 1
      word = word << 8 | UInt64(byte(bytes, index))
    }
    return word
  }

  @inline(__always)
  private func byte(_ bytes: RawSpan, _ index: Int) -> UInt8 {
    unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
  }

  private func isASCII(_ bytes: RawSpan) -> Bool {
    bytes.byteOffsets.allSatisfy { byte(bytes, $0) < 128 }
  }
}

extension UInt8 {
  /// Bytes as they are found in names of files, the commonest first.
  private static let common = Array("eaitnsrolcdmup.ghf_b-y1 0w2v3k4x56789jqzESTACIMRDPNLOFBGHUVWKYXJQZ".utf8)

  /// How common a byte is in names; 0 for those that are seldom there.
  fileprivate var commonness: Int {
    guard let place = Self.common.firstIndex(of: self) else { return 0 }
    return Self.common.count - place
  }
}
