internal import CompactContainers

// Messages to a presenter of another process that come one after the other travel together, so that nothing has to go to and fro
// in between. A presenter that relinquishes is asked to save right after: the process puts the second question itself when the
// first is answered. And a relinquish message is sent ahead while a reacquirer or a notification runs: the process begins it when
// that has ended. Its turn in the mailbox stays the same. Only the process knows first that it has begun, and reports that by
// everything that comes of it.

extension FileAccessArbiter {
  /// Announces the question to save that follows a relinquish message, if it's certain by now that it does.
  mutating func announceSave(after id: MessageID) {
    guard announcesSaves, messages[id].kind.isRelinquish, isSaveNext(after: messages[id]) else { return }
    lastMessage += 1
    messages[id].announcedSave = MessageID(lastMessage, epoch: epoch)
  }

  /// Whether the access asks the presenter to save as soon as this is answered, and nothing else is to be delivered before.
  private func isSaveNext(after message: Message) -> Bool {
    guard let id = message.awaitingAccess, message.negotiation >= 0 else { return false }
    let presenter = presenters[message.presenter]
    // Whether the queue of a presenter with a presumed callback begins is reported for each question.
    return presenter.pending.allSatisfy { $0 == message.id }
      && accesses[id].negotiations[Int(message.negotiation)].remaining.next == .saveChanges
      && presenter.callbacks.contains(.saveChanges) && presenter.callbacks.presumed.isEmpty
  }

  /// The question to save that was announced runs from now on; whether an access waits for it is seen when the answer to the
  /// relinquish message is taken.
  ///
  /// - Returns: The question; `nil` if none was announced, or the presenter's process has gone.
  mutating func beginAnnouncedSave(after message: Message) -> MessageID? {
    guard let id = message.announcedSave, presenters.contains(message.presenter) else { return nil }
    messages.insert(
      Message(
        id: id, presenter: message.presenter, kind: .saveChanges, origin: message.origin, awaitingAccess: nil,
        since: now))
    _ = noteRunning(id, of: message.presenter)
    return id
  }
}

// MARK: - Sending ahead

extension FileAccessArbiter {
  /// Sends the next question of a mailbox while the callback before it runs.
  mutating func sendAhead(of presenter: Int32) {
    guard announcesSaves, let id = presenters[at: presenter].pending.first,
      mayGoAhead(messages[id], presenters[at: presenter])
    else { return }
    announceSave(after: id)
    messages[id].wasSentAhead = true
    effects.append(.deliver(messages[id].delivery(above: nil)))
  }

  /// Whether a message is certain to be the next one when the only callback under way has ended.
  ///
  /// After a question another one may have been announced.
  private func mayGoAhead(_ message: Message, _ presenter: Presenter) -> Bool {
    message.kind.isRelinquish && !message.wasSentAhead && message.awaitingAccess != nil
      && presenter.running.count == 1 && !messages[presenter.running[0]].kind.mustBeAnswered
      && presenter.folded == 0 && presenter.callbacks.presumed.isEmpty
  }

  /// A message that was sent ahead has begun, as its answer or an access inside of it shows.
  mutating func noteBegun(_ id: MessageID) {
    guard let message = messages.find(id), message.wasSentAhead, message.state == .pending else { return }
    presenters[message.presenter].pending.removeAll { $0 == id }
    _ = noteRunning(id, of: message.presenter)
  }
}
