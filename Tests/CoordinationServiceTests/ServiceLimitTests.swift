@testable import FileAccessArbiter
import Testing

@testable import CoordinationService

@Suite("How much one process may tell a service")
struct ServiceLimitTests {
  private func request(_ id: UInt64, _ path: ItemPath, inside outer: UInt64?) -> ClientFrame {
    var request = AccessRequest.write(path, purpose: 1)
    request.context = outer.map { .access(AccessID($0)) }
    return .event(.accessRequested(AccessID(id), request))
  }

  @Test("Accesses are nested so deep and no deeper")
  func nesting() {
    var core = ServiceCore(epoch: 1, processIdentifier: 9, packageExtensions: [], expecting: [])
    let client = ClientID(1)
    _ = core.clientConnected(client, processIdentifier: 1, isSameUser: true, at: 0)
    _ = core.received(ServiceHarness().hello(1), from: client, at: 0)
    let end = UInt64(ServiceCore.nestingDepthMax) + 1
    for id in 1...end {
      let effects = core.received(request(id, "/a", inside: id == 1 ? nil : id - 1), from: client, at: 0)
      #expect(!effects.contains(.disconnect(client)))
    }
    let effects = core.received(request(end + 1, "/a", inside: end), from: client, at: 0)
    #expect(effects.contains(.disconnect(client)))
  }

  @Test("Names of attributes have so many bytes together, and no more")
  func attributes() {
    let service = ServiceHarness()
    service.join(1)
    let announcement = Announcement(
      client: ClientID(1), purpose: PurposeID(1), ownPresenter: nil, label: "", path: "/a")
    let name = String(repeating: "a", count: ServiceCore.attributeByteCountMax)
    service.tell(1, .event(.ubiquityAttributesChanged(announcement, [name])))
    #expect(service.refusals(1).isEmpty)
    service.tell(1, .event(.ubiquityAttributesChanged(announcement, [name, "b"])))
    #expect(service.explanation(1).contains("attributes"))
  }

  @Test("A process's name is as long as a file's, and what it's told when it's refused isn't longer than that by much")
  func names() {
    let service = ServiceHarness()
    service.connect(1)
    let hello = Hello(
      session: 1, processIdentifier: 1, processStartTime: 0,
      processName: String(repeating: "é", count: 30_000), packageExtensions: [], previousEpoch: 0)
    service.tell(1, .hello(hello))
    #expect(service.explanation(1).contains("its name has 60000 bytes"))
    service.connect(2)
    service.carryOut(service.core.receivedGarbage(from: ClientID(2), hello.processName, at: 0))
    let explanation = service.explanation(2)
    #expect(explanation.utf8.count <= ServiceCore.explanationByteCountMax && explanation.contains("é"))
  }

  @Test("Names of purposes that nobody uses any more are forgotten, and no number is used twice")
  func purposes() {
    let service = ServiceHarness()
    service.join(1)
    service.tell(1, .purposeNamed(PurposeID(1), "kept"))
    for round in UInt64(2)...20 {
      service.join(round)
      for number in UInt64(0)..<500 {
        _ = service.core.received(.purposeNamed(PurposeID(number), "\(round).\(number)"), from: ClientID(round), at: 0)
      }
      service.hangUp(round)
    }
    #expect(service.core.purposeNames.count < 4_000)
    #expect(service.core.purposeNames.count == service.core.purposeIDs.count)
    #expect(service.core.lastPurpose == 9_501)
    #expect(service.core.purposeIDs["kept"] == PurposeID(1))
  }

  @Test("A process has so many accesses and presenters, and no more")
  func parties() {
    let service = ServiceHarness()
    service.core.partyCountMax = 3
    service.join(1)
    service.join(2)
    service.tell(1, .present(1, "/a"), .write(1, "/b"), .write(2, "/c"))
    service.tell(2, .write(1, "/d"))
    #expect(service.disconnected.isEmpty)
    service.tell(1, .write(3, "/e"))
    #expect(service.explanation(1).contains("more than 3 accesses and presenters"))
    #expect(service.disconnected == [ClientID(1)])
  }

  @Test("A purpose that's forgotten makes room for another one, and what was requested with it keeps it")
  func forgottenPurposes() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    for number in 0..<UInt64(ServiceCore.purposeCountMax) {
      _ = service.core.received(.purposeNamed(PurposeID(number), "\(number)"), from: ClientID(1), at: 0)
    }
    service.tell(1, .event(.accessRequested(AccessID(1), .write("/a", purpose: 7))), .purposeForgotten(PurposeID(7)))
    service.tell(1, .purposeNamed(PurposeID(1 << 30), "another"))
    #expect(service.disconnected.isEmpty)
    service.tell(2, .purposeNamed(PurposeID(1), "7"), .event(.accessRequested(AccessID(1), .write("/a", purpose: 1))))
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    service.tell(1, .purposeNamed(PurposeID(1 << 30 + 1), "one too many"))
    #expect(service.explanation(1).contains("too many purposes"))
  }

  @Test("A purpose that's forgotten during a grace makes room at once, and what waits for the grace's end still has it")
  func forgottenPurposesOfAGrace() {
    let service = ServiceHarness(epoch: 2, expecting: [9])
    service.join(1)
    service.join(2)
    for number in 0..<UInt64(ServiceCore.purposeCountMax) {
      _ = service.core.received(.purposeNamed(PurposeID(number), "\(number)"), from: ClientID(1), at: 0)
    }
    service.tell(1, .event(.accessRequested(AccessID(1), .write("/a", purpose: 7))), .purposeForgotten(PurposeID(7)))
    service.tell(1, .purposeNamed(PurposeID(1 << 30), "another"))
    service.tell(2, .purposeNamed(PurposeID(1), "7"), .event(.accessRequested(AccessID(1), .write("/a", purpose: 1))))
    service.carryOut(service.core.graceIsOver(at: 0))
    #expect(service.disconnected.isEmpty)
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    service.tell(1, .purposeNamed(PurposeID(1 << 30 + 1), "one too many"))
    #expect(service.explanation(1).contains("too many purposes"))
  }

  @Test("A move that would make a path too long for others isn't possible")
  func longMoves() {
    let service = ServiceHarness()
    service.join(1)
    let name = String(repeating: "n", count: 40_000)
    service.tell(1, .present(1, ItemPath("/a/" + name)))
    service.tell(1, .event(.accessRequested(AccessID(1), .plain("/a", .write(.moving), purpose: 1))))
    for message in service.taken(1).compactMap(\.deliveredMessage) { service.tell(1, .answer(message)) }
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
    func move(_ number: UInt64, to path: ItemPath) -> [ServerFrame] {
      service.tell(1, .itemMoved(RequestNumber(number), by: AccessID(1), from: "/a", to: path, replaced: false))
      return service.taken(1)
    }
    #expect(move(1, to: ItemPath("/" + name)).contains(.answered(RequestNumber(1), false)))
    #expect(move(2, to: "/b").contains(.answered(RequestNumber(2), true)))
  }

  @Test("A text that's too long for a frame is abridged, or answered by no")
  func substitutes() throws {
    let items = Array(
      repeating: AccessRequest.Item(ItemPath("/" + String(repeating: "p", count: 60_000)), .write(.update)), count: 50)
    let summary = AccessSummary(
      id: AccessID(1), client: ClientID(1), clientName: "c", label: "l", items: items, isPreparation: false,
      phase: .waiting, since: 0)
    let members = Array(repeating: WaitMember.access(summary), count: 40)
    let report = WaitReport(waiter: summary, waiting: 1, blockers: Array(members.prefix(16)))
    let frames: [ServerFrame] = [
      .failed(AccessID(1), .deadlock(members), explanation: PresenterFailure(text: "t", deadlock: members)),
      .failed(AccessID(1), .timedOut(waiting: 1, blockers: members), explanation: nil),
      .failed(AccessID(1), .unanswered(waiting: 1, blockers: members, followers: members), explanation: nil),
      .reported(AccessID(1), report),
    ]
    for frame in frames {
      #expect(throws: WireError.self) { try WireFormat.byteCount(of: frame) }
      let substitute = try #require(frame.substituteIfTooLong)
      #expect(try WireFormat.byteCount(of: substitute) < WireFormat.frameByteCountMax)
    }
    let empty = SnapshotReply(
      arbiter: ServiceHarness().core.arbiter.snapshot(at: 0), processes: [], epoch: 1, isInGrace: false)
    #expect(ServerFrame.snapshot(RequestNumber(3), empty).substituteIfTooLong == .answered(RequestNumber(3), false))
    #expect(ServerFrame.graceEnded.substituteIfTooLong == nil)
  }

  @Test("A text is cut between characters' bytes", arguments: [("aé", 3), ("aé", 2), ("aé", 1), ("aé", 0), ("", 0)])
  func fitting(text: String, byteCount: Int) {
    let fitting = text.fitting(byteCount)
    #expect(fitting.utf8.count <= byteCount && text.hasPrefix(fitting))
    #expect(fitting.utf8.count == text.utf8.count || fitting.utf8.count + 2 > byteCount)
  }
}
