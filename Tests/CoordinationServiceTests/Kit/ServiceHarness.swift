import Testing

@testable import CoordinationService
@testable import FileAccessArbiter

/// A service and its frames for each client, for tests that send the frames of clients.
final class ServiceHarness {
  var core: ServiceCore
  private var told: [ClientID: [ServerFrame]] = [:]
  private(set) var disconnected: Set<ClientID> = []
  private(set) var dropped: [ClientID] = []
  private(set) var timers: [ArbiterTimer] = []
  private(set) var isHandedOver = false
  /// Takes long with thousands of accesses.
  var checksInvariants = true
  /// Sessions whose delegations were revoked, and clients that were expelled, in their order.
  private(set) var revoked: [UInt64] = []
  private(set) var revocations: [Revocation] = []
  private(set) var expelled: [ClientID] = []

  init(epoch: UInt64 = 1, packages: [String] = [], expecting sessions: Set<UInt64> = []) {
    core = ServiceCore(epoch: epoch, processIdentifier: 99, packageExtensions: packages, expecting: sessions)
    core.usesUntilDelegation = 1
  }

  func carryOut(_ effects: [ServiceEffect]) {
    for effect in effects {
      switch effect {
      case .send(let frame, let client): told[client, default: []].append(frame)
      case .disconnect(let client): disconnected.insert(client)
      case .drop(let client): dropped.append(client)
      case .armTimer(let timer, _): timers.append(timer)
      case .cancelTimer(let timer): timers.removeAll { $0 == timer }
      case .revoke(let revocation, let session):
        revoked.append(session)
        revocations.append(revocation)
      case .expel(let client): expelled.append(client)
      case .handOver: isHandedOver = true
      }
    }
    if checksInvariants { #expect(core.arbiter.invariants() == []) }
  }

  func hello(
    _ session: UInt64, version: UInt32 = Hello.currentVersion, packages: [String] = [], previousEpoch: UInt64 = 0
  ) -> ClientFrame {
    .hello(
      Hello(
        version: version, session: session, processIdentifier: Int32(session), processStartTime: 0, processName: "p",
        packageExtensions: packages, previousEpoch: previousEpoch))
  }

  func connect(_ client: UInt64, isSameUser: Bool = true, at time: Timestamp = 0) {
    carryOut(
      core.clientConnected(ClientID(client), processIdentifier: Int32(client), isSameUser: isSameUser, at: time))
  }

  /// A client whose session has its number, connected and greeted.
  func join(_ client: UInt64, session: UInt64? = nil, previousEpoch: UInt64 = 0) {
    connect(client)
    tell(client, hello(session ?? client, previousEpoch: previousEpoch))
    if previousEpoch == 0 { _ = taken(client) }
  }

  func tell(_ client: UInt64, _ frames: ClientFrame...) {
    for frame in frames { carryOut(core.received(frame, from: ClientID(client), at: 0)) }
  }

  /// Passes the time to the service.
  ///
  /// - Returns: The checks to make.
  @discardableResult
  func pass(to time: Timestamp) -> ServiceCore.Looks {
    let (effects, looks) = core.timePassed(at: time)
    carryOut(effects)
    return looks
  }

  func hangUp(_ client: UInt64) { carryOut(core.clientDisconnected(ClientID(client), at: 0)) }

  /// The result of a check: these processes are stopped, and no others.
  func stop(_ clients: Set<UInt64>, at time: Timestamp) {
    carryOut(core.processesAreStopped(Set(clients.map { ClientID($0) }), at: time))
  }

  /// The frames for the client since the last call.
  func taken(_ client: UInt64) -> [ServerFrame] {
    defer { told[ClientID(client)] = nil }
    return told[ClientID(client), default: []]
  }

  /// The reasons for which the client was refused since the last call.
  func refusals(_ client: UInt64) -> [Refusal] {
    taken(client).compactMap { if case .refused(let refusal, _) = $0 { refusal } else { nil } }
  }

  func explanation(_ client: UInt64) -> String {
    taken(client).compactMap { if case .refused(_, let explanation) = $0 { explanation } else { nil } }.joined()
  }

  /// Delegates to the client a directory in which it writes a file.
  func delegate(_ client: UInt64, _ path: ItemPath, access: UInt64 = 900) -> DelegationID? {
    tell(client, .write(access, path), .release(access))
    return taken(client).compactMap { if case .delegated(let id, _, _) = $0 { id } else { nil } }.first
  }
}

extension ServerFrame {
  var grantedAccess: AccessID? { if case .granted(let id, _, _) = self { id } else { nil } }
  var token: FencingToken? { if case .granted(_, _, let token) = self { token } else { nil } }
  var deliveredMessage: MessageID? { if case .delivered(let delivery, _) = self { delivery.message } else { nil } }
  var deliveredKind: Message.Kind? { if case .delivered(let delivery, _) = self { delivery.kind } else { nil } }
  var snapshot: SnapshotReply? { if case .snapshot(_, let reply) = self { reply } else { nil } }
}

extension AccessRequest {
  static func plain(_ path: ItemPath, _ access: ItemAccess, purpose: UInt64) -> AccessRequest {
    AccessRequest(
      client: ClientID(1), purpose: PurposeID(purpose), label: "", items: [AccessRequest.Item(path, access)])
  }

  static func write(_ path: ItemPath, purpose: UInt64 = 77) -> AccessRequest {
    plain(path, .write(.update), purpose: purpose)
  }

  static func read(_ path: ItemPath, purpose: UInt64 = 78) -> AccessRequest {
    plain(path, .read(withoutChanges: false), purpose: purpose)
  }
}

extension PresenterRegistration {
  static func plain(_ path: ItemPath?) -> PresenterRegistration {
    PresenterRegistration(
      client: ClientID(1), purpose: PurposeID(5000), label: "", callbacks: [.relinquishToWriter, .itemDidChange],
      path: path)
  }
}

extension ClientFrame {
  static func write(_ id: UInt64, _ path: ItemPath) -> Self {
    .event(.accessRequested(AccessID(id), .write(path, purpose: id)))
  }
  static func read(_ id: UInt64, _ path: ItemPath) -> Self {
    .event(.accessRequested(AccessID(id), .read(path, purpose: id)))
  }
  static func adopt(_ id: UInt64, _ request: AccessRequest) -> Self { .event(.accessAdopted(AccessID(id), request)) }
  static func release(_ id: UInt64, _ outcomes: ItemOutcome...) -> Self {
    .event(.accessReleased(AccessID(id), outcomes))
  }
  static func present(_ id: UInt64, _ path: ItemPath?, number: UInt64 = 1) -> Self {
    .presenterEvent(RequestNumber(number), .presenterAdded(PresenterID(id), .plain(path)))
  }
  static func answer(_ message: MessageID, hasReacquirer: Bool = false) -> Self {
    .event(.messageAnswered(message, hasReacquirer: hasReacquirer))
  }
}
