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
}
