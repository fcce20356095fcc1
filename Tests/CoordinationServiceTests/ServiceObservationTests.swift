import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("Looking at the state of a service")
struct ServiceObservationTests {
  @Test("A snapshot waits until those who decide alone have told what they granted themselves")
  func snapshotsWait() throws {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    _ = try #require(service.delegate(1, "/d/a"))
    service.tell(2, .snapshotWanted(RequestNumber(5)))
    #expect(service.taken(2).isEmpty)
    #expect(service.core.hasSurveys)
    guard case .survey(let number) = service.taken(1).first else {
      Issue.record("nobody is asked")
      return
    }
    service.tell(1, .adopt(3, .write("/d/b")), .surveyed(number))
    let snapshot = try #require(service.taken(2).first?.snapshot)
    // The delegation isn't an access of anybody.
    #expect(snapshot.arbiter.accesses.map(\.summary.items) == [[AccessRequest.Item("/d/b", .write(.update))]])
    #expect(snapshot.processes.map(\.delegations) == [["/d"], []])
    #expect(snapshot.epoch == 1 && !snapshot.isInGrace)
    #expect(!service.core.hasSurveys)
  }

  @Test("A snapshot doesn't wait for a process that has gone, or that doesn't answer in time")
  func snapshotsDontWaitForEver() throws {
    let service = ServiceHarness()
    for client in UInt64(1)...3 { service.join(client) }
    _ = try #require(service.delegate(1, "/d/a"))
    service.tell(2, .snapshotWanted(RequestNumber(5)))
    service.hangUp(1)
    #expect(service.taken(2).first?.snapshot != nil)
    _ = try #require(service.delegate(3, "/e/a"))
    service.tell(2, .snapshotWanted(RequestNumber(6)))
    #expect(service.taken(2).isEmpty)
    service.carryOut(service.core.surveysAreLate(at: 0))
    #expect(service.taken(2).first?.snapshot != nil)
  }

  @Test("Nobody is shown to a process that has gone")
  func surveysEndWithTheirAskers() throws {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    _ = try #require(service.delegate(1, "/d/a"))
    service.tell(2, .snapshotWanted(RequestNumber(5)))
    service.hangUp(2)
    #expect(!service.core.hasSurveys)
  }

  @Test("While somebody observes, it sees the state after each event, and nobody decides alone")
  func observersSeeEverything() throws {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    let delegation = try #require(service.delegate(1, "/d/a"))
    service.tell(2, .observationWanted(true))
    #expect(service.taken(1) == [.recalled(delegation)])
    service.tell(1, .delegationReturned(delegation))
    _ = service.taken(2)
    #expect(service.delegate(1, "/d/a") == nil)
    let counts = service.taken(2).compactMap { frame -> Int? in
      if case .observed(let reply) = frame { reply.arbiter.accesses.count } else { nil }
    }
    #expect(counts == [1, 0])
    service.tell(2, .observationWanted(false))
    _ = service.taken(2)
    service.tell(1, .write(901, "/d/a"))
    #expect(service.taken(2).isEmpty)
  }

  @Test("A directory is delegated after as many uses as it takes, and after more of them when it was recalled")
  func directoriesAreDelegatedAfterUse() {
    let service = ServiceHarness()
    service.core.usesUntilDelegation = 3
    service.join(1)
    service.join(2)
    func usesUntilDelegation(from first: UInt64) -> (count: Int, id: DelegationID)? {
      for count in 1...10 {
        if let id = service.delegate(1, "/d/a", access: first + UInt64(count)) { return (count, id) }
      }
      return nil
    }
    let delegation = usesUntilDelegation(from: 100)
    #expect(delegation?.count == 3)
    service.tell(2, .read(1, "/d/b"))
    if let delegation { service.tell(1, .delegationReturned(delegation.id)) }
    service.tell(2, .release(1))
    #expect(usesUntilDelegation(from: 200)?.count == 6)
  }

  @Test("A process that only reads receives a delegation to read, which others may have too")
  func readersReceiveDelegationsToRead() {
    let service = ServiceHarness()
    for client in UInt64(1)...2 {
      service.join(client)
      service.tell(client, .read(1, "/d/a"), .release(1))
      #expect(
        service.taken(client).contains { frame in
          if case .delegated(_, "/d", .reading) = frame { true } else { false }
        })
    }
    #expect(service.core.delegations.count == 2)
  }
}
