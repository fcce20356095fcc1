import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("A relinquish message travels while a presenter of another process is busy")
struct QuestionsAheadTests {
  private static let callbacks: PresenterCallbacks = [.relinquishToReader, .relinquishToWriter, .saveChanges]

  /// Presents /a in process 2, whose reacquirer runs after an access of process 1, which asks again.
  private static func busy() throws -> (ServiceHarness, reacquirer: Delivery, question: Delivery) {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(
      2,
      .presenterEvent(
        RequestNumber(1),
        .presenterAdded(
          PresenterID(5),
          PresenterRegistration(
            client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: callbacks, path: "/a"))))
    service.tell(1, .read(1, "/a"))
    let first = try #require(deliveries(service.taken(2)).first)
    service.tell(2, .event(.relinquished(first.message, hasReacquirer: true)))
    service.tell(2, .answer(try #require(first.announcedSave)))
    service.tell(1, .release(1))
    let reacquirer = try #require(deliveries(service.taken(2)).first)
    #expect(reacquirer.kind == .reacquire(first.message))
    _ = service.taken(1)
    service.tell(1, .read(2, "/a"))
    let question = try #require(deliveries(service.taken(2)).first)
    return (service, reacquirer, question)
  }

  private static func deliveries(_ frames: [ServerFrame]) -> [Delivery] {
    frames.compactMap { if case .delivered(let delivery, _) = $0 { delivery } else { nil } }
  }

  private static func write(_ id: UInt64, _ path: ItemPath, inside message: MessageID) -> ClientFrame {
    var request = AccessRequest.write(path)
    request.context = .message(message)
    return .event(.accessRequested(AccessID(id), request))
  }

  @Test("It's sent beside the reacquirer, with the question to save, and its turn needs no other message")
  func ahead() throws {
    let (service, reacquirer, question) = try Self.busy()
    #expect(question.kind == .relinquishToReader)
    #expect(question.isAhead)
    let save = try #require(question.announcedSave)
    service.tell(2, .answer(reacquirer.message))
    #expect(service.taken(2).isEmpty)
    service.tell(2, .event(.relinquished(question.message, hasReacquirer: false)))
    service.tell(2, .answer(save))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(2)])
  }

  @Test("One that nobody waits for any more keeps its turn, because the process may have begun it")
  func abandoned() throws {
    let (service, reacquirer, question) = try Self.busy()
    service.tell(1, .event(.accessCancelled(AccessID(2))))
    #expect(service.taken(2) == [.saveWithdrawn(question.message)])
    service.tell(2, .answer(reacquirer.message))
    service.tell(2, .event(.messageAnswered(question.message, hasReacquirer: true)))
    #expect(Self.deliveries(service.taken(2)).map(\.kind) == [.reacquire(question.message)])
  }

  @Test("When the reacquirer waits for an access, it's let go above it")
  func nested() throws {
    let (service, reacquirer, question) = try Self.busy()
    service.tell(1, .write(9, "/b"))
    _ = service.taken(2)
    service.tell(2, Self.write(3, "/b", inside: reacquirer.message))
    let again = try #require(Self.deliveries(service.taken(2)).first)
    #expect(again.message == question.message)
    #expect(again.above == reacquirer.message)
  }

  @Test("An access inside of it shows that it has begun")
  func begun() throws {
    let (service, reacquirer, question) = try Self.busy()
    service.tell(2, Self.write(4, "/b", inside: question.message))
    service.tell(2, .event(.messageAnswered(question.message, hasReacquirer: false)))
    service.tell(2, .answer(reacquirer.message))
    let save = try #require(Self.deliveries(service.taken(2)).first { $0.kind == .saveChanges })
    service.tell(2, .answer(save.message))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(2)])
  }

  @Test("A presenter that unregisters while it's ahead keeps nobody waiting")
  func unregistered() throws {
    let (service, reacquirer, question) = try Self.busy()
    service.tell(2, .event(.presenterRemoved(PresenterID(5))))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(2)])
    // The answer to the question that the process held back, and the end of the reacquirer, let the presenter be forgotten.
    service.tell(2, .answer(question.message))
    service.tell(2, .answer(reacquirer.message))
    #expect(service.taken(2).contains(.presenterForgotten(PresenterID(5))))
  }

  // MARK: The process that's asked

  private static let origin = DeliveryOrigin(
    processIdentifier: 1, processName: "p", purpose: "", debtOrigin: DebtOrigin(session: 1, access: AccessID(1)))

  private static func frame(_ number: UInt64, _ kind: Message.Kind, above: UInt64? = nil, isAhead: Bool) -> ServerFrame
  {
    .delivered(
      Delivery(
        message: MessageID(number, epoch: 1), presenter: PresenterID(5), kind: kind,
        origin: Message.Origin(client: ClientID(1), purpose: PurposeID(1), label: ""),
        above: above.map { MessageID($0, epoch: 1) }, announcing: isAhead ? MessageID(90, epoch: 1) : nil,
        ahead: isAhead),
      origin)
  }

  /// A notification runs, and a question has been sent ahead of its end.
  private static func client() -> ClientCore {
    var client = ClientCore(session: 7)
    _ = client.connected(epoch: 1)
    _ = client.step(
      .presenterAdded(
        PresenterID(5),
        PresenterRegistration(
          client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: callbacks.union(.itemDidChange),
          path: "/a")),
      at: 0)
    #expect(numbers(client.received(frame(1, .itemDidChange, isAhead: false))) == [1])
    #expect(numbers(client.received(frame(2, .relinquishToReader, isAhead: true))).isEmpty)
    return client
  }

  private static func numbers(_ effects: [ClientEffect]) -> [UInt64] {
    effects.compactMap { if case .deliver(let delivery, _) = $0 { delivery.message.rawValue } else { nil } }
  }

  private static func answer(_ number: UInt64) -> ArbiterEvent {
    .messageAnswered(MessageID(number, epoch: 1), hasReacquirer: true)
  }

  private static let letGo = frame(2, .relinquishToReader, above: 1, isAhead: true)

  @Test("It begins when the callback before it has ended, and its letting go comes too late then")
  func begins() {
    var client = Self.client()
    #expect(Self.numbers(client.step(Self.answer(1), at: 0)) == [2])
    #expect(Self.numbers(client.received(Self.letGo)).isEmpty)
    #expect(Self.numbers(client.step(Self.answer(2), at: 0)) == [90])
    #expect(Self.numbers(client.received(Self.letGo)).isEmpty)
  }

  @Test("It's let go once, and no save follows inside of the callback that waits")
  func isLetGo() {
    var client = Self.client()
    #expect(Self.numbers(client.received(Self.letGo)) == [2])
    #expect(Self.numbers(client.received(Self.letGo)).isEmpty)
    #expect(client.step(Self.answer(2), at: 0) == [.send(.event(Self.answer(2)))])
    #expect(Self.numbers(client.step(Self.answer(1), at: 0)).isEmpty)
  }

  @Test("A question above the callback passes it, and it waits for the end of both")
  func passed() {
    var client = Self.client()
    #expect(Self.numbers(client.received(Self.frame(3, .accommodateDeletion, above: 1, isAhead: false))) == [3])
    #expect(Self.numbers(client.step(Self.answer(1), at: 0)).isEmpty)
    #expect(Self.numbers(client.step(.messageAnswered(MessageID(3, epoch: 1), hasReacquirer: false), at: 0)) == [2])
  }

  @Test("An unregistered presenter doesn't receive it, and the service gets its answer")
  func isDropped() {
    var client = Self.client()
    let effects = client.step(.presenterRemoved(PresenterID(5)), at: 0)
    #expect(effects.contains(.send(.event(.messageAnswered(MessageID(2, epoch: 1), hasReacquirer: false)))))
    #expect(Self.numbers(client.step(Self.answer(1), at: 0)).isEmpty)
  }
}
