package import FileAccessArbiter

// Processes that live and don't run: stopped by a signal, a terminal or a debugger.

extension ServiceCore {
  /// How long a presenter that registers, or an item that moves, waits for what a stopped process was lent.
  ///
  /// Nobody is granted anything by that, so there's no limit of anybody's to keep to.
  static let toleranceOfQuestions: Nanoseconds = 5_000_000_000

  /// Whether anybody waits, so that it's worth looking at the processes from time to time.
  package var isAnybodyWaiting: Bool { arbiter.waitingCount > 0 || questions.contains { !$0.awaited.isEmpty } }

  /// The processes that others wait for, and their numbers as the kernel knows them.
  package var processesInTheWay: [ClientID: Int32] {
    var ids = arbiter.clientsInTheWay
    for question in questions { ids.formUnion(question.awaited.compactMap { delegations[$0]?.client }) }
    var processes: [ClientID: Int32] = [:]
    for id in ids { processes[id] = clients[id]?.processIdentifier }
    return processes
  }

  /// Which processes are stopped; all others run.
  ///
  /// Whatever they told before has been received. Told again and again while ``isAnybodyWaiting``.
  ///
  /// - Parameters:
  ///   - stopped: The processes, among those that others wait for.
  ///   - time: When that was seen.
  /// - Returns: What to do.
  package mutating func processesAreStopped(_ stopped: Set<ClientID>, at time: Timestamp) -> [ServiceEffect] {
    stoppedSince = stoppedSince.filter { stopped.contains($0.key) }
    for id in stopped where stoppedSince[id] == nil { stoppedSince[id] = time }
    carryOut(arbiter.clientsAreStopped(stopped, at: time), at: time)
    for id in arbiter.clientsHoldingForTooLong(at: time).sorted() { expel(id, at: time) }
    answerWithoutStopped(at: time)
    showObservers(at: time)
    return takeEffects(at: time)
  }

  /// What the process holds is free from now on, as if it had ended.
  ///
  /// When it runs again it connects anew, tells what it holds, and hears what it lost.
  mutating func expel(_ id: ClientID, at time: Timestamp) {
    guard let client = clients.removeValue(forKey: id) else { return }
    hurried.remove(id)
    stoppedSince[id] = nil
    effects.append(.expel(id))
    depart(id, client, at: time)
  }

  mutating func revoke(_ revocation: Revocation, of session: UInt64) {
    if has(.delegationsOutliveExpulsion) { return }
    effects.append(.revoke(revocation, session: session))
  }

  /// A presenter may register where a stopped process has been lent something: whatever that has granted itself it granted
  /// before, and it grants itself nothing more before it has read that the loan is wanted back.
  private mutating func answerWithoutStopped(at time: Timestamp) {
    for index in questions.indices {
      for access in questions[index].awaited.sorted() {
        guard let client = delegations[access]?.client, let since = stoppedSince[client],
          time - max(since, questions[index].askedAt) >= Self.toleranceOfQuestions
        else { continue }
        revoke(.delegations, of: clients[client]?.session ?? 0)
        questions[index].awaited.remove(access)
      }
    }
    answerQuestions(at: time)
  }
}
