import CoordinationService
import FileAccessArbiter

// The parts of frames.

extension WireFrameGenerator: RandomNumberGenerator {
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
  mutating func flag() -> Bool { Bool.random(using: &self) }
  mutating func oneOf<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

  mutating func maybe<Value>(_ make: (inout Self) -> Value) -> Value? { flag() ? make(&self) : nil }

  mutating func list<Value>(_ make: (inout Self) -> Value) -> [Value] {
    var result: [Value] = []
    for _ in 0..<below(4) { result.append(make(&self)) }
    return result
  }

  /// Small ones and the largest more often than chance would have it.
  mutating func number() -> UInt64 { oneOf([0, 1, .max, next(), next() >> 32]) }

  mutating func ownNumber() -> UInt64 {
    oneOf([0, 1, WireFormat.ownNumberLimit - 1, next() % WireFormat.ownNumberLimit])
  }

  mutating func access() -> AccessID { AccessID(ownNumber()) }
  mutating func presenter() -> PresenterID { PresenterID(ownNumber()) }
  mutating func purpose() -> PurposeID { PurposeID(ownNumber()) }
  mutating func time() -> Int64 { Int64(bitPattern: number()) }
  mutating func limit() -> Int64 { Int64(number() >> 1) }
  mutating func versionChange() -> Message.VersionChange { oneOf([.gained, .lost, .resolved]) }

  mutating func text() -> String {
    oneOf(["", "editor", "é", "e\u{301}", "日本語", "a\u{0}b", "👩‍👧", String(repeating: "long ", count: below(60))])
  }

  mutating func texts() -> Set<String> { Set(list { $0.text() }) }

  mutating func path() -> ItemPath {
    var bytes: [UInt8] = []
    for _ in 0..<below(5) {
      bytes.append(UInt8(ascii: "/"))
      bytes += oneOf([Array("a".utf8), Array("...".utf8), Array(".hidden".utf8), Array("Größe".utf8), [0xff, 0xfe]])
    }
    return bytes.isEmpty ? .root : ItemPath(canonical: bytes)
  }
}
