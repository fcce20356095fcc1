import CompactContainers
import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("A service that takes the place of another")
struct ServiceGraceTests {
  private static func debt(_ presenter: UInt64, _ message: UInt64, of session: UInt64, _ access: UInt64) -> ClientFrame
  {
    .reasserted(
      .debt(
        PresenterID(presenter), MessageID(message), owedFor: DebtOrigin(session: session, access: AccessID(access))))
  }

  private static func held(_ access: UInt64, _ request: AccessRequest) -> ClientFrame {
    .reasserted(.access(AccessID(access), request))
  }

  private static func presented(_ presenter: UInt64, _ path: ItemPath) -> ClientFrame {
    .reasserted(.presenter(PresenterID(presenter), .plain(path)))
  }

  @Test("New requests wait until the last session has reported its accesses, and then go on in their order")
  func eventsAreHeldBack() {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2])
    service.join(1, previousEpoch: 1)
    service.join(3)
    service.tell(3, .write(1, "/a"), .read(2, "/b"), .present(1, "/c"), .release(2))
    service.tell(1, Self.held(7, .write("/a")), .reassertionEnded, .release(7))
    #expect(service.taken(3).isEmpty)
    #expect(service.core.isInGrace)
    service.join(2, previousEpoch: 1)
    service.tell(2, .reassertionEnded)
    #expect(!service.core.isInGrace)
    #expect(service.taken(3).compactMap(\.grantedAccess) == [AccessID(2), AccessID(1)])
    #expect(service.disconnected.isEmpty)
    for client in UInt64(1)...2 { #expect(service.taken(client).contains(.graceEnded)) }
  }

  @Test("A session that has ended isn't waited for")
  func graceEndsWithSessions() {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2])
    service.join(3)
    service.tell(3, .write(1, "/a"))
    service.carryOut(service.core.sessionsEnded([1], at: 0))
    #expect(service.core.awaitedSessions == [2])
    service.carryOut(service.core.sessionsEnded([2, 9], at: 0))
    #expect(service.taken(3).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("A client that goes before it has told everything isn't waited for, and what it told is over")
  func graceEndsWithConnections() {
    let service = ServiceHarness(epoch: 2, expecting: [1])
    service.join(1, previousEpoch: 1)
    service.join(3)
    service.tell(3, .write(1, "/a"))
    service.tell(1, Self.held(7, .write("/a")), .write(8, "/b"))
    service.hangUp(1)
    #expect(service.taken(3).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.core.arbiter.accesses.count == 1)
  }

  @Test("The grace ends by time, and a process that comes later is notified of its losses")
  func latecomersLose() {
    let service = ServiceHarness(epoch: 2, expecting: [1])
    service.join(3)
    service.tell(3, .write(1, "/a"))
    service.carryOut(service.core.graceIsOver(at: 0))
    service.carryOut(service.core.graceIsOver(at: 0))
    service.join(1, previousEpoch: 1)
    service.tell(1, Self.held(7, .write("/a")), Self.held(8, .write("/b")), .reassertionEnded)
    #expect(service.taken(1).suffix(2) == [.lost(AccessID(7)), .graceEnded])
    service.tell(1, .validationWanted(RequestNumber(1), AccessID(7)), .validationWanted(RequestNumber(2), AccessID(8)))
    #expect(service.taken(1) == [.answered(RequestNumber(1), false), .answered(RequestNumber(2), true)])
  }

  @Test("A process that has reported only a part when the grace ends connects once more and doubts its accesses")
  func connectedLatecomersDoubt() {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2])
    service.join(1, previousEpoch: 1)
    service.tell(1, Self.held(7, .write("/a")))
    service.join(3)
    service.tell(3, .write(1, "/b"))
    service.carryOut(service.core.graceIsOver(at: 0))
    #expect(service.expelled == [ClientID(1)])
    #expect(service.revoked == [2, 1] && service.revocations == [.everything, .everything])
    #expect(!service.taken(1).contains(.graceEnded))
    #expect(service.taken(3).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.core.arbiter.accesses.count == 1)
    service.join(4, session: 1, previousEpoch: 2)
    service.tell(4, Self.held(7, .write("/a")), .reassertionEnded)
    #expect(service.taken(4).last == .graceEnded)
  }

  @Test("A client may release what it has lost before it hears so")
  func lostAccessesAreReleased() {
    let service = ServiceHarness(epoch: 2, expecting: [1])
    service.join(3)
    service.tell(3, .write(1, "/a"))
    service.carryOut(service.core.graceIsOver(at: 0))
    service.join(1, previousEpoch: 1)
    service.tell(1, Self.held(7, .write("/a")), .reassertionEnded, .release(7))
    #expect(service.disconnected.isEmpty)
    service.tell(1, .release(7))
    #expect(service.disconnected == [ClientID(1)])
  }

  @Test("A latecomer's presenter is answered when nobody decides alone any more about what it presents")
  func latePresentersEndDelegations() throws {
    let service = ServiceHarness(epoch: 2, expecting: [1])
    service.carryOut(service.core.graceIsOver(at: 0))
    service.join(3)
    let delegation = try #require(service.delegate(3, "/d/a"))
    service.join(1, previousEpoch: 1)
    service.tell(1, Self.presented(1, "/d/a"), .reassertionEnded)
    #expect(service.taken(3) == [.recalled(delegation)])
    #expect(!service.taken(1).contains(.graceEnded))
    service.tell(3, .delegationReturned(delegation))
    #expect(service.taken(1) == [.graceEnded])
  }

  @Test("A presenter is told that it may have missed a change, before it gets its turn back")
  func presentersMissChanges() {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2])
    service.join(1, previousEpoch: 1)
    service.join(2, previousEpoch: 1)
    service.tell(1, Self.presented(1, "/a"), Self.debt(1, 5, of: 2, 9), .reassertionEnded)
    #expect(service.taken(1).compactMap(\.deliveredKind).isEmpty)
    service.tell(2, .reassertionEnded)
    #expect(service.taken(1).compactMap(\.deliveredKind) == [.itemDidChange])
    service.tell(1, .answer(MessageID(1, epoch: 2)))
    #expect(service.taken(1).compactMap(\.deliveredKind) == [.reacquire(MessageID(5))])
  }

  @Test("A presenter that relinquished for an access that lasts gets its turn when that ends")
  func debtsAreAttached() {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2])
    service.join(1, previousEpoch: 1)
    service.join(2, previousEpoch: 1)
    service.tell(1, Self.presented(1, "/a"), Self.debt(1, 5, of: 2, 9), .reassertionEnded)
    service.tell(2, Self.held(9, .write("/a")), .reassertionEnded)
    service.tell(1, .answer(MessageID(1, epoch: 2)))
    #expect(service.taken(1).compactMap(\.deliveredKind) == [.itemDidChange])
    service.tell(2, .release(9, .changed))
    service.tell(1, .answer(MessageID(2, epoch: 2)))
    #expect(service.taken(1).compactMap(\.deliveredKind) == [.itemDidChange, .reacquire(MessageID(5))])
  }

  @Test("A debt that's told after the grace is paid at once when the access is over")
  func lateDebtsArePaid() {
    let service = ServiceHarness(epoch: 2)
    service.join(1)
    service.tell(1, .present(1, "/a"), Self.debt(1, 5, of: 2, 9), Self.debt(7, 6, of: 2, 9))
    #expect(service.taken(1).compactMap(\.deliveredKind) == [.reacquire(MessageID(5))])
  }

  @Test("Accesses that overlapped under the earlier service go on together")
  func overlapsAreTrusted() {
    let service = ServiceHarness(epoch: 2, expecting: [1, 2])
    service.join(1, previousEpoch: 1)
    service.join(2, previousEpoch: 1)
    service.tell(1, Self.held(1, .write("/a")), .reassertionEnded)
    service.tell(2, Self.held(1, .write("/a")), .reassertionEnded)
    for client in UInt64(1)...2 { #expect(!service.taken(client).contains(.lost(AccessID(1)))) }
    service.tell(1, .release(1))
    service.tell(2, .release(1))
    #expect(service.disconnected.isEmpty)
  }

  @Test(
    "A reacquirer that a message of the epoch before left is taken in, whatever the epochs are",
    arguments: [1, 1 << 28 - 1, 1 << 28, 1 << 36 - 1, 1 << 40 - 1, 1 << 40, 6_570 << 28 - 1, .max - 1] as [UInt64])
  func debtsOfAnyEpoch(epoch: UInt64) {
    let service = ServiceHarness(epoch: epoch + 1, expecting: [1])
    service.join(1, previousEpoch: epoch)
    let messages = [MessageID(1, epoch: epoch), MessageID(1 << 36, epoch: epoch), MessageID(.max, epoch: epoch)]
    service.tell(1, Self.presented(1, "/a"))
    for message in messages {
      service.tell(
        1,
        .reasserted(.debt(PresenterID(1), message, owedFor: DebtOrigin(session: 2, access: AccessID(9)))))
    }
    service.tell(1, .reassertionEnded)
    for number in UInt64(1)...4 { service.tell(1, .answer(MessageID(number, epoch: epoch + 1))) }
    let kinds: [Message.Kind] = [.itemDidChange] + messages.map { .reacquire($0) }
    #expect(service.taken(1).compactMap(\.deliveredKind) == kinds)
    // It knows of its own messages that none was left before.
    service.tell(
      1,
      .reasserted(
        .debt(
          PresenterID(1), MessageID(5, epoch: epoch + 1), owedFor: DebtOrigin(session: 2, access: AccessID(9)))))
    #expect(service.explanation(1).contains("isn't of an earlier connection"))
  }

  @Test("Messages of different epochs have different numbers")
  func messagesAreOfTheirEpoch() {
    for epoch in UInt64(1)...2 {
      let service = ServiceHarness(epoch: epoch)
      service.join(1)
      service.join(2)
      service.tell(1, .present(1, "/a"))
      service.tell(2, .write(1, "/a"))
      #expect(service.taken(1).compactMap(\.deliveredMessage) == [MessageID(1, epoch: epoch)])
    }
  }

  @Test("A hello that is received after the one of a later connection of the process is ignored")
  func lateHello() {
    let service = ServiceHarness()
    service.connect(1)
    service.join(2, session: 1)
    service.join(3)
    service.tell(2, .present(1, "/d/a"))
    service.tell(1, service.hello(1), .present(1, "/d/a"))
    #expect(service.expelled == [ClientID(1)] && service.revoked.isEmpty && service.taken(1).isEmpty)
    #expect(service.core.session(of: ClientID(2)) == 1)
    _ = service.taken(2)
    service.tell(3, .write(1, "/d/a"))
    #expect(service.taken(2).compactMap(\.deliveredKind) == [.relinquishToWriter])
    #expect(service.taken(3).isEmpty)
  }

  @Test("A later connection of a process replaces the earlier one, whatever the numbers of both")
  func laterConnection() {
    let service = ServiceHarness()
    service.join(2, session: 1)
    service.join(1, session: 1)
    #expect(service.expelled == [ClientID(2)])
    #expect(service.core.session(of: ClientID(1)) == 1 && service.core.session(of: ClientID(2)) == nil)
  }
}
