internal import CHashShims

/// Hashes contents that come in pieces, by the processor's instructions where it has them.
///
/// - Note: SHA-256, FIPS 180-4.
package struct ContentHasher: Sendable {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  /// The beginning of a block that isn't complete.
  private var rest: [UInt8] = []
  private var byteCount: UInt64 = 0
  private let usesInstructions: Bool

  /// Whether the processor has instructions for this hash.
  package static let hasInstructions = shim_sha256_is_available() != 0

  /// Begins a hash.
  package init() { self.init(usingInstructions: Self.hasInstructions) }

  /// - Parameter usingInstructions: Only where ``hasInstructions``.
  init(usingInstructions: Bool) {
    usesInstructions = usingInstructions
    rest.reserveCapacity(Self.blockSize)
  }

  /// Adds the next piece of the contents.
  ///
  /// - Parameter bytes: Any number of bytes.
  /// - Complexity: O(bytes).
  package mutating func update(_ bytes: [UInt8]) { update(bytes[...]) }

  /// Adds the next piece of the contents.
  ///
  /// - Parameter bytes: Any number of bytes.
  /// - Complexity: O(bytes).
  package mutating func update(_ bytes: ArraySlice<UInt8>) {
    byteCount &+= UInt64(bytes.count)
    var bytes = bytes
    if !rest.isEmpty {
      let missing = bytes.prefix(Self.blockSize - rest.count)
      rest += missing
      bytes = bytes.dropFirst(missing.count)
      if rest.count < Self.blockSize { return }
      hashBlocks(rest[...])
      rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.count - bytes.count % Self.blockSize
    hashBlocks(bytes.prefix(whole))
    rest += bytes.dropFirst(whole)
  }

  /// The hash of all pieces so far.
  package func finalized() -> ContentHash {
    var copy = self
    let bitCount = byteCount &* 8
    let zeroCount = (2 * Self.blockSize - 9 - rest.count) % Self.blockSize
    copy.update([0x80] + [UInt8](repeating: 0, count: zeroCount))
    copy.update((0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * $0)) })
    return ContentHash(words: copy.state)
  }

  private static let blockSize = 64

  private mutating func hashBlocks(_ bytes: ArraySlice<UInt8>) {
    if bytes.isEmpty { return }
    if usesInstructions {
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe state.withUnsafeMutableBufferPointer { state in
          unsafe Self.constants.withUnsafeBufferPointer { constants in
            unsafe shim_sha256_blocks(
              state.baseAddress, constants.baseAddress, bytes.baseAddress, bytes.count / Self.blockSize)
          }
        }
      }
    } else {
      let span = bytes.span
      var words = [UInt32](repeating: 0, count: Self.blockSize)
      for block in 0..<(span.count / Self.blockSize) { hashBlock(span, at: block * Self.blockSize, &words) }
    }
  }
}

// MARK: - In Swift

extension ContentHasher {
  /// FIPS 180-4, 6.2.2.
  private mutating func hashBlock(_ bytes: borrowing Span<UInt8>, at start: Int, _ words: inout [UInt32]) {
    for index in 0..<16 {
      let place = start + 4 * index
      words[index] =
        UInt32(bytes[place]) << 24 | UInt32(bytes[place + 1]) << 16 | UInt32(bytes[place + 2]) << 8
        | UInt32(bytes[place + 3])
    }
    for index in 16..<64 {
      let (early, late) = (words[index - 15], words[index - 2])
      let first = Self.rotated(early, 7) ^ Self.rotated(early, 18) ^ early >> 3
      let second = Self.rotated(late, 17) ^ Self.rotated(late, 19) ^ late >> 10
      words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
    }
    rotate(by: words)
  }

  private mutating func rotate(by words: [UInt32]) {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    for (word, constant) in zip(words, Self.constants) {
      let sum1 = Self.rotated(e, 6) ^ Self.rotated(e, 11) ^ Self.rotated(e, 25)
      let first = h &+ sum1 &+ (e & f ^ ~e & g) &+ constant &+ word
      let sum0 = Self.rotated(a, 2) ^ Self.rotated(a, 13) ^ Self.rotated(a, 22)
      let second = sum0 &+ (a & b ^ a & c ^ b & c)
      (h, g, f, e) = (g, f, e, d &+ first)
      (d, c, b, a) = (c, b, a, first &+ second)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
  }

  @inline(__always)
  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

  /// FIPS 180-4, 4.2.2: of the cube roots of the first 64 primes, the first 32 bits behind the point.
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
