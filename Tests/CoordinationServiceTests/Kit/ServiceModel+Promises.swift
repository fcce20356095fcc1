@testable import CoordinationService
@testable import FileAccessArbiter

// The experiences of clients, and the promises that follow from them.

extension ServiceModel {
  mutating func check(_ note: ModelNote, of client: Int) {
    switch note {
    case .began(let id): noteBegin(ModelJournal.Party(client: client, number: id.rawValue))
    case .ended(let id, let access):
      noteEnd(ModelJournal.Party(client: client, number: id.rawValue), isLost: access.standing == .lost)
    case .adopted(let id):
      let party = ModelJournal.Party(client: client, number: id.rawValue)
      let watching = presenters(journal.known, concernedBy: party)
      if !watching.isEmpty { journal.watched[party, default: []].formUnion(watching) }
    case .lost(let id):
      let party = ModelJournal.Party(client: client, number: id.rawValue)
      if access(party) != nil, !journal.untrusted.contains(party) {
        problems.append("\(party) is lost although it came in time")
      }
    case .committed(let id):
      let party = ModelJournal.Party(client: client, number: id.rawValue)
      if journal.overtaken.contains(party) { problems.append("\(party) commits although others have been inside") }
    case .failed(.outerAccessEnded):
      if clients[client].parent.map(isSurelyHeld) ?? true {
        problems.append("client \(client) is refused although what it belongs to lasts")
      }
    case .failed(let failure): check(failure)
    case .launched(let child): clients[child].isStarted = true
    case .moves(let id, let old, let new):
      noteMove(from: old, to: new, by: ModelJournal.Party(client: client, number: id.rawValue))
    case .moved(let id): tolerateCompany(of: ModelJournal.Party(client: client, number: id.rawValue))
    case .presented(let id):
      // The answer of an earlier service is of no worth to a client that comes too late.
      if !journal.late.contains(client) {
        journal.presenters.insert(ModelJournal.Party(client: client, number: id.rawValue))
      }
    case .unpresented(let id):
      let presenter = ModelJournal.Party(client: client, number: id.rawValue)
      forget(presenter)
    case .toldOfChange(let id): noteTold(ModelJournal.Party(client: client, number: id.rawValue))
    // The same for one whose connection has broken since, as the service has noticed already, and for one that has given up.
    case .graceEnded where journal.late.contains(client) || journal.surrendered.contains(client): break
    case .graceEnded:
      for id in clients[client].presenters where isAnswered(id, of: client) {
        journal.presenters.insert(ModelJournal.Party(client: client, number: id.rawValue))
      }
    case .relinquished, .reacquired: break
    case .refusedByLimit: if !scenario.hasLimits { problems.append("client \(client) has too much") }
    case .refused(let reason): problems.append("client \(client) is refused: \(reason)")
    case .problem(let problem): problems.append(problem)
    }
  }

  private mutating func check(_ failure: Failure) {
    switch failure {
    case .cancelled where scenario.cancellations > 0: break
    case .deadlock where scenario.mayDeadlock: break
    default: problems.append("fails: \(failure)")
    }
  }

  private func isAnswered(_ id: PresenterID, of client: Int) -> Bool {
    !clients[client].core.questions.values.contains { question in
      if case .presenterEvent(_, .presenterAdded(id, _)) = question { return true }
      return false
    }
  }

  private mutating func noteBegin(_ party: ModelJournal.Party) {
    // A client that comes too late finds nothing granted any more, neither under its delegations nor in its socket.
    let watching = presenters(journal.presenters, concernedBy: party)
    if !watching.isEmpty { journal.watched[party] = watching }
    if access(party)?.standing == .claimed { noteGrant(party) }
  }

  mutating func noteGrant(_ party: ModelJournal.Party) {
    noteOvertaking(by: party)
    let concerned = presenters(journal.presenters, concernedBy: party)
    journal.asked[party] = concerned.isEmpty ? nil : concerned
  }

  mutating func noteKnown(_ frame: ClientFrame, of client: Int) {
    if case .presenterEvent(_, .presenterAdded(let id, _)) = frame, !core.isInGrace {
      journal.known.insert(ModelJournal.Party(client: client, number: id.rawValue))
    }
  }

  private func presenters(
    _ presenters: Set<ModelJournal.Party>, concernedBy party: ModelJournal.Party
  ) -> Set<ModelJournal.Party> {
    guard !scenario.hasMoves, let access = access(party), access.item.access.isWrite else { return [] }
    return presenters.filter { presenter in
      let path = clients[presenter.client].core.registration(of: PresenterID(presenter.number))?.path
      return path == access.item.path && !isOwn(presenter, party)
    }
  }

  /// Whether the access, or one that its process belongs to, is made for the presenter.
  private func isOwn(_ presenter: ModelJournal.Party, _ party: ModelJournal.Party) -> Bool {
    if presenter.client == party.client, access(party)?.request.ownPresenter?.rawValue == presenter.number {
      return true
    }
    guard let parent = clients[party.client].parent else { return false }
    return isOwn(presenter, ModelJournal.Party(client: parent.client, number: parent.access.rawValue))
  }

  private mutating func noteEnd(_ party: ModelJournal.Party, isLost: Bool) {
    let watching = journal.watched.removeValue(forKey: party) ?? []
    journal.asked[party] = nil
    if !isLost, !journal.untrusted.contains(party) {
      for presenter in watching where journal.presenters.union(journal.known).contains(presenter) {
        journal.untold[presenter, default: 0] += 1
      }
    }
    journal.untrusted.remove(party)
    journal.overtaken.remove(party)
    journal.places[party] = nil
    journal.tolerated = journal.tolerated.filter { $0.first != party && $0.second != party }
  }

  /// A notification by a new service stands for all that earlier ones owed.
  private mutating func noteTold(_ presenter: ModelJournal.Party) {
    guard let count = journal.untold[presenter] else { return }
    journal.untold[presenter] = count == 1 || core.epoch > scenario.firstEpoch ? nil : count - 1
  }

  private mutating func forget(_ presenter: ModelJournal.Party) {
    journal.presenters.remove(presenter)
    journal.known.remove(presenter)
    journal.untold[presenter] = nil
    for party in journal.watched.keys { journal.watched[party]?.remove(presenter) }
    for party in journal.asked.keys { journal.asked[party]?.remove(presenter) }
  }

  mutating func noteDeath(of client: Int) {
    for id in clients[client].accesses.keys {
      noteEnd(
        ModelJournal.Party(client: client, number: id.rawValue), isLost: clients[client].accesses[id]?.standing == .lost
      )
    }
    for id in clients[client].presenters {
      let presenter = ModelJournal.Party(client: client, number: id.rawValue)
      forget(presenter)
    }
  }

  mutating func noteLate(_ client: Int) {
    journal.late.insert(client)
    for (id, access) in clients[client].accesses where access.isInside {
      journal.untrusted.insert(ModelJournal.Party(client: client, number: id.rawValue))
    }
    for id in clients[client].presenters {
      let presenter = ModelJournal.Party(client: client, number: id.rawValue)
      forget(presenter)
    }
  }

  /// An access moves its item, and what others hold at the same place, too: the next item there isn't theirs.
  private mutating func noteMove(from old: ItemPath, to new: ItemPath, by mover: ModelJournal.Party) {
    for (party, access) in inside where party != mover {
      let place = journal.places[party] ?? access.item.path
      if old.isSameOrContains(place) { journal.places[party] = place.movedAlong(from: old, to: new) }
    }
    journal.places[mover] = new
  }

  /// The service has carried out a move: accesses that have been granted already, even if their clients don't know yet,
  /// go on.
  mutating func noteMove(_ number: RequestNumber, of client: Int) {
    guard case .itemMoved(_, let mover, _, _, _) = clients[client].core.questions[number] else { return }
    tolerateCompany(of: ModelJournal.Party(client: client, number: mover.rawValue))
  }

  private mutating func tolerateCompany(of party: ModelJournal.Party) {
    var others = inside.map(\.0)
    for client in clients.indices {
      for case .frame(.granted(let id, _, _)) in toClients[client] {
        others.append(ModelJournal.Party(client: client, number: id.rawValue))
      }
    }
    for other in others where other != party {
      journal.tolerated.insert(.init(first: party, second: other))
      journal.tolerated.insert(.init(first: other, second: party))
    }
  }
}
