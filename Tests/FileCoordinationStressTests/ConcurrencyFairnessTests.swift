import FileCoordination
import FoundationEssentials
import Glibc
import SeededRandom
import SystemInterface
import Testing

@Suite(
  "Concurrency: conflicting accesses are granted in the order of their requests", .serialized, .timeLimit(.minutes(10)))
struct ConcurrencyFairnessTests {
  /// One access under way, on a thread or in a task.
  final class Candidate: Sendable {
    let number: Int
    let coordinator: FileCoordinator
    let intents: [FileAccessIntent]
    let items: [AccessRecord.Item]
    /// No access ends before its place in the order of requests is certain.
    let isPlaced = Latch()
    let isDone = Latch()

    init(_ number: Int, in domain: CoordinationDomain, _ choices: [(URL, FileCoordinator.WritingOptions?)]) {
      self.number = number
      coordinator = FileCoordinator(label: "\(number)", domain: domain)
      intents = choices.map { url, writing in writing.map { .writing(url, options: $0) } ?? .reading(url) }
      items = choices.map { url, writing in
        AccessRecord.Item(url.plainPath, writing.map { $0 == .forDeleting ? .deepWrite : .write } ?? .read)
      }
    }

    func record(requested: Int64, granted: Int64) -> AccessRecord {
      AccessRecord(
        actor: coordinator.label, items: items, purpose: coordinator.purposeIdentifier, lineage: number, order: number,
        requested: requested, granted: granted, released: AccessLog.now)
    }
  }

  final class Run: Sendable {
    let domain = CoordinationDomain()
    let log = AccessLog()
    let failures = Guarded<[String]>([])
    let cancelCount = Guarded(0)

    private func note(_ error: any Error) {
      if (error as? FileCoordinationError)?.code == .cancelled { return cancelCount.withLock { $0 += 1 } }
      failures.withLock { $0.append("\(error)") }
    }

    func perform(_ candidate: Candidate, yields: Int) async {
      let requested = AccessLog.now
      do {
        try await candidate.coordinator.coordinate(candidate.intents) { [log] _ in
          let granted = AccessLog.now
          await candidate.isPlaced.wait()
          for _ in 0..<yields { await Task.yield() }
          log.append(candidate.record(requested: requested, granted: granted))
        }
      } catch { note(error) }
      candidate.isDone.countDown()
    }

    func performBlocking(_ candidate: Candidate, yields: Int) {
      let requested = AccessLog.now
      do {
        try candidate.coordinator.blocking.coordinate(candidate.intents) { [log] _ in
          let granted = AccessLog.now
          candidate.isPlaced.waitBlocking()
          for _ in 0..<yields { sched_yield() }
          log.append(candidate.record(requested: requested, granted: granted))
        }
      } catch { note(error) }
      candidate.isDone.countDown()
    }
  }

  /// Files and directories, of which some contain others and none has to exist.
  static let names = ["d", "d/x", "d/x/f", "d/x/g", "d/y", "e", "e/f"]

  static func choices(_ random: inout SplitMix, in directory: URL) -> [(URL, FileCoordinator.WritingOptions?)] {
    let count = random.chance(75) ? 1 : Int.random(in: 2...3, using: &random)
    return names.shuffled(using: &random).prefix(count).map { name in
      let url = directory.appending(path: name, directoryHint: .notDirectory)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50: return (url, nil)
      case 50..<80: return (url, [])
      default: return (url, .forDeleting)
      }
    }
  }

  // The requests come from one task, which waits until the domain has received each before it makes the next. So the
  // order is exact, while grants and releases occur on many threads at once:
  //
  //   requests   1 2 3 4 5 …          one after the other
  //   access 1    [----]              thread
  //   access 2     ···· [--]          task
  //   access 3      ····[----]        thread, shares with 2
  @Test("Nobody is granted before an earlier request that it conflicts with", arguments: StressSize.seeds)
  func order(seed: UInt64) async throws {
    try await withStressDirectory { directory in
      let run = Run()
      var random = SplitMix(seed: seed)
      var candidates: [Candidate] = []
      for number in 1...StressSize.stepCount * 3 {
        let candidate = Candidate(number, in: run.domain, Self.choices(&random, in: directory))
        let yields = Int.random(in: 0..<6, using: &random)
        if random.chance(50) {
          HostThread.start(name: "fair-\(number)") { run.performBlocking(candidate, yields: yields) }
        } else {
          Task { await run.perform(candidate, yields: yields) }
        }
        try await run.domain.waitUntil { snapshot in
          snapshot.accesses.contains { $0.party.label == candidate.coordinator.label }
        }
        candidate.isPlaced.countDown()
        candidates.append(candidate)
        // A cancelled waiter must neither hold up nor let through those behind it.
        if random.chance(10) { candidates.suffix(10).randomElement(using: &random)?.coordinator.cancel() }
        if number > 24 { await candidates[number - 25].isDone.wait() }
      }
      for candidate in candidates { await candidate.isDone.wait() }
      let log = run.log.records
      #expect(run.failures.withLock { $0 } == [], "seed \(seed)")
      #expect(log.count + run.cancelCount.withLock { $0 } == candidates.count, "seed \(seed)")
      #expect(AccessLogChecker.overlaps(in: log) == [], "seed \(seed)")
      #expect(AccessLogChecker.overtakes(in: log) == [], "seed \(seed)")
      let accesses = try await run.domain.snapshot().accesses
      #expect(accesses.isEmpty, "seed \(seed)")
    }
  }

  @Test("A stream of readers doesn't hold up a writer: it's next after those who read when it asked")
  func noStarvation() async throws {
    // reader 0    [------]
    // writer           w··[--]
    // reader n           ·····[---]     // each asked after the writer
    try await withStressDirectory { directory in
      let run = Run()
      let file = directory.appending(path: "f", directoryHint: .notDirectory)
      var candidates: [Candidate] = []
      for number in 0..<40 {
        let candidate = Candidate(number, in: run.domain, [(file, number == 5 ? [] : nil)])
        Task { await run.perform(candidate, yields: 1) }
        try await run.domain.waitUntil { snapshot in snapshot.accesses.contains { $0.party.label == "\(number)" } }
        candidates.append(candidate)
      }
      // All readers after the writer wait although only readers hold the file.
      let snapshot = try await run.domain.snapshot()
      #expect(snapshot.accesses.count { $0.isGranted } == 5)
      #expect(snapshot.accesses.map(\.party.label) == (0..<40).map(String.init))
      for candidate in candidates { candidate.isPlaced.countDown() }
      for candidate in candidates { await candidate.isDone.wait() }
      #expect(AccessLogChecker.overtakes(in: run.log.records) == [])
      #expect(run.log.records.count == 40)
    }
  }
}
