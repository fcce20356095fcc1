import CompactContainers
@testable import CoordinationService
@testable import FileAccessArbiter

// The rules that every model must keep, checked without the tables of the service.

extension ServiceModel {
  func access(_ party: ModelJournal.Party) -> ModelProcess.Access? {
    clients[party.client].accesses[AccessID(party.number)]
  }

  /// Accesses whose accessors run in good faith.
  var inside: [(ModelJournal.Party, ModelProcess.Access)] {
    var result: [(ModelJournal.Party, ModelProcess.Access)] = []
    for client in clients.indices where clients[client].isAlive {
      for (id, access) in clients[client].accesses where access.isInside {
        result.append((ModelJournal.Party(client: client, number: id.rawValue), access))
      }
    }
    return result
  }

  mutating func checkState() {
    let inside = inside
    for (index, (party, access)) in inside.enumerated() where !journal.untrusted.contains(party) {
      for (other, otherAccess) in inside[(index + 1)...]
      where !journal.untrusted.contains(other) && conflict(party, access, other, otherAccess) {
        problems.append("\(party) and \(other) are inside together: \(access.item), \(otherAccess.item)")
      }
    }
    checkRelinquished()
    checkChildren()
    problems += core.arbiter.invariants()
  }

  /// A client is granted an access beside those that have been taken from others.
  mutating func noteOvertaking(by party: ModelJournal.Party) {
    guard let access = access(party) else { return }
    for (other, otherAccess) in inside
    where other.client != party.client && journal.untrusted.contains(other)
      && conflict(party, access, other, otherAccess)
    {
      journal.overtaken.insert(other)
    }
  }

  private func conflict(
    _ party: ModelJournal.Party, _ access: ModelProcess.Access, _ other: ModelJournal.Party,
    _ otherAccess: ModelProcess.Access
  ) -> Bool {
    if access.isMoving || otherAccess.isMoving || journal.tolerated.contains(.init(first: party, second: other)) {
      return false
    }
    // Those of one purpose may be inside together, like the saves of one editor (C-116).
    if party.client == other.client, access.request.purpose == otherAccess.request.purpose { return false }
    if party.client == other.client,
      isNested(access, in: AccessID(other.number), of: party.client)
        || isNested(otherAccess, in: AccessID(party.number), of: party.client)
    {
      return false
    }
    if belongs(party, to: other) || belongs(other, to: party) { return false }
    return places(of: party, access).contains { place in
      places(of: other, otherAccess).contains { conflict(place, access.item.access, $0, otherAccess.item.access) }
    }
  }

  /// An earlier service's protection of a place that something was moved away from ends with it.
  ///
  /// A holder whose item was moved on, and who hasn't learned of it yet, isn't where it takes itself to be any more.
  private func places(of party: ModelJournal.Party, _ access: ModelProcess.Access) -> [ItemPath] {
    let isThere = journal.places[party].map { $0 == access.item.path } ?? true
    let former = core.epoch == scenario.firstEpoch ? access.formerPath : nil
    return [isThere ? access.item.path : nil, former].compactMap(\.self)
  }

  private func conflict(_ left: ItemPath, _ leftAccess: ItemAccess, _ right: ItemPath, _ rightAccess: ItemAccess)
    -> Bool
  {
    if left == right { return leftAccess.isWrite || rightAccess.isWrite }
    return isDeep(leftAccess) && left.contains(right) || isDeep(rightAccess) && right.contains(left)
  }

  private func isDeep(_ access: ItemAccess) -> Bool {
    [.write(.deleting), .write(.moving), .write(.replacing)].contains(access)
  }

  private func isNested(_ access: ModelProcess.Access, in outer: AccessID, of client: Int) -> Bool {
    var next = access.outer
    while let current = next {
      if current == outer { return true }
      next = clients[client].accesses[current]?.outer
    }
    return false
  }

  /// Whether the process of an access was started inside of another access.
  private func belongs(_ party: ModelJournal.Party, to other: ModelJournal.Party) -> Bool {
    guard let parent = clients[party.client].parent else { return false }
    let outer = ModelJournal.Party(client: parent.client, number: parent.access.rawValue)
    if outer == other { return true }
    if outer.client == other.client, let access = access(outer),
      isNested(access, in: AccessID(other.number), of: other.client)
    {
      return true
    }
    return belongs(outer, to: other)
  }

  /// Whether an access lasts, to which a child process belongs, and the service has no reason to doubt it.
  func isSurelyHeld(_ parent: ModelParent) -> Bool {
    let party = ModelJournal.Party(client: parent.client, number: parent.access.rawValue)
    guard clients[parent.client].isAlive, !journal.untrusted.contains(party), !journal.late.contains(parent.client),
      let access = access(party)
    else { return false }
    return access.standing == .known && access.isShared && !access.isDoubted
  }

  /// The accesses of a child process are nested in the access to which it belongs.
  ///
  /// Unless it was granted, and that access has ended since.
  private mutating func checkChildren() {
    for client in clients.indices {
      guard let parent = clients[client].parent else { continue }
      for id in core.arbiter.accesses.sortedKeys where ServiceCore.owner(of: id.rawValue) == ids[client] {
        let access = core.arbiter.accesses[id]
        let isNested = access.lineage.contains { context in
          guard case .access(let outer) = context else { return false }
          return ServiceCore.owner(of: outer.rawValue) != ids[client] && ServiceCore.local(outer) == parent.access
        }
        if access.isWaiting, !core.tokens.keys.contains(parent.token) {
          problems.append(
            "\(ServiceCore.local(id)) of the child \(client) waits although the access around it has ended")
        }
        if !isNested, access.isWaiting || isSurelyHeld(parent) {
          problems.append("\(ServiceCore.local(id)) of the child \(client) is nested in nothing")
        }
      }
    }
  }

  /// While another client writes the item of a presenter, the presenter has let go, and its reacquirer hasn't run.
  private mutating func checkRelinquished() {
    for (party, presenters) in journal.asked {
      guard let access = access(party), access.isInside, !journal.untrusted.contains(party) else { continue }
      for presenter in presenters where journal.presenters.contains(presenter) {
        let client = clients[presenter.client]
        if !client.plan.handsOverReacquirers { continue }
        let hasLetGo = client.core.reacquirers.contains {
          client.core.debts[$0]?.presenter.rawValue == presenter.number
        }
        if !hasLetGo { problems.append("\(party) writes what \(presenter) presents and hasn't let go") }
      }
    }
  }

  /// The conditions that must hold when nothing is under way any more.
  func problemsAtTheEnd() -> [String] {
    var found: [String] = []
    for (index, client) in clients.enumerated() where client.isAlive {
      if !client.isDone { found.append("client \(index) waits for ever: \(client.threads)") }
      if !client.core.reacquirers.isEmpty { found.append("client \(index) was never given its turn back") }
      if !client.core.endingPresenters.isEmpty {
        found.append("client \(index) never forgets presenters that have gone")
      }
      if !client.core.isConnected { found.append("client \(index) isn't connected") }
    }
    for (presenter, count) in journal.untold { found.append("\(presenter) wasn't told of \(count) writes") }
    let delegations = Set(core.delegations.keys)
    for access in core.arbiter.accesses.sortedKeys where !delegations.contains(access) {
      found.append("\(access) is left")
    }
    if !core.tokens.isEmpty || !core.sharedAccesses.isEmpty { found.append("tokens are left") }
    if !core.arbiter.messages.isEmpty { found.append("messages are left") }
    let registered = clients.reduce(0) { $0 + ($1.isAlive ? $1.presenters.count : 0) }
    if core.arbiter.presenters.count != registered { found.append("presenters are left") }
    if core.hasSurveys { found.append("somebody waits for a snapshot") }
    let known = Set(clients.flatMap { $0.isAlive ? $0.core.heldDelegations : [] })
    if scenario.keepsDelegations, known.isEmpty {
      found.append("nothing is delegated to the process that uses it alone")
    }
    if Set(core.delegations.values.map(\.id)) != known { found.append("some delegation is known to one side only") }
    if !core.questions.isEmpty { found.append("somebody waits for delegations: \(core.questions)") }
    if core.isInGrace { found.append("the grace never ends") }
    return found
  }
}
