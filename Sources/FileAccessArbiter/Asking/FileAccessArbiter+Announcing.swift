internal import CompactContainers

// A presenter of another process that relinquishes is asked to save right after: the two questions travel together, and the
// process puts the second one itself when the first is answered, so that no message has to go to and fro in between.

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
    return presenter.pending.isEmpty
      && accesses[id].negotiations[Int(message.negotiation)].remaining.last == .saveChanges
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
