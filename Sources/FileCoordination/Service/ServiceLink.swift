internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization
internal import SystemInterface

/// A process's connection to the service of a domain, through all services that follow each other, over local sockets.
///
/// A frame is put into a buffer in the order of events and written by the thread that caused it, so that no other
/// thread has to wake up to write. One thread of its own reads; when the service is gone, it elects another one or
/// finds it.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `state` | its lock, inside that of the host | any thread sends; the reading thread connects and disconnects |
/// | `pauseEnd` | its lock | the reading thread sets it before it looks for the end of the link, and the end is noted before it's signalled |
/// | `service` | its lock | the reading thread starts it, and the thread that ends the process stops it |
/// | `host` | set once before the first connection | the host owns the link |
final class ServiceLink: ServiceTransport {
  enum Phase: Sendable {
    /// The service hasn't been needed yet, or the last attempt to reach it failed.
    case idle
    /// The reading thread searches for a service.
    case connecting
    case connected(LocalStream)
    /// The host is gone.
    case ended
  }

  struct State: Sendable {
    var phase = Phase.idle
    /// Encoded, and not written yet.
    var outbox: [UInt8] = []
    var writtenCount = 0
    /// The threads that wait for the first connection.
    var attempt: ConnectionAttempt?
    var isStalled = false
  }

  let ground: MeetingGround
  let packageExtensions: [String]
  /// The access of another process that this one belongs to.
  let outerAccess: AccessToken?
  /// Names this process's meeting with the domain; also in the name of its session file.
  let session = UInt64.random(in: 1 ... .max)
  let state = Guarded(State())
  /// Frames were put into the outbox, and no thread has begun to write them since.
  ///
  /// So the reading thread doesn't wait for the lock while a presenter's thread writes its answer.
  private let hasUnwrittenFrames = Atomic(false)
  /// The reading thread has to examine whether it can go on writing.
  private let mayBeStalled = Atomic(false)
  /// Set before the phase.
  private let hasEnded = Atomic(false)
  let clock: DomainClock
  /// Ends the reading thread's pause.
  private let pauseEnd = Guarded<ThreadEvent?>(nil)
  /// The turns of the threads that read; absent before the first connection.
  let turn = Guarded<ReadingTurn?>(nil)
  let watch: ServiceWatch
  /// The process that serves; zero while none does.
  let serviceProcess = Atomic<Int32>(0)
  /// Present if this process was elected.
  let service = Guarded<ServiceHost?>(nil)
  private let hostReference = Guarded<WeakHost>(WeakHost())

  private struct WeakHost: Sendable { weak var host: ArbiterHost? }

  /// - Parameters:
  ///   - ground: Where the processes of the domain meet.
  ///   - packageExtensions: The packages on which they have to agree.
  ///   - outerAccess: The access of another process that this one belongs to.
  ///   - clock: Of the domain; deadlines are kept by it while no service keeps them.
  init(_ ground: MeetingGround, packageExtensions: Set<String>, inside outerAccess: AccessToken?, clock: DomainClock) {
    self.ground = ground
    self.outerAccess = outerAccess
    self.clock = clock
    watch = ServiceWatch(clock.base)
    self.packageExtensions = packageExtensions.sorted()
  }

  var host: ArbiterHost? { hostReference.withLock { $0.host } }
  func serve(_ host: ArbiterHost) { hostReference.withLock { $0.host = host } }

  /// The epoch of the service to which this process last reported its state; zero if there's nothing to report again.
  var epoch: UInt64 { host?.epoch ?? 0 }

  /// Ends the connection for good, and the service if this process hosts it.
  func end() {
    hasEnded.store(true, ordering: .releasing)
    let phase = state.withLock { exchange(&$0.phase, with: .ended) }
    if case .connected(let stream) = phase { stream.shutdown() }
    pauseEnd.withLock { $0 }?.signal()
    wake()
  }

  /// Waits, but not beyond the end of the link.
  func pause(_ duration: Duration) {
    let end = ThreadEvent()
    pauseEnd.withLock { $0 = end }
    if !isEnded { clock.wait(until: clock.now.advanced(by: duration), orFor: end) }
  }

  /// The turn at which the reading thread waits from now on.
  func noteTurn(_ turn: ReadingTurn?) { self.turn.withLock { $0 = turn } }

  private func wake() { turn.withLock { $0 }?.wakeReader() }

  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }
}

// MARK: - Sending

extension ServiceLink {
  func send(_ frame: ClientFrame) {
    state.withLock { state in
      // Otherwise the connection has broken, and the client is about to hear of that.
      guard case .connected = state.phase else { return }
      Self.append(frame, to: &state.outbox)
      hasUnwrittenFrames.store(true, ordering: .releasing)
    }
  }

  static func append(_ frame: ClientFrame, to bytes: inout [UInt8]) {
    do throws(WireError) {
      try WireFormat.append(frame, to: &bytes)
    } catch {
      preconditionFailure("a frame that was checked can't be sent: \(error)")
    }
  }

  /// Goes on writing when the service may have read.
  ///
  /// - Returns: The stream, and whether the service still doesn't read fast enough; `nil` if it did all the time.
  func writeAgain() -> (LocalStream, Bool)? {
    guard mayBeStalled.load(ordering: .acquiring) else { return nil }
    return state.withLock { state in
      guard state.isStalled, case .connected(let stream) = state.phase else {
        mayBeStalled.store(false, ordering: .relaxed)
        return nil
      }
      return (stream, Self.write(&state))
    }
  }

  /// Writes the frames that no other thread is about to write.
  func flush() {
    if hasUnwrittenFrames.exchange(false, ordering: .acquiring) { writeFrames() }
  }

  /// Writes what is in the outbox, also if another thread has begun to.
  func writeFrames() {
    let isStalled = state.withLock { state -> Bool in
      if state.isStalled || state.outbox.isEmpty { return false }
      let isStalled = Self.write(&state)
      if isStalled { mayBeStalled.store(true, ordering: .relaxed) }
      return isStalled
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
}
