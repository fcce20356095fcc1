internal import FileAccessArbiter

// Callbacks that an earlier service has put, or this one through an earlier connection. The process goes on calling them by
// their old numbers, which may be those of other messages by now: the arbiter has numbers of its own for them.

extension ServiceCore {
  /// Takes in the callbacks of a presenter that run.
  mutating func enter(
    _ callbacks: [RunningCallback], of presenter: PresenterID, by client: ClientID, at time: Timestamp
  ) throws(Malformed) {
    for callback in callbacks {
      if clients[client].map({ isOfThisConnection(callback.message, $0) }) ?? true {
        throw Malformed("\(callback.message) isn't of an earlier connection, and it says that it runs since then")
      }
      if clients[client]?.reportedCallbacks[callback.message] != nil {
        throw Malformed("it says twice that \(callback.message) runs")
      }
      clients[client]?.reportedCallbacks[callback.message] = arbiter.callbackReasserted(
        callback.kind, of: presenter, at: time)
    }
  }

  /// The arbiter's message that a process names; `nil` if the arbiter hasn't got it any more.
  func message(_ id: MessageID, of client: ClientID) throws(Malformed) -> MessageID? {
    if let reported = reported(id, by: client) { return reported }
    // One of an earlier epoch isn't in the arbiter any more.
    guard let presenter = arbiter.recipient(of: id) else { return nil }
    if Self.owner(of: presenter.rawValue) != client { throw Malformed("it names \(id), which isn't for it") }
    return id
  }

  private func reported(_ id: MessageID, by client: ClientID) -> MessageID? {
    guard let callbacks = clients[client]?.reportedCallbacks, !callbacks.isEmpty else { return nil }
    return callbacks[id]
  }

  /// The same for a message that's answered.
  ///
  /// - Returns: Also whether it was reported: its debt was reported as well then.
  mutating func answeredMessage(
    _ id: MessageID, by client: ClientID
  ) throws(Malformed) -> (message: MessageID, wasReported: Bool)? {
    if let reported = reported(id, by: client) {
      clients[client]?.reportedCallbacks[id] = nil
      return (reported, true)
    }
    return try message(id, of: client).map { ($0, false) }
  }

  /// A message of the arbiter as the process of its presenter calls it.
  func local(_ id: MessageID, of client: ClientID) -> MessageID {
    guard let callbacks = clients[client]?.reportedCallbacks, !callbacks.isEmpty else { return id }
    return callbacks.first { $0.value == id }?.key ?? id
  }
}
