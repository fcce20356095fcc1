internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

/// The service's value and its connections, on one thread.
struct ServiceLoop {
  /// How many bytes one connection may send before others get their turn.
  private static let bytesPerTurn = 256 << 10
  /// How much may wait for a process that doesn't read before it's dropped.
  private static let outboxByteCountMax = 64 << 20
  /// How much may wait for a process that doesn't read before nothing more is taken from it: the answers to its own
  /// requests.
  private static let unreadByteCountMax = 1 << 20
  /// How long the first frame of a connection may be; with its name and the packages it has some hundred bytes.
  private static let helloByteCountMax = 1 << 17
  /// How long no connection is accepted after there was no descriptor for one.
  private static let acceptPause = Duration.milliseconds(100)
  static let listenerToken: UInt64 = 0
  private static let past = MonotonicTime(nanoseconds: 0)

  private var core: ServiceCore
  private let clock: DomainClock
  private let right: ServingRight
  private let listener: LocalListener
  private let names: ServiceNames
  private let poller: ReadinessPoller
  /// Keeps two descriptors, for when there are no others.
  private var spare: ReadinessPoller?
  private var connections: [ClientID: ServiceConnection] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var numbers = ClientNumbers()
  private var watchfulness = Watchfulness()
  /// Connections to which something has been sent in this turn.
  private var dirty: Set<ClientID> = []
  private var timers = TimerQueue()
  /// When the next connection is accepted, if not at once.
  private var acceptsAgainAt: MonotonicTime?
  /// Whether the process only serves, and so is preferred.
  private let isDedicated: Bool
  private(set) var isHandedOver = false
  /// The resource that the process ran out of, if that's the reason.
  private(set) var shortage: SystemError?
  /// The process to which the service is left unasked; `nil` if the process only serves.
  private var succession: Succession?
  /// A step that must come before further grants has failed: nothing more is sent to any process.
  private var isBroken = false
  /// Whether the names are gone by which others find the service, so that it goes on, if it may, under new ones.
  private(set) var isDisplaced = false
  /// Of processes that an earlier service of this process served when its names were removed, with the files of these sessions.
  private let carriedSessions: Set<UInt64>
  /// Of processes whose connections have ended; their files go when the processes have.
  private var endedSessions: Set<UInt64> = []

  init(
    _ core: ServiceCore, _ right: ServingRight, _ listener: LocalListener, _ poller: ReadinessPoller, isDedicated: Bool,
    handOverCount: Int, carriedSessions: Set<UInt64> = [], clock: DomainClock
  ) {
    self.clock = clock
    self.carriedSessions = carriedSessions
    self.isDedicated = isDedicated
    succession = isDedicated ? nil : Succession(handOverCount: handOverCount)
    self.core = core
    self.right = right
    self.listener = listener
    self.poller = poller
    spare = try? ReadinessPoller()
    names = ServiceNames(right, listener, poller)
  }

  /// Serves until it's stopped, hands over, or can't go on.
  ///
  /// Call ``close()`` then.
  mutating func run(until isStopping: () -> Bool) {
    var events: [ReadinessPoller.Event] = []
    // The removal of a name before it was watched is reported by no event.
    checkNames()
    while !isStopping(), !isHandedOver, !isBroken {
      // A poller that can't wait any more is of no use: the next process that needs a service elects another one.
      guard (try? wait(into: &events)) != nil else { break }
      for event in events {
        switch event.token {
        case Self.listenerToken: accept()
        case ServiceNames.token: checkNames()
        default: serve(ClientID(event.token), event)
        }
      }
      lookAtClock()
      flush()
    }
  }

  /// Another service may have been elected when a name is gone: from there on only that one grants anything.
  private mutating func checkNames() {
    if isBroken || names.areKept() { return }
    (isBroken, isDisplaced) = (true, true)
  }

  /// Whether any process is connected.
  var hasConnections: Bool { !connections.isEmpty }

  /// The sessions that it serves, and those that it expects.
  var sessions: Set<UInt64> { core.awaitedSessions.union(connections.keys.compactMap { core.session(of: $0) }) }

  private mutating func wait(into events: inout [ReadinessPoller.Event]) throws(SystemError) {
    let (poller, deadline, clock) = (poller, nextLook, clock)
    var found: [ReadinessPoller.Event] = exchange(&events, with: [])
    _ = try watchfulness.await(by: clock) { () throws(SystemError) -> Bool? in
      try poller.wait(into: &found, until: Self.past) ? true : nil
    } orSleep: { () throws(SystemError) -> Bool in
      try clock.waiting(until: deadline, wake: { poller.wake() }) { (deadline) throws(SystemError) in
        try poller.wait(into: &found, until: deadline)
      }
    }
    events = found
  }

  /// Takes in the frames that have arrived already, and sends the answers, so that no frame sent in time is lost.
  private mutating func drain() {
    for id in connections.keys.sorted() { read(id, toEnd: true) }
    flush()
  }

  /// Ends the connections; the processes search for the next service.
  mutating func close() {
    drain()
    names.stopWatching(poller)
    listener.close(removingName: true)
    for connection in connections.values { connection.stream.shutdown() }
    connections = [:]
  }
}

// MARK: - Connections

extension ServiceLoop {
  private mutating func accept() {
    while true {
      do throws(SystemError) {
        guard let stream = try listener.accept() else { return }
        try add(stream)
      } catch {
        // Out of descriptors: a process that was elected leaves it to another one, which has some. A process that only
        // serves goes on serving the connected ones; others wait until one of them goes.
        if !isDedicated, error.number == .tooManyOpenFiles {
          isHandedOver = true
          shortage = error
        }
        poller.remove(listener)
        acceptsAgainAt = clock.now.advanced(by: Self.acceptPause)
        return
      }
    }
  }

  private mutating func acceptAgain() {
    if (try? poller.add(listener, token: Self.listenerToken, awaiting: .readable)) == nil {
      acceptsAgainAt = clock.now.advanced(by: Self.acceptPause)
    } else {
      acceptsAgainAt = nil
    }
  }

  private mutating func add(_ stream: LocalStream) throws(SystemError) {
    let peer = try stream.peer()
    let id = numbers.next { connections[$0] != nil || !core.mayConnect($0) }
    try poller.add(stream, token: id.rawValue, awaiting: .readable)
    connections[id] = ServiceConnection(stream)
    let now = clock.now
    succession?.connected(id, peer, at: now)
    // The program that was elected needs descriptors as well.
    core.clientCountMax = min(ServiceCore.clientCountLimit, HostProcess.descriptorCountMax / 2)
    if !endedSessions.isEmpty { removeEndedSessions() }
    carryOut(
      core.clientConnected(
        id, processIdentifier: peer.pid, isSameUser: peer.uid == HostUser.effectiveUserID || peer.uid == 0,
        at: now.nanoseconds))
  }

  private mutating func serve(_ id: ClientID, _ event: ReadinessPoller.Event) {
    if connections[id] == nil { return }
    if event.isWritable { dirty.insert(id) }
    if event.isReadable || event.isHangUp { read(id) }
  }

  private mutating func read(_ id: ClientID, toEnd readsToEnd: Bool = false) {
    guard let connection = connections[id] else { return }
    var rest = Self.bytesPerTurn
    while rest > 0, takesMore(from: id) {
      switch fill(from: connection.stream) {
      case .wouldBlock: return
      case .end:
        // The bytes before the end have been taken in.
        return drop(id)
      case .bytes(let count):
        rest -= count
        unsafe connection.decoder.append(buffer.span.extracting(first: count).bytes)
        take(from: id, connection)
        // If there's more, the poller reports it.
        if count < buffer.count, !readsToEnd { return }
      }
    }
  }

  private mutating func fill(from stream: LocalStream) -> LocalStream.ReadResult {
    unsafe buffer.withUnsafeMutableBytes { (try? unsafe stream.read(into: $0)) ?? .end }
  }

  /// Takes in the frames that are complete, unless so much waits for the process that it has to read first.
  private mutating func take(from id: ClientID, _ connection: ServiceConnection) {
    let time = clock.now.nanoseconds
    while takesMore(from: id) {
      do throws(WireError) {
        guard let frame = try connection.decoder.next() else { break }
        carryOut(core.received(frame, from: id, at: time))
      } catch {
        carryOut(core.receivedGarbage(from: id, "\(error)", at: time))
      }
    }
    if connection.isClosing || connection.decoder.pendingByteCount <= Self.helloByteCountMax { return }
    if core.session(of: id) == nil {
      let reason = "its hello has more than \(Self.helloByteCountMax) bytes"
      carryOut(core.receivedGarbage(from: id, reason, at: time))
    }
  }

  /// The kernel may close a dying process's connection before it releases the lock of its session: then the file goes when
  /// the next connection ends or begins.
  private mutating func removeEndedSessions() {
    endedSessions = endedSessions.filter { right.isAlive($0) }
  }

  private mutating func disconnect(_ id: ClientID) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    succession?.disconnected(id)
    poller.remove(connection.stream)
    connection.stream.close()
  }

  /// A connection has ended.
  private mutating func drop(_ id: ClientID) {
    if connections[id] == nil { return }
    disconnect(id)
    if let session = core.session(of: id) { endedSessions.insert(session) }
    carryOut(core.clientDisconnected(id, at: clock.now.nanoseconds))
    removeEndedSessions()
    if acceptsAgainAt != nil { acceptAgain() }
  }
}

// MARK: - Effects

extension ServiceLoop {
  private mutating func carryOut(_ effects: [ServiceEffect]) {
    for effect in effects {
      switch effect {
      case .send(let frame, let client): send(frame, to: client)
      case .disconnect(let client):
        connections[client]?.isClosing = true
        dirty.insert(client)
      case .drop(let client): drop(client)
      case .armTimer(let timer, let interval):
        timers.arm(timer, at: clock.now.advanced(by: .nanoseconds(interval)))
      case .cancelTimer(let timer): timers.cancel(timer)
      case .revoke(let revocation, let session):
        revoke(revocation, of: session)
      case .expel(let client):
        disconnect(client)
        if acceptsAgainAt != nil { acceptAgain() }
      case .handOver: isHandedOver = !isDedicated
      }
    }
  }

  /// Nothing may be granted that another process takes for its own: better there's no service for a moment.
  private mutating func revoke(_ revocation: Revocation, of session: UInt64) {
    if session == 0 || right.revoke(revocation, of: session) { return }
    // The program that was elected may be out of descriptors.
    spare = nil
    if !right.revoke(revocation, of: session) { isBroken = true }
    spare = try? ReadinessPoller()
  }

  private mutating func send(_ frame: ServerFrame, to client: ClientID) {
    guard let connection = connections[client] else { return }
    do throws(WireError) {
      try connection.append(frame)
    } catch {
      // A domain of a hundred thousand parties can't be shown, and the asking process isn't at fault.
      if case .observed = frame { return }
      guard let substitute = frame.substituteIfTooLong, (try? connection.append(substitute)) != nil else {
        let reason = "a message to it is too long: \(error)"
        return carryOut(core.receivedGarbage(from: client, reason, at: clock.now.nanoseconds))
      }
    }
    dirty.insert(client)
  }

  private mutating func flush() {
    while let id = dirty.popFirst() {
      guard !isBroken, let connection = connections[id] else { continue }
      let isDone = connection.write()
      if isDone, connection.isClosing {
        drop(id)
      } else if connection.unreadCount > Self.outboxByteCountMax {
        // It doesn't read: others mustn't pay for it with their memory.
        drop(id)
      } else {
        // The rest in its buffer has no event of its own.
        if isDone, connection.decoder.pendingByteCount > 0 { take(from: id, connection) }
        watch(id)
      }
    }
  }

  private mutating func watch(_ id: ClientID) {
    guard let connection = connections[id] else { return }
    let awaited = Self.awaited(in: connection)
    if connection.awaited == awaited { return }
    connection.awaited = awaited
    try? poller.modify(connection.stream, token: id.rawValue, awaiting: awaited)
  }

  private func takesMore(from id: ClientID) -> Bool {
    connections[id].map(Self.awaited)?.contains(.readable) ?? false
  }

  private static func awaited(in connection: ServiceConnection) -> ReadinessPoller.Readiness {
    if connection.unreadCount == 0 { return connection.isClosing ? .writable : .readable }
    return connection.isClosing || connection.unreadCount > unreadByteCountMax ? .writable : [.readable, .writable]
  }
}

// MARK: - Time

extension ServiceLoop {
  /// When there's something to do without any frame; `nil` when there isn't.
  private var nextLook: MonotonicTime? {
    // Once for each wait: not by an array.
    var next = timers.next
    func consider(_ time: MonotonicTime?) { if let time { next = min(next ?? time, time) } }
    consider(core.nextDeadline.map(MonotonicTime.init(nanoseconds:)))
    consider(acceptsAgainAt)
    consider(succession?.nextLook)
    return next
  }

  private mutating func lookAtClock() {
    let now = clock.now
    while let timer = timers.popDue(at: now) { carryOut(core.timerFired(timer, at: now.nanoseconds)) }
    if let due = core.nextDeadline, now.nanoseconds >= due {
      let (effects, looks) = core.timePassed(at: now.nanoseconds)
      carryOut(effects)
      carryOut(looks)
    }
    if let time = acceptsAgainAt, now >= time { acceptAgain() }
    lookAtSuccession(now)
  }

  private mutating func carryOut(_ looks: ServiceCore.Looks) {
    // A process whose file was removed counts as alive until it has come back or is late: its file can't say that it has ended.
    let ended = looks.sessions.filter { !carriedSessions.contains($0) && !right.isAlive($0) }
    if !ended.isEmpty { carryOut(core.sessionsEnded(ended, at: clock.now.nanoseconds)) }
    // The kernel notifies only the parent of a process when the process is stopped.
    guard let processes = looks.processes else { return }
    let stopped = processes.filter { ProcessIdentity.isStopped($0.value) }.keys
    // Their earlier frames count.
    for id in stopped.sorted() { read(id, toEnd: true) }
    carryOut(core.processesAreStopped(Set(stopped), at: clock.now.nanoseconds))
  }

  private mutating func lookAtSuccession(_ now: MonotonicTime) {
    guard let time = succession?.nextLook, now >= time else { return }
    let isQuiet = !core.isInGrace && !core.isAnybodyWaiting && !core.hasSurveys
    let core = core
    if succession?.isDue(at: now, isQuiet: isQuiet, isMember: { core.session(of: $0) != nil }) == true {
      isHandedOver = true
    }
  }
}
