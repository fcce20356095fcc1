import CoordinationWorker
import FileCoordination
import Foundation
import SeededRandom
import TestSupport

/// Workers that share files, and the files.
struct Field {
  /// A process that shares the files.
  struct Sharer {
    let process: HelperProcess
    let errors: URL
  }

  let root: URL
  let log: HoldLog
  var random: SplitMix
  private(set) var sharers: [Sharer] = []
  private(set) var deaths: [Int32: Int] = [:]
  /// Further abilities of some of the workers, by the number of the worker.
  private let traits: (Int) -> [String]
  private var lastSeed = 0

  var socket: String { root.appending(path: "s").path }

  init(workerCount: Int, seed: UInt64, traits: @escaping (Int) -> [String] = { _ in [] }) throws {
    root = URL.temporaryDirectory.appending(path: "processes-\(UUID())")
    for directory in HoldItems.directories {
      try FileManager.default.createDirectory(
        at: root.appending(path: "files/\(directory)"), withIntermediateDirectories: true)
    }
    log = try HoldLog(path: root.appending(path: "log").path)
    random = SplitMix(seed: seed)
    self.traits = traits
    for _ in 0..<workerCount { try start() }
  }

  mutating func start() throws {
    lastSeed += 1
    let errors = root.appending(path: "errors-\(lastSeed)")
    let arguments = [
      "share", socket, root.appending(path: "files").path, root.appending(path: "log").path, "\(lastSeed)",
      traits(lastSeed).joined(separator: ","),
    ]
    sharers.append(Sharer(process: try HelperProcess(arguments, errors: errors), errors: errors))
  }

  /// Waits until the log has so many more entries.
  func waitForProgress(of count: Int) throws {
    let goal = log.count + count
    try wait(for: "\(goal) entries in the log") { log.count >= goal }
  }

  /// Waits until something is so that there's no event for, such as a number in memory that workers share: one that's killed in the
  /// middle of its work signals nothing.
  func wait(for what: String, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try !condition() {
      if ContinuousClock.now > deadline { throw Stuck(waitedFor: what, entryCount: log.count) }
      usleep(1_000)
    }
  }

  struct Stuck: Error {
    let waitedFor: String
    let entryCount: Int
  }

  /// Kills a worker, or stops one for a while, and starts another in its place.
  mutating func strike() throws {
    // The pause is part of the load: a strike has to meet workers at any point of what they do.
    usleep(UInt32(random.below(20_000)))
    let victim = random.below(sharers.count)
    if random.below(8) == 0 {
      sharers[victim].process.send(SIGSTOP)
      // So is the time for which a worker is stopped: others are to go on, or to wait for it.
      usleep(UInt32(random.below(100_000)))
      sharers[victim].process.send(SIGCONT)
      return
    }
    let process = sharers.remove(at: victim).process
    deaths[process.identifier] = log.count
    process.send(SIGKILL)
    process.waitUntilExit()
    try start()
    try waitForProgress(of: 3)
  }

  /// Ends the accesses of all workers, and waits until all presenters have received the last changes.
  ///
  /// The presenter of a worker that ends is gone, which the log doesn't say: so the workers that have only just started
  /// are waited for, too.
  func calmDown() throws {
    for sharer in sharers { try sharer.process.tell("quiet") }
    let living = sharers.map(\.process.identifier)
    try wait(for: "everybody being quiet and told") { HoldChecker.unheard(log, of: living, deaths: deaths).isEmpty }
  }

  mutating func finish() -> (problems: [String], checker: HoldChecker) {
    for sharer in sharers { sharer.process.finish() }
    var (problems, checker) = HoldChecker.check(log, deaths: deaths)
    for sharer in sharers {
      let errors = (try? String(contentsOf: sharer.errors, encoding: .utf8)) ?? ""
      if !errors.isEmpty { problems.append(errors) }
      let process = sharer.process
      if process.status != 0 { problems.append("pid \(process.identifier) ended with \(process.status)") }
    }
    sharers = []
    return (problems, checker)
  }

  /// The remains at the meeting place that the next process finds, besides the lock and its own entries.
  func leftovers() throws -> [String] {
    let domain = CoordinationDomain.socket(socket)
    let others = try domain.processes().filter { $0.processIdentifier != getpid() }.map { "\($0)" }
    let names = try FileManager.default.contentsOfDirectory(atPath: root.path)
    let sessions = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "s.sessions").path)
    return names.filter { !["files", "log", "s", "s.lock", "s.sessions"].contains($0) && !$0.contains("errors") }
      + sessions.dropFirst() + others
  }

  func remove() { removeSurely(root.path) }
}
