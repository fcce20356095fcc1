internal import CoordinationService
internal import Synchronization
internal import SystemInterface

/// Finds a service, elects one, and reads what it tells: on a thread of the link's own, which alone knows this.
struct LinkReader: ~Copyable {
  private let link: ServiceLink
  private let place: MeetingPlace
  private let poller: ReadinessPoller
  /// As long as it's held, a new service waits for this process to tell what it holds.
  private let membership: HeldLock
  /// How long a process looks for a service, or tries to become one, before it gives up.
  private static let patience = Duration.seconds(10)
  private static let socketToken: UInt64 = 1

  init(_ link: ServiceLink) throws(FileCoordinationError) {
    let place = try link.findPlace()
    let (poller, membership) = try Self.open(place, link.session)
    self.link = link
    self.place = place
    self.poller = poller
    self.membership = membership
    link.noteWaker(poller)
  }

  private static func open(
    _ place: MeetingPlace, _ session: UInt64
  ) throws(FileCoordinationError) -> (ReadinessPoller, HeldLock) {
    do throws(SystemError) { return (try ReadinessPoller(), try place.join(session)) } catch {
      throw .unreachable(place, error)
    }
  }

  func end() {
    link.noteWaker(nil)
    place.leave(link.session)
    membership.release()
    link.stopService()
  }

  /// Connects, and takes in what the service tells until it's gone.
  ///
  /// - Throws: ``FileCoordinationError`` when there's no service, or none that wants this process.
  func talkToNextService() throws(FileCoordinationError) {
    let stream = try connect()
    var conversation = Conversation(stream)
    defer {
      poller.remove(stream)
      stream.shutdown()
    }
    do throws(SystemError) {
      try poller.add(stream, token: Self.socketToken, interest: .readable)
      try conversation.introduce(link)
      try pump(&conversation)
    } catch {
      // A connection that breaks is no error: the next service is looked for.
    }
    if let refusal = conversation.refusal { throw refusal(place) }
    link.host?.serviceIsGone()
  }

  private func pump(_ conversation: inout Conversation) throws(SystemError) {
    var events: [ReadinessPoller.Event] = []
    var isWaitingToWrite = false
    while !link.isEnded {
      if try !conversation.read(for: link) { return }
      let isStalled = link.writeAgain()
      if isStalled != isWaitingToWrite {
        isWaitingToWrite = isStalled
        try poller.modify(
          conversation.stream, token: Self.socketToken, interest: isStalled ? [.readable, .writable] : .readable)
      }
      _ = try poller.wait(into: &events)
    }
  }
}

// MARK: - Connecting

extension LinkReader {
  /// Connects to whoever serves; if nobody does, some process is elected, perhaps this one.
  private func connect() throws(FileCoordinationError) -> LocalStream {
    let deadline = HostClock.shared.now.advanced(by: Self.patience)
    var pause = Duration.microseconds(200)
    while !link.isEnded {
      do throws(SystemError) {
        return try LocalStream(connectingTo: place.address)
      } catch {
        switch SystemError.symbol(of: error.errno) {
        case "ENOENT", "ECONNREFUSED":
          if try elect() { continue }
        case "EAGAIN", "EINTR": break
        default: throw .unreachable(place, error)
        }
        if HostClock.shared.now >= deadline { throw .unreachable(place, error) }
      }
      // Somebody else has been elected and will listen in a moment; there's no event for that.
      link.pause(pause)
      pause = min(pause * 2, .milliseconds(10))
    }
    throw .domainEnded
  }

  /// - Returns: Whether this process serves now.
  private func elect() throws(FileCoordinationError) -> Bool {
    do throws(SystemError) {
      if link.service.withLock({ $0 })?.hasJustGivenWay == true { return false }
      guard let lock = try place.lock.tryLock() else { return false }
      let service = try ServiceHost.start(at: place, lock, packageExtensions: link.packageExtensions)
      link.service.withLock { $0 = service }
      ExitDrain.add(link)
      return true
    } catch {
      throw .unreachable(place, error)
    }
  }
}

// MARK: - Talking

/// What one service tells.
private struct Conversation {
  let stream: LocalStream
  /// Why the service is of no use, for people who know where it is.
  var refusal: ((MeetingPlace) -> FileCoordinationError)?
  private var decoder = FrameDecoder<ServerFrame>()

  init(_ stream: LocalStream) { self.stream = stream }

  /// Says who this process is.
  func introduce(_ link: ServiceLink) throws(SystemError) {
    let process = ProcessIdentity.current
    let hello = Hello(
      session: link.session, processIdentifier: process.pid, processStartTime: process.startTime,
      processName: HostProcess.name, packageExtensions: link.packageExtensions,
      previousEpoch: link.epoch.load(ordering: .acquiring))
    var bytes: [UInt8] = []
    ServiceLink.append(.hello(hello), to: &bytes)
    // A fresh socket takes in so few bytes at once.
    _ = try unsafe stream.write(bytes.span.bytes)
  }

  /// Takes in what has arrived.
  ///
  /// - Returns: Whether there may be more.
  mutating func read(for link: ServiceLink) throws(SystemError) -> Bool {
    while true {
      switch try fill() {
      case .wouldBlock: return true
      case .end: return false
      case .bytes: break
      }
      var frames: [ServerFrame] = []
      do throws(WireError) {
        while let frame = try decoder.next() { frames.append(frame) }
      } catch {
        let reason = "\(error)"
        refusal = { .foreignFrames($0, reason) }
        return false
      }
      if !take(frames, for: link) { return false }
    }
  }

  private mutating func take(_ frames: [ServerFrame], for link: ServiceLink) -> Bool {
    var rest = frames[...]
    while let frame = rest.first {
      switch frame {
      case .welcome(let welcome): link.begin(welcome, stream)
      case .refused(let reason, let explanation):
        refusal = { .refused($0, reason, explanation) }
        return false
      default:
        // Whatever comes after the welcome is the host's, all at once.
        guard let host = link.host else { return false }
        host.take(Array(rest))
        return true
      }
      rest = rest.dropFirst()
    }
    return true
  }

  private mutating func fill() throws(SystemError) -> LocalStream.ReadResult {
    var result = LocalStream.ReadResult.end
    var failure: SystemError?
    unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 8) { buffer in
      do throws(SystemError) {
        result = try unsafe stream.read(into: buffer)
        if case .bytes(let count) = result {
          unsafe decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return result
  }
}
