import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import SystemInterface
import TestSupport
import Testing

/// A process with presenters has a thread that reads the service's messages and runs callbacks itself.
@Suite("The thread that reads messages and runs callbacks", .blocking, .timeLimit(.minutes(4)))
struct CallbackThreadTests {
  private static let name = "coord-callbacks"

  /// The processes of a test: each domain is one to the others.
  private struct Processes {
    let root: URL
    let editor: CoordinationDomain
    let asker: CoordinationDomain
    private let socket: String

    init(_ root: URL) {
      self.root = root
      socket = root.path + "/s"
      editor = .socket(socket)
      asker = .socket(socket)
    }

    func url(_ name: String) -> URL { root.appending(path: name) }

    /// A process that serves until it's dropped.
    func newServer() async throws -> FileCoordinator {
      let server = FileCoordinator(label: "server", domain: .socket(socket))
      try await server.read(url("other")) { _ in }
      return server
    }

    func read(_ name: String) async throws {
      try await FileCoordinator(label: "asker", domain: asker).read(url(name)) { _ in }
    }
  }

  /// A presenter whose questions are answered by that thread from now on, if that's free.
  private func warmPresenter(_ processes: Processes) async throws -> (RecordingPresenter, FilePresenterRegistration) {
    let presenter = RecordingPresenter(processes.url("a"), label: "P", callbacks: .relinquishToReader)
    let names = Guarded<[String]>([])
    presenter.answer(.relinquishToReader) { _ in
      let name = try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
      names.withLock { $0.append(name.filter { $0 != "\n" }) }
    }
    let registration = try await processes.editor.register(presenter)
    // The first message starts the thread, and may be followed by some before that waits.
    repeat { try await processes.read("a") } while names.withLock { $0.last } != Self.name
    return (presenter, registration)
  }

  @Test("While a callback blocks it, other messages are read, and other callbacks run")
  func blocked() async throws {
    try await withTemporaryDirectory { root in
      let processes = Processes(root)
      let server = try await processes.newServer()
      let (presenter, registration) = try await warmPresenter(processes)
      let other = RecordingPresenter(processes.url("b"), label: "Q", callbacks: .relinquishToReader)
      let otherRegistration = try await processes.editor.register(other)
      let gate = TestGate()
      presenter.answer(.relinquishToReader) { _ in Self.block(at: gate) }
      let reader = Task { try await processes.read("a") }
      try await gate.waitForArrival()
      for count in 1...3 {
        try await processes.read("b")
        #expect(other.callbacks.count { $0 == .relinquishToReader } == count)
        try await FileCoordinator(label: "editor", domain: processes.editor).write(processes.url("c")) { _ in }
      }
      gate.open()
      try await reader.value
      registration.end()
      otherRegistration.end()
      withExtendedLifetime(server) {}
    }
  }

  @Test("While a callback blocks it, the next service is found, and asks the presenter when the callback is over")
  func change() async throws {
    try await withTemporaryDirectory { root in
      let processes = Processes(root)
      var server: FileCoordinator? = try await processes.newServer()
      let (presenter, registration) = try await warmPresenter(processes)
      let gate = TestGate()
      presenter.answer(.relinquishToReader) { _ in Self.block(at: gate) }
      let reader = Task { try await processes.read("a") }
      try await gate.waitForArrival()
      #expect(server != nil)
      server = nil
      try await FileCoordinator(label: "editor", domain: processes.editor).write(processes.url("c")) { _ in }
      gate.open()
      try await reader.value
      let count = presenter.callbacks.count
      try await processes.read("a")
      #expect(presenter.callbacks.count > count)
      registration.end()
    }
  }

  @Test("A callback on it may wait for an access, also if that blocks the thread", arguments: [true, false])
  func nested(isBlocking: Bool) async throws {
    try await withTemporaryDirectory { root in
      let processes = Processes(root)
      let server = try await processes.newServer()
      let (presenter, registration) = try await warmPresenter(processes)
      let coordinator = FileCoordinator(label: "nested", domain: processes.editor)
      let gate = TestGate()
      let readCount = Guarded(0)
      presenter.answer(.relinquishToReader) { _ in
        let url = processes.url("b")
        if isBlocking { try Self.read(url, coordinator) } else { try await coordinator.read(url) { _ in } }
        readCount.withLock { $0 += 1 }
      }
      let holder = Task {
        try await FileCoordinator(label: "holder", domain: processes.asker).write(processes.url("b")) { _ in
          try await gate.pass()
        }
      }
      try await gate.waitForArrival()
      let reader = Task { try await processes.read("a") }
      try await processes.editor.waitUntil { state in
        state.accesses.contains { $0.party.label == "nested" && !$0.isGranted }
      }
      gate.open()
      try await holder.value
      try await reader.value
      #expect(readCount.withLock { $0 } == 1)
      registration.end()
      withExtendedLifetime(server) {}
    }
  }

  @Test("A domain that's dropped in the middle of a callback ends the thread", arguments: 0..<4)
  func dropped(round: Int) async throws {
    try await withTemporaryDirectory { root in
      var processes: Processes? = Processes(root)
      let server = try await processes?.newServer()
      let gate = TestGate()
      var warm = try await warmPresenter(#require(processes)) as (RecordingPresenter, FilePresenterRegistration)?
      weak let domain = processes?.editor
      warm?.0.answer(.relinquishToReader) { _ in Self.block(at: gate) }
      let asker = try FileCoordinator(label: "asker", domain: #require(processes?.asker))
      let file = try #require(processes?.url("a"))
      let reader = Task { try await asker.read(file) { _ in } }
      try await gate.waitForArrival()
      warm?.1.end()
      warm = nil
      processes = nil
      gate.open()
      try await reader.value
      // The callback and everything that it refers to are gone soon.
      while domain != nil { await Task.yield() }
      withExtendedLifetime(server) {}
    }
  }

  private static func block(at gate: TestGate) { gate.passBlocking() }

  private static func read(_ url: URL, _ coordinator: FileCoordinator) throws {
    try coordinator.blocking.read(url) { _ in }
  }
}
