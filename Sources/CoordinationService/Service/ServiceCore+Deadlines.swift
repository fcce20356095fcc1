package import FileAccessArbiter

// The work of a service without any frame. The runner checks when it's time; the arbiter's own timers are effects.

extension ServiceCore {
  /// How long a new service waits for processes to report their accesses.
  package static let graceDuration: Nanoseconds = 1_000_000_000
  /// How often the runner checks meanwhile whether they still live.
  static let sessionInterval: Nanoseconds = 5_000_000
  /// How long a process may take to say hello after it has connected, or to read that it's refused.
  package static let silenceMax: Nanoseconds = 5_000_000_000
  /// How often the runner checks which processes are stopped, while any access waits.
  static let processInterval: Nanoseconds = 500_000_000
  /// How long a request for a snapshot waits for all processes to report the accesses that they granted themselves.
  static let surveyPatience: Nanoseconds = 500_000_000

  /// The checks for the runner to make, and to report; see ``timePassed(at:)``.
  package struct Looks: Sendable {
    /// Sessions that may have ended: `sessionsEnded(_:at:)`.
    package var sessions: Set<UInt64> = []
    /// Processes that others wait for and that may be stopped: `processesAreStopped(_:at:)`, called also when none is.
    package var processes: [ClientID: Int32]?
  }

  /// When ``timePassed(at:)`` is to be called; `nil` if there's nothing to do before a frame comes.
  ///
  /// - Complexity: O(processes that haven't said hello).
  package var nextDeadline: Timestamp? {
    // Without an array: the service asks for it twice for each frame.
    var next: Timestamp?
    func consider(_ time: Timestamp?) { if let time { next = min(next ?? time, time) } }
    for id in hurried { consider(clients[id]?.deadline) }
    consider(grace.map { min($0.end, $0.nextLook) })
    consider(surveyEnd)
    consider(processLook)
    return next
  }

  /// Takes the current time.
  ///
  /// - Returns: The effects, and the checks to make after them.
  package mutating func timePassed(at time: Timestamp) -> (effects: [ServiceEffect], looks: Looks) {
    var looks = Looks()
    if let grace, time >= grace.nextLook || time >= grace.end {
      self.grace?.nextLook = time + Self.sessionInterval
      looks.sessions = grace.expected
      if time >= grace.end { effects += graceIsOver(at: time) }
    }
    if let end = surveyEnd, time >= end { effects += surveysAreLate(at: time) }
    for id in hurried.sorted() where clients[id]?.deadline.map({ time >= $0 }) ?? true {
      hurried.remove(id)
      if clients[id] != nil { effects.append(.drop(id)) }
    }
    if let look = processLook, time >= look {
      processLook = time + Self.processInterval
      looks.processes = processesInTheWay
    }
    return (takeEffects(at: time), looks)
  }

  /// The client is dropped unless it soon sends the expected frames.
  mutating func hurry(_ id: ClientID, at time: Timestamp) {
    clients[id]?.deadline = time + Self.silenceMax
    hurried.insert(id)
  }

  mutating func leaveInPeace(_ id: ClientID) {
    clients[id]?.deadline = nil
    hurried.remove(id)
  }

  /// The effects, and the time of the next check of their results.
  mutating func takeEffects(at time: Timestamp) -> [ServiceEffect] {
    surveyEnd = surveys.isEmpty ? nil : surveyEnd ?? time + Self.surveyPatience
    processLook = isAnybodyWaiting ? processLook ?? time + Self.processInterval : nil
    return exchange(&effects, with: [])
  }
}
