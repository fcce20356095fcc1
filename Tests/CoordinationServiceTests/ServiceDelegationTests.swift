import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("A process has many delegations")
struct ServiceDelegationTests {
  @Test(
    "A process with more delegations than the service keeps gives back the oldest, and gets new ones as often as before"
  )
  func limit() {
    let service = ServiceHarness()
    service.checksInvariants = false
    service.join(1)
    var delegations: [DelegationID] = []
    for number in 0..<ServiceCore.delegationCountMax {
      if let delegation = service.delegate(1, ItemPath(canonical: Array("/d\(number)/f".utf8)), access: UInt64(number))
      {
        delegations.append(delegation)
      }
    }
    #expect(delegations.count == ServiceCore.delegationCountMax)
    service.tell(1, .write(5_000, "/last/f"), .release(5_000))
    let told = service.taken(1)
    #expect(told.contains(.recalled(delegations[0])) && !told.contains(.recalled(delegations[1])))
    service.tell(1, .delegationReturned(delegations[0]))
    #expect(service.delegate(1, "/d0/f", access: 5_001) != nil)
    #expect(service.core.arbiter.invariants() == [])
  }

  @Test(
    "A request that was under way when its directory was delegated is granted under the delegation, which isn't asked back"
  )
  func requestsUnderWay() throws {
    let service = ServiceHarness()
    service.join(1)
    let delegation = try #require(service.delegate(1, "/d/a"))
    service.tell(1, .write(1, "/d/a"), .read(2, "/d/b"))
    let told = service.taken(1)
    #expect(told.compactMap(\.grantedAccess) == [AccessID(1), AccessID(2)])
    // Later accesses that the process grants itself under the same delegation have no smaller one.
    let token = FencingToken(epoch: 1, sequence: delegation.rawValue)
    #expect(told.compactMap(\.token) == [token, token])
    // Accesses that conflict with those wait in the queue, as always.
    service.join(2)
    service.tell(2, .write(1, "/d/a"))
    #expect(service.taken(1) == [.recalled(delegation)])
    service.tell(1, .delegationReturned(delegation))
    #expect(service.taken(2).isEmpty)
    service.tell(1, .release(1))
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("A request that needs more than its process was delegated asks for the delegation")
  func requestsBeyondDelegations() throws {
    let service = ServiceHarness()
    service.join(1)
    let delegation = try #require(service.delegate(1, "/d/a"))
    service.tell(1, .event(.accessRequested(AccessID(1), .plain("/d/a", .write(.deleting), purpose: 1))))
    #expect(service.taken(1) == [.recalled(delegation)])
    service.tell(1, .delegationReturned(delegation))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("Beside what was under way a process grants itself nothing that conflicts, and everything else")
  func companions() {
    var delegations = DelegationTable()
    let known: [(AccessID, AccessRequest)] = [
      (AccessID(1), .write("/d/a")), (AccessID(2), .read("/d/b")), (AccessID(3), .write("/e/a")),
      (AccessID(4), .plain("/d/c", .write(.deleting), purpose: 1)),
    ]
    delegations.add(DelegationID(1), "/d", .writing, beside: known)
    func covered(_ path: ItemPath) -> [Bool] {
      [false, true].map { delegations.delegation(for: path, isWrite: $0) != nil }
    }
    #expect(covered("/d/a") == [false, false])
    #expect(covered("/d/b") == [true, false])
    #expect(covered("/d/c/x") == [false, false])
    #expect(covered("/d/x") == [true, true])
    #expect(covered("/e/x") == [false, false])
    for (access, _) in known { delegations.accessEnded(access) }
    for path in ["/d/a", "/d/b", "/d/c/x"] as [ItemPath] { #expect(covered(path) == [true, true]) }
  }

  @Test("A delegation in the way of a request is given back before the request is reported")
  func delegationsInTheWay() {
    var delegations = DelegationTable()
    delegations.add(DelegationID(1), "/d", .writing, beside: [])
    delegations.add(DelegationID(2), "/e", .reading, beside: [])
    func inTheWay(_ path: ItemPath, _ access: ItemAccess) -> [UInt64] {
      delegations.inTheWay(of: .plain(path, access, purpose: 1)).map(\.rawValue)
    }
    #expect(inTheWay("/d/a", .read(withoutChanges: true)) == [1])
    #expect(inTheWay("/e/a", .read(withoutChanges: false)) == [])
    #expect(inTheWay("/e/a", .write(.merging)) == [2])
    #expect(inTheWay("/", .write(.update)) == [])
    #expect(inTheWay("/", .readAll(withoutChanges: false)) == [1])
    #expect(inTheWay("/", .write(.moving)) == [1, 2])
    delegations.remove(DelegationID(1))
    #expect(inTheWay("/d/a", .write(.update)) == [])
  }

  @Test("Delegations that were asked back before don't count, in any order")
  func order() {
    var order = DelegationOrder()
    var expected: [AccessID] = []
    for number in UInt64(1)...100 {
      order.append(AccessID(number))
      expected.append(AccessID(number))
      if number % 3 == 0 {
        order.remove(AccessID(number - 1))
        expected.removeAll { $0 == AccessID(number - 1) }
      }
      if number % 5 == 0 { #expect(order.removeFirst() == expected.removeFirst()) }
      #expect(order.count == expected.count)
    }
    while !expected.isEmpty { #expect(order.removeFirst() == expected.removeFirst()) }
    #expect(order.removeFirst() == nil && order.count == 0)
  }
}
