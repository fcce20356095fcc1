internal import CompactContainers

// The texts of reports and errors about accesses and messages.

extension FileAccessArbiter {
  /// How many members a report names at most.
  package static let reportedMemberCountMax = 16

  func summary(of id: AccessID) -> AccessSummary {
    // Not a copy of the access: a report of a long cycle is made of thousands of these.
    let access = accesses.present(id)
    let phase = AccessSummary.Phase(accesses[at: access].phase)
    let client = accesses[at: access].client
    let items = accesses[at: access].items
    return AccessSummary(
      id: id, client: client, clientName: clients[client].name, label: accesses[at: access].label,
      items: items.indices.lazy.filter { !items[$0].isAlias }.map { index in
        let item = items[index]
        let path =
          item.claim == ItemTree.none ? accesses[at: access].preparedPaths[index] : tree.path(ofClaim: item.claim)
        return AccessRequest.Item(path, item.access)
      },
      isPreparation: accesses[at: access].isPreparation, phase: phase, since: accesses[at: access].phaseSince)
  }

  func summary(of id: MessageID) -> MessageSummary {
    let message = messages[id]
    let presenter = presenters[message.presenter]
    return MessageSummary(
      id: id, presenter: presenter.id, clientName: clients[presenter.client].name, presenterLabel: presenter.label,
      presentedPath: presenter.node.map { tree.path(of: $0) }, callback: message.kind.callbackName,
      isRunning: message.state != .pending, since: message.since)
  }

  func member(_ node: WaitNode) -> WaitMember {
    switch node {
    case .access(let id): .access(summary(of: id))
    case .message(let id): .message(summary(of: id))
    }
  }

  /// The direct blockers of an access, each named once, and how many more there are than a report names.
  func directBlockers(of id: AccessID) -> [WaitMember] {
    var seen: Set<WaitNode> = []
    var result: [WaitMember] = []
    forEachWait(of: .access(id)) { node in
      if seen.insert(node).inserted, result.count < FileAccessArbiter.reportedMemberCountMax {
        result.append(member(node))
      }
    }
    if seen.count > result.count { result.append(.others(seen.count - result.count)) }
    return result
  }

  /// The blockers of an access right now; empty when it's granted or gone.
  package func blockers(of id: AccessID) -> [WaitMember] {
    guard let access = accesses.find(id), access.isWaiting else { return [] }
    return directBlockers(of: id)
  }
}

extension AccessSummary.Phase {
  init(_ phase: FileAccessArbiter.Access.Phase) {
    switch phase {
    case .waiting: self = .waiting
    case .asking: self = .asking
    case .ready: self = .ready
    case .granted: self = .granted
    }
  }
}
