internal import CoordinationService
internal import Synchronization
internal import SystemInterface

/// Finds a service, elects one, and reads what it tells: on a thread of the link's own, which alone knows this.
struct LinkReader: ~Copyable {
  private let link: ServiceLink
  private var place: MeetingPlace
  private let turn: ReadingTurn
  /// As long as it's held, a new service waits for this process to tell what it holds.
  private var membership: HeldLock
  /// How long a process looks for a service, or tries to become one, before it gives up.
  private static let patience = Duration.seconds(10)

  init(_ link: ServiceLink) throws(FileCoordinationError) {
    let place = try link.findPlace()
    let (turn, membership) = try Self.open(place, link)
    self.link = link
    self.place = place
    self.turn = turn
    self.membership = membership
    link.noteTurn(turn)
  }

  private static func open(
    _ place: MeetingPlace, _ link: ServiceLink
  ) throws(FileCoordinationError) -> (ReadingTurn, HeldLock) {
    do throws(SystemError) {
      return (try ReadingTurn(), try join(place, link))
    } catch {
      throw .unreachable(place, error)
    }
  }

  private static func join(_ place: MeetingPlace, _ link: ServiceLink) throws(SystemError) -> HeldLock {
    let membership = try place.join(link.session)
    try link.host?.attachCoverage(to: membership)
    return membership
  }

  /// Somebody may have removed the meeting place, and the file of the session with it.
  private mutating func makeSureOfMembership() throws(FileCoordinationError) {
    if membership.hasItsName { return }
    place = try link.findPlace()
    do throws(SystemError) { membership = try Self.join(place, link) } catch {
      if !mayPass(error) { throw .unreachable(place, error) }
    }
  }

  func end() {
    link.noteTurn(nil)
    place.leave(link.session)
    membership.release()
    link.stopService()
  }

  /// Connects, and takes in what the service tells until it's gone.
  ///
  /// - Throws: ``FileCoordinationError`` when there's no service, or none that wants this process.
  mutating func talkToNextService() throws(FileCoordinationError) {
    try makeSureOfMembership()
    let conversation = Conversation(try connect())
    var silence: FileCoordinationError?
    defer { conversation.stream.shutdown() }
    do throws(SystemError) {
      try conversation.introduce(link)
      try turn.begin(conversation)
      defer { turn.end(conversation) }
      if try !pump() { silence = .silent(place, try conversation.stream.peer().pid) }
    } catch {
      // A connection that breaks is no error: the next service is looked for.
    }
    if let silence { throw silence }
    if let refusal = conversation.refusal { throw refusal(place) }
    link.host?.serviceIsGone()
  }

  /// Reads and writes until the conversation is over, which then is nobody's.
  ///
  /// - Returns: Whether the service has said something.
  private func pump() throws(SystemError) -> Bool {
    var deadline: MonotonicTime? = HostClock.shared.now.advanced(by: Self.patience)
    while !link.isEnded {
      // Another thread may have the turn, and read the answer that it waits for.
      if let conversation = turn.take() {
        conversation.read(for: link)
        if conversation.isOver { return true }
        if conversation.isWelcome { deadline = nil }
        turn.leave(conversation)
      }
      if let (stream, isStalled) = link.writeAgain() { turn.noteStalled(isStalled, stream) }
      if try !turn.wait(until: deadline) { return false }
    }
    return true
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
        return try place.connect()
      } catch {
        switch SystemError.symbol(of: error.errno) {
        case "ENOENT", "ECONNREFUSED":
          if try elect() { continue }
        case "EAGAIN", "EINTR": break
        case _ where mayPass(error): break
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
      if mayPass(error) { return false }
      throw .unreachable(place, error)
    }
  }

  /// Whether the process is short of something for a moment: what it holds isn't given up for that.
  private func mayPass(_ error: SystemError) -> Bool {
    link.epoch.load(ordering: .acquiring) != 0
      && ["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS"].contains(SystemError.symbol(of: error.errno))
  }
}
