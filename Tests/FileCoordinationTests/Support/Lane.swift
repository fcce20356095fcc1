import FileCoordination
import FileCoordinationTesting
import FoundationEssentials
import Synchronization
import Testing

/// The work of an access, for tests about the order in which accesses wait.
enum Act: Sendable, CustomTestStringConvertible {
  case read(String, FileCoordinator.ReadingOptions = [])
  case write(String, FileCoordinator.WritingOptions = [])
  case both(read: String, write: String)
  case writeTwo(String, String)

  var testDescription: String {
    switch self {
    case .read(let name, let options): "read \(name) \(options)"
    case .write(let name, let options): "write \(name) \(options)"
    case .both(let read, let write): "read \(read) and write \(write)"
    case .writeTwo(let first, let second): "write \(first) and \(second)"
    }
  }
}

/// One access in a detached task, which is nested in nothing and ends when the test finishes it.
///
/// Notes `label+` when its accessor begins and `label-` when that ends.
final class Lane: Sendable {
  let label: String
  let coordinator: FileCoordinator
  private let gate = TestGate()
  private let task = Mutex<Task<Void, any Error>?>(nil)
  private let seen = Mutex<[String]>([])

  init(_ label: String, _ coordinator: FileCoordinator) {
    self.label = label
    self.coordinator = coordinator
  }

  fileprivate func start(_ act: Act, in box: Sandbox, _ deadlines: AccessDeadlines?) {
    let started = Task.detached { [self] in
      switch act {
      case .read(let name, let options):
        try await coordinator.read(box.url(name), options: options, deadlines: deadlines) {
          try await run([$0.url], box)
        }
      case .write(let name, let options):
        try await coordinator.write(box.url(name), options: options, deadlines: deadlines) {
          try await run([$0.url], box)
        }
      case .both(let read, let write):
        try await coordinator.read(box.url(read), writing: box.url(write), deadlines: deadlines) {
          try await run([$0.url, $1.url], box)
        }
      case .writeTwo(let first, let second):
        try await coordinator.write(box.url(first), and: box.url(second), deadlines: deadlines) {
          try await run([$0.url, $1.url], box)
        }
      }
    }
    task.withLock { $0 = started }
  }

  private func run(_ urls: [URL], _ box: Sandbox) async throws {
    seen.withLock { $0 = urls.map(\.path) }
    box.timeline.note("\(label)+")
    try await gate.pass()
    box.timeline.note("\(label)-")
  }

  /// The paths that the accessor got.
  var paths: [String] { seen.withLock { $0 } }

  /// Lets the accessor end.
  func release() { gate.open() }

  /// Cancels the task.
  func cancel() { task.withLock { $0 }?.cancel() }

  /// Waits for the end of the access.
  func value() async throws { try await task.withLock { $0 }?.value }

  /// Lets the accessor end and waits for the end of the access.
  func finish() async throws {
    release()
    try await value()
  }
}

extension Sandbox {
  /// Starts an access, and doesn't wait for it.
  func start(
    _ act: Act, as label: String, on coordinator: FileCoordinator? = nil, presenter: (any FilePresenter)? = nil,
    deadlines: AccessDeadlines? = nil
  ) -> Lane {
    let lane = Lane(label, coordinator ?? self.coordinator(label, presenter: presenter))
    lane.start(act, in: self, deadlines)
    return lane
  }

  /// Starts an access and waits until its accessor runs.
  func hold(
    _ act: Act, as label: String, on coordinator: FileCoordinator? = nil, presenter: (any FilePresenter)? = nil
  ) async throws -> Lane {
    let lane = start(act, as: label, on: coordinator, presenter: presenter)
    try await timeline.wait(for: "\(label)+")
    return lane
  }

  /// Starts an access and waits until it is queued behind others; an issue if it got through.
  func queue(
    _ act: Act, as label: String, on coordinator: FileCoordinator? = nil, presenter: (any FilePresenter)? = nil,
    deadlines: AccessDeadlines? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Lane {
    let lane = start(act, as: label, on: coordinator, presenter: presenter, deadlines: deadlines)
    try await domain.waitUntil { $0.isWaiting(label) || $0.isHolding(label) }
    #expect(try await domain.snapshot().isWaiting(label), "\(label) doesn't wait", sourceLocation: sourceLocation)
    return lane
  }

  /// `second` waits for a running `first`.
  func expect(_ second: Act, waitsFor first: Act, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let one = try await hold(first, as: "first")
    let two = try await queue(second, as: "second", sourceLocation: sourceLocation)
    try await one.finish()
    try await timeline.wait(for: "second+")
    try await two.finish()
    #expect(events == ["first+", "first-", "second+", "second-"], sourceLocation: sourceLocation)
  }

  /// `second` runs while `first` does.
  func expect(_ second: Act, overlaps first: Act, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let one = try await hold(first, as: "first")
    let two = start(second, as: "second")
    try await domain.waitUntil { $0.isWaiting("second") || $0.isHolding("second") }
    #expect(try await domain.snapshot().isHolding("second"), sourceLocation: sourceLocation)
    one.release()
    try await two.finish()
    try await one.finish()
  }

  /// Does one access whose accessor only notes its label.
  func access(_ act: Act, as label: String, presenter: (any FilePresenter)? = nil) async throws {
    let lane = start(act, as: label, presenter: presenter)
    try await lane.finish()
  }
}

extension Sandbox {
  /// Moves an item inside a write of it, and announces the move.
  ///
  /// `prepare` runs in the accessor before that.
  func move(
    _ old: String, to new: String, as label: String = "mover", presenter: (any FilePresenter)? = nil,
    options: FileCoordinator.WritingOptions = .forMoving, after prepare: () async throws -> Void = {}
  ) async throws {
    try await coordinator(label, presenter: presenter).write(url(old), options: options) { access in
      try await prepare()
      try rename(old, to: new)
      try await access.didMove(to: url(new))
    }
  }
}
