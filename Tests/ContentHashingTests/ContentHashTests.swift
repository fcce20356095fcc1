import SeededRandom
import Testing

@testable import ContentHashing

/// By the processor's instructions and without, if it has them.
@Suite("SHA-256", .timeLimit(.minutes(4)))
struct ContentHashTests {
  static let ways = ContentHasher.hasInstructions ? [false, true] : [false]

  private func hash(_ text: String, _ usingInstructions: Bool) -> String {
    var hasher = ContentHasher(usingInstructions: usingInstructions)
    hasher.update(Array(text.utf8))
    return hasher.finalized().description
  }

  @Test("The examples of FIPS 180-2, appendix B, and of the empty message", arguments: ways)
  func examples(usingInstructions: Bool) {
    let expected = [
      "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ]
    for (text, digits) in expected { #expect(hash(text, usingInstructions) == digits) }
  }

  @Test("A million times the letter a (FIPS 180-2, appendix B.3), in pieces of any size", arguments: ways)
  func million(usingInstructions: Bool) {
    var hasher = ContentHasher(usingInstructions: usingInstructions)
    var random = SplitMix(state: 7)
    var count = 0
    while count < 1_000_000 {
      let piece = min(1_000_000 - count, random.below(20_000))
      hasher.update([UInt8](repeating: UInt8(ascii: "a"), count: piece))
      count += piece
    }
    #expect(hasher.finalized().description == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test("Both ways agree on messages of each length up to three blocks, in any two pieces")
  func agreement() {
    for count in 0..<193 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
      let whole = ContentHash(of: bytes)
      for usingInstructions in Self.ways {
        var hasher = ContentHasher(usingInstructions: usingInstructions)
        let cut = count / 3
        hasher.update(bytes[..<cut])
        hasher.update(bytes[cut...])
        #expect(hasher.finalized() == whole)
      }
    }
  }

  @Test("A hash is read from its text, and from nothing else")
  func text() throws {
    let hash = ContentHash(of: Array("abc".utf8))
    #expect(ContentHash(hash.description) == hash)
    #expect(ContentHash(of: []) != hash)
    for wrong in ["", String(hash.description.dropLast()), hash.description.uppercased(), hash.description + "0"] {
      #expect(ContentHash(wrong) == nil)
    }
    #expect(ContentHash("+" + hash.description.dropFirst()) == nil)
  }
}
