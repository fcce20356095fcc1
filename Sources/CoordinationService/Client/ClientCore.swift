package import FileAccessArbiter

/// Decides for one process of a domain which frames to send to the service, and how to react to its answers: a value,
/// without socket, thread, clock or lock.
///
/// It's the other half of ``ServiceCore``. Each mutating method is one event; it returns the effects, in order. All
/// that a process keeps from one service to the next is here: accesses, presenters, reacquirers that are owed,
/// delegations, questions. Claims that the process grants itself under a delegation are the fast tier's: the core
/// orders them to be collected before it gives a delegation back.
///
/// The parts: events of the program `+Events`, frames of the service `+Frames`, delegations `+Delegations`, from one
/// service to the next `+Connection`, accesses that no service has any more `+Lost`, questions `+Questions`, deadlines while no
/// service keeps them `+Deadlines`.
package struct ClientCore: Sendable {
  /// An access that the service has, or is to receive.
  struct Access: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
      /// It ends by a grant, a failure, or when the program doesn't wait any more.
      case waiting
      /// The program doesn't wait any more, and the service may not have read that. It ends by the service's answer.
      case abandoned
      /// Its accessor runs. It ends by its release.
      case held
    }

    /// With where its items are by now.
    var request: AccessRequest
    var phase: Phase
    /// When its wait is to end.
    var deadline: Timestamp?
    /// The program has given up, and that frame may be lost with the service.
    var isCancelled = false
    /// The token that processes were given which belong to it.
    var token: AccessToken?
  }

  /// A presenter's debt for an access it relinquished for: from the message until the reacquirer's turn.
  struct Debt: Hashable, Sendable {
    let presenter: PresenterID
    let origin: DebtOrigin
    /// The service that asked is gone, and the next one must be informed of the presenter whose turn it'll be.
    var isStale = false
  }

  /// A question to save that comes after a relinquish message without a message of its own.
  struct AnnouncedSave: Hashable, Sendable {
    let delivery: Delivery
    let origin: DeliveryOrigin

    /// - Returns: `nil` if nothing is announced with the message.
    init?(with message: Delivery, _ origin: DeliveryOrigin) {
      guard let save = message.announcedSave else { return nil }
      delivery = Delivery(message: save, presenter: message.presenter, kind: .saveChanges, origin: message.origin)
      self.origin = DeliveryOrigin(
        processIdentifier: origin.processIdentifier, processName: origin.processName, purpose: origin.purpose,
        debtOrigin: nil)
    }
  }

  /// Names this process's meeting with the domain.
  package let session: UInt64
  package var limits = ProcessLimits.standard
  /// The epoch of the last service to which this process reported its accesses; zero if there's nothing to report
  /// again.
  package internal(set) var epoch: UInt64 = 0
  package internal(set) var isConnected = false

  var accesses: [AccessID: Access] = [:]
  /// Accesses whose accessors run and that no service has any more, with what is around them: conflicting ones were granted to
  /// others, or no service could be reached.
  var lost: [AccessID: Surroundings] = [:]
  var registrations: [PresenterID: PresenterRegistration] = [:]
  /// Presenters that have unregistered, until the service has forgotten them.
  var endingPresenters: [PresenterID: PresenterRegistration] = [:]
  /// Those of them that no service knows, or not any more, until their last callback has returned.
  var unknownPresenters: Set<PresenterID> = []
  var debts: [MessageID: Debt] = [:]
  /// Messages that were answered with a reacquirer, which hasn't run yet.
  var reacquirers: Set<MessageID> = []
  var callbacks = CallbackOrder()
  /// By the messages that announced them, until these are answered.
  var announcements: [MessageID: AnnouncedSave] = [:]
  var delegations = DelegationTable()
  /// The rights that may be taken from this process before it has read a word of that; see ``rightsRevoked(_:)``.
  var revocation: Revocation?
  /// In the order in which they were asked.
  var questions: [RequestNumber: ClientFrame] = [:]
  var lastQuestion: UInt64 = 0
  /// Questions about presenters that were sent again to another service: answered when all processes have reported
  /// everything.
  var resumed: [RequestNumber] = []
  /// Those that the program has named, in the order of their numbers.
  var purposes: [PurposeID: String] = [:]
  var isObserving = false
  /// The frames for the next service.
  var backlog: [ClientFrame] = []
  /// Of the event under way.
  var effects: [ClientEffect] = []

  /// With more accesses than this, searching them for each delegation would cost more than delegations save.
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

/// The work of the runner of a client.
///
/// Carried out in the order in which they are returned, under the lock under which the event was passed on;
/// ``collectClaims(inside:_:)`` is reported by ``ClientCore/claimsCollected(_:)`` before the next one is carried out.
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
  /// Others may have been inside of the items of this access.
  case noteLoss(AccessID)
  case itemMoved(AccessID, item: Int, to: ItemPath)
  /// A callback of a presenter, or a reacquirer; its end is reported by `ArbiterEvent.messageAnswered`.
  case deliver(Delivery, DeliveryOrigin?)
  case presenterMoved(PresenterID, to: ItemPath)
  case locatePresenter(PresenterID)
  case forgetPresenter(PresenterID)
  case report(AccessID, WaitReport)
  case verifyAgain(ItemChange)
  /// Another process has moved an item: recorded places inside it are out of date.
  case noteMove(from: ItemPath, to: ItemPath)
  case answer(RequestNumber, ClientAnswer)
  /// For observers of the domain.
  case show(SnapshotReply)
  /// There's nothing to observe any more.
  case endObservation
  /// From here on the fast tier grants nothing that was covered until now.
  case forbidClaims
  /// Report each claim of the fast tier inside a directory by `ArbiterEvent.accessAdopted`.
  case collectClaims(inside: ItemPath, ClaimCollection)
  /// This process has given back the rights that were taken from it.
  case acknowledgeRevocation
}

/// The purpose for which claims of the fast tier are collected.
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

/// The outcome of a question.
package enum ClientAnswer: Hashable, Sendable {
  /// Whether the request has been fulfilled, or the answer is yes.
  case happened(Bool)
  case snapshot(SnapshotReply)
  /// There's no service, or none that runs.
  case unreachable
}

/// A mistake that a test can build in to show that it would be found.
package enum ClientFault: String, Hashable, Sendable, CaseIterable {
  /// A client goes on granting itself accesses under a returned delegation.
  case delegationKept
  /// A client grants itself something beside earlier requests of its own inside a delegated directory.
  case companionsForgotten
  /// A client asks for an access that a delegation keeps waiting, and keeps the delegation.
  case delegationKeptDespiteRequest
  /// A client returns a delegation without reporting the accesses that it granted itself.
  case claimsNotCollected
  /// A client without a service answers as if the earlier one were still listening.
  case debtAnsweredToNobody
  /// A presenter that has gone doesn't get its turn back when the service that asked it is gone too.
  case reacquirerOfRemovedForgotten
  /// A client that was expelled takes its former items for untouched.
  case expulsionForgotten
  /// A client reports a move again after it has reported its accesses.
  case movesToldLate
  /// A client takes in frames that an earlier service had sent before it was expelled.
  case staleFramesTaken
  /// A client doesn't report its callbacks that run to the next service.
  case runningCallbacksForgotten
  /// A question that was sent before its turn begins as soon as it's there.
  case questionsAheadBeginAtOnce
  /// A client doesn't report its waiting requests to the next service.
  case waitingForgotten
  /// An abandoned access is kept when it's granted.
  case abandonedGrantKept
  /// The current place of a granted item isn't reported to the next service.
  case itemMoveForgotten
  /// The token of an access isn't reported to the next service.
  case tokenForgotten
  /// A request inside of a lost access is taken for one outside of everything around that.
  case surroundingsOfLostForgotten
}
