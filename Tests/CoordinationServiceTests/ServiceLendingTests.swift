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
