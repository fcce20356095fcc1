import SeededRandom
import TestSupport
import Testing

@testable import FileDocuments

@Suite("The decisions of a document, in every order", .timeLimit(.minutes(20)))
struct DocumentCoreExplorationTests {
  @Test(
    "CD-10, CD-12, CD-15, CD-23, CD-27, CD-45, UD-20, ND-9, PP-9: Each call ends once, nothing is lost, conflicts are in the state, and editing goes on",
    arguments: DocumentScenario.small + DocumentScenario.versions + DocumentScenario.decisions
      + DocumentScenario.searches + DocumentScenario.undoing
      + (Budget.isLong ? DocumentScenario.medium : []))
  func everyOrder(scenario: DocumentScenario) async {
    let result = await LongRun.run { DocumentExplorer(scenario: scenario).exploreAll() }
    #expect(result.failure == nil, "\(scenario.name): \(result.failure?.description ?? "")")
    #expect(result.isComplete && result.endCount > 0, "\(scenario.name): \(result.stateCount) states")
  }

  @Test(
    "The same holds with everything at once, in orders that seeds choose",
    arguments: Budget.seeds(normal: 20, long: 500, complete: 2_000))
  func manyOrders(seed: UInt64) async {
    let failure = await LongRun.run { () -> DocumentExplorer.Failure? in
      for run in 0..<50 {
        var scenario = DocumentScenario.large
        scenario.searches = run % 2 == 0
        if let failure = DocumentExplorer(scenario: scenario).shortest(seed: seed &* 50 &+ UInt64(run)) {
          return failure
        }
      }
      return nil
    }
    #expect(failure == nil, "seed \(seed): \(failure?.description ?? "")")
  }

  @Test("A mistake built in on purpose is found", arguments: DocumentMutant.allCases)
  func mutants(mutant: DocumentMutant) async {
    let catcher = await LongRun.run { () -> String? in
      // Most mistakes show in a model that's explored in no time, which may be the last one.
      for limit in [2000, 20_000, 200_000] {
        for scenario in mutant.scenarios {
          let result = DocumentExplorer(scenario: scenario, mutant: mutant, stateCountMax: limit).exploreAll()
          if let failure = result.failure { return "'\(scenario.name)': \(failure.problems[0])" }
        }
      }
      return nil
    }
    #expect(catcher != nil, "\(mutant) survives every model")
  }
}

extension DocumentMutant {
  /// The models in which it can show.
  fileprivate var scenarios: [DocumentScenario] {
    switch self {
    case .neverLooksForVersions, .ignoresVersions, .looksForVersionsAnyway: DocumentScenario.versions
    case .ignoresFinds, .forgetsSearch: DocumentScenario.searches
    case .takesUnread: DocumentScenario.undoing
    case .asksNobody, .delaysRetries, .forgetsPlaces, .ignoresLocks, .forgetsReading:
      DocumentScenario.decisions + DocumentScenario.medium
    case .ignoresChanges: [.merging]
    default: DocumentScenario.small + DocumentScenario.medium
    }
  }
}

extension DocumentScenario: CustomTestStringConvertible {
  var testDescription: String { name }
}
