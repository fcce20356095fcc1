import FileCoordinationTesting
import Testing

@testable import FileCoordination

/// With a compiler that the direct calls of the Swift runtime weren't tested with, claims bind their lineage by the standard library.
@Suite("Claims by the standard library alone")
struct GeneralRuntimeTests {
  @Test("A claim of the fast tier is what runs inside of it is nested in, and ends, also by an error")
  func general() async throws {
    struct Failure: Error {}
    try await withSandbox { box in
      let item = try box.domain.resolve(box.write("d/f"))
      let coordinator = box.coordinator("C")
      // A thread without a place in the tier is refused.
      while true {
        guard let claim = try coordinator.claimSuspending(item, .write) else {
          await Task.yield()
          continue
        }
        try await coordinator.runGenerally(claim, item) { _ in
          // Would wait for the claim around it, were it not nested in that.
          try await coordinator.read(item) { _ in }
        }
        break
      }
      while true {
        guard let claim = try coordinator.claimSuspending(item, .write) else {
          await Task.yield()
          continue
        }
        await #expect(throws: Failure.self) {
          try await coordinator.runGenerally(claim, item) { _ in throw Failure() }
        }
        break
      }
      try await box.coordinator("D").write(item) { _ in }
    }
  }
}
