import FileCoordination
import FoundationEssentials
import Glibc

/// The context of a command: its invocation, and its domain.
struct Session: Sendable {
  static let domainVariable = "FILE_COORDINATION_DOMAIN"

  let invocation: Invocation
  let signals: Signals

  /// Before anything uses the domain, and while no other thread reads the environment.
  init(_ invocation: Invocation, _ signals: Signals) {
    self.invocation = invocation
    self.signals = signals
    // By the variable: so only one place interprets it, and programs that are started here agree.
    if let domain = invocation.text(.domain) { setenv(Self.domainVariable, domain, 1) }
  }

  var domain: CoordinationDomain { .standard }

  /// The files among the words after the options.
  var files: [URL] {
    get throws(Failure) { try invocation.operands.map { argument throws(Failure) in try URL(file: argument) } }
  }

  var deadlines: AccessDeadlines {
    var deadlines = invocation.duration(.timeout).map(AccessDeadlines.within) ?? .standard
    deadlines.stoppedHolders = invocation.duration(.skipStopped)
    return deadlines
  }

  /// A coordinator for this invocation.
  ///
  /// - Parameter usualLabel: Its label unless `--label` gives one.
  /// - Returns: The coordinator.
  func coordinator(_ usualLabel: String? = nil) -> FileCoordinator {
    let label = invocation.text(.label) ?? usualLabel ?? "filecoord \(invocation.command.name)"
    return FileCoordinator(label: label, domain: domain, deadlines: deadlines)
  }

  /// Runs an access that waits: a signal ends the wait, and the parties in the way are reported.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator that waits.
  ///   - body: The access. It says when it's granted, if it goes on after that.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or ``Failure`` when a signal ended the wait.
  func waiting<Result>(
    _ coordinator: FileCoordinator, _ body: (WaitReporter) async throws -> Result
  ) async throws -> Result {
    let reporter = WaitReporter(self)
    defer { reporter.finish() }
    return try await signals.handling({ _ in coordinator.cancel() }) {
      do { return try await body(reporter) } catch let error as FileCoordinationError where error.code == .cancelled {
        throw interruption ?? Failure(error)
      }
    }
  }

  /// Runs `body` inside one access.
  ///
  /// - Parameters:
  ///   - intents: The accesses to request, one for each of the files.
  ///   - label: The name of the accessing party, unless `--label` gives one.
  ///   - body: The work.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`, or the reason why there's no access.
  func withAccess<Result>(
    _ intents: [FileAccessIntent], label: String? = nil,
    _ body: (borrowing FileAccessSet) async throws -> Result
  ) async throws -> Result {
    let coordinator = coordinator(label)
    return try await waiting(coordinator) { reporter in
      try await coordinator.coordinate(intents) { access in
        reporter.finish()
        // It came too late to end the wait.
        if let interruption { throw interruption }
        let result = try await body(access)
        // All items are of one access.
        try access[0].commit {}
        return result
      }
    }
  }

  private var interruption: Failure? {
    signals.first.map { Failure(.signal($0), "ended by signal \($0) before access was granted") }
  }

  /// The state of the domain.
  ///
  /// - Returns: The presenters, accesses and waits.
  /// - Throws: ``Failure`` when it can't be asked.
  func snapshot() async throws -> CoordinationSnapshot {
    try await domain.snapshot()
  }

  /// The path of a file in the domain: without symbolic links on the way.
  ///
  /// Asks a domain of its own that no other code uses, so that the path is certainly the library's.
  ///
  /// - Parameter file: The file.
  /// - Returns: The path as snapshots spell it.
  /// - Throws: An error when the URL can't name a file.
  static func canonicalPath(of file: URL) throws -> String {
    let domain = CoordinationDomain()
    let watcher = Watcher(file, label: "", callbacks: []) { _ in }
    let registration = try domain.register(watcher)
    defer { registration.end() }
    return try domain.snapshot().presenters.first?.path ?? file.pathText
  }
}
