import Testing

@testable import FileCoordination

/// Shows that the exploration would find a mistake.
@Suite("Exploration of the fast tier with mistakes", .serialized)
struct FastTierFaultExplorationTests {
  /// The fewer interruptions it takes, the easier to read is what happens.
  @Test("A mistake built in on purpose is found", arguments: FastTierFault.allCases)
  func faultIsFound(fault: FastTierFault) {
    for preemptionCountMax in 0...4 {
      for model in fault.models {
        let result = model.explore(fault: fault, limits: .init(preemptionCountMax: preemptionCountMax))
        guard let violation = result.violation else { continue }
        print("\(fault), found in '\(model)': \(violation.message)")
        for step in violation.trace { print("    \(step)") }
        return
      }
    }
    Issue.record("\(fault) survives")
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
    }
  }
}
