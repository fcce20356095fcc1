package import FileAccessArbiter

/// Decides for one process of a domain what to tell the service, and what to do about its answers: a value, without
/// socket, thread, clock or lock.
///
/// It's the other half of ``ServiceCore``. Each mutating method is one thing that happened; it returns what to do about it,
/// in order. All that a process keeps from one service to the next is here: accesses, presenters, reacquirers that are owed,
/// delegations, questions. Claims that the process grants itself under a delegation are the fast tier's: the core orders them
/// to be collected before it gives a delegation back.
///
/// Where what lives: events of the program `+Events`, frames of the service `+Frames`, what was delegated `+Delegations`, from
/// one service to the next `+Connection`, questions `+Questions`, deadlines while no service keeps them `+Deadlines`.
package struct ClientCore: Sendable {
  /// An access that the service knows or is to hear of.
  struct Access: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
      /// It ends by a grant, a failure, or when nobody waits any more.
      case waiting
      /// Nobody waits any more, and the service may not have read that. It ends by the service's answer.
      case abandoned
      /// Its accessor runs. It ends by its release.
      case held
    }

    /// With where its items are by now.
    var request: AccessRequest
    var phase: Phase
    /// When it wants to wait no longer.
    var deadline: Timestamp?
    /// The program has given up, and the news may be lost with the service.
    var isCancelled = false
  }

  /// For whom a presenter relinquished: from the message until the reacquirer's turn.
  struct Debt: Hashable, Sendable {
    let presenter: PresenterID
    let origin: DebtOrigin
    /// The service that asked is gone, and the next one has to be told whose turn it'll be.
    var isStale = false
  }

  /// Names this process's meeting with the domain.
  package let session: UInt64
  package var limits = ProcessLimits.standard
  /// Of the last service that this process told what it holds; zero if there's nothing to tell again.
  package internal(set) var epoch: UInt64 = 0
  package internal(set) var isConnected = false

  var accesses: [AccessID: Access] = [:]
  /// Accesses whose accessors run and that the service doesn't know any more: it granted to others what conflicts.
  var lost: Set<AccessID> = []
  var registrations: [PresenterID: PresenterRegistration] = [:]
  /// Presenters that have unregistered, until the service has forgotten them.
  var endingPresenters: Set<PresenterID> = []
  /// Those of them that no service knows, until their last callback has returned.
  var unknownPresenters: Set<PresenterID> = []
  var debts: [MessageID: Debt] = [:]
  /// Messages that were answered with a reacquirer, which hasn't run yet.
  var reacquirers: Set<MessageID> = []
  var callbacks = CallbackOrder()
  var delegations = DelegationTable()
  /// What may be taken from this process before it has read a word of that; see ``rightsRevoked(_:)``.
  var revocation: Revocation?
  /// In the order in which they were asked.
  var questions: [RequestNumber: ClientFrame] = [:]
  var lastQuestion: UInt64 = 0
  /// Questions about presenters that were told again to another service: answered when everybody has told everything.
  var resumed: [RequestNumber] = []
  /// Those that the program has named, in the order of their numbers.
  var purposes: [PurposeID: String] = [:]
  var isObserving = false
  /// What the service is to be told as soon as there's one.
  var backlog: [ClientFrame] = []
  /// Of the event under way.
  var effects: [ClientEffect] = []

  /// With more accesses than this, looking through them for each delegation would cost more than delegations save.
  static let companionCountMax = 4096

  #if DEBUG
    /// Mistakes built in on purpose, to show that the tests find them.
    package var seededFaults: Set<ClientFault> = []
    func has(_ fault: ClientFault) -> Bool { !seededFaults.isEmpty && seededFaults.contains(fault) }
  #else
    @inline(__always) func has(_: ClientFault) -> Bool { false }
  #endif

  /// Creates a client that isn't connected.
  ///
  /// - Parameter session: A random number that no other process of the domain has.
  package init(session: UInt64) { self.session = session }

  mutating func takeEffects() -> [ClientEffect] {
    effects += callbacks.takeReleased()
    return exchange(&effects, with: [])
  }

  /// In the order of calls, to the service that runs or to the next one.
  mutating func tell(_ frame: ClientFrame) {
    if isConnected { effects.append(.send(frame)) } else { backlog.append(frame) }
  }

  mutating func forget(_ id: AccessID) {
    accesses[id] = nil
    delegations.accessEnded(id)
  }
}

/// What the runner of a client is to do.
///
/// Carried out in the order in which they are returned, under the lock under which the event was told; ``collectClaims(inside:_:)``
/// is reported by ``ClientCore/claimsCollected(_:)`` before the next one is carried out.
package enum ClientEffect: Hashable, Sendable {
  case send(ClientFrame)
  case grant(AccessID, Grant, FencingToken)
  case fail(AccessID, Failure, explanation: PresenterFailure?)
  /// The wait ends, because the program has given up.
  case cancel(AccessID)
  /// The wait ends, because its time is up and no service keeps it.
  case timeOut(AccessID)
  /// The wait ends, because there's no service, or none that runs.
  case giveUp(AccessID)
  /// Others may have been inside of what this access holds.
  case noteLoss(AccessID)
  case itemMoved(AccessID, item: Int, to: ItemPath)
  /// A callback of a presenter, or a reacquirer; its end is told by `ArbiterEvent.messageAnswered`.
  case deliver(Delivery, DeliveryOrigin?)
  case presenterMoved(PresenterID, to: ItemPath)
  case locatePresenter(PresenterID)
  case forgetPresenter(PresenterID)
  case report(AccessID, WaitReport)
  case lookAgain(ItemChange)
  /// Somebody has moved an item: what was found out about places inside it is out of date.
  case noteMove(from: ItemPath, to: ItemPath)
  case answer(RequestNumber, ClientAnswer)
  /// For those who observe the domain.
  case show(SnapshotReply)
  /// There's nothing to observe any more.
  case endObservation
  /// From here on the fast tier grants nothing that was covered until now.
  case forbidClaims
  /// Tell `ArbiterEvent.accessAdopted` of each claim of the fast tier inside a directory.
  case collectClaims(inside: ItemPath, ClaimCollection)
  /// This process has given back what was taken from it.
  case acknowledgeRevocation
}

/// What claims of the fast tier are collected for.
package enum ClaimCollection: Hashable, Sendable {
  /// A delegation is given back.
  case delegation(DelegationID)
  /// All of them are: the service has given them to others already.
  case revocation
  case survey(RequestNumber)
  /// The service has gone.
  case disconnection
  /// There's no other one.
  case unreachability
}

/// What became of a question.
package enum ClientAnswer: Hashable, Sendable {
  /// What was asked for has happened, or is so; or isn't possible.
  case happened(Bool)
  case snapshot(SnapshotReply)
  /// There's no service, or none that runs.
  case unreachable
}

/// A mistake that a test can build in to show that it would be found.
package enum ClientFault: String, Hashable, Sendable, CaseIterable {
  /// A client goes on granting itself what it has given back.
  case delegationKept
  /// A client grants itself something beside what it had requested before it was delegated the directory.
  case companionsForgotten
  /// A client asks for an access that a delegation keeps waiting, and keeps the delegation.
  case delegationKeptDespiteRequest
  /// A client gives back without telling what it granted itself.
  case claimsNotCollected
  /// A client without a service answers as if the earlier one would still listen.
  case debtAnsweredToNobody
  /// A presenter that has gone doesn't get its turn back when the service that asked it is gone too.
  case reacquirerOfRemovedForgotten
  /// A client that was expelled takes what it held before for untouched.
  case expulsionForgotten
  /// A client tells a move again after it has told what it holds.
  case movesToldLate
  /// A client takes in what an earlier service had told it before it was expelled.
  case staleFramesTaken
  /// Callbacks of a presenter run beside one that an earlier service asked for.
  case callbacksOverlap
  /// A client doesn't tell the next service what it was waiting for.
  case waitingForgotten
  /// An access that nobody waits for is kept when it's granted.
  case abandonedGrantKept
  /// Where a granted item is by now isn't told to the next service.
  case itemMoveForgotten
}
