import SeededRandom
import TestSupport
import Testing

@testable import CoordinationService

#if DEBUG
  /// Shows that the checks would find a mistake of the service, of a client or of the network.
  ///
  /// Minutes of computation: with the longer seeds only.
  @Suite("Exploration of seeded faults of clients and service", .enabled(if: Budget.isLong))
  struct ServiceSeededFaultTests {
    @Test("A mistake of the service built in on purpose is found", arguments: ServiceFault.allCases)
    func serviceFaultIsCaught(fault: ServiceFault) async {
      let catcher = await LongRun.run { Self.catcher([fault], []) }
      #expect(catcher != nil, "\(fault) survives every model")
      print("\(fault.rawValue): caught by \(catcher ?? "nothing")")
    }

    @Test("A mistake of a client or of the network built in on purpose is found", arguments: ModelFault.allCases)
    func modelFaultIsCaught(fault: ModelFault) async {
      let catcher = await LongRun.run { Self.catcher([], [fault]) }
      #expect(catcher != nil, "\(fault) survives every model")
      print("\(fault.rawValue): caught by \(catcher ?? "nothing")")
    }

    private static func catcher(_ serviceFaults: Set<ServiceFault>, _ modelFaults: Set<ModelFault>) -> String? {
      for scenario in ServiceScenario.searching {
        let start = ServiceModel(scenario, serviceFaults, modelFaults)
        if let failure = ServiceExplorer(stateCountMax: 12_000).explore(start).failure {
          return "'\(scenario.name)' after \(failure.actions.count) actions: \(failure.problems[0])"
        }
      }
      return nil
    }
  }
#endif
