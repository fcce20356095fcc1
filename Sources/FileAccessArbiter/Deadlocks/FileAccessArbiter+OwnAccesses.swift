internal import CompactContainers

// Accesses of a presenter outside of its callbacks while it is asked something.
//
// A document saves on another queue and calls the completion handler afterwards. An editor lets its saves take turns,
// so a question waits for an earlier save. No request says so. Therefore an access on behalf of a presenter belongs to
// the questions that the presenter is asked meanwhile: a question counts as waiting for it. Therefore the access passes
// the asker (C-119).

extension FileAccessArbiter {
  /// How certain it is that a callback waits for an access of its presenter that was made elsewhere.
  enum Presumption: Hashable, Sendable {
    /// The access waits, and was requested since the presenter was asked, or the question is one that presenters answer by
    /// saving. A cycle of such waits is a deadlock.
    case likely
    /// The same without questions of limited patience: if their queue doesn't begin them, the access goes on without
    /// the answer (`+Presumptions`). Such a wait ends by itself, so it makes no deadlock.
    case lasting
    /// Any access of the presenter while any callback is under way. Reason enough to change an order, and none to fail anybody.
    case possible
  }

  /// Calls `body` for each access that the callback of a delivered message is presumed to wait for.
  func forEachOwnAccess(of message: Message, _ presumption: Presumption, _ body: (AccessID) -> Void) {
    let presenter = presenters[message.presenter]
    if has(.savePriorityIgnored) || presenter.ownAccesses.isEmpty { return }
    if presumption != .possible, isKnownToWait(message.children) { return }
    for id in presenter.ownAccesses where !isAwaited(id, by: presenter) {
      if presumption == .possible || isLikely(message, id) { body(id) }
    }
  }

  private func isLikely(_ message: Message, _ id: AccessID) -> Bool {
    guard message.kind.mustBeAnswered, accesses[id].isWaiting else { return false }
    return message.kind.mayNeedSave || accesses[id].sequence > message.deliverySequence
  }

  /// The accesses of the presenter since it has the message.
  func ownAccesses(since message: Message) -> [AccessID] {
    if message.state == .pending { return [] }
    return presenters[message.presenter].ownAccesses.filter { accesses[$0].sequence > message.deliverySequence }
  }

  /// Whether code that requested one of these accesses waits in it, or in one that was requested inside it.
  private func isKnownToWait(_ children: [AccessID]) -> Bool {
    children.contains { child in
      guard let access = accesses.find(child), access.isAwaitedByContext else { return false }
      return access.isWaiting || isKnownToWait(access.children)
    }
  }

  /// Whether a callback of the presenter made the access itself, and so certainly waits for it.
  func isAwaited(_ id: AccessID, by presenter: Presenter) -> Bool {
    var waiter = id
    for context in accesses[id].lineage {
      guard accesses.find(waiter)?.isAwaitedByContext == true else { return false }
      switch context {
      case .access(let outer): waiter = outer
      case .message(let callback): return messages.find(callback)?.presenter == presenter.id
      }
    }
    return false
  }

  /// Whether the presenter of the access, or of a lost one around it, is being asked something, so that another access may wait for it already.
  func isPresumablyAwaited(_ id: AccessID) -> Bool {
    for own in accesses[id].waitingPresenters {
      if let presenter = presenters.find(own), !presenter.unanswered.isEmpty { return true }
    }
    return false
  }

  /// Searches for cycles through the presenter again: the presumed waits of its callbacks have changed.
  mutating func suspectOwnAccesses(of id: PresenterID) {
    let place = presenters.index(of: id)
    if place == Table<Presenter>.none || presenters[at: place].ownAccesses.isEmpty { return }
    let presenter = presenters[at: place]
    for message in presenter.unanswered + presenter.pending {
      if let access = messages[message].awaitingAccess { suspects.append(access) }
    }
    for own in presenter.ownAccesses where accesses[own].isWaiting { suspects.append(own) }
  }

  /// The same for the presenters whose callbacks made a request that has stopped to wait.
  mutating func suspectOwnAccesses(above lineage: [ExecutionContext]) {
    for case .message(let message) in lineage {
      if let presenter = messages.find(message)?.presenter { suspectOwnAccesses(of: presenter) }
    }
  }
}

// MARK: - Serving

extension FileAccessArbiter {
  /// Puts a question of a cycle to a presenter whose callback is presumed to wait in an access made elsewhere.
  ///
  /// A presenter that is no actor may run code of the callback all the same. So it needs a likely wait.
  ///
  /// - Returns: Whether there was one.
  mutating func serveMeanwhile(_ cycle: [WaitNode], despiteSave: Bool) -> Bool {
    for (index, node) in cycle.enumerated() {
      guard case .message(let question) = node, messages[question].state == .pending,
        messages[question].kind.mustBeAnswered, case .access(let own) = cycle[(index + 2) % cycle.count]
      else { continue }
      let presenter = presenters[messages[question].presenter]
      guard mayBeServed(presenter, meanwhile: own) else { continue }
      let isInMiddleOfSave = messages[question].kind.mayNeedSave && isAskedToSave(presenter)
      if isInMiddleOfSave, !despiteSave { continue }
      putNow(question)
      return true
    }
    return false
  }

  private func isAskedToSave(_ presenter: Presenter) -> Bool {
    presenter.running.last.map { messages[$0].kind.mayNeedSave } ?? false
  }

  private func mayBeServed(_ presenter: Presenter, meanwhile own: AccessID) -> Bool {
    guard let top = presenter.running.last, presenter.servesWhileWaiting, presenter.ownAccesses.contains(own),
      presenter.running.count < FileAccessArbiter.callbackNestingMax, !isAwaited(own, by: presenter),
      !isKnownToWait(messages[top].children)
    else { return false }
    return (presenter.isActor || isLikely(messages[top], own)) && leavesExecutorFree(own, isActor: presenter.isActor)
  }
}
