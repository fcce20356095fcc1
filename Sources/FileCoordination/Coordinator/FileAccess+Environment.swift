internal import FileAccessArbiter
internal import SystemInterface

extension FileAccess {
  /// The environment variables for a child process that belongs to this access: merge them into its environment.
  ///
  /// The accesses of a process with these variables, and of the processes that it starts, are nested in this access, as
  /// if its accessor made them: they don't wait for it, and it counts as waiting for them. That ends with the access: then
  /// accesses of such a process that wait, and all later ones, fail with code
  /// ``FileCoordinationError/Code/outerAccessEnded``, so let the accessor wait for the end of the child. An access that was
  /// granted to a child before lasts until the child ends it.
  ///
  /// If accesses of further domains are around this one, or this process belongs to an access itself, the child belongs to
  /// those as well: to one in each domain. In a domain of one process, such as ``CoordinationDomain/process``, an access has no
  /// children: the variables name only accesses of other domains around it, and there are none if there's no such access.
  ///
  /// Suspends for a round trip to the service in each domain; no thread of the cooperative pool waits meanwhile. Further
  /// calls return the same. Any number of children may have the variables, also at the same time.
  ///
  /// - Returns: The variable `FILE_COORDINATION_ACCESS`, or nothing.
  /// - Throws: ``FileCoordinationError`` with code `.accessEnded`, `.accessLost`, `.domainUnreachable`, or `.limitExceeded`
  ///   if the child would belong to accesses of more than 16 domains.
  /// - Complexity: O(accessors around it), and the round trips. An access that nobody asks costs nothing more.
  /// - Note: Rules C-432…C-435.
  public func environment() async throws(FileCoordinationError) -> [String: String] {
    try checkOngoing()
    let accesses = accessesOfChildren
    if accesses.areKnown { return try accesses.environment().variables }
    return try await Offload.run { () throws(FileCoordinationError) in try accesses.environment().variables }
  }

  /// The environment variables for a child process that belongs to this access, for accessors that aren't asynchronous.
  ///
  /// The twin of the suspending one: blocks the thread for a round trip to the service in each domain of several processes.
  ///
  /// - Returns: The variable `FILE_COORDINATION_ACCESS`, or nothing.
  /// - Throws: ``FileCoordinationError`` with code `.accessEnded`, `.accessLost`, `.domainUnreachable`, or `.limitExceeded`
  ///   if the child would belong to accesses of more than 16 domains.
  /// - Note: Rules C-432…C-435.
  public func environment() throws(FileCoordinationError) -> [String: String] {
    try checkOngoing()
    return try accessesOfChildren.environment().variables
  }
}

/// The accesses of this process that a child process is to belong to, one in each domain of several processes.
struct AccessesOfChildren: Sendable {
  /// The innermost first.
  private var accesses: [(host: ArbiterHost, waiter: AccessWaiter)] = []
  /// Of the process, for the other domains.
  private let inherited: AccessEnvironment

  /// - Parameters:
  ///   - own: The host of the access whose child it is, and the access; absent if it has none with children.
  ///   - nesting: The surroundings of the code that asks.
  init(_ own: (host: ArbiterHost, waiter: AccessWaiter?), in nesting: Nesting) {
    inherited = own.host.inherited.accesses
    if let waiter = own.waiter { accesses.append((own.host, waiter)) }
    for host in nesting.hosts where host !== own.host && !host.decidesAlone {
      if let waiter = host.innermostAccess(around: nesting) { accesses.append((host, waiter)) }
    }
  }

  /// Whether no service has to be asked.
  var areKnown: Bool { accesses.isEmpty }

  /// Blocks until each service knows of the children.
  func environment() throws(FileCoordinationError) -> AccessEnvironment {
    var environment = inherited
    // A process may have several objects for one domain: the innermost access of the domain comes last, and stays.
    for (host, waiter) in accesses.reversed() { try environment.set(host.share(waiter)) }
    return environment
  }
}

extension Nesting {
  /// The hosts of everything around, each once, the innermost first.
  fileprivate var hosts: [ArbiterHost] {
    var hosts: [ArbiterHost] = []
    var nesting = self
    while let element = nesting.element {
      let host: ArbiterHost?
      switch element {
      case .claim(let slot):
        let claim = AdoptableClaim(slot: slot)
        (host, nesting) = (claim.coordinator.host, claim.outer)
      case .lineage(let lineage):
        (host, nesting) = (ArbiterHost.amongProcesses(lineage.hostNumber), lineage.outer)
      }
      if let host, !hosts.contains(where: { $0 === host }) { hosts.append(host) }
    }
    return hosts
  }
}

// MARK: - The host's side

extension ArbiterHost {
  struct WeakReference: Sendable { weak let host: ArbiterHost? }

  /// The hosts of domains of several processes, by their numbers.
  static let hostsAmongProcesses = Guarded<[UInt64: WeakReference]>([:])

  fileprivate static func amongProcesses(_ number: UInt64) -> ArbiterHost? {
    hostsAmongProcesses.withLock { $0[number]?.host }
  }

  /// The access of the domain, to which this process belongs.
  var outerAccess: AccessEnvironment.Entry? { meetingGround.flatMap { inherited.accesses.entry(for: $0) } }

  /// - Throws: An error with code `.invalidAccessEnvironment` if this process may belong to an access of the domain, and nobody
  ///   knows to which.
  func checkInherited() throws(FileCoordinationError) {
    if case .malformed(let error) = inherited, !decidesAlone { throw error }
  }

  /// The innermost access of this domain around some code, which becomes one if it's a claim of the fast tier.
  fileprivate func innermostAccess(around nesting: Nesting) -> AccessWaiter? {
    stepWithState { state, time in
      if let (context, _) = context(of: nesting, task: 0, &state, at: time), case .access(let id) = context {
        return (state.waiters[id], .noEvent)
      }
      return (nil, .noEvent)
    }
  }

  /// Lets child processes belong to an access, and blocks until the service knows.
  fileprivate func share(_ waiter: AccessWaiter) throws(FileCoordinationError) -> AccessEnvironment.Entry {
    let path = waiter.path(of: 0)
    let token = waiter.childToken
    guard let meetingGround else { preconditionFailure("\(waiter.id) is shared in a domain of one process") }
    if try waiter.isLost || !isSo(.sharing(waiter.id, token)) { throw .accessLost(path.description) }
    return AccessEnvironment.Entry(
      domain: meetingGround.name, token: token, process: identity.processIdentifier,
      isWrite: waiter.items.contains { $0.access.isWrite },
      path: Array(path.bytes.prefix(AccessEnvironment.pathByteCountMax)))
  }
}
