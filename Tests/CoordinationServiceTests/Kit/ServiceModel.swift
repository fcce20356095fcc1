@testable import CoordinationService
@testable import FileAccessArbiter

/// Processes with their clients, the channels between them and the service, and the service: the whole state of a model.
///
/// Both halves of the protocol are the real ones.
///
/// The possible actions are in `+Enabled`; `perform` carries one out. `+Promises` and `+Rules` check whether that was
/// right.
struct ServiceModel: Sendable {
  enum Action: Hashable, Sendable {
    /// A thread of a client does its next step.
    case step(Int, thread: Int)
    /// A callback of a client returns.
    case answer(Int, callback: Int)
    /// A client takes in the next frame from the service.
    case receive(Int)
    /// The service takes in the next frame from a client.
    case serve(Int)
    /// The service notices that a client's connection has ended.
    case hangUp(Int)
    /// The service notices that a session isn't alive.
    case noteEnd(session: UInt64)
    case killClient(Int)
    /// The service ends; the frames on their way to the clients of the mask are lost with it.
    case killService(losing: Int)
    /// A client finds no service, and can't be elected.
    case surrender(Int)
    /// A connection breaks, and both processes live: the client finds its end after the frames on their way, or has
    /// lost those.
    case cut(Int, losing: Bool)
    /// The service takes in the frames that came through a broken connection.
    case serveBroken(Int)
    /// The service notices that a connection has broken.
    case hangUpBroken(Int)
    /// The grace ends by time.
    case endGrace
    /// The service finds a client's process stopped, and does without it.
    case expel(Int)
    /// A thread gives up waiting.
    case cancel(Int, thread: Int)
    /// Threads that have given up stop waiting for a service that may be stopped.
    case keepDeadlines(Int)
  }

  enum Inbound: Hashable, Sendable {
    case frame(ServerFrame)
    case end
  }

  enum Connection: Hashable, Sendable {
    /// To the service that runs.
    case open
    /// To an earlier service, and not read to its end.
    case ended
    /// The client has found no service, and searches for one again when it needs one.
    case given
    /// The client is dead, and the service hasn't noticed.
    case hungUp
    case gone
  }

  /// A connection that has broken, and that the service hasn't noticed.
  struct BrokenConnection: Hashable, Sendable {
    let id: ClientID
    let client: Int
    /// The frames that the process had sent.
    var frames: [ClientFrame]
    /// The service has received the hello of the process, which may hold something through the connection.
    var isIntroduced: Bool
  }

  /// Mistakes that are built in.
  struct Faults: Sendable {
    var service: Set<ServiceFault> = []
    var client: Set<ClientFault> = []
    var network: Set<ModelFault> = []
  }

  let scenario: ServiceScenario
  let faults: Faults
  var core: ServiceCore
  var clients: [ModelProcess]
  var connections: [Connection]
  /// The number of each process's present connection.
  var ids: [ClientID]
  var broken: [BrokenConnection] = []
  var toService: [[ClientFrame]]
  var toClients: [[Inbound]]
  var journal = ModelJournal()
  var clientKills: Int
  var serviceKills: Int
  var graceTimeouts: Int
  var cancellations: Int
  var expulsions: Int
  var cuts: Int
  var surrenders: Int
  var problems: [String] = []
  /// The events, if a test asks for them.
  var log: [String]?

  init(_ scenario: ServiceScenario, _ faults: Faults = Faults()) {
    self.scenario = scenario
    self.faults = faults
    clientKills = scenario.clientKills
    serviceKills = scenario.serviceKills
    graceTimeouts = scenario.graceTimeouts
    cancellations = scenario.cancellations
    expulsions = scenario.expulsions
    cuts = scenario.cuts
    surrenders = scenario.surrenders
    clients = scenario.clients.enumerated().map {
      ModelProcess(
        session: UInt64($0.offset + 1), $0.element, in: scenario.parent(of: $0.offset),
        isImpatient: scenario.expulsions > 0, faults: faults.client)
    }
    ids = clients.indices.map { ClientID(UInt64($0 + 1)) }
    connections = clients.map { _ in .ended }
    toService = clients.map { _ in [] }
    toClients = clients.map { _ in [.end] }
    core = Self.newCore(epoch: scenario.firstEpoch, expecting: [], scenario, faults.service)
  }

  private static func newCore(
    epoch: UInt64, expecting sessions: Set<UInt64>, _ scenario: ServiceScenario, _ faults: Set<ServiceFault>
  ) -> ServiceCore {
    var core = ServiceCore(epoch: epoch, processIdentifier: 99, packageExtensions: [], expecting: sessions)
    core.usesUntilDelegation = scenario.usesUntilDelegation
    #if DEBUG
      core.seededFaults = faults
    #endif
    return core
  }

  /// The client whose connection a number is.
  private func client(of id: ClientID) -> Int? { ids.firstIndex(of: id) }

  /// All clients connect, and the prologue is done.
  mutating func start() {
    for client in clients.indices { perform(.receive(client)) }
    settle()
    for client in scenario.prologue where clients[client].canStep(0) {
      perform(.step(client, thread: 0))
      settle()
    }
    guard scenario.firstIsLate else { return }
    perform(.killService(losing: 0))
    settle(without: .receive(0))
    perform(.endGrace)
    settle(without: .receive(0))
  }

  /// Carries out all possible actions but steps of threads, and one action.
  private mutating func settle(without exception: Action? = nil) {
    while let action = progress.first(where: { action in
      if case .step = action { return false }
      return action != exception
    }) { perform(action) }
  }
}

// MARK: - Carrying out actions

extension ServiceModel {
  mutating func perform(_ action: Action) {
    if log != nil {
      let line = "\(action)\(subject(of: action))"
      log?.append(line)
    }
    switch action {
    case .step(let client, let thread): act(client) { $0.step(thread) }
    case .answer(let client, let callback): act(client) { $0.answer(callback) }
    case .receive(let client):
      switch toClients[client].removeFirst() {
      case .frame(let frame): act(client) { $0.take(frame) }
      case .end: reconnect(client)
      }
    case .serve(let client):
      let frame = toService[client].removeFirst()
      if clients[client].isAlive { noteKnown(frame, of: client) }
      carryOut(core.received(frame, from: ids[client], at: 0))
    case .hangUp(let client):
      connections[client] = .gone
      toService[client] = []
      carryOut(core.clientDisconnected(ids[client], at: 0))
    case .noteEnd(let session): carryOut(core.sessionsEnded([session], at: 0))
    case .killClient(let client): killClient(client)
    case .killService(let mask): killService(losing: mask)
    case .surrender(let client): surrender(client)
    case .cut(let client, let isLosing): cut(client, losing: isLosing)
    case .serveBroken(let index):
      let frame = broken[index].frames.removeFirst()
      let id = broken[index].id
      carryOut(core.received(frame, from: id, at: 0))
      if broken.indices.contains(index), broken[index].id == id {
        broken[index].isIntroduced = core.session(of: id) != nil
      }
    case .hangUpBroken(let index):
      let connection = broken.remove(at: index)
      noteLate(connection.client)
      carryOut(core.clientDisconnected(connection.id, at: 0))
    case .endGrace:
      graceTimeouts -= 1
      for session in core.awaitedSessions where clients[Int(session) - 1].isAlive { noteLate(Int(session) - 1) }
      carryOut(core.graceIsOver(at: 0))
    case .expel(let client): expel(client)
    case .cancel(let client, let thread):
      cancellations -= 1
      act(client) { $0.cancel(thread) }
    case .keepDeadlines(let client): act(client) { $0.keepDeadlines() }
    }
    checkState()
  }

  private func subject(of action: Action) -> String {
    switch action {
    case .step(let client, let thread): " \(clients[client].plan.threads[thread][clients[client].threads[thread].next])"
    case .answer(let client, let callback): " \(clients[client].callbacks[callback].kind)"
    case .receive(let client): toClients[client].first.map { " \($0)" } ?? ""
    case .serve(let client): toService[client].first.map { " \($0)" } ?? ""
    case .serveBroken(let index): broken[index].frames.first.map { " \($0)" } ?? ""
    case .hangUp, .noteEnd, .killClient, .killService, .cut, .surrender, .hangUpBroken, .endGrace, .expel, .cancel,
      .keepDeadlines:
      ""
    }
  }

  private mutating func act(_ client: Int, _ body: (inout ModelProcess) -> Void) {
    body(&clients[client])
    // Frames that are written to a broken connection are lost.
    if connections[client] == .open { toService[client] += clients[client].outbox }
    clients[client].outbox = []
    let notes = clients[client].notes
    clients[client].notes = []
    for note in notes { check(note, of: client) }
  }

  private mutating func reconnect(_ client: Int) {
    if connections[client] != .given { act(client) { $0.serviceIsGone() } }
    journal.late.remove(client)
    connections[client] = .open
    // Each connection of a service has a number of its own.
    // Where nothing refers to the end of an earlier one, the number stays the same: fewer states.
    if cuts < scenario.cuts || scenario.keepsChildrenOfExpelled {
      ids[client] = ClientID(ids.map(\.rawValue).max().map { $0 + 1 } ?? 1)
    }
    carryOut(core.clientConnected(ids[client], processIdentifier: Int32(client + 1), isSameUser: true, at: 0))
    toService[client] = [.hello(clients[client].hello)]
  }

  private mutating func carryOut(_ effects: [ServiceEffect]) {
    for effect in effects {
      switch effect {
      case .send(let frame, let id):
        guard let client = client(of: id) else { break }
        if connections[client] == .open { toClients[client].append(.frame(frame)) }
        switch frame {
        case .granted(let id, _, _): noteGrant(ModelJournal.Party(client: client, number: id.rawValue))
        case .answered(let number, _): noteMove(number, of: client)
        case .recalled where scenario.keepsDelegations: problems.append("\(id) is asked back what nobody else wants")
        default: break
        }
      case .disconnect(let id), .drop(let id): problems.append("\(id) is disconnected")
      case .armTimer, .cancelTimer: problems.append("a timer without a deadline")
      case .revoke(let revocation, let session):
        if clients[Int(session) - 1].word != .everything { clients[Int(session) - 1].word = revocation }
      case .expel(let id):
        if let client = client(of: id) { hangUpOn(client) }
        for connection in broken where connection.id == id && connection.isIntroduced { noteLate(connection.client) }
        broken.removeAll { $0.id == id }
      case .handOver: problems.append("nobody wants to serve alone")
      }
    }
  }

  private mutating func expel(_ client: Int) {
    expulsions -= 1
    let effects = core.processesAreStopped([ids[client]], at: 0)
    if effects.contains(.expel(ids[client])) { noteLate(client) }
    carryOut(effects)
  }

  /// Earlier frames for it are still in its socket.
  private mutating func hangUpOn(_ client: Int) {
    toService[client] = []
    if !clients[client].isAlive { return connections[client] = .gone }
    toClients[client].append(.end)
    connections[client] = .ended
  }

  private mutating func cut(_ client: Int, losing isLosing: Bool) {
    cuts -= 1
    broken.append(
      BrokenConnection(
        id: ids[client], client: client, frames: isLosing ? [] : toService[client],
        isIntroduced: core.session(of: ids[client]) != nil))
    toService[client] = []
    if isLosing { toClients[client] = [] }
    toClients[client].append(.end)
    connections[client] = .ended
  }

  /// Its session isn't alive any more: it holds nothing, and others may be granted everything.
  private mutating func surrender(_ client: Int) {
    surrenders -= 1
    noteLate(client)
    journal.surrendered.insert(client)
    connections[client] = .given
    act(client) {
      $0.serviceIsGone()
      $0.giveUp()
    }
  }

  private mutating func killClient(_ client: Int) {
    clientKills -= 1
    noteDeath(of: client)
    clients[client].isAlive = false
    toClients[client] = []
    connections[client] = connections[client] == .open ? .hungUp : .gone
  }

  private mutating func killService(losing mask: Int) {
    serviceKills -= 1
    broken = []
    for client in clients.indices {
      toService[client] = []
      switch connections[client] {
      case .open:
        if mask & 1 << client != 0 { toClients[client] = [] }
        toClients[client].append(.end)
        connections[client] = .ended
      case .hungUp: connections[client] = .gone
      case .ended, .given, .gone: break
      }
    }
    let living = Set(clients.indices.filter(hasSession).map { clients[$0].session })
    core = Self.newCore(epoch: core.epoch + 1, expecting: living, scenario, faults.service)
  }
}
