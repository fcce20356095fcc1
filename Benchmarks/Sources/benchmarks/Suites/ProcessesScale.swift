import FileCoordination
import Foundation
import Glibc

extension Suite {
  static let processesScale = Suite(
    name: "processes/scale", summary: "many processes: a service that's killed, memory, idle cost (T-22, T-24)"
  ) { laboratory, report in
    let settings = laboratory.settings
    report.results += try laboratory.measure([crowdedFailover])
    report.targets.append(
      TargetLine(
        "T-22 crowd",
        "the serving process killed: until the next grant, \(settings.processCount) processes that hold "
          + "\(settings.heldCount) items each",
        ratio: report.median("processes/scale/failover").map { $0 / 1_000_000 }, target: 500, higherIsBetter: false,
        unit: " ms"))
    try measureIdleCost(laboratory, &report)
  }

  private static let crowdedFailover = Cell(
    id: "processes/scale/failover", subject: "the serving process is killed, until the next grant",
    group: "processes/scale", unit: "ns", isOurs: true
  ) { laboratory in
    laboratory.progress("starting \(laboratory.settings.processCount) processes")
    let crowd = try Crowd(laboratory.tree, laboratory.settings)
    return Attempt(value: try crowd.failover(), disturbance: 0)
  }

  private static func measureIdleCost(_ laboratory: Laboratory, _ report: inout Report) throws {
    let settings = laboratory.settings
    laboratory.progress("measuring what idle processes cost")
    let idle = try IdleProcesses(laboratory.tree, settings)
    report.targets += [
      TargetLine(
        "T-24 memory", "memory of the serving process for each other with \(settings.idlePresenterCount) presenters",
        ratio: idle.memoryPerProcess / 1024, target: 1024, higherIsBetter: false, unit: " KiB"),
      TargetLine(
        "T-24 wake-ups", "wake-ups of a connected process that does nothing, in a second", ratio: idle.wakeUps,
        target: 0, higherIsBetter: false),
      TargetLine(
        "T-24 serving", "the same, of the process that serves \(settings.idleProcessCount) of them",
        ratio: idle.servingWakeUps, target: 0, higherIsBetter: false),
    ]
  }
}

/// Processes that hold many items, and one that serves them.
private struct Crowd {
  private let host: Peer
  private let holders: [Peer]
  private let coordinator: FileCoordinator
  private let directory: String
  private let heldCount: Int

  init(_ tree: TemporaryTree, _ settings: Settings) throws {
    directory = "\(tree.root)/crowd-\(UUID())"
    let socket = "\(tree.root)/c\(UInt32.random(in: 0 ... .max))"
    heldCount = settings.heldCount
    host = try Peer(socket)
    try host.ask("hold \(directory)/host")
    holders = try (0..<settings.processCount).map { _ in try Peer(socket) }
    for (number, holder) in holders.enumerated() { try holder.ask("hold-all \(heldCount) \(directory)/\(number)") }
    coordinator = FileCoordinator(label: "next", domain: .socket(socket))
    try coordinator.blocking.read(path: "\(directory)/before") { _ in }
  }

  /// - Returns: The time until an access was granted again.
  /// - Throws: ``BenchmarkFailure`` when a holder has lost an item by that.
  func failover() throws -> Double {
    let start = monotonicNanoseconds()
    Glibc.kill(host.identifier, SIGKILL)
    try coordinator.blocking.read(path: "\(directory)/after") { _ in }
    let duration = Double(monotonicNanoseconds() - start)
    for (number, holder) in holders.enumerated() {
      let count = try holder.ask("count-held")
      if count != "\(heldCount)" { throw BenchmarkFailure("process \(number) holds \(count) of \(heldCount) items") }
      // A held item stays held: no other access to it is granted.
      let deadlines = AccessDeadlines.within(.zero)
      if (try? coordinator.blocking.write(path: "\(directory)/\(number)/0", deadlines: deadlines) { _ in }) != nil {
        throw BenchmarkFailure("an item of process \(number) was granted twice")
      }
    }
    return duration
  }
}

/// The cost of processes that are connected and do nothing.
private struct IdleProcesses {
  let memoryPerProcess: Double
  let wakeUps: Double
  let servingWakeUps: Double

  init(_ tree: TemporaryTree, _ settings: Settings) throws {
    let socket = "\(tree.root)/i\(UInt32.random(in: 0 ... .max))"
    let host = try Peer(socket)
    try host.ask("use \(tree.root)/idle/f")
    let before = Self.anonymousMemory(of: host)
    let others = try (0..<settings.idleProcessCount).map { _ in try Peer(socket) }
    for (number, other) in others.enumerated() {
      try other.ask("present \(settings.idlePresenterCount) \(tree.root)/idle/\(number)")
    }
    memoryPerProcess = (Self.anonymousMemory(of: host) - before) / Double(others.count)
    // A process that has waited for the service checks once more, a second later, whether any process still waits.
    usleep(1_500_000)
    let switches = (Self.switches(of: others[0]), Self.switches(of: host))
    usleep(1_000_000)
    wakeUps = Self.switches(of: others[0]) - switches.0
    servingWakeUps = Self.switches(of: host) - switches.1
    withExtendedLifetime(others) {}
  }

  /// Private memory that isn't backed by a file, in bytes.
  private static func anonymousMemory(of peer: Peer) -> Double {
    let text = readSmallFile("/proc/\(peer.identifier)/smaps_rollup") ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map { $0 * 1024 } ?? .nan
  }

  /// How often its threads have begun to wait for something so far.
  private static func switches(of peer: Peer) -> Double {
    let tasks = "/proc/\(peer.identifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.reduce(0) { sum, thread in
      let text = readSmallFile("\(tasks)/\(thread)/status") ?? ""
      let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
      return sum + (line?.split(separator: "\t").last.flatMap { Double($0) } ?? .nan)
    }
  }
}
