// A participant is gone: everything of it ends at once, and those who waited for it go on.

extension FileAccessArbiter {
  package mutating func clientDeparted(_ client: ClientID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    for id in presenters.sortedKeys where presenters.find(id)?.client == client { drop(id) }
    for id in accesses.sortedKeys where accesses.find(id)?.request.client == client {
      if accesses[id].phase == .granted { tellOutcomes(of: id, []) }
      end(id)
    }
    clients.remove(client)
    return finish()
  }

  /// Removes a presenter whose process can't be reached: what it was asked counts as answered, what it's owed lapses.
  private mutating func drop(_ id: PresenterID) {
    if !presenters[id].isRemoved { remove(id) }
    guard let presenter = presenters.find(id) else { return }
    for message in presenter.pending + presenter.running { messages.remove(message) }
    for access in accesses.sortedKeys { accesses[access].debts.removeAll { $0.presenter == id } }
    presenters.remove(id)
    clients[presenter.client].references -= 1
    effects.append(.forgetPresenter(id))
  }
}
