import SeededRandom

@testable import FileAccessArbiter

/// Chooses the order of events of one run.
struct Scheduler {
  struct Run {
    var problems: [String]
    var actions: [Action]
  }

  static let actionCountMax = 3000

  private var schedule: SeededSchedule

  init(seed: UInt64, _ strategy: SeededSchedule.Strategy) { schedule = SeededSchedule(seed: seed, strategy) }

  mutating func run(_ start: Simulation) -> Run {
    var simulation = start
    simulation.start()
    var actions: [Action] = []
    while simulation.world.problems.isEmpty {
      let enabled = simulation.enabled
      if enabled.isEmpty { return Run(problems: simulation.problemsAtTheEnd(), actions: actions) }
      if actions.count == Scheduler.actionCountMax { return Run(problems: ["the run doesn't end"], actions: actions) }
      let action = choose(enabled, at: actions.count)
      actions.append(action)
      _ = simulation.perform(action)
    }
    return Run(problems: simulation.world.problems, actions: actions)
  }

  private mutating func choose(_ enabled: [Action], at time: Int) -> Action {
    let ordinary = enabled.filter { !$0.isDisturbance }
    let isDisturbed = ordinary.isEmpty || ordinary.count < enabled.count && schedule.random.chance(1, in: 12)
    return schedule.choose(isDisturbed ? enabled : ordinary, at: time, by: \.actor)
  }
}

extension Action {
  /// The actor.
  var actor: String {
    switch self {
    case .step(let name): name
    case .react(let presenter, _): "presenter \(presenter)"
    case .cancel(let name), .fire(let name, _): "end of \(name)"
    case .depart(let client): "departure of \(client)"
    }
  }

  /// Ends something early: rare in random runs, or nothing interesting would live.
  var isDisturbance: Bool {
    switch self {
    case .step, .react: false
    case .cancel, .fire, .depart: true
    }
  }
}

/// Makes a failing list of actions as short as it gets by leaving out parts: delta debugging.
enum Shrinker {
  static func shrink(_ actions: [Action], in start: Simulation) -> [Action] {
    actions.shrunk { problems(of: $0, in: start).isEmpty ? nil : $0 }
  }

  /// The problems after the actions, or when all actors then go on to the end.
  static func problems(of actions: [Action], in start: Simulation) -> [String] {
    var simulation = start
    return problems(of: actions, in: &simulation)
  }

  private static func problems(of actions: [Action], in simulation: inout Simulation) -> [String] {
    simulation.start()
    for action in actions {
      _ = simulation.perform(action)
      if !simulation.world.problems.isEmpty { return simulation.world.problems }
    }
    return completed(&simulation)
  }

  private static func completed(_ simulation: inout Simulation) -> [String] {
    for _ in 0..<Scheduler.actionCountMax {
      guard let action = simulation.enabled.first(where: { !$0.isDisturbance }) ?? simulation.enabled.first else {
        return simulation.problemsAtTheEnd()
      }
      _ = simulation.perform(action)
      if !simulation.world.problems.isEmpty { return simulation.world.problems }
    }
    return ["the run doesn't end"]
  }

  /// The story of a failing run, for people.
  static func report(_ run: Scheduler.Run, in start: Simulation, seed: UInt64) -> String {
    let shrunk = shrink(run.actions, in: start)
    var replay = start
    replay.log = []
    let problems = problems(of: shrunk, in: &replay)
    return """
      FILE_COORDINATION_SEED=\(seed)
      \(run.problems.joined(separator: "\n"))
      shrunk from \(run.actions.count) to \(shrunk.count) actions, which end with
      \(problems.joined(separator: "\n"))
      after
        \((replay.log ?? []).joined(separator: "\n  "))
      in
      \(replay.world.arbiter.stateDescription)
      """
  }
}
