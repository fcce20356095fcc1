// Feeds a service with events that arbitrary bytes stand for: it answers or disconnects processes for any events in any
// order, and the invariants hold after each step. No target of the package; see `.ci/fuzz`.
import FileAccessArbiter

@testable import CoordinationService

/// Called by libFuzzer with each input that it makes up.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServiceEvents(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var world = ServiceWorld(Choices(Array(UnsafeBufferPointer(start: start, count: count))))
  while !world.choices.isAtEnd { world.step() }
  world.endEverything()
  return 0
}

/// The input, read as a list of choices.
struct Choices {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position >= bytes.count }

  /// A number below a bound; zero at the end.
  mutating func below(_ bound: Int) -> Int {
    if isAtEnd { return 0 }
    defer { position += 1 }
    return Int(bytes[position]) % bound
  }

  mutating func flag() -> Bool { below(2) == 1 }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { position = min(position + count, bytes.count) }
    return Array(bytes[position..<min(position + count, bytes.count)])
  }
}

/// A service, and connections that keep to the one rule that the kernel enforces: events after the end aren't reported.
struct ServiceWorld {
  var choices: Choices
  private var core: ServiceCore
  private var epoch: UInt64 = 1
  private var time: Timestamp = 0
  private var lastClient: UInt64 = 0
  private var clients: [ClientID] = []
  /// The clients whose connections are being closed.
  private var closing: Set<ClientID> = []
  private var timers: [ArbiterTimer] = []
  /// Messages, delegations and surveys that the service has sent to a client.
  private var messages: [MessageID] = [MessageID(0)]
  private var delegations: [DelegationID] = [DelegationID(0)]
  private var surveys: [RequestNumber] = [RequestNumber(0)]

  init(_ choices: Choices) {
    self.choices = choices
    core = ServiceWorld.makeCore(epoch: 1, expecting: [])
  }

  private static func makeCore(epoch: UInt64, expecting sessions: Set<UInt64>) -> ServiceCore {
    var core = ServiceCore(epoch: epoch, processIdentifier: 1, packageExtensions: ["pkg"], expecting: sessions)
    core.usesUntilDelegation = 1
    return core
  }

  mutating func step() {
    time += 1
    switch choices.below(16) {
    case 0: connect()
    case 1: disconnect()
    case 2: fire()
    case 3: carryOut(core.graceIsOver(at: time))
    case 4:
      time += Timestamp(choices.below(10)) * 1_000_000_000
      carryOut(core.timePassed(at: time).effects)
    case 5: carryOut(core.sessionsEnded([UInt64(choices.below(4))], at: time))
    case 6: restart()
    case 7: tellBytes()
    default: if let client = speaker() { tell(frame(), from: client) }
    }
  }

  /// When all clients have gone nothing is left.
  mutating func endEverything() {
    for client in clients { carryOut(core.clientDisconnected(client, at: time)) }
    carryOut(core.graceIsOver(at: time))
    precondition(core.arbiter.stateDescription.isEmpty, "\(core.arbiter.stateDescription)")
  }

  private mutating func connect() {
    lastClient += 1
    let client = ClientID(lastClient)
    clients.append(client)
    carryOut(
      core.clientConnected(
        client, processIdentifier: Int32(lastClient), isSameUser: choices.below(16) > 0, at: time))
    let hello = Hello(
      session: UInt64(choices.below(4)), processIdentifier: 7, processStartTime: 0, processName: "fuzz",
      packageExtensions: ["pkg"], previousEpoch: UInt64(choices.below(2)),
      outerAccess: choices.below(4) == 0 ? token() : nil)
    if choices.below(8) > 0 { tell(.hello(hello), from: client) }
  }

  private mutating func disconnect() {
    guard !clients.isEmpty else { return }
    let client = clients.remove(at: choices.below(clients.count))
    closing.remove(client)
    carryOut(core.clientDisconnected(client, at: time))
  }

  private mutating func fire() {
    guard !timers.isEmpty else { return }
    // Kept: a timer may fire although it was cancelled, or twice.
    carryOut(core.timerFired(choices.pick(timers), at: time))
  }

  /// Another service takes the place of this one, without any connection yet.
  private mutating func restart() {
    epoch += 1
    clients = []
    closing = []
    timers = []
    core = ServiceWorld.makeCore(epoch: epoch, expecting: choices.flag() ? [1, 2] : [])
  }

  private mutating func speaker() -> ClientID? {
    let speakers = clients.filter { !closing.contains($0) }
    return speakers.isEmpty ? nil : choices.pick(speakers)
  }

  private mutating func tell(_ frame: ClientFrame, from client: ClientID) {
    carryOut(core.received(frame, from: client, at: time))
  }

  /// Frames with any values at all.
  private mutating func tellBytes() {
    guard let client = speaker() else { return }
    let payload = choices.bytes(choices.below(256))
    var decoder = FrameDecoder<ClientFrame>()
    decoder.append(([UInt8(payload.count), 0, 0, 0] + payload).span.bytes)
    if let frame = try? decoder.next() { tell(frame, from: client) }
  }

  private mutating func carryOut(_ effects: [ServiceEffect]) {
    for effect in effects {
      switch effect {
      case .send(let frame, let client):
        precondition(clients.contains(client), "\(client) has gone, and is told \(frame)")
        note(frame)
      case .disconnect(let client), .drop(let client): closing.insert(client)
      case .armTimer(let timer, _): timers.append(timer)
      case .expel(let client):
        clients.removeAll { $0 == client }
        closing.remove(client)
      case .cancelTimer, .revoke, .handOver: break
      }
    }
    let problems = core.arbiter.invariants()
    precondition(problems.isEmpty, problems.joined(separator: "\n"))
  }

  private mutating func note(_ frame: ServerFrame) {
    switch frame {
    case .delivered(let delivery, _): messages.append(delivery.message)
    case .delegated(let delegation, _, _): delegations.append(delegation)
    case .survey(let number): surveys.append(number)
    default: break
    }
  }
}

// MARK: - Frames

extension ServiceWorld {
  private mutating func frame() -> ClientFrame {
    switch choices.below(16) {
    case 0:
      switch choices.below(3) {
      case 0: .purposeNamed(purpose(), "a")
      case 1: .purposeNamed(purpose(), "b")
      default: .purposeForgotten(purpose())
      }
    case 1: .itemMoved(number(), by: access(), from: path(), to: path(), replaced: choices.flag())
    case 2: .delegationReturned(choices.pick(delegations))
    case 3: .reasserted(reassertion())
    case 4: .reassertionEnded
    case 5: .snapshotWanted(number())
    case 6: .observationWanted(choices.flag())
    case 7: .surveyed(choices.pick(surveys))
    case 8: choices.flag() ? .validationWanted(number(), access()) : .accessShared(number(), access(), token())
    case 9: .presenterEvent(number(), .presenterAdded(presenter(), registration()))
    case 10: .presenterEvent(number(), .presenterLocated(presenter(), path(), observing: choices.flag() ? ["x"] : nil))
    case 11: choices.below(8) == 0 ? .serviceWanted : .event(.accessRequested(access(), request()))
    default: .event(event())
    }
  }

  private mutating func event() -> ArbiterEvent {
    switch choices.below(12) {
    case 0, 1: .accessRequested(access(), request())
    case 2: .accessAdopted(access(), request())
    case 3: .accessReleased(access(), outcomes())
    case 4: .accessCancelled(access())
    case 5: .presenterRemoved(presenter())
    case 6: .messageAnswered(choices.pick(messages), hasReacquirer: choices.flag())
    case 10: stage()
    case 11: .presenterRelabelled(presenter(), choices.flag() ? "p" : "other")
    case 7: .messageFailed(choices.pick(messages), explanation: PresenterFailure(text: "no"))
    case 8: .ubiquityAttributesChanged(announcement(), choices.flag() ? ["x"] : ["y"])
    default: .versionChanged(announcement(), choices.pick([.gained, .lost, .resolved]), "v")
    }
  }

  /// An event of a callback on its way, or of a class.
  private mutating func stage() -> ArbiterEvent {
    switch choices.below(3) {
    case 0: .callbackReturned(choices.pick(messages))
    case 1: .callbackBegan(choices.pick(messages))
    default:
      .presenterLearned(
        presenter(),
        PresenterCallbacks(rawValue: UInt32(choices.below(256)) << 16 | UInt32(choices.below(256)) * 0x101))
    }
  }

  private mutating func token() -> AccessToken { AccessToken(high: 0, low: UInt64(choices.below(4))) }

  private mutating func reassertion() -> Reassertion {
    switch choices.below(4) {
    case 0: .access(access(), request())
    case 1: .presenter(presenter(), registration(), running: running())
    case 2: .token(access(), token())
    default:
      .debt(
        presenter(), choices.pick(messages),
        owedFor: DebtOrigin(session: UInt64(choices.below(4)), access: access()))
    }
  }

  private mutating func running() -> [RunningCallback] {
    (0..<choices.below(3)).map { _ in
      RunningCallback(
        message: choices.pick(messages), kind: choices.pick([.relinquishToWriter, .saveChanges, .itemDidChange]))
    }
  }

  private mutating func request() -> AccessRequest {
    let items = (0..<choices.below(4)).map { _ in AccessRequest.Item(path(), itemAccess()) }
    var request = AccessRequest(client: ClientID(1), purpose: purpose(), label: "", items: items)
    let options = choices.below(256)
    if options & 1 != 0 { request.ownPresenter = presenter() }
    if options & 2 != 0 { request.context = choices.flag() ? .access(access()) : .message(choices.pick(messages)) }
    request.isPreparation = options & 12 == 12
    request.isAwaitedByContext = options & 16 == 0
    request.blocksThread = options & 32 != 0
    if options & 64 != 0 { request.limits = AccessRequest.Limits(waiting: 1, answering: 1, reporting: 1) }
    request.proceedsWithoutLateAnswers = options & 128 != 0
    return request
  }

  private mutating func itemAccess() -> ItemAccess {
    switch choices.below(12) {
    case 0, 1: .read(withoutChanges: false)
    case 2: .read(withoutChanges: true)
    case 3: .readAll(withoutChanges: choices.flag())
    case 4: .delegated(forWriting: choices.flag())
    default: .write(choices.pick(WriteIntent.allCases))
    }
  }

  private mutating func registration() -> PresenterRegistration {
    var registration = PresenterRegistration(
      client: ClientID(1), purpose: purpose(), label: "", callbacks: PresenterCallbacks(rawValue: .max),
      path: choices.below(4) == 0 ? nil : path())
    if choices.below(4) == 0 { registration.callbacks = PresenterCallbacks(rawValue: numericCast(choices.below(256))) }
    registration.servesWhileWaiting = choices.below(4) > 0
    return registration
  }

  private mutating func announcement() -> Announcement {
    Announcement(
      client: ClientID(1), purpose: purpose(), ownPresenter: choices.flag() ? presenter() : nil, label: "",
      path: path())
  }

  private mutating func outcomes() -> [ItemOutcome] {
    (0..<choices.below(4)).map { _ in choices.pick([.unknown, .untouched, .abandoned, .changed, .appeared, .vanished]) }
  }

  private mutating func access() -> AccessID { AccessID(UInt64(choices.below(8))) }
  private mutating func presenter() -> PresenterID { PresenterID(UInt64(choices.below(4))) }
  private mutating func purpose() -> PurposeID { PurposeID(UInt64(choices.below(8))) }
  private mutating func number() -> RequestNumber { RequestNumber(UInt64(choices.below(4))) }
  private mutating func path() -> ItemPath {
    choices.pick(["/", "/a", "/a/b", "/a/b/c", "/p.pkg", "/p.pkg/x", "/p.pkg/x/q.pkg/y", "/d"])
  }
}
