internal import CoordinationService
internal import FileAccessArbiter
internal import FoundationEssentials
internal import Synchronization
internal import SystemInterface

/// Runs the service of a domain on a thread of its own: feeds its value what connections tell, carries out what it decides.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `isStopping` | itself | any thread may stop the service |
/// | `gaveWayAt` | itself | the process asks before it stands for election again |
/// | all else, in ``ServiceLoop`` | nobody: only the service's thread knows it |
final class ServiceHost: Sendable {
  private let isStopping = Atomic<Bool>(false)
  /// When it gave way to a program that does nothing else; zero if it didn't.
  private let gaveWayAt = Atomic<Int64>(0)
  /// How long the process leaves it to others to be elected after that.
  private static let courtesy = Duration.seconds(1)
  private let poller: ReadinessPoller
  private let ended = ThreadEvent()

  private init(_ poller: ReadinessPoller) { self.poller = poller }

  /// Serves from now on.
  ///
  /// - Parameters:
  ///   - right: The right to serve, kept until the service stops; given up when this throws.
  ///   - packageExtensions: What the domain treats as packages.
  /// - Returns: The running service.
  /// - Throws: `SystemError` when nobody can connect there.
  static func start(_ right: ServingRight, packageExtensions: [String]) throws(SystemError) -> ServiceHost {
    try start(right, packageExtensions: packageExtensions, isDedicated: false) { () throws(SystemError) in
      try LocalListener(binding: right.place.address)
    }
  }

  /// Serves on a socket that somebody else may have made, such as a service manager.
  static func start(
    _ right: ServingRight, packageExtensions: [String], isDedicated: Bool,
    listening makeListener: () throws(SystemError) -> LocalListener
  ) throws(SystemError) -> ServiceHost {
    do throws(SystemError) {
      return try begin(right, packageExtensions, isDedicated: isDedicated, makeListener)
    } catch {
      right.release()
      throw error
    }
  }

  private static func begin(
    _ right: ServingRight, _ packageExtensions: [String], isDedicated: Bool,
    _ makeListener: () throws(SystemError) -> LocalListener
  ) throws(SystemError) -> ServiceHost {
    // Grows from service to service, also if somebody has removed the file: tokens of an earlier one stay the smaller ones.
    let epoch = try right.nextEpoch(atLeast: UInt64(max(Date.now.timeIntervalSince1970, 0) * 1000))
    // Before anybody can connect: whoever has connected already has a session.
    let sessions = try right.liveSessions()
    let core = ServiceCore(
      epoch: epoch, processIdentifier: HostProcess.processIdentifier, packageExtensions: packageExtensions,
      expecting: sessions)
    let poller = try ReadinessPoller()
    let listener = try makeListener()
    let host = ServiceHost(poller)
    try poller.add(listener, token: ServiceLoop.listenerToken, interest: .readable)
    let code = HostThread.tryStart(name: "coord-service") {
      var loop = ServiceLoop(core, right, listener, poller, isDedicated: isDedicated)
      loop.run(until: { host.isStopping.load(ordering: .acquiring) })
      if loop.isHandedOver { host.gaveWayAt.store(HostClock.shared.now.nanoseconds, ordering: .releasing) }
      // The next service may be elected only when nobody is granted anything here any more.
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

  /// Whether this process has given way a moment ago, so that it isn't elected again before the other is.
  var hasJustGivenWay: Bool {
    let time = gaveWayAt.load(ordering: .acquiring)
    return time > 0 && MonotonicTime(nanoseconds: time).duration(to: HostClock.shared.now) < Self.courtesy
  }
}
