internal import CoordinationService
internal import FileAccessArbiter
internal import SystemInterface

// The wording of each error, in one place.

// MARK: - Bad input

extension FileCoordinationError {
  static func notAFileURL(_ url: String) -> Self {
    Self(
      .notAFileURL, subjects: [url],
      message: "'\(url)' is no file URL, so nothing would be coordinated. Pass a URL that begins with 'file:///'.")
  }

  static func relativeURL(_ url: String) -> Self {
    Self(
      .relativeURL, subjects: [url],
      message: "'\(url)' is relative, and its meaning changes with the working directory. Pass its 'absoluteFileURL()'."
    )
  }

  static func invalidPath(_ url: String, because reason: String) -> Self {
    Self(.invalidPath, subjects: [url], message: "'\(url)' can't name a file: \(reason). Pass the URL of one item.")
  }

  static func unknownOptions(_ bits: UInt, url: String) -> Self {
    Self(
      .optionNotAllowed, subjects: [url],
      message: "the options 0x\(String(bits, radix: 16)) for '\(url)' have bits without a meaning. Use the named ones.")
  }

  /// Bits for no writing option, or for several: only Apple's names can say such a thing.
  package static func invalidWritingOptions(_ bits: UInt, url: String) -> Self {
    if bits >= 1 << 5 { return unknownOptions(bits, url: url) }
    return Self(
      .conflictingOptions, subjects: [url],
      message: "more than one writing option for '\(url)'. Pass the one that says what happens to the item, or none.")
  }

  static func optionNotAllowed(_ option: String, in call: String, url: String) -> Self {
    Self(
      .optionNotAllowed, subjects: [url],
      message: "\(option) for '\(url)' is not allowed in \(call). Pass it to the access itself instead.")
  }

  static let noItems = Self(.noItems, message: "the request names no item. Pass at least one URL.")

  static func tooManyItems(_ count: Int) -> Self {
    Self(
      .tooManyItems,
      message: "\(count) items in one request; the limit is \(FileCoordinator.itemCountMax). "
        + "Claim a directory around them, or split the request.")
  }

  static func requestTooLong(_ count: Int) -> Self {
    Self(
      .messageTooLong,
      message: "the paths of \(count) items in one request are too long to be told to other processes. "
        + "Claim a directory around them, or split the request.")
  }

  static func attributesTooLong(_ count: Int) -> Self {
    Self(
      .messageTooLong,
      message: "the names of \(count) ubiquity attributes are too long to be told to other processes. Name fewer.")
  }

  static func tooManyParties(_ limit: Int) -> Self {
    Self(
      .limitExceeded,
      message:
        "this process has \(limit) accesses and presenters, which is the limit in a domain of several processes. "
        + "End some of them, or present a directory around the items.")
  }

  static func nestedTooDeep(_ depth: Int, _ limit: Int) -> Self {
    Self(
      .limitExceeded,
      message: "an access was requested inside of \(depth) others, and \(limit) is the limit in a domain of several "
        + "processes. Claim a directory around the items once, or do the work after the accessors outside.")
  }

  static func tooManyPurposes(_ limit: Int) -> Self {
    Self(
      .limitExceeded,
      message: "the coordinators of this process have \(limit) purposes, which is the limit in a domain of several "
        + "processes. Let go of coordinators that aren't used any more, or share purposes.")
  }

  static func invalidPurpose(_ reason: String) -> Self {
    Self(.invalidPurposeIdentifier, message: reason)
  }

  static func presenterWithoutURL(_ label: String, hasPresenter: Bool) -> Self {
    Self(
      .presenterWithoutURL, subjects: [label],
      message: hasPresenter
        ? "the presenter '\(label)' has no 'presentedItemURL' yet. Save the item somewhere first, naming its URL."
        : "the coordinator '\(label)' was made for no presenter. Pass one when making it, or name the item's URL.")
  }

  static func accessEnded(_ path: String) -> Self {
    Self(
      .accessEnded, subjects: [path],
      message: "the access to '\(path)' ended with its accessor. Do the work inside, or ask for access again.")
  }

  static func notWritable(_ path: String) -> Self {
    Self(
      .notWritable, subjects: [path],
      message: "the access only reads '\(path)', so others may be reading it too. Write it inside 'write'.")
  }

  static func moveNotCovered(_ old: String, _ new: String) -> Self {
    Self(
      .moveNotCovered, subjects: [old, new],
      message: "the move of '\(old)' to '\(new)' was announced inside an access that writes neither. "
        + "Announce it inside the write that made it.")
  }

  static func destinationExists(_ path: String) -> Self {
    Self(
      .destinationExists, subjects: [path],
      message: "there is something at '\(path)' already. Pass 'replacing: true' to put the item in its place.")
  }
}

// MARK: - The file system

extension FileCoordinationError {
  static func fileSystem(_ error: SystemError) -> Self {
    let subjects = error.paths.map(\.description)
    switch error.number {
    case .fileNameTooLong:
      return Self(
        .pathTooLong, subjects: subjects,
        message: "\(error). Linux takes 4095 bytes for a path and 255 for a name.", underlyingError: error)
    case .tooManySymbolicLinkLevels:
      return Self(
        .symbolicLinkLoop, subjects: subjects, message: "\(error). Symbolic links lead in a circle; mend one of them.",
        underlyingError: error)
    default:
      return Self(.fileSystem, subjects: subjects, message: "\(error)", underlyingError: error)
    }
  }

  /// Runs `body`, and turns the errors of system calls into errors of this type.
  static func wrapping<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
  ) throws(FileCoordinationError) -> Result {
    do { return try body() } catch { throw .fileSystem(error) }
  }
}

// MARK: - The wait

extension FileCoordinationError {
  static let droppedAnswer = Self(
    .answerDropped,
    message: "a completion handler was dropped without having been called. Call it on every path through the callback.")

  static func replacedTooOften(_ subjects: [String], _ count: Int) -> Self {
    Self(
      .timedOut, subjects: subjects,
      message: "couldn't access \(list(subjects)): \(count) times another file took its place while the access waited. "
        + "Try again, or let those who replace it pause.")
  }

  static func unfinishedBatch(_ label: String, _ subjects: [String], after limit: Duration) -> Self {
    Self(
      .timedOut, subjects: subjects,
      message: "the preparation that '\(label)' made for \(list(subjects)) hasn't called its completion handler within "
        + "\(limit.shortDescription) after its body returned. Call the handler on every path, or pass a longer "
        + "'waitingForAccesses'. The work that it has begun goes on.")
  }

  static func coordinatorCancelled(_ label: String) -> Self {
    Self(
      .cancelled, subjects: [label],
      message: "the coordinator '\(label)' was cancelled. Make a new one for the next access.")
  }

  static func taskCancelled(_ subjects: [String]) -> Self {
    Self(.cancelled, subjects: subjects, message: "the task was cancelled before the access was granted.")
  }

  static let waitCancelled = Self(
    .cancelled, message: "the task was cancelled before the domain was in the state that was waited for.")

  /// The error for an access that the arbiter failed.
  static func failed(
    _ failure: Failure, verb: String, subjects: [String], presenterError: (any Error)?, at now: Timestamp
  ) -> Self {
    let what = "couldn't \(verb) \(list(subjects))"
    switch failure {
    case .cancelled:
      return Self(.cancelled, subjects: subjects, message: "\(what): the access was cancelled before it was granted.")
    case .timedOut(let waited, let blockers):
      let parties = NamedParties(blockers, at: now)
      return Self(
        .timedOut, subjects: subjects,
        message: "\(what) within \(Duration.nanoseconds(waited).shortDescription); \(sentence(parties)). "
          + "Pass a longer deadline or end that access.",
        blockers: parties.parties, omittedBlockerCount: parties.omittedCount)
    case .unanswered(let waited, let blockers, let followers):
      let (parties, followers) = (NamedParties(blockers, at: now), NamedParties(followers, at: now))
      return Self(
        .presenterUnresponsive, subjects: subjects,
        message: "\(what): no answer within \(Duration.nanoseconds(waited).shortDescription); \(sentence(parties)). "
          + behind(followers)
          + "Mend that callback, pass a longer deadline, or let late answers proceed.",
        blockers: parties.parties + followers.parties,
        omittedBlockerCount: parties.omittedCount + followers.omittedCount)
    case .presenterFailed(_, let message):
      return presenterFailed(message, what: what, subjects: subjects, presenterError)
    case .evictionRefused(let label, let isCallbackMissing):
      let reason =
        isCallbackMissing
        ? "doesn't implement accommodatePresentedItemEviction. Close its document first"
        : "answered accommodatePresentedItemEviction and stayed registered. It must unregister to agree"
      return Self(.evictionRefused, subjects: subjects, message: "\(what): the presenter '\(label)' \(reason).")
    case .outerAccessEnded: return outerAccessEnded(what, subjects, nil)
    case .nestedTooDeep(let limit): return nestedTooDeep(limit, limit)
    case .deadlock(let members):
      let report = DeadlockReport(members, at: now)
      return Self(.deadlock, subjects: subjects, message: "\(what): \(report)", deadlock: report)
    }
  }

  private static func presenterFailed(
    _ message: MessageSummary, what: String, subjects: [String], _ error: (any Error)?
  ) -> Self {
    let inner = error as? FileCoordinationError
    // A save that fails because of a deadlock fails the access that asked for it for the same reason (C-307).
    let elsewhere = error as? PresenterErrorElsewhere
    let innerCode = inner?.code ?? elsewhere?.code
    let code = innerCode.flatMap { [.deadlock, .answerDropped].contains($0) ? $0 : nil } ?? .presenterFailed
    return Self(
      code, subjects: subjects,
      message: "\(what): the presenter '\(message.presenterLabel)' answered \(message.callback) with an error: "
        + (error.map { "\($0)" } ?? "no reason given"),
      underlyingError: error, deadlock: inner?.deadlock ?? elsewhere?.deadlock)
  }

  /// The parties that the access kept waiting in turn: the callback may have been waiting for one of them (C-120).
  private static func behind(_ followers: NamedParties) -> String {
    followers.parties.isEmpty ? "" : "Behind it, \(sentence(followers)). "
  }

  static func list(_ subjects: [String]) -> String {
    let shown = subjects.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
    return subjects.count > 3 ? "\(shown) and \(subjects.count - 3) more" : shown
  }

  private static func sentence(_ parties: NamedParties) -> String {
    parties.parties.isEmpty ? "nobody is in the way any more" : parties.description
  }
}

// MARK: - Other processes

extension FileCoordinationError {
  static func unreachable(_ place: MeetingPlace, _ error: SystemError) -> Self {
    Self(
      .domainUnreachable, subjects: [place.address.description],
      message: "the processes of this domain meet at '\(place.address)', which can't be reached: \(sentence(error)) "
        + advice(for: error),
      underlyingError: error)
  }

  /// There isn't even a place to meet.
  static func noMeetingPlace(_ error: SystemError) -> Self {
    Self(
      .domainUnreachable, subjects: error.paths.map(\.description),
      message: "there is no place where the processes of this user can meet: \(sentence(error)) " + advice(for: error),
      underlyingError: error)
  }

  /// The error with one full stop at its end, also if it has an advice of its own.
  private static func sentence(_ error: SystemError) -> String {
    let text = "\(error)"
    return text.hasSuffix(".") ? text : text + "."
  }

  private static func advice(for error: SystemError) -> String {
    if error.number == .tooManyOpenFiles {
      return "This process may have \(HostProcess.descriptorCountMax) files open and has no descriptor left: "
        + "close some, or raise the limit (ulimit -n)."
    }
    return "Mend that, name another place in FILE_COORDINATION_DOMAIN, or use the domain of one process."
  }

  /// There's no thread that could talk to other processes.
  static func noThread(errno: Int32) -> Self {
    let error = SystemError.noThread(errno: errno)
    return Self(
      .domainUnreachable, message: "other processes of the domain can't be reached: \(error)", underlyingError: error)
  }

  static func refused(_ place: MeetingPlace, _ reason: Refusal, _ explanation: String) -> Self {
    Self(
      .domainUnreachable, subjects: [place.address.description],
      message: "the service at '\(place.address)' refused this process: \(explanation)")
  }

  static func foreignFrames(_ place: MeetingPlace, _ reason: String) -> Self {
    Self(
      .domainUnreachable, subjects: [place.address.description],
      message: "the service at '\(place.address)' sent a message that isn't one of this protocol: \(reason). "
        + "End it, or name another place in FILE_COORDINATION_DOMAIN.")
  }

  static func serviceStopped(_ process: Int32, name: String) -> Self {
    Self(
      .domainUnreachable, subjects: ["pid \(process)"],
      message: "the process that serves this domain, pid \(process) '\(name)', is stopped by a signal, a terminal or a "
        + "debugger, and can't answer. Let it go on (kill -CONT \(process)), or end it: then another one serves.")
  }

  /// No process has begun to serve, although one tries or others expect it to.
  static let noServiceYet = Self(
    .domainUnreachable,
    message: "no process serves this domain yet. One that is about to may be stopped: let it go on, or end it.")

  /// The deadline of an access passed, and `reason` would have kept it from being granted anyway.
  static func timedOut(_ subjects: [String], because reason: Self) -> Self {
    Self(
      .timedOut, subjects: subjects,
      message: "couldn't access \(list(subjects)) within the deadline: \(reason.message)", underlyingError: reason)
  }

  /// A process accepts connections and doesn't answer.
  static func silent(_ place: MeetingPlace, _ process: Int32) -> Self {
    Self(
      .domainUnreachable, subjects: [place.address.description],
      message: "the process that listens at '\(place.address)' \(silence(of: process))")
  }

  /// The same, for callers that wait only for so long.
  static func notWelcomed(by process: Int32) -> Self {
    Self(.domainUnreachable, message: "the process that serves this domain \(silence(of: process))")
  }

  /// The process that doesn't answer, perhaps the reason, and the remedy.
  private static func silence(of process: Int32) -> String {
    let isStopped = ProcessIdentity.isStopped(process)
    var state = isStopped ? "stopped" : "running"
    var advice = isStopped ? "Let it go on (kill -CONT \(process)), or end it" : "End it"
    if !isStopped, let use = DescriptorUse(of: process), use.isExhausted {
      state = "\(use.count) of \(use.countMax) files open"
      advice = "Raise its limit (prlimit --nofile --pid \(process)), let it close files, or end it"
    }
    return "(pid \(process) '\(ProcessIdentity.name(of: process) ?? "")', \(state)) doesn't answer. "
      + "\(advice): then another one serves."
  }

  static func packagesTooLong(_ count: Int, _ limit: Int) -> Self {
    Self(
      .domainUnreachable,
      message:
        "the names of \(count) package extensions are too long to agree on them with other processes; the limit is "
        + "\(limit) bytes. Name fewer, or use a domain of one process.")
  }

  static let snapshotTooLong = Self(
    .messageTooLong,
    message: "the accesses and presenters of the domain are too many for one message. Look again when there are fewer.")

  static let domainEnded = Self(.domainUnreachable, message: "the domain was released while an access was requested.")

  static func unknownDomain(_ value: String) -> Self {
    Self(
      .domainUnreachable, subjects: [value],
      message: "FILE_COORDINATION_DOMAIN is '\(value)', which names no domain. "
        + "Set it to 'user', 'process' or 'socket:' and an absolute path, or leave it unset.")
  }

  /// The access of another process has ended that this process belongs to.
  static func outerAccessEnded(_ what: String, _ subjects: [String], _ outer: AccessEnvironment.Entry?) -> Self {
    let variable = AccessEnvironment.variable
    let access = outer?.description ?? "an access of another one"
    return Self(
      .outerAccessEnded, subjects: subjects,
      message: "\(what): this process belongs to \(access), by \(variable) in its environment, and that access has "
        + "ended. Let it last until its child processes have ended, or start this process with 'env -u \(variable)'.")
  }

  static func invalidAccessEnvironment(_ value: String, because reason: String) -> Self {
    let variable = AccessEnvironment.variable
    return Self(
      .invalidAccessEnvironment, subjects: [value],
      message: "\(variable) is '\(value.fitting(200))', which names no access: \(reason). "
        + "Pass on the variable as it is, or start the process with 'env -u \(variable)'.")
  }

  static func tooManyOuterAccesses(_ limit: Int) -> Self {
    Self(
      .limitExceeded,
      message: "a child process would belong to accesses of more than \(limit) domains, which is the limit. Start it "
        + "outside of some of them.")
  }

  static func accessLost(_ path: String) -> Self {
    Self(
      .accessLost, subjects: [path],
      message: "the access to '\(path)' was lost: while this process couldn't be reached, others were granted access. "
        + "Read the item again, and repeat the work in a new access.")
  }
}
