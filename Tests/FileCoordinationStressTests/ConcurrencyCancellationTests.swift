import FileCoordination
import FoundationEssentials
import Glibc
import SeededRandom
import SystemInterface
import Testing

@Suite("Concurrency: cancelling races with granting", .serialized, .timeLimit(.minutes(10)))
struct ConcurrencyCancellationTests {
  enum Outcome: Hashable, Sendable { case ran, cancelled }

  /// Counts the outcome of each access; anything but the two outcomes is a finding.
  final class Tally: Sendable {
    let runCount = Guarded(0)
    let outcomes = Guarded<[Outcome: Int]>([:])
    let findings = Guarded<[String]>([])

    func judge(_ hasRun: Bool, _ error: (any Error)?) {
      switch (hasRun, (error as? FileCoordinationError)?.code) {
      case (true, nil) where error == nil: outcomes.withLock { $0[.ran, default: 0] += 1 }
      case (false, .cancelled): outcomes.withLock { $0[.cancelled, default: 0] += 1 }
      default: findings.withLock { $0.append("ran: \(hasRun), error: \(String(describing: error))") }
      }
    }
  }

  @Test(
    "A cancelled access either runs or fails, whichever thread cancels when (C-160…C-163)", arguments: StressSize.seeds)
  func coordinators(seed: UInt64) async throws {
    try await withStressDirectory { directory in
      let domain = CoordinationDomain(), tally = Tally()
      let file = directory.appending(path: "f", directoryHint: .notDirectory)
      let rounds = StressSize.stepCount * 2, width = 3
      let done = Latch(rounds * 2 * width)
      var random = SplitMix(seed: seed)
      for round in 0..<rounds {
        let coordinators = (0..<width).map { FileCoordinator(label: "\(round).\($0)", domain: domain) }
        let start = Latch(), ended = Latch(2 * width), spins = Int.random(in: 0..<200, using: &random)
        for coordinator in coordinators {
          HostThread.start(name: "writer") {
            start.waitBlocking()
            var hasRun = false
            do {
              try coordinator.blocking.write(file) { _ in hasRun = true }
              tally.judge(hasRun, nil)
            } catch { tally.judge(hasRun, error) }
            ended.countDown()
            done.countDown()
          }
          HostThread.start(name: "canceller") {
            start.waitBlocking()
            for _ in 0..<spins { sched_yield() }
            coordinator.cancel()
            ended.countDown()
            done.countDown()
          }
        }
        start.countDown()
        await ended.wait()
      }
      await done.wait()
      #expect(tally.findings.withLock { $0 } == [], "seed \(seed)")
      #expect(tally.outcomes.withLock { $0.values.reduce(0, +) } == rounds * width, "seed \(seed)")
      let accesses = try await domain.snapshot().accesses
      #expect(accesses.isEmpty, "seed \(seed)")
    }
  }

  @Test(
    "A cancelled task's access either runs or fails, and everything it asked for is given back",
    arguments: StressSize.seeds)
  func tasks(seed: UInt64) async throws {
    try await withStressDirectory { directory in
      let world = try StressWorld(in: directory), tally = Tally()
      let file = world.files[0][0]
      let presenter = StressPresenter(file, isFile: true, in: world, seed: seed)
      let registration = try await world.domain.register(presenter)
      var random = SplitMix(seed: seed)
      for _ in 0..<StressSize.stepCount * 2 {
        let tasks = (0..<4).map { index in
          Task {
            let hasRun = Guarded(false)
            do {
              try await FileCoordinator(domain: world.domain).write(file, options: index == 0 ? .forMerging : []) { _ in
                hasRun.withLock { $0 = true }
                await Task.yield()
              }
              tally.judge(hasRun.withLock { $0 }, nil)
            } catch { tally.judge(hasRun.withLock { $0 }, error) }
          }
        }
        for task in tasks {
          for _ in 0..<Int.random(in: 0..<5, using: &random) { await Task.yield() }
          if random.chance(70) { task.cancel() }
        }
        for task in tasks { await task.value }
      }
      try await world.domain.waitUntil { snapshot in
        snapshot.accesses.isEmpty
          && snapshot.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 }
      }
      #expect(tally.findings.withLock { $0 } == [], "seed \(seed)")
      #expect(tally.outcomes.withLock { $0.values.reduce(0, +) } == StressSize.stepCount * 8, "seed \(seed)")
      #expect(world.findings == [], "seed \(seed)")
      #expect(presenter.reacquirerBalance == 0, "seed \(seed)")
      withExtendedLifetime(registration) {}
    }
  }
}
