import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Decisions about signals that ask the process to end")
struct TerminationFlowTests {
  @Test("CD-66: A signal saves, and takes effect when that's done")
  func flushing() {
    var flow = TerminationFlow()
    #expect(flow.receive(.signal(.terminate)) == .flush(1))
    #expect(flow.isFlushing)
    #expect(flow.receive(.flushed(1)) == .end(.terminate))
    #expect(!flow.isFlushing)
  }

  @Test("CD-67: A second signal, and the deadline, end the wait")
  func ending() {
    var flow = TerminationFlow()
    #expect(flow.receive(.signal(.terminate)) == .flush(1))
    #expect(flow.receive(.signal(.interrupt)) == .end(.interrupt))
    // The process has gone on, and the first flush ends during the second one.
    #expect(flow.receive(.signal(.hangUp)) == .flush(2))
    #expect(flow.receive(.flushed(1)) == nil)
    #expect(flow.receive(.deadlinePassed) == .end(.hangUp))
    #expect(flow.receive(.flushed(2)) == nil)
    #expect(flow.receive(.deadlinePassed) == nil)
  }
}
