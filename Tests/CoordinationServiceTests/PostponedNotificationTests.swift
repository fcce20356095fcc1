import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

/// A callback that an earlier service has put waits for an access of its own, and the next service notifies its presenter.
@Suite("A notification waits for callbacks of which the service doesn't know")
struct PostponedNotificationTests {
  private static let presenter = PresenterID(5)
  private static let origin = DeliveryOrigin(
    processIdentifier: 1, processName: "p", purpose: "", debtOrigin: DebtOrigin(session: 1, access: AccessID(1)))

  private static func message(_ number: UInt64, _ epoch: UInt64) -> MessageID { MessageID(number, epoch: epoch) }

  private static func frame(_ message: MessageID, _ kind: Message.Kind, above: MessageID? = nil) -> ServerFrame {
    .delivered(
      Delivery(
        message: message, presenter: presenter, kind: kind,
        origin: Message.Origin(client: ClientID(1), purpose: PurposeID(1), label: ""), above: above),
      origin)
  }

  private static func delivered(_ effects: [ClientEffect]) -> [MessageID] {
    effects.compactMap { if case .deliver(let delivery, _) = $0 { delivery.message } else { nil } }
  }

  /// A presenter saves, and the service ends meanwhile.
  private static func saving() -> ClientCore {
    var client = ClientCore(session: 7)
    _ = client.connected(epoch: 1)
    _ = client.step(
      .presenterAdded(
        presenter,
        PresenterRegistration(
          client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: .all, path: "/a")),
      at: 0)
    #expect(delivered(client.received(frame(message(1, 1), .saveChanges))) == [message(1, 1)])
    accessInside(message(1, 1), &client)
    changeService(&client)
    return client
  }

  /// A callback requests a write of the presenter's own, which waits.
  private static func accessInside(_ message: MessageID, _ client: inout ClientCore) {
    var request = AccessRequest.write("/a")
    request.context = .message(message)
    request.ownPresenter = presenter
    _ = client.step(.accessRequested(AccessID(3), request), at: 0)
  }

  private static func changeService(_ client: inout ClientCore) {
    _ = client.disconnected()
    _ = client.claimsCollected(.disconnection)
    _ = client.connected(epoch: 2)
  }

  @Test("A presenter isn't notified beside a callback that waits for an access, and the service has the answer at once")
  func isPostponed() {
    var client = Self.saving()
    let change = Self.message(1, 2)
    let effects = client.received(Self.frame(change, .itemDidChange))
    #expect(Self.delivered(effects).isEmpty)
    #expect(effects.contains(.send(.event(.messageAnswered(change, hasReacquirer: false)))))
    // It's asked, because the access may wait for that.
    let question = Self.message(2, 2)
    let asked = client.received(Self.frame(question, .relinquishToReader))
    #expect(Self.delivered(asked) == [question])
    #expect(asked.contains { if case .deliver(let delivery, _) = $0 { delivery.isReentrant } else { false } })
    #expect(Self.delivered(client.step(.messageAnswered(question, hasReacquirer: false), at: 0)).isEmpty)
    // The access ends, and the callback returns.
    _ = client.received(.failed(AccessID(3), .cancelled, explanation: nil))
    #expect(Self.delivered(client.step(.messageAnswered(Self.message(1, 1), hasReacquirer: false), at: 0)) == [change])
    // The next question waits for its end.
    let next = Self.message(3, 2)
    #expect(Self.delivered(client.received(Self.frame(next, .relinquishToReader))).isEmpty)
    #expect(Self.delivered(client.step(.messageAnswered(change, hasReacquirer: false), at: 0)) == [next])
  }

  @Test("A reacquirer waits in the same way, and runs once")
  func reacquirer() {
    var client = ClientCore(session: 7)
    _ = client.connected(epoch: 1)
    _ = client.step(
      .presenterAdded(
        Self.presenter,
        PresenterRegistration(
          client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: .all, path: "/a")),
      at: 0)
    let relinquished = Self.message(1, 1)
    _ = client.received(Self.frame(relinquished, .relinquishToReader))
    _ = client.step(.messageAnswered(relinquished, hasReacquirer: true), at: 0)
    let save = Self.message(2, 1)
    _ = client.received(Self.frame(save, .saveChanges))
    Self.accessInside(save, &client)
    Self.changeService(&client)
    let turn = Self.message(1, 2)
    let effects = client.received(Self.frame(turn, .reacquire(relinquished)))
    #expect(Self.delivered(effects).isEmpty)
    #expect(effects.contains(.send(.event(.messageAnswered(turn, hasReacquirer: false)))))
    #expect(Self.delivered(client.step(.messageAnswered(save, hasReacquirer: false), at: 0)) == [turn])
    #expect(Self.delivered(client.step(.messageAnswered(turn, hasReacquirer: false), at: 0)).isEmpty)
  }

  @Test("Questions that the next service puts above its own callbacks pass it")
  func questionsPass() {
    var client = Self.saving()
    let change = Self.message(1, 2)
    _ = client.received(Self.frame(change, .itemDidChange))
    let below = Self.message(2, 2)
    #expect(Self.delivered(client.received(Self.frame(below, .relinquishToReader))) == [below])
    _ = client.received(.failed(AccessID(3), .cancelled, explanation: nil))
    #expect(Self.delivered(client.step(.messageAnswered(Self.message(1, 1), hasReacquirer: false), at: 0)).isEmpty)
    let above = Self.message(3, 2)
    #expect(Self.delivered(client.received(Self.frame(above, .relinquishToWriter, above: below))) == [above])
    #expect(Self.delivered(client.step(.messageAnswered(above, hasReacquirer: false), at: 0)).isEmpty)
    #expect(Self.delivered(client.step(.messageAnswered(below, hasReacquirer: false), at: 0)) == [change])
  }

  @Test("A further access of the callback doesn't let it go")
  func staysBesideFurtherAccess() {
    var client = Self.saving()
    _ = client.received(Self.frame(Self.message(1, 2), .itemDidChange))
    var request = AccessRequest.write("/b")
    request.context = .message(Self.message(1, 1))
    #expect(Self.delivered(client.step(.accessRequested(AccessID(4), request), at: 0)).isEmpty)
  }

  @Test("A presenter that unregisters doesn't receive it")
  func isDropped() {
    var client = Self.saving()
    _ = client.received(Self.frame(Self.message(1, 2), .itemDidChange))
    _ = client.step(.presenterRemoved(Self.presenter), at: 0)
    #expect(
      Self.delivered(client.step(.messageAnswered(Self.message(1, 1), hasReacquirer: false), at: 0)).isEmpty)
  }
}
