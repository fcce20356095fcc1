import SeededRandom
import Testing

@testable import FileAccessArbiter

@Suite("The keys of states")
struct StateKeyTests {
  @Test("A key tells apart what a description tells apart, and nothing else", arguments: 1...4 as ClosedRange<UInt64>)
  func keysAndDescriptions(seed: UInt64) {
    // Several runs of one model, so that many states are reached in different ways and by different names.
    var keys: [[UInt8]: StateKey] = [:]
    var descriptions: [StateKey: [UInt8]] = [:]
    var visits = 0
    for scenario in [Scenario.random(seed: seed), .comings, .moves, .savePriority] {
      for run in 0..<2 {
        var random = SplitMix(seed: seed &* 100 &+ UInt64(run))
        var simulation = Simulation(scenario)
        simulation.start()
        for _ in 0..<60 {
          let (key, description) = (simulation.key, simulation.keyByDescription)
          #expect(keys.updateValue(key, forKey: description) ?? key == key)
          #expect(descriptions.updateValue(description, forKey: key) ?? description == description)
          visits += 1
          guard !simulation.enabled.isEmpty else { break }
          _ = simulation.perform(random.pick(simulation.enabled))
        }
      }
    }
    #expect(keys.count < visits, "no state was reached twice")
  }
}
