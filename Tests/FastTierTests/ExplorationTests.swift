import SeededRandom
import TestSupport
import Testing

@testable import FileCoordination

@Suite("Exploration of the fast tier", .serialized)
struct FastTierExplorationTests {
  @Test(
    "Every interleaving keeps what a claim promises",
    arguments: Model.small + (Budget.isLong ? Model.medium + Model.large : []))
  func everyInterleaving(model: Model) async {
    await check(model, .init(stateCountMax: 20_000_000))
  }

  @Test("Every interleaving with few interruptions keeps what a claim promises", arguments: Model.largest)
  func fewInterruptions(model: Model) async {
    await check(model, .init(preemptionCountMax: Budget.isLong ? 3 : 1))
  }
}

@Suite("Exploration of the fast tier where loads may be stale", .serialized)
struct FastTierMessageExplorationTests {
  @Test(
    "Every interleaving with every stale load keeps what a claim promises",
    arguments: Budget.isLong ? Model.small + Model.medium + Model.largeWithMessages : Model.smallest)
  func everyInterleaving(model: Model) async {
    await check(model, .init(memoryModel: .messages(lateCountMax: nil)))
  }

  @Test("A few interruptions and stale loads keep what a claim promises", arguments: Model.largestWithMessages)
  func fewInterruptions(model: Model) async {
    let countMax = Budget.isLong ? 2 : 1
    await check(model, .init(preemptionCountMax: countMax, memoryModel: .messages(lateCountMax: countMax)))
  }
}

@Suite("Exploration of random models of the fast tier", .serialized)
struct FastTierRandomExplorationTests {
  @Test("Random models keep what a claim promises", arguments: Budget.seeds(normal: 1, long: 12))
  func randomModel(seed: UInt64) async {
    await check(.random(seed: seed), .init(preemptionCountMax: Budget.isComplete ? 2 : 1), mayBeTooLarge: true)
  }

  @Test("Random models with stale loads keep what a claim promises", arguments: Budget.seeds(normal: 1, long: 8))
  func randomModelWithStaleLoads(seed: UInt64) async {
    let limits = Explorer.Limits(
      preemptionCountMax: Budget.isLong ? 1 : 0, memoryModel: .messages(lateCountMax: Budget.isLong ? 2 : 1))
    await check(.random(seed: seed), limits, mayBeTooLarge: true)
  }
}

/// Explores a model and reports the numbers of states and steps.
///
/// A model that may be too large is explored with fewer interruptions if it is.
private func check(_ model: Model, _ limits: Explorer.Limits, mayBeTooLarge: Bool = false) async {
  let (result, time) = await LongRun.run {
    let clock = ContinuousClock()
    let begin = clock.now
    return (model.explore(limits: limits), clock.now - begin)
  }
  print("\(model) (\(limits)): \(result.stateCount) states, \(result.stepCount) steps, \(time)")
  #expect(result.endCount > 0)
  if let violation = result.violation {
    return _ = Issue.record("\(violation.message)\n  \(violation.trace.joined(separator: "\n  "))")
  }
  if result.isCut, mayBeTooLarge, let count = limits.preemptionCountMax, count > 0 {
    var fewer = limits
    fewer.preemptionCountMax = count - 1
    await check(model, fewer, mayBeTooLarge: true)
  } else {
    #expect(!result.isCut, "the model is too large")
  }
}
