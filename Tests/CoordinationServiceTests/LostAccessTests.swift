import CompactContainers
import SeededRandom
import TestSupport
import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

/// An access whose accessor runs, and that no service has any more: its process gave up, or reported it too late.
@Suite("A request inside of a lost access")
struct LostAccessTests {
  private static let callback = MessageID(8, epoch: 1)
  private static let presenter = PresenterID(5)

  private static func request(
    _ path: ItemPath, inside context: ExecutionContext?, isAwaited: Bool = true
  ) -> AccessRequest {
    var request = AccessRequest.read(path)
    request.context = context
    request.isAwaitedByContext = isAwaited
    return request
  }

  private static func sent(_ effects: [ClientEffect]) -> [ClientFrame] {
    effects.compactMap { if case .send(let frame) = $0 { frame } else { nil } }
  }

  /// The accesses in frames, as requested or reported.
  private static func requests(in frames: [ClientFrame]) -> [AccessID: AccessRequest] {
    var found: [AccessID: AccessRequest] = [:]
    for frame in frames {
      switch frame {
      case .event(.accessRequested(let id, let request)), .event(.accessAdopted(let id, let request)),
        .reasserted(.access(let id, let request)):
        found[id] = request
      default: break
      }
    }
    return found
  }

  private static func hold(_ id: UInt64, _ request: AccessRequest, _ client: inout ClientCore) {
    _ = client.step(.accessAdopted(AccessID(id), request), at: 0)
  }

  private static func giveUp(_ client: inout ClientCore) {
    _ = client.disconnected()
    _ = client.claimsCollected(.disconnection)
    _ = client.unreachable()
    _ = client.claimsCollected(.unreachability)
  }

  private static func changeService(_ client: inout ClientCore, to epoch: UInt64) -> [ClientFrame] {
    _ = client.disconnected()
    _ = client.claimsCollected(.disconnection)
    return sent(client.connected(epoch: epoch))
  }

  private static func connected() -> ClientCore {
    var client = ClientCore(session: 7)
    _ = client.connected(epoch: 1)
    return client
  }

  @Test(
    "C-437: It's inside of the callback around that, and awaited by it if everything in between is",
    arguments: [true, false], [true, false])
  func givenUp(isOuterAwaited: Bool, isInnerAwaited: Bool) {
    var client = Self.connected()
    Self.hold(1, Self.request("/a", inside: .message(Self.callback)), &client)
    Self.hold(2, Self.request("/b", inside: .access(AccessID(1)), isAwaited: isOuterAwaited), &client)
    Self.giveUp(&client)
    let inner = Self.request("/c", inside: .access(AccessID(2)), isAwaited: isInnerAwaited)
    // Without a service, with the next one, and with the one after that.
    let early = client.step(.accessRequested(AccessID(3), inner), at: 0)
    #expect(Self.sent(early).isEmpty)
    var frames = Self.sent(client.connected(epoch: 2))
    frames += Self.sent(client.step(.accessRequested(AccessID(4), inner), at: 0))
    frames += Self.sent(client.step(.accessAdopted(AccessID(5), inner), at: 0))
    for found in [Self.requests(in: frames), Self.requests(in: Self.changeService(&client, to: 3))] {
      #expect(found.keys.sorted() == [AccessID(3), AccessID(4), AccessID(5)])
      for request in found.values {
        #expect(request.context == .message(Self.callback))
        #expect(request.isAwaitedByContext == (isOuterAwaited && isInnerAwaited))
      }
    }
  }

  @Test("C-437: A thousand lost accesses lie between a request and the callback around it")
  func deep() throws {
    var client = Self.connected()
    Self.hold(1, Self.request("/a", inside: .message(Self.callback)), &client)
    let depth = UInt64(ServiceCore.nestingDepthMax)
    for id in 2...depth { Self.hold(id, Self.request("/a", inside: .access(AccessID(id - 1))), &client) }
    Self.giveUp(&client)
    _ = client.connected(epoch: 2)
    let inner = Self.request("/c", inside: .access(AccessID(depth)))
    let found = Self.requests(in: Self.sent(client.step(.accessRequested(AccessID(depth + 1), inner), at: 0)))
    #expect(found[AccessID(depth + 1)]?.context == .message(Self.callback))
  }

  @Test("C-437: Other services learn that it's inside of the access around that, which isn't lost")
  func lateWithOne() {
    var client = Self.connected()
    Self.hold(1, Self.request("/a", inside: nil), &client)
    Self.hold(2, Self.request("/b", inside: .access(AccessID(1))), &client)
    Self.hold(3, Self.request("/c", inside: .access(AccessID(2))), &client)
    _ = Self.changeService(&client, to: 2)
    #expect(client.received(.lost(AccessID(2))).contains(.noteLoss(AccessID(2))))
    let waiting = Self.request("/d", inside: .access(AccessID(2)))
    let now = Self.requests(in: Self.sent(client.step(.accessRequested(AccessID(4), waiting), at: 0)))
    #expect(now[AccessID(4)]?.context == .access(AccessID(1)))
    let later = Self.requests(in: Self.changeService(&client, to: 3))
    #expect(later.keys.sorted() == [AccessID(1), AccessID(3), AccessID(4)])
    #expect(later[AccessID(3)]?.context == .access(AccessID(1)))
    #expect(later[AccessID(4)]?.context == .access(AccessID(1)))
    // The outer one is lost as well.
    _ = client.received(.lost(AccessID(1)))
    let last = Self.requests(in: Self.changeService(&client, to: 4))
    #expect(last.keys.sorted() == [AccessID(3), AccessID(4)])
    #expect(last.values.allSatisfy { $0.context == nil })
  }

  @Test("C-437: It names the presenter of the innermost lost access that has one, unless that's its own")
  func presenterAround() {
    var client = Self.connected()
    var own = Self.request("/a", inside: nil)
    own.ownPresenter = Self.presenter
    Self.hold(1, own, &client)
    Self.hold(2, Self.request("/b", inside: .access(AccessID(1))), &client)
    Self.giveUp(&client)
    _ = client.connected(epoch: 2)
    var inner = Self.request("/c", inside: .access(AccessID(2)))
    let found = Self.requests(in: Self.sent(client.step(.accessRequested(AccessID(3), inner), at: 0)))
    #expect(found[AccessID(3)]?.presenterAround == Self.presenter)
    inner.ownPresenter = Self.presenter
    let others = Self.requests(in: Self.sent(client.step(.accessRequested(AccessID(4), inner), at: 0)))
    #expect(others[AccessID(4)] != nil && others[AccessID(4)]?.presenterAround == nil)
    // Nobody waits for what's requested elsewhere.
    let elsewhere = Self.request("/c", inside: nil)
    let last = Self.requests(in: Self.sent(client.step(.accessRequested(AccessID(5), elsewhere), at: 0)))
    #expect(last[AccessID(5)] != nil && last[AccessID(5)]?.presenterAround == nil)
  }

  @Test("C-437: A service that has just taken an access away knows its presenter")
  func crossingPresenter() {
    let service = ServiceHarness(epoch: 2)
    service.join(1)
    service.tell(1, .write(1, "/b"))
    service.join(2, previousEpoch: 1)
    var own = Self.request("/b", inside: nil)
    own.ownPresenter = Self.presenter
    service.tell(
      2, .reasserted(.access(AccessID(2), own)), .reassertionEnded,
      .event(.accessRequested(AccessID(3), Self.request("/c", inside: .access(AccessID(2))))))
    #expect(service.taken(2).contains(.lost(AccessID(2))))
    let inner = service.core.arbiter.accesses[AccessID(2 << 40 | 3)]
    #expect(Array(inner.waitingPresenters) == [PresenterID(2 << 40 | Self.presenter.rawValue)])
    #expect(inner.ownPresenter == nil)
  }

  @Test("Nothing is kept of a lost access after its release, even if that crosses the message about its loss")
  func released() {
    var client = Self.connected()
    for id in 1...2 as ClosedRange<UInt64> { Self.hold(id, Self.request("/a", inside: nil), &client) }
    _ = client.received(.lost(AccessID(1)))
    // The service doesn't have it.
    #expect(Self.sent(client.step(.accessReleased(AccessID(1), []), at: 0)).isEmpty)
    #expect(Self.sent(client.step(.accessReleased(AccessID(2), []), at: 0)).count == 1)
    #expect(client.received(.lost(AccessID(2))).isEmpty)
    #expect(client.lost.isEmpty)
    #expect(client.accesses.isEmpty)
  }

  @Test("The process knows in which callbacks, and for which presenters, code of a lost access may be waited for")
  func whoWaits() {
    var client = Self.connected()
    Self.hold(1, Self.request("/b", inside: .message(Self.callback)), &client)
    var own = Self.request("/c", inside: nil)
    own.ownPresenter = Self.presenter
    Self.hold(2, own, &client)
    Self.giveUp(&client)
    let (first, second) = (
      Self.request("/d", inside: .access(AccessID(1))), Self.request("/d", inside: .access(AccessID(2)))
    )
    #expect(client.isInsideCallback(first))
    #expect(client.presenters(behind: first).isEmpty)
    #expect(!client.isInsideCallback(second))
    #expect(client.presenters(behind: second) == [Self.presenter])
    // One that has ended may have been in any callback.
    _ = client.step(.accessReleased(AccessID(2), []), at: 0)
    #expect(client.isInsideCallback(second))
  }

  @Test(
    "C-437: A service that has just taken an access away knows what is around a request that crosses the message",
    arguments: [true, false], [true, false])
  func crossing(isOuterAwaited: Bool, isInnerAwaited: Bool) {
    let service = ServiceHarness(epoch: 2)
    service.join(1)
    service.tell(1, .write(1, "/b"))
    // Process 2 comes too late with /b.
    service.join(2, previousEpoch: 1)
    service.tell(
      2, .reasserted(.access(AccessID(1), Self.request("/a", inside: nil))),
      .reasserted(.access(AccessID(2), Self.request("/b", inside: .access(AccessID(1)), isAwaited: isOuterAwaited))),
      .reassertionEnded,
      .event(
        .accessRequested(
          AccessID(3), Self.request("/c", inside: .access(AccessID(2)), isAwaited: isInnerAwaited))))
    #expect(service.taken(2).contains(.lost(AccessID(2))))
    let (outer, inner) = (AccessID(2 << 40 | 1), AccessID(2 << 40 | 3))
    #expect(service.core.arbiter.accesses[inner].lineage == [.access(outer)])
    #expect(service.core.arbiter.accesses[inner].isAwaitedByContext == (isOuterAwaited && isInnerAwaited))
  }
}

#if DEBUG
  @Suite("Exploration of a seeded fault about lost accesses")
  struct LostAccessFaultTests {
    @Test(
      "A request that's taken for one outside of everything around a lost access is found",
      arguments: Budget.isLong ? [ServiceScenario.lostInsideHeld, .nestedAndGivenUp] : [.lostInsideHeld])
    func surroundingsForgotten(scenario: ServiceScenario) async {
      let faults = ServiceModel.Faults(client: [.surroundingsOfLostForgotten])
      let result = await LongRun.run { ServiceExplorer(stateCountMax: 30_000).explore(ServiceModel(scenario, faults)) }
      #expect(result.failure != nil, "survives '\(scenario.name)': \(result)")
      if let problem = result.failure?.problems.first { print("\(scenario.name): \(problem)") }
    }
  }
#endif
