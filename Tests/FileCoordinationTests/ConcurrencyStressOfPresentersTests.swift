import FileAccessArbiter
import FileCoordinationTesting
import FoundationEssentials
import SeededRandom
import Testing

@testable import FileCoordination

@Suite("Many accesses at once", .timeLimit(.minutes(4)))
struct ConcurrencyStressOfPresentersTests {
  @Test(
    "Presenters that save and read while many access end in silence: nothing waits or is held",
    arguments: Budget.seeds(normal: 2, long: 12))
  func everythingEnds(seed: UInt64) async throws {
    try await withSandbox { box in
      let names = ["d/a", "d/b", "d/k.pkg/c", "d/k.pkg/e", "d"]
      for name in names.dropLast() { try box.write(name) }
      for (position, name) in (names + names).enumerated() {
        let presenter = try box.present(name, as: "P\(position)", reacquires: true)
        presenter.answer(.saveChanges) { [weak presenter] _ in
          guard let presenter, let url = presenter.presentedItemURL else { return }
          try await box.coordinator("save", presenter: presenter).write(url) { _ in await Task.yield() }
        }
        presenter.answer(.itemDidChange) { [weak presenter] message in
          guard let presenter, let url = presenter.presentedItemURL, message.origin.label != "save" else { return }
          try await box.coordinator("look", presenter: presenter).read(url, options: .withoutChanges) { _ in }
        }
      }
      let unexpected = ErrorList()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 0..<6 {
          group.addTask {
            var random = SplitMix(state: seed &* 1000 &+ UInt64(lane))
            for _ in 0..<15 { try await step(&random, names, box, unexpected) }
          }
        }
        try await group.waitForAll()
      }
      try await box.quiesce()
      try await box.domain.waitUntil(\.accesses.isEmpty)
      #expect(unexpected.errors.map(\.description) == [])
      #expect(box.domain.host.withState { $0.decider.invariants() } == [])
      // The task of a deadline that was cancelled may still have to end.
      for _ in 0..<100_000 where box.clock.scheduledCount > 0 { await Task.yield() }
      #expect(box.clock.scheduledCount == 0)
    }
  }

  private func step(
    _ random: inout SplitMix, _ names: [String], _ box: Sandbox, _ unexpected: ErrorList
  ) async throws {
    let url = box.url(names[Int.random(in: 0..<names.count, using: &random)])
    let other = box.url(names[Int.random(in: 0..<names.count, using: &random)])
    let coordinator = box.coordinator("lane")
    do {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: try await coordinator.read(url) { _ in await Task.yield() }
      case 2: try await coordinator.write(url) { _ in await Task.yield() }
      case 3: try await coordinator.write(url, options: .forMerging) { _ in await Task.yield() }
      case 4: try await coordinator.write(url, options: .forDeleting) { _ in await Task.yield() }
      case 5: try await coordinator.read(url, writing: other) { _, _ in await Task.yield() }
      case 6:
        // Nested in the order of chance: this may close a cycle, and then exactly one of its members fails.
        try await coordinator.write(url) { _ in try await box.coordinator("inner").write(other) { _ in } }
      default:
        let task = Task { try await coordinator.write(url) { _ in } }
        task.cancel()
        _ = await task.result
      }
    } catch {
      let code = (error as? FileCoordinationError)?.code
      if code != .deadlock, code != .cancelled { unexpected.append(error) }
    }
  }
}
