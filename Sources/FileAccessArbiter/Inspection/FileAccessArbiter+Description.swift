internal import CompactContainers

// The whole state as values and as text. The text is the same for the same state, whatever the order of hashing.

/// The state of an arbiter at one moment.
package struct ArbiterSnapshot: Hashable, Sendable {
  package struct Presenter: Hashable, Sendable {
    package let id: PresenterID
    package let client: ClientID
    package let clientName: String
    package let label: String
    package let path: ItemPath?
    package let callbacks: PresenterCallbacks
    /// Delivered and not answered, the outermost first.
    package let running: [MessageSummary]
    package let pendingCount: Int

    package init(
      id: PresenterID, client: ClientID, clientName: String, label: String, path: ItemPath?,
      callbacks: PresenterCallbacks, running: [MessageSummary], pendingCount: Int
    ) {
      self.id = id
      self.client = client
      self.clientName = clientName
      self.label = label
      self.path = path
      self.callbacks = callbacks
      self.running = running
      self.pendingCount = pendingCount
    }
  }

  package struct Access: Hashable, Sendable {
    package let summary: AccessSummary
    package let requestedAt: Timestamp
    package let blockers: [WaitMember]
    /// The innermost access around it that lasts.
    package let outer: AccessID?

    package init(summary: AccessSummary, requestedAt: Timestamp, blockers: [WaitMember], outer: AccessID?) {
      self.summary = summary
      self.requestedAt = requestedAt
      self.blockers = blockers
      self.outer = outer
    }
  }

  package let time: Timestamp
  /// In order of request.
  package var accesses: [Access]
  /// In order of registration.
  package let presenters: [Presenter]
  /// How many items have a node, the root included.
  package let nodeCount: Int

  package init(time: Timestamp, accesses: [Access], presenters: [Presenter], nodeCount: Int) {
    self.time = time
    self.accesses = accesses
    self.presenters = presenters
    self.nodeCount = nodeCount
  }
}

extension FileAccessArbiter {
  /// - Complexity: O(accesses and presenters), and the conflicts among them.
  package func snapshot(at time: Timestamp) -> ArbiterSnapshot {
    ArbiterSnapshot(
      time: time,
      accesses: accesses.sortedKeys.sorted { accesses[$0].sequence < accesses[$1].sequence }.map {
        ArbiterSnapshot.Access(
          summary: summary(of: $0), requestedAt: accesses[$0].requestedAt, blockers: blockers(of: $0),
          outer: innermostAccess(around: $0))
      },
      presenters: presenters.sortedKeys.map { id in
        let presenter = presenters[id]
        return ArbiterSnapshot.Presenter(
          id: id, client: presenter.client, clientName: clients[presenter.client].name, label: presenter.label,
          path: presenter.node.map { tree.path(of: $0) }, callbacks: presenter.callbacks,
          running: presenter.unanswered.map { summary(of: $0) }, pendingCount: presenter.pending.count)
      },
      nodeCount: tree.nodes.count)
  }

  /// Every part of the state that can influence a decision, without times: equal texts behave alike.
  package var stateDescription: String {
    var lines: [String] = []
    for id in accesses.sortedKeys.sorted(by: { accesses[$0].sequence < accesses[$1].sequence }) {
      lines.append(describe(accesses[id]))
    }
    for id in presenters.sortedKeys { lines.append(describe(presenters[id])) }
    for id in messages.sortedKeys { lines.append(describe(messages[id])) }
    return lines.joined(separator: "\n")
  }

  private func describe(_ access: Access) -> String {
    let items = access.items.indices.map { index in
      let item = access.items[index]
      return "\(path(ofItem: index, of: access)) \(item.access)" + (item.wasMoved ? " moved" : "")
        + (item.wasReplaced ? " replaced" : "")
        + (item.wasMoveDestination ? " destination" : "")
        + access.formerClaims.filter { $0.item == index }.map {
          " former \(tree.path(of: tree.claims[$0.claim].node))"
        }.joined()
    }
    var line =
      "\(access.id) \(access.phase) purpose \(access.purpose.rawValue) [\(items.joined(separator: "; "))]"
    if access.isPreparation { line += " preparation" }
    if !access.lineage.isEmpty { line += " in \(access.lineage)" }
    if !access.overtakes.isEmpty { line += " passes \(access.overtakes.sorted())" }
    if let blocker = access.parkedOn { line += " parked on \(blocker)" }
    if let timer = access.armedTimer { line += " timer \(timer)" }
    if access.traits.contains(.overlapsByMove) { line += " overlaps" }
    for negotiation in access.negotiations where negotiation.outstanding != nil {
      line +=
        " asks \(negotiation.presenter) \(negotiation.outstanding.map(\.description) ?? "") then \(negotiation.remaining.kinds)"
    }
    if access.isWaiting, !access.negotiations.isEmpty { line += " asked \(access.negotiations.map(\.presenter))" }
    if !access.absentPresenters.isEmpty { line += " without \(access.absentPresenters)" }
    if !access.debts.isEmpty { line += " owes \(access.debts.map { "\($0.message)→\($0.presenter)" })" }
    return line
  }

  private func describe(_ presenter: Presenter) -> String {
    let place = presenter.node.map { tree.path(of: $0).description } ?? "nowhere"
    return
      "\(presenter.id) at \(place) runs \(presenter.running) owes \(presenter.returned) pending \(presenter.pending)"
      + (presenter.isRemoved ? " removed" : "")
      + (presenter.callbacks.presumed.isEmpty ? "" : " presumed \(presenter.callbacks.presumed.rawValue)")
  }

  private func describe(_ message: Message) -> String {
    "\(message.id) \(message.kind) to \(message.presenter) \(message.state)"
      + " of \(message.origin.access?.description ?? "nobody")"
      + (message.hasBegun ? " begun" : "") + (message.origin.wasPassedOver ? " passed over" : "")
      + (message.awaitingAccess.map { " awaited by \($0)" } ?? "")
      + (message.children.isEmpty ? "" : " around \(message.children)")
      + (ownAccesses(since: message).isEmpty ? "" : " before \(ownAccesses(since: message))")
  }
}
