import FileCoordination
import FoundationEssentials
import Glibc
import SeededRandom
import SystemInterface
import Testing

@Suite("Concurrency: many threads and tasks over real files", .serialized, .timeLimit(.minutes(10)))
struct ConcurrencyStressTests {
  /// The participants of a run.
  struct Cast: Sendable, CustomTestStringConvertible {
    let threads: Int
    let tasks: Int
    let presenters: Bool
    var testDescription: String { "\(threads) threads, \(tasks) tasks, presenters: \(presenters)" }
  }

  static let casts = [
    Cast(threads: 6, tasks: 0, presenters: false), Cast(threads: 0, tasks: 12, presenters: false),
    Cast(threads: 4, tasks: 6, presenters: true),
  ]

  @Test(
    "No two conflicting accesses overlap, no read is torn, no update is lost, every reacquirer runs once",
    arguments: casts, StressSize.seeds)
  func mixed(cast: Cast, seed: UInt64) async throws {
    try await withStressDirectory { directory in
      let world = try StressWorld(in: directory)
      let watchdog = world.explainIfLong("seed \(seed), \(cast)")
      defer { watchdog.cancel() }
      let presenters = try await Self.run(cast, in: world, seed: seed)
      try await world.domain.waitUntil { snapshot in
        snapshot.accesses.isEmpty
          && snapshot.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 }
      }
      let log = world.log.records
      #expect(world.findings == [], "seed \(seed), \(cast)")
      #expect(AccessLogChecker.overlaps(in: log) == [], "seed \(seed), \(cast)")
      #expect(log.count > (cast.threads + cast.tasks) * StressSize.stepCount / 2, "seed \(seed): \(world.outcomes)")
      for counter in world.counters {
        let value = try SelfCheckingFile.read(counter.plainPath) ?? 0
        #expect(value == world.increments(of: counter), "seed \(seed), \(cast): \(counter.lastPathComponent)")
      }
      for presenter in presenters {
        #expect(presenter.reacquirerBalance == 0, "seed \(seed), \(cast): \(presenter.presenterLabel)")
      }
    }
  }

  /// Lets all actors and presenters act until all are done.
  ///
  /// Registered presenters stay registered until then.
  private static func run(_ cast: Cast, in world: StressWorld, seed: UInt64) async throws -> [StressPresenter] {
    var presenters: [StressPresenter] = []
    if cast.presenters {
      presenters += world.directories.enumerated().map { index, url in
        StressPresenter(url, isFile: false, in: world, seed: seed &+ UInt64(index))
      }
      presenters += world.files.joined().enumerated().map { index, url in
        StressPresenter(url, isFile: true, in: world, seed: seed &* 31 &+ UInt64(index))
      }
    }
    let registrations = try presenters.map { try world.domain.register($0) }
    let threadsDone = Latch(cast.threads), allDone = Latch(), cancellerDone = Latch()
    for index in 0..<cast.threads {
      let actor = StressActor(world: world, name: "thread \(index)", seed: seed &* 1000 &+ UInt64(index))
      HostThread.start(name: "stress-\(index)") {
        actor.runBlocking(StressSize.stepCount)
        threadsDone.countDown()
      }
    }
    HostThread.start(name: "canceller") {
      while !allDone.isDone {
        world.takeCancellable()?.cancel()
        sched_yield()
      }
      cancellerDone.countDown()
    }
    await withTaskGroup { group in
      for index in 0..<cast.tasks {
        let actor = StressActor(world: world, name: "task \(index)", seed: seed &* 2000 &+ UInt64(index))
        group.addTask { await actor.run(StressSize.stepCount) }
      }
      if cast.presenters { group.addTask { await comeAndGo(in: world, seed: seed) } }
      await group.waitForAll()
    }
    await threadsDone.wait()
    world.endTyping()
    allDone.countDown()
    await cancellerDone.wait()
    try await world.domain.waitUntil { snapshot in
      snapshot.accesses.isEmpty && snapshot.presenters.allSatisfy { $0.running.isEmpty && $0.pendingMessageCount == 0 }
    }
    withExtendedLifetime(registrations) {}
    return presenters
  }

  /// Presenters that register and leave while accesses ask them.
  private static func comeAndGo(in world: StressWorld, seed: UInt64) async {
    var random = SplitMix(seed: seed &+ 99)
    for number in 0..<StressSize.stepCount {
      let group = world.files.randomElement(using: &random) ?? world.files[0]
      let url = group.randomElement(using: &random) ?? group[0]
      let presenter = StressPresenter(url, isFile: false, in: world, seed: seed &+ UInt64(number))
      do {
        let registration = try await world.domain.register(presenter)
        for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
        if random.chance(50) { registration.end() }
        withExtendedLifetime(registration) {}
      } catch {
        world.report("a passing presenter: \(error)")
      }
    }
  }
}
