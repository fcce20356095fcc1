internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

/// The process to which an elected process leaves the service, because it may be stopped from its terminal.
///
/// Control-Z in one shell would keep all processes of the domain from being granted anything. So a process that has a controlling
/// terminal serves only while all others have one, too. A process that comes without one gets the service when it has stayed for a
/// while: programs that come and go would cause two changes of the service each.
struct Succession {
  /// How long a process takes part before the service is left to it.
  ///
  /// Twice as long after each time that this process has done so: if it's elected again the others don't stay either, or can't
  /// serve, and two processes must not pass the service to and fro.
  private static let stay = Duration.seconds(2)
  private static let doublingsMax = 10

  /// The inspection of processes.
  struct Sight: Sendable {
    var hasTerminal: @Sendable (Int32) -> Bool? = { ProcessIdentity.hasTerminal($0) }
    var isStopped: @Sendable (Int32) -> Bool = { ProcessIdentity.isStopped($0) }
  }

  private let sight: Sight
  private let stay: Duration
  /// Whether this process has a terminal, and so searches for another one.
  private var isLooking: Bool
  private var processes: [ClientID: Int32] = [:]
  /// When each process that may serve is to be checked.
  private var looks: [ClientID: MonotonicTime] = [:]

  /// - Parameters:
  ///   - handOverCount: How often this process has left the service to others before.
  ///   - sight: The inspection of processes.
  init(handOverCount: Int, _ sight: Sight = Sight()) {
    self.sight = sight
    stay = Self.stay * (1 << min(handOverCount, Self.doublingsMax))
    isLooking = sight.hasTerminal(HostProcess.processIdentifier) == true
  }

  /// A process has connected.
  mutating func connected(_ id: ClientID, _ peer: PeerCredentials, at now: MonotonicTime) {
    guard isLooking, peer.pid > 0, peer.pid != HostProcess.processIdentifier else { return }
    processes[id] = peer.pid
    // The user can't remove files that root makes here.
    if peer.uid == HostUser.effectiveUserID { looks[id] = now.advanced(by: stay) }
  }

  /// A connection has ended.
  mutating func disconnected(_ id: ClientID) {
    if !isLooking { return }
    processes[id] = nil
    looks[id] = nil
  }

  /// When the next process is to be checked; `nil` when there's none.
  var nextLook: MonotonicTime? { looks.values.min() }

  /// Checks the processes that have stayed for long enough.
  ///
  /// - Parameters:
  ///   - now: The time.
  ///   - isQuiet: Whether a change of the service costs nothing, such as the time that is left of a deadline.
  ///   - isMember: Whether a process takes part, and so would be elected.
  /// - Returns: Whether the service is to be left to another process now.
  mutating func isDue(at now: MonotonicTime, isQuiet: Bool, isMember: (ClientID) -> Bool) -> Bool {
    for id in looks.filter({ $0.value <= now }).keys.sorted() {
      guard let pid = processes[id], isMember(id), sight.hasTerminal(pid) == false else {
        looks[id] = nil
        continue
      }
      looks[id] = now.advanced(by: stay)
      if !isQuiet || isAnybodyStopped { continue }
      if sight.hasTerminal(HostProcess.processIdentifier) == true { return true }
      // Its session has lost the terminal meanwhile, or it has left the session.
      isLooking = false
      (processes, looks) = ([:], [:])
      return false
    }
    return false
  }

  /// A stopped process can't report its accesses to the next service in time, and would lose them.
  private var isAnybodyStopped: Bool { processes.values.contains(where: sight.isStopped) }
}
