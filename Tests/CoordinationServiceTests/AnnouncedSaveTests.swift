import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("A presenter of another process relinquishes and saves after one message")
struct AnnouncedSaveTests {
  /// Presents /a in process 2, while process 1 asks for it.
  private static func service(
    callbacks: PresenterCallbacks = [.relinquishToReader, .relinquishToWriter, .saveChanges]
  ) -> ServiceHarness {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(2, presented(callbacks))
    _ = service.taken(2)
    return service
  }

  private static func presented(_ callbacks: PresenterCallbacks) -> ClientFrame {
    .presenterEvent(
      RequestNumber(1),
      .presenterAdded(
        PresenterID(5),
        PresenterRegistration(
          client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: callbacks, path: "/a")))
  }

  private static func deliveries(_ frames: [ServerFrame]) -> [Delivery] {
    frames.compactMap { if case .delivered(let delivery, _) = $0 { delivery } else { nil } }
  }

  @Test("The question to save is announced, begins with the answer, and its own answer lets the access go on")
  func announced() throws {
    let service = Self.service()
    service.tell(1, .read(1, "/a"))
    let asked = Self.deliveries(service.taken(2))
    #expect(asked.map(\.kind) == [.relinquishToReader])
    let relinquish = try #require(asked.first)
    let save = try #require(relinquish.announcedSave)
    service.tell(2, .event(.relinquished(relinquish.message, hasReacquirer: true)))
    #expect(service.taken(2).isEmpty)
    #expect(service.taken(1).isEmpty)
    service.tell(2, .answer(save))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
    service.tell(1, .release(1))
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.reacquire(relinquish.message)])
  }

  @Test("A process that doesn't begin with it is asked by a message")
  func notBegun() throws {
    let service = Self.service()
    service.tell(1, .read(1, "/a"))
    let relinquish = try #require(Self.deliveries(service.taken(2)).first)
    service.tell(2, .answer(relinquish.message))
    let save = try #require(Self.deliveries(service.taken(2)).first)
    #expect(save.kind == .saveChanges)
    #expect(save.message != relinquish.announcedSave)
    service.tell(2, .answer(save.message))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("Nothing is announced to a presenter that doesn't save, or of which that isn't known")
  func notAnnounced() throws {
    for callbacks in [PresenterCallbacks.relinquishToReader, Self.presumingToSave] {
      let service = Self.service(callbacks: callbacks)
      service.tell(1, .read(1, "/a"))
      #expect(try #require(Self.deliveries(service.taken(2)).first).announcedSave == nil)
    }
  }

  private static var presumingToSave: PresenterCallbacks {
    var callbacks: PresenterCallbacks = [.relinquishToReader, .saveChanges]
    callbacks.presumed = .saveChanges
    return callbacks
  }

  @Test("A save that has begun for an access that's gone keeps other messages waiting until it has ended")
  func accessIsGone() throws {
    let service = Self.service()
    service.tell(1, .read(1, "/a"))
    let relinquish = try #require(Self.deliveries(service.taken(2)).first)
    let save = try #require(relinquish.announcedSave)
    service.tell(1, .event(.accessCancelled(AccessID(1))))
    #expect(service.taken(2) == [.saveWithdrawn(relinquish.message)])
    service.tell(2, .event(.relinquished(relinquish.message, hasReacquirer: true)))
    // The reacquirer gets its turn after the save.
    #expect(service.taken(2).isEmpty)
    service.tell(2, .answer(save))
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.reacquire(relinquish.message)])
  }

  @Test("A save that fails lets the access fail")
  func failing() throws {
    let service = Self.service()
    service.tell(1, .read(1, "/a"))
    let relinquish = try #require(Self.deliveries(service.taken(2)).first)
    let save = try #require(relinquish.announcedSave)
    service.tell(2, .event(.relinquished(relinquish.message, hasReacquirer: false)))
    service.tell(2, .event(.messageFailed(save, explanation: PresenterFailure(text: "disk full"))))
    guard case .failed(AccessID(1), .presenterFailed(save, _), let explanation) = try #require(service.taken(1).first)
    else {
      Issue.record("the access doesn't fail by the save")
      return
    }
    #expect(explanation?.text == "disk full")
  }

  // MARK: The process that's asked

  private static func client() -> ClientCore {
    var client = ClientCore(session: 7)
    _ = client.connected(epoch: 1)
    if case .presenterEvent(_, let event) = presented([.relinquishToReader, .saveChanges]) {
      _ = client.step(event, at: 0)
    }
    return client
  }

  private static let origin = DeliveryOrigin(
    processIdentifier: 1, processName: "p", purpose: "", debtOrigin: DebtOrigin(session: 1, access: AccessID(1)))

  private static func message(
    _ number: UInt64, _ kind: Message.Kind, above: UInt64? = nil, announcing save: UInt64? = nil
  ) -> ServerFrame {
    .delivered(
      Delivery(
        message: MessageID(number, epoch: 1), presenter: PresenterID(5), kind: kind,
        origin: Message.Origin(client: ClientID(1), purpose: PurposeID(1), label: ""),
        above: above.map { MessageID($0, epoch: 1) }, announcing: save.map { MessageID($0, epoch: 1) }),
      origin)
  }

  private static func numbers(_ effects: [ClientEffect]) -> [MessageID] {
    effects.compactMap { if case .deliver(let delivery, _) = $0 { delivery.message } else { nil } }
  }

  private static func answer(_ number: UInt64) -> ArbiterEvent {
    .messageAnswered(MessageID(number, epoch: 1), hasReacquirer: true)
  }

  @Test("A process begins with the save when the presenter has relinquished, and says so")
  func begins() {
    var client = Self.client()
    #expect(
      Self.numbers(client.received(Self.message(1, .relinquishToReader, announcing: 2))) == [MessageID(1, epoch: 1)])
    let effects = client.step(Self.answer(1), at: 0)
    #expect(effects.contains(.send(.event(.relinquished(MessageID(1, epoch: 1), hasReacquirer: true)))))
    #expect(Self.numbers(effects) == [MessageID(2, epoch: 1)])
    #expect(client.step(Self.answer(2), at: 0).contains(.send(.event(Self.answer(2)))))
  }

  @Test(
    "It doesn't while another callback of the presenter runs, after a failure, when it was withdrawn, or when the service is gone"
  )
  func doesNotBegin() {
    var busy = Self.client()
    _ = busy.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = busy.received(Self.message(3, .relinquishToReader, above: 1))
    var effects = busy.step(Self.answer(1), at: 0)
    #expect(effects == [.send(.event(Self.answer(1)))])

    var failing = Self.client()
    _ = failing.received(Self.message(1, .relinquishToReader, announcing: 2))
    effects = failing.step(.messageFailed(MessageID(1, epoch: 1), explanation: PresenterFailure(text: "")), at: 0)
    #expect(Self.numbers(effects).isEmpty)

    var withdrawn = Self.client()
    _ = withdrawn.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = withdrawn.received(.saveWithdrawn(MessageID(1, epoch: 1)))
    #expect(withdrawn.step(Self.answer(1), at: 0) == [.send(.event(Self.answer(1)))])

    var alone = Self.client()
    _ = alone.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = alone.disconnected()
    _ = alone.claimsCollected(.disconnection)
    #expect(Self.numbers(alone.step(Self.answer(1), at: 0)).isEmpty)
  }

  @Test("A callback that has returned, and is answered later, isn't followed by the save")
  func answeredLater() {
    var client = Self.client()
    _ = client.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = client.step(.callbackReturned(MessageID(1, epoch: 1)), at: 0)
    let effects = client.step(Self.answer(1), at: 0)
    #expect(effects == [.send(.event(Self.answer(1)))])
  }

  @Test("A question that crosses the beginning of the save comes after it, unless the save itself waits for an access")
  func crossing() {
    var client = Self.client()
    _ = client.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = client.step(Self.answer(1), at: 0)
    #expect(Self.numbers(client.received(Self.message(3, .relinquishToReader, above: 1))).isEmpty)
    #expect(Self.numbers(client.step(Self.answer(2), at: 0)) == [MessageID(3, epoch: 1)])

    var nested = Self.client()
    _ = nested.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = nested.step(Self.answer(1), at: 0)
    #expect(Self.numbers(nested.received(Self.message(3, .relinquishToReader, above: 1))).isEmpty)
    var request = AccessRequest.write("/b")
    request.context = .message(MessageID(2, epoch: 1))
    #expect(Self.numbers(nested.step(.accessRequested(AccessID(9), request), at: 0)) == [MessageID(3, epoch: 1)])
  }

  @Test(
    "The same if the save waits for an access that the presenter makes elsewhere, before or after: two documents that save would wait for each other",
    arguments: [true, false])
  func crossingOwnAccess(isBefore: Bool) {
    var client = Self.client()
    var request = AccessRequest.write("/a")
    request.ownPresenter = PresenterID(5)
    if isBefore { _ = client.step(.accessRequested(AccessID(9), request), at: 0) }
    _ = client.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = client.step(Self.answer(1), at: 0)
    let numbers = Self.numbers(client.received(Self.message(3, .relinquishToWriter, above: 1)))
    if isBefore {
      #expect(numbers == [MessageID(3, epoch: 1)])
    } else {
      #expect(numbers.isEmpty)
      #expect(Self.numbers(client.step(.accessRequested(AccessID(9), request), at: 0)) == [MessageID(3, epoch: 1)])
    }
    // That of another presenter is no reason.
    var other = Self.client()
    request.ownPresenter = PresenterID(6)
    _ = other.step(.accessRequested(AccessID(9), request), at: 0)
    _ = other.received(Self.message(1, .relinquishToReader, announcing: 2))
    _ = other.step(Self.answer(1), at: 0)
    #expect(Self.numbers(other.received(Self.message(3, .relinquishToWriter, above: 1))).isEmpty)
  }
}
