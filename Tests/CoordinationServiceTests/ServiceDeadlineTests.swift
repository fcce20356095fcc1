import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("A service acts although nobody sends it anything")
struct ServiceDeadlineTests {
  private static let second: Timestamp = 1_000_000_000

  @Test("A process that doesn't say hello within five seconds is dropped, and one that does isn't")
  func silence() {
    let service = ServiceHarness()
    service.connect(1, at: 0)
    service.connect(2, at: Self.second)
    #expect(service.core.nextDeadline == ServiceCore.silenceMax)
    service.tell(1, service.hello(1))
    #expect(service.core.nextDeadline == Self.second + ServiceCore.silenceMax)
    service.pass(to: ServiceCore.silenceMax)
    #expect(service.dropped == [])
    service.pass(to: Self.second + ServiceCore.silenceMax)
    #expect(service.dropped == [ClientID(2)])
    service.hangUp(2)
    #expect(service.core.nextDeadline == nil)
  }

  @Test("A refused process that doesn't read why is dropped after five seconds")
  func refusal() {
    let service = ServiceHarness()
    service.connect(1, isSameUser: false, at: 0)
    #expect(service.disconnected == [ClientID(1)])
    service.pass(to: ServiceCore.silenceMax)
    #expect(service.dropped == [ClientID(1)])
  }

  @Test("The grace ends after a second, and until then sessions are looked at")
  func grace() {
    let service = ServiceHarness(expecting: [7])
    #expect(service.core.nextDeadline == 0)
    #expect(service.pass(to: 0).sessions == [7])
    let next = service.core.nextDeadline
    #expect(next.map { $0 > 0 && $0 < ServiceCore.graceDuration } == true)
    #expect(service.core.isInGrace)
    service.pass(to: ServiceCore.graceDuration)
    #expect(!service.core.isInGrace && service.core.nextDeadline == nil)
  }

  @Test("Processes are looked at while somebody waits, and not before or after")
  func waiting() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(1, .event(.accessRequested(AccessID(1), .plain("/d/a", .write(.update), purpose: 1))))
    #expect(service.core.nextDeadline == nil)
    service.tell(2, .event(.accessRequested(AccessID(1), .plain("/d/a", .write(.update), purpose: 1))))
    guard let look = service.core.nextDeadline else { return #expect(Bool(false), "nobody looks") }
    #expect(service.pass(to: look - 1).processes == nil)
    #expect(service.pass(to: look).processes == [ClientID(1): 1])
    service.tell(1, .event(.accessReleased(AccessID(1), [])))
    #expect(service.core.nextDeadline == nil)
  }

  @Test("A snapshot is shown after half a second although a process doesn't tell what it granted itself")
  func survey() throws {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    _ = try #require(service.delegate(1, "/d/a"))
    service.tell(2, .snapshotWanted(RequestNumber(5)))
    #expect(service.taken(2).isEmpty)
    let end = try #require(service.core.nextDeadline)
    service.pass(to: end)
    #expect(
      service.taken(2).contains { frame in
        if case .snapshot(RequestNumber(5), _) = frame { true } else { false }
      })
    #expect(service.core.nextDeadline == nil)
  }
}
