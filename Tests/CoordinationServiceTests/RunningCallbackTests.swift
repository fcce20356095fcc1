import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

/// A callback that an earlier service has put still runs, perhaps in an access of its own, when the next one begins.
@Suite("A new service knows the callbacks that run")
struct RunningCallbackTests {
  private static let presenter = PresenterID(5)
  private static let origin = DeliveryOrigin(
    processIdentifier: 1, processName: "p", purpose: "", debtOrigin: DebtOrigin(session: 1, access: AccessID(1)))
  private static let registration = PresenterRegistration(
    client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: .all, path: "/a")

  private static func message(_ number: UInt64, _ epoch: UInt64) -> MessageID { MessageID(number, epoch: epoch) }

  // MARK: The process of the presenter

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

  private static func sent(_ effects: [ClientEffect]) -> [ClientFrame] {
    effects.compactMap { if case .send(let frame) = $0 { frame } else { nil } }
  }

  private static func presenting() -> ClientCore {
    var client = ClientCore(session: 7)
    _ = client.connected(epoch: 1)
    _ = client.step(.presenterAdded(presenter, registration), at: 0)
    return client
  }

  private static func changeService(_ client: inout ClientCore, to epoch: UInt64 = 2) -> [ClientFrame] {
    _ = client.disconnected()
    _ = client.claimsCollected(.disconnection)
    return sent(client.connected(epoch: epoch))
  }

  private static func running(in frames: [ClientFrame]) -> [RunningCallback] {
    frames.flatMap { if case .reasserted(.presenter(_, _, let running)) = $0 { running } else { [RunningCallback]() } }
  }

  @Test("A process reports the callbacks that run, in the order in which they began, without paths")
  func areReported() {
    var client = Self.presenting()
    _ = client.received(Self.frame(Self.message(9, 1), .itemDidMove(to: "/b")))
    _ = client.received(Self.frame(Self.message(3, 1), .saveChanges, above: Self.message(9, 1)))
    let expected = [
      RunningCallback(message: Self.message(9, 1), kind: .itemDidMove(to: .root)),
      RunningCallback(message: Self.message(3, 1), kind: .saveChanges),
    ]
    #expect(Self.running(in: Self.changeService(&client)) == expected)
    _ = client.step(.messageAnswered(Self.message(3, 1), hasReacquirer: false), at: 0)
    #expect(Self.running(in: Self.changeService(&client, to: 3)) == [expected[0]])
  }

  @Test("A question that was sent ahead and hasn't begun isn't put any more")
  func aheadIsForgotten() {
    var client = Self.presenting()
    _ = client.received(Self.frame(Self.message(1, 1), .itemDidChange))
    let ahead = Delivery(
      message: Self.message(2, 1), presenter: Self.presenter, kind: .relinquishToReader,
      origin: Message.Origin(client: ClientID(1), purpose: PurposeID(1), label: ""), ahead: true)
    #expect(Self.delivered(client.received(.delivered(ahead, Self.origin))).isEmpty)
    #expect(Self.running(in: Self.changeService(&client)).map(\.message) == [Self.message(1, 1)])
    #expect(
      Self.delivered(client.step(.messageAnswered(Self.message(1, 1), hasReacquirer: false), at: 0)).isEmpty)
  }

  @Test("An answer with a reacquirer reports the debt first, and then the end of the callback")
  func debtComesFirst() {
    var client = Self.presenting()
    let question = Self.message(1, 1)
    _ = client.received(Self.frame(question, .relinquishToReader))
    _ = Self.changeService(&client)
    #expect(
      Self.sent(client.step(.messageAnswered(question, hasReacquirer: true), at: 0)) == [
        .reasserted(.debt(Self.presenter, question, owedFor: DebtOrigin(session: 1, access: AccessID(1)))),
        .event(.messageAnswered(question, hasReacquirer: false)),
      ])
  }

  @Test("The new service gives a presenter its turn that has unregistered since (C-191)")
  func unregisteredSince() {
    var client = Self.presenting()
    let question = Self.message(1, 1)
    _ = client.received(Self.frame(question, .relinquishToReader))
    _ = Self.changeService(&client)
    _ = client.step(.presenterRemoved(Self.presenter), at: 0)
    #expect(Self.delivered(client.step(.messageAnswered(question, hasReacquirer: true), at: 0)).isEmpty)
    let turn = Self.message(1, 2)
    #expect(Self.delivered(client.received(Self.frame(turn, .reacquire(question)))) == [turn])
  }

  @Test("A presenter that had unregistered before is reported while its callbacks run, and isn't sent anything (C-191)")
  func unregisteredBefore() throws {
    var client = Self.presenting()
    let question = Self.message(1, 1)
    _ = client.received(Self.frame(question, .relinquishToReader))
    _ = client.step(.presenterRemoved(Self.presenter), at: 0)
    let service = ServiceHarness(epoch: 2, expecting: [7])
    service.join(1)
    service.join(2, session: 7, previousEpoch: 1)
    for frame in Self.changeService(&client) { service.tell(2, frame) }
    service.tell(1, .read(1, "/a"))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(Self.deliveries(service.taken(2)).isEmpty)
    for frame in Self.sent(client.step(.messageAnswered(question, hasReacquirer: true), at: 0)) {
      service.tell(2, frame)
    }
    // The access of that number and session is the one for which it has relinquished.
    #expect(service.taken(2).isEmpty)
    service.tell(1, .release(1))
    let turn = try #require(Self.deliveries(service.taken(2)).first)
    #expect(turn.kind == .reacquire(question))
    service.tell(2, .answer(turn.message))
    #expect(service.taken(2) == [.presenterForgotten(Self.presenter)])
  }

  @Test("A presenter that had unregistered before gets its turn from its process if none of its callbacks runs")
  func unregisteredAndOwed() {
    var client = Self.presenting()
    let question = Self.message(1, 1)
    _ = client.received(Self.frame(question, .relinquishToReader))
    _ = client.step(.messageAnswered(question, hasReacquirer: true), at: 0)
    _ = client.step(.presenterRemoved(Self.presenter), at: 0)
    _ = client.disconnected()
    #expect(Self.delivered(client.claimsCollected(.disconnection)) == [question])
    _ = client.connected(epoch: 2)
    // The turn runs when the service ends as well.
    #expect(Self.running(in: Self.changeService(&client, to: 3)).map(\.message) == [question])
  }

  // MARK: The service

  /// The second service: process 2 reports its presenter and a callback that reads /b, which process 3 writes.
  private static func reported() -> ServiceHarness {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2, 3])
    for client in [1, 2, 3] as [UInt64] { service.join(client, previousEpoch: 1) }
    service.tell(3, .reasserted(.access(AccessID(1), .write("/b"))), .reassertionEnded)
    service.tell(1, .reassertionEnded, .read(1, "/a"))
    service.tell(
      2,
      .reasserted(
        .presenter(
          presenter, registration, running: [RunningCallback(message: message(8, 1), kind: .relinquishToReader)])),
      .reassertionEnded, read(4, "/b", inside: message(8, 1)))
    return service
  }

  private static func read(_ id: UInt64, _ path: ItemPath, inside message: MessageID) -> ClientFrame {
    var request = AccessRequest.read(path)
    request.ownPresenter = presenter
    request.context = .message(message)
    return .event(.accessRequested(AccessID(id), request))
  }

  private static func deliveries(_ frames: [ServerFrame]) -> [Delivery] {
    frames.compactMap { if case .delivered(let delivery, _) = $0 { delivery } else { nil } }
  }

  @Test("A question is put above a callback that waits, and the access that it waits for is granted after the answer")
  func nested() throws {
    let service = Self.reported()
    let told = service.taken(2)
    let question = try #require(Self.deliveries(told).first)
    #expect(Self.deliveries(told).count == 1, "the notification of missed changes waits for the callback")
    #expect(question.kind == .relinquishToReader)
    #expect(question.above == Self.message(8, 1), "the process knows its callback by the earlier number")
    service.tell(3, .release(1))
    #expect(service.taken(2).isEmpty, "a callback runs above the one that would go on")
    service.tell(2, .answer(question.message))
    let save = try #require(Self.deliveries(service.taken(2)).first)
    #expect(save.above == Self.message(8, 1))
    service.tell(2, .answer(save.message))
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(4)])
    service.tell(2, .release(4), .answer(Self.message(8, 1)))
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.itemDidChange])
  }

  @Test("A request inside of an access that's lost is inside of the callback around that")
  func insideOfLost() throws {
    let service = ServiceHarness(epoch: 2)
    service.join(1)
    service.join(3)
    service.tell(1, .write(1, "/b"))
    service.tell(3, .write(1, "/c"))
    // Process 2 comes too late, and others have been granted /b.
    service.join(2, previousEpoch: 1)
    var held = AccessRequest.read("/b")
    held.context = .message(Self.message(8, 1))
    var inner = AccessRequest.read("/c")
    inner.context = .access(AccessID(3))
    service.tell(
      2,
      .reasserted(
        .presenter(
          Self.presenter, Self.registration,
          running: [RunningCallback(message: Self.message(8, 1), kind: .itemDidChange)]
        )), .reasserted(.access(AccessID(3), held)), .reassertionEnded, .event(.accessRequested(AccessID(4), inner)))
    #expect(service.taken(2).contains(.lost(AccessID(3))))
    service.tell(1, .read(2, "/a"))
    // It's the one that was sent ahead, or one above the callback.
    let question = try #require(Self.deliveries(service.taken(2)).last)
    #expect(question.above == Self.message(8, 1))
    service.tell(3, .release(1))
    #expect(service.taken(2).compactMap(\.grantedAccess).isEmpty)
    service.tell(2, .event(.messageAnswered(question.message, hasReacquirer: false)))
    for save in Self.deliveries(service.taken(2)) { service.tell(2, .answer(save.message)) }
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(4)])
    service.tell(2, .release(4), .release(3))
    #expect(service.refusals(2).isEmpty)
  }

  @Test("A failed callback of the earlier service fails nobody, and the next message follows")
  func failed() {
    let service = Self.reported()
    for question in Self.deliveries(service.taken(2)) { service.tell(2, .answer(question.message)) }
    for save in Self.deliveries(service.taken(2)) { service.tell(2, .answer(save.message)) }
    service.tell(3, .release(1))
    service.tell(2, .release(4), .event(.messageFailed(Self.message(8, 1), explanation: PresenterFailure(text: ""))))
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.itemDidChange])
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("Callbacks that no service puts inside of others aren't taken in, and neither are too many")
  func limits() {
    let service = ServiceHarness(epoch: 2, expecting: [2])
    service.join(2, previousEpoch: 1)
    let questions = (1...12).map { RunningCallback(message: Self.message($0, 1), kind: .saveChanges) }
    let running = questions + [RunningCallback(message: Self.message(99, 1), kind: .itemDidChange)]
    service.tell(2, .reasserted(.presenter(Self.presenter, Self.registration, running: running)), .reassertionEnded)
    #expect(service.refusals(2).isEmpty)
    for callback in running { service.tell(2, .answer(callback.message)) }
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.itemDidChange])
  }

  @Test("A process that reports an impossible callback is disconnected", arguments: [true, false])
  func impossible(isTwice: Bool) {
    let service = ServiceHarness(epoch: 2, expecting: [2])
    service.join(2, previousEpoch: 1)
    let callback = RunningCallback(message: Self.message(9, isTwice ? 1 : 2), kind: .saveChanges)
    service.tell(
      2,
      .reasserted(.presenter(Self.presenter, Self.registration, running: isTwice ? [callback, callback] : [callback]))
    )
    #expect(service.refusals(2) == [.malformed])
  }

  @Test("Another process's messages have numbers of their own, whatever a process reports")
  func numbers() throws {
    let service = ServiceHarness(epoch: 2, expecting: [2, 3])
    service.join(2, previousEpoch: 1)
    service.join(3, previousEpoch: 1)
    for client in [2, 3] as [UInt64] {
      service.tell(
        client,
        .reasserted(
          .presenter(
            Self.presenter, Self.registration,
            running: [RunningCallback(message: Self.message(8, 1), kind: .saveChanges)])), .reassertionEnded)
    }
    service.tell(2, .answer(Self.message(8, 1)))
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.itemDidChange])
    #expect(Self.deliveries(service.taken(3)).isEmpty)
    service.tell(3, .answer(Self.message(8, 1)))
    #expect(Self.deliveries(service.taken(3)).map(\.kind) == [.itemDidChange])
  }
}
