import CompactContainers
@testable import FileAccessArbiter
import Testing

@testable import CoordinationService

@Suite("A service refuses mistakes of a process")
struct ServiceBorderTests {
  /// A frame that can't be, and a part of the explanation.
  struct Mistake: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let frame: ClientFrame
    let reason: String

    init(_ description: String, _ frame: ClientFrame, _ reason: String) {
      testDescription = description
      self.frame = frame
      self.reason = reason
    }
  }

  private static func debt(_ message: UInt64, epoch: UInt64 = 0) -> ClientFrame {
    .reasserted(
      .debt(
        PresenterID(1), MessageID(message, epoch: epoch), owedFor: DebtOrigin(session: 2, access: AccessID(9))))
  }

  @Test("A reacquirer of an earlier service is named once: two processes may say the same, one may not")
  func debtsAreRestatedOnce() {
    let service = ServiceHarness()
    for client in UInt64(1)...2 {
      service.join(client)
      service.tell(client, .present(1, "/a"), Self.debt(5))
    }
    #expect(service.disconnected.isEmpty)
    #expect(service.core.arbiter.invariants() == [])
    service.tell(1, Self.debt(5))
    #expect(service.explanation(1).contains("twice"))
    service.tell(2, Self.debt(6))
    #expect(service.disconnected == [ClientID(1)])
    #expect(service.core.arbiter.invariants() == [])
  }

  @Test("A process that was disconnected may name reacquirers of messages that the same service sent it before")
  func debtsOfAnEarlierConnection() throws {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(1, .present(1, "/a"))
    service.tell(2, .write(1, "/a"))
    let sent = try #require(service.core.arbiter.messages.sortedKeys.last)
    service.hangUp(1)
    service.join(3)
    service.tell(3, .present(1, "/a"), Self.debt(sent.rawValue, epoch: sent.epoch))
    #expect(service.refusals(3).isEmpty)
    #expect(service.core.arbiter.invariants() == [])
  }

  private static let large = ServiceCore.localNumberEnd
  private static let delegated = AccessRequest.plain("/a", .delegated(forWriting: true), purpose: 1)

  static let mistakes: [Mistake] = [
    Mistake("an unknown access released", .release(1), "isn't granted"),
    Mistake("an access with too large a number", .write(large, "/a"), "too large"),
    Mistake("a presenter with too large a number", .present(large, "/a"), "too large"),
    Mistake(
      "a purpose with too large a number", .event(.accessRequested(AccessID(1), .write("/a", purpose: large))),
      "too large"),
    Mistake(
      "no item",
      .event(
        .accessRequested(
          AccessID(1),
          AccessRequest(
            client: ClientID(1), purpose: PurposeID(1), label: "", items: []))), "names no item"),
    Mistake("a delegation requested", .event(.accessRequested(AccessID(1), delegated)), "requests a delegation"),
    Mistake("a delegation adopted", .adopt(1, delegated), "requests a delegation"),
    Mistake("a delegation re-asserted", .reasserted(.access(AccessID(1), delegated)), "requests a delegation"),
    Mistake("a reacquirer of this service's own message", debt(.max, epoch: 1), "isn't of an earlier connection"),
    Mistake("an access adopted without a delegation", .adopt(1, .write("/a")), "without a right"),
    Mistake(
      "a presenter registered without waiting", .event(.presenterAdded(PresenterID(1), .plain("/a"))),
      "without waiting"),
    Mistake(
      "a presenter located without waiting", .event(.presenterLocated(PresenterID(1), "/a", observing: nil)),
      "without waiting"),
    Mistake(
      "an event waited for that nobody answers",
      .presenterEvent(RequestNumber(1), .accessCancelled(AccessID(1))), "nobody answers"),
    Mistake(
      "a move by an access with too large a number",
      .itemMoved(RequestNumber(1), by: AccessID(large), from: "/a", to: "/b", replaced: false), "too large"),
    Mistake("a validation of too large a number", .validationWanted(RequestNumber(1), AccessID(large)), "too large"),
    Mistake("a cancellation of too large a number", .event(.accessCancelled(AccessID(large))), "too large"),
  ]

  @Test("A client that tells what can't be is disconnected, with the reason", arguments: mistakes)
  func mistake(mistake: Mistake) {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.tell(1, mistake.frame)
    #expect(service.disconnected == [ClientID(1)])
    #expect(service.explanation(1).contains(mistake.reason))
    service.hangUp(1)
    #expect(service.core.arbiter.stateDescription.isEmpty)
    #expect(service.taken(2).isEmpty)
  }

  @Test("A second hello, a first frame that is none, and what isn't understood end a connection")
  func connectionsBeginWithHello() {
    let service = ServiceHarness()
    service.join(1)
    service.tell(1, service.hello(1))
    #expect(service.explanation(1).contains("hello twice"))
    service.connect(2)
    service.tell(2, .reassertionEnded)
    #expect(service.explanation(2).contains("no hello"))
    service.connect(3)
    service.carryOut(service.core.receivedGarbage(from: ClientID(3), "a frame is too long", at: 0))
    #expect(service.explanation(3).contains("too long"))
    #expect(service.disconnected == [ClientID(1), ClientID(2), ClientID(3)])
    for client in UInt64(1)...3 { service.hangUp(client) }
  }

  @Test("A process that does nothing but serve may, once it has said who it is")
  func handingOver() {
    let service = ServiceHarness()
    service.connect(1)
    service.tell(1, service.hello(1))
    service.tell(1, .serviceWanted)
    #expect(service.isHandedOver)
  }

  @Test("An access that is requested inside of one that's requested later is inside of nothing")
  func outerAccessesComeFirst() {
    let service = ServiceHarness()
    service.core.usesUntilDelegation = 100
    service.join(1)
    var inner = AccessRequest.write("/a/b", purpose: 1)
    inner.context = .access(AccessID(2))
    service.tell(1, .event(.accessRequested(AccessID(1), inner)), .write(2, "/a"), .release(2), .release(1))
    #expect(service.refusals(1).isEmpty)
    #expect(service.core.arbiter.isQuiescent)
  }

  @Test("An access that is requested inside of one that waits is inside of nothing")
  func outerAccessesAreGrantedFirst() {
    let service = ServiceHarness()
    service.core.usesUntilDelegation = 100
    service.join(1)
    service.join(2)
    service.tell(1, .write(1, "/a"))
    var inner = AccessRequest.write("/a", purpose: 2)
    inner.context = .access(AccessID(2))
    service.tell(2, .write(2, "/a"), .event(.accessRequested(AccessID(3), inner)))
    service.hangUp(1)
    #expect(service.core.arbiter.invariants() == [])
    service.tell(2, .release(2), .release(3))
    #expect(service.refusals(2).isEmpty)
    #expect(service.core.arbiter.isQuiescent)
  }

  @Test("An access is requested once")
  func accessesAreRequestedOnce() {
    let service = ServiceHarness()
    service.join(1)
    service.tell(1, .write(1, "/a"), .write(1, "/b"))
    #expect(service.explanation(1).contains("requested twice"))
  }

  @Test("An access whose number is that of one that has ended, but around one that hasn't, is requested twice")
  func numbersAreKeptWhileTheyMeanSomething() {
    let service = ServiceHarness()
    service.core.usesUntilDelegation = 100
    service.join(1)
    service.join(2)
    service.tell(2, .write(1, "/b"))
    var inner = AccessRequest.write("/b", purpose: 2)
    inner.context = .access(AccessID(1))
    service.tell(1, .write(1, "/a"), .event(.accessRequested(AccessID(2), inner)), .release(1))
    service.tell(1, .write(1, "/c"))
    #expect(service.explanation(1).contains("requested twice"))
    service.hangUp(1)
    service.hangUp(2)
    #expect(service.core.arbiter.stateDescription.isEmpty)
    // Another may have it when no client is inside any more.
    service.join(3)
    service.tell(3, .write(1, "/a"), .event(.accessRequested(AccessID(2), inner)), .release(1), .release(2))
    service.tell(3, .write(1, "/c"), .release(1))
    #expect(service.refusals(3).isEmpty)
  }

  @Test("A waiting access can't be released")
  func waitingAccessesAreNotReleased() {
    let service = ServiceHarness()
    service.join(1)
    service.tell(1, .write(1, "/a"), .write(2, "/a"), .release(2))
    #expect(service.refusals(1) == [.malformed])
  }

  @Test("An access ends with an outcome for each item, or with none")
  func outcomesAreCounted() {
    let service = ServiceHarness()
    service.core.usesUntilDelegation = 100
    service.join(1)
    service.tell(1, .write(1, "/a"), .release(1, .changed), .write(2, "/a"), .release(2))
    #expect(service.refusals(1).isEmpty)
    service.tell(1, .write(3, "/a"), .release(3, .changed, .changed))
    #expect(service.explanation(1).contains("2 outcomes"))
  }

  @Test("A presenter registers once")
  func presentersRegisterOnce() {
    let service = ServiceHarness()
    service.join(1)
    service.tell(1, .present(1, "/a"), .present(1, "/a", number: 2))
    #expect(service.explanation(1).contains("registers twice"))
    service.join(2)
    service.tell(2, .present(1, "/a"), .reasserted(.presenter(PresenterID(1), .plain("/a"))))
    #expect(service.explanation(2).contains("registers twice"))
  }

  @Test("A message is answered by the process that got it")
  func messagesAreAnsweredByTheirReceivers() throws {
    let service = ServiceHarness()
    for client in UInt64(1)...4 { service.join(client) }
    service.tell(1, .present(1, "/a"))
    _ = service.taken(1)
    service.tell(2, .write(1, "/a"))
    let message = try #require(service.taken(1).compactMap(\.deliveredMessage).first)
    service.tell(3, .answer(message))
    #expect(service.explanation(3).contains("isn't for it"))
    service.tell(4, .event(.messageFailed(message, explanation: PresenterFailure(text: ""))))
    #expect(service.explanation(4).contains("isn't for it"))
    var request = AccessRequest.read("/b")
    request.context = .message(message)
    service.tell(2, .event(.accessRequested(AccessID(2), request)))
    #expect(service.explanation(2).contains("isn't for it"))
    service.tell(1, .answer(MessageID(12345)), .answer(message), .answer(message))
    #expect(service.refusals(1).isEmpty)
  }

  @Test("A callback has returned when its own process says so, and its answer still counts")
  func returnedCallbacks() throws {
    let service = ServiceHarness()
    for client in UInt64(1)...4 { service.join(client) }
    service.tell(1, .present(1, "/a"), .present(2, "/a", number: 2))
    _ = service.taken(1)
    service.tell(2, .write(1, "/a"))
    let messages = service.taken(1).compactMap(\.deliveredMessage)
    let message = try #require(messages.first)
    service.tell(3, .event(.callbackReturned(message)))
    #expect(service.explanation(3).contains("isn't for it"))
    service.tell(1, .event(.callbackReturned(message)), .event(.callbackReturned(message)))
    for other in messages.dropFirst() { service.tell(1, .answer(other)) }
    #expect(service.taken(2).compactMap(\.grantedAccess).isEmpty, "the answer is still to come")
    service.tell(1, .answer(message), .event(.callbackReturned(message)))
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.refusals(1).isEmpty)
  }

  @Test("A queue has begun a callback, and a class is known better, when the presenter's own process says so")
  func presumptions() throws {
    let service = ServiceHarness()
    for client in UInt64(1)...4 { service.join(client) }
    var callbacks: PresenterCallbacks = .relinquishToWriter
    callbacks.presumed = .relinquishToWriter
    var registration = PresenterRegistration.plain("/a")
    registration.callbacks = callbacks
    service.tell(1, .presenterEvent(RequestNumber(1), .presenterAdded(PresenterID(1), registration)))
    _ = service.taken(1)
    service.tell(2, .write(1, "/a"))
    let message = try #require(service.taken(1).compactMap(\.deliveredMessage).first)
    service.tell(3, .event(.callbackBegan(message)))
    #expect(service.explanation(3).contains("isn't for it"))
    // The number is the teller's own, so it's another presenter's.
    service.tell(4, .event(.presenterLearned(PresenterID(1), [])))
    #expect(service.taken(2).compactMap(\.grantedAccess).isEmpty)
    service.tell(1, .event(.presenterLearned(PresenterID(1), .uncoordinatedChanges)))
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    service.tell(1, .answer(message), .event(.callbackBegan(message)))
    #expect(service.refusals(1).isEmpty)
  }

  @Test("Nothing is adopted that conflicts with another's access, or that a delegation doesn't cover")
  func adoptionsAreChecked() {
    let service = ServiceHarness()
    service.join(1)
    #expect(service.delegate(1, "/d/a") != nil)
    service.tell(1, .adopt(1, .write("/d/a")), .adopt(2, .read("/d/b")))
    #expect(service.refusals(1).isEmpty)
    service.tell(1, .adopt(3, .plain("/d/a", .write(.deleting), purpose: 3)))
    #expect(service.explanation(1).contains("without a right"))
    for (client, request) in [(UInt64(2), AccessRequest.write("/e/a")), (3, .read("/f/a"))] {
      service.join(client)
      #expect(service.delegate(client, ItemPath("/g\(client)/a")) != nil)
      service.tell(client, .adopt(1, request))
      #expect(service.explanation(client).contains("without a right"))
    }
    service.join(4)
    #expect(service.delegate(4, "/h/a") != nil)
    service.tell(4, .adopt(1, .write("/h/a")), .adopt(2, .write("/h/a", purpose: 3)))
    #expect(service.explanation(4).contains("against another access"))
  }

  @Test("A process returns only its own delegations")
  func delegationsAreReturnedByTheirHolders() throws {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    let delegation = try #require(service.delegate(1, "/d/a"))
    service.tell(2, .delegationReturned(delegation), .delegationReturned(DelegationID(77)))
    #expect(service.core.delegations.count == 1)
    service.tell(1, .delegationReturned(delegation), .delegationReturned(delegation))
    #expect(service.core.delegations.isEmpty)
    #expect(service.disconnected.isEmpty)
  }

  @Test("Other versions, other packages, other users and too many processes are refused")
  func refusals() {
    let service = ServiceHarness(packages: ["key", "app"])
    service.connect(1)
    service.tell(1, service.hello(1, version: Hello.currentVersion + 1, packages: ["app", "key"]))
    #expect(service.refusals(1) == [.unknownVersion])
    service.connect(2)
    service.tell(2, service.hello(2, packages: ["app"]))
    #expect(service.refusals(2) == [.otherPackages])
    service.connect(3)
    service.tell(3, service.hello(3, packages: ["app", "key"]))
    #expect(service.refusals(3).isEmpty)
    service.connect(4, isSameUser: false)
    #expect(service.refusals(4) == [.otherUser])
    for client in 5...UInt64(ServiceCore.clientCountLimit) { service.connect(client) }
    #expect(service.disconnected == [ClientID(1), ClientID(2), ClientID(4)])
    service.connect(UInt64(ServiceCore.clientCountLimit) + 1)
    #expect(service.refusals(UInt64(ServiceCore.clientCountLimit) + 1) == [.tooManyClients])
  }

  @Test("A process names so many purposes and no more")
  func purposesAreCounted() {
    let service = ServiceHarness()
    service.join(1)
    let end = UInt64(ServiceCore.purposeCountMax)
    for number in 0..<end {
      #expect(service.core.received(.purposeNamed(PurposeID(number), "same"), from: ClientID(1), at: 0) == [])
    }
    service.tell(1, .purposeNamed(PurposeID(end), "same"))
    #expect(service.explanation(1).contains("too many purposes"))
  }

  @Test("Purposes of one name are one purpose, also from several processes")
  func namedPurposesAreShared() {
    let service = ServiceHarness()
    service.join(1)
    service.join(2)
    service.join(3)
    service.tell(1, .purposeNamed(PurposeID(5), "sync"))
    service.tell(2, .purposeNamed(PurposeID(6), "sync"))
    service.tell(1, .event(.accessRequested(AccessID(1), .write("/a", purpose: 5))))
    service.tell(2, .event(.accessRequested(AccessID(1), .write("/a", purpose: 6))))
    service.tell(3, .event(.accessRequested(AccessID(1), .write("/a", purpose: 5))))
    #expect(service.taken(1).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.taken(2).compactMap(\.grantedAccess) == [AccessID(1)])
    #expect(service.taken(3).compactMap(\.grantedAccess).isEmpty)
  }

  @Test("Fencing tokens grow, and those of the next service are larger")
  func tokensGrow() {
    var tokens: [FencingToken] = []
    for epoch in UInt64(1)...2 {
      let service = ServiceHarness(epoch: epoch)
      service.core.usesUntilDelegation = 100
      service.join(1)
      service.join(2)
      for access in UInt64(1)...3 {
        service.tell(1, .write(access, "/a"), .release(access))
        tokens += service.taken(1).compactMap(\.token)
        service.tell(2, .read(access, "/b"), .release(access))
        tokens += service.taken(2).compactMap(\.token)
      }
    }
    #expect(tokens.count == 12)
    #expect(tokens == tokens.sorted() && Set(tokens).count == 12)
  }
}
