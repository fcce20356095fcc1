@testable import FileAccessArbiter

/// One move of the environment.
///
/// Symbolic, so that a list of them can be replayed with parts left out.
enum Action: Hashable, Sendable {
  /// The actor or callback of this name does its next step.
  case step(String)
  /// The presenter's topmost callback begins to react, in its n-th way.
  case react(Int, Int)
  /// Gives up the access that the actor waits for.
  case cancel(String)
  case fire(String, ArbiterTimer.Purpose)
  case depart(UInt64)
}

/// An arbiter inside an environment that does everything that its scenario allows, in any order.
struct Simulation: Sendable {
  struct Frame: Sendable {
    let steps: [Step]
    var next = 0
    var access: AccessID?
    /// The presenter whose turn it is inside of this.
    var turn: Int?
  }

  /// An actor, or a callback under way.
  struct Worker: Sendable {
    let name: String
    let client: UInt64
    var context: ExecutionContext?
    var isAwaitedByContext = true
    /// The callback's message, until it's answered.
    var message: MessageID?
    var presenter: Int?
    var end: Reaction.End?
    var later: Reaction.Later?
    /// The callback doesn't go on by itself, because the rest is done elsewhere.
    var isElsewhere = false
    var frames: [Frame]
    var awaited: (id: AccessID, plan: AccessPlan)?
    /// The presenter whose turn it waits for.
    var awaitedTurn: Int?
    var detachedCount = 0
  }

  let scenario: Scenario
  var world = World()
  var workers: [Worker] = []
  /// Delivered callbacks that haven't begun to react.
  var unstarted: Set<MessageID> = []
  var activeReactions: [Int]
  var callbackCounts: [Int]
  var departed: Set<UInt64> = []
  /// For each presenter the worker that has its turn, and then the workers that wait for the turn.
  var turns: [[String]]
  private var lastAccess: UInt64 = 0
  private var lastPurpose: UInt64 = 1000
  /// Every event and effect, on request.
  var log: [String]?

  init(_ scenario: Scenario, logs: Bool = false) {
    self.scenario = scenario
    activeReactions = scenario.presenters.map { _ in 0 }
    callbackCounts = scenario.presenters.map { _ in 0 }
    turns = scenario.presenters.map { _ in [] }
    log = logs ? [] : nil
  }

  #if DEBUG
    init(_ scenario: Scenario, faults: Set<SeededFault>, logs: Bool = false) {
      self.init(scenario, logs: logs)
      world.arbiter.seededFaults = faults
    }
  #endif

  mutating func start() {
    let clients = Set(scenario.actors.map(\.client) + scenario.presenters.map(\.client) + scenario.mayDepart)
    for client in clients.sorted() { apply(.join(ClientID(client), name: "pid \(client)")) }
    for index in scenario.presenters.indices where scenario.presenters[index].isRegisteredAtStart { register(index) }
    for (index, actor) in scenario.actors.enumerated() {
      workers.append(Worker(name: "actor \(index)", client: actor.client, frames: [Frame(steps: actor.steps)]))
    }
    settle()
  }

  private mutating func apply(_ event: Event) {
    log?.append("\(event)")
    for effect in world.apply(event) {
      log?.append("    → \(effect.summary)")
      if case .deliver(let delivery) = effect { unstarted.insert(delivery.message) }
    }
  }

  private mutating func register(_ index: Int) {
    let plan = scenario.presenters[index]
    if departed.contains(plan.client) || world.registrations[PresenterID(UInt64(index))] != nil { return }
    var registration = PresenterRegistration(
      client: ClientID(plan.client), purpose: purpose(ofPresenter: index), label: "P\(index)",
      callbacks: plan.callbacks, path: plan.path)
    registration.servesWhileWaiting = plan.servesWhileWaiting
    registration.isActor = plan.isActor
    if !plan.isAsync { registration.callbacks.insert(.nestedCallbacks) }
    apply(.add(PresenterID(UInt64(index)), registration))
  }

  private func purpose(ofPresenter index: Int) -> PurposeID {
    PurposeID(scenario.presenters[index].purpose ?? UInt64(500 + index))
  }
}

// MARK: - Possible actions

extension Simulation {
  /// All moves that are possible now, always in the same order.
  var enabled: [Action] {
    var actions: [Action] = []
    for worker in workers {
      if let (id, plan) = worker.awaited {
        if plan.mayBeCancelled, world.isWaiting(id) { actions.append(.cancel(worker.name)) }
      } else if worker.awaitedTurn == nil, mayStep(worker) {
        actions.append(.step(worker.name))
      }
    }
    for index in scenario.presenters.indices {
      guard let message = startable(index), let kind = world.running[message]?.kind else { continue }
      for (number, reaction) in reactions(of: index, to: kind).enumerated() {
        if !reaction.isActive || activeReactions[index] < scenario.activeReactionsMax {
          actions.append(.react(index, number))
        }
      }
    }
    for timer in world.timers.sorted(by: { ($0.access, $0.purpose.rawValue) < ($1.access, $1.purpose.rawValue) }) {
      if let worker = workers.first(where: { $0.awaited?.id == timer.access }) {
        actions.append(.fire(worker.name, timer.purpose))
      }
    }
    for client in scenario.mayDepart where !departed.contains(client) { actions.append(.depart(client)) }
    return actions
  }

  /// A default implementation only answers.
  private func reactions(of presenter: Int, to kind: Message.Kind) -> [Reaction] {
    let plan = scenario.presenters[presenter]
    let isDefault = plan.callbacks.presumed.subtracting(plan.written).contains(kind.requiredCallback)
    return isDefault && kind.requiredCallback != [] ? [.answer] : plan.reactions(to: kind)
  }

  private func top(_ index: Int) -> MessageID? { world.callbacks[PresenterID(UInt64(index))]?.last }

  /// The delivered callback that may begin next: that of a task whenever it likes, one on a thread or queue only above all others.
  private func startable(_ index: Int) -> MessageID? {
    let stack = world.callbacks[PresenterID(UInt64(index))] ?? []
    let isAsync = scenario.presenters[index].isAsync
    return (isAsync ? stack : stack.suffix(1)).last(where: unstarted.contains)
  }

  /// A callback on a thread or queue can't go on while another one runs above it.
  private func mayStep(_ worker: Worker) -> Bool {
    guard let presenter = worker.presenter, let message = worker.message, !worker.isElsewhere else { return true }
    return scenario.presenters[presenter].isAsync || top(presenter) == message
  }
}

// MARK: - Doing it

extension Simulation {
  /// Does the action, or nothing and answers `false` when it's impossible.
  mutating func perform(_ action: Action) -> Bool {
    guard enabled.contains(action) else { return false }
    log?.append("--- \(action)")
    switch action {
    case .step(let name):
      guard let index = workers.firstIndex(where: { $0.name == name }) else { return false }
      step(index)
    case .react(let presenter, let number): react(presenter, number)
    case .cancel(let name):
      guard let id = workers.first(where: { $0.name == name })?.awaited?.id else { return false }
      apply(.cancel(id))
    case .fire(let name, let purpose):
      guard let id = workers.first(where: { $0.name == name })?.awaited?.id,
        let timer = world.timers.first(where: { $0.access == id && $0.purpose == purpose })
      else { return false }
      apply(.fire(timer))
    case .depart(let client):
      departed.insert(client)
      apply(.depart(ClientID(client)))
      workers.removeAll { $0.client == client }
      for index in turns.indices {
        turns[index].removeAll { name in !workers.contains { $0.name == name } }
        giveTurn(index)
      }
      unstarted = unstarted.filter { world.running[$0] != nil }
    }
    settle()
    return true
  }

  private mutating func react(_ presenter: Int, _ number: Int) {
    guard let message = startable(presenter), let kind = world.running[message]?.kind else { return }
    let reaction = reactions(of: presenter, to: kind)[number]
    unstarted.remove(message)
    begin(message, presenter, kind)
    if world.running[message] == nil { return }
    if !reaction.isActive { return conclude(message, presenter, reaction.end) }
    activeReactions[presenter] += 1
    callbackCounts[presenter] += 1
    workers.append(
      Worker(
        name: "callback \(callbackCounts[presenter]) of \(presenter)", client: scenario.presenters[presenter].client,
        context: .message(message), message: message, presenter: presenter, end: reaction.end, later: reaction.later,
        frames: [Frame(steps: reaction.steps)]))
    if !reaction.steps.isEmpty { step(workers.count - 1) }
  }

  /// The presenter's queue runs it.
  ///
  /// If it was unknown whether the class has written it, that's known soon.
  private mutating func begin(_ message: MessageID, _ presenter: Int, _ kind: Message.Kind) {
    let plan = scenario.presenters[presenter]
    guard
      world.registrations[PresenterID(UInt64(presenter))]?.callbacks.presumed.contains(kind.requiredCallback) == true
    else { return }
    apply(.began(message))
    // A default reports when it runs, the class's own method when it has returned.
    if !plan.written.contains(kind.requiredCallback) { learn(kind, presenter) }
  }

  private mutating func learn(_ kind: Message.Kind, _ presenter: Int) {
    let plan = scenario.presenters[presenter]
    for index in [presenter] + plan.classmates {
      let id = PresenterID(UInt64(index))
      guard var callbacks = world.registrations[id]?.callbacks, !world.removed.contains(id) else { continue }
      if !callbacks.presumed.contains(kind.requiredCallback) { continue }
      callbacks.presumed.remove(kind.requiredCallback)
      if !plan.written.contains(kind.requiredCallback) { callbacks.remove(kind.requiredCallback) }
      apply(.learned(id, callbacks))
    }
  }

  /// The callback has done its own part: the rest is done on another queue or task, which answers.
  private mutating func goElsewhere(_ index: Int, _ later: Reaction.Later) {
    workers[index].later = nil
    workers[index].isElsewhere = true
    workers[index].isAwaitedByContext = false
    if !later.inheritsContext { workers[index].context = nil }
    workers[index].frames = [Frame(steps: later.steps)]
    if later.returns, let message = workers[index].message { apply(.returned(message)) }
  }

  private mutating func conclude(_ message: MessageID, _ presenter: Int, _ end: Reaction.End) {
    if let kind = world.running[message]?.kind, kind.requiredCallback != [] { learn(kind, presenter) }
    switch end {
    case .answer: apply(.answer(message, hasReacquirer: false))
    case .reacquirer: apply(.answer(message, hasReacquirer: true))
    case .fail: apply(.failMessage(message))
    case .unregister:
      apply(.remove(PresenterID(UInt64(presenter))))
      apply(.answer(message, hasReacquirer: false))
    }
  }

  private mutating func step(_ index: Int) {
    guard var frame = workers[index].frames.last else { return }
    if frame.next < frame.steps.count {
      let step = frame.steps[frame.next]
      frame.next += 1
      workers[index].frames[workers[index].frames.count - 1] = frame
      perform(step, index)
    } else {
      workers[index].frames.removeLast()
      if let access = frame.access { apply(.release(access, [])) }
      if let turn = frame.turn { passOn(turn) }
    }
  }

  /// The worker that has the turn is done with it: the next goes on.
  private mutating func passOn(_ turn: Int) {
    turns[turn].removeFirst()
    giveTurn(turn)
  }

  private mutating func giveTurn(_ turn: Int) {
    guard let next = turns[turn].first, let index = workers.firstIndex(where: { $0.name == next }) else { return }
    workers[index].awaitedTurn = nil
  }

  private mutating func perform(_ step: Step, _ index: Int) {
    let worker = workers[index]
    switch step {
    case .access(let plan): workers[index].awaited = (request(plan, worker), plan)
    case .detached(let plan):
      workers[index].detachedCount += 1
      var other = Worker(
        name: worker.name + "'\(workers[index].detachedCount)", client: worker.client, context: innermost(worker),
        isAwaitedByContext: false, frames: [Frame(steps: [])])
      other.awaited = (request(plan, other), plan)
      workers.append(other)
    case .inTurn(let presenter, let steps):
      if !turns[presenter].isEmpty { workers[index].awaitedTurn = presenter }
      turns[presenter].append(worker.name)
      workers[index].frames.append(Frame(steps: steps, turn: presenter))
    case .move(let from, let to): move(from, to, worker)
    case .register(let presenter): register(presenter)
    case .unregister(let presenter):
      if world.registrations[PresenterID(UInt64(presenter))] != nil { apply(.remove(PresenterID(UInt64(presenter)))) }
    case .locate(let presenter, let path): locate(presenter, path)
    case .answer(let hasReacquirer):
      guard let message = worker.message else { return }
      workers[index].message = nil
      apply(.answer(message, hasReacquirer: hasReacquirer))
    }
  }

  private mutating func locate(_ presenter: Int, _ path: ItemPath) {
    let id = PresenterID(UInt64(presenter))
    if world.registrations[id] != nil, !world.removed.contains(id) { apply(.locate(id, path)) }
  }

  private func innermost(_ worker: Worker) -> ExecutionContext? {
    worker.frames.last { $0.access != nil }?.access.map(ExecutionContext.access) ?? worker.context
  }

  private mutating func request(_ plan: AccessPlan, _ worker: Worker) -> AccessID {
    lastAccess += 1
    lastPurpose += 1
    let id = AccessID(lastAccess)
    let purpose =
      plan.purpose.map { PurposeID($0) } ?? plan.own.map { self.purpose(ofPresenter: $0) } ?? PurposeID(lastPurpose)
    var request = AccessRequest(
      client: ClientID(worker.client), purpose: purpose, ownPresenter: plan.own.map { PresenterID(UInt64($0)) },
      label: worker.name, items: plan.items, context: innermost(worker), limits: plan.limits)
    request.isPreparation = plan.isPreparation
    request.blocksThread = plan.blocksThread
    request.isOnMainThread = plan.isOnMainThread
    request.proceedsWithoutLateAnswers = plan.proceedsWithoutLateAnswers
    request.isAwaitedByContext = worker.isAwaitedByContext || worker.frames.contains { $0.access != nil }
    let item = plan.items[0]
    let goesAhead = plan.mayBeAdopted && world.arbiter.admits(item.access, at: item.path)
    apply(goesAhead ? .adopt(id, request) : .request(id, request))
    return id
  }

  private mutating func move(_ from: ItemPath?, _ to: ItemPath, _ worker: Worker) {
    guard let access = worker.frames.last(where: { $0.access != nil })?.access,
      let old = from ?? world.places[access]?.first, !old.isSameOrContains(to), !to.isSameOrContains(old),
      world.arbiter.mayAnnounceMove(access, from: old, to: to)
    else { return }
    apply(.move(access, from: old, to: to, replaced: false))
  }

  /// Passes grants and failures on to the workers, and ends those that are over.
  private mutating func settle() {
    var index = 0
    while index < workers.count {
      if let (id, plan) = workers[index].awaited {
        if world.isGranted(id) {
          workers[index].awaited = nil
          workers[index].frames.append(Frame(steps: plan.inside, access: id))
        } else if !world.isWaiting(id) {
          workers[index].awaited = nil
        }
      }
      index += 1
    }
    conclude()
  }

  private mutating func conclude() {
    while let index = workers.firstIndex(where: { isOver($0) && mayConclude($0) }) {
      let worker = workers.remove(at: index)
      if let later = worker.later, worker.message != nil {
        workers.append(worker)
        goElsewhere(workers.count - 1, later)
        return settle()
      }
      if let message = worker.message, let presenter = worker.presenter, let end = worker.end {
        conclude(message, presenter, end)
        return settle()
      }
    }
  }

  private func isOver(_ worker: Worker) -> Bool {
    guard worker.awaited == nil, worker.awaitedTurn == nil else { return false }
    return worker.frames.allSatisfy { $0.access == nil && $0.turn == nil && $0.next == $0.steps.count }
  }

  private func mayConclude(_ worker: Worker) -> Bool { worker.message == nil || mayStep(worker) }
}

// MARK: - The end

extension Simulation {
  /// The work that isn't finished although no action is possible any more.
  func problemsAtTheEnd() -> [String] {
    var problems = world.problemsAtTheEnd()
    if scenario.isFreeOfDeadlocks, world.deadlocks > 0 { problems.append("\(world.deadlocks) failed as deadlocked") }
    for worker in workers { problems.append("\(worker.name) never came to its end") }
    return problems
  }
}
