import CoordinationService
import FileAccessArbiter
import Testing

/// The work of one thread of a model's client, as a tree.
indirect enum ModelOperation: Sendable {
  case access(ItemPath, ItemAccess, own: UInt64?, [ModelOperation])
  case present(UInt64, ItemPath)
  case unpresent(UInt64)
  /// Announced by the innermost access around it.
  case move(ItemPath, to: ItemPath)
  /// Asks for the processes and their accesses.
  case look
  /// Reads the fencing token of the innermost access around it.
  case readToken
  /// Asks whether the innermost access around it still lasts, as before a step that can't be undone.
  case commit
  /// Starts a client as a child process that belongs to the innermost access around it.
  case launch(Int)
  /// The same, and waits until the child has ended.
  case run(Int)

  static func read(_ path: ItemPath, _ body: ModelOperation...) -> Self {
    .access(path, .read(withoutChanges: false), own: nil, body)
  }

  static func write(_ path: ItemPath, own: UInt64? = nil, _ body: ModelOperation...) -> Self {
    .access(path, .write(.update), own: own, body)
  }

  static func write(_ path: ItemPath, _ intent: WriteIntent, _ body: ModelOperation...) -> Self {
    .access(path, .write(intent), own: nil, body)
  }
}

/// One step of a flattened program.
enum ModelStep: Hashable, Sendable {
  /// `outer` is the step that began the access around it, `end` the one that ends it.
  case begin(ItemPath, ItemAccess, own: UInt64?, outer: Int?, end: Int)
  case end(begin: Int)
  case present(UInt64, ItemPath)
  case unpresent(UInt64)
  case move(by: Int, from: ItemPath, to: ItemPath)
  case look
  case readToken(of: Int)
  case commit(of: Int)
  case share(of: Int)
  case launch(Int)
  case await(Int)

  static func flatten(_ operations: [ModelOperation]) -> [ModelStep] {
    var steps: [ModelStep] = []
    append(operations, inside: nil, to: &steps)
    return steps
  }

  private static func append(_ operations: [ModelOperation], inside outer: Int?, to steps: inout [ModelStep]) {
    for operation in operations {
      switch operation {
      case .access(let path, let access, let own, let body):
        let begin = steps.count
        steps.append(.end(begin: begin))
        append(body, inside: begin, to: &steps)
        steps[begin] = .begin(path, access, own: own, outer: outer, end: steps.count)
        steps.append(.end(begin: begin))
      case .present(let presenter, let path): steps.append(.present(presenter, path))
      case .unpresent(let presenter): steps.append(.unpresent(presenter))
      case .move(let old, let new):
        guard let outer else { preconditionFailure("a move outside of every access") }
        steps.append(.move(by: outer, from: old, to: new))
      case .look: steps.append(.look)
      case .readToken:
        guard let outer else { preconditionFailure("a token outside of every access") }
        steps.append(.readToken(of: outer))
      case .commit:
        guard let outer else { preconditionFailure("a commit outside of every access") }
        steps.append(.commit(of: outer))
      case .launch(let child), .run(let child):
        guard let outer else { preconditionFailure("a child outside of every access") }
        steps += [.share(of: outer), .launch(child)]
        if case .run = operation { steps.append(.await(child)) }
      }
    }
  }
}

/// The access that a process of a model belongs to.
struct ModelParent: Hashable, Sendable {
  let client: Int
  let access: AccessID

  var token: AccessToken { AccessToken(high: UInt64(client + 1), low: access.rawValue) }
}

/// Accesses that presenters of a process make in the middle of a callback, and wait for.
struct NestedPlan: Sendable {
  enum Moment: Hashable, Sendable, CaseIterable {
    case question
    case notification
    case reacquirer

    init(_ kind: Message.Kind) {
      switch kind {
      case .reacquire: self = .reacquirer
      case _ where kind.mustBeAnswered: self = .question
      default: self = .notification
      }
    }
  }

  /// Each one is made inside of the one before.
  var items: [AccessRequest.Item]
  /// The callbacks that make them.
  var moments: Set<Moment> = [.question]
  /// How many callbacks of the process make them: each may cause further ones.
  var callbackCountMax = 1
  /// Whether they're made on behalf of the presenter.
  var isOwn = true
}

/// A process of a model.
struct ClientPlan: Sendable {
  /// One program for each thread.
  var threads: [[ModelStep]]
  /// Whether its presenters hand over a reacquirer when they relinquish.
  var handsOverReacquirers = false
  /// Whether its presenters have something to save: their callback returns, they write elsewhere, and answer after that.
  var savesLater = false
  /// Accesses inside of its presenters' callbacks.
  var nested: NestedPlan?
  /// How much the process may have.
  var limits = ProcessLimits.standard

  init(
    _ threads: [ModelOperation]..., handsOverReacquirers: Bool = false, savesLater: Bool = false,
    nested: NestedPlan? = nil, partyCountMax: Int = ProcessLimits.standard.partyCountMax
  ) {
    self.nested = nested
    limits.partyCountMax = partyCountMax
    self.threads = threads.map(ModelStep.flatten)
    self.handsOverReacquirers = handsOverReacquirers
    self.savesLater = savesLater
  }
}

/// A model: its clients, and the disturbances that may occur.
struct ServiceScenario: Sendable, CustomTestStringConvertible {
  var name: String
  var clients: [ClientPlan]
  var clientKills = 0
  var serviceKills = 0
  /// How often a grace may end although a client hasn't reported everything.
  var graceTimeouts = 0
  /// How often a thread may give up waiting.
  var cancellations = 0
  /// How often the service may do without a stopped client that holds something for which others wait.
  var expulsions = 0
  /// How often a connection may break although both processes live.
  var cuts = 0
  /// How often a process may find no service after that, and give up what it has.
  var surrenders = 0
  /// The first threads of these clients do a step each, one after the other, before all other events.
  var prologue: [Int] = []
  /// After that another service has taken over, and the first client hasn't noticed in time.
  var firstIsLate = false
  var usesUntilDelegation = 1
  /// No client gets in the way of delegations.
  var keepsDelegations = false
  /// In milliseconds since 1970, like real ones; the services that follow are beyond a multiple of 2²⁸.
  var firstEpoch: UInt64 = 6_570 << 28 - 1

  var testDescription: String { name }

  /// Whether threads may wait for each other in a circle.
  var mayDeadlock: Bool {
    clients.contains { client in
      client.nested != nil
        || client.threads.joined().contains { step in
          switch step {
          case .begin(_, _, _, outer: .some, _), .launch: true
          default: false
          }
        }
    }
  }

  /// The access that a client belongs to as a child process.
  func parent(of child: Int) -> ModelParent? {
    for (client, plan) in clients.enumerated() {
      for (thread, steps) in plan.threads.enumerated() {
        guard let index = steps.firstIndex(of: .launch(child)), case .share(let begin) = steps[index - 1] else {
          continue
        }
        return ModelParent(client: client, access: ModelProcess.access(thread, begin))
      }
    }
    return nil
  }

  /// Whether accesses may be left that are nested in those of a client that was expelled, and comes back.
  var keepsChildrenOfExpelled: Bool {
    (expulsions > 0 || graceTimeouts > 0) && clients.indices.contains { parent(of: $0) != nil }
  }

  var hasLimits: Bool { clients.contains { $0.limits.partyCountMax != ProcessLimits.standard.partyCountMax } }

  var hasMoves: Bool {
    clients.contains { client in
      client.threads.joined().contains { step in
        if case .move = step { return true }
        return false
      }
    }
  }
}
