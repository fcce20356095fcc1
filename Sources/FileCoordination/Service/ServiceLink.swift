internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// A process's connection to the service of a domain, through all services that follow each other.
///
/// What's told is put into a buffer in the order in which it happened and written by whoever told it, so that nobody wakes up
/// another thread to write. One thread of its own reads; when the service is gone, it elects another one or finds it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock, inside that of the host | any thread tells; the reading thread connects and disconnects |
/// | `epoch` | written by the reading thread | grants that the process makes itself carry it |
/// | `service` | its lock | the reading thread starts it, and whoever ends the process stops it |
/// | `host` | set once before the first connection | the host owns the link |
final class ServiceLink: Sendable {
  enum Phase: Sendable {
    /// Nobody has needed the service yet, or the last attempt to reach it failed.
    case idle
    /// The reading thread looks for a service.
    case connecting
    case connected(LocalStream)
    /// The host is gone.
    case ended
  }

  struct State: Sendable {
    var phase = Phase.idle
    /// What the service is to be told as soon as there's one.
    var backlog: [ClientFrame] = []
    /// Encoded, and not written yet.
    var outbox: [UInt8] = []
    var writtenCount = 0
    var questions: [RequestNumber: ServiceQuestion] = [:]
    /// Questions about presenters that were told again to another service: answered when everybody has told everything.
    var resumed: [RequestNumber] = []
    /// Those who wait for the first connection.
    var attempt: ConnectionAttempt?
    var isStalled = false
  }

  let ground: MeetingGround
  let packageExtensions: [String]
  /// Names this process's meeting with the domain; also in the name of its session file.
  let session = UInt64.random(in: 1 ... .max)
  let state = Guarded(State())
  private let endEvent = ThreadEvent()
  /// Who reads; absent before the first connection.
  let turn = Guarded<ReadingTurn?>(nil)
  let watch = ServiceWatch()
  /// The process that serves; zero while none does.
  let serviceProcess = Atomic<Int32>(0)
  private let lastNumber = Atomic<UInt64>(0)
  let epoch = Atomic<UInt64>(0)
  /// Present if this process was elected.
  let service = Guarded<ServiceHost?>(nil)
  private let hostReference = Guarded<WeakHost>(WeakHost())

  private struct WeakHost: Sendable { weak var host: ArbiterHost? }

  init(_ ground: MeetingGround, packageExtensions: Set<String>) {
    self.ground = ground
    self.packageExtensions = packageExtensions.sorted()
  }

  var host: ArbiterHost? { hostReference.withLock { $0.host } }
  func serve(_ host: ArbiterHost) { hostReference.withLock { $0.host = host } }

  func newNumber() -> RequestNumber { RequestNumber(lastNumber.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// Ends the connection for good, and the service if this process hosts it.
  func end() {
    let phase = state.withLock { exchange(&$0.phase, with: .ended) }
    if case .connected(let stream) = phase { stream.shutdown() }
    endEvent.signal()
    wake()
  }

  /// Waits, but not beyond the end of the link.
  func pause(_ duration: Duration) { _ = endEvent.wait(until: HostClock.shared.now.advanced(by: duration)) }

  /// What the reading thread waits at from now on.
  func noteTurn(_ turn: ReadingTurn?) { self.turn.withLock { $0 = turn } }

  private func wake() { turn.withLock { $0 }?.wakeReader() }

  var isEnded: Bool {
    state.withLock { state in
      if case .ended = state.phase { return true }
      return false
    }
  }
}

// MARK: - Telling

extension ServiceLink {
  /// Tells the service something, in the order of calls; it's written by ``flush()``.
  ///
  /// Under the host's lock, so that what's told is in the order in which it happened.
  func tell(_ frame: ClientFrame) {
    state.withLock { state in
      if case .connected = state.phase {
        Self.append(frame, &state)
      } else {
        state.backlog.append(frame)
      }
    }
  }

  static func append(_ frame: ClientFrame, _ state: inout State) { append(frame, to: &state.outbox) }

  static func append(_ frame: ClientFrame, to bytes: inout [UInt8]) {
    do throws(WireError) {
      try WireFormat.append(frame, to: &bytes)
    } catch {
      preconditionFailure("a frame that was checked can't be sent: \(error)")
    }
  }

  /// Goes on writing when the service may have read.
  ///
  /// - Returns: What is written to, and whether the service still doesn't read fast enough; `nil` if it did all the time.
  func writeAgain() -> (LocalStream, Bool)? {
    state.withLock { state in
      guard state.isStalled, case .connected(let stream) = state.phase else { return nil }
      return (stream, Self.write(&state))
    }
  }

  /// Writes what has been told.
  ///
  /// Not under the host's lock.
  func flush() {
    let isStalled = state.withLock { state -> Bool in
      if state.isStalled || state.outbox.isEmpty { return false }
      return Self.write(&state)
    }
    // The reading thread goes on when the service has read.
    if isStalled { wake() }
  }

  /// - Returns: Whether the service doesn't read fast enough.
  static func write(_ state: inout State) -> Bool {
    guard case .connected(let stream) = state.phase else { return false }
    while state.writtenCount < state.outbox.count {
      let count = unsafe state.outbox.withUnsafeBytes { bytes in
        // A broken connection is noticed by the reading thread.
        (try? unsafe stream.write(UnsafeRawBufferPointer(rebasing: bytes[state.writtenCount...]))) ?? -1
      }
      if count < 0 { break }
      if count == 0 {
        state.isStalled = true
        return true
      }
      state.writtenCount += count
    }
    state.outbox.removeAll(keepingCapacity: state.outbox.capacity < 1 << 16)
    state.writtenCount = 0
    state.isStalled = false
    return false
  }

  /// Tells the service something that it answers, and blocks until it does.
  ///
  /// - Parameter makeFrame: The question of the given number.
  /// - Returns: The answer.
  /// - Throws: ``FileCoordinationError`` with code `.domainUnreachable`.
  func ask(_ makeFrame: (RequestNumber) -> ClientFrame) throws(FileCoordinationError) -> ServiceQuestion.Answer {
    let question = reading {
      let question = pose(newNumber(), makeFrame)
      flush()
      expectAnswer()
      return question
    } until: {
      $0.isAnswered
    }
    return try question.wait()
  }

  /// Tells the service something that it answers.
  func pose(_ number: RequestNumber, _ makeFrame: (RequestNumber) -> ClientFrame) -> ServiceQuestion {
    let frame = makeFrame(number)
    let question = ServiceQuestion(frame)
    state.withLock { state in
      state.questions[number] = question
      if case .connected = state.phase {
        Self.append(frame, &state)
      } else {
        state.backlog.append(frame)
      }
    }
    return question
  }

  func answer(_ number: RequestNumber, _ answer: ServiceQuestion.Answer) {
    state.withLock { $0.questions.removeValue(forKey: number) }?.resolve(answer)
  }

  /// Everybody has told what it holds: presenters that were told again are known.
  func graceEnded() {
    let resumed = state.withLock { state in exchange(&state.resumed, with: []) }
    for number in resumed { answer(number, .happened(true)) }
  }
}

/// Something that the service has been asked.
final class ServiceQuestion: Sendable {
  enum Answer: Sendable {
    /// What was told has happened, or is impossible.
    case happened(Bool)
    case snapshot(SnapshotReply)
    case unreachable(FileCoordinationError)
  }

  let frame: ClientFrame
  private let event = ThreadEvent()
  private let answer = Guarded<Answer?>(nil)

  init(_ frame: ClientFrame) { self.frame = frame }

  func resolve(_ answer: Answer) {
    self.answer.withLock { if $0 == nil { $0 = answer } }
    event.signal()
  }

  var isAnswered: Bool { answer.withLock { $0 != nil } }

  /// Blocks until there's an answer.
  func wait() throws(FileCoordinationError) -> Answer {
    event.wait()
    guard let answer = answer.withLock({ $0 }) else { preconditionFailure("a question without an answer") }
    if case .unreachable(let error) = answer { throw error }
    return answer
  }
}
