internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// The processes of a domain, and the one that serves them.

/// A process that takes part in a domain.
public struct CoordinationProcess: Hashable, Sendable {
  /// Its number in the kernel.
  public let processIdentifier: Int32
  /// The name of its program.
  public let name: String
  /// Whether it serves the others.
  public let isService: Bool
  /// Directories and files about which it decides alone for now, because nobody else uses them.
  public let delegatedPaths: [String]
}

extension CoordinationDomain {
  /// The processes that take part right now, in the order in which they connected; only this one in a domain of one process.
  ///
  /// A process that serves and takes part itself is there once; one that only serves isn't there.
  ///
  /// - Returns: The processes.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`.
  public func processes() throws(FileCoordinationError) -> [CoordinationProcess] {
    try host.domainSnapshot().processes.map {
      CoordinationProcess(
        processIdentifier: $0.processIdentifier, name: $0.name, isService: $0.isService,
        delegatedPaths: $0.delegations.map(\.description))
    }
  }

  /// Where the processes of the domain meet: the path of a socket; `nil` in a domain of one process.
  ///
  /// - Returns: The path.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable` when there can't be such a place.
  public func meetingPath() throws(FileCoordinationError) -> String? {
    guard let ground = host.meetingGround else { return nil }
    let places = try ground.places()
    if places.count == 1 { return places[0].address.path.description }
    // The place at which a process listens.
    guard case .served(let place, _) = try ground.connect() else { return places[0].address.path.description }
    return place.address.path.description
  }
}

// MARK: - Serving

/// A service of a domain that runs in this process until it's stopped: for a program that does nothing else.
///
/// No domain needs one: processes elect one among themselves. A program that lives longer than they do saves them the
/// elections.
public final class CoordinationServer: Sendable {
  private let service: ServiceHost

  init(_ service: ServiceHost) { self.service = service }

  deinit { service.stop() }

  /// Waits until the service has ended, on the calling thread.
  ///
  /// It ends when it's stopped, or by itself when its lock or its socket, by which others find it, is removed and it can't make
  /// it again, or serves nobody: then call ``CoordinationDomain/serve()`` again.
  public func waitUntilEnd() { service.waitUntilEnd() }

  /// Ends the service; the processes elect another one and report their accesses and presenters to it.
  public func stop() { service.stop() }
}

extension CoordinationDomain {
  /// Serves the domain from now on, in the place of a process that was elected.
  ///
  /// Blocks while another dedicated service runs. Uses a listening socket that a service manager has passed, if there is one
  /// (`LISTEN_FDS`, see sd_listen_fds(3)); it has to be at the ``meetingPath()``.
  ///
  /// - Returns: The service, which ends when it's stopped or deallocated; `nil` in a domain of one process, which needs none.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable` when no process can connect to the place.
  public func serve() throws(FileCoordinationError) -> CoordinationServer? {
    guard let ground = host.meetingGround else { return nil }
    let inherited = ActivationSockets.descriptors().first
    ActivationSockets.removeVariables()
    let right = try ground.waitToServe(
      packageExtensions: configuration.agreement.sorted(), inherited: inherited != nil, by: host.clock)
    do throws(SystemError) {
      var setting = ServiceHost.Setting(
        ground: ground, packageExtensions: configuration.agreement.sorted(), clock: host.clock, isDedicated: true)
      if let inherited {
        setting.hasInheritedSocket = true
        setting.listen = { right throws(SystemError) in
          let listener = try LocalListener(inherited: inherited)
          try listener.check(isAtOneOf: right.places.map(\.address))
          return listener
        }
      }
      return CoordinationServer(try ServiceHost.start(right, setting))
    } catch { throw .unreachable(right.place, error) }
  }
}

extension MeetingGround {
  /// How soon a process that was elected is asked to give way: others may be elected before this one gets the locks.
  private static let askInterval = Duration.milliseconds(50)
  /// How soon one that stays is asked again: it may be a service of its own, which stays, or be stopped.
  private static let askIntervalMax = Duration.seconds(1)
  /// How soon the locks are tried again after the serving process was asked.
  private static let lookInterval = Duration.milliseconds(2)

  /// Takes the right to serve, asking a process that was elected to give way.
  ///
  /// The locks are tried again and again, because the kernel has no event for it. flock(2) can only block for one lock,
  /// there may be several, and a blocked process can be overtaken by each process that polls. The end of a connection
  /// to the serving process says too little: with a socket that a service manager passed, connections lead here; and a
  /// process that said hello only to wait would take part, and prevent delegations to others. So the polls become
  /// rarer: behind a service that stays there are some twenty a second.
  fileprivate func waitToServe(
    packageExtensions: [String], inherited isInherited: Bool, by clock: DomainClock
  ) throws(FileCoordinationError) -> ServingRight {
    var nextAsk = clock.now
    var askPause = Self.askInterval, lookPause = Self.lookInterval
    var asked: Int32?
    // The time since when no process serves, as the locks show.
    var freeSince: MonotonicTime?
    while true {
      freeSince = isUsualPlaceFree ? freeSince ?? clock.now : nil
      if let since = freeSince {
        let isPatient = since.duration(to: clock.now) < Self.timeToNotice
        if let right = try tryToServe(displacing: !isPatient) { return right }
      }
      // With an inherited socket every process that connects there reaches this process.
      if !isInherited, clock.now >= nextAsk {
        let process = askToServe(packageExtensions)
        askPause = process == asked && process != nil ? min(askPause * 2, Self.askIntervalMax) : Self.askInterval
        if process != asked { lookPause = Self.lookInterval }
        asked = process
        nextAsk = clock.now.advanced(by: askPause)
      }
      clock.wait(until: clock.now.advanced(by: lookPause))
      lookPause = min(lookPause * 2, Self.askInterval)
    }
  }

  /// - Returns: The serving process that was asked; `nil` if none could be asked.
  private func askToServe(_ packageExtensions: [String]) -> Int32? {
    guard case .served(_, let stream) = try? connect() else { return nil }
    let hello = Hello(
      session: .random(in: 1 ... .max), processIdentifier: HostProcess.processIdentifier,
      processStartTime: ProcessIdentity.current.startTime, processName: HostProcess.name.fitting(255),
      packageExtensions: packageExtensions, previousEpoch: 0)
    var bytes: [UInt8] = []
    ServiceLink.append(.hello(hello), to: &bytes)
    ServiceLink.append(.serviceWanted, to: &bytes)
    _ = try? unsafe stream.write(bytes.span.bytes)
    return try? stream.peer().pid
  }
}
