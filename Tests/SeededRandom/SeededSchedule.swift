/// Chooses the next action in one run of a model.
package struct SeededSchedule: Sendable {
  package enum Strategy: Sendable {
    /// Any enabled action, with equal chances.
    case uniform
    /// Priorities that change at a few random points: finds mistakes that need few but exact preemptions (PCT).
    case priorities(changePoints: Int)
  }

  package var random: SplitMix
  private let strategy: Strategy
  private var priorities: [String: Int] = [:]
  private var changePoints: Set<Int> = []

  package init(seed: UInt64, _ strategy: Strategy) {
    random = SplitMix(seed: seed ^ 0x5eed)
    self.strategy = strategy
    if case .priorities(let count) = strategy {
      for _ in 0..<count { changePoints.insert(Int.random(in: 0..<150, using: &random)) }
    }
  }

  /// Chooses one of the actions that are possible.
  ///
  /// - Parameters:
  ///   - enabled: The actions, at least one.
  ///   - time: The number of actions so far.
  ///   - actor: The actor of an action.
  /// - Returns: The action.
  package mutating func choose<Action>(
    _ enabled: [Action], at time: Int, by actor: (Action) -> String
  ) -> Action {
    guard case .priorities = strategy else { return random.pick(enabled) }
    for action in enabled where priorities[actor(action)] == nil {
      priorities[actor(action)] = Int.random(in: 1000..<1_000_000, using: &random)
    }
    if changePoints.contains(time), let first = best(enabled, actor) { priorities[first] = 1000 - time }
    guard let first = best(enabled, actor) else { return random.pick(enabled) }
    return random.pick(enabled.filter { actor($0) == first })
  }

  private func best<Action>(_ enabled: [Action], _ actor: (Action) -> String) -> String? {
    enabled.map(actor).max { priorities[$0, default: 0] < priorities[$1, default: 0] }
  }
}
