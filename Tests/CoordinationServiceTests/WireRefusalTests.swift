import CoordinationService
import FileAccessArbiter
import Testing

@Suite struct WireRefusalTests {
  /// The error of decoding a payload as a process's frame.
  private func refusal(of payload: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) -> WireError? {
    #expect(throws: WireError.self, sourceLocation: sourceLocation) {
      try wireFrames(ClientFrame.self, in: Self.framed(payload))
    }
  }

  private static func framed(_ payload: [UInt8]) -> [UInt8] { bytes(of: UInt32(payload.count)) + payload }

  private static func bytes(of value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  /// The payload of `.event(.presenterLocated)`.
  private static func located(at path: [UInt8]) -> [UInt8] {
    [3, 6] + bytes(of: UInt64(9)) + bytes(of: UInt16(path.count)) + path + [0]
  }

  // MARK: - Damage

  @Test("A stream that ends inside a frame waits; a frame that ends inside a value is refused")
  func truncations() throws {
    let sample = WireFrameSample(seed: 3, rounds: 3)
    for frame in sample.clientFrames { try expectTruncationsRefused(of: frame) }
    for frame in sample.serverFrames { try expectTruncationsRefused(of: frame) }
  }

  private func expectTruncationsRefused<Frame: WireValue>(of frame: Frame) throws {
    let bytes = try wireBytes(of: frame)
    for count in 0..<bytes.count {
      #expect(try wireFrames(Frame.self, in: Array(bytes.prefix(count))).isEmpty)
    }
    for count in 0..<(bytes.count - 4) {
      let payload = Array(bytes[4...].prefix(count))
      // No value is a beginning of another one, but a hello of another version is any hello's beginning.
      #expect(throws: WireError.self) { try wireFrames(Frame.self, in: Self.framed(payload)) }
    }
  }

  @Test("A frame with any one byte replaced is another frame or refused, and no frame has two spellings")
  func corruptions() throws {
    let sample = WireFrameSample(seed: 4, rounds: 1)
    for frame in sample.clientFrames { try corrupt(frame) }
    for frame in sample.serverFrames { try corrupt(frame) }
  }

  private func corrupt<Frame: WireValue>(_ frame: Frame) throws {
    let bytes = try wireBytes(of: frame)
    for index in bytes.indices.dropFirst(4) {
      for value in [0, 1, 2, 0x2e, 0x2f, 0x7f, 0x80, 0xff, bytes[index] ^ 1] as [UInt8] where value != bytes[index] {
        var damaged = bytes
        damaged[index] = value
        guard let decoded = try? wireFrames(Frame.self, in: damaged).first else { continue }
        if index < 9, case .hello = decoded as? ClientFrame { continue }
        #expect(try wireBytes(of: decoded) == damaged)
      }
    }
  }

  @Test("Random bytes are refused or decoded, never more")
  func randomBytes() {
    var random = WireFrameGenerator(seed: 5)
    for _ in 0..<20_000 {
      var payload = (0..<random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      if !payload.isEmpty { payload[0] = UInt8(random.below(20)) }
      _ = try? wireFrames(ClientFrame.self, in: Self.framed(payload))
      _ = try? wireFrames(ServerFrame.self, in: Self.framed(payload))
    }
  }

  // MARK: - Values

  @Test(
    "A path that isn't canonical is refused",
    arguments: [
      "", "a", "a/b", "//", "/a/", "/a//b", "//a", "/.", "/..", "/a/.", "/a/..", "/./a", "/../a", "/a/../b", "/a/./b",
      "/a\u{0}b", "/\u{0}", "\u{0}", "/\u{0}/", "/\u{0}a", "/\u{0}//a", "/\u{0}/a/b\u{0}", "/a/\u{0}/b",
    ])
  func nonCanonicalPaths(path: String) {
    let error = refusal(of: Self.located(at: Array(path.utf8)))
    #expect(error?.code == .invalidPath)
    #expect(error?.offset == 16)
  }

  @Test(
    "A canonical path, or an alias, is accepted, up to the longest",
    arguments: ["/", "/a", "/...", "/..a", "/.a/b.", "/a b/c", "/\u{0}/1-2", "/\u{0}/1-2/a"])
  func canonicalPaths(path: String) throws {
    for bytes in [Array(path.utf8), Array(path.utf8) + [UInt8](repeating: 0xff, count: 65535 - path.utf8.count)] {
      let expected = ClientFrame.event(
        .presenterLocated(PresenterID(9), ItemPath(canonical: bytes), observing: nil))
      #expect(try wireFrames(ClientFrame.self, in: Self.framed(Self.located(at: bytes))) == [expected])
    }
  }

  @Test("Each kind of damage has its own code and says where it is")
  func codes() {
    let number = Self.bytes(of: UInt64(1))
    let named: [UInt8] = [2] + number
    let cases: [(payload: [UInt8], code: WireError.Code, offset: Int)] = [
      ([], .truncated, 4),
      ([0], .unknownTag, 4),
      ([3, 20], .unknownTag, 5),
      ([8, 0], .trailingBytes, 5),
      ([3, 8] + number + number + [2], .invalidFlag, 22),
      (named + Self.bytes(of: UInt32(1)) + [0xff], .invalidText, 17),
      (named + Self.bytes(of: UInt32(2)) + [0xc0, 0x80], .invalidText, 17),
      (named + Self.bytes(of: UInt32(100)), .truncated, 17),
      (named + Self.bytes(of: UInt32.max), .textTooLong, 13),
      ([2] + Self.bytes(of: UInt64(1) << 40), .numberOutOfRange, 5),
      ([3, 4] + Self.bytes(of: UInt64(1) << 40), .numberOutOfRange, 6),
      ([3, 7] + Self.bytes(of: UInt64(1) << 40), .numberOutOfRange, 6),
      ([3, 3] + number + Self.bytes(of: UInt32(100_001)), .listTooLong, 14),
      ([3, 3] + number + Self.bytes(of: UInt32(100_000)) + [1], .truncated, 14),
    ]
    for (payload, code, offset) in cases {
      let error = refusal(of: payload)
      #expect(error?.code == code, "\(payload)")
      #expect(error?.offset == offset, "\(payload)")
    }
  }

  @Test("A set that is out of order or names something twice is refused")
  func unorderedSets() throws {
    func located(observing attributes: [String]) -> [UInt8] {
      var payload = Self.located(at: [UInt8(ascii: "/")]).dropLast() + [1]
      payload += Self.bytes(of: UInt32(attributes.count))
      for attribute in attributes { payload += Self.bytes(of: UInt32(attribute.utf8.count)) + Array(attribute.utf8) }
      return Array(payload)
    }
    #expect(try wireFrames(ClientFrame.self, in: Self.framed(located(observing: ["a", "b"]))).count == 1)
    for attributes in [["b", "a"], ["a", "a"], ["é", "e\u{301}"]] {
      #expect(refusal(of: located(observing: attributes))?.code == .unorderedSet)
    }
  }

  @Test("A negative limit is refused")
  func negativeLimits() throws {
    let limits = AccessRequest.Limits(waiting: 0x0102_0304_0506_0708)
    var bytes = try wireBytes(
      of: ClientFrame.event(
        .accessRequested(
          AccessID(1),
          AccessRequest(client: ClientID(1), purpose: PurposeID(1), label: "", items: [], limits: limits))))
    // The largest byte of the limit; behind it are four absent limits, a flag and no presenter.
    bytes[bytes.count - 7] = 0x80
    let error = #expect(throws: WireError.self) { try wireFrames(ClientFrame.self, in: bytes) }
    #expect(error?.code == .numberOutOfRange)
  }
}
