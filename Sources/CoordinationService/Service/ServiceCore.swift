package import FileAccessArbiter

/// Decides for all processes of a domain: a value, without thread, clock or socket.
///
/// It stands between an arbiter and processes that it doesn't trust. Each mutating method is one event; it returns the
/// effects, in order. Every frame of a process is checked before it reaches the arbiter, and a process that sends an
/// impossible one is disconnected: its mistakes harm no other process.
///
/// The parts: numbers and checks `+Border`, events and their effects `+Events`, delegations `+Delegations`, the
/// takeover from an earlier service `+Grace`, callbacks that it has put `+Callbacks`, processes that are stopped `+Stopped`, processes that belong to an access of
/// another one `+Outer`, work without a frame `+Deadlines`.
package struct ServiceCore: Sendable {
  /// One connection.
  struct Client: Sendable {
    /// Absent until it has introduced itself.
    var hello: Hello?
    /// The number in the kernel.
    let processIdentifier: Int32
    /// How many processes had connected before, and this one: connection numbers are used again.
    let sequence: UInt64
    /// Every message of this epoch that it may have had under an earlier connection has this number or a smaller one.
    let lastMessageBefore: MessageID
    /// The purposes that the process has named.
    var purposes: [PurposeID: PurposeID] = [:]
    /// Those of them that are forgotten when the grace is over.
    var leavingPurposes: Set<PurposeID> = []
    /// It has reported everything that it held under an earlier service.
    var hasReasserted = false
    /// Accesses that it re-asserted too late, with what's around them: it may release one before it's notified, and what it requests
    /// inside of one before that is inside of what's around it.
    var lost: [AccessID: Surroundings] = [:]
    /// Messages of earlier connections whose reacquirers it has claimed to hold: each is reported once.
    var restatedDebts: Set<MessageID> = []
    /// The arbiter's numbers of callbacks that an earlier service has put, by its numbers, until they're answered.
    var reportedCallbacks: [MessageID: MessageID] = [:]
    /// The places of presenters that it reported after the grace.
    var latePaths: [ItemPath] = []
    /// It belongs to an access of a process that hasn't reported it to this service, and its report is taken in all the same.
    var reportsAlone = false
    /// Accesses of others may be nested in its own.
    var isParent = false
    /// Its delegations that haven't been recalled.
    var delegated = DelegationOrder()
    /// When it's dropped, unless it has said hello by then, or read the reason of its refusal.
    var deadline: Timestamp?

    var session: UInt64 { hello?.session ?? 0 }
    var name: String { "pid \(processIdentifier) '\(hello?.processName ?? "")'" }
  }

  /// The surroundings of an access that isn't in the arbiter, or of a request.
  struct Surroundings: Hashable, Sendable {
    /// The next access or callback around it that is in the arbiter.
    var context: ExecutionContext?
    /// Whether that certainly waits for it.
    var isAwaitedByContext = true
    /// The presenter of a lost access in between: while it's asked something, it may wait for what's inside.
    var ownPresenter: PresenterID?
  }

  package let epoch: UInt64
  /// Of the process that runs the service.
  package let processIdentifier: Int32
  let packageExtensions: [String]
  var arbiter: FileAccessArbiter
  var clients: [ClientID: Client] = [:]
  /// How many connections there were.
  private var connectionCount: UInt64 = 0
  /// The client whose end is being reported to others, with its name.
  var departing: (id: ClientID, client: Client)?
  var lastGrant: UInt64 = 0
  var lastPurpose: UInt64 = 0
  /// How many names there were when the unused ones were last forgotten.
  var purposeCountAtPurge = 0
  var purposeIDs: [String: PurposeID] = [:]
  var purposeNames: [PurposeID: String] = [:]
  var delegations: [AccessID: Delegation] = [:]
  /// Accesses that processes may belong to, by the tokens that these name.
  var tokens: [AccessToken: AccessID] = [:]
  /// The same the other way round.
  var sharedAccesses: [AccessID: AccessToken] = [:]
  /// Numbers of former clients: accesses of others may be left that are nested in theirs.
  var formerParents: Set<ClientID> = []
  /// How many there were when those were forgotten in which nothing is nested any more.
  var formerParentCountAtPurge = 0
  var lastSurvey: UInt64 = 0
  var usage = UsageRecord()
  var questions: [OpenQuestion] = []
  var surveys: [Survey] = []
  /// How many processes may be connected.
  package var clientCountMax = ServiceCore.clientCountLimit
  /// How many accesses and presenters each may have.
  package var partyCountMax = ServiceCore.partyCountLimit
  /// Clients that are shown the state after each event.
  var observers: Set<ClientID> = []
  var grace: Grace?
  /// Processes that are stopped and that others wait for.
  var stoppedSince: [ClientID: Timestamp] = [:]
  /// Clients that have a deadline.
  var hurried: Set<ClientID> = []
  /// When the askers of a snapshot are shown the incomplete state.
  var surveyEnd: Timestamp?
  /// When to check which processes are stopped.
  var processLook: Timestamp?
  /// Of the event under way.
  var effects: [ServiceEffect] = []

  /// How many delegations one process may have at a time.
  package static let delegationCountMax = 1024
  /// All numbers of clients are smaller.
  package static let clientNumberEnd: UInt64 = 1 << 24
  /// How many processes may ever be connected at once.
  package static let clientCountLimit = 4096
  /// How many accesses and presenters one process may have, its delegations included.
  package static let partyCountLimit = ProcessLimits.standard.partyCountMax + 1 << 16
  /// How long a process's name may be, and the explanation of its refusal.
  static let nameByteCountMax = 4096
  static let explanationByteCountMax = 8192
  /// How deep accesses may be nested in each other, those included that processes grant themselves.
  package static let nestingDepthMax = ProcessLimits.standard.nestingDepthMax + 512
  /// How many bytes the names of the attributes of one announcement may have.
  package static let attributeByteCountMax = 1 << 20
  /// How many purposes one process may name.
  package static let purposeCountMax = ProcessLimits.standard.purposeCountMax

  #if DEBUG
    /// Mistakes built in on purpose, to show that the tests find them.
    package var seededFaults: Set<ServiceFault> = [] {
      didSet { if seededFaults.contains(.savePriorityIgnored) { arbiter.seededFaults.insert(.savePriorityIgnored) } }
    }
    func has(_ fault: ServiceFault) -> Bool { !seededFaults.isEmpty && seededFaults.contains(fault) }
  #else
    @inline(__always) func has(_: ServiceFault) -> Bool { false }
  #endif

  /// Creates a service without clients.
  ///
  /// - Parameters:
  ///   - epoch: Larger than that of every earlier service of the domain.
  ///   - processIdentifier: Of the process that runs it.
  ///   - packageExtensions: Directories with one of these extensions are packages.
  ///   - sessions: Of processes that were connected to an earlier service and still live: nothing is granted until each
  ///     of them has reported its accesses, or is gone, or ``graceDuration`` is over.
  ///   - time: When it begins.
  package init(
    epoch: UInt64, processIdentifier: Int32, packageExtensions: [String], expecting sessions: Set<UInt64>,
    at time: Timestamp = 0
  ) {
    self.epoch = epoch
    self.processIdentifier = processIdentifier
    self.packageExtensions = packageExtensions.sorted()
    arbiter = FileAccessArbiter(packageExtensions: packageExtensions.sorted(), epoch: epoch, announcesSaves: true)
    if !sessions.isEmpty { grace = Grace(expected: sessions, end: time + Self.graceDuration, nextLook: time) }
  }

  /// How often a process has to use a directory, alone, before it may decide there alone.
  package var usesUntilDelegation: Int {
    get { usage.initiallyNeeded }
    set { usage.initiallyNeeded = newValue }
  }

  package var isInGrace: Bool { grace != nil }

  /// The session of a client that has introduced itself.
  package func session(of client: ClientID) -> UInt64? { clients[client]?.hello?.session }

  /// How much memory the arbiter's tables have.
  package var reservedByteCount: Int { arbiter.reservedByteCount }
}

/// The work of the runner of a service.
///
/// Carried out in the order in which they are returned.
package enum ServiceEffect: Hashable, Sendable {
  case send(ServerFrame, to: ClientID)
  /// After everything that's been sent to it.
  case disconnect(ClientID)
  /// The connection ends at once; reported by `clientDisconnected(_:at:)` like any other end.
  case drop(ClientID)
  case armTimer(ArbiterTimer, after: Nanoseconds)
  case cancelTimer(ArbiterTimer)
  /// Takes rights from the process of this session, before it has read anything of that.
  ///
  /// Carried out before anything that's sent after it.
  case revoke(Revocation, session: UInt64)
  /// The connection ends at once; the process may come back.
  case expel(ClientID)
  /// A program that only serves asks to serve: end, unless this is one.
  case handOver
}

/// The rights that a process has lost.
package enum Revocation: Hashable, Sendable {
  /// It grants itself nothing before it has read the recall of its delegations.
  case delegations
  /// It was disconnected: grants that it hasn't read yet are void as well, until it has connected again.
  case everything
}

/// A mistake that a test can build in to show that it would be found.
package enum ServiceFault: String, Hashable, Sendable, CaseIterable {
  case noGrace
  case recallIgnored
  case delegationDuringMove
  case delegationReturnedEarly
  case registrationAnsweredEarly
  case moveBeforeRecall
  case debtForgotten
  case missedChangesIgnored
  case latePresenterUnprotected
  case lostAccessForgotten
  case lateCompanyForgotten
  case delegationsOutliveExpulsion
  /// Only 28 bits of an epoch count in the distinction between messages of an earlier one and those of this one.
  case messageNumbersWrap
  /// A save that's under way elsewhere doesn't pass the access that asked for it.
  case savePriorityIgnored
  /// Accesses inside of callbacks that an earlier service has put are taken for accesses outside of callbacks.
  case contextOfReportedForgotten
  /// A process whose outer access has ended gets accesses like any other.
  case endedOuterIgnored
  /// The reports of processes inside an access are entered before that access has been reported.
  case nestedReportedFirst
  /// A process whose outer access ends gets what it waits for.
  case outlivedRequestsKept
}

// MARK: - Connections

extension ServiceCore {
  /// A process has connected; it has to introduce itself.
  ///
  /// - Parameters:
  ///   - id: A number that ``mayConnect(_:)``.
  ///   - processIdentifier: The number in the kernel.
  ///   - isSameUser: Whether the process belongs to the user whom the service serves.
  ///   - time: When.
  /// - Returns: The effects.
  package mutating func clientConnected(
    _ id: ClientID, processIdentifier: Int32, isSameUser: Bool, at time: Timestamp
  ) -> [ServiceEffect] {
    precondition(clients[id] == nil && id.rawValue > 0 && id.rawValue < Self.clientNumberEnd, "\(id) connects twice")
    connectionCount += 1
    clients[id] = Client(
      processIdentifier: processIdentifier, sequence: connectionCount, lastMessageBefore: arbiter.lastMessageID)
    hurry(id, at: time)
    if !isSameUser {
      refuse(
        id, at: time, .otherUser, "the service of this directory serves another user. Name a directory of your own.")
    } else if clients.count > clientCountMax {
      refuse(
        id, at: time, .tooManyClients,
        "\(clientCountMax) processes are connected already. End one of them, or let the service (pid "
          + "\(processIdentifier)) open more files.")
    }
    return takeEffects(at: time)
  }

  /// A connection has ended, and all its frames have been received.
  package mutating func clientDisconnected(_ id: ClientID, at time: Timestamp) -> [ServiceEffect] {
    hurried.remove(id)
    if let client = clients.removeValue(forKey: id), client.hello != nil { depart(id, client, at: time) }
    showObservers(at: time)
    return takeEffects(at: time)
  }

  mutating func depart(_ id: ClientID, _ client: Client, at time: Timestamp) {
    // It may live, and not have noticed yet that it was disconnected; unless it has connected again.
    if !clients.values.contains(where: { $0.session == client.session }) { revoke(.everything, of: client.session) }
    for delegation in delegations.values where delegation.client == id { forget(delegation) }
    questions.removeAll { $0.client == id }
    surveys.removeAll { $0.asker == id }
    observers.remove(id)
    if client.isParent {
      noteFormerParent(id)
      endSharing(by: id, at: time)
    }
    grace?.nestedReports[id] = nil
    grace?.heldBack.removeAll { $0.client == id }
    grace?.movesToldAgain.removeAll { $0.client == id }
    departing = (id, client)
    carryOut(arbiter.clientDeparted(id, at: time), at: time)
    departing = nil
    answerQuestions(at: time)
    finishSurveys(without: id, at: time)
    sessionIsGone(client.session, at: time)
  }

  /// Takes a frame of a process.
  package mutating func received(_ frame: ClientFrame, from id: ClientID, at time: Timestamp) -> [ServiceEffect] {
    // Not a copy of the client: its tables would be copied with each change.
    if clients[id] == nil { return [] }
    do throws(Malformed) {
      if case .hello(let hello) = frame {
        try accept(hello, from: id, at: time)
      } else if clients[id]?.hello == nil {
        throw Malformed("its first frame is no hello")
      } else {
        try take(frame, from: id, at: time)
      }
    } catch {
      refuse(
        id, at: time, .malformed,
        "\(clients[id]?.name ?? "") was disconnected: \(error.reason). Do both processes use the same version?")
    }
    showObservers(at: time)
    return takeEffects(at: time)
  }

  /// A connection carries bytes that can't be decoded, or a frame that can't be.
  package mutating func receivedGarbage(
    from id: ClientID, _ reason: String, at time: Timestamp
  ) -> [ServiceEffect] {
    if let client = clients[id] {
      refuse(
        id, at: time, .malformed,
        "\(client.name) was disconnected: \(reason). Do both processes use the same version?")
    }
    return takeEffects(at: time)
  }

  /// A timer's time is over.
  package mutating func timerFired(_ timer: ArbiterTimer, at time: Timestamp) -> [ServiceEffect] {
    carryOut(arbiter.timerFired(timer, at: time), at: time)
    showObservers(at: time)
    return takeEffects(at: time)
  }

  private mutating func accept(_ hello: Hello, from id: ClientID, at time: Timestamp) throws(Malformed) {
    guard let client = clients[id], client.hello == nil else { throw Malformed("it said hello twice") }
    if hello.version != Hello.currentVersion {
      return refuse(
        id, at: time, .unknownVersion,
        "the process speaks version \(hello.version) of the protocol and the service (pid \(processIdentifier)) version "
          + "\(Hello.currentVersion). Run programs with the same version of the library, or end the older ones.")
    }
    if hello.processName.utf8.count > Self.nameByteCountMax {
      throw Malformed("its name has \(hello.processName.utf8.count) bytes, and \(Self.nameByteCountMax) is the limit")
    }
    if hello.packageExtensions.sorted() != packageExtensions {
      return refuse(
        id, at: time, .otherPackages,
        "the process \(Self.describe(hello.packageExtensions)), and the domain \(Self.describe(packageExtensions)). "
          + "Configure all processes of a domain alike, or name a domain of your own by .socket(path).")
    }
    // A process has one connection. An earlier one has broken unnoticed: everything held through it is reported again.
    // Frames of different connections are received in any order: this one may be the earlier one.
    let others = clients.filter { $0.value.hello != nil && $0.value.session == hello.session }
    if others.contains(where: { $0.value.sequence > client.sequence }) { return dropUnknown(id) }
    for earlier in others.keys.sorted() { expel(earlier, at: time) }
    clients[id]?.hello = hello
    leaveInPeace(id)
    arbiter.clientJoined(id, name: "pid \(client.processIdentifier) '\(hello.processName)'")
    welcome(id, hello, at: time)
  }

  /// A connection is of no use, and nothing is held through it.
  private mutating func dropUnknown(_ id: ClientID) {
    hurried.remove(id)
    clients[id] = nil
    effects.append(.expel(id))
  }

  private static func describe(_ agreement: [String]) -> String {
    let extensions = agreement.filter { $0 != Hello.filesByIdentity }
    let list = extensions.isEmpty ? "nothing" : extensions.map { ".\($0)" }.joined(separator: ", ")
    let key = agreement.contains(Hello.filesByIdentity) ? "path and identity" : "path only"
    return "treats \(list) as packages and knows files by \(key)"
  }

  mutating func refuse(_ id: ClientID, at time: Timestamp, _ refusal: Refusal, _ explanation: String) {
    // May quote a frame of the process.
    send(.refused(refusal, explanation: explanation.fitting(Self.explanationByteCountMax)), to: id)
    effects.append(.disconnect(id))
    // It may not read.
    hurry(id, at: time)
  }

  mutating func send(_ frame: ServerFrame, to client: ClientID) { effects.append(.send(frame, to: client)) }
}

/// A process has sent something impossible.
struct Malformed: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}
