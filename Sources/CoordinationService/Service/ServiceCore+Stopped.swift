package import FileAccessArbiter

// Processes that live and don't run: stopped by a signal, a terminal or a debugger.

extension ServiceCore {
  /// How long a presenter that registers, or an item that moves, waits for the delegations of a stopped process.
  ///
  /// No access is granted by that, so there's no caller's limit to keep to.
  static let toleranceOfQuestions: Nanoseconds = 5_000_000_000

  /// Whether any party waits, so that checking the processes from time to time is worth it.
  package var isAnybodyWaiting: Bool { arbiter.waitingCount > 0 || questions.contains { !$0.awaited.isEmpty } }

  /// The processes that others wait for, and their numbers in the kernel.
  package var processesInTheWay: [ClientID: Int32] {
    var ids = arbiter.clientsInTheWay
    for question in questions { ids.formUnion(question.awaited.compactMap { delegations[$0]?.client }) }
    var processes: [ClientID: Int32] = [:]
    for id in ids { processes[id] = clients[id]?.processIdentifier }
    return processes
  }

  /// Which processes are stopped; all others run.
  ///
  /// All their earlier frames have been received. Called again and again while ``isAnybodyWaiting``.
  ///
  /// - Parameters:
  ///   - stopped: The processes, among those that others wait for.
  ///   - time: When they were checked.
  /// - Returns: The effects.
  package mutating func processesAreStopped(_ stopped: Set<ClientID>, at time: Timestamp) -> [ServiceEffect] {
    stoppedSince = stoppedSince.filter { stopped.contains($0.key) }
    for id in stopped where stoppedSince[id] == nil { stoppedSince[id] = time }
    carryOut(arbiter.clientsAreStopped(stopped, at: time), at: time)
    for id in arbiter.clientsHoldingForTooLong(at: time).sorted() { expel(id, at: time) }
    answerWithoutStopped(at: time)
    showObservers(at: time)
    return takeEffects(at: time)
  }

  /// The items that the process holds are free from now on, as if it had ended.
  ///
  /// When it runs again it connects anew, reports its accesses, and is notified of the lost ones.
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

  /// A presenter may register where a stopped process has a delegation: every access that the process has granted
  /// itself it granted before, and it grants itself nothing more before it has read the recall.
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
