package import FileAccessArbiter

// What a service does although nobody tells it anything. The runner looks when it's time; the arbiter's own timers are effects.

extension ServiceCore {
  /// How long a new service waits for processes to tell what they hold.
  package static let graceDuration: Nanoseconds = 1_000_000_000
  /// How often the runner looks meanwhile whether they still live.
  static let sessionInterval: Nanoseconds = 5_000_000
  /// How long a process may take to say hello after it has connected, or to read that it's refused.
  package static let silenceMax: Nanoseconds = 5_000_000_000
  /// How often the runner looks which processes are stopped, while somebody waits.
  static let processInterval: Nanoseconds = 500_000_000
  /// How long those who ask for a snapshot wait for all processes to tell what they granted themselves.
  static let surveyPatience: Nanoseconds = 500_000_000

  /// What the runner is to look at, and tell; see ``timePassed(at:)``.
  package struct Looks: Sendable {
    /// Sessions that may have ended: `sessionsEnded(_:at:)`.
    package var sessions: Set<UInt64> = []
    /// Processes that others wait for and that may be stopped: `processesAreStopped(_:at:)`, told also when none is.
    package var processes: [ClientID: Int32]?
  }

  /// When ``timePassed(at:)`` is to be told; `nil` if there's nothing to do before somebody tells something.
  ///
  /// - Complexity: O(processes that haven't said hello).
  package var nextDeadline: Timestamp? {
    var times = hurried.compactMap { clients[$0]?.deadline }
    if let grace { times.append(min(grace.end, grace.nextLook)) }
    if let surveyEnd { times.append(surveyEnd) }
    if let processLook { times.append(processLook) }
    return times.min()
  }

  /// It's so late now.
  ///
  /// - Returns: What to do, and what to look at after that.
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

  /// It's dropped unless it does soon what it's waited for.
  mutating func hurry(_ id: ClientID, at time: Timestamp) {
    clients[id]?.deadline = time + Self.silenceMax
    hurried.insert(id)
  }

  mutating func leaveInPeace(_ id: ClientID) {
    clients[id]?.deadline = nil
    hurried.remove(id)
  }

  /// What was done, and when to look next at what came of it.
  mutating func takeEffects(at time: Timestamp) -> [ServiceEffect] {
    surveyEnd = surveys.isEmpty ? nil : surveyEnd ?? time + Self.surveyPatience
    processLook = isAnybodyWaiting ? processLook ?? time + Self.processInterval : nil
    return exchange(&effects, with: [])
  }
}
