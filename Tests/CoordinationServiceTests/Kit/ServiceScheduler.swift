@testable import CoordinationService

/// Chooses the order of events of one run of a model.
struct ServiceScheduler {
  enum Strategy: Sendable {
    /// Any enabled action, with equal chances.
    case uniform
    /// Priorities that change at a few random points: finds mistakes that need few but exact preemptions (PCT).
    case priorities(changePoints: Int)
  }

  struct Run {
    var problems: [String]
    var actions: [ServiceModel.Action]
  }

  static let actionCountMax = 3000

  private var random: SplitMix
  private let strategy: Strategy
  private var priorities: [String: Int] = [:]
  private var changePoints: Set<Int> = []

  init(seed: UInt64, _ strategy: Strategy) {
    random = SplitMix(seed: seed ^ 0x5eed)
    self.strategy = strategy
    if case .priorities(let count) = strategy {
      for _ in 0..<count { changePoints.insert(Int.random(in: 0..<150, using: &random)) }
    }
  }

  mutating func run(_ start: ServiceModel) -> Run {
    var model = start
    model.start()
    var actions: [ServiceModel.Action] = []
    while model.problems.isEmpty {
      let progress = model.progress
      if progress.isEmpty {
        return Run(problems: model.problemsAtTheEnd(), actions: actions)
      }
      if actions.count == Self.actionCountMax { return Run(problems: ["the run doesn't end"], actions: actions) }
      let disturbances = model.disturbances
      let isDisturbed = !disturbances.isEmpty && random.chance(1, in: 15)
      let action = isDisturbed ? random.pick(disturbances) : choose(progress, at: actions.count)
      actions.append(action)
      model.perform(action)
    }
    return Run(problems: model.problems, actions: actions)
  }

  private mutating func choose(_ enabled: [ServiceModel.Action], at time: Int) -> ServiceModel.Action {
    guard case .priorities = strategy else { return random.pick(enabled) }
    for action in enabled where priorities[action.actor] == nil {
      priorities[action.actor] = Int.random(in: 1000..<1_000_000, using: &random)
    }
    func best() -> ServiceModel.Action? {
      enabled.max { priorities[$0.actor, default: 0] < priorities[$1.actor, default: 0] }
    }
    if changePoints.contains(time), let action = best() { priorities[action.actor] = 1000 - time }
    guard let first = best() else { return random.pick(enabled) }
    return random.pick(enabled.filter { $0.actor == first.actor })
  }
}

extension ServiceModel.Action {
  /// Who acts.
  var actor: String {
    switch self {
    case .step(let client, let thread), .cancel(let client, let thread): "thread \(client).\(thread)"
    case .answer(let client, _): "presenters of \(client)"
    case .receive(let client): "reader of \(client)"
    case .serve(let client), .hangUp(let client): "connection of \(client)"
    case .killClient, .killService, .endGrace, .noteEnd: "environment"
    }
  }
}

/// Makes a failing list of actions as short as it gets by leaving out parts: delta debugging.
enum ServiceShrinker {
  static func shrink(_ actions: [ServiceModel.Action], in start: ServiceModel) -> [ServiceModel.Action] {
    var current = actions
    var size = max(1, current.count / 2)
    while true {
      var isShorter = false
      var position = 0
      while position < current.count {
        var shorter = current
        shorter.removeSubrange(position..<min(position + size, shorter.count))
        if let found = failingPart(of: shorter, in: start), found.count < current.count {
          current = found
          isShorter = true
        } else {
          position += size
        }
      }
      if !isShorter, size == 1 { return current }
      if !isShorter { size /= 2 }
    }
  }

  /// Those of the actions that are possible, and what else has to happen until the problem shows.
  private static func failingPart(
    of actions: [ServiceModel.Action], in start: ServiceModel
  ) -> [ServiceModel.Action]? {
    var model = start
    model.start()
    var done: [ServiceModel.Action] = []
    for action in actions {
      guard model.progress.contains(action) || model.disturbances.contains(action) else { continue }
      model.perform(action)
      done.append(action)
      if !model.problems.isEmpty { return done }
    }
    while let action = model.progress.first, done.count < ServiceScheduler.actionCountMax {
      model.perform(action)
      done.append(action)
      if !model.problems.isEmpty { return done }
    }
    return model.problemsAtTheEnd().isEmpty ? nil : done
  }
}
