internal import CoordinationService
internal import Synchronization
internal import SystemInterface

/// Finds a service, elects one, and reads its messages: on a thread of the link's own, which alone uses this value.
struct LinkReader: ~Copyable {
  private let link: ServiceLink
  private let turn: ReadingTurn
  /// As long as they're held, a new service waits for this process to report its accesses and presenters.
  ///
  /// Those of former places stay: a service that searches for the session at one place after the other must not miss
  /// it.
  private var memberships: [MeetingPlace: HeldLock] = [:]
  /// Where the service last was.
  private var place: MeetingPlace?
  /// To find the next service, or to serve, in a program that uses up all others.
  private let reserve = DescriptorReserve(count: 8)
  /// How often in a row this process has served, run out of descriptors before it was welcomed, and found no other
  /// service.
  private var shortageCount = 0
  /// A longer row isn't for a moment: the waits end with the error.
  private static let shortageCountMax = 1
  /// How often in a row something wasn't there that had just been made.
  private var absenceCount = 0
  /// Somebody may be removing the files of the place; a directory that's missing for longer is an error.
  private static let absenceCountMax = 5
  /// How long a process searches for a service, or tries to become one, before it gives up.
  private static let patience = Duration.seconds(10)
  /// How long a process that has a terminal leaves it to others to be elected, when a service has ended.
  private static let deference = Duration.milliseconds(50)

  init(_ link: ServiceLink) throws(FileCoordinationError) {
    do throws(SystemError) { turn = try ReadingTurn() } catch { throw .noMeetingPlace(error) }
    self.link = link
    link.noteTurn(turn)
  }

  /// Takes part at the place of a service, before anything is sent to it.
  ///
  /// The place may have been removed meanwhile, and the file of the session with it.
  private mutating func join(_ place: MeetingPlace) throws(SystemError) {
    if self.place == place, memberships[place]?.hasItsName == true { return }
    do throws(SystemError) {
      let former = memberships[place].flatMap { $0.hasItsName ? $0 : nil }
      let membership = if let former { former } else { try place.join(link.session) }
      try link.host?.attachCoverage(to: membership)
      memberships[place] = membership
    } catch {
      // The old membership is good enough until there's more of the resource.
      if memberships[place] == nil || !mayPass(error) { throw error }
    }
    self.place = place
  }

  func end() {
    link.noteTurn(nil)
    turn.endCallbackReader()
    for (place, membership) in memberships {
      place.leave(link.session)
      membership.release()
    }
    link.stopService()
  }

  /// Connects, and takes in the service's messages until it's gone.
  ///
  /// - Throws: ``FileCoordinationError`` when there's no service, or none that accepts this process.
  mutating func talkToNextService() throws(FileCoordinationError) {
    reserve.release()
    let (place, stream) = try connect()
    // Before it sends anything: it may be stopped.
    link.serviceProcess.store((try? stream.peer().pid) ?? 0, ordering: .releasing)
    let conversation = Conversation(stream)
    var silence: FileCoordinationError?
    defer { conversation.stream.shutdown() }
    do throws(SystemError) {
      try conversation.introduce(link)
      try turn.begin(conversation)
      defer { turn.end(conversation) }
      if try !pump() { silence = .silent(place, try conversation.stream.peer().pid) }
    } catch {
      // A connection that breaks is no error: the next service is searched for.
    }
    if let silence { throw silence }
    if let refusal = conversation.refusal { throw refusal(place) }
    link.connectionHasEnded()
  }

  /// Reads and writes until the conversation is over; then it belongs to no thread.
  ///
  /// - Returns: Whether the service has sent something.
  private mutating func pump() throws(SystemError) -> Bool {
    var deadline: MonotonicTime? = link.clock.now.advanced(by: Self.patience)
    while !link.isEnded {
      // Another thread may have the turn, and read the answer that it waits for.
      if let conversation = turn.take() {
        conversation.read(for: link)
        if conversation.isOver { return true }
        if conversation.isWelcome, deadline != nil {
          deadline = nil
          shortageCount = 0
          // Not before: this process may be the one that serves, and need them to accept itself.
          reserve.fill()
        }
        if conversation.hasDelivered { turn.startCallbackReader(conversation, for: link) }
        turn.leave(conversation)
      }
      if let (stream, isStalled) = link.writeAgain() { turn.noteStalled(isStalled, stream) }
      if let deadline, link.clock.now >= deadline { return false }
      try turn.wait(until: deadline, by: link.clock)
    }
    return true
  }
}

// MARK: - Connecting

extension LinkReader {
  private enum Step {
    case connected(MeetingPlace, LocalStream)
    /// This process serves now.
    case elected
    /// No service can be reached yet, for this reason.
    case notYet(FileCoordinationError)
  }

  /// Connects to the serving process; if there's none, some process is elected, perhaps this one.
  private mutating func connect() throws(FileCoordinationError) -> (MeetingPlace, LocalStream) {
    let start = link.clock.now
    let deadline = start.advanced(by: Self.patience)
    var pause = Duration.microseconds(200)
    while !link.isEnded {
      switch try takeStep(since: start) {
      case .connected(let place, let stream): return (place, stream)
      case .elected: continue
      case .notYet(let error): if link.clock.now >= deadline { throw error }
      }
      // Another process has been elected and will listen in a moment; there's no event for that.
      link.pause(pause)
      pause = min(pause * 2, .milliseconds(10))
    }
    throw .domainEnded
  }

  private mutating func takeStep(since start: MonotonicTime) throws(FileCoordinationError) -> Step {
    do throws(FileCoordinationError) {
      switch try link.ground.connect() {
      case .served(let place, let stream):
        do throws(SystemError) { try join(place) } catch { throw .unreachable(place, error) }
        absenceCount = 0
        return .connected(place, stream)
      case .nobody(let place, let error):
        return try elect(since: start) ? .elected : .notYet(.unreachable(place, error))
      case .failed(let place, let error):
        let reason = FileCoordinationError.unreachable(place, error)
        if error.isOne(of: .resourceTemporarilyUnavailable, .interrupted) { return .notYet(reason) }
        throw reason
      }
    } catch {
      guard let cause = error.underlyingError as? SystemError else { throw error }
      absenceCount = cause.isAbsence ? absenceCount + 1 : 0
      if mayPass(cause) || cause.isAbsence && absenceCount <= Self.absenceCountMax { return .notYet(error) }
      throw error
    }
  }

  /// - Returns: Whether this process serves now.
  private mutating func elect(since start: MonotonicTime) throws(FileCoordinationError) -> Bool {
    let former = link.service.withLock { $0 }
    if former?.hasJustGivenWay == true || defers(since: start) { return false }
    let isPatient = start.duration(to: link.clock.now) < MeetingGround.timeToNotice
    guard let right = try link.ground.tryToServe(displacing: !isPatient) else { return false }
    // It would run out of them again, and again, and the reason would never be reported.
    if let shortage = former?.takeShortage() {
      right.release()
      shortageCount += 1
      throw .unreachable(right.place, shortage)
    }
    do throws(SystemError) {
      let setting = ServiceHost.Setting(
        ground: link.ground, packageExtensions: link.packageExtensions, clock: link.clock)
      let service = try ServiceHost.start(right, setting, after: former)
      link.service.withLock { $0 = service }
      ExitDrain.add(link)
      return true
    } catch { throw .unreachable(right.place, error) }
  }

  /// Whether others are to be elected first, because this process may be stopped from its terminal.
  ///
  /// Only if a service has ended: then there may be others. The first process of a domain doesn't wait.
  private func defers(since start: MonotonicTime) -> Bool {
    link.epoch != 0
      && start.duration(to: link.clock.now) < Self.deference
      && ProcessIdentity.hasTerminal(HostProcess.processIdentifier) == true
  }

  /// Whether the process is short of something for a moment: its possessions aren't given up for that.
  private func mayPass(_ error: SystemError) -> Bool {
    link.epoch != 0 && shortageCount <= Self.shortageCountMax
      && error.isOne(
        of: .resourceTemporarilyUnavailable, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noBufferSpace)
  }
}
