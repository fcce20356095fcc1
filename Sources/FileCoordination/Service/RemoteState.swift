internal import CoordinationService
internal import FileAccessArbiter
internal import Synchronization

/// What a process has told the service of its domain, to tell it again to another one, and what it was lent.
///
/// Part of the host's state, under its lock.
struct RemoteState: Sendable {
  struct Debt: Sendable {
    let presenter: PresenterID
    let origin: DebtOrigin
    /// The service that asked is gone, and the next one has to be told whose turn it'll be.
    var isStale = false
  }

  let link: ServiceLink
  var limits = ProcessLimits.standard
  /// Accesses that wait or are held, and that the service knows.
  var requests: [AccessID: AccessRequest] = [:]
  /// Accesses that are held and that the service doesn't know any more: it granted to others what conflicts.
  var lost: Set<AccessID> = []
  var registrations: [PresenterID: PresenterRegistration] = [:]
  /// For whom presenters relinquished, from the message to the end of their reacquirers' wait.
  var debts: [MessageID: Debt] = [:]
  var loans = LoanTable()
  /// Waiting accesses whose requesters have given up; the news may be lost with the service.
  var cancelled: Set<AccessID> = []

  var callbacks = CallbackOrder()

  /// What the registration that's under way has to wait for.
  var question: ServiceQuestion?

  init(_ link: ServiceLink) { self.link = link }

  mutating func forget(_ id: AccessID) {
    requests[id] = nil
    cancelled.remove(id)
    loans.accessEnded(id)
  }

  /// Whether nobody will give a presenter its turn back: it has unregistered, and the service that knew of it is gone.
  func isOrphaned(_ message: MessageID) -> Bool {
    debts[message].map { $0.isStale && registrations[$0.presenter] == nil } ?? false
  }

  /// Whether this process may grant such a claim to itself.
  func covers(_ path: ItemPath, isWrite: Bool) -> Bool { loans.loan(for: path, isWrite: isWrite) != nil }

  /// The token of a claim that this process grants to itself: that of the loan.
  func token(for path: ItemPath, isWrite: Bool) -> FencingToken? {
    loans.loan(for: path, isWrite: isWrite).map {
      FencingToken(epoch: link.epoch.load(ordering: .acquiring), sequence: $0.rawValue)
    }
  }
}

extension ArbiterHost.State {
  /// Tells the arbiter that something happened, or the service in whose hands it is.
  ///
  /// - Returns: What the arbiter decided; nothing if it's the service that decides, which answers later.
  mutating func tell(_ event: ArbiterEvent, at time: Timestamp) -> [Effect] {
    if remote == nil { return arbiter.step(event, at: time) }
    tellService(event)
    return []
  }

  private mutating func tellService(_ event: ArbiterEvent) {
    guard let link = remote?.link else { return }
    switch event {
    case .accessRequested(let id, let request), .accessAdopted(let id, let request):
      remote?.requests[id] = request
      if request.context != nil { remote?.callbacks.letAllGo() }
    case .accessReleased(let id, _):
      remote?.forget(id)
      if remote?.lost.remove(id) != nil { return }
    case .presenterAdded(let id, let registration):
      remote?.registrations[id] = registration
      remote?.question = link.pose(link.newNumber()) { .presenterEvent($0, event) }
      return
    case .presenterLocated(let id, let path, let attributes):
      remote?.registrations[id]?.path = path
      if let attributes { remote?.registrations[id]?.observedUbiquityAttributes = attributes }
      remote?.question = link.pose(link.newNumber()) { .presenterEvent($0, event) }
      return
    case .presenterRelabelled(let id, let label):
      if remote?.registrations[id].map({ $0.label == label }) ?? true { return }
      remote?.registrations[id]?.label = label
    case .presenterRemoved(let id): remote?.registrations[id] = nil
    case .messageAnswered(let message, let hasReacquirer):
      remote?.callbacks.noteEnd(of: message)
      guard let debt = remote?.debts[message] else { break }
      if !hasReacquirer {
        remote?.debts[message] = nil
      } else if debt.isStale {
        return link.tell(.reasserted(.debt(debt.presenter, message, owedFor: debt.origin)))
      }
    case .callbackReturned(let message): remote?.callbacks.noteEnd(of: message)
    case .presenterLearned(let id, let callbacks):
      guard let known = remote?.registrations[id]?.callbacks else { break }
      remote?.registrations[id]?.callbacks = known.replacing(callbacks: callbacks)
    case .messageFailed(let message, _):
      remote?.callbacks.noteEnd(of: message)
      remote?.debts[message] = nil
    case .accessCancelled(let id): if remote?.requests[id] != nil { remote?.cancelled.insert(id) }
    case .callbackBegan, .ubiquityAttributesChanged, .versionChanged, .changesSeen, .changesConfirmed, .echoSettled:
      break
    }
    link.tell(.event(event))
  }

  /// Everything that a service has to know that takes the place of another.
  func resumption() -> [ClientFrame] {
    guard let remote else { return [] }
    var frames: [ClientFrame] = purposes.named.map { .purposeNamed($0.id, $0.name) }
    for (id, registration) in remote.registrations.sorted(by: { $0.key < $1.key }) {
      frames.append(.reasserted(.presenter(id, registration)))
    }
    var waiting: [ClientFrame] = []
    for (id, request) in remote.requests.sorted(by: { $0.key < $1.key }) {
      guard let waiter = waiters[id] else { continue }
      var request = request
      // Behind the items come their aliases, which stay where they are.
      for index in waiter.items.indices { request.items[index].path = waiter.path(of: index) }
      if waiter.isGranted {
        frames.append(.reasserted(.access(id, request)))
      } else {
        waiting.append(.event(.accessRequested(id, request)))
        if remote.cancelled.contains(id) { waiting.append(.event(.accessCancelled(id))) }
      }
    }
    for message in reacquirers.keys.sorted() {
      guard let debt = remote.debts[message], remote.registrations[debt.presenter] != nil else { continue }
      frames.append(.reasserted(.debt(debt.presenter, message, owedFor: debt.origin)))
    }
    frames.append(.reassertionEnded)
    if !observers.isEmpty { frames.append(.observationWanted(true)) }
    return frames + waiting
  }
}
