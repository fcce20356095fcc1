internal import CompactContainers

// The state that survives the arbiter: participants report their accesses and debts to a new arbiter in its place.

extension FileAccessArbiter {
  /// A participant reports that an earlier arbiter granted it an access, whose accessor still runs.
  ///
  /// - Parameters:
  ///   - id: The access.
  ///   - request: The original request, with the current places of its items.
  ///   - isTrusted: Whether nothing has been granted anew yet, so that any overlap was there before.
  ///   - time: When.
  /// - Returns: Whether it's held now. If not, others have been granted conflicting accesses.
  package mutating func accessReasserted(
    _ id: AccessID, _ request: AccessRequest, isTrusted: Bool, at time: Timestamp
  ) -> Bool {
    begin(at: time)
    insert(id, request, .granted)
    let isFree = isTrusted || forEachBlocker(of: id) { accesses[$0].isWaiting }
    if isFree {
      becomeKnown(id, request)
      noteOverlap(of: id)
    } else {
      _ = leave(id)
    }
    effects = []
    suspects = []
    return isFree
  }

  /// A presenter that was added right before, and has no location yet, reports a callback that an earlier arbiter put, and that
  /// still runs.
  ///
  /// It reports its callbacks in the order in which they began. No access waits for the answer any more, but the callback
  /// may wait for accesses that were requested inside of it: those name the message.
  ///
  /// - Returns: The message that stands for the callback until it's answered; `nil` if no arbiter would have put it there.
  package mutating func callbackReasserted(
    _ kind: Message.Kind, of presenter: PresenterID, at time: Timestamp
  ) -> MessageID? {
    begin(at: time)
    let place = presenters.present(presenter)
    let depth = presenters[at: place].running.count
    guard depth < FileAccessArbiter.callbackNestingMax, depth == 0 || kind.mustBeAnswered else { return nil }
    lastMessage += 1
    let id = MessageID(lastMessage, epoch: epoch)
    let nobody = Message.Origin(client: ClientID(0), purpose: PurposeID(0), label: "")
    messages.insert(
      Message(id: id, presenter: presenter, kind: kind, origin: nobody, awaitingAccess: nil, since: now))
    _ = noteRunning(id, of: presenter)
    messages[id].hasBegun = true
    // Which of the presenter's accesses were requested before the callback began isn't known any more.
    messages[id].deliverySequence = .max
    return id
  }

  /// A presenter reports that it relinquished for an access of an earlier arbiter, and holds a reacquirer.
  ///
  /// If that access isn't held any more, the reacquirer gets its turn at once.
  package mutating func debtReasserted(
    _ message: MessageID, of presenter: PresenterID, for access: AccessID?, _ origin: Message.Origin, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    if presenters.contains(presenter) {
      if let access, accesses.find(access)?.phase == .granted {
        accesses[access].debts.append(Access.Debt(message: message, presenter: presenter))
        presenters[presenter].reacquirersOwed += 1
      } else {
        enqueue(.reacquire(message), to: presenter, origin)
      }
    }
    return finish()
  }

  /// No arbiter had a presenter for a while: its item may have been written, by an unknown party.
  package mutating func changesMayBeMissed(by presenter: PresenterID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let known = presenters.find(presenter), known.node != nil {
      send(.itemDidChange, to: presenter, Message.Origin(client: ClientID(0), purpose: PurposeID(0), label: ""))
    }
    return finish()
  }
}
