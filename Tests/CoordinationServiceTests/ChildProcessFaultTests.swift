import CoordinationService
import TestSupport
import Testing

#if DEBUG
  @Suite("Exploration of seeded faults about child processes")
  struct ChildProcessFaultTests {
    @Test("A child that gets accesses when what it belongs to has ended is found")
    func endedOuterIgnored() async { await Self.expectCaught(.init(service: [.endedOuterIgnored]), .orphan) }

    @Test("A report that belongs to an access, and is entered before it, is found")
    func nestedReportedFirst() async {
      await Self.expectCaught(.init(service: [.nestedReportedFirst]), .childAndServiceKill)
    }

    @Test("A token that the next service doesn't get is found")
    func tokenForgotten() async { await Self.expectCaught(.init(client: [.tokenForgotten]), .childAndServiceKill) }

    @Test("A request that outlives the access around its process is found")
    func outlivedRequestsKept() async { await Self.expectCaught(.init(service: [.outlivedRequestsKept]), .siblings) }

    private static func expectCaught(_ faults: ServiceModel.Faults, _ scenario: ServiceScenario) async {
      let result = await LongRun.run { ServiceExplorer(stateCountMax: 100_000).explore(ServiceModel(scenario, faults)) }
      #expect(result.failure != nil, "survives '\(scenario.name)': \(result)")
      if let problem = result.failure?.problems.first { print("\(scenario.name): \(problem)") }
    }
  }
#endif
