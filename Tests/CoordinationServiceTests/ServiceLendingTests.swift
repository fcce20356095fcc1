import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

@Suite("What processes are lent, when it's much")
struct ServiceLendingTests {
  @Test("Who is lent more than the service keeps gives back the oldest, and isn't lent less often for that")
  func limit() {
    let service = ServiceHarness()
    service.checksInvariants = false
    service.join(1)
    var loans: [DelegationID] = []
    for number in 0..<ServiceCore.delegationCountMax {
      if let loan = service.lend(1, ItemPath(canonical: Array("/d\(number)/f".utf8)), access: UInt64(number)) {
        loans.append(loan)
      }
    }
    #expect(loans.count == ServiceCore.delegationCountMax)
    service.tell(1, .write(5_000, "/last/f"), .release(5_000))
    let told = service.taken(1)
    #expect(told.contains(.recalled(loans[0])) && !told.contains(.recalled(loans[1])))
    service.tell(1, .delegationReturned(loans[0]))
    #expect(service.lend(1, "/d0/f", access: 5_001) != nil)
    #expect(service.core.arbiter.invariants() == [])
  }

  @Test("A request that was under way when its directory was lent is granted under the loan, which isn't asked back")
  func requestsUnderWay() throws {
    let service = ServiceHarness()
    service.join(1)
    let loan = try #require(service.lend(1, "/d/a"))
    service.tell(1, .write(1, "/d/a"), .read(2, "/d/b"))
    let told = service.taken(1)
    #expect(told.compactMap(\.grantedAccess) == [AccessID(1), AccessID(2)])
    // What the process grants itself after them under the same loan has no smaller one.
    let token = FencingToken(epoch: 1, sequence: loan.rawValue)
    #expect(told.compactMap(\.token) == [token, token])
    // What conflicts with those waits in the queue, as always.
    service.join(2)
    service.tell(2, .write(1, "/d/a"))
    #expect(service.taken(1) == [.recalled(loan)])
    service.tell(1, .delegationReturned(loan))
    #expect(service.taken(2).isEmpty)
    service.tell(1, .release(1))
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("A request that needs more than its process was lent asks for the loan")
  func requestsBeyondLoans() throws {
    let service = ServiceHarness()
    service.join(1)
    let loan = try #require(service.lend(1, "/d/a"))
    service.tell(1, .event(.accessRequested(AccessID(1), .plain("/d/a", .write(.deleting), purpose: 1))))
    #expect(service.taken(1) == [.recalled(loan)])
    service.tell(1, .delegationReturned(loan))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("Beside what was under way a process grants itself nothing that conflicts, and everything else")
  func companions() {
    var loans = LoanTable()
    let known: [(AccessID, AccessRequest)] = [
      (AccessID(1), .write("/d/a")), (AccessID(2), .read("/d/b")), (AccessID(3), .write("/e/a")),
      (AccessID(4), .plain("/d/c", .write(.deleting), purpose: 1)),
    ]
    loans.borrow(DelegationID(1), "/d", .writing, beside: known)
    func covered(_ path: ItemPath) -> [Bool] { [false, true].map { loans.loan(for: path, isWrite: $0) != nil } }
    #expect(covered("/d/a") == [false, false])
    #expect(covered("/d/b") == [true, false])
    #expect(covered("/d/c/x") == [false, false])
    #expect(covered("/d/x") == [true, true])
    #expect(covered("/e/x") == [false, false])
    for (access, _) in known { loans.accessEnded(access) }
    for path in ["/d/a", "/d/b", "/d/c/x"] as [ItemPath] { #expect(covered(path) == [true, true]) }
  }

  @Test("What's in the way of a request is given back before it's told")
  func loansInTheWay() {
    var loans = LoanTable()
    loans.borrow(DelegationID(1), "/d", .writing, beside: [])
    loans.borrow(DelegationID(2), "/e", .reading, beside: [])
    func inTheWay(_ path: ItemPath, _ access: ItemAccess) -> [UInt64] {
      loans.inTheWay(of: .plain(path, access, purpose: 1)).map(\.rawValue)
    }
    #expect(inTheWay("/d/a", .read(withoutChanges: true)) == [1])
    #expect(inTheWay("/e/a", .read(withoutChanges: false)) == [])
    #expect(inTheWay("/e/a", .write(.merging)) == [2])
    #expect(inTheWay("/", .write(.update)) == [])
    #expect(inTheWay("/", .readAll(withoutChanges: false)) == [1])
    #expect(inTheWay("/", .write(.moving)) == [1, 2])
    loans.giveBack(DelegationID(1))
    #expect(inTheWay("/d/a", .write(.update)) == [])
  }

  @Test("Loans that were asked back before don't count, in any order")
  func order() {
    var order = LentOrder()
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
