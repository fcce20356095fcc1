internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// Messages run where the presenter asks for them, outside of the lock, and their answers are the next events.

extension ArbiterHost {
  /// The executor of callbacks that run elsewhere than on threads of the library.
  private func chosenExecutor(of record: PresenterRecord) -> (any TaskExecutor)? {
    record.executor ?? configuration.presenterExecutor
  }

  private func executor(of record: PresenterRecord) -> any TaskExecutor {
    chosenExecutor(of: record) ?? ElasticThreadPool.shared
  }

  func deliver(_ first: AddressedDelivery) {
    let record = first.record
    Task.detached(
      name: first.delivery.kind.callbackName, executorPreference: executor(of: record), priority: first.priority
    ) { [self] in
      var next: AddressedDelivery? = first
      while let delivery = next {
        guard let presenter = record.presenter else { return presenterIsGone(record, delivery.delivery.message) }
        next = await receive(delivery, presenter)
        if let following = next, !mayGoOn(with: following) { return deliver(following) }
      }
    }
  }

  /// Whether a task that has delivered one message may deliver this one too, so that no other thread has to wake up for it.
  ///
  /// A chosen executor gets each message as a job, between which it may do other work. An access that waits for an
  /// answer with a higher priority gets a task of that priority.
  private func mayGoOn(with next: AddressedDelivery) -> Bool {
    chosenExecutor(of: next.record) == nil && (next.priority ?? .background) <= Task.currentPriority
  }

  /// Runs the callback that a message asks for.
  ///
  /// - Returns: The next message to the same presenter, if it came of the answer.
  private func receive(_ addressed: AddressedDelivery, _ presenter: any FilePresenter) async -> AddressedDelivery? {
    let (delivery, record) = (addressed.delivery, addressed.record)
    if endsNothing(delivery) { return answer(delivery.message, nil, record) }
    let origin = delivery.origin.publicOrigin(
      purpose: addressed.purpose, process: addressed.process, isReentrant: delivery.isReentrant)
    let lineage = Lineage(.known(.message(delivery.message)), of: self)
    do {
      let reacquirer = try await Lineage.$current.withValue(lineage) {
        try await CallbackUnderWay.$inTask.withValue(CallbackUnderWay(delivery.message, of: self)) {
          try await record.receive(delivery.kind, origin, presenter)
        }
      }
      // The label may show the name of the file.
      if case .itemDidMove = delivery.kind {
        step(.presenterRelabelled(record.id, presenter.presenterLabel.fittingFrame))
      }
      return answer(delivery.message, reacquirer, record)
    } catch {
      return fail(delivery.message, error, record)
    }
  }

  /// Whether the item to be replaced or deleted isn't there: then no presenter has to accommodate its end (C-078).
  ///
  /// A presenter that was passed over is still asked, when the item may be gone.
  private func endsNothing(_ delivery: Delivery) -> Bool {
    guard case .accommodateSubitemDeletion(let path) = delivery.kind, !delivery.origin.wasPassedOver else {
      return false
    }
    return (try? configuration.fileSystem.statusIfPresent(of: path.systemPath)) == .some(nil)
  }

  func run(_ reacquirer: @escaping FileReacquirer, _ message: MessageID, _ record: PresenterRecord) {
    Task.detached(name: "reacquirer", executorPreference: executor(of: record)) { [self] in
      let lineage = Lineage(.known(.message(message)), of: self)
      await Lineage.$current.withValue(lineage) { await reacquirer() }
      if let next = answer(message, nil, record) { deliver(next) }
    }
  }

  private func answer(
    _ message: MessageID, _ reacquirer: FileReacquirer?, _ record: PresenterRecord
  ) -> AddressedDelivery? {
    stepOfPresenter(record) { state, now in
      if let reacquirer { state.reacquirers[message] = reacquirer }
      return state.decider.step(.messageAnswered(message, hasReacquirer: reacquirer != nil), at: now)
    }
  }

  private func fail(_ message: MessageID, _ error: any Error, _ record: PresenterRecord) -> AddressedDelivery? {
    let next = stepOfPresenter(record) { state, now in
      state.presenterErrors[message] = error
      return state.decider.step(.messageFailed(message, explanation: PresenterFailure(error)), at: now)
    }
    _ = withState { $0.presenterErrors.removeValue(forKey: message) }
    return next
  }
}
