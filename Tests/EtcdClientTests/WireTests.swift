import EtcdClient
import SeededRandom
import Testing

@Suite("Bytes of the gateway")
struct WireTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)[...]) }

  @Test(
    "values of JSON are read",
    arguments: [
      (" null ", JSONValue.null), ("true", .bool(true)), ("[ ]", .array([])), ("{ }", .object([:])),
      ("-0.5e+3", .number("-0.5e+3")),
      ("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\"", .string("a\"\\/\u{8}\u{C}\n\r\té😀")),
      ("{\"a\":[1,{\"b\":false}],\"a\":2}", .object(["a": .number("2")])),
    ])
  func values(text: String, value: JSONValue) throws {
    #expect(try parse(text) == value)
  }

  @Test(
    "bytes that aren't JSON are refused",
    arguments: [
      "", "nul", "truex", "[1,]", "[1 2]", "{\"a\"}", "{a:1}", "{\"a\":1,}", "01", "1.", "+1", "-", "1e", ".5", "\"a",
      "\"\\x\"", "\"\\u12\"",
      "\"\\ud800\"", "\"\\udc00\"", "\"\n\"", "[1]]", "<html>", "\"\\uD83D\\u0041\"",
    ])
  func malformed(text: String) {
    #expect(throws: JSONParser.Failure.self) { try parse(text) }
  }

  @Test("a string that isn't UTF-8 is refused, and so is deep nesting, one level above the limit")
  func limits() throws {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
    let depth = JSONParser.depthMax
    _ = try parse(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    #expect(throws: JSONParser.Failure.self) {
      try parse(String(repeating: "[", count: depth + 1) + String(repeating: "]", count: depth + 1))
    }
  }

  private func value(_ random: inout SplitMix, depth: Int) -> JSONValue {
    switch random.below(depth == 0 ? 4 : 6) {
    case 0: return .null
    case 1: return .bool(random.chance(1, in: 2))
    case 2: return .number(String(Int64(bitPattern: random.next())))
    case 3:
      let scalars = (0..<random.below(6)).map { _ in
        random.pick(["a", "\"", "\\", "\n", "\u{1}", "é", "😀", "/", "\u{7F}"])
      }
      return .string(scalars.joined())
    case 4: return .array((0..<random.below(4)).map { _ in value(&random, depth: depth - 1) })
    default:
      let members = (0..<random.below(4)).map { ("m\($0)", value(&random, depth: depth - 1)) }
      return .object(Dictionary(uniqueKeysWithValues: members))
    }
  }

  @Test(
    "a value that was written is read again, and no start of it alone",
    arguments: Budget.seeds(normal: 200, long: 10_000))
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let value = JSONValue.array([value(&random, depth: 4)])
    let bytes = value.encoded
    #expect(try JSONParser.parse(bytes[...]) == value)
    for end in 0..<bytes.count { #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(bytes[..<end]) } }
  }

  @Test(
    "Base64 has the vectors of RFC 4648",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(text: String, encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
  }

  @Test("no other text is Base64", arguments: ["Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm-_", "Zg=v"])
  func noBase64(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test("all bytes survive Base64", arguments: Budget.seeds(normal: 50, long: 1_000))
  func base64RoundTrip(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let bytes = (0..<random.below(300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    #expect(Base64.decode(Base64.encode(bytes)) == bytes)
  }

  @Test("lines are the same however their bytes are cut")
  func lines() {
    let bytes = Array("one\n\ntwo\nthree\nrest".utf8)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        var splitter = LineSplitter()
        var lines: [String] = []
        for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
          for line in splitter.take(Array(piece)) ?? [] { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        #expect(lines == ["one", "two", "three"])
      }
    }
  }

  @Test("the range of a prefix has all keys that begin with it, and no other")
  func prefixes() {
    let keys: [[UInt8]] = [
      [1], [1, 0], [1, 255], [1, 255, 255], [2], [255], [255, 255], [255, 255, 7], [255, 254],
    ]
    for prefix in keys + [[]] {
      let range = EtcdKeyRange.prefix(EtcdBytes(prefix))
      for key in keys { #expect(range.contains(EtcdBytes(key)) == key.starts(with: prefix), "\(key) in \(prefix)") }
    }
  }

  @Test("128 operations and comparisons are allowed, those of nested transactions included, and each key once")
  func transactionLimits() {
    let puts = (0..<128).map { EtcdOperation.put(EtcdBytes("k\($0)"), "") }
    #expect(EtcdTransaction(then: puts).flaw == nil)
    #expect(EtcdTransaction(then: puts + [.range(.key("a"))]).flaw?.code == .tooManyOperations)
    #expect(
      EtcdTransaction(if: (0..<129).map { .isAbsent(EtcdBytes("k\($0)")) }, then: []).flaw?.code == .tooManyOperations)
    #expect(EtcdTransaction(then: [.transaction(EtcdTransaction(then: Array(puts.prefix(127))))]).flaw == nil)
    #expect(EtcdTransaction(then: [.transaction(EtcdTransaction(then: puts))]).flaw?.code == .tooManyOperations)
    #expect(EtcdTransaction(then: [], else: [puts[0], puts[0]]).flaw?.code == .duplicateKey)
    #expect(EtcdTransaction(then: [.put("", "")]).flaw?.code == .invalidArgument)
    let name = EtcdOperationName(key: "n", lease: nil)
    #expect(EtcdTransaction(then: Array(puts.prefix(126))).named(name).flaw == nil)
    #expect(EtcdTransaction(then: Array(puts.prefix(127))).named(name).flaw?.code == .tooManyOperations)
  }
}
