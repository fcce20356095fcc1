import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("Processes that are stopped while others wait for them")
struct ServiceStoppedTests {
  private static func impatientWrite(_ id: UInt64, _ path: ItemPath) -> ClientFrame {
    var request = AccessRequest.write(path, purpose: id)
    request.limits.stoppedHolders = 7
    request.limits.stoppedPresenters = 5
    return .event(.accessRequested(AccessID(id), request))
  }

  @Test(
    "An item held by a stopped process goes to an impatient one, and the stopped process is notified when it's back")
  func holder() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(1, .write(1, "/d/a"), .write(2, "/d/b"))
    service.tell(2, Self.impatientWrite(1, "/d/a"))
    #expect(service.core.isAnybodyWaiting && service.core.processesInTheWay == [ClientID(1): 1])
    service.stop([1], at: 10)
    service.stop([1], at: 16)
    #expect(service.expelled.isEmpty && service.taken(2).isEmpty)
    service.stop([1], at: 17)
    #expect(service.expelled == [ClientID(1)] && service.revoked == [1] && service.revocations == [.everything])
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(!service.core.isAnybodyWaiting)
    service.join(3, session: 1, previousEpoch: 1)
    service.tell(
      3, .reasserted(.access(AccessID(1), .write("/d/a"))), .reasserted(.access(AccessID(2), .write("/d/b"))),
      .reassertionEnded)
    #expect(service.taken(3).suffix(2) == [.lost(AccessID(1)), .graceEnded])
  }

  @Test("A delegation of a stopped process is given to others in the same way")
  func delegation() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    let delegation = service.delegate(1, "/d/a")
    service.tell(2, Self.impatientWrite(1, "/d/a"))
    #expect(service.taken(1) == [.recalled(delegation ?? DelegationID(0))])
    service.stop([1], at: 0)
    service.stop([1], at: 7)
    #expect(service.revoked == [1] && service.expelled == [ClientID(1)])
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.core.delegations.isEmpty)
  }

  @Test("C-187: Nothing is taken from a stopped presenter; only its answer isn't waited for")
  func presenter() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(1, .present(1, "/d/a"), .write(1, "/d/b"))
    let purged = service.taken(1)
    #expect(purged.contains(.answered(RequestNumber(1), true)))
    service.tell(2, Self.impatientWrite(1, "/d/a"))
    service.stop([1], at: 0)
    service.stop([1], at: 5)
    #expect(service.expelled.isEmpty && service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    service.tell(2, .release(1, .changed))
    let message = service.taken(1).compactMap(\.deliveredMessage).first
    service.tell(1, .answer(message ?? MessageID(0), hasReacquirer: true))
    #expect(service.taken(1).compactMap(\.deliveredKind) == [.itemDidChange])
    #expect(service.disconnected.isEmpty)
    #expect(service.core.arbiter.phase(of: AccessID(1 << 40 | 1)) == .granted)
  }

  @Test("A presenter registers where a stopped process has a delegation: that grants itself nothing more unread")
  func registration() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    _ = service.delegate(1, "/d/a")
    service.tell(2, .present(1, "/d/a"))
    #expect(service.core.isAnybodyWaiting && service.taken(2).isEmpty)
    service.stop([1], at: 0)
    service.stop([1], at: ServiceCore.toleranceOfQuestions)
    #expect(service.revoked == [1] && service.revocations == [.delegations] && service.expelled.isEmpty)
    #expect(service.taken(2) == [.answered(RequestNumber(1), true)])
    #expect(!service.core.isAnybodyWaiting)
  }

  @Test(
    "A process that doesn't come back before the grace ends has no delegations any more, before any access is granted")
  func lateInGrace() {
    let service = ServiceHarness(epoch: 2, expecting: [1])
    service.join(3)
    service.tell(3, .write(1, "/a"))
    service.carryOut(service.core.graceIsOver(at: 0))
    #expect(service.revoked == [1] && service.taken(3).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("A process that connects anew before the end of its old connection was noticed is notified of its losses")
  func brokenConnection() {
    let service = ServiceHarness()
    service.join(1, session: 7)
    let write = AccessRequest.plain("/d/a", .write(.update), purpose: 1)
    service.tell(1, .event(.accessRequested(AccessID(1), write)))
    service.connect(2)
    service.tell(2, service.hello(7, previousEpoch: 1))
    #expect(service.expelled == [ClientID(1)] && service.revoked == [7] && service.revocations == [.everything])
    service.tell(2, .reasserted(.access(AccessID(1), write)), .reassertionEnded)
    #expect(!service.taken(2).contains(.lost(AccessID(1))))
    service.tell(2, .event(.accessReleased(AccessID(1), [])))
    service.hangUp(2)
    #expect(service.core.arbiter.stateDescription.isEmpty)
  }
}
