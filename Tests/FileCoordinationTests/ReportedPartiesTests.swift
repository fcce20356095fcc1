import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Synchronization
import Testing

@Suite("Reports and errors name the parties in the way", .timeLimit(.minutes(4)), .betweenProcesses)
struct ReportedPartiesTests {
  /// Why a write fails that waits as long as it may.
  private func timeout(of label: String, writing url: URL, in box: Sandbox) async -> FileCoordinationError? {
    let write = Task.detached {
      let deadlines = AccessDeadlines(waitingForAccesses: .milliseconds(1))
      try await box.coordinator(label, deadlines: deadlines).write(url) { _ in }
    }
    let clock = Task.detached {
      // Nothing reports when the clock has received the deadline.
      while !Task.isCancelled {
        box.clock.advance(by: .milliseconds(1))
        await Task.yield()
      }
    }
    defer { clock.cancel() }
    return await #expect(throws: FileCoordinationError.self) { try await write.value }
  }

  @Test("Of many who are in the way the first are named, and the others counted")
  func manyBlockers() async throws {
    try await withSandbox { box in
      let url = try box.write("d/f")
      var readers: [Lane] = []
      for index in 0..<20 { readers.append(try await box.hold(.read("d/f"), as: "reader \(index)")) }
      let error = await timeout(of: "writer", writing: url, in: box)
      #expect(error?.code == .timedOut)
      #expect(error?.blockers.count == 16)
      #expect(error?.omittedBlockerCount == 4)
      #expect(error?.message.contains("; and 4 more. Pass") == true, "\(error?.message ?? "")")

      let writer = box.start(.write("d/f"), as: "waiting")
      try await box.domain.waitUntil { $0.isWaiting("waiting") }
      let snapshot = try await box.domain.snapshot()
      let access = snapshot.accesses.first { $0.party.label == "waiting" }
      #expect(access?.blockers.count == 16)
      #expect(access?.omittedBlockerCount == 4)
      #expect(snapshot.description.contains(" and 4 more\n") || snapshot.description.hasSuffix(" and 4 more"))
      for reader in readers { try await reader.finish() }
      try await writer.finish()
    }
  }

  @Test("Of many items of an access the first are named, and the others counted")
  func manyItems() async throws {
    try await withSandbox { box in
      let urls = try (0..<40).map { try box.write("d/\($0)") }
      let holder = box.coordinator("holder")
      try await holder.coordinate(urls.map { .writing($0) }) { _ in
        let error = await timeout(of: "writer", writing: urls[0], in: box)
        let blocker = try #require(error?.blockers.first)
        #expect(blocker.items.count + blocker.omittedItemCount == 40)
      }
    }
  }

  /// Shows the name of its file.
  private final class TitledPresenter: FilePresenter {
    private let title: Mutex<String>
    let presentedItemURL: URL?
    let presentedItemCallbacks: FilePresenterCallbacks = .itemDidMove
    var presenterLabel: String { title.withLock { $0 } }

    init(_ url: URL) {
      presentedItemURL = url
      title = Mutex(url.lastPathComponent)
    }

    func presentedItemDidMove(to newURL: URL, origin: AccessOrigin) async {
      title.withLock { $0 = newURL.lastPathComponent }
    }
  }

  @Test("A presenter's label follows a rename")
  func label() async throws {
    try await withSandbox { box in
      let url = try box.write("d/old")
      let presenter = TitledPresenter(url)
      let registration = try await box.domain(of: presenter).register(presenter)
      #expect(try await box.domain.snapshot().presenters.map(\.label) == ["old"])
      try await box.coordinator("mover").move(url, to: box.url("d/new"))
      try await box.domain.waitUntil { $0.presenters.map(\.label) == ["new"] }
      registration.end()
      try await box.domain.waitUntil(\.presenters.isEmpty)
    }
  }
}
