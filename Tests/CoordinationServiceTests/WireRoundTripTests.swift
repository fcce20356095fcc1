import CoordinationService
import FileAccessArbiter
import Testing

/// All frames of both directions, many times, with values that the seed determines.
struct WireFrameSample {
  let clientFrames: [ClientFrame]
  let serverFrames: [ServerFrame]

  init(seed: UInt64, rounds: Int) {
    var generator = WireFrameGenerator(seed: seed)
    var clientFrames: [ClientFrame] = []
    var serverFrames: [ServerFrame] = []
    for _ in 0..<rounds {
      for index in 0..<WireFrameGenerator.clientFrameCaseCount {
        clientFrames.append(generator.clientFrame(ofCase: index))
      }
      for index in 0..<WireFrameGenerator.serverFrameCaseCount {
        serverFrames.append(generator.serverFrame(ofCase: index))
      }
    }
    self.clientFrames = clientFrames
    self.serverFrames = serverFrames
  }
}

/// The bytes of one frame.
func wireBytes(of frame: some WireValue) throws -> [UInt8] {
  var bytes: [UInt8] = []
  try WireFormat.append(frame, to: &bytes)
  return bytes
}

/// The frames in a stream of bytes.
func wireFrames<Frame: WireValue>(_ type: Frame.Type, in bytes: [UInt8]) throws -> [Frame] {
  var decoder = FrameDecoder<Frame>()
  decoder.append(bytes.span.bytes)
  var frames: [Frame] = []
  while let frame = try decoder.next() { frames.append(frame) }
  return frames
}

@Suite struct WireRoundTripTests {
  @Test("A decoded frame is the one that was encoded, in pieces of any size", arguments: [1, 2, 7, 100, 5000])
  func roundTrip(pieceSizeMax: Int) throws {
    let sample = WireFrameSample(seed: UInt64(pieceSizeMax), rounds: 60)
    try expectRoundTrip(sample.clientFrames, pieceSizeMax)
    try expectRoundTrip(sample.serverFrames, pieceSizeMax)
  }

  private func expectRoundTrip<Frame: WireValue & Equatable>(_ frames: [Frame], _ pieceSizeMax: Int) throws {
    var bytes: [UInt8] = []
    for frame in frames { try WireFormat.append(frame, to: &bytes) }
    var random = WireFrameGenerator(seed: UInt64(frames.count))
    var decoder = FrameDecoder<Frame>()
    var decoded: [Frame] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(1 + random.below(pieceSizeMax))
      rest = rest.dropFirst(piece.count)
      decoder.append(piece.span.bytes)
      while let frame = try decoder.next() { decoded.append(frame) }
    }
    #expect(decoded == frames)
    #expect(decoder.pendingByteCount == 0)
  }

  @Test("Every case has a tag of its own, and the generator makes every case")
  func tags() throws {
    let sample = WireFrameSample(seed: 1, rounds: 120)
    let eventTags = try sample.clientFrames.compactMap {
      if case .event = $0 { try wireBytes(of: $0)[5] } else { nil }
    }
    let failureTags = try sample.serverFrames.compactMap {
      if case .failed = $0 { try wireBytes(of: $0)[13] } else { nil }
    }
    #expect(Set(try sample.clientFrames.map { try wireBytes(of: $0)[4] }) == Set(1...15))
    #expect(Set(try sample.serverFrames.map { try wireBytes(of: $0)[4] }) == Set(1...22))
    #expect(Set(eventTags) == Set(1...19))
    #expect(Set(failureTags) == Set(1...8))
  }

  @Test("Different frames have different bytes, equal ones the same")
  func oneSpelling() throws {
    let sample = WireFrameSample(seed: 2, rounds: 60)
    try expectOneSpelling(sample.clientFrames)
    try expectOneSpelling(sample.serverFrames)
  }

  private func expectOneSpelling<Frame: WireValue & Hashable>(_ frames: [Frame]) throws {
    var spellings: [Frame: [UInt8]] = [:]
    for frame in frames {
      let bytes = try wireBytes(of: frame)
      // Texts that Unicode calls equal are equal values, and keep their own bytes.
      let spelling = try wireBytes(of: #require(try wireFrames(Frame.self, in: bytes).first))
      #expect(spelling == bytes)
      spellings[frame] = bytes
    }
    #expect(Set(spellings.values).count == spellings.count)
  }

  @Test("Of a process of another version the version is understood, whatever follows it")
  func otherVersion() throws {
    let hello = Hello(
      version: 99, session: 1, processIdentifier: 2, processStartTime: 3, processName: "new", packageExtensions: [],
      previousEpoch: 4)
    for bytes in [try wireBytes(of: ClientFrame.hello(hello)), [6, 0, 0, 0, 1, 99, 0, 0, 0, 77]] {
      guard case .hello(let decoded) = try wireFrames(ClientFrame.self, in: bytes).first else {
        Issue.record("no hello")
        return
      }
      #expect(decoded.version == 99)
    }
  }

  @Test("A frame of one direction is not accepted in the other one's place unless its bytes are one")
  func directions() throws {
    let bytes = try wireBytes(of: ServerFrame.graceEnded)
    #expect(throws: WireError.self) { try wireFrames(ClientFrame.self, in: bytes) }
  }
}
