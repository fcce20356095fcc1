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
      await Self.expectCaught(ServiceModel.Faults(service: [fault]), fault.rawValue)
    }

    @Test("A mistake of a client built in on purpose is found", arguments: ClientFault.allCases)
    func clientFaultIsCaught(fault: ClientFault) async {
      await Self.expectCaught(ServiceModel.Faults(client: [fault]), fault.rawValue)
    }

    @Test("A mistake of the network built in on purpose is found", arguments: ModelFault.allCases)
    func networkFaultIsCaught(fault: ModelFault) async {
      await Self.expectCaught(ServiceModel.Faults(network: [fault]), fault.rawValue)
    }

    private static func expectCaught(_ faults: ServiceModel.Faults, _ name: String) async {
      let catcher = await LongRun.run { Self.catcher(faults) }
      #expect(catcher != nil, "\(name) survives every model")
      print("\(name): caught by \(catcher ?? "nothing")")
    }

    private static func catcher(_ faults: ServiceModel.Faults) -> String? {
      for scenario in ServiceScenario.searching {
        let start = ServiceModel(scenario, faults)
        if let failure = ServiceExplorer(stateCountMax: 30_000).explore(start).failure {
          return "'\(scenario.name)' after \(failure.actions.count) actions: \(failure.problems[0])"
        }
      }
      return nil
    }
  }
#endif
