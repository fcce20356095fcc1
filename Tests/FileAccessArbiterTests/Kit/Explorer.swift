@testable import FileAccessArbiter

/// Visits every state that a scenario can reach, in any order of events, breadth first.
struct Explorer: Sendable {
  struct Result: CustomStringConvertible, Sendable {
    var states = 0
    var transitions = 0
    var ends = 0
    var endsWithDeadlock = 0
    /// The shortest way to the first problem.
    var failure: (problems: [String], actions: [Action])?
    /// The limit was reached before everything was seen.
    var isCut = false

    var description: String {
      "\(states) states, \(transitions) transitions, \(ends) ends, \(endsWithDeadlock) of them after a deadlock"
        + (isCut ? " (cut)" : "")
    }
  }

  private struct Visit {
    let simulation: Simulation
    let trail: Int
  }

  var stateCountMax = 1_000_000

  func explore(_ start: Simulation) -> Result {
    var result = Result()
    // For each state the previous one and the action between them, so that a failure can be reported as a list of
    // actions.
    var trails: [(previous: Int, action: Action?)] = [(-1, nil)]
    var seen: Set<StateKey> = []
    var simulation = start
    simulation.start()
    var level = [Visit(simulation: simulation, trail: 0)]
    seen.insert(simulation.key)
    while !level.isEmpty {
      var next: [Visit] = []
      for visit in level {
        result.states += 1
        let actions = visit.simulation.enabled
        if actions.isEmpty { note(end: visit.simulation, &result) }
        let ends = actions.isEmpty ? visit.simulation.problemsAtTheEnd() : []
        let problems = visit.simulation.world.problems + ends
        if !problems.isEmpty {
          result.failure = (problems, way(to: visit.trail, trails))
          return result
        }
        for action in actions {
          var successor = visit.simulation
          guard successor.perform(action) else { continue }
          result.transitions += 1
          if !seen.insert(successor.key).inserted, successor.world.problems.isEmpty { continue }
          trails.append((visit.trail, action))
          next.append(Visit(simulation: successor, trail: trails.count - 1))
        }
        if seen.count > stateCountMax {
          result.isCut = true
          return result
        }
      }
      level = next
    }
    return result
  }

  private func note(end simulation: Simulation, _ result: inout Result) {
    result.ends += 1
    if simulation.world.deadlocks > 0 { result.endsWithDeadlock += 1 }
  }

  private func way(to trail: Int, _ trails: [(previous: Int, action: Action?)]) -> [Action] {
    var actions: [Action] = []
    var current = trail
    while current > 0 {
      if let action = trails[current].action { actions.append(action) }
      current = trails[current].previous
    }
    return actions.reversed()
  }
}

extension Simulation {
  /// The simulation after the actions in this order; impossible ones are left out.
  static func replay(_ actions: [Action], in start: Simulation) -> Simulation {
    var simulation = start
    simulation.log = []
    simulation.start()
    for action in actions { _ = simulation.perform(action) }
    return simulation
  }
}
