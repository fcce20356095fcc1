import CompactContainers
import FileAccessArbiter
import Testing

@testable import CoordinationService

@Suite("Processes that belong to an access of another process")
struct ChildProcessTests {
  private static let token = AccessToken(high: 1, low: 2)

  private static func share(_ access: UInt64, _ token: AccessToken = token, number: UInt64 = 5) -> ClientFrame {
    .accessShared(RequestNumber(number), AccessID(access), token)
  }

  private func hello(
    _ session: UInt64, inside token: AccessToken = token, previousEpoch: UInt64 = 0
  ) -> ClientFrame {
    .hello(
      Hello(
        session: session, processIdentifier: Int32(session), processStartTime: 0, processName: "p",
        packageExtensions: [], previousEpoch: previousEpoch, outerAccess: token))
  }

  /// Client 1 has written `/d/a` and shared that, and client 2 is its child.
  private func family() -> ServiceHarness {
    let harness = ServiceHarness()
    harness.core.usesUntilDelegation = 100
    harness.join(1)
    harness.tell(1, .write(1, "/d/a"), Self.share(1))
    #expect(harness.taken(1).contains(.answered(RequestNumber(5), true)))
    harness.connect(2)
    harness.tell(2, hello(2))
    _ = harness.taken(2)
    return harness
  }

  private func failure(of frames: [ServerFrame]) -> Failure? {
    for case .failed(_, let failure, _) in frames { return failure }
    return nil
  }

  // MARK: - Nesting

  @Test("A child's request is nested in the access, and goes into it at once (C-432)")
  func nested() {
    let harness = family()
    harness.tell(2, .write(7, "/d/a"))
    #expect(harness.taken(2).compactMap(\.grantedAccess) == [AccessID(7)])
    harness.join(3)
    harness.tell(3, .read(1, "/d/a"), .snapshotWanted(RequestNumber(1)))
    #expect(harness.taken(3).compactMap(\.grantedAccess).isEmpty)
    let snapshot = harness.core.arbiter.snapshot(at: 0)
    #expect(snapshot.accesses.map(\.outer) == [nil, snapshot.accesses[0].summary.id, nil])
    harness.tell(2, .release(7))
    harness.tell(1, .release(1))
    #expect(harness.taken(3).compactMap(\.grantedAccess) == [AccessID(1)])
  }

  @Test("A child of a child is inside of both (C-432)")
  func grandchild() {
    let harness = family()
    let inner = AccessToken(high: 3, low: 4)
    harness.tell(2, .read(7, "/d/a"), Self.share(7, inner))
    harness.connect(3)
    harness.tell(3, hello(3, inside: inner), .write(9, "/d/a"))
    #expect(harness.taken(3).compactMap(\.grantedAccess) == [AccessID(9)])
  }

  @Test("A child asks each time: nothing is delegated to it (C-434)")
  func noDelegation() {
    let harness = family()
    harness.core.usesUntilDelegation = 1
    harness.tell(2, .write(7, "/e/a"), .release(7), .write(8, "/e/a"), .release(8))
    #expect(harness.taken(2).count == 2)
  }

  @Test("The presenter for which the outer access is made isn't asked about what a child does (C-432)")
  func ownPresenter() {
    let harness = ServiceHarness()
    harness.core.usesUntilDelegation = 100
    harness.join(1)
    harness.tell(1, .present(4, "/d/a"))
    var request = AccessRequest.write("/d/a")
    request.ownPresenter = PresenterID(4)
    harness.tell(1, .event(.accessRequested(AccessID(1), request)), Self.share(1))
    _ = harness.taken(1)
    harness.connect(2)
    harness.tell(2, hello(2), .write(7, "/d/a"))
    #expect(harness.taken(2).compactMap(\.grantedAccess) == [AccessID(7)])
    #expect(harness.taken(1).compactMap(\.deliveredKind).isEmpty)
  }

  @Test("Accesses that are nested too deep across processes fail, and the process stays connected")
  func nestingDepth() {
    let harness = family()
    harness.checksInvariants = false
    var context = AccessID(10)
    harness.tell(2, .read(10, "/d/b"))
    for number in UInt64(11)... {
      var request = AccessRequest.read("/d/b")
      request.context = .access(context)
      harness.tell(2, .event(.accessRequested(AccessID(number), request)))
      context = AccessID(number)
      guard let failure = failure(of: harness.taken(2)) else { continue }
      #expect(failure == .nestedTooDeep(limit: ServiceCore.nestingDepthMax))
      // One deeper than accesses of its own would be.
      #expect(number == 10 + UInt64(ServiceCore.nestingDepthMax))
      break
    }
    #expect(harness.disconnected.isEmpty)
  }

  // MARK: - The end of the access

  @Test("When the access has ended, each new access of a child fails, and what it holds lasts (C-434)")
  func ended() {
    let harness = family()
    harness.tell(2, .write(7, "/d/a"))
    harness.tell(1, .release(1))
    harness.join(3)
    harness.tell(3, .read(1, "/d/a"))
    _ = harness.taken(2)
    var nested = AccessRequest.read("/d/a")
    nested.context = .access(AccessID(7))
    harness.tell(2, .read(8, "/e"), .event(.accessRequested(AccessID(9), nested)))
    let frames = harness.taken(2)
    #expect(
      frames == [8, 9].map { .failed(AccessID($0), .outerAccessEnded, explanation: nil) } && harness.taken(3).isEmpty)
    harness.tell(2, .release(7))
    #expect(harness.taken(3).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(harness.core.tokens.isEmpty && harness.core.sharedAccesses.isEmpty)
  }

  @Test(
    "A request that a child waits for when the access ends isn't granted any more (C-434)", arguments: [false, true])
  func endedWhileWaiting(byHangUp isHungUp: Bool) {
    let harness = family()
    harness.tell(2, .write(7, "/d/a"), .write(8, "/d/a"), .read(9, "/d/a"))
    #expect(harness.taken(2).compactMap(\.grantedAccess) == [AccessID(7)])
    if isHungUp { harness.hangUp(1) } else { harness.tell(1, .release(1)) }
    #expect(harness.taken(2) == [8, 9].map { .failed(AccessID($0), .outerAccessEnded, explanation: nil) })
    harness.tell(2, .release(7))
    #expect(harness.taken(2).isEmpty && harness.disconnected.isEmpty)
  }

  @Test("The same when the process of the access has gone (C-434)")
  func departed() {
    let harness = family()
    harness.tell(2, .write(7, "/d/a"))
    _ = harness.taken(2)
    harness.hangUp(1)
    harness.tell(2, .read(8, "/e"))
    #expect(failure(of: harness.taken(2)) == .outerAccessEnded)
    harness.tell(2, .release(7))
    #expect(harness.core.tokens.isEmpty && harness.core.sharedAccesses.isEmpty)
    #expect(harness.disconnected.isEmpty)
  }

  @Test("A token that nobody has is that of an access that has ended (C-434)")
  func unknownToken() {
    let harness = ServiceHarness()
    harness.connect(2)
    harness.tell(2, hello(2), .read(8, "/e"))
    #expect(failure(of: harness.taken(2)) == .outerAccessEnded)
  }

  @Test("A process of another user is refused, whatever token it names")
  func otherUser() {
    let harness = family()
    harness.connect(3, isSameUser: false)
    harness.tell(3, hello(3))
    #expect(harness.refusals(3).first == .otherUser)
  }

  @Test("A new process doesn't get the number of one in whose accesses others are still nested")
  func numbersOfFormerParents() {
    let harness = family()
    harness.tell(2, .write(7, "/d/a"))
    harness.hangUp(1)
    #expect(!harness.core.mayConnect(ClientID(1)) && !harness.core.mayConnect(ClientID(2)))
    #expect(harness.core.mayConnect(ClientID(3)))
    // Others come and go, and nothing is left of them.
    for number in UInt64(100)..<400 {
      harness.join(number)
      harness.tell(number, .write(1, "/e"), Self.share(1, AccessToken(high: number, low: 0)))
      harness.hangUp(number)
    }
    #expect(harness.core.formerParents.count < 200)
    #expect(!harness.core.mayConnect(ClientID(1)))
  }

  // MARK: - The border

  @Test("An access that isn't held isn't shared")
  func notHeld() {
    let harness = family()
    harness.tell(1, Self.share(99), Self.share(1))
    #expect(
      harness.taken(1) == [.answered(RequestNumber(5), false), .answered(RequestNumber(5), true)])
  }

  @Test("A second token of an access, and the token of another access, are mistakes of the process")
  func tokensAreUnique() {
    for frames in [
      [Self.share(1, AccessToken(high: 9, low: 9))], [ClientFrame.write(2, "/d/b"), Self.share(2)],
    ] {
      let harness = family()
      for frame in frames { harness.tell(1, frame) }
      #expect(harness.refusals(1) == [.malformed])
    }
  }

  // MARK: - Another service

  private static func reasserted(_ access: UInt64, _ path: ItemPath) -> ClientFrame {
    .reasserted(.access(AccessID(access), .write(path, purpose: access)))
  }

  private static let tokenReasserted = ClientFrame.reasserted(.token(AccessID(1), token))

  @Test("A child's report to a new service is kept until the access around it has been reported (C-433)")
  func reportedInOrder() {
    let harness = ServiceHarness(epoch: 2, expecting: [1, 2])
    harness.connect(2)
    harness.tell(2, hello(2, previousEpoch: 1), Self.reasserted(7, "/d/a"), .reassertionEnded, .read(8, "/d/a"))
    harness.connect(1)
    harness.tell(1, harness.hello(1, previousEpoch: 1), Self.reasserted(1, "/d/a"))
    #expect(harness.core.arbiter.snapshot(at: 0).accesses.count == 1)
    harness.tell(1, Self.tokenReasserted)
    #expect(harness.core.arbiter.snapshot(at: 0).accesses.map(\.outer).count { $0 != nil } == 1)
    #expect(harness.core.isInGrace)
    harness.tell(1, .reassertionEnded)
    #expect(!harness.core.isInGrace)
    // Inside of the first, and beside the own one, which isn't around it.
    #expect(harness.taken(2).compactMap(\.grantedAccess).isEmpty)
    harness.tell(2, .release(7))
    #expect(harness.taken(2).compactMap(\.grantedAccess) == [AccessID(8)])
  }

  @Test("If the access around it isn't reported by anybody, what a child holds is its own (C-434)")
  func orphanReports() {
    let harness = ServiceHarness(epoch: 2, expecting: [1, 2, 3])
    let inner = AccessToken(high: 3, low: 4)
    harness.connect(3)
    harness.tell(3, hello(3, inside: inner, previousEpoch: 1), Self.reasserted(9, "/d/a"), .reassertionEnded)
    harness.connect(2)
    harness.tell(
      2, hello(2, previousEpoch: 1), Self.reasserted(7, "/d/a"), .reasserted(.token(AccessID(7), inner)),
      .reassertionEnded, .read(8, "/d/a"))
    #expect(harness.core.isInGrace)
    harness.carryOut(harness.core.sessionsEnded([1], at: 0))
    #expect(!harness.core.isInGrace)
    let snapshot = harness.core.arbiter.snapshot(at: 0)
    // The outer one first, although its process came later.
    #expect(snapshot.accesses.map(\.outer) == [nil, snapshot.accesses[0].summary.id])
    #expect(failure(of: harness.taken(2)) == .outerAccessEnded)
    #expect(harness.disconnected.isEmpty)
  }

  @Test("When the grace is over, a child's report is taken in without the access around it (C-434)")
  func graceIsOver() {
    let harness = ServiceHarness(epoch: 2, expecting: [1, 2])
    harness.connect(2)
    harness.tell(2, hello(2, previousEpoch: 1), Self.reasserted(7, "/d/a"), .reassertionEnded)
    harness.carryOut(harness.core.graceIsOver(at: 1))
    #expect(!harness.core.isInGrace)
    #expect(harness.core.arbiter.snapshot(at: 0).accesses.map(\.outer) == [nil])
    // It comes too late: its own child has the item.
    harness.connect(1)
    harness.tell(1, harness.hello(1, previousEpoch: 1), Self.reasserted(1, "/d/a"), Self.tokenReasserted)
    #expect(harness.taken(1).contains(.lost(AccessID(1))))
    #expect(harness.disconnected.isEmpty)
  }

  @Test("Processes that say to belong to each other end no grace, and keep none up")
  func circle() {
    let harness = ServiceHarness(epoch: 2, expecting: [1, 2])
    let other = AccessToken(high: 3, low: 4)
    harness.connect(1)
    harness.tell(
      1, hello(1, inside: other, previousEpoch: 1), Self.reasserted(1, "/d/a"), Self.tokenReasserted, .reassertionEnded)
    harness.connect(2)
    harness.tell(
      2, hello(2, previousEpoch: 1), Self.reasserted(7, "/d/b"), .reasserted(.token(AccessID(7), other)),
      .reassertionEnded)
    #expect(!harness.core.isInGrace)
    #expect(harness.core.arbiter.snapshot(at: 0).accesses.count == 2)
  }

  @Test("A process that dies while its report is kept leaves nothing")
  func deathInGrace() {
    let harness = ServiceHarness(epoch: 2, expecting: [1, 2])
    harness.connect(2)
    harness.tell(2, hello(2, previousEpoch: 1), Self.reasserted(7, "/d/a"), .reassertionEnded)
    harness.hangUp(2)
    harness.carryOut(harness.core.sessionsEnded([1], at: 0))
    #expect(!harness.core.isInGrace && harness.core.arbiter.snapshot(at: 0).accesses.isEmpty)
  }
}
