import CoordinationService
import FileAccessArbiter
import Testing

/// Bytes written down once.
///
/// When one of these fails, the format has changed: then `Hello.currentVersion` has to change as well.
@Suite struct WireGoldenBytesTests {
  @Test("The bytes of version 8 are as they were")
  func goldenBytes() throws {
    #expect(Hello.currentVersion == 9)
    for (frame, golden) in clientFrames {
      let bytes = hex(try wireBytes(of: frame))
      #expect(bytes == golden)
    }
    for (frame, golden) in serverFrames {
      let bytes = hex(try wireBytes(of: frame))
      #expect(bytes == golden)
    }
  }

  private var clientFrames: [(ClientFrame, String)] {
    var request = AccessRequest(
      client: ClientID(1), purpose: PurposeID(2), ownPresenter: PresenterID(3), label: "é",
      items: [AccessRequest.Item("/a", .write(.moving)), AccessRequest.Item("/b", .read(withoutChanges: true))],
      context: .message(MessageID(4, epoch: 9)), limits: AccessRequest.Limits(waiting: 5))
    request.readingOptions = 6
    request.blocksThread = true
    let hello = Hello(
      session: 0x0102_0304_0506_0708, processIdentifier: -1, processStartTime: 9, processName: "p",
      packageExtensions: ["rtfd"], previousEpoch: 10,
      outerAccess: AccessToken(high: 0x1112_1314_1516_1718, low: 0x2122_2324_2526_2728))
    return [
      (
        .hello(hello),
        """
        4300000001090000000807060504030201ffffffff090000000000000001000000700100000004000000727466640a00\
        0000000000000118171615141312112827262524232221
        """
      ),
      (
        .event(.accessRequested(AccessID(7), request)),
        """
        66000000030107000000000000000100000000000000020000000000000001030000000000000002000000c3a9020000\
        0002002f61030402002f620101060000000000000000010209000000000000000400000000000000010100010500000000\
        000000000000000000
        """
      ),
      (
        .event(.presenterLocated(PresenterID(1), "/", observing: ["b", "a"])),
        """
        1c0000000306010000000000000001002f010200000001000000610100000062
        """
      ),
      (.reassertionEnded, "0100000008"),
      (.purposeForgotten(PurposeID(2)), "090000000e0200000000000000"),
      (
        .accessShared(RequestNumber(1), AccessID(2), AccessToken(high: 3, low: 4)),
        "210000000f0100000000000000020000000000000003000000000000000400000000000000"
      ),
      (
        .reasserted(.token(AccessID(2), AccessToken(high: 3, low: 4))),
        "1a0000000704020000000000000003000000000000000400000000000000"
      ),
      (
        .reasserted(
          .presenter(
            PresenterID(1),
            PresenterRegistration(
              client: ClientID(1), purpose: PurposeID(2), label: "l", callbacks: .saveChanges, path: "/p"),
            running: [RunningCallback(message: MessageID(3, epoch: 4), kind: .saveChanges)])),
        """
        400000000702010000000000000001000000000000000200000000000000010000006c040000000102002f7000010001\
        0000000400000000000000030000000000000003
        """
      ),
    ]
  }

  private var serverFrames: [(ServerFrame, String)] {
    let delivery = Delivery(
      message: MessageID(1, epoch: 9), presenter: PresenterID(2), kind: .subitemVersion("/s", .resolved, "v"),
      origin: Message.Origin(client: ClientID(3), purpose: PurposeID(4), label: "l", verified: true, folded: 5),
      above: MessageID(2, epoch: 9))
    let origin = DeliveryOrigin(
      processIdentifier: 6, processName: "n", purpose: "u", debtOrigin: DebtOrigin(session: 7, access: AccessID(8)))
    let grant = Grant(
      items: [Grant.Item(path: "/m", wasMoved: true, wasReplaced: false)], wantsOutcome: true, unanswered: ["x"])
    return [
      (.refused(.tooSlow, explanation: "late"), "0a0000000206040000006c617465"),
      (
        .granted(AccessID(1), grant, FencingToken(epoch: 2, sequence: 3)),
        """
        2d0000000301000000000000000100000002002f6d010001010000000100000078020000000000000003000000000000\
        00
        """
      ),
      (
        .delivered(delivery, origin),
        """
        82000000050900000000000000010000000000000002000000000000000f02002f730301000000760003000000000000\
        000400000000000000010000006c00000000000000000000010105000000000000000000010900000000000000020000\
        0000000000000006000000010000006e01000000750107000000000000000800000000000000
        """
      ),
      (.graceEnded, "0100000011"),
      (.failed(AccessID(1), .outerAccessEnded, explanation: nil), "0b0000000401000000000000000700"),
    ]
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
