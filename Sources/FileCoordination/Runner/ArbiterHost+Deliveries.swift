internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// Messages run where the presenter asks for them, outside of the lock, and their answers are the next events.

extension ArbiterHost {
  /// The executor of callbacks that run elsewhere than on threads of the library.
  private func chosenExecutor(of record: PresenterRecord) -> (any TaskExecutor)? {
    record.executor ?? configuration.presenterExecutor
  }

  func deliver(_ first: AddressedDelivery) {
    if let executor = chosenExecutor(of: first.record) {
      Task.detached(
        name: first.delivery.kind.callbackName, executorPreference: executor, priority: first.priority
      ) { [self] in await goOn(with: first) }
    } else if PresenterErrand.mayHave(first.priority) {
      PresenterErrand.deliver(self, first).begin()
    } else {
      Task.detached(
        name: first.delivery.kind.callbackName, executorPreference: ElasticThreadPool.shared, priority: first.priority
      ) { [self] in await goOn(with: first) }
    }
  }

  /// Delivers a message in the running task, which is new, and those that come of the answers.
  private func goOn(with first: AddressedDelivery) async {
    var surroundings: Lineage?
    await goOn(with: first, count: 0, in: &surroundings)
  }

  /// Delivers a message in the running task, and those that come of the answers.
  ///
  /// - Parameters:
  ///   - first: The message.
  ///   - count: How many callbacks of the presenter the task has run.
  ///   - surroundings: Those of the task's last callback, for use in the next.
  func goOn(with first: AddressedDelivery, count: Int, in surroundings: inout Lineage?) async {
    var next: AddressedDelivery? = first
    var count = count
    while let delivery = next {
      if count > 0, !mayGoOn(with: delivery, count: count) { return deliver(delivery) }
      let record = delivery.record
      guard let presenter = record.presenter else { return presenterIsGone(record, delivery.delivery.message) }
      next = await receive(delivery, presenter, in: &surroundings)
      count += 1
    }
  }

  /// Whether a task that has run callbacks may deliver this message too, so that nothing is enqueued and no other thread has to
  /// wake up for it: relinquish and save, a reacquirer and what came meanwhile are one job.
  ///
  /// A chosen executor may do other work after ``callbackCountMaxOfJob`` callbacks. An access that waits for an answer with
  /// a higher priority gets a task of that priority.
  private func mayGoOn(with next: AddressedDelivery, count: Int) -> Bool {
    if (next.priority ?? .background) > Task.currentPriority { return false }
    guard let executor = chosenExecutor(of: next.record) else { return true }
    let isStepped = next.record.executor == nil ? executor is any SteppedPresenterExecutor : next.record.isStepped
    return count < Self.callbackCountMaxOfJob && !isStepped
  }

  /// How many callbacks a chosen executor gets as one job at most.
  private static let callbackCountMaxOfJob = 8

  /// Runs the callback that a message asks for.
  ///
  /// - Returns: The next message to the same presenter, if it came of the answer.
  private func receive(
    _ addressed: AddressedDelivery, _ presenter: any FilePresenter, in surroundings: inout Lineage?
  ) async -> AddressedDelivery? {
    let (delivery, record) = (addressed.delivery, addressed.record)
    if endsNothing(delivery) { return answer(delivery.message, nil, record) }
    let origin = delivery.origin.publicOrigin(
      purpose: addressed.purpose, process: addressed.process, isReentrant: delivery.isReentrant)
    let callback = CallbackUnderWay(delivery.message, of: self)
    let lineage = Lineage.reusing(&surroundings, delivery.message, of: self, callback: callback)
    defer { surroundings = lineage }
    do {
      let reacquirer = try await lineage.surrounding { try await record.receive(delivery.kind, origin, presenter) }
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

  func run(_ reacquirer: Reacquirer, _ message: MessageID, _ record: PresenterRecord) {
    guard let executor = chosenExecutor(of: record) else {
      return PresenterErrand.reacquire(self, reacquirer, message, record).begin()
    }
    Task.detached(name: "reacquirer", executorPreference: executor) { [self] in
      var surroundings: Lineage?
      await giveBack(reacquirer, message, record, in: &surroundings)
    }
  }

  /// Runs a reacquirer in the running task, and what comes of its end.
  func giveBack(
    _ reacquirer: Reacquirer, _ message: MessageID, _ record: PresenterRecord, in surroundings: inout Lineage?
  ) async {
    let lineage = Lineage.reusing(&surroundings, message, of: self)
    await lineage.surrounding { await reacquirer.run() }
    surroundings = lineage
    if let next = answer(message, nil, record) { await goOn(with: next, count: 1, in: &surroundings) }
  }

  private func answer(
    _ message: MessageID, _ reacquirer: Reacquirer?, _ record: PresenterRecord
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
