@testable import FileAccessArbiter

/// A small world to explore: presenters with their possible reactions, and actors that do one thing after the other.
struct Scenario: Sendable {
  var name: String
  var presenters: [PresenterPlan] = []
  var actors: [ActorPlan] = []
  /// Processes that may end at any moment.
  var mayDepart: [UInt64] = []
  /// How many reactions of each presenter may do more than answer; bounds the state space.
  var activeReactionsMax = 1
  /// No access may fail: every wait can be resolved.
  var isFreeOfDeadlocks = false
}

struct ActorPlan: Sendable {
  var client: UInt64 = 1
  var steps: [Step]

  init(client: UInt64 = 1, _ steps: Step...) {
    self.client = client
    self.steps = steps
  }

  init(client: UInt64 = 1, steps: [Step]) {
    self.client = client
    self.steps = steps
  }
}

/// The work of an actor or a callback.
indirect enum Step: Sendable {
  /// Requests access, waits for it, does the inner steps inside the accessor.
  case access(AccessPlan)
  /// The same on another task that inherits the context and isn't waited for.
  case detached(AccessPlan)
  /// Announces a move of `from`, or of the first item of the access around it.
  case move(from: ItemPath? = nil, to: ItemPath)
  case register(Int)
  case unregister(Int)
  case locate(Int, ItemPath)
  /// Answers the message of the callback before the callback is over.
  case answer(hasReacquirer: Bool)
  /// Waits for the presenter's turn, as saves of one document do, and does the steps in it.
  case inTurn(of: Int, [Step])
}

struct AccessPlan: Sendable {
  var items: [AccessRequest.Item]
  /// Accesses of a shared purpose never block each other; `nil` is a purpose of its own.
  var purpose: UInt64?
  /// The presenter on whose behalf the access is made.
  var own: Int?
  var isPreparation = false
  var blocksThread = false
  var isOnMainThread = false
  var limits = AccessRequest.Limits.never
  var proceedsWithoutLateAnswers = false
  var mayBeCancelled = false
  /// Goes ahead without asking if no party is in the way, and is adopted: reads and plain writes of one item only.
  var mayBeAdopted = false
  var inside: [Step] = []

  init(_ items: [AccessRequest.Item], _ inside: Step...) {
    self.items = items
    self.inside = inside
  }

  func with(_ change: (inout AccessPlan) -> Void) -> AccessPlan {
    var plan = self
    change(&plan)
    return plan
  }
}

extension Step {
  static func read(_ path: ItemPath, _ inside: Step..., with change: (inout AccessPlan) -> Void = { _ in }) -> Step {
    var plan = AccessPlan([.init(path, .read(withoutChanges: false))])
    plan.inside = inside
    change(&plan)
    return .access(plan)
  }

  static func write(
    _ path: ItemPath, _ intent: WriteIntent = .update, _ inside: Step...,
    with change: (inout AccessPlan) -> Void = { _ in }
  ) -> Step {
    var plan = AccessPlan([.init(path, .write(intent))])
    plan.inside = inside
    change(&plan)
    return .access(plan)
  }

  static func both(
    _ items: [AccessRequest.Item], _ inside: Step..., with change: (inout AccessPlan) -> Void = { _ in }
  ) -> Step {
    var plan = AccessPlan(items)
    plan.inside = inside
    change(&plan)
    return .access(plan)
  }
}

/// One way in which a presenter may react to a message.
struct Reaction: Sendable {
  enum End: Hashable, Sendable { case answer, reacquirer, fail, unregister }
  /// The work after the steps, outside of the callback, which answers only then.
  struct Later: Sendable {
    /// The callback's method returns at once and leaves the answer to its completion handler.
    var returns: Bool
    /// The work inherits the callback's context without being awaited by it.
    var inheritsContext = false
    var steps: [Step]
  }

  var steps: [Step] = []
  var later: Later?
  var end: End

  static let answer = Reaction(end: .answer)
  static let reacquirer = Reaction(end: .reacquirer)
  static let fail = Reaction(end: .fail)
  static let unregister = Reaction(end: .unregister)

  static func doing(_ steps: Step..., end: End = .answer) -> Reaction { Reaction(steps: steps, end: end) }

  /// The method returns, and the completion handler is called when the steps are done on another queue.
  static func answeringLater(_ steps: Step..., end: End = .answer) -> Reaction {
    Reaction(later: Later(returns: true, steps: steps), end: end)
  }

  /// The asynchronous callback waits until another task has done the steps.
  static func awaitingOthers(_ steps: Step..., inheritsContext: Bool = false, end: End = .answer) -> Reaction {
    Reaction(later: Later(returns: false, inheritsContext: inheritsContext, steps: steps), end: end)
  }

  /// Whether it does more than answer.
  var isActive: Bool { !steps.isEmpty || later != nil }
}

struct PresenterPlan: Sendable {
  var path: ItemPath?
  var callbacks: PresenterCallbacks
  var client: UInt64 = 1
  var purpose: UInt64?
  var servesWhileWaiting = true
  var isActor = false
  /// A callback that waits in an access can go on while another callback runs above it: an async callback.
  var isAsync = false
  var isRegisteredAtStart = true
  /// The presumed callbacks that the presenter's class has really written; others answer by their defaults, which shows
  /// that.
  var written: PresenterCallbacks = []
  /// Presenters of one class, whose knowledge is shared.
  var classmates: [Int] = []
  var onRelinquish: [Reaction] = [.answer]
  var onSave: [Reaction] = [.answer]
  var onDeletion: [Reaction] = [.answer]
  var onTold: [Reaction] = [.answer]

  init(
    _ path: ItemPath?, _ callbacks: PresenterCallbacks = .all, client: UInt64 = 1,
    with change: (inout PresenterPlan) -> Void = { _ in }
  ) {
    self.path = path
    self.callbacks = callbacks
    self.client = client
    change(&self)
  }

  /// A presenter that may have some callbacks or not.
  init(
    _ path: ItemPath?, presuming presumed: PresenterCallbacks, _ known: PresenterCallbacks,
    with change: (inout PresenterPlan) -> Void = { _ in }
  ) {
    var callbacks = known.union(presumed)
    callbacks.presumed = presumed
    self.init(path, callbacks, with: change)
  }

  func reactions(to kind: Message.Kind) -> [Reaction] {
    switch kind {
    case .relinquishToReader: onRelinquish.filter { !($0.end == .fail && !$0.isActive) }
    case .relinquishToWriter: onRelinquish
    case .saveChanges: onSave.filter { $0.end != .reacquirer }
    case .accommodateDeletion, .accommodateSubitemDeletion: onDeletion.filter { $0.end != .reacquirer }
    case .reacquire: [.answer]
    default: onTold.filter { $0.end == .answer || $0.end == .unregister }
    }
  }
}
