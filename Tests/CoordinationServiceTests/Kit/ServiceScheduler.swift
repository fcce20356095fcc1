import SeededRandom

@testable import CoordinationService

/// Chooses the order of events of one run of a model.
struct ServiceScheduler {
  struct Run {
    var problems: [String]
    var actions: [ServiceModel.Action]
  }

  static let actionCountMax = 3000

  private var schedule: SeededSchedule

  init(seed: UInt64, _ strategy: SeededSchedule.Strategy) { schedule = SeededSchedule(seed: seed, strategy) }

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
      let isDisturbed = !disturbances.isEmpty && schedule.random.chance(1, in: 15)
      let action =
        isDisturbed
        ? schedule.random.pick(disturbances) : schedule.choose(progress, at: actions.count, by: \.actor)
      actions.append(action)
      model.perform(action)
    }
    return Run(problems: model.problems, actions: actions)
  }
}

extension ServiceModel.Action {
  /// The actor.
  var actor: String {
    switch self {
    case .step(let client, let thread), .cancel(let client, let thread): "thread \(client).\(thread)"
    case .answer(let client, _): "presenters of \(client)"
    case .receive(let client): "reader of \(client)"
    case .serve(let client), .hangUp(let client): "connection of \(client)"
    case .serveBroken(let index), .hangUpBroken(let index): "broken connection \(index)"
    case .killClient, .killService, .cut, .surrender, .endGrace, .noteEnd, .expel, .keepDeadlines: "environment"
    }
  }
}

/// Makes a failing list of actions as short as it gets by leaving out parts: delta debugging.
enum ServiceShrinker {
  static func shrink(_ actions: [ServiceModel.Action], in start: ServiceModel) -> [ServiceModel.Action] {
    actions.shrunk { failingPart(of: $0, in: start) }
  }

  /// Those of the actions that are possible, and the further ones until the problem shows.
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
