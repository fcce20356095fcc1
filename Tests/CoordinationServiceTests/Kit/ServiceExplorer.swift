@testable import CoordinationService
import FileAccessArbiter

/// Visits every state that a model can reach, in any order of events, breadth first.
struct ServiceExplorer: Sendable {
  struct Result: CustomStringConvertible, Sendable {
    var states = 0
    var transitions = 0
    var ends = 0
    /// The shortest way to the first problem.
    var failure: (problems: [String], actions: [ServiceModel.Action])?
    /// The limit was reached before everything was seen.
    var isCut = false

    var description: String {
      "\(states) states, \(transitions) transitions, \(ends) ends" + (isCut ? " (cut)" : "")
    }
  }

  private struct Visit {
    let model: ServiceModel
    let trail: Int
  }

  var stateCountMax = 1_000_000

  func explore(_ start: ServiceModel) -> Result {
    var result = Result()
    var trails: [(previous: Int, action: ServiceModel.Action?)] = [(-1, nil)]
    var model = start
    model.start()
    var seen: Set<Int> = [model.key]
    var level = [Visit(model: model, trail: 0)]
    while !level.isEmpty {
      var next: [Visit] = []
      for visit in level {
        result.states += 1
        let progress = visit.model.progress
        if progress.isEmpty { result.ends += 1 }
        let problems = visit.model.problems + (progress.isEmpty ? visit.model.problemsAtTheEnd() : [])
        if !problems.isEmpty {
          result.failure = (problems, way(to: visit.trail, trails))
          return result
        }
        for action in progress + visit.model.disturbances {
          var successor = visit.model
          successor.perform(action)
          result.transitions += 1
          if !seen.insert(successor.key).inserted { continue }
          trails.append((visit.trail, action))
          next.append(Visit(model: successor, trail: trails.count - 1))
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

  private func way(
    to trail: Int, _ trails: [(previous: Int, action: ServiceModel.Action?)]
  ) -> [ServiceModel.Action] {
    var actions: [ServiceModel.Action] = []
    var current = trail
    while current > 0 {
      if let action = trails[current].action { actions.append(action) }
      current = trails[current].previous
    }
    return actions.reversed()
  }
}

extension ServiceModel {
  /// The events of a run, for people.
  static func story(of actions: [Action], in start: ServiceModel) -> String {
    var model = start
    model.start()
    model.log = []
    for action in actions { model.perform(action) }
    return """
      \((model.problems + (model.progress.isEmpty ? model.problemsAtTheEnd() : [])).joined(separator: "\n"))
      after
        \((model.log ?? []).joined(separator: "\n  "))
      in
      \(model.core.arbiter.stateDescription)
      """
  }
}
