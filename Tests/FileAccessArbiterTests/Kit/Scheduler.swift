@testable import FileAccessArbiter

/// Chooses the order of events of one run.
struct Scheduler {
  enum Strategy: Sendable {
    /// Any enabled action, with equal chances.
    case uniform
    /// Priorities that change at a few random points: finds bugs that need few but exact preemptions (PCT).
    case priorities(changePoints: Int)
  }

  struct Run {
    var problems: [String]
    var actions: [Action]
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
    if !ordinary.isEmpty, ordinary.count < enabled.count, !random.chance(1, in: 12) {
      return chooseOrdinary(ordinary, at: time)
    }
    return chooseOrdinary(enabled, at: time)
  }

  private mutating func chooseOrdinary(_ enabled: [Action], at time: Int) -> Action {
    guard case .priorities = strategy else { return random.pick(enabled) }
    for action in enabled where priorities[action.actor] == nil {
      priorities[action.actor] = Int.random(in: 1000..<1_000_000, using: &random)
    }
    func best() -> Action? { enabled.max { priorities[$0.actor, default: 0] < priorities[$1.actor, default: 0] } }
    if changePoints.contains(time), let action = best() { priorities[action.actor] = 1000 - time }
    guard let first = best() else { return random.pick(enabled) }
    return random.pick(enabled.filter { $0.actor == first.actor })
  }
}

extension Action {
  /// Who acts.
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
    var current = actions
    var size = max(1, current.count / 2)
    while true {
      var removed = false
      var position = 0
      while position < current.count {
        var shorter = current
        shorter.removeSubrange(position..<min(position + size, shorter.count))
        if shorter.count < current.count, !problems(of: shorter, in: start).isEmpty {
          current = shorter
          removed = true
        } else {
          position += size
        }
      }
      if !removed, size == 1 { return current }
      if !removed { size /= 2 }
    }
  }

  /// What is wrong after the actions, or when everybody then goes on to the end.
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
