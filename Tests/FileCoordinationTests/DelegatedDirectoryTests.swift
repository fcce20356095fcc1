import FileAccessArbiter
import FileCoordinationTesting
import FoundationEssentials
import Glibc
import Synchronization
import SystemInterface
import TestSupport
import Testing

@testable import FileCoordination

/// Two domain objects that have contact only through the service, as if in two processes.
@Suite("A process decides alone in a directory that was delegated to it", .timeLimit(.minutes(5)))
struct DelegatedDirectoryTests {
  private struct Pair {
    let file: URL
    /// Receives the delegation of the file's directory.
    let domain: CoordinationDomain
    let other: CoordinationDomain

    var isDelegated: Bool {
      get throws { try other.processes().contains { !$0.delegatedPaths.isEmpty } }
    }

    /// Uses the directory alone until it's delegated.
    func obtainDelegation() throws {
      let coordinator = FileCoordinator(label: "delegate", domain: domain)
      for _ in 0..<1_000 {
        if try isDelegated { return }
        for _ in 0..<4 { try coordinator.blocking.write(file) { _ in } }
      }
      Issue.record("nothing is delegated")
    }
  }

  private func withPair(_ body: (Pair) async throws -> Void) async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        let domains = (0..<2).map { _ in CoordinationDomain.socket(place.path + "/s") }
        try await body(Pair(file: root.appending(path: "f"), domain: domains[0], other: domains[1]))
      }
    }
  }

  static let writingOptions: [FileCoordinator.WritingOptions] = [[], .forMerging, .contentIndependentMetadataOnly]

  @Test(
    "An access granted under a delegation becomes known and lasts, whatever kind of write it is",
    arguments: writingOptions
  )
  func writesBecomeKnown(options: FileCoordinator.WritingOptions) async throws {
    try await withPair { pair in try await onThread { try Self.write(in: pair, options) } }
  }

  private static func write(in pair: Pair, _ options: FileCoordinator.WritingOptions) throws {
    try pair.obtainDelegation()
    let coordinator = FileCoordinator(label: "delegated", domain: pair.domain)
    try coordinator.blocking.write(pair.file, options: options) { access in
      #expect(try pair.domain.processes().count == 2)
      #expect(access.fencingToken.epoch > 0)
      let labels = try pair.other.snapshot().accesses.map(\.party.label)
      #expect(labels.contains("delegated"))
      try access.commit {}
      let deadlines = AccessDeadlines(waitingForAccesses: .milliseconds(20))
      let error = #expect(throws: FileCoordinationError.self) {
        try FileCoordinator(label: "other", domain: pair.other, deadlines: deadlines).blocking.read(pair.file) { _ in }
      }
      #expect(error?.code == .timedOut)
      try access.commit {}
    }
    try FileCoordinator(label: "other", domain: pair.other).blocking.read(pair.file) { _ in }
  }

  @Test("A process that writes without a pause receives the delegation of the directory, and keeps it")
  func hasteIsNoObstacle() async throws {
    try await withPair { pair in
      try await onThread {
        let coordinator = FileCoordinator(label: "hasty", domain: pair.domain)
        // On a machine that's busy for seconds a process counts as stopped, and begins anew.
        for _ in 0..<50 {
          for _ in 0..<100 { try coordinator.blocking.write(pair.file) { _ in } }
          if try !pair.isDelegated { continue }
          let lastAccess = pair.domain.host.withState { $0.lastAccess }
          for _ in 0..<100 { try coordinator.blocking.write(pair.file) { _ in } }
          // Only the fast tier has a record of those.
          if pair.domain.host.withState({ $0.lastAccess }) == lastAccess { return }
        }
        Issue.record("nothing is delegated, or it isn't kept")
      }
    }
  }

  @Test("The service accepts each access of the fast tier as one that may be granted under a delegation")
  func plainAccesses() {
    for number in UInt(0)... {
      guard let access = PlainAccess(rawValue: number) else { break }
      #expect(access.itemAccess.isPlain && access.itemAccess.isWrite == access.isWrite)
    }
  }

  @Test("Presenters that go while they're asked and told leave no record (C-191)")
  func presentersLeaveNothing() async throws {
    try await withPair { pair in
      let isOver = Atomic<Bool>(false)
      let writer = FileCoordinator(label: "busy", domain: pair.other)
      async let writing: Void = onThread {
        while !isOver.load(ordering: .relaxed) { try writer.blocking.write(pair.file) { _ in } }
      }
      for _ in 0..<500 {
        let presenter = RecordingPresenter(pair.file)
        let registration = try await pair.domain.register(presenter)
        await Task.yield()
        registration.end()
      }
      isOver.store(true, ordering: .relaxed)
      try await writing
      // Each request waits for all reports before it.
      for _ in 0..<10_000 {
        if pair.domain.host.withState({ $0.presenters.count }) == 0 { break }
        _ = try pair.domain.processes()
      }
      #expect(pair.domain.host.withState { $0.presenters.count } == 0)
    }
  }

  @Test("A process that acknowledges that its delegations were revoked stays expelled if it's expelled at that moment")
  func expulsionsLast() async throws {
    let word = SharedWord()
    let coverage = DelegationCoverage(in: word)
    let memory = ProcessMemory()
    _ = memory.exchange(DelegationCoverage.revoked, at: word.address)
    coverage.acknowledgeRevocation()
    #expect(!coverage.isRevoked)
    _ = memory.exchange(DelegationCoverage.expelled, at: word.address)
    coverage.acknowledgeRevocation()
    #expect(coverage.isExpelled)
    // The same at the same moment, on threads of their own: a task that spins keeps other tests from running.
    let turns = Atomic<Int>(0)
    let count = 2_000
    async let expelling: Void = onThread {
      for turn in 0..<count {
        Self.spin { turns.load(ordering: .acquiring) == 2 * turn + 1 }
        _ = memory.exchange(DelegationCoverage.expelled, at: word.address)
        turns.store(2 * turn + 2, ordering: .releasing)
      }
    }
    let erasedCount = try await onThread {
      var erasedCount = 0
      for turn in 0..<count {
        _ = memory.exchange(DelegationCoverage.revoked, at: word.address)
        turns.store(2 * turn + 1, ordering: .releasing)
        coverage.acknowledgeRevocation()
        Self.spin { turns.load(ordering: .acquiring) == 2 * turn + 2 }
        if !coverage.isExpelled { erasedCount += 1 }
      }
      return erasedCount
    }
    try await expelling
    #expect(erasedCount == 0)
  }

  /// Waits for an event that's about to occur on another thread, and leaves the core to that thread if it isn't
  /// running.
  private static func spin(until condition: () -> Bool) {
    var count = 0
    while !condition() {
      count += 1
      if count.isMultiple(of: 1_000) { sched_yield() }
    }
  }
}
