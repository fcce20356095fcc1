import SystemInterface
import Testing

@Suite("Bytes of paths in the text of URLs")
struct PercentEncodingTests {
  @Test("Every byte comes back, whatever is around it")
  func everyByte() {
    for byte in UInt8.min...UInt8.max {
      let bytes = [UInt8(ascii: "/"), byte, UInt8(ascii: "4"), byte]
      let text = PercentEncoding.encode(bytes)
      #expect(text.utf8.allSatisfy { $0 > 32 && $0 < 127 })
      #expect(PercentEncoding.decode(text.utf8) == bytes)
    }
  }

  @Test(
    "Characters with a meaning in a URL are encoded, in capital letters; the rest stays",
    arguments: [
      ("", ""), ("/a/b-._~", "/a/b-._~"), ("a b%", "a%20b%25"), ("?#[]", "%3F%23%5B%5D"), ("\n", "%0A"),
      ("\u{E9}", "%C3%A9"), ("!$&'()*+,;=:@", "!$&'()*+,;=:@"),
    ])
  func texts(path: String, text: String) {
    #expect(PercentEncoding.encode(Array(path.utf8)) == text)
  }

  @Test(
    "Small letters are digits too; a percent sign without two digits is refused",
    arguments: ["%", "a%4", "%4g", "%%41"])
  func decoding(malformed: String) {
    #expect(PercentEncoding.decode("%c3%A9%2f".utf8) == [0xC3, 0xA9, 0x2F])
    #expect(PercentEncoding.decode(malformed.utf8) == nil)
  }
}
