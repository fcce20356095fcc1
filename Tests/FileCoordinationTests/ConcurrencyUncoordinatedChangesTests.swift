import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SeededRandom
import SystemInterface
import Testing

/// A presenter that reads its item at each report of a change, and so has the last state that was reported to it.
private final class Reader: FilePresenter {
  let presentedItemURL: URL?
  let presentedItemCallbacks: FilePresenterCallbacks = [.itemDidChange, .itemDidMove]
  let observesUncoordinatedChanges = true
  private let texts = EventTimeline()
  private let toldOfStrangers = Guarded(0)

  init(_ url: URL) {
    presentedItemURL = url
    look()
  }

  var uncoordinatedCount: Int { toldOfStrangers.withLock { $0 } }

  /// Waits until this is the text of the last read: a stranger's rename is reported a tenth of a second late.
  func wait(for text: String) async throws { try await texts.waitUntil { $0.last == text } }

  private func look() {
    let text = presentedItemURL.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
    texts.note(text ?? "nothing")
  }

  func presentedItemDidChange(origin: AccessOrigin) async {
    if !origin.isCoordinated { toldOfStrangers.withLock { $0 += 1 } }
    look()
  }
}

/// Writers of one domain and strangers at the same files.
private struct Churn: Sendable {
  let root: URL
  let domain: CoordinationDomain
  let names = ["a", "b", "c"]

  func url(_ name: String) -> URL { URL(filePath: root.path + "/" + name) }

  /// Writes, some of it on behalf of the presenters, unless they're in another process.
  func coordinate(seed: UInt64, rounds: Int, onBehalfOf presenters: [Reader]) throws {
    var random = Seeded(seed)
    for round in 0..<rounds {
      let index = random.below(names.count)
      let own = !presenters.isEmpty && random.below(3) == 0 ? presenters[index] : nil
      let coordinator = FileCoordinator(label: "writer \(seed)", presenter: own, domain: domain)
      let text = Data("\(own == nil ? "writer" : "own") \(seed), round \(round)".utf8)
      let url = url(names[index])
      do {
        if random.below(2) == 0 {
          try coordinator.blocking.write(url, options: []) { try text.write(to: $0.url) }
        } else {
          try coordinator.blocking.replaceContents(of: url, with: text)
        }
      } catch let error as FileCoordinationError where error.code == .fileSystem {
        // A stranger has removed the file in the middle of the save, which is as good as if it had done so after it.
      }
    }
  }

  func interfere(seed: UInt64, rounds: Int) throws {
    var random = Seeded(seed)
    for round in 0..<rounds {
      let url = url(names[random.below(names.count)])
      let text = Data("stranger \(seed), round \(round)".utf8)
      switch random.below(3) {
      case 0: try text.write(to: url)
      case 1:
        let temporary = URL(filePath: url.path + ".\(seed)")
        try text.write(to: temporary)
        try HostFileSystem().rename(
          SystemPath(temporary.path), at: .workingDirectory, to: SystemPath(url.path), at: .workingDirectory, .replacing
        )
      default:
        try? FileManager.default.removeItem(at: url)
        try text.write(to: url)
      }
    }
  }
}

private struct Seeded {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func below(_ limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % limit
  }
}

// One after the other: they keep all processors busy.
@Suite("Concurrency: coordinated writers and strangers at the same files", .serialized, .timeLimit(.minutes(5)))
struct ConcurrencyUncoordinatedChangesTests {
  private static let seeds = Budget.seeds(normal: 2, long: 60)

  private func run(
    seed: UInt64, strangers: Int, meetingAt place: String?,
    _ check: (Churn, [Reader], RecordingPresenter) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { root in
      let watching = place.map { CoordinationDomain.socket($0) } ?? CoordinationDomain()
      let churn = Churn(root: root, domain: place.map { CoordinationDomain.socket($0) } ?? watching)
      for name in churn.names { try Data("old".utf8).write(to: churn.url(name)) }
      let readers = churn.names.map { Reader(churn.url($0)) }
      let directory = RecordingPresenter(root, callbacks: .observing, observesUncoordinatedChanges: true)
      let registrations = try (readers + [directory] as [any FilePresenter]).map { try watching.register($0) }
      defer { for registration in registrations { registration.end() } }
      let owners = place == nil ? readers : []
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 1...3 {
          group.addTask {
            try await onThread {
              try churn.coordinate(seed: seed &* 10 &+ UInt64(writer), rounds: 25, onBehalfOf: owners)
            }
          }
        }
        for stranger in 0..<strangers {
          group.addTask {
            try await onThread { try churn.interfere(seed: seed &* 10 &+ 5 &+ UInt64(stranger), rounds: 25) }
          }
        }
        try await group.waitForAll()
      }
      // The last report counts, so in the end a thread reads the queue, and a snapshot is answered behind it.
      for _ in 0..<2 {
        _ = try await churn.domain.snapshot()
        watching.readUncoordinatedChanges()
        _ = try await watching.snapshot()
      }
      try await watching.waitUntil(\.arePresentersIdle)
      try await check(churn, readers, directory)
    }
  }

  @Test("C-200: After the last change of a file by any program, its presenter has been notified", arguments: seeds)
  func nothingIsLost(seed: UInt64) async throws {
    try await run(seed: seed, strangers: 2, meetingAt: nil) { churn, readers, _ in
      for (name, reader) in zip(churn.names, readers) {
        // The presenter that wrote last itself receives no report, and needs none.
        let text = try String(contentsOf: churn.url(name), encoding: .utf8)
        if !text.hasPrefix("own") { try await reader.wait(for: text) }
      }
    }
  }

  @Test("C-200: The same between processes", arguments: seeds)
  func nothingIsLostBetweenProcesses(seed: UInt64) async throws {
    try await withTemporaryDirectory { place in
      try await run(seed: seed, strangers: 2, meetingAt: place.path + "/s") { churn, readers, _ in
        for (name, reader) in zip(churn.names, readers) {
          try await reader.wait(for: try String(contentsOf: churn.url(name), encoding: .utf8))
        }
      }
    }
  }

  // In processes of their own: a child that another test starts may hold a written file open after the access, and its end would be a
  // change that nobody coordinates.
  @Test("C-200: Without strangers nothing is told as a stranger's, and own writes don't come back", arguments: seeds)
  func nothingIsMistaken(seed: UInt64) async {
    await #expect(processExitsWith: .success) { [seed = seed as UInt64] in
      try await ConcurrencyUncoordinatedChangesTests().expectNothingMistaken(seed, meetingAt: nil)
    }
  }

  @Test("C-200: Nor between processes", arguments: seeds)
  func nothingIsMistakenBetweenProcesses(seed: UInt64) async {
    await #expect(processExitsWith: .success) { [seed = seed as UInt64] in
      try await withTemporaryDirectory { place in
        try await ConcurrencyUncoordinatedChangesTests().expectNothingMistaken(seed, meetingAt: place.path + "/s")
      }
    }
  }

  private func expectNothingMistaken(_ seed: UInt64, meetingAt place: String?) async throws {
    try await run(seed: seed, strangers: 0, meetingAt: place) { _, readers, directory in
      #expect(readers.map(\.uncoordinatedCount) == [0, 0, 0], "seed \(seed)")
      #expect(directory.messages.filter { !$0.origin.isCoordinated } == [], "seed \(seed)")
    }
  }
}
