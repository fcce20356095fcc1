import CompactContainers
import Testing

@testable import FileAccessArbiter

/// Drives an arbiter through a scenario in few lines and checks it after every event.
///
///     let harness = ArbiterHarness()
///     let presenter = harness.presenter(at: "/d/f")
///     let reader = harness.read("/d/f")
///     harness.answer(presenter)
///
/// Each access has a purpose of its own unless one is named, so that accesses block each other.
final class ArbiterHarness {
  private(set) var world: World
  private var lastAccess: UInt64 = 0
  private var lastPresenter: UInt64 = 0
  private var lastPurpose: UInt64 = 1000
  private var clients: Set<ClientID> = []
  private var received: [PresenterID: [Delivery]] = [:]
  private(set) var log: [String] = []
  private var delays: [(purpose: ArbiterTimer.Purpose, delay: Nanoseconds)] = []

  init(packages: [String] = ["pkg"]) {
    world = World(packages: packages)
  }

  #if DEBUG
    var seededFaults: Set<SeededFault> {
      get { world.arbiter.seededFaults }
      set { world.arbiter.seededFaults = newValue }
    }
  #endif

  var state: String {
    "after\n  " + log.suffix(40).joined(separator: "\n  ") + "\nin\n" + world.arbiter.stateDescription
  }

  /// Passes an event to the arbiter, and fails the test if anything is wrong afterwards.
  @discardableResult
  func apply(_ event: Event) -> [Effect] {
    log.append("\(event)")
    let effects = world.apply(event)
    for effect in effects {
      log.append("    → \(effect.summary)")
      if case .armTimer(let timer, let delay) = effect { delays.append((timer.purpose, delay)) }
      if case .deliver(let delivery) = effect { received[delivery.presenter, default: []].append(delivery) }
    }
    if !world.problems.isEmpty {
      Issue.record("\(world.problems.joined(separator: "\n"))\n\(state)")
      world.problems = []
    }
    return effects
  }

  func join(_ client: ClientID) {
    if clients.insert(client).inserted { apply(.join(client, name: "pid \(client.rawValue)")) }
  }

  func newPurpose() -> PurposeID {
    lastPurpose += 1
    return PurposeID(lastPurpose)
  }
}

// MARK: - Presenters

extension ArbiterHarness {
  /// Registers a presenter of `path`, or one without a location.
  func presenter(
    at path: ItemPath?, callbacks: PresenterCallbacks = .all, client: UInt64 = 1, purpose: PurposeID? = nil,
    observing attributes: Set<String>? = nil, servesWhileWaiting: Bool = true, isActor: Bool = false
  ) -> PresenterID {
    join(ClientID(client))
    lastPresenter += 1
    let id = PresenterID(lastPresenter)
    var registration = PresenterRegistration(
      client: ClientID(client), purpose: purpose ?? newPurpose(), label: "P\(lastPresenter)", callbacks: callbacks,
      path: path, observedUbiquityAttributes: attributes)
    registration.servesWhileWaiting = servesWhileWaiting
    registration.isActor = isActor
    apply(.add(id, registration))
    return id
  }

  func purpose(of presenter: PresenterID) -> PurposeID {
    world.registrations[presenter]?.purpose ?? PurposeID(0)
  }

  /// The messages to the presenter since the last call.
  func taken(_ presenter: PresenterID) -> [Message.Kind] {
    defer { received[presenter] = nil }
    return received[presenter, default: []].map(\.kind)
  }

  func deliveries(_ presenter: PresenterID) -> [Delivery] {
    defer { received[presenter] = nil }
    return received[presenter, default: []]
  }

  /// The callback of the presenter that runs on top, if any.
  func top(_ presenter: PresenterID) -> MessageID? { world.callbacks[presenter]?.last }

  func isRunning(_ presenter: PresenterID, _ kind: Message.Kind) -> Bool {
    top(presenter).flatMap { world.running[$0]?.kind } == kind
  }

  /// The presenter's callback on top returns.
  func answer(_ presenter: PresenterID, hasReacquirer: Bool = false) {
    guard let message = top(presenter) else { return record("\(presenter) runs nothing that could be answered") }
    apply(.answer(message, hasReacquirer: hasReacquirer))
  }

  /// The presenter's callback on top throws.
  func fail(_ presenter: PresenterID) {
    guard let message = top(presenter) else { return record("\(presenter) runs nothing that could throw") }
    apply(.failMessage(message))
  }

  /// Answers until no callback runs any more, the innermost callback first.
  func answerAll(hasReacquirer: Bool = false) {
    while let message = world.callbacks.values.compactMap(\.last).min() {
      let isRelinquish = world.running[message]?.kind.isRelinquish == true
      apply(.answer(message, hasReacquirer: hasReacquirer && isRelinquish))
    }
  }

  func remove(_ presenter: PresenterID) { apply(.remove(presenter)) }
  func locate(_ presenter: PresenterID, at path: ItemPath) { apply(.locate(presenter, path)) }
  func depart(_ client: UInt64) { apply(.depart(ClientID(client))) }

  /// Some time later these processes, and no others, are found to be stopped.
  func stop(_ clients: Set<UInt64>, after interval: Nanoseconds) {
    world.time += interval
    apply(.stop(Set(clients.map { ClientID($0) })))
  }

  func record(_ message: String) { Issue.record("\(message)\n\(state)") }
}

// MARK: - Accesses

extension ArbiterHarness {
  @discardableResult
  func read(
    _ path: ItemPath, withoutChanges: Bool = false, client: UInt64 = 1, purpose: PurposeID? = nil,
    own presenter: PresenterID? = nil, inside context: ExecutionContext? = nil, limits: AccessRequest.Limits = .never
  ) -> AccessID {
    request(
      [.init(path, .read(withoutChanges: withoutChanges))], client: client, purpose: purpose, own: presenter,
      inside: context, limits: limits)
  }

  @discardableResult
  func write(
    _ path: ItemPath, _ intent: WriteIntent = .update, client: UInt64 = 1, purpose: PurposeID? = nil,
    own presenter: PresenterID? = nil, inside context: ExecutionContext? = nil, limits: AccessRequest.Limits = .never
  ) -> AccessID {
    request(
      [.init(path, .write(intent))], client: client, purpose: purpose, own: presenter, inside: context, limits: limits)
  }

  @discardableResult
  func request(
    _ items: [AccessRequest.Item], client: UInt64 = 1, purpose: PurposeID? = nil, own presenter: PresenterID? = nil,
    inside context: ExecutionContext? = nil, limits: AccessRequest.Limits = .never,
    _ change: (inout AccessRequest) -> Void = { _ in }
  ) -> AccessID {
    join(ClientID(client))
    lastAccess += 1
    let id = AccessID(lastAccess)
    var request = AccessRequest(
      client: ClientID(client), purpose: purpose ?? presenter.map(self.purpose(of:)) ?? newPurpose(),
      ownPresenter: presenter, label: "A\(lastAccess)", items: items, context: context, limits: limits)
    change(&request)
    apply(.request(id, request))
    return id
  }

  /// An access of one item that went ahead unasked is adopted.
  func adopt(_ path: ItemPath, _ access: ItemAccess, inside context: ExecutionContext? = nil) -> AccessID {
    join(ClientID(1))
    lastAccess += 1
    let id = AccessID(lastAccess)
    var request = AccessRequest(
      client: ClientID(1), purpose: newPurpose(), label: "A\(lastAccess)", items: [.init(path, access)])
    request.context = context
    apply(.adopt(id, request))
    return id
  }

  /// Asks the presenters of the items without claiming anything.
  func prepare(_ items: [AccessRequest.Item]) -> AccessID {
    request(items) { $0.isPreparation = true }
  }

  func release(_ id: AccessID, _ outcomes: ItemOutcome...) { apply(.release(id, outcomes)) }
  func cancel(_ id: AccessID) { apply(.cancel(id)) }

  func move(by id: AccessID, from old: ItemPath, to new: ItemPath, replaced: Bool = false) {
    apply(.move(id, from: old, to: new, replaced: replaced))
  }

  /// How long the timers were armed for that check whether questions have begun.
  var beginningDelays: [Nanoseconds] { delays.filter { $0.purpose == .beginning }.map(\.delay) }

  func fire(_ purpose: ArbiterTimer.Purpose, of id: AccessID, after interval: Nanoseconds = 0) {
    world.time += interval
    guard let timer = world.timers.first(where: { $0.access == id && $0.purpose == purpose }) else {
      return record("\(id) has no \(purpose) timer")
    }
    apply(.fire(timer))
  }

  func isGranted(_ id: AccessID) -> Bool { world.isGranted(id) }
  func isWaiting(_ id: AccessID) -> Bool { world.isWaiting(id) }
  func failure(of id: AccessID) -> Failure? { world.failures[id] }
  func path(of id: AccessID) -> ItemPath? { world.arbiter.accesses.find(id).map { world.arbiter.paths(of: $0)[0] } }

  func isDeadlocked(_ id: AccessID) -> Bool {
    if case .deadlock = world.failures[id] { return true }
    return false
  }

  /// All presenters answer, all granted accesses end; then nothing may be left.
  func finish() {
    var isDone = false
    while !isDone {
      answerAll()
      isDone = true
      for id in world.order where isGranted(id) && world.arbiter.accesses.contains(id) {
        release(id)
        isDone = false
      }
    }
    let problems = world.problemsAtTheEnd()
    if !problems.isEmpty { record(problems.joined(separator: "\n")) }
  }
}

extension WaitMember {
  fileprivate var name: String {
    switch self {
    case .access(let access): "\(access.id)"
    case .message(let message): "\(message.id)"
    case .others(let count): "\(count) more"
    }
  }
}

extension Effect {
  var summary: String {
    switch self {
    case .grant(let id, let grant): "\(id) is granted \(grant.items.map { "\($0.path)" })"
    case .fail(let id, .deadlock(let members)): "\(id) fails: deadlock \(members.map(\.name).joined(separator: " → "))"
    case .fail(let id, let failure): "\(id) fails: \(failure)"
    case .deliver(let delivery):
      "\(delivery.presenter) is sent \(delivery.kind) (\(delivery.message))\(delivery.isReentrant ? " re-entrantly" : "")"
    case .itemMoved(let id, let item, let path): "item \(item) of \(id) is at \(path)"
    case .presenterMoved(let id, let path): "\(id) is at \(path)"
    case .locatePresenter(let id): "ask \(id) where it is"
    case .forgetPresenter(let id): "\(id) is forgotten"
    case .armTimer(let timer, let delay): "\(timer.purpose) timer of \(timer.access) armed for \(delay)"
    case .cancelTimer(let timer): "\(timer.purpose) timer of \(timer.access) cancelled"
    case .report(let id, _): "\(id) is reported"
    case .delegationWanted(let id): "\(id) is wanted back"
    case .endEcho(let client, let echo): "\(client) is to end \(echo.rawValue)"
    case .withdrawSave(let presenter, let message): "withdraw the save of \(presenter) announced by \(message)"
    case .verifyAgain(let client, let change): "\(client) is to look again: \(change)"
    }
  }
}
