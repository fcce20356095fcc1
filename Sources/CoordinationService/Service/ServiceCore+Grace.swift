package import FileAccessArbiter

// A service that takes the place of one that's gone. Processes report their state again; until all have, nothing is
// granted.

struct Grace: Sendable {
  /// Sessions that live and haven't reported everything yet.
  var expected: Set<UInt64>
  /// When sessions that haven't reported everything come too late.
  let end: Timestamp
  /// When to check which sessions live.
  var nextLook: Timestamp
  /// Frames that have to wait until all processes have reported, in the order in which they came.
  var heldBack: [(client: ClientID, frame: ClientFrame)] = []
  /// Moves that the earlier service hadn't answered, and perhaps had carried out: requests for the old place are for
  /// the item that is there after the moves.
  var movesToldAgain: [(client: ClientID, frame: ClientFrame)] = []
  /// Presenters that were reported again.
  var presenters: [PresenterID] = []
  /// Presenters that are owed a reacquirer for an access that may still be reported.
  var debts: [Debt] = []
  /// Reports of processes that belong to an access which hasn't been reported yet.
  var nestedReports: [ClientID: [ClientFrame]] = [:]

  struct Debt: Sendable {
    let presenter: PresenterID
    let message: MessageID
    let origin: DebtOrigin
  }
}

extension ServiceCore {
  mutating func welcome(_ id: ClientID, _ hello: Hello, at time: Timestamp) {
    send(.welcome(Welcome(epoch: epoch, serviceProcessIdentifier: processIdentifier)), to: id)
    if hello.previousEpoch == 0 { endReassertion(of: id, at: time) }
  }

  /// Whether a frame has to wait until all processes have reported their accesses.
  func holdsBack(_ frame: ClientFrame) -> Bool {
    if grace == nil || has(.noGrace) { return false }
    switch frame {
    case .hello, .purposeNamed, .reasserted, .reassertionEnded, .snapshotWanted, .surveyed,
      .observationWanted, .serviceWanted:
      return false
    case .purposeForgotten, .event, .presenterEvent, .itemMoved, .delegationReturned, .validationWanted, .accessShared:
      return true
    }
  }

  mutating func take(_ reassertion: Reassertion, from id: ClientID, at time: Timestamp) throws(Malformed) {
    switch reassertion {
    case .access(let access, let request):
      let global = try newAccess(access, of: id)
      let request = inside(outer(of: id), try checked(request, of: id))
      if !arbiter.accessReasserted(global, request, isTrusted: isInGrace, at: time) {
        clients[id]?.lost[global] = Surroundings(
          context: request.context, isAwaitedByContext: request.isAwaitedByContext,
          ownPresenter: request.ownPresenter ?? request.presenterAround)
        send(.lost(access), to: id)
      }
    case .presenter(let presenter, let registration, let running):
      let presenter = try newPresenter(presenter, of: id)
      var unlocated = try checked(registration, of: id)
      unlocated.path = nil
      carryOut(arbiter.presenterAdded(presenter, unlocated, at: time), at: time)
      try enter(running, of: presenter, by: id, at: time)
      // Accesses that are asking others right now ask it too.
      if let path = registration.path { carryOut(arbiter.presenterLocated(presenter, at: path, time: time), at: time) }
      if isInGrace {
        grace?.presenters.append(presenter)
      } else {
        tellOfMissedChanges(presenter, at: time)
        if let path = registration.path { clients[id]?.latePaths.append(path) }
      }
    case .debt(let presenter, let message, let origin):
      let debt = Grace.Debt(
        presenter: try Self.global(presenter, id), message: try newDebt(message, of: id), origin: origin)
      if has(.debtForgotten) { return }
      if grace == nil { pay(debt, at: time) } else { grace?.debts.append(debt) }
    case .token(let access, let token):
      // Not if others were granted conflicting accesses: it's lost then.
      if try share(access, token, by: id) { takeNestedReports(at: time) }
    }
  }

  /// Lets the presenter wait for the access that it relinquished for, or gives it its turn if that's over.
  private mutating func pay(_ debt: Grace.Debt, at time: Timestamp) {
    let owner = clients.first { $0.value.session == debt.origin.session && $0.value.hello != nil }?.key
    let access = owner.flatMap { try? Self.global(debt.origin.access, $0) }
    let origin = Message.Origin(client: owner ?? ClientID(0), purpose: PurposeID(0), label: "")
    carryOut(arbiter.debtReasserted(debt.message, of: debt.presenter, for: access, origin, at: time), at: time)
  }

  /// Writes may have ended while no service had the presenter, or their end was reported to one that's gone.
  private mutating func tellOfMissedChanges(_ presenter: PresenterID, at time: Timestamp) {
    if has(.missedChangesIgnored) { return }
    carryOut(arbiter.changesMayBeMissed(by: presenter, at: time), at: time)
  }

  /// A process has reported everything.
  mutating func endReassertion(of id: ClientID, at time: Timestamp) {
    clients[id]?.hasReasserted = true
    if grace == nil {
      // A late process may present an item that another process decides alone about by now.
      let paths = clients[id].map { $0.latePaths } ?? []
      clients[id]?.latePaths = []
      ask(.resumption, RequestNumber(0), id, about: has(.latePresenterUnprotected) ? [] : paths, at: time)
    }
    sessionIsGone(clients[id]?.session ?? 0, at: time)
  }

  /// Nothing more is to be expected from a session.
  mutating func sessionIsGone(_ session: UInt64, at time: Timestamp) {
    grace?.expected.remove(session)
    takeOrphanedReports(at: time)
    if grace?.expected.isEmpty == true { endGrace(at: time) }
  }

  /// These sessions have ended without having come back.
  package mutating func sessionsEnded(_ sessions: Set<UInt64>, at time: Timestamp) -> [ServiceEffect] {
    for session in sessions { sessionIsGone(session, at: time) }
    return takeEffects(at: time)
  }

  /// Sessions that haven't reported their accesses.
  package var awaitedSessions: Set<UInt64> { grace?.expected ?? [] }

  /// A process that hasn't reported its accesses by now is late.
  package mutating func graceIsOver(at time: Timestamp) -> [ServiceEffect] {
    if isInGrace { endGrace(at: time) }
    return takeEffects(at: time)
  }

  private mutating func endGrace(at time: Timestamp) {
    takeAllNestedReports(at: time)
    guard let ended = grace else { return }
    grace = nil
    // Others may be inside of the items of these from now on. A process that hasn't come may not even have noticed that
    // the service has changed. A process that has connected and hasn't reported everything connects once more: later no
    // record shows other accesses meanwhile.
    let connected = Set(clients.values.map(\.session))
    for session in ended.expected.subtracting(connected).sorted() { revoke(.everything, of: session) }
    for (id, client) in clients.sorted(by: { $0.key < $1.key }) where client.hello != nil && !client.hasReasserted {
      if !has(.lateCompanyForgotten) { expel(id, at: time) }
    }
    // The changes first, then the turns.
    for presenter in ended.presenters { tellOfMissedChanges(presenter, at: time) }
    for debt in ended.debts { pay(debt, at: time) }
    for (id, client) in clients.sorted(by: { $0.key < $1.key }) where client.hasReasserted { send(.graceEnded, to: id) }
    for (client, frame) in ended.movesToldAgain + ended.heldBack where clients[client] != nil {
      effects += received(frame, from: client, at: time)
    }
  }
}
