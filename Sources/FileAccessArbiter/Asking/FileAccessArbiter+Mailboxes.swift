internal import CompactContainers

// One mailbox per presenter. Delivery is serial: the next message goes out when the callback before it has finished.
// One exception keeps presenters that coordinate inside a callback from waiting for each other: while a presenter's
// callback waits inside an access, the presenter is still asked (never notified), re-entrantly. Questions to save, or
// to let go of the item, are exempt while the waiting access is the presenter's own write: presenters save one after
// the other, so the second save would wait for the first, and no search would find that. The write passes the askers
// instead; where that can't be, the question is put after all.

extension FileAccessArbiter {
  /// Puts a message into the presenter's mailbox and delivers it if the presenter is free.
  @discardableResult
  mutating func enqueue(
    _ kind: Message.Kind, to presenter: PresenterID, _ origin: Message.Origin, awaitedBy access: AccessID? = nil,
    negotiation: Int32 = -1
  ) -> MessageID? {
    if mayFold(kind), presenters[presenter].pending.count >= FileAccessArbiter.pendingMessageCountMax {
      presenters[presenter].folded += 1
      return nil
    }
    lastMessage += 1
    let id = MessageID(lastMessage, epoch: epoch)
    var message = Message(id: id, presenter: presenter, kind: kind, origin: origin, awaitingAccess: access, since: now)
    message.negotiation = negotiation
    if let cause = origin.access, isAbsent(presenter, for: cause) { message.origin.wasPassedOver = true }
    messages.insert(message)
    provideDetails(ofPresenter: presenter)
    presenters[presenter].pending.append(id)
    pump(presenter)
    return id
  }

  /// Whether an access went on without the presenter, whose queue hadn't begun a question in time.
  private func isAbsent(_ presenter: PresenterID, for access: AccessID) -> Bool {
    let access = accesses.index(of: access)
    return access != Table<Access>.none && accesses[at: access].absentPresenters.contains(presenter)
  }

  /// Notifications say that something changed; a presenter with thousands of them waiting has to examine everything
  /// anyway.
  private func mayFold(_ kind: Message.Kind) -> Bool {
    switch kind {
    case .itemDidChange, .subitemDidChange, .subitemDidAppear, .subitemDidMove, .subitemVersion: true
    case .relinquishToReader, .relinquishToWriter, .saveChanges, .accommodateDeletion, .accommodateEviction,
      .accommodateSubitemDeletion,
      .reacquire, .itemDidMove, .itemDidChangeUbiquityAttributes, .itemVersion:
      false
    }
  }

  /// Delivers the messages that can be delivered now.
  mutating func pump(_ id: PresenterID) {
    let presenter = presenters.present(id)
    while !presenters[at: presenter].pending.isEmpty {
      guard let position = nextDeliverable(presenters[at: presenter]) else {
        sendAhead(of: presenter)
        return suspectHeldBack(presenters[at: presenter])
      }
      let message = presenters[at: presenter].pending.remove(at: position)
      deliver(message, to: id)
      suspectOwnAccesses(of: id)
    }
  }

  /// An access whose question waits for the end of a save may be the one that the save waits for.
  private mutating func suspectHeldBack(_ presenter: Presenter) {
    if presenter.running.isEmpty || presenter.pending.isEmpty { return }
    if presenter.ownAccesses.isEmpty, !mayBeServed(presenter) { return }
    for id in presenter.pending where messages[id].kind.mustBeAnswered {
      if let access = messages[id].awaitingAccess { suspects.append(access) }
    }
  }

  private func nextDeliverable(_ presenter: Presenter) -> Int? {
    if presenter.running.isEmpty {
      guard let first = presenter.pending.first else { return nil }
      // Questions don't wait for the end of a mover, which may wait for them.
      guard case .itemDidMove = messages[first].kind else { return 0 }
      return isHeldMove(messages[first]) ? presenter.pending.firstIndex { messages[$0].kind.mustBeAnswered } : 0
    }
    guard !presenter.pending.isEmpty, mayBeServed(presenter) else { return nil }
    let isWriting = waitsInOwnWrite(presenter)
    return presenter.pending.firstIndex { isServed(messages[$0].kind, whileWriting: isWriting) }
  }

  /// Whether it reports a move whose mover still has access: a presenter that reads the new place would wait for that.
  func isHeldMove(_ message: Message) -> Bool {
    guard case .itemDidMove = message.kind, let mover = message.origin.access, !has(.moveToldBeforeItsEnd) else {
      return false
    }
    return accesses.contains(mover)
  }

  /// Whether a message is delivered to its presenter although a callback is under way there.
  func mayBeServed(_ kind: Message.Kind, _ presenter: Presenter) -> Bool {
    mayBeServed(presenter) && isServed(kind, whileWriting: kind.mayNeedSave && waitsInOwnWrite(presenter))
  }

  private func isServed(_ kind: Message.Kind, whileWriting isWriting: Bool) -> Bool {
    kind.mustBeAnswered && !(isWriting && kind.mayNeedSave)
  }

  /// Whether the presenter can be asked although its callback is under way.
  private func mayBeServed(_ presenter: Presenter) -> Bool {
    guard let top = presenter.running.last, presenter.servesWhileWaiting else { return false }
    return presenter.running.count < FileAccessArbiter.callbackNestingMax
      && isServable(.message(top), isActor: presenter.isActor)
  }

  /// Whether the callback under way waits in a write of the presenter's own.
  private func waitsInOwnWrite(_ presenter: Presenter) -> Bool {
    presenter.running.last.map { isWriting(.message($0), presenter) } ?? false
  }

  private func isWriting(_ context: ExecutionContext, _ presenter: Presenter) -> Bool {
    children(of: context).contains { child in
      let access = accesses[child]
      guard access.isAwaitedByContext else { return false }
      if isOwn(presenter, access), access.items.contains(where: \.access.isWrite) { return true }
      return !access.isWaiting && isWriting(.access(child), presenter)
    }
  }

  /// Puts the questions of a cycle that weren't put for the sake of a save.
  ///
  /// - Returns: Whether there was one.
  mutating func serveDespiteSave(_ cycle: [WaitNode]) -> Bool {
    for case .message(let id) in cycle {
      guard case .pending = messages[id].state, messages[id].kind.mustBeAnswered else { continue }
      if !mayBeServed(presenters[messages[id].presenter]) { continue }
      putNow(id)
      return true
    }
    return false
  }

  /// Delivers a question out of its turn.
  mutating func putNow(_ id: MessageID) {
    let presenter = messages[id].presenter
    presenters[presenter].pending.removeAll { $0 == id }
    deliver(id, to: presenter)
    suspectOwnAccesses(of: presenter)
  }

  /// Whether code in `context` waits inside an access, on a thread or task that leaves the presenter's executor free.
  private func isServable(_ context: ExecutionContext, isActor: Bool) -> Bool {
    children(of: context).contains { child in
      let access = accesses[child]
      // An access that isn't awaited doesn't keep the callback from running on.
      return access.isAwaitedByContext && leavesExecutorFree(child, isActor: isActor)
    }
  }

  /// Whether an access waits, or one inside it, on a thread or task that leaves the presenter's executor free.
  func leavesExecutorFree(_ id: AccessID, isActor: Bool) -> Bool {
    let access = accesses[id]
    guard access.isWaiting else { return isServable(.access(id), isActor: isActor) }
    return !(access.traits.contains(.blocksThread) && (isActor || access.traits.contains(.isOnMainThread)))
  }

  func children(of context: ExecutionContext) -> [AccessID] {
    switch context {
    case .access(let id):
      let access = accesses.index(of: id)
      return access == Table<Access>.none ? [] : accesses[at: access].children
    case .message(let id):
      let message = messages.index(of: id)
      return message == Table<Message>.none ? [] : messages[at: message].children
    }
  }

  private mutating func deliver(_ id: MessageID, to presenter: PresenterID) {
    let above = noteRunning(id, of: presenter)
    if above == nil {
      // Its process begins it by itself.
      if messages[id].wasSentAhead { return }
      announceSave(after: id)
    }
    effects.append(.deliver(messages[id].delivery(above: above)))
  }

  /// - Returns: The callback of the presenter that runs already, and above which this one does.
  mutating func noteRunning(_ id: MessageID, of presenter: PresenterID) -> MessageID? {
    let place = presenters.present(presenter)
    let above = presenters[at: place].running.last
    // Accesses that wait in the callbacks below wait for this one from now on.
    for below in presenters[at: place].running {
      let children = children(of: .message(below))
      if children.isEmpty { continue }
      suspects += descendants(of: children).filter { accesses.find($0)?.isWaiting == true }
    }
    let message = messages.present(id)
    let folded = messages[at: message].wasSentAhead ? 0 : presenters[at: place].folded
    if folded > 0 { presenters[at: place].folded = 0 }
    presenters[at: place].running.append(id)
    messages[at: message].noteDelivery(isReentrant: above != nil, folding: folded, after: lastSequence, at: now)
    return above
  }

  /// An access began to wait: the presenters in whose callbacks it was requested can be asked meanwhile.
  mutating func serveMailboxes(below id: AccessID) {
    for case .message(let message) in accesses[id].lineage where messages.contains(message) {
      pump(messages[message].presenter)
    }
  }
}

// MARK: - Answers

extension FileAccessArbiter {
  /// A callback returned.
  ///
  /// `hasReacquirer` says that a relinquish message was answered with one.
  ///
  /// An answer that comes twice, or after its presenter's process has gone, changes nothing (C-188).
  package mutating func messageAnswered(
    _ id: MessageID, hasReacquirer: Bool = false, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    if let message = finishCallback(id) { take(message, hasReacquirer: hasReacquirer, beginning: nil) }
    return finish()
  }

  /// A relinquish message was answered, and the presenter is being asked to save since, as was announced with the message.
  ///
  /// That question runs now, also if no access waits for its answer any more.
  package mutating func relinquished(_ id: MessageID, hasReacquirer: Bool, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let message = finishCallback(id) {
      // First, so that nothing else is delivered to the presenter.
      let save = beginAnnouncedSave(after: message)
      take(message, hasReacquirer: hasReacquirer, beginning: save)
    }
    return finish()
  }

  private mutating func take(_ message: Message, hasReacquirer: Bool, beginning save: MessageID?) {
    if hasReacquirer { noteReacquirer(message) }
    if let access = message.awaitingAccess {
      if message.kind == .accommodateEviction, !presenters[message.presenter].isRemoved {
        refuseEviction(access, by: message.presenter)
      } else {
        answered(message, of: access, beginning: save)
      }
    }
    afterCallback(message)
  }

  /// The callback has returned, and its completion handler will answer.
  ///
  /// The presenter's next message can be delivered. If the answer isn't awaited, or has come already, this changes
  /// nothing.
  package mutating func callbackReturned(_ id: MessageID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    noteBegun(id)
    if let message = messages.find(id), case .running = message.state, message.kind.mustBeAnswered {
      messages[id].state = .returned
      presenters[message.presenter].running.removeAll { $0 == id }
      presenters[message.presenter].returned.append(id)
      if let access = message.awaitingAccess { suspects.append(access) }
      afterCallback(message)
    }
    return finish()
  }

  /// A callback threw.
  ///
  /// Accesses that wait for the answer fail (C-038, C-075).
  package mutating func messageFailed(_ id: MessageID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    noteBegun(id)
    if let message = messages.find(id), message.isUnanswered {
      let summary = summary(of: id)
      _ = finishCallback(id)
      if let access = message.awaitingAccess {
        forgetOutstanding(access, message.presenter)
        fail(access, .presenterFailed(id, summary))
      }
      afterCallback(message)
    }
    return finish()
  }

  private mutating func finishCallback(_ id: MessageID) -> Message? {
    noteBegun(id)
    let place = messages.index(of: id)
    guard place != Table<Message>.none, messages[at: place].isUnanswered else { return nil }
    let message = messages.remove(at: place)
    presenters[message.presenter].forget(id)
    return message
  }

  private mutating func afterCallback(_ message: Message) {
    let presenter = message.presenter
    pump(presenter)
    advanceReadyAccesses(inside: message)
    suspectOwnAccesses(of: presenter)
    dropUselessDetails(ofPresenter: presenters.present(presenter))
    forgetIfDone(presenter)
  }

  private mutating func advanceReadyAccesses(inside message: Message) {
    // Those inside this callback too: it may have been answered before it was over.
    var ready = descendants(of: message.children)
    for below in presenters[message.presenter].running {
      let children = children(of: .message(below))
      if !children.isEmpty { ready += descendants(of: children) }
    }
    for waiter in ready where accesses.find(waiter)?.phase == .ready { advance(waiter) }
    // Those below wait for the next callback above now, if there's one.
    if presenters[message.presenter].running.count > 1 {
      suspects += ready.filter { accesses.find($0)?.isWaiting == true }
    }
  }

  /// The accesses of `children` that live, and those requested inside them, parents first.
  func descendants(of children: [AccessID]) -> [AccessID] {
    if children.isEmpty { return [] }
    var result = children
    var next = 0
    while next < result.count {
      result += self.children(of: .access(result[next]))
      next += 1
    }
    return result
  }

  private mutating func noteReacquirer(_ message: Message) {
    let debt = Access.Debt(message: message.id, presenter: message.presenter)
    if let access = message.origin.access, accesses.contains(access) {
      accesses[access].debts.append(debt)
      presenters[message.presenter].reacquirersOwed += 1
    } else {
      // The access has ended: the reacquirer gets its turn at once (C-165).
      enqueue(.reacquire(debt.message), to: debt.presenter, message.origin)
    }
  }

  /// Gives every presenter that relinquished for this access its reacquirer back, exactly once (C-039).
  mutating func payDebts(of id: AccessID) {
    let debts = accesses[id].debts
    if debts.isEmpty { return }
    accesses[id].debts = []
    if has(.reacquirerForgotten), accesses[id].isWaiting { return }
    for debt in debts where presenters.contains(debt.presenter) {
      presenters[debt.presenter].reacquirersOwed -= 1
      enqueue(.reacquire(debt.message), to: debt.presenter, origin(of: id))
      if has(.reacquirerTwice) { enqueue(.reacquire(debt.message), to: debt.presenter, origin(of: id)) }
    }
  }

  func origin(of id: AccessID) -> Message.Origin {
    let access = accesses.present(id)
    return Message.Origin(
      access: id, client: accesses[at: access].client, purpose: accesses[at: access].purpose,
      label: accesses[at: access].label, readingOptions: accesses[at: access].readingOptions,
      isPreparation: accesses[at: access].isPreparation)
  }
}
