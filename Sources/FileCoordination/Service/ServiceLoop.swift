internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

/// The service's value and its connections, on one thread.
struct ServiceLoop {
  /// One process.
  struct Connection {
    let stream: LocalStream
    var decoder = FrameDecoder<ClientFrame>()
    /// Encoded, and not written yet.
    var outbox: [UInt8] = []
    var writtenCount = 0
    var isWatchedForWriting = false
    /// Nothing more is taken from it; it's closed when the rest has been written.
    var isClosing = false
    let connectedAt: MonotonicTime
    var hasSpoken = false

    mutating func append(_ frame: ServerFrame) throws(WireError) { try WireFormat.append(frame, to: &outbox) }
  }

  /// How much one connection may tell before others get their turn.
  private static let bytesPerTurn = 256 << 10
  /// How much may wait for a process that doesn't read before it's dropped.
  private static let outboxByteCountMax = 64 << 20
  /// How long a new service waits for processes to tell what they hold.
  static let graceDuration = Duration.seconds(1)
  /// How often it looks meanwhile whether they still live.
  private static let graceInterval = Duration.milliseconds(5)
  /// How long a process may be silent after it has connected.
  private static let silenceMax = Duration.seconds(5)
  /// How long those who ask for a snapshot wait for all processes to tell what they granted themselves.
  private static let surveyPatience = Duration.milliseconds(500)
  static let listenerToken: UInt64 = 0

  private var core: ServiceCore
  private let place: MeetingPlace
  private let listener: LocalListener
  private let poller: ReadinessPoller
  private var connections: [ClientID: Connection] = [:]
  private var lastClient: UInt64 = 0
  /// Connections that have been told something in this turn.
  private var dirty: Set<ClientID> = []
  private var timers = TimerQueue()
  private let graceEnd: MonotonicTime
  private var surveyEnd: MonotonicTime?
  private var isAccepting = true
  /// Whether the process does nothing else, and so is preferred.
  private let isDedicated: Bool
  private(set) var isHandedOver = false
  /// Of processes whose connections have ended; their files go when the processes have.
  private var endedSessions: Set<UInt64> = []

  init(
    _ core: ServiceCore, _ place: MeetingPlace, _ listener: LocalListener, _ poller: ReadinessPoller, isDedicated: Bool
  ) {
    self.isDedicated = isDedicated
    self.core = core
    self.place = place
    self.listener = listener
    self.poller = poller
    graceEnd = HostClock.shared.now.advanced(by: Self.graceDuration)
  }

  mutating func run(until isStopping: () -> Bool) {
    var events: [ReadinessPoller.Event] = []
    while !isStopping(), !isHandedOver {
      // A poller that can't wait any more is of no use: whoever comes next elects another service.
      guard (try? poller.wait(into: &events, until: nextLook)) != nil else { break }
      for event in events {
        if event.token == Self.listenerToken { accept() } else { serve(ClientID(event.token), event) }
      }
      lookAtClock()
      flush()
    }
    close()
  }

  /// Takes in what has arrived already, and tells what comes of it, so that what was told in time isn't lost.
  private mutating func drain() {
    for id in connections.keys.sorted() { read(id) }
    flush()
  }

  private mutating func close() {
    drain()
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
        // Out of descriptors: those that are connected are served on, others wait until one of them goes.
        poller.remove(listener)
        isAccepting = false
        return
      }
    }
  }

  private mutating func add(_ stream: LocalStream) throws(SystemError) {
    let peer = try stream.peer()
    lastClient += 1
    let id = ClientID(lastClient)
    try poller.add(stream, token: lastClient, interest: .readable)
    connections[id] = Connection(stream: stream, connectedAt: HostClock.shared.now)
    if !endedSessions.isEmpty { removeEndedSessions() }
    carryOut(
      core.clientConnected(
        id, processIdentifier: peer.pid, isSameUser: peer.uid == HostUser.effectiveUserID || peer.uid == 0))
  }

  private mutating func serve(_ id: ClientID, _ event: ReadinessPoller.Event) {
    if connections[id] == nil { return }
    if event.isWritable { dirty.insert(id) }
    if event.isReadable || event.isHangUp { read(id) }
  }

  private mutating func read(_ id: ClientID) {
    var rest = Self.bytesPerTurn
    while rest > 0, let connection = connections[id], !connection.isClosing {
      switch fill(id, from: connection.stream) {
      case .wouldBlock: return
      case .end:
        // What came before the end has been taken in.
        return drop(id)
      case .bytes(let count):
        rest -= count
        take(from: id)
      }
    }
  }

  private mutating func fill(_ id: ClientID, from stream: LocalStream) -> LocalStream.ReadResult {
    unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
      guard let result = try? unsafe stream.read(into: buffer) else { return .end }
      if case .bytes(let count) = result {
        unsafe connections[id]?.decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
      }
      return result
    }
  }

  /// Takes in the frames that are complete.
  private mutating func take(from id: ClientID) {
    let time = HostClock.shared.now.nanoseconds
    connections[id]?.hasSpoken = true
    while connections[id]?.isClosing == false {
      do throws(WireError) {
        guard let frame = try connections[id]?.decoder.next() else { return }
        carryOut(core.received(frame, from: id, at: time))
      } catch {
        carryOut(core.receivedGarbage(from: id, "\(error)"))
      }
    }
  }

  /// The kernel may close a dying process's connection before it releases the lock of its session: then the file goes when
  /// the next connection ends or begins.
  private mutating func removeEndedSessions() {
    endedSessions = endedSessions.filter { place.isAlive($0) }
  }

  /// A connection has ended.
  private mutating func drop(_ id: ClientID) {
    guard let connection = connections.removeValue(forKey: id) else { return }
    poller.remove(connection.stream)
    connection.stream.close()
    if let session = core.session(of: id) { endedSessions.insert(session) }
    carryOut(core.clientDisconnected(id, at: HostClock.shared.now.nanoseconds))
    removeEndedSessions()
    if !isAccepting, (try? poller.add(listener, token: Self.listenerToken, interest: .readable)) != nil {
      isAccepting = true
    }
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
      case .armTimer(let timer, let interval):
        timers.arm(timer, at: HostClock.shared.now.advanced(by: .nanoseconds(interval)))
      case .cancelTimer(let timer): timers.cancel(timer)
      case .handOver: isHandedOver = !isDedicated
      }
    }
    if core.hasSurveys {
      if surveyEnd == nil { surveyEnd = HostClock.shared.now.advanced(by: Self.surveyPatience) }
    } else {
      surveyEnd = nil
    }
  }

  private mutating func send(_ frame: ServerFrame, to client: ClientID) {
    guard connections[client] != nil else { return }
    do throws(WireError) {
      try connections[client]?.append(frame)
    } catch {
      // Only a snapshot of millions of parties is so large.
      carryOut(core.receivedGarbage(from: client, "the answer is too large: \(error)"))
    }
    dirty.insert(client)
  }

  private mutating func flush() {
    while let id = dirty.popFirst() {
      guard connections[id] != nil else { continue }
      let isDone = write(id)
      guard let connection = connections[id] else { continue }
      if isDone {
        if connection.isClosing { drop(id) } else { watch(id, forWriting: false) }
      } else if connection.outbox.count - connection.writtenCount > Self.outboxByteCountMax {
        // It doesn't read: others mustn't pay for it with their memory.
        drop(id)
      } else {
        watch(id, forWriting: true)
      }
    }
  }

  /// - Returns: Whether everything has been written, or can't be.
  private mutating func write(_ id: ClientID) -> Bool {
    guard var connection = connections.removeValue(forKey: id) else { return true }
    defer { connections[id] = connection }
    while connection.writtenCount < connection.outbox.count {
      let rest = connection.writtenCount
      let count = unsafe connection.outbox.withUnsafeBytes { bytes in
        (try? unsafe connection.stream.write(UnsafeRawBufferPointer(rebasing: bytes[rest...]))) ?? -1
      }
      // A broken connection is noticed when it's read to its end.
      if count < 0 { break }
      if count == 0 {
        if rest > 1 << 20 {
          connection.outbox.removeSubrange(..<rest)
          connection.writtenCount = 0
        }
        return false
      }
      connection.writtenCount += count
    }
    connection.outbox.removeAll(keepingCapacity: connection.outbox.capacity < 1 << 16)
    connection.writtenCount = 0
    return true
  }

  private mutating func watch(_ id: ClientID, forWriting isWanted: Bool) {
    guard let connection = connections[id], connection.isWatchedForWriting != isWanted else { return }
    connections[id]?.isWatchedForWriting = isWanted
    try? poller.modify(connection.stream, token: id.rawValue, interest: isWanted ? [.readable, .writable] : .readable)
  }
}

// MARK: - Time

extension ServiceLoop {
  /// When there's something to do although nobody tells anything; `nil` when there isn't.
  private var nextLook: MonotonicTime? {
    var next = timers.next
    func look(at time: MonotonicTime) { next = next.map { min($0, time) } ?? time }
    if core.isInGrace { look(at: HostClock.shared.now.advanced(by: Self.graceInterval)) }
    if let surveyEnd { look(at: surveyEnd) }
    for connection in connections.values where !connection.hasSpoken {
      look(at: connection.connectedAt.advanced(by: Self.silenceMax))
    }
    return next
  }

  private mutating func lookAtClock() {
    let now = HostClock.shared.now
    while let timer = timers.popDue(at: now) { carryOut(core.timerFired(timer, at: now.nanoseconds)) }
    if core.isInGrace { lookAtGrace(now) }
    if let end = surveyEnd, now >= end { carryOut(core.surveysAreLate(at: now.nanoseconds)) }
    let silent = connections.filter { !$0.value.hasSpoken && now >= $0.value.connectedAt.advanced(by: Self.silenceMax) }
    for id in silent.keys.sorted() { drop(id) }
  }

  private mutating func lookAtGrace(_ now: MonotonicTime) {
    let ended = core.awaitedSessions.filter { !place.isAlive($0) }
    if !ended.isEmpty { carryOut(core.sessionsEnded(ended, at: now.nanoseconds)) }
    if now >= graceEnd { carryOut(core.graceIsOver(at: now.nanoseconds)) }
  }
}

/// The arbiter's timers, by time and by name.
struct TimerQueue {
  private typealias Token = DeadlineHeap<ArbiterTimer>.Token

  private var heap = DeadlineHeap<ArbiterTimer>()
  private var tokens: [ArbiterTimer: Token] = [:]

  var next: MonotonicTime? { heap.earliest }

  mutating func arm(_ timer: ArbiterTimer, at time: MonotonicTime) {
    _ = heap.insert(at: time) { token in
      tokens[timer] = token
      return timer
    }
  }

  mutating func cancel(_ timer: ArbiterTimer) {
    if let token = tokens.removeValue(forKey: timer) { _ = heap.remove(token) }
  }

  mutating func popDue(at now: MonotonicTime) -> ArbiterTimer? {
    guard let timer = heap.popDue(at: now) else { return nil }
    tokens[timer] = nil
    return timer
  }
}
