import TestSupport
import Testing

@testable import FileCoordination

/// Shows that the exploration would find a mistake.
@Suite("Exploration of the fast tier with mistakes", .serialized)
struct FastTierFaultExplorationTests {
  /// The fewer interruptions it takes, the easier to read is what happens.
  @Test("A mistake built in on purpose is found", arguments: FastTierFault.all)
  func faultIsFound(fault: FastTierFault) async {
    guard let violation = await LongRun.run({ violation(by: fault) }) else {
      Issue.record("\(fault) survives")
      return
    }
    print("\(fault), found in '\(violation.model)': \(violation.message)")
    for step in violation.trace { print("    \(step)") }
  }

  private func violation(by fault: FastTierFault) -> (model: Model, message: String, trace: [String])? {
    for preemptionCountMax in 0...4 {
      for model in fault.models {
        let result = model.explore(fault: fault, limits: .init(preemptionCountMax: preemptionCountMax))
        if let violation = result.violation { return (model, violation.message, violation.trace) }
      }
    }
    return nil
  }
}
