internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Runs the service of a domain on a thread of its own: feeds its value the frames of connections, carries out its
/// decisions.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `stopping` | itself | any thread may stop the service |
/// | `gaveWayAt` | itself | the process asks before it stands for election again |
/// | `handOverCount` | itself | the process's next service receives it |
/// | all else, in ``ServiceLoop`` | nothing: only the service's thread uses it |
final class ServiceHost: Sendable {
  private let stopping = ThreadEvent()
  /// When it gave way to another process; zero if it didn't.
  private let gaveWayAt = Atomic<Int64>(0)
  /// How often this service and the earlier ones of the process gave way.
  private let handOverCount: Atomic<Int>
  /// How long the process leaves it to others to be elected after that.
  private static let courtesy = Duration.seconds(1)
  /// Why it has given way, until that has been reported.
  private let shortage = Guarded<SystemError?>(nil)
  private let poller: ReadinessPoller
  private let clock: DomainClock
  private let ended = ThreadEvent()

  private init(_ poller: ReadinessPoller, handOverCount: Int, clock: DomainClock) {
    self.poller = poller
    self.clock = clock
    self.handOverCount = Atomic(handOverCount)
  }

  /// The values with which a service is started.
  struct Setting: Sendable {
    /// Where the domain's processes meet.
    let ground: MeetingGround
    /// The packages of the domain.
    let packageExtensions: [String]
    /// Of the domain: deadlines of all its processes are kept by it.
    let clock: DomainClock
    /// Whether the process only serves.
    var isDedicated = false
    /// Whether another program, such as a service manager, has made the socket.
    var hasInheritedSocket = false
    /// Listens at a place.
    var listen: @Sendable (ServingRight) throws(SystemError) -> LocalListener = { right throws(SystemError) in
      try LocalListener(binding: right.place.address)
    }
  }

  /// Serves from now on.
  ///
  /// - Parameters:
  ///   - right: The right to serve, kept until the service stops; given up when this throws.
  ///   - setting: The values with which it's started.
  ///   - former: The last service of the process.
  /// - Returns: The running service.
  /// - Throws: `SystemError` when no process can connect there.
  static func start(
    _ right: ServingRight, _ setting: Setting, after former: ServiceHost? = nil
  ) throws(SystemError) -> ServiceHost {
    do throws(SystemError) {
      let handOverCount = former?.handOverCount.load(ordering: .acquiring) ?? 0
      let host = ServiceHost(try ReadinessPoller(), handOverCount: handOverCount, clock: setting.clock)
      try host.begin(right, setting)
      return host
    } catch {
      right.release()
      throw error
    }
  }

  private func begin(_ right: ServingRight, _ setting: Setting) throws(SystemError) {
    let (core, listener) = try prepare(right, setting, carrying: [])
    let handOverCount = handOverCount.load(ordering: .acquiring)
    let code = HostThread.tryStart(name: "coord-service") {
      self.run(
        ServiceLoop(
          core, right, listener, self.poller, isDedicated: setting.isDedicated, handOverCount: handOverCount,
          clock: self.clock), right, setting)
    }
    if code == 0 { return }
    poller.remove(listener)
    listener.close(removingName: true)
    throw .noThread(errno: code)
  }

  /// - Parameters:
  ///   - right: The right to serve.
  ///   - setting: The values with which it's started.
  ///   - carried: The sessions that an earlier service of this process served until its names were removed.
  /// - Returns: The state of a service, and where it listens.
  /// - Throws: `SystemError` when no process can connect there.
  private func prepare(
    _ right: ServingRight, _ setting: Setting, carrying carried: Set<UInt64>
  ) throws(SystemError) -> (ServiceCore, LocalListener) {
    // Grows from service to service, also if somebody has removed the file: tokens of an earlier one stay the smaller ones.
    let epoch = try right.nextEpoch(atLeast: clock.timeOfDay())
    // Before any process can connect: each process that has connected already has a session.
    let sessions = try right.liveSessions()
    let core = ServiceCore(
      epoch: epoch, processIdentifier: HostProcess.processIdentifier, packageExtensions: setting.packageExtensions,
      expecting: sessions.union(carried), at: clock.now.nanoseconds)
    let listener = try setting.listen(right)
    try poller.add(listener, token: ServiceLoop.listenerToken, awaiting: .readable)
    return (core, listener)
  }

  /// The state of a service that goes on at new places, and where it listens; `nil` if others serve by now, or nothing can be made there.
  private func renew(
    _ right: inout ServingRight, _ setting: Setting, carrying sessions: Set<UInt64>
  ) -> (ServiceCore, LocalListener)? {
    for _ in 0..<Self.renewalCountMax {
      guard let renewed = right.renewed(at: setting.ground, pause: pauseForOthers) else { return nil }
      right = renewed
      if let next = try? prepare(right, setting, carrying: sessions) { return next }
      if !pauseForOthers() { return nil }
    }
    return nil
  }

  /// Waits a millisecond, by the machine's clock: the domain's may stand still, and other processes don't know it.
  ///
  /// - Returns: Whether the service goes on: it isn't to stop.
  private func pauseForOthers() -> Bool {
    !stopping.wait(until: HostClock.shared.now.advanced(by: .milliseconds(1)))
  }

  /// How often the service tries to go on at new places in a row: somebody may be removing those, too.
  private static let renewalCountMax = 50

  /// On the service's thread.
  private func run(_ first: ServiceLoop, _ firstRight: ServingRight, _ setting: Setting) {
    var (loop, right) = (first, firstRight)
    // How often in a row no process came before the places were gone again.
    var vainCount = 0
    while true {
      loop.run(until: { stopping.isSignaled })
      let sessions = loop.sessions
      vainCount = loop.hasConnections ? 0 : vainCount + 1
      let mayGoOn =
        loop.isDisplaced && !setting.hasInheritedSocket && !sessions.isEmpty && vainCount < Self.renewalCountMax
      // No other process is elected before this one has ended the connections.
      if mayGoOn, let renewed = right.renewed(at: setting.ground, pause: pauseForOthers) { right = renewed }
      loop.close()
      guard mayGoOn, let (core, listener) = renew(&right, setting, carrying: sessions) else { break }
      loop = ServiceLoop(
        core, right, listener, poller, isDedicated: setting.isDedicated,
        handOverCount: handOverCount.load(ordering: .acquiring), carriedSessions: sessions, clock: clock)
    }
    if loop.isHandedOver {
      shortage.withLock { $0 = loop.shortage }
      handOverCount.add(1, ordering: .releasing)
      gaveWayAt.store(clock.now.nanoseconds, ordering: .releasing)
    }
    // The next service may be elected only when this one grants nothing any more.
    right.release()
    ended.signal()
  }

  /// Waits until the service has ended, by itself or because it was stopped.
  func waitUntilEnd() { ended.wait() }

  /// Ends the service: connections break, and the processes elect another one.
  func stop() {
    stopping.signal()
    poller.wake()
    ended.wait()
  }

  /// The resource that this process ran out of when it served last; returned once.
  ///
  /// It gave way to others then. When it's about to be elected again, no other process was.
  func takeShortage() -> SystemError? { shortage.withLock { exchange(&$0, with: nil) } }

  /// Whether this process has given way a moment ago, so that it isn't elected again before the other is.
  var hasJustGivenWay: Bool {
    let time = gaveWayAt.load(ordering: .acquiring)
    return time > 0 && MonotonicTime(nanoseconds: time).duration(to: clock.now) < Self.courtesy
  }
}
