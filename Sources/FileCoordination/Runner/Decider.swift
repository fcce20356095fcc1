internal import CompactContainers
internal import CoordinationService
internal import FileAccessArbiter

/// Decides for a host: an arbiter of its own, or the service of the domain, through a client.
///
/// The host passes it events and carries out its orders; the difference between the two is known here alone. A claim
/// that meets another process is decided by ``CoordinationService/ServiceCore``, and the client's half of that is
/// ``CoordinationService/ClientCore``.
///
/// Part of the host's state, under its lock.
struct Decider: Sendable {
  /// Empty if the service decides.
  private var arbiter: FileAccessArbiter
  private var client: ClientCore?

  init(_ arbiter: FileAccessArbiter, client: ClientCore?) {
    self.arbiter = arbiter
    self.client = client
  }

  /// Whether no other process takes part.
  var decidesAlone: Bool { client == nil }

  /// Takes an event.
  mutating func step(_ event: ArbiterEvent, at time: Timestamp) -> Orders {
    if client == nil { return Orders(arbiter.step(event, at: time)) }
    return tellClient { $0.step(event, at: time) }
  }

  /// Takes back the memory of orders that have been carried out.
  mutating func reuse(_ orders: inout Orders) { if client == nil { arbiter.reuse(&orders.effects) } }

  mutating func timerFired(_ timer: ArbiterTimer, at time: Timestamp) -> Orders {
    Orders(arbiter.timerFired(timer, at: time))
  }

  /// Passes the client an event that only domains of several processes have.
  mutating func tellClient(_ event: (inout ClientCore) -> [ClientEffect]) -> Orders {
    let effects = client?.mutated(by: event) ?? []
    return Orders(effects)
  }

  /// The service has taken rights from this process; passed on before any other event.
  mutating func noteRevocation(_ revocation: Revocation) { client?.rightsRevoked(revocation) }

  /// The client's view, for its runner; `nil` in a domain of one process.
  func asClient<Result>(_ body: (borrowing ClientCore) -> Result) -> Result? {
    if let client { body(client) } else { nil }
  }
}

/// The orders of a decider, in the order in which to carry them out.
struct Orders: Sendable {
  /// Of an arbiter.
  var effects: [Effect] = []
  /// Of a client.
  var clientEffects: [ClientEffect] = []

  /// Whether there was an event that observers are to be shown.
  var isEvent = true

  /// An event that requires nothing.
  static let none = Orders([Effect]())

  /// No event: the state was only inspected.
  static let noEvent: Orders = {
    var orders = Orders.none
    orders.isEvent = false
    return orders
  }()

  init(_ effects: [Effect]) { self.effects = effects }
  init(_ effects: [ClientEffect]) { clientEffects = effects }

  var isEmpty: Bool { effects.isEmpty && clientEffects.isEmpty }
}

extension ClientCore {
  /// Changes it in its place.
  fileprivate mutating func mutated<Result>(by body: (inout Self) -> Result) -> Result { body(&self) }
}

// MARK: - Claims of the fast tier

extension Decider {
  /// Whether the fast tier may have granted a claim at a place.
  func admits(_ access: PlainAccess, at path: ItemPath) -> Bool {
    if let client { return client.covers(path, isWrite: access.isWrite) }
    return arbiter.admits(access.itemAccess, at: path)
  }

  /// Whether this process was delegated a place; it needn't be in a domain of one process.
  func covers(_ path: ItemPath, isWrite: Bool) -> Bool { client?.covers(path, isWrite: isWrite) ?? true }

  /// The token of a claim that the fast tier grants; absent in a domain of one process.
  func token(for path: ItemPath, isWrite: Bool) -> FencingToken? { client?.token(for: path, isWrite: isWrite) }

  /// The changes of accesses and presenters, since the last call, that the fast tier has to take in.
  mutating func takeInterestChanges() -> [InterestChange] { client == nil ? arbiter.takeInterestChanges() : [] }

  /// The current path of an item, as far as a presenter has been notified of moves.
  func currentPath(of path: ItemPath, for presenter: PresenterID?) -> ItemPath {
    arbiter.currentPath(of: path, for: presenter)
  }
}

// MARK: - Questions

/// A question about the domain, or a step that must be complete before the caller goes on.
enum DomainQuestion: Sendable {
  case snapshot
  /// Whether an access is held.
  case validation(AccessID)
  /// An item was moved; whether its access covers that.
  case move(by: AccessID, from: ItemPath, to: ItemPath, replaced: Bool)
  /// Child processes with this token belong to an access; whether that's held.
  case sharing(AccessID, AccessToken)

  /// The obstacles to the fast tier while it's answered.
  var obstacles: Obstacles {
    switch self {
    case .snapshot: .everywhere
    case .validation, .sharing: .none
    case .move(_, let old, let new, _):
      Obstacles([Obstacle(path: old, interest: .everything), Obstacle(path: new, interest: .everything)])
    }
  }

  fileprivate func frame(_ number: RequestNumber) -> ClientFrame {
    switch self {
    case .snapshot: .snapshotWanted(number)
    case .validation(let id): .validationWanted(number, id)
    case .sharing(let id, let token): .accessShared(number, id, token)
    case .move(let id, let old, let new, let replaced):
      .itemMoved(number, by: id, from: old, to: new, replaced: replaced)
    }
  }
}

extension Decider {
  enum Reply: Sendable {
    case known(ClientAnswer)
    /// The service answers the question of this number.
    case awaited(RequestNumber)
  }

  mutating func ask(_ question: DomainQuestion, at time: Timestamp) -> (Reply, Orders) {
    if client != nil {
      var number = RequestNumber(0)
      let orders = tellClient { client in
        let (asked, effects) = client.ask(question.frame)
        number = asked
        return effects
      }
      return (.awaited(number), orders)
    }
    switch question {
    case .snapshot: return (.known(.snapshot(ownReply(at: time))), .noEvent)
    case .validation, .sharing: return (.known(.happened(true)), .noEvent)
    case .move(let id, let old, let new, let replaced):
      guard arbiter.mayAnnounceMove(id, from: old, to: new) else { return (.known(.happened(false)), .noEvent) }
      let effects = arbiter.itemMoved(by: id, from: old, to: new, replaced: replaced, at: time)
      return (.known(.happened(true)), Orders(effects))
    }
  }

  /// The number of the question that the last event was, if the service answers it.
  var lastQuestion: RequestNumber? {
    // Inlined into a method that changes the host's state it crashes the optimizer of Swift 6.3.1 (CopyPropagation).
    @inline(never) get { client?.lastQuestionNumber }
  }

  private func ownReply(at time: Timestamp) -> SnapshotReply {
    let own = OwnProcess.current
    let process = SnapshotReply.Process(
      processIdentifier: own.processIdentifier, name: own.processName, isService: true, delegations: [])
    return SnapshotReply(arbiter: arbiter.snapshot(at: time), processes: [process], epoch: 0, isInGrace: false)
  }
}

// MARK: - Observers

extension Decider {
  /// Begins to show each state to observers, or stops.
  mutating func observe(_ isWanted: Bool) -> Orders { tellClient { $0.observe(isWanted) } }

  /// The state after an event, for observers; the service shows it in its own time.
  func stateToShow(at time: Timestamp) -> ArbiterSnapshot? { client == nil ? arbiter.snapshot(at: time) : nil }
}

// MARK: - Limits and purposes

extension Decider {
  /// How much the process may have; `nil` in a domain of one process.
  var limits: ProcessLimits? {
    get { client?.limits }
    set { if let newValue { client?.limits = newValue } }
  }

  /// Whether there may be neither a further access nor a further presenter.
  var isFull: Bool { client?.isFull ?? false }

  /// Purposes of accesses and messages.
  var purposesInUse: Set<PurposeID> { client?.purposesInUse ?? arbiter.purposesInUse }

  /// The registration of a presenter with the service; absent in a domain of one process, whose arbiter asks by itself.
  func registration(of id: PresenterID) -> PresenterRegistration? { client?.registration(of: id) }

  /// The violated invariants of the arbiter's state; for tests.
  func invariants() -> [String] { arbiter.invariants() }
}
