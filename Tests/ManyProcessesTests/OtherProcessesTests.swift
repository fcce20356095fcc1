import FileCoordination
import Foundation
import TestSupport
import Testing

/// Two processes: that of the test, and a helper that holds or presents something.
@Suite("Accesses and presenters of other processes", .blocking, .timeLimit(.minutes(5)))
struct OtherProcessesTests {
  /// Where the two meet.
  private struct Place {
    let root = URL(filePath: "/tmp/two-processes-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
    let domain: CoordinationDomain
    let coordinator: FileCoordinator

    var file: URL { root.appending(path: "file") }

    init() throws {
      try FileManager.default.createDirectory(at: root, withIntermediateDirectories: false)
      domain = CoordinationDomain.socket(root.appending(path: "s").path)
      coordinator = FileCoordinator(label: "test", domain: domain)
      // This process serves, so that a helper that's killed or stopped is nothing but a client.
      #expect(try domain.processes().map(\.isService) == [true])
    }

    /// Starts the helper, and waits until it has reported its state.
    func helper(_ verb: String, until report: String) throws -> HelperProcess {
      let helper = try HelperProcess([verb, root.appending(path: "s").path, file.path])
      let line = try helper.line()
      #expect(line == report)
      return helper
    }

    func remove() { removeSurely(root.path) }
  }

  @Test("A claim keeps other processes waiting exactly as within one, and says who holds it (C-026)")
  func claimsHold() throws {
    let place = try Place()
    defer { place.remove() }
    let helper = try place.helper("hold", until: "holding")
    let deadlines = AccessDeadlines(waitingForAccesses: .milliseconds(20))
    let error = #expect(throws: FileCoordinationError.self) {
      try place.coordinator.blocking.read(place.file, deadlines: deadlines) { _ in Issue.record("granted") }
    }
    #expect(error?.code == .timedOut)
    #expect(error?.blockers.map(\.label) == ["holder"])
    #expect(error?.blockers.first?.process.contains("pid \(helper.identifier) ") == true)
    helper.finish()
    try place.coordinator.blocking.read(place.file) { _ in }
  }

  @Test("If a process that holds a claim dies, its claim disappears (C-027)")
  func claimsDie() async throws {
    let place = try Place()
    defer { place.remove() }
    let helper = try place.helper("hold", until: "holding")
    let coordinator = place.coordinator
    let file = place.file
    let write = Task { try await coordinator.write(file) { _ in } }
    try await place.domain.waitUntil { state in
      state.accesses.contains { $0.party.label == "test" && !$0.isGranted }
    }
    helper.send(SIGKILL)
    try await write.value
    helper.waitUntilExit()
    #expect(try await place.domain.snapshot().accesses.isEmpty)
  }

  @Test("A reader gets what the documents of three processes save elsewhere before they answer (C-119)")
  func documentsSave() throws {
    let place = try Place()
    defer { place.remove() }
    try Data().write(to: place.file)
    let helpers = try (0..<3).map { _ in try place.helper("document", until: "open") }
    for _ in 0..<2 {
      let text = try place.coordinator.blocking.read(place.file) { try String(contentsOf: $0.url, encoding: .utf8) }
      let expected = helpers.flatMap { helper in (1...2).map { "document \($0) of \(helper.identifier)" } }
      #expect(text.split(separator: "\n").map(String.init).sorted() == expected.sorted())
    }
    for helper in helpers {
      helper.finish()
      #expect(helper.status == 0)
    }
  }

  @Test("A presenter whose process dies while it's asked keeps nobody waiting (C-187)")
  func presentersDie() async throws {
    let place = try Place()
    defer { place.remove() }
    let helper = try place.helper("present", until: "presenting")
    let coordinator = place.coordinator
    let file = place.file
    let write = Task { try await coordinator.write(file) { _ in } }
    #expect(try helper.line() == "asked")
    helper.send(SIGKILL)
    try await write.value
    helper.waitUntilExit()
    #expect(try await place.domain.snapshot().presenters.isEmpty)
  }

  @Test("A presenter whose process is stopped keeps nobody waiting beyond the deadline (C-187)")
  func presentersStop() throws {
    let place = try Place()
    defer { place.remove() }
    let helper = try place.helper("present", until: "presenting")
    helper.stop()
    let deadlines = AccessDeadlines(waitingForAnswers: .milliseconds(20), lateAnswers: .proceed)
    try place.coordinator.blocking.write(place.file, deadlines: deadlines) { _ in }
    helper.send(SIGCONT)
    // No access waits for the answer to its question any more, but it's still asked the next time.
    try place.coordinator.blocking.write(place.file, deadlines: deadlines) { _ in }
    #expect(try place.domain.snapshot().presenters.map(\.label) == ["mute"])
    helper.send(SIGKILL)
    helper.waitUntilExit()
  }
}
