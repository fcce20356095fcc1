import CoordinationWorker
import FileCoordination
import Foundation
import TestSupport
import Testing

/// Processes that are killed, stopped and started again while they share files.
@Suite("Nobody's death harms anybody else", .serialized, .blocking, .timeLimit(.minutes(30)))
struct NemesisTests {
  /// How many processes are killed: few with every change, many when asked for.
  private static let killCount = Int(ProcessInfo.processInfo.environment["FILE_COORDINATION_KILLS"] ?? "") ?? 40
  private static let workerCount = 5

  @Test("Workers that are killed at random instants, the serving one too, never overlap, and the others go on")
  func kills() throws {
    let seed = UInt64(ProcessInfo.processInfo.environment["FILE_COORDINATION_SEED"] ?? "") ?? 1
    var field = try Field(workerCount: Self.workerCount, seed: seed)
    defer { field.remove() }
    try field.waitForProgress(of: 50)
    for _ in 0..<Self.killCount { try field.strike() }
    try field.waitForProgress(of: 50)
    let (problems, checker) = field.finish()
    #expect(problems == [], "seed \(seed)")
    #expect(checker.holdCount > Self.killCount)
  }

  @Test("Without a death nobody sees a file that's being written, and nothing is left behind")
  func peace() throws {
    var field = try Field(workerCount: 3, seed: 7)
    defer { field.remove() }
    try field.waitForProgress(of: 2_000)
    let (problems, checker) = field.finish()
    #expect(problems == [])
    #expect(checker.tornCount == 0)
    #expect(try field.leftovers() == [])
  }
}

/// The workers of one test, and their files.
private struct Field {
  private let root: URL
  private let log: HoldLog
  private var workers: [WorkerProcess] = []
  private var deaths: [Int32: Int] = [:]
  private var random: SplitMix
  private var lastSeed = 0

  init(workerCount: Int, seed: UInt64) throws {
    root = URL.temporaryDirectory.appending(path: "process-tests-\(UUID())")
    for directory in HoldItems.directories {
      try FileManager.default.createDirectory(
        at: root.appending(path: "files/\(directory)"), withIntermediateDirectories: true)
    }
    log = try HoldLog(path: root.appending(path: "log").path)
    random = SplitMix(state: seed)
    for _ in 0..<workerCount { try start() }
  }

  private mutating func start() throws {
    lastSeed += 1
    workers.append(
      try WorkerProcess(
        socket: root.appending(path: "s"), directory: root.appending(path: "files"), log: root.appending(path: "log"),
        seed: lastSeed))
  }

  /// Waits until so many more things have happened; there's no event for that.
  func waitForProgress(of count: Int) throws {
    let goal = log.count + count
    let deadline = ContinuousClock.now + .seconds(30)
    while log.count < goal {
      if ContinuousClock.now > deadline { throw Stuck(count: log.count, goal: goal) }
      usleep(1_000)
    }
  }

  struct Stuck: Error {
    let count: Int
    let goal: Int
  }

  /// Kills a worker, or stops one for a while, and starts another in its place.
  mutating func strike() throws {
    usleep(UInt32(random.below(20_000)))
    let victim = random.below(workers.count)
    if random.below(8) == 0 {
      workers[victim].send(SIGSTOP)
      usleep(UInt32(random.below(100_000)))
      workers[victim].send(SIGCONT)
      return
    }
    let worker = workers.remove(at: victim)
    deaths[worker.identifier] = log.count
    worker.send(SIGKILL)
    worker.waitUntilExit()
    try start()
    try waitForProgress(of: 3)
  }

  mutating func finish() -> (problems: [String], checker: HoldChecker) {
    for worker in workers { worker.finish() }
    var (problems, checker) = HoldChecker.check(log, deaths: deaths)
    for worker in workers {
      let errors = (try? String(contentsOf: worker.errors, encoding: .utf8)) ?? ""
      if !errors.isEmpty { problems.append(errors) }
      if worker.status != 0 { problems.append("pid \(worker.identifier) ended with \(worker.status)") }
    }
    workers = []
    return (problems, checker)
  }

  /// What the next process finds where the others met, besides the lock and what is its own.
  func leftovers() throws -> [String] {
    let domain = CoordinationDomain.socket(root.appending(path: "s").path)
    let others = try domain.processes().filter { $0.processIdentifier != getpid() }.map { "\($0)" }
    let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
    let sessions = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "s.sessions").path)
    return names.filter { !["files", "log", "s", "s.lock", "s.sessions"].contains($0) && !$0.contains("errors") }
      + sessions.dropFirst() + others
  }

  func remove() { try? FileManager.default.removeItem(at: root) }
}
