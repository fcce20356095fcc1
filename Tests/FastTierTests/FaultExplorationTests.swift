import SeededRandom
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

  @Test("An ordering that's too weak is found", arguments: FastTierFault.weakened)
  func weakOrderingIsFound(fault: FastTierFault) async { await faultIsFound(fault: fault) }

  /// So that the list says what is true.
  @Test("An ordering that is listed as unneeded isn't needed", arguments: UnneededOrdering.all)
  func unneededOrdering(ordering: UnneededOrdering) async {
    let limits = Explorer.Limits(preemptionCountMax: Budget.isLong ? nil : 2, memoryModel: ordering.weaker.memoryModel)
    for model in ordering.weaker.models {
      let result = await LongRun.run { model.explore(fault: ordering.weaker, limits: limits) }
      #expect(result.violation == nil && !result.isCut && result.endCount > 0)
    }
  }

  private func violation(by fault: FastTierFault) -> (model: Model, message: String, trace: [String])? {
    for preemptionCountMax in 0...4 {
      let limits = Explorer.Limits(preemptionCountMax: preemptionCountMax, memoryModel: fault.memoryModel)
      for model in fault.models {
        let result = model.explore(fault: fault, limits: limits)
        if let violation = result.violation { return (model, violation.message, violation.trace) }
      }
    }
    return nil
  }
}
