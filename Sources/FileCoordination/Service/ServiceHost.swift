internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// Runs the service of a domain on a thread of its own: feeds its value the frames of connections, carries out its
/// decisions.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `isStopping` | itself | any thread may stop the service |
/// | `gaveWayAt` | itself | the process asks before it stands for election again |
/// | `handOverCount` | itself | the process's next service receives it |
/// | all else, in ``ServiceLoop`` | nothing: only the service's thread uses it |
final class ServiceHost: Sendable {
  private let isStopping = Atomic<Bool>(false)
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

  /// Serves from now on.
  ///
  /// - Parameters:
  ///   - right: The right to serve, kept until the service stops; given up when this throws.
  ///   - packageExtensions: The packages of the domain.
  ///   - former: The last service of the process.
  ///   - clock: Of the domain: deadlines of all its processes are kept by it.
  /// - Returns: The running service.
  /// - Throws: `SystemError` when no process can connect there.
  static func start(
    _ right: ServingRight, packageExtensions: [String], after former: ServiceHost?, clock: DomainClock
  ) throws(SystemError) -> ServiceHost {
    let count = former?.handOverCount.load(ordering: .acquiring) ?? 0
    return try start(
      right, packageExtensions: packageExtensions, isDedicated: false, handOverCount: count, clock: clock
    ) { () throws(SystemError) in
      try LocalListener(binding: right.place.address)
    }
  }

  /// Serves on a socket that another program may have made, such as a service manager.
  static func start(
    _ right: ServingRight, packageExtensions: [String], isDedicated: Bool, handOverCount: Int = 0, clock: DomainClock,
    listening makeListener: () throws(SystemError) -> LocalListener
  ) throws(SystemError) -> ServiceHost {
    do throws(SystemError) {
      return try begin(right, packageExtensions, isDedicated: isDedicated, handOverCount, clock, makeListener)
    } catch {
      right.release()
      throw error
    }
  }

  private static func begin(
    _ right: ServingRight, _ packageExtensions: [String], isDedicated: Bool, _ handOverCount: Int,
    _ clock: DomainClock, _ makeListener: () throws(SystemError) -> LocalListener
  ) throws(SystemError) -> ServiceHost {
    // Grows from service to service, also if somebody has removed the file: tokens of an earlier one stay the smaller ones.
    let epoch = try right.nextEpoch(atLeast: clock.timeOfDay())
    // Before anybody can connect: whoever has connected already has a session.
    let sessions = try right.liveSessions()
    let core = ServiceCore(
      epoch: epoch, processIdentifier: HostProcess.processIdentifier, packageExtensions: packageExtensions,
      expecting: sessions, at: clock.now.nanoseconds)
    let poller = try ReadinessPoller()
    let listener = try makeListener()
    let host = ServiceHost(poller, handOverCount: handOverCount, clock: clock)
    try poller.add(listener, token: ServiceLoop.listenerToken, awaiting: .readable)
    let code = HostThread.tryStart(name: "coord-service") {
      var loop = ServiceLoop(
        core, right, listener, poller, isDedicated: isDedicated, handOverCount: handOverCount, clock: clock)
      loop.run(until: { host.isStopping.load(ordering: .acquiring) })
      if loop.isHandedOver {
        host.shortage.withLock { $0 = loop.shortage }
        host.handOverCount.add(1, ordering: .releasing)
        host.gaveWayAt.store(clock.now.nanoseconds, ordering: .releasing)
      }
      // The next service may be elected only when this one grants nothing any more.
      right.release()
      host.ended.signal()
    }
    if code == 0 { return host }
    poller.remove(listener)
    listener.close(removingName: true)
    throw .noThread(errno: code)
  }

  /// Waits until the service has ended, by itself or because it was stopped.
  func waitUntilEnd() { ended.wait() }

  /// Ends the service: connections break, and the processes elect another one.
  func stop() {
    isStopping.store(true, ordering: .releasing)
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
