import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Synchronization
import SystemInterface
import TestSupport
import Testing

/// A temporary directory, a domain on a clock that stands still, and one timeline for all events.
final class Sandbox: Sendable {
  let root: URL
  let clock = VirtualClock()
  let timeline = EventTimeline()
  let domain: CoordinationDomain
  private let configuration: CoordinationDomain.Configuration
  /// If there are several processes, each presenter has one for itself.
  private let domains = Mutex<[ObjectIdentifier: CoordinationDomain]>([:])
  /// Registration is weak: the sandbox keeps presenters too.
  private let registered = Mutex<[(any FilePresenter, FilePresenterRegistration)]>([])

  /// Lets time pass where a test waits for changes of strangers, which are reported when their items have been left
  /// alone.
  private let pacer = Mutex<Task<Void, any Error>?>(nil)

  /// Where the processes meet, if there are several.
  private let meetingPlace: String?

  init(_ root: URL, meetingAt place: String?, _ change: (inout CoordinationDomain.Configuration) -> Void) {
    self.root = root
    var configuration = CoordinationDomain.Configuration()
    configuration.clock = clock
    configuration.packageExtensions = ["pkg"]
    configuration.snapshotDirectory = root
    change(&configuration)
    // The service has a clock of its own.
    if place != nil { configuration.clock = HostClock.shared }
    self.configuration = configuration
    meetingPlace = place
    domain = place.map { .socket($0, configuration) } ?? CoordinationDomain(configuration)
  }

  deinit { pacer.withLock { $0?.cancel() } }

  /// Makes everything that's due within a tenth of a second due at once, until the end of the test.
  func letChangesSettle() {
    pacer.withLock { pacer in
      if pacer != nil { return }
      pacer = Task.detached { [clock] in
        while !Task.isCancelled {
          try await clock.waitForDeadline(within: .milliseconds(100))
          clock.advance(by: .milliseconds(100))
        }
      }
    }
  }

  /// Whether accesses and each of the presenters are in domain objects of their own, which have contact only through
  /// the service: as if in different processes.
  @TaskLocal static var hasManyProcesses = false

  /// Where a presenter registers, and where its callbacks coordinate.
  func domain(of presenter: any FilePresenter) -> CoordinationDomain {
    guard let meetingPlace else { return domain }
    return domains.withLock { domains in
      let known = domains[ObjectIdentifier(presenter)] ?? .socket(meetingPlace, configuration)
      domains[ObjectIdentifier(presenter)] = known
      return known
    }
  }

  var events: [String] { timeline.events }

  func coordinator(
    _ label: String, presenter: (any FilePresenter)? = nil, beside neighbour: (any FilePresenter)? = nil,
    deadlines: AccessDeadlines? = nil
  ) -> FileCoordinator {
    FileCoordinator(
      label: label, presenter: presenter, domain: (presenter ?? neighbour).map(domain(of:)) ?? domain,
      deadlines: deadlines)
  }
}

// MARK: - Files

extension Sandbox {
  func url(_ name: String) -> URL { URL(filePath: root.path + "/" + name, directoryHint: .notDirectory) }

  /// Makes a file, and the directories around it.
  @discardableResult
  func write(_ name: String, _ text: String = "old") throws -> URL {
    let url = url(name)
    try makeDirectory(String(name.reversed().drop { $0 != "/" }.reversed()))
    try text.write(to: url, atomically: false, encoding: .utf8)
    return url
  }

  @discardableResult
  func makeDirectory(_ name: String) throws -> URL {
    try FileManager.default.createDirectory(atPath: url(name).path, withIntermediateDirectories: true)
    return url(name)
  }

  func text(_ name: String) throws -> String { try text(at: url(name)) }

  func text(at url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

  func exists(_ name: String) -> Bool { exists(url(name)) }

  func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  /// Gives a file a modification date some time ago, or at another time.
  func age(_ name: String, to date: Date = Date(timeIntervalSinceNow: -60)) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url(name).path)
  }

  func rename(_ old: String, to new: String) throws {
    try FileManager.default.moveItem(atPath: url(old).path, toPath: url(new).path)
  }
}

// MARK: - Presenters

extension Sandbox {
  /// Registers a recording presenter until the end of the test.
  @discardableResult
  func present(
    _ name: String?, as label: String = "P", _ callbacks: FilePresenterCallbacks = .all, reacquires: Bool = false,
    executor: (any TaskExecutor)? = nil, serves: Bool = true, observing attributes: Set<String>? = nil,
    observesStrangers: Bool = false, observesEntries: Bool = false
  ) throws -> RecordingPresenter {
    let presenter = RecordingPresenter(
      name.map(url), label: label, callbacks: callbacks, executor: executor, servesWhileWaiting: serves,
      observedUbiquityAttributes: attributes, observesUncoordinatedChanges: observesStrangers,
      observesDirectoryEntries: observesEntries, timeline: timeline)
    presenter.handsOverReacquirer = reacquires
    try register(presenter)
    return presenter
  }

  func register(_ presenter: any FilePresenter) throws {
    let registration = try domain(of: presenter).register(presenter)
    registered.withLock { $0.append((presenter, registration)) }
  }

  /// Suspends until every presenter has handled everything.
  func quiesce() async throws { try await domain.waitUntil(\.arePresentersIdle) }
}

/// Makes a sandbox for the duration of `body` and removes it in every case.
func withSandbox<Result>(
  configure: (inout CoordinationDomain.Configuration) -> Void = { _ in }, _ body: (Sandbox) async throws -> Result
) async throws -> Result {
  try await withTemporaryDirectory { root in
    if !Sandbox.hasManyProcesses { return try await body(Sandbox(root, meetingAt: nil, configure)) }
    return try await withTemporaryDirectory { place in
      try await body(Sandbox(root, meetingAt: place.path + "/s", configure))
    }
  }
}

/// Makes a temporary directory for the duration of `body` and removes it in every case.
func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let path = FileManager.default.temporaryDirectory.path + "/FileCoordinationTests." + UUID().uuidString
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { removeSurely(path) }
  return try await body(URL(filePath: path, directoryHint: .isDirectory))
}

/// Runs `body` on a thread of its own, which may block.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    HostThread.start(name: "test") { continuation.resume(with: Swift.Result(catching: body)) }
  }
}

/// Something that can go wrong in a test.
struct TestFailure: Error, Equatable {
  var text = "refused"
}
