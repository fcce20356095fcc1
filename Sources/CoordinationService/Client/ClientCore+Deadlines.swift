package import FileAccessArbiter

// Deadlines are the service's. They're kept here while no service runs that could.

extension ClientCore {
  /// Whether anybody waits for the service.
  package var isAwaitingService: Bool {
    !questions.isEmpty || accesses.values.contains { $0.phase == .waiting }
  }

  /// The next deadline of an access that waits.
  ///
  /// - Complexity: O(accesses), while no service runs.
  package func nextDeadline(after time: Timestamp) -> Timestamp? {
    accesses.values.lazy.compactMap { $0.phase == .waiting ? $0.deadline : nil }.filter { $0 > time }.min()
  }

  /// No service keeps deadlines: ends waits whose deadlines have passed at a given time, and those that were cancelled.
  package mutating func keepDeadlines(at time: Timestamp) -> [ClientEffect] {
    abandon(by: ClientEffect.cancel) { $0.isCancelled }
    abandon(by: ClientEffect.timeOut) { $0.deadline.map { $0 <= time } == true }
    return takeEffects()
  }

  /// The process that serves is stopped, and has been for too long: accesses that wait, but not for ever, wait no longer.
  package mutating func serviceIsStopped() -> [ClientEffect] {
    abandonQuestions()
    resumed = []
    abandon(by: ClientEffect.giveUp) { $0.request.limits.waiting != nil || $0.request.limits.answering != nil }
    return takeEffects()
  }

  /// Ends waits, and notifies the service when it listens again.
  private mutating func abandon(by end: (AccessID) -> ClientEffect, where isChosen: (Access) -> Bool) {
    for (id, access) in accesses.sorted(by: { $0.key < $1.key }) where access.phase == .waiting && isChosen(access) {
      accesses[id]?.phase = .abandoned
      accesses[id]?.isCancelled = true
      tell(.event(.accessCancelled(id)))
      effects.append(end(id))
    }
  }
}
