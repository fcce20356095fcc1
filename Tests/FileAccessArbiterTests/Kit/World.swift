import CompactContainers
@testable import FileAccessArbiter

/// An arbiter, and beside it everything that its host can know: granted accesses, running callbacks, debts.
///
/// Every effect is checked against the contract that its documentation states, every state against `invariants()` and
/// against rules that are written here a second time, from the article Rules instead of from the implementation.
struct World: Sendable {
  enum Status: Hashable, Sendable { case waiting, granted, failed, released, gone }

  var arbiter: FileAccessArbiter
  var time: Timestamp = 0
  let packages: [String]
  var requests: [AccessID: AccessRequest] = [:]
  var status: [AccessID: Status] = [:]
  var failures: [AccessID: Failure] = [:]
  var grants: [AccessID: Grant] = [:]
  /// Where each item of each live access is, by the rules of moves (C-090…C-100).
  var places: [AccessID: [ItemPath]] = [:]
  /// Where items were before the holder itself moved them: protected until it ends.
  var formerPlaces: [AccessID: [AccessRequest.Item]] = [:]
  /// In order of request.
  var order: [AccessID] = []
  var registrations: [PresenterID: PresenterRegistration] = [:]
  var declaredAtFirst: [PresenterID: PresenterCallbacks] = [:]
  var presenterPlaces: [PresenterID: ItemPath] = [:]
  var forgotten: Set<PresenterID> = []
  /// Unregistered: nothing new for them but reacquirers.
  var removed: Set<PresenterID> = []
  /// Delivered and not answered.
  var running: [MessageID: Delivery] = [:]
  /// Those whose methods haven't returned, in order of delivery.
  var callbacks: [PresenterID: [MessageID]] = [:]
  /// Those that have begun to run where it was in doubt whether the presenter has the callback.
  var begun: Set<MessageID> = []
  /// Questions that hadn't begun, and were in doubt, when the time for them was over.
  var excused: Set<MessageID> = []
  /// How many accesses had been requested when each was delivered.
  var requestCounts: [MessageID: Int] = [:]
  /// Relinquish messages answered with a reacquirer that has not run.
  var owedReacquirers: [MessageID: PresenterID] = [:]
  /// Presenters that have their reacquirer back from this access.
  var reacquired: [AccessID: Set<PresenterID>] = [:]
  var timers: Set<ArbiterTimer> = []
  var reports: [WaitReport] = []
  var located: [PresenterID] = []
  var deadlocks = 0
  /// The sum of all changes of interest, as a host's table would have it.
  var interest: [PathFingerprint: [ItemInterest: Int]] = [:]
  var problems: [String] = []

  init(packages: [String] = ["pkg"]) {
    self.packages = packages
    arbiter = FileAccessArbiter(packageExtensions: packages, fingerprintSeed: World.seed, tracksInterest: true)
  }

  func isWaiting(_ id: AccessID) -> Bool { status[id] == .waiting }
  func isGranted(_ id: AccessID) -> Bool { status[id] == .granted }

  /// Passes an event to the arbiter and checks all consequences.
  @discardableResult
  mutating func apply(_ event: Event) -> [Effect] {
    let before = arbiter
    note(event)
    let effects = arbiter.step(event, at: time)
    var failed: [AccessID] = []
    for effect in effects {
      absorb(effect)
      if case .fail(let id, .deadlock) = effect { failed.append(id) }
    }
    noteInterest()
    for problem in arbiter.invariants() { problems.append("invariant: \(problem)") }
    checkPlaces()
    checkInterest()
    checkSavePriority()
    checkDeadlocks(failed, before, event)
    checkOvertakes(before, event)
    return effects
  }

  /// The conditions that must hold when no actor can do anything any more.
  func problemsAtTheEnd() -> [String] {
    var problems: [String] = []
    if !arbiter.isQuiescent { problems.append("the arbiter isn't quiescent") }
    for id in order where isWaiting(id) || isGranted(id) { problems.append("\(id) never ended: \(status[id] as Any)") }
    for (message, presenter) in owedReacquirers.sorted(by: { $0.key < $1.key }) {
      problems.append("the reacquirer of \(presenter) for \(message) never ran")
    }
    if !running.isEmpty { problems.append("never answered: \(running.keys.sorted())") }
    if !timers.isEmpty { problems.append("timers left: \(timers)") }
    return problems
  }
}

// MARK: - The host's own records

extension World {
  private mutating func note(_ event: Event) {
    switch event {
    case .join, .fire, .ubiquity, .version, .cancel, .stop: break
    case .adopt(let id, let request):
      requests[id] = request
      status[id] = .granted
      places[id] = request.items.map(\.path)
      order.append(id)
      noteAdoption(id)
    case .request(let id, let request):
      requests[id] = request
      status[id] = .waiting
      // A presenter that hasn't been notified of a move yet means the new place; `UnseenMoveTests` checks when.
      places[id] = request.items.map { arbiter.currentPath(of: $0.path, for: request.ownPresenter) }
      order.append(id)
    case .release(let id, _): status[id] = .released
    case .answer(let id, let hasReacquirer): noteAnswer(id, hasReacquirer)
    case .returned(let id): if let presenter = running[id]?.presenter { callbacks[presenter]?.removeAll { $0 == id } }
    case .began(let id): begun.insert(id)
    case .learned(let id, let callbacks): registrations[id]?.callbacks = callbacks
    case .failMessage(let id): noteAnswer(id, false)
    case .add(let id, let registration):
      registrations[id] = registration
      declaredAtFirst[id] = registration.callbacks
      presenterPlaces[id] = registration.path
    case .locate(let id, let path): if presenterPlaces[id] == nil { presenterPlaces[id] = path }
    case .remove(let id): removed.insert(id)
    case .move(let mover, let old, let new, _): noteMove(by: mover, old, new)
    case .depart(let client): noteDeparture(client)
    }
    if case .fire(let timer) = event {
      timers.remove(timer)
      if timer.purpose == .beginning || timer.purpose == .answering { noteExcuses(of: timer.access) }
    }
  }

  private mutating func noteExcuses(of id: AccessID) {
    for (message, delivery) in running where delivery.origin.access == id && !begun.contains(message) {
      let presumed = registrations[delivery.presenter]?.callbacks.presumed ?? []
      if presumed.contains(delivery.kind.requiredCallback) { excused.insert(message) }
    }
  }

  private mutating func noteAnswer(_ id: MessageID, _ hasReacquirer: Bool) {
    guard let delivery = running.removeValue(forKey: id) else { return }
    callbacks[delivery.presenter]?.removeAll { $0 == id }
    if hasReacquirer { owedReacquirers[id] = delivery.presenter }
  }

  private mutating func noteMove(by mover: AccessID, _ old: ItemPath, _ new: ItemPath) {
    if old == new { return }
    for id in order where isWaiting(id) || isGranted(id) {
      for (index, item) in (requests[id]?.items ?? []).enumerated() where requests[id]?.isPreparation == false {
        guard let place = places[id]?[index], old.isSameOrContains(place) else { continue }
        if isWaiting(id), item.access == .write(.replacing) { continue }
        if id == mover { formerPlaces[id, default: []].append(.init(place, item.access)) }
        places[id]?[index] = place.movedAlong(from: old, to: new)
      }
    }
  }

  private mutating func noteDeparture(_ client: ClientID) {
    for (id, request) in requests where request.client == client && (isWaiting(id) || isGranted(id)) {
      status[id] = .gone
    }
    for (id, registration) in registrations where registration.client == client {
      removed.insert(id)
      running = running.filter { $0.value.presenter != id }
      callbacks[id] = nil
      owedReacquirers = owedReacquirers.filter { $0.value != id }
    }
    timers = timers.filter { requests[$0.access]?.client != client }
  }
}

// MARK: - The contract of the effects

extension World {
  private mutating func absorb(_ effect: Effect) {
    switch effect {
    case .grant(let id, let grant): absorbGrant(id, grant)
    case .fail(let id, let failure):
      if !isWaiting(id) { problems.append("\(id) fails while \(status[id] as Any)") }
      status[id] = .failed
      failures[id] = failure
      if case .deadlock = failure { deadlocks += 1 }
    case .deliver(let delivery): absorbDelivery(delivery)
    case .itemMoved(let id, _, _): if !isGranted(id) { problems.append("\(id) isn't granted and is told of a move") }
    case .presenterMoved(let id, let path): presenterPlaces[id] = path
    case .locatePresenter(let id): located.append(id)
    case .forgetPresenter(let id):
      if !forgotten.insert(id).inserted { problems.append("\(id) is forgotten twice") }
      if running.values.contains(where: { $0.presenter == id }) { problems.append("\(id) is forgotten while it runs") }
    case .armTimer(let timer, _):
      if !isWaiting(timer.access) { problems.append("a timer is armed for \(timer.access), which doesn't wait") }
      timers.insert(timer)
    case .cancelTimer(let timer): timers.remove(timer)
    case .report(_, let report): reports.append(report)
    case .endEcho(let client, _): problems.append("\(client) is to end an echo, and presents nothing that observes")
    case .withdrawSave(let presenter, _):
      problems.append("a save is withdrawn from \(presenter), and none is announced")
    case .verifyAgain(_, let change): problems.append("somebody is to look again at \(change), and nobody saw it")
    case .delegationWanted(let id): if !isGranted(id) { problems.append("\(id) is recalled and not delegated") }
    }
  }

  private mutating func absorbGrant(_ id: AccessID, _ grant: Grant) {
    if !isWaiting(id) { problems.append("\(id) is granted while \(status[id] as Any)") }
    status[id] = .granted
    grants[id] = grant
    for other in order where other != id && isGranted(other) {
      if conflict(id, other), !isExempt(id, other) { problems.append("\(id) is granted beside \(other)") }
    }
    for other in order.prefix(while: { $0 != id }) where isWaiting(other) {
      if conflict(id, other), !isExempt(id, other), !arbiter.overtook(id, other) {
        problems.append("\(id) is granted before \(other), which was first")
      }
    }
    checkAnswers(id, grant.unanswered)
    if let above = callbackAbove(id) { problems.append("\(id) is granted while \(above) runs above its callback") }
  }

  /// A presenter is waited for if it's asked and has the callback, or has begun in time to run one that it may have.
  private mutating func checkAnswers(_ id: AccessID, _ unanswered: [String]) {
    for (message, delivery) in running.sorted(by: { $0.key < $1.key })
    where delivery.origin.access == id && !excused.contains(message) {
      guard delivery.kind.mustBeAnswered, !removed.contains(delivery.presenter),
        let callbacks = registrations[delivery.presenter]?.callbacks,
        callbacks.contains(delivery.kind.requiredCallback), let label = registrations[delivery.presenter]?.label,
        // Of one whose process is stopped, or by choice of the requester.
        !unanswered.contains("\(label) (\(delivery.kind.callbackName))")
      else { continue }
      problems.append("\(id) is granted before \(delivery.presenter) has answered \(message)")
    }
  }

  private mutating func absorbDelivery(_ delivery: Delivery) {
    let id = delivery.presenter
    guard let registration = registrations[id] else { return problems.append("\(id) is unknown") }
    if forgotten.contains(id) { problems.append("\(id) is sent \(delivery.kind) after it was forgotten") }
    // News that wait are delivered, if by other callbacks, when it turns out that the presenter hasn't the callback.
    let declared = delivery.kind.mustBeAnswered ? registration.callbacks : declaredAtFirst[id, default: []]
    if !declared.contains(delivery.kind.requiredCallback) {
      problems.append("\(id) is sent \(delivery.kind.callbackName), which it didn't declare")
    }
    if case .itemDidMove = delivery.kind, let mover = delivery.origin.access, isGranted(mover) {
      problems.append("\(id) is told of a move while \(mover) still has access")
    }
    if case .reacquire(let message) = delivery.kind {
      if owedReacquirers.removeValue(forKey: message) == nil {
        problems.append("the reacquirer of \(message) runs again or never existed")
      }
      if let access = delivery.origin.access { reacquired[access, default: []].insert(id) }
    } else {
      if removed.contains(id) { problems.append("\(id) is sent \(delivery.kind) after it unregistered") }
      if let access = delivery.origin.access, reacquired[access]?.contains(id) == true,
        !delivery.kind.mustBeAnswered
      {
        problems.append("\(id) is sent \(delivery.kind) about \(access) after its reacquirer")
      }
      checkOwn(delivery, registration)
    }
    let isBusy = callbacks[id]?.isEmpty == false
    if isBusy != delivery.isReentrant { problems.append("\(delivery) is marked wrongly: busy \(isBusy)") }
    if isBusy, !registration.servesWhileWaiting { problems.append("\(id) is served and didn't want to be") }
    running[delivery.message] = delivery
    // It hadn't even been delivered when the time was over.
    if delivery.origin.wasPassedOver, delivery.kind.mustBeAnswered { excused.insert(delivery.message) }
    requestCounts[delivery.message] = order.count
    callbacks[id, default: []].append(delivery.message)
  }

  private mutating func checkOwn(_ delivery: Delivery, _ registration: PresenterRegistration) {
    switch delivery.kind {
    case .itemVersion, .subitemVersion: return
    default: break
    }
    let isOwner = delivery.origin.access.flatMap { requests[$0]?.ownPresenter } == delivery.presenter
    if isOwner || delivery.origin.purpose == registration.purpose {
      problems.append("\(delivery.presenter) is sent \(delivery.kind) about its own access")
    }
  }
}

extension FileAccessArbiter {
  /// Whether `winner` was allowed to pass `other`.
  func overtook(_ winner: AccessID, _ other: AccessID) -> Bool {
    accesses.find(winner)?.overtakes.contains(other) == true
  }
}
