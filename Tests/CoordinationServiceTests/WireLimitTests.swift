import CompactContainers
import CoordinationService
import FileAccessArbiter
import Testing

@Suite struct WireLimitTests {
  @Test("A frame that claims to be too long is refused before it has arrived, and nothing after it is taken")
  func tooLong() {
    var decoder = FrameDecoder<ClientFrame>()
    let length = UInt32(WireFormat.frameByteCountMax + 1)
    decoder.append(lengthBytes(of: length).span.bytes)
    let error = #expect(throws: WireError.self) { try decoder.next() }
    #expect(error?.code == .frameTooLong)
    decoder.append([UInt8](repeating: 0, count: 1000).span.bytes)
    #expect(decoder.pendingByteCount == 0)
    let repeated = #expect(throws: WireError.self) { try decoder.next() }
    #expect(repeated == error)
  }

  @Test("A frame of the largest length is waited for")
  func longest() throws {
    var decoder = FrameDecoder<ClientFrame>()
    decoder.append(lengthBytes(of: UInt32(WireFormat.frameByteCountMax)).span.bytes)
    #expect(try decoder.next() == nil)
    #expect(decoder.pendingByteCount == 4)
  }

  @Test("A value beyond a limit of the reader can't be written, and leaves nothing behind")
  func writersLimits() {
    func request(_ change: (inout AccessRequest) -> Void) -> ClientFrame {
      var request = AccessRequest(client: ClientID(1), purpose: PurposeID(1), label: "", items: [])
      change(&request)
      return .event(.accessRequested(AccessID(1), request))
    }
    let longPath = ItemPath("/" + String(repeating: "a", count: WireFormat.pathByteCountMax))
    let path = ItemPath("/" + String(repeating: "a", count: 20_000))
    let item = AccessRequest.Item("/a", .write(.update))
    let frames: [(frame: ClientFrame, code: WireError.Code)] = [
      (.validationWanted(RequestNumber(1), AccessID(WireFormat.ownNumberLimit)), .numberOutOfRange),
      (.purposeNamed(PurposeID(.max), ""), .numberOutOfRange),
      (.event(.presenterRemoved(PresenterID(.max))), .numberOutOfRange),
      (request { $0.limits.answering = -1 }, .numberOutOfRange),
      (request { $0.items = [AccessRequest.Item(longPath, .write(.update))] }, .invalidPath),
      (request { $0.items = ShortList(repeating: item, count: WireFormat.listCountMax + 1) }, .listTooLong),
      (request { $0.label = String(repeating: "a", count: WireFormat.textByteCountMax + 1) }, .textTooLong),
      (
        request { $0.items = ShortList(repeating: AccessRequest.Item(path, .write(.update)), count: 1000) },
        .frameTooLong
      ),
    ]
    for (frame, code) in frames {
      var bytes: [UInt8] = [1, 2, 3]
      let error = #expect(throws: WireError.self) { try WireFormat.append(frame, to: &bytes) }
      #expect(error?.code == code)
      #expect(bytes == [1, 2, 3])
    }
  }

  @Test("Lists of the largest count and long frames arrive")
  func largeFrames() throws {
    let outcomes = ClientFrame.event(
      .accessReleased(AccessID(1), Array(repeating: .changed, count: WireFormat.listCountMax)))
    let text = ClientFrame.purposeNamed(PurposeID(1), String(repeating: "a", count: WireFormat.textByteCountMax))
    let bytes = try wireBytes(of: outcomes) + wireBytes(of: text)
    var decoder = FrameDecoder<ClientFrame>()
    var decoded: [ClientFrame] = []
    for start in stride(from: 0, to: bytes.count, by: 65536) {
      decoder.append(bytes[start..<min(start + 65536, bytes.count)].span.bytes)
      while let frame = try decoder.next() { decoded.append(frame) }
    }
    #expect(decoded == [outcomes, text])
  }

  @Test("Numbers of other processes' things in reports have no limit")
  func foreignNumbers() throws {
    let summary = AccessSummary(
      id: AccessID(.max), client: ClientID(.max), clientName: "", label: "", items: [], isPreparation: false,
      phase: .waiting, since: 0)
    let frame = ServerFrame.failed(AccessID(1), .deadlock([.access(summary)]), explanation: nil)
    #expect(try wireFrames(ServerFrame.self, in: wireBytes(of: frame)) == [frame])
  }

  @Test("An error says what is wrong and where")
  func descriptions() {
    let error = #expect(throws: WireError.self) { try wireFrames(ClientFrame.self, in: [1, 0, 0, 0, 200]) }
    #expect(error?.description == "unknownTag: 200 stands for no case (byte 4 of the frame)")
  }

  private func lengthBytes(of length: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) }
  }
}
