internal import CompactContainers

// Presenters whose implemented callbacks are unknown.
//
// A class may have written a method, and only calling it shows that. If the presenter's queue isn't free, the call
// shows nothing, and most such classes have written nothing. So a question by a presumed callback is waited for without
// a bound only once the queue has begun to run it. Before that it's waited for as long as `Message.Kind.patience` says,
// from when the access first asked that presenter; then the access goes on. The message stays in its place and is
// delivered when the queue runs. While the arbiter's own process stands still, the queue can't run either, so the
// waiting begins anew then.

extension FileAccessArbiter {
  /// The presenter's queue has begun to run the callback: from now on the answer is waited for like any other.
  ///
  /// If the message is answered, or isn't waited for any more, this changes nothing.
  package mutating func callbackBegan(_ id: MessageID, at time: Timestamp) -> [Effect] {
    begin(at: time)
    if let message = messages.find(id), !message.hasBegun {
      messages[id].hasBegun = true
      // By now it may be part of a deadlock.
      if let access = message.awaitingAccess { suspects.append(access) }
    }
    return finish()
  }

  /// The callbacks that a presenter implements are known better than before.
  ///
  /// A question by a callback that has turned out not to be implemented counts as answered, one about eviction as
  /// refused, unless its queue runs that right now. News that wait are delivered all the same: the code that calls the
  /// presenter uses the next more general callback for them.
  package mutating func presenterLearned(
    _ id: PresenterID, _ callbacks: PresenterCallbacks, at time: Timestamp
  ) -> [Effect] {
    begin(at: time)
    if let presenter = presenters.find(id), !presenter.isRemoved {
      let callbacks = presenter.callbacks.replacing(callbacks: callbacks)
      presenters[id].profile = profiles.use(PresenterProfile(presenter.profile, callbacks: callbacks))
      profiles.giveBack(presenter.profile)
      let unneeded = (presenter.pending + presenter.unanswered).filter { message in
        let kind = messages[message].kind
        return kind.mustBeAnswered && !callbacks.contains(kind.requiredCallback) && !messages[message].hasBegun
      }
      for message in unneeded { answerByDefault(message) }
      // Questions by callbacks that are known to be written are waited for as long as they take.
      for message in (presenters[id].pending + presenters[id].unanswered) {
        if let access = messages[message].awaitingAccess { suspects.append(access) }
      }
      pump(id)
    }
    return finish()
  }

  /// A question that does nothing need not be waited for.
  ///
  /// About an eviction it's a veto to do nothing (C-208).
  private mutating func answerByDefault(_ id: MessageID) {
    guard let message = messages.find(id) else { return }
    withdraw(id)
    guard let access = message.awaitingAccess else { return }
    if message.kind == .accommodateEviction {
      refuseEviction(access, by: message.presenter)
    } else {
      answered(message, of: access)
    }
  }
}

// MARK: - Going on

extension FileAccessArbiter {
  /// Arms a timer for the first question of the access that mustn't be waited for any longer, if its queue hasn't begun it.
  mutating func armBeginningTimer(of id: AccessID) {
    var earliest: Timestamp?
    for negotiation in accesses[id].negotiations {
      if let due = due(negotiation) { earliest = min(due, earliest ?? due) }
    }
    guard let due = earliest else { return disarmBeginningTimer(of: id) }
    if accesses[id].beginningDue == due { return }
    disarmBeginningTimer(of: id)
    accesses[id].beginningDue = due
    effects.append(.armTimer(timer(id, .beginning), after: max(0, due - now)))
  }

  /// The same after one more question: a timer that's armed for an earlier one checks this one too.
  ///
  /// - Complexity: O(1) unless the question is by a presumed callback and has to have begun before all others.
  mutating func armBeginningTimer(of id: AccessID, for index: Int) {
    guard let due = due(accesses[id].negotiations[index]) else { return }
    if let armed = accesses[id].beginningDue, armed <= due { return }
    armBeginningTimer(of: id)
  }

  mutating func disarmBeginningTimer(of id: AccessID) {
    if accesses[id].beginningDue == nil { return }
    accesses[id].beginningDue = nil
    effects.append(.cancelTimer(timer(id, .beginning)))
  }

  /// Until when the question is waited for if its queue doesn't begin it; `nil` if it's waited for as long as it takes.
  func due(_ negotiation: Access.Negotiation) -> Timestamp? {
    guard let id = negotiation.outstanding else { return nil }
    let presumed = presenters[negotiation.presenter].callbacks.presumed
    if presumed.isEmpty { return nil }
    let message = messages.index(of: id)
    guard message != Table<Message>.none, !messages[at: message].hasBegun || has(.beginningIgnored),
      let patience = messages[at: message].kind.patience,
      presumed.contains(messages[at: message].kind.requiredCallback)
    else { return nil }
    return negotiation.since + patience
  }

  /// A timer that fires later than this shows that the process stood still: it was stopped, or its machine was.
  static var latenessMax: Timestamp { 250_000_000 }

  mutating func questionsAreLate(_ id: AccessID) {
    let due = accesses[id].beginningDue ?? now
    accesses[id].beginningDue = nil
    if now - due > Self.latenessMax {
      // The queue may not have run since it was asked.
      for index in accesses[id].negotiations.indices { accesses[id].negotiations[index].since = now }
      return armBeginningTimer(of: id)
    }
    passOverQuestions(of: id, dueBy: max(now, due))
    if !accesses[id].owesAnswers { return advance(id) }
    armBeginningTimer(of: id)
    // Of the questions that follow, one may be waited for as long as it takes.
    suspects.append(id)
  }

  /// Goes on without the answers to questions that haven't begun and that perhaps do nothing.
  mutating func passOverQuestions(of id: AccessID, dueBy time: Timestamp) {
    for index in accesses[id].negotiations.indices {
      // The question after one that wasn't begun may be too late as well.
      while let due = due(accesses[id].negotiations[index]), due <= time { passOver(index, id) }
    }
  }

  /// Goes on without an answer.
  private mutating func passOver(_ index: Int, _ id: AccessID) {
    let negotiation = accesses[id].negotiations[index]
    guard let message = negotiation.outstanding, let patience = messages[message].kind.patience else { return }
    noteUnanswered(message, id, because: ": its queue didn't begin it within \(patience / 1_000_000_000) s")
    if !accesses[id].absentPresenters.contains(negotiation.presenter) {
      accesses[id].absentPresenters.append(negotiation.presenter)
    }
    messages[message].awaitingAccess = nil
    messages[message].origin.wasPassedOver = true
    askNext(id, index, messages[message].origin.itemAccess)
  }
}
