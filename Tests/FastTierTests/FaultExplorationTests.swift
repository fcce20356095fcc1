import TestSupport
import Testing

@testable import FileCoordination

/// Shows that the exploration would find a mistake.
@Suite("Exploration of the fast tier with mistakes", .serialized)
struct FastTierFaultExplorationTests {
  /// The fewer interruptions it takes, the easier to read is the trace.
  @Test("A mistake built in on purpose is found", arguments: FastTierFault.allCases)
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

extension FastTierFault {
  /// Where the mistake shows.
  fileprivate var models: [Model] {
    switch self {
    case .checkBeforePublish, .missingFence: [.readerAndWriter]
    case .adoptionIgnored, .adoptionUnchecked: [.readerAndHostWriter]
    case .scanBeforeRaise, .unfencedRaise: [.readerAndHostWriter]
    case .readersIgnored: [.readerAndWriter]
    case .unconfirmedWrite, .tentativeIgnored: [.writerAndHostReader]
    case .strongLoweredFirst, .readsFirst: [.readerWriterHostWriter]
    case .challengeIgnored: [.lateLook]
    case .doomedAdopted: [.readerTwoHostWriters]
    case .frozenTakenForAdopted: [.readerTwoHostWriters]
    case .staleTable, .tableFreedAtOnce, .earlyWitnesses: [.rebuild]
    case .brokenChain: [.chain]
    case .lateAnnouncement: [.announcement]
    case .adoptedTakenBack: [.readerAndHostWriter]
    case .lateVersion, .silentRaise: [.remembered]
    case .unshownLook: [.patientReader]
    }
  }
}
