import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Synchronization
import SystemInterface
import Testing

/// Accesses that a process loses because it finds no service, and what their code requests afterwards.
@Suite("Requests inside of accesses that a process has lost", .timeLimit(.minutes(2)))
struct LostSurroundingsTests {
  /// The processes of a test: each domain is one to the others.
  private struct Processes {
    let root: URL
    let editor: CoordinationDomain
    let asker: CoordinationDomain
    private let socket: String
    private let place: String

    init(_ root: URL) throws {
      self.root = root
      place = root.path + "/place"
      socket = place + "/s"
      try FileManager.default.createDirectory(
        atPath: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
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

    /// Nobody finds the place where they meet, until `restore`.
    func hide() throws {
      try FileManager.default.moveItem(atPath: place, toPath: place + ".hidden")
      _ = FileManager.default.createFile(atPath: place, contents: nil)
    }

    func restore() throws {
      try FileManager.default.removeItem(atPath: place)
      try FileManager.default.moveItem(atPath: place + ".hidden", toPath: place)
    }
  }

  /// ```
  /// editor  did-change [ read c [ ·lost···[read b] ] ]    // waits for the asker's write
  /// asker                         write b [ read a ]      // waits for the editor's presenter of a
  /// ```
  @Test("C-437: A presenter whose callback waits inside of a lost access is asked meanwhile")
  func callback() async throws {
    try await withTemporaryDirectory { root in
      let processes = try Processes(root)
      var server: FileCoordinator? = try await processes.newServer()
      let editor = FileCoordinator(label: "editor", domain: processes.editor)
      let asker = FileCoordinator(label: "asker", domain: processes.asker, deadlines: .within(.seconds(60)))
      let (gate, end) = (TestGate(), TestGate())
      let presenter = RecordingPresenter(
        processes.url("a"), label: "P", callbacks: [.itemDidChange, .relinquishToReader])
      let isFirst = Guarded(true)
      presenter.answer(.itemDidChange) { _ in
        // Changes that may have been missed are notified as well.
        guard isFirst.withLock({ exchange(&$0, with: false) }) else { return }
        try await editor.read(processes.url("c")) { _ in
          try await gate.pass()
          try await editor.read(processes.url("b"), deadlines: .within(.seconds(60))) { _ in }
        }
        end.open()
      }
      let registration = try await processes.editor.register(presenter)
      try await asker.write(processes.url("a")) { _ in }
      try await gate.waitForArrival()
      try processes.hide()
      #expect(server != nil)
      server = nil
      let error = await #expect(throws: FileCoordinationError.self) {
        try await editor.read(processes.url("d")) { _ in }
      }
      #expect(error?.code == .domainUnreachable)
      try processes.restore()
      let next = try await processes.newServer()
      // The editor reports its presenter.
      try await editor.read(processes.url("d")) { _ in }
      try await asker.write(processes.url("b")) { _ in
        gate.open()
        try await asker.read(processes.url("a")) { _ in }
      }
      try await end.pass()
      let questions = presenter.messages.filter { $0.callback == .relinquishToReader }
      #expect(questions.count == 1)
      registration.end()
      withExtendedLifetime(next) {}
    }
  }

  /// ```
  /// editor  write c, for P [ ·lost··········[read a] ]    // behind the asker's write
  /// asker                          write a                // asks P, which answers when the editor has read
  /// ```
  @Test(
    "C-437: An access inside of a presenter's lost one passes the asker for whom the presenter waits",
    arguments: [false, true])
  func ownAccess(isLost: Bool) async throws {
    try await withTemporaryDirectory { root in
      let processes = try Processes(root)
      var server: FileCoordinator? = try await processes.newServer()
      let (gate, end) = (TestGate(), TestGate())
      let presenter = RecordingPresenter(
        processes.url("a"), label: "P", callbacks: [.relinquishToWriter])
      presenter.answer(.relinquishToWriter) { _ in try await end.pass() }
      let registration = try await processes.editor.register(presenter)
      let own = FileCoordinator(label: "own", presenter: presenter, domain: processes.editor)
      let other = FileCoordinator(label: "other", domain: processes.editor, deadlines: .within(.seconds(8)))
      let asker = FileCoordinator(label: "asker", domain: processes.asker, deadlines: .within(.seconds(20)))
      let editing = Task {
        try await own.write(processes.url("c")) { _ in
          try await gate.pass()
          try await other.read(processes.url("a")) { _ in }
        }
        end.open()
      }
      try await gate.waitForArrival()
      if isLost {
        try processes.hide()
        #expect(server != nil)
        server = nil
        let error = await #expect(throws: FileCoordinationError.self) {
          try await other.read(processes.url("d")) { _ in }
        }
        #expect(error?.code == .domainUnreachable)
        try processes.restore()
        server = try await processes.newServer()
        try await other.read(processes.url("d")) { _ in }
      }
      let asking = Task { try await asker.write(processes.url("a")) { _ in } }
      try await presenter.wait(for: .relinquishToWriter)
      gate.open()
      try await editing.value
      try await asking.value
      registration.end()
      withExtendedLifetime(server) {}
    }
  }
}
