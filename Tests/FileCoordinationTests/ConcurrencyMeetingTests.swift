import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import Testing

/// The readers and writers inside each file, to find accesses that must not overlap.
private final class Occupancy: Sendable {
  private let state = Guarded<[String: (readers: Int, writers: Int)]>([:])
  private let violations = Guarded<[String]>([])

  var problems: [String] { violations.withLock { $0 } }

  func enter(_ name: String, isWrite: Bool) {
    let isWrong = state.withLock { state in
      let (readers, writers) = state[name] ?? (0, 0)
      state[name] = isWrite ? (readers, writers + 1) : (readers + 1, writers)
      return writers > 0 || (isWrite && readers > 0)
    }
    if isWrong { violations.withLock { $0.append("\(name), writing: \(isWrite)") } }
  }

  func leave(_ name: String, isWrite: Bool) {
    state.withLock { state in
      let (readers, writers) = state[name] ?? (0, 0)
      state[name] = isWrite ? (readers, writers - 1) : (readers - 1, writers)
    }
  }
}

@Suite("Concurrency: threads of several domains that meet at one socket", .timeLimit(.minutes(5)))
struct ConcurrencyMeetingTests {
  private static let names = ["a/f", "a/g", "b/f"]

  /// Rounds at one file, so that its directory is delegated and recalled.
  private static func use(_ domain: CoordinationDomain, _ root: URL, _ occupancy: Occupancy, seed: Int) throws {
    for round in 0..<60 {
      let name = names[(round / 6 + seed) % names.count]
      let url = URL(filePath: root.path + "/" + name)
      let coordinator = FileCoordinator(label: "thread \(seed)", domain: domain)
      let isWrite = (round + seed) % 3 == 0
      if isWrite {
        try coordinator.blocking.write(url) { _ in
          occupancy.enter(name, isWrite: true)
          occupancy.leave(name, isWrite: true)
        }
      } else {
        try coordinator.blocking.read(url) { _ in
          occupancy.enter(name, isWrite: false)
          occupancy.leave(name, isWrite: false)
        }
      }
    }
  }

  @Test("Nobody is inside beside a writer, whether directories are delegated or not")
  func exclusion() async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        let occupancy = Occupancy()
        let domains = (0..<3).map { _ in CoordinationDomain.socket(place.path + "/s") }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for thread in 0..<6 {
            group.addTask { try await onThread { try Self.use(domains[thread % 3], root, occupancy, seed: thread) } }
          }
          try await group.waitForAll()
        }
        #expect(occupancy.problems == [])
        #expect(try await domains[0].snapshot().accesses.filter { $0.party.label != "delegation" }.isEmpty)
      }
    }
  }

  @Test("Domains that come and go, the serving one among them, let the others go on")
  func comingAndGoing() async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        let occupancy = Occupancy()
        try await withThrowingTaskGroup(of: Void.self) { group in
          for thread in 0..<4 {
            group.addTask {
              for life in 0..<3 {
                let domain = CoordinationDomain.socket(place.path + "/s")
                try await onThread { try Self.use(domain, root, occupancy, seed: thread + life) }
              }
            }
          }
          try await group.waitForAll()
        }
        #expect(occupancy.problems == [])
      }
    }
  }

  @Test("A presenter is notified of the writes of another domain, whatever was delegated to that before it registered")
  func presenterHearsOfAll() async throws {
    try await withTemporaryDirectory { root in
      try await withTemporaryDirectory { place in
        let url = URL(filePath: root.path + "/d/f")
        let (writer, viewer) = (
          CoordinationDomain.socket(place.path + "/s"), CoordinationDomain.socket(place.path + "/s")
        )
        let coordinator = FileCoordinator(label: "writer", domain: writer)
        for _ in 0..<20 { try await onThread { try coordinator.blocking.write(url) { _ in } } }
        let presenter = RecordingPresenter(url, label: "P", callbacks: .itemDidChange)
        let registration = try await viewer.register(presenter)
        for _ in 0..<20 { try await onThread { try coordinator.blocking.write(url) { _ in } } }
        try await presenter.wait(for: .itemDidChange, count: 20)
        registration.end()
      }
    }
  }
}
