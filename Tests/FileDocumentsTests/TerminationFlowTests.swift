import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Decisions about signals that ask the process to end")
struct TerminationFlowTests {
  private static let start = MonotonicTime(nanoseconds: 1 << 40)

  private static func after(_ duration: Duration) -> MonotonicTime { start.advanced(by: duration) }

  @Test("CD-66, UD-27: A signal saves, and takes effect when that's done")
  func flushing() {
    var flow = TerminationFlow()
    #expect(flow.receive(.signal(.terminate), at: Self.start) == [.flush(1)])
    #expect(flow.isFlushing)
    #expect(flow.receive(.flushed(1), at: Self.start) == [.end(.terminate)])
    #expect(!flow.isFlushing)
  }

  @Test("CD-67: A second signal, and the deadline, end the wait")
  func ending() {
    var flow = TerminationFlow()
    #expect(flow.receive(.signal(.terminate), at: Self.start) == [.flush(1)])
    #expect(flow.receive(.signal(.interrupt), at: Self.after(.seconds(1))) == [.end(.interrupt), .end(.terminate)])
    // The process has gone on, and the first flush ends during the second one.
    #expect(flow.receive(.signal(.hangUp), at: Self.after(.seconds(2))) == [.flush(2)])
    #expect(flow.receive(.flushed(1), at: Self.after(.seconds(2))) == [])
    #expect(flow.receive(.deadlinePassed, at: Self.after(.seconds(9))) == [.end(.hangUp)])
    #expect(flow.receive(.flushed(2), at: Self.after(.seconds(9))) == [])
    #expect(flow.receive(.deadlinePassed, at: Self.after(.seconds(9))) == [])
  }

  @Test("CD-67: Signals that come within a second are one request, and each takes effect when it's done")
  func together() {
    var flow = TerminationFlow()
    #expect(flow.receive(.signal(.terminate), at: Self.start) == [.flush(1)])
    #expect(flow.receive(.signal(.hangUp), at: Self.start) == [])
    #expect(flow.receive(.signal(.terminate), at: Self.after(.milliseconds(1))) == [])
    #expect(flow.receive(.signal(.hangUp), at: Self.after(.milliseconds(999))) == [])
    #expect(flow.receive(.flushed(1), at: Self.after(.milliseconds(999))) == [.end(.terminate), .end(.hangUp)])
    #expect(flow.receive(.signal(.hangUp), at: Self.after(.seconds(1))) == [.flush(2)])
  }
}
