import Testing
import benchmarks

@Suite("EventCounter", .serialized)
struct EventCounterTests {
  @Test("A counter sees what happens and nothing else, or says that it can't count", arguments: EventCounter.allCases)
  func selfTest(counter: EventCounter) {
    if counter.count({}) == nil { return }
    #expect(counter.failure() == nil)
  }

  private struct Interruption: Error {}

  @Test("A counter stops counting when what it looks at throws", arguments: EventCounter.allCases)
  func throwing(counter: EventCounter) {
    #expect(throws: Interruption.self) { try counter.count { () throws(Interruption) in throw Interruption() } }
    if counter.count({}) != nil { #expect(counter.failure() == nil) }
  }
}
