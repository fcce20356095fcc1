import FileCoordination
import FoundationEssentials
import Glibc
import SeededRandom
import SystemInterface
import Testing

/// The state that all actors of a run share, and their findings.
final class StressWorld: Sendable {
  let domain: CoordinationDomain
  let log = AccessLog()
  let directories: [URL]
  let files: [[URL]]
  let counters: [URL]
  private let state = Guarded(State())

  private struct State {
    var value = 0
    var increments: [String: Int] = [:]
    var findings: [String] = []
    var outcomes: [String: Int] = [:]
    var cancellable: [FileCoordinator] = []
    var hasTypingEnded = false
  }

  init(in directory: URL) throws {
    var configuration = CoordinationDomain.Configuration()
    // Nothing takes that long: a wait that fails names the party in the way, while a test that hangs names nothing.
    configuration.deadlines = .within(.seconds(120))
    domain = CoordinationDomain(configuration)
    directories = (0..<3).map { directory.appending(path: "d\($0)", directoryHint: .notDirectory) }
    files = directories.map { directory in
      ["f0", "f1", "f2", "inner/f3"].map { directory.appending(path: $0, directoryHint: .notDirectory) }
    }
    counters = (0..<2).map { directory.appending(path: "counter\($0)", directoryHint: .notDirectory) }
    for directory in directories {
      try FileManager.default.createDirectory(
        at: directory.appending(path: "inner"), withIntermediateDirectories: true)
    }
    for file in files.joined() {
      for step in SelfCheckingFile.stepsToWrite(nextValue(), to: file.plainPath) { try step() }
    }
  }

  func nextValue() -> Int {
    state.withLock { state in
      state.value += 1
      return state.value
    }
  }

  /// Says what everybody waits for when a run doesn't end: the test's own time limit only ends it.
  ///
  /// - Returns: The task that says it; if it's cancelled, it ends without a word.
  func explainIfLong(_ name: String) -> Task<Void, any Error> {
    let (alarms, alarm) = AsyncStream<Void>.makeStream()
    let clock = HostClock.shared
    let scheduled = clock.schedule(at: clock.now.advanced(by: StressSize.explanationTime)) { alarm.yield() }
    return Task { [self] in
      defer { scheduled.cancel() }
      for await _ in alarms {
        let snapshot = try await domain.snapshot()
        Issue.record("\(name) goes on: \(outcomes), \(findings)\n\(snapshot)")
      }
    }
  }

  /// From now on presenters save their changes, and no presenter makes new ones.
  ///
  /// Presenters that are edited whenever their file changes keep each other busy for ever once enough of them have met at one file.
  func endTyping() { state.withLock { $0.hasTypingEnded = true } }
  var hasTypingEnded: Bool { state.withLock { $0.hasTypingEnded } }

  func report(_ finding: String) { state.withLock { $0.findings.append(finding) } }
  func count(_ outcome: String) { state.withLock { $0.outcomes[outcome, default: 0] += 1 } }

  var findings: [String] { state.withLock { $0.findings } }
  var outcomes: [String: Int] { state.withLock { $0.outcomes } }

  func noteIncrement(of url: URL) { state.withLock { $0.increments[url.plainPath, default: 0] += 1 } }
  func increments(of url: URL) -> Int { state.withLock { $0.increments[url.plainPath] ?? 0 } }

  /// Hands a coordinator to the next actor that cancels one.
  func offerForCancellation(_ coordinator: FileCoordinator) { state.withLock { $0.cancellable.append(coordinator) } }
  func takeCancellable() -> FileCoordinator? { state.withLock { $0.cancellable.popLast() } }
}

// MARK: - Choice of operations

extension StressWorld {
  func operation(_ random: inout SplitMix) -> StressOperation {
    var operation = simpleOperation(&random)
    if random.chance(12) {
      operation.inner = [nested(in: operation, &random)]
      operation.isInnerSamePurpose = random.chance(60)
    }
    operation.isCancelled = random.chance(10)
    operation.isByHandle = random.chance(40)
    return operation
  }

  private func nested(in outer: StressOperation, _ random: inout SplitMix) -> StressOperation {
    let file = outer.work == .contents && random.chance(50) ? nil : file(&random)
    var operation: StressOperation =
      file.map { random.chance(50) ? .read($0) : .write($0) } ?? .read(outer.items[0].url)
    operation.isByHandle = random.chance(40)
    return operation
  }

  private func simpleOperation(_ random: inout SplitMix) -> StressOperation {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: return .read(file(&random), random.chance(30) ? .withoutChanges : [])
    case 30..<48: return .write(file(&random), random.chance(30) ? .forMerging : [])
    case 48..<58: return .increment(counters.randomElement(using: &random) ?? counters[0])
    case 58..<64: return .delete(file(&random))
    case 64..<74: return .move(file(&random), file(&random))
    case 74..<84: return directoryRename(&random)
    default: return severalItems(&random)
    }
  }

  private func file(_ random: inout SplitMix) -> URL {
    let group = files.randomElement(using: &random) ?? files[0]
    let file = group.randomElement(using: &random) ?? group[0]
    if !random.chance(25) { return file }
    // At the place where its directory is after a rename.
    let index = files.firstIndex(of: group) ?? 0
    return URL(
      filePath: directories[index].plainPath + ".away" + file.plainPath.dropFirst(directories[index].plainPath.count),
      directoryHint: .notDirectory)
  }

  private func directoryRename(_ random: inout SplitMix) -> StressOperation {
    let home = directories.randomElement(using: &random) ?? directories[0]
    let away = URL(filePath: home.plainPath + ".away", directoryHint: .notDirectory)
    return random.chance(60) ? .move(away, home) : .move(home, away)
  }

  private func severalItems(_ random: inout SplitMix) -> StressOperation {
    var items: [StressOperation.Item] = []
    for _ in 0..<Int.random(in: 2...5, using: &random) {
      let file = file(&random)
      if items.contains(where: { $0.url == file }) { continue }
      items.append(StressOperation.Item(url: file, writing: random.chance(40) ? [] : nil))
    }
    return StressOperation(form: .intents, items: items, work: .contents)
  }
}

// MARK: - Doing it

/// An actor that makes one access after the other, on a thread of its own or in a task.
struct StressActor: Sendable {
  let world: StressWorld
  let name: String
  let seed: UInt64

  private func coordinator() -> FileCoordinator { FileCoordinator(label: name, domain: world.domain) }

  private func identity(_ coordinator: FileCoordinator, _ lineage: Int?) -> StressIdentity {
    StressIdentity(
      actor: name, purpose: coordinator.purposeIdentifier, lineage: lineage ?? world.log.newLineage(),
      requested: AccessLog.now)
  }

  /// Whether the access was granted; reports every error that nothing explains.
  private func judge(_ operation: StressOperation, _ error: any Error) {
    guard let error = error as? FileCoordinationError else { return world.report("\(name): \(error)") }
    switch error.code {
    case .cancelled where operation.isCancelled: world.count("cancelled")
    // Nested accesses of strangers, and presenters that save inside a wait, can close a cycle.
    case .deadlock: world.count("deadlock")
    default: world.report("\(name): \(error)")
    }
  }

  private func finish(_ operation: StressOperation, _ accessor: StressAccessor, at url: URL) {
    world.log.append(accessor.ended())
    world.count("granted")
    if operation.work == .increment { world.noteIncrement(of: url) }
  }
}

extension StressActor {
  func runBlocking(_ count: Int) {
    var random = SplitMix(seed: seed)
    for _ in 0..<count {
      let coordinator = coordinator()
      let operation = world.operation(&random)
      if operation.isCancelled { world.offerForCancellation(coordinator) }
      performBlocking(operation, coordinator, lineage: nil)
    }
  }

  private func performBlocking(_ operation: StressOperation, _ coordinator: FileCoordinator, lineage: Int?) {
    let identity = identity(coordinator, lineage)
    let items = operation.items
    func body(_ urls: [URL], _ didMove: () throws -> Void) throws {
      let accessor = StressAccessor(operation, at: urls, value: world.nextValue(), identity: identity)
      for step in accessor.steps {
        try step()
        sched_yield()
      }
      for inner in operation.inner {
        var inner = inner
        inner.isCancelled = operation.isCancelled
        performBlocking(
          inner, operation.isInnerSamePurpose ? coordinator : self.coordinator(), lineage: identity.lineage)
      }
      if accessor.hasMoved.withLock({ $0 }) { try didMove() }
      finish(operation, accessor, at: items[0].url)
    }
    do {
      switch (operation.form, items.count, items[0].writing) {
      case (.single, 1, nil) where operation.isByHandle:
        let item = try coordinator.domain.resolve(items[0].url)
        try coordinator.blocking.read(item, options: items[0].reading) { try body([$0.url]) {} }
      case (.single, 1, .some(let options)) where operation.isByHandle:
        let item = try coordinator.domain.resolve(items[0].url)
        try coordinator.blocking.write(item, options: options) { try body([$0.url]) {} }
      case (.single, 1, nil):
        try coordinator.blocking.read(items[0].url, options: items[0].reading) { try body([$0.url]) {} }
      case (.single, 1, .some(let options)):
        try coordinator.blocking.write(items[0].url, options: options) { try body([$0.url]) {} }
      case (.single, _, _):
        try coordinator.blocking.write(
          items[0].url, options: items[0].writing ?? [], and: items[1].url, secondOptions: items[1].writing ?? []
        ) { first, second in
          let destination = second.url
          try body([first.url, destination]) { try first.didMove(to: destination) }
        }
      case (.intents, _, _):
        let intents = items.map(\.intent)
        try coordinator.blocking.coordinate(intents) { _ in try body(intents.map(\.url)) {} }
      }
    } catch {
      judge(operation, error)
    }
  }
}

extension StressActor {
  func run(_ count: Int) async {
    var random = SplitMix(seed: seed)
    for _ in 0..<count {
      let coordinator = coordinator()
      let operation = world.operation(&random)
      if operation.isCancelled, random.chance(50) {
        let task = Task { await perform(operation, coordinator, lineage: nil) }
        for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
        task.cancel()
        await task.value
      } else {
        if operation.isCancelled { world.offerForCancellation(coordinator) }
        await perform(operation, coordinator, lineage: nil)
      }
    }
  }

  private func perform(_ operation: StressOperation, _ coordinator: FileCoordinator, lineage: Int?) async {
    let identity = identity(coordinator, lineage)
    let items = operation.items
    func body(_ urls: [URL], _ didMove: () throws -> Void) async throws {
      let accessor = StressAccessor(operation, at: urls, value: world.nextValue(), identity: identity)
      for step in accessor.steps {
        try step()
        await Task.yield()
      }
      for inner in operation.inner {
        var inner = inner
        inner.isCancelled = operation.isCancelled
        await perform(inner, operation.isInnerSamePurpose ? coordinator : self.coordinator(), lineage: identity.lineage)
      }
      if accessor.hasMoved.withLock({ $0 }) { try didMove() }
      finish(operation, accessor, at: items[0].url)
    }
    do {
      switch (operation.form, items.count, items[0].writing) {
      case (.single, 1, nil) where operation.isByHandle:
        let item = try coordinator.domain.resolve(items[0].url)
        try await coordinator.read(item, options: items[0].reading) { access in try await body([access.url]) {} }
      case (.single, 1, .some(let options)) where operation.isByHandle:
        let item = try coordinator.domain.resolve(items[0].url)
        try await coordinator.write(item, options: options) { access in try await body([access.url]) {} }
      case (.single, 1, nil):
        try await coordinator.read(items[0].url, options: items[0].reading) { access in try await body([access.url]) {}
        }
      case (.single, 1, .some(let options)):
        try await coordinator.write(items[0].url, options: options) { access in try await body([access.url]) {} }
      case (.single, _, _):
        try await coordinator.write(
          items[0].url, options: items[0].writing ?? [], and: items[1].url, secondOptions: items[1].writing ?? []
        ) { first, second in
          let destination = second.url
          try await body([first.url, destination]) { try first.didMove(to: destination) }
        }
      case (.intents, _, _):
        let intents = items.map(\.intent)
        try await coordinator.coordinate(intents) { _ in try await body(intents.map(\.url)) {} }
      }
    } catch {
      judge(operation, error)
    }
  }
}
