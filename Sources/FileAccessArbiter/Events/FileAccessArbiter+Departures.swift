internal import CompactContainers

// A participant is gone: everything of it ends at once, and accesses that waited for it go on.

extension FileAccessArbiter {
  /// A participant's process has ended, or its connection is closed.
  ///
  /// Nothing of it is granted or asked any more: first everything it waits for is withdrawn, then its presenters go,
  /// then its accesses, and only then does any other party go on.
  package mutating func clientDeparted(_ client: ClientID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    let own = accesses.sortedKeys.filter { accesses[$0].client == client }
    for id in presenters.sortedKeys where presenters[id].client == client { lapseDebts(to: id) }
    var sleepers: [AccessID] = []
    for id in own where accesses[id].isWaiting { sleepers += leave(id) }
    for id in presenters.sortedKeys where presenters.find(id)?.client == client { drop(id) }
    forgetChanges(seenBy: client)
    for id in own where accesses.contains(id) {
      noteEndOfWrite(id)
      tellOutcomes(of: id, [])
      sleepers += leave(id)
    }
    wake(sleepers)
    clients.remove(client)
    return finish()
  }

  /// An access is about to end to which these participants belong: their requests that wait fail.
  ///
  /// None of them is granted because another one has failed.
  package mutating func outerAccessEnds(for clients: Set<ClientID>, at time: Timestamp) -> [Effect] {
    begin(at: time)
    var sleepers: [AccessID] = []
    for id in accesses.sortedKeys where clients.contains(accesses[id].client) && accesses[id].isWaiting {
      effects.append(.fail(id, .outerAccessEnded))
      sleepers += leave(id)
    }
    wake(sleepers)
    return finish()
  }

  /// Removes a presenter whose process can't be reached: its questions count as answered, its reacquirers lapse.
  private mutating func drop(_ id: PresenterID) {
    if !presenters[id].isRemoved { remove(id) }
    guard let presenter = presenters.find(id) else { return }
    var released: [AccessID] = []
    for message in presenter.pending + presenter.unanswered {
      if let access = messages[message].awaitingAccess {
        forgetOutstanding(access, id)
        released.append(access)
      }
      messages.remove(message)
    }
    forget(presenter)
    for access in released { advance(access) }
  }

  /// No process is left to run the reacquirers that the presenter handed over.
  private mutating func lapseDebts(to id: PresenterID) {
    for access in accesses.sortedKeys { accesses[access].debts.removeAll { $0.presenter == id } }
    presenters[id].reacquirersOwed = 0
    // Those that wait for the end of a callback, or behind news that are withdrawn, aren't sent either.
    for message in presenters[id].pending {
      if case .reacquire = messages[message].kind { withdraw(message) }
    }
  }
}
