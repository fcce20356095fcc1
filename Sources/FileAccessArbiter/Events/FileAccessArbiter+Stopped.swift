internal import CompactContainers

// Participants that live and don't run: others shouldn't have to wait for answers that can't come.

extension FileAccessArbiter {
  /// The participants that others wait for, be it for an access or for the answer of a presenter.
  ///
  /// The host of the arbiter determines which of them don't run, and calls ``clientsAreStopped(_:at:)``.
  ///
  /// - Complexity: O(accesses) for each participant that waits for something, however long the queues are.
  package var clientsInTheWay: Set<ClientID> {
    if waitingCount == 0 { return [] }
    var waiting: [ClientID: [AccessID]] = [:]
    for id in accesses.sortedKeys where accesses[id].isWaiting { waiting[accesses[id].client, default: []].append(id) }
    var found: Set<ClientID> = []
    for (waiter, ids) in waiting {
      forEachWait(ofAny: ids) { node in
        if let client = client(of: node), client != waiter { found.insert(client) }
      }
    }
    return found
  }

  func client(of node: WaitNode) -> ClientID? {
    switch node {
    case .access(let id): accesses.find(id)?.client
    case .message(let id): messages.find(id).map { presenters[$0.presenter].client }
    }
  }

  /// Some participants live and don't run, all others do.
  ///
  /// Accesses that have waited long enough for a presenter of one of them go on without its answer, by their own
  /// limits.
  package mutating func clientsAreStopped(_ stopped: Set<ClientID>, at time: Timestamp) -> [Effect] {
    begin(at: time)
    for client in clients.sortedKeys {
      if !stopped.contains(client) {
        clients[client].stoppedSince = nil
      } else if clients[client].stoppedSince == nil {
        clients[client].stoppedSince = time
      }
    }
    if waitingCount > 0, !stopped.isEmpty {
      for id in accesses.sortedKeys where accesses.find(id)?.phase == .asking { skipStoppedPresenters(of: id) }
    }
    return finish()
  }

  private mutating func skipStoppedPresenters(of id: AccessID) {
    guard let limit = accesses[id].limits.stoppedPresenters, !needsConsent(id) else { return }
    var isAnySkipped = false
    for negotiation in accesses[id].negotiations {
      guard let message = negotiation.outstanding,
        hasBeenStopped(presenters[negotiation.presenter].client, for: limit, since: accesses[id].phaseSince)
      else { continue }
      noteUnanswered(message, id)
      forgetOutstanding(id, negotiation.presenter)
      withdraw(message)
      isAnySkipped = true
    }
    if isAnySkipped, !accesses[id].owesAnswers { advance(id) }
  }

  private func hasBeenStopped(_ client: ClientID, for limit: Nanoseconds, since start: Timestamp) -> Bool {
    guard let since = clients.find(client)?.stoppedSince else { return false }
    return now - max(since, start) >= limit
  }

  /// The stopped participants that hold something for longer than the limit of an access that waits for it.
  ///
  /// - Complexity: O(waits).
  package func clientsHoldingForTooLong(at time: Timestamp) -> Set<ClientID> {
    if waitingCount == 0 || !clients.sortedKeys.contains(where: { clients[$0].stoppedSince != nil }) { return [] }
    var found: Set<ClientID> = []
    for id in accesses.sortedKeys where accesses[id].isWaiting {
      guard let limit = accesses[id].limits.stoppedHolders else { continue }
      forEachWait(of: .access(id)) { node in
        guard case .access(let blocker) = node, accesses[blocker].phase == .granted,
          let since = clients[accesses[blocker].client].stoppedSince,
          time - max(since, accesses[id].phaseSince) >= limit
        else { return }
        found.insert(accesses[blocker].client)
      }
    }
    return found
  }
}
