import FileCoordination
import Foundation
import Glibc

extension Suite {
  static let processes = Suite(
    name: "processes", summary: "accesses of two and more processes, and their deaths (T-20 to T-25)"
  ) { laboratory, report in
    let field = try Field(laboratory.tree, &report.absent)
    defer { field.end() }
    report.results += try laboratory.measure(field.cells)
    report.targets += targets(report)
  }

  private static func targets(_ report: Report) -> [TargetLine] {
    func ratio(_ id: String, to other: String) -> Double? {
      report.median("processes/\(id)").flatMap { value in report.median("processes/\(other)").map { value / $0 } }
    }
    return [
      TargetLine(
        "T-20 flock", "read of what was lent, by handle, speed of a kept flock",
        ratio: ratio("1-thread-read/flock", to: "1-thread-read/lent"), target: 10),
      TargetLine(
        "T-20 one process", "read of what was lent, by handle, in times of a domain of one process",
        ratio: ratio("1-thread-read/lent", to: "1-thread-read/alone"), target: 1.5, higherIsBetter: false),
      TargetLine(
        "T-21 first", "first access, in round trips", ratio: ratio("first", to: "round-trip"), target: 1.5,
        higherIsBetter: false),
      TargetLine(
        "T-21 recall", "access to what another process was lent, in round trips",
        ratio: ratio("recall", to: "round-trip"), target: 3.5, higherIsBetter: false),
      TargetLine(
        "T-21 turns", "one write of two processes that take turns, in round trips",
        ratio: ratio("turn", to: "round-trip"), target: 3.5, higherIsBetter: false),
      TargetLine(
        "T-22", "the serving process of 8 killed: until the next grant",
        ratio: report.median("processes/failover").map { $0 / 1_000_000 }, target: 100, higherIsBetter: false,
        unit: " ms"),
      TargetLine(
        "T-23", "a holder killed: until the next grant, in times of the end of a socket",
        ratio: ratio("holder-killed", to: "socket-end"), target: 5, higherIsBetter: false),
      TargetLine(
        "T-25", "read of what another process presents, in round trips", ratio: ratio("presented", to: "round-trip"),
        target: 2.5, higherIsBetter: false),
    ]
  }
}

/// The processes of the suite, and the directory where they meet.
///
/// `@unchecked Sendable` because one cell is measured at a time, and only that uses the numbers.
private final class Field: @unchecked Sendable {
  private let tree: TemporaryTree
  private let socketPath: String
  private let peer: Peer
  private let echo: LocalSocket
  private let domain: CoordinationDomain
  /// Makes names that haven't been used.
  private var number = 0
  private var socketEnd = 0.0

  private let database: BerkeleyDB?
  private let databaseDirectory: String

  init(_ tree: TemporaryTree, _ absent: inout [String]) throws {
    self.tree = tree
    databaseDirectory = "\(tree.root)/berkeley-db"
    try FileManager.default.createDirectory(atPath: databaseDirectory, withIntermediateDirectories: true)
    switch BerkeleyDB.open(sharedIn: databaseDirectory) {
    case .present(let database): self.database = database
    case .absent(let reason):
      database = nil
      absent.append("shared region of Berkeley DB: \(reason)")
    }
    let socketPath = "\(tree.root)/s"
    self.socketPath = socketPath
    let peer = try Peer(socketPath)
    // The peer uses it first, and so serves.
    try peer.ask("use \(tree.root)/x/f")
    try peer.ask("stay-away")
    echo = try LocalSocket.accepted(at: "\(tree.root)/echo") { try peer.ask("echo \(tree.root)/echo") }
    self.peer = peer
    domain = .socket(socketPath)
  }

  func end() {
    echo.end()
    peer.kill()
  }

  private func fresh() -> String {
    number += 1
    return "\(tree.root)/fresh/\(number)/f"
  }

  var cells: [Cell] {
    let path = tree.paths[0]
    let claims = [
      claim("lent", "read by handle of what was lent") { [domain] in try HandleWorker(path, domain) },
      claim("alone", "read by handle, domain of one process") { try HandleWorker(path, .process) },
      claim("flock", "flock, descriptor kept", isOurs: false) { try KeptFileLockWorker(path) },
    ]
    return claims.flatMap(\.self) + databaseCells + [
      cell("round-trip", "64 bytes to another process and back", isOurs: false) { [echo] in
        echo.send()
        _ = echo.receive()
      },
      presentedCell,
      cell("first", "first read of an item") { [self] in
        try FileCoordinator(label: "first", domain: domain).blocking.read(path: fresh()) { _ in }
      },
      samples("recall", "write of what another process was lent") { [self] in try recall() },
      samples("turn", "one write of two processes that take turns", count: 1) { [self] in try turns($0) },
      samples("turn-flock", "turns of two processes with flock", isOurs: false, count: 1) { [self] in
        let worker = Kept(try KeptFileLockWorker(path))
        return try turns($0, peerSpins: "spin-flock \(path)") { try worker.lock.write {} }
      },
      samples("failover", "the serving process is killed, until the next grant", count: 3) { [self] _ in
        try failover()
      },
      samples("holder-killed", "a holder is killed, until the next grant", count: 3) { [self] _ in try holderKilled() },
      samples("socket-end", "the same, until a socket of it ends", isOurs: false, count: 1) { [self] _ in socketEnd },
    ]
  }

  /// The presenter of the other process does nothing: all time is that of the messages.
  private var presentedCell: Cell {
    Cell(
      id: "processes/presented", subject: "read of what another process presents", group: "processes", unit: "ns",
      isOurs: true, floor: "processes/round-trip"
    ) { [self] laboratory in
      let path = fresh()
      try peer.ask("answer \(path)")
      let worker = PathWorker(path, domain)
      return try timedAlone(laboratory) { try worker.read {} }
    }
  }

  private var databaseCells: [Cell] {
    guard let database else { return [] }
    return claim("berkeley-db", "Berkeley DB, a region that processes share", isOurs: false) { [tree] in
      try database.worker(tree.paths[0])
    } + [
      samples("turn-berkeley-db", "turns of two processes with Berkeley DB", isOurs: false, count: 1) { [self] in
        let worker = Kept(try database.worker(BerkeleyDB.sharedItem))
        return try turns($0, peerSpins: "spin-berkeley-db \(databaseDirectory)") { try worker.lock.write {} }
      }
    ]
  }

  private func cell(
    _ id: String, _ subject: String, isOurs: Bool = true, _ operation: @escaping @Sendable () throws -> Void
  ) -> Cell {
    Cell(id: "processes/\(id)", subject: subject, group: "processes", unit: "ns", isOurs: isOurs) { laboratory in
      try timedAlone(laboratory, operation)
    }
  }

  private func claim<Worker: LockWorker & ~Copyable>(
    _ id: String, _ subject: String, isOurs: Bool = true, _ make: @escaping @Sendable () throws -> Worker
  ) -> [Cell] {
    Contender(id, subject, isOurs: isOurs, scenarios: [.read]) { _, _ in try make() }
      .cells(suite: "processes", group: "processes")
  }

  /// The median of experiments that can't be made in a loop.
  private func samples(
    _ id: String, _ subject: String, isOurs: Bool = true, count: Int = 15,
    _ experiment: @escaping @Sendable (Settings) throws -> Double
  ) -> Cell {
    Cell(id: "processes/\(id)", subject: subject, group: "processes", unit: "ns", isOurs: isOurs) { laboratory in
      let samples = try (0..<(laboratory.settings.isTiny ? 1 : count)).map { _ in try experiment(laboratory.settings) }
      return Attempt(value: Measurement(samples: samples).median, disturbance: 0)
    }
  }

  private func samples(
    _ id: String, _ subject: String, _ experiment: @escaping @Sendable () throws -> Double
  ) -> Cell { samples(id, subject) { _ in try experiment() } }
}

// MARK: - Experiments

extension Field {
  private func recall() throws -> Double {
    // The peer's directory isn't always delegated at once; then there would be nothing to recall.
    for _ in 0..<50 {
      let path = fresh()
      try peer.ask("use \(path)")
      let isDelegated = try domain.processes().contains { $0.delegatedPaths.contains { path.hasPrefix($0) } }
      if !isDelegated { continue }
      return try time { try FileCoordinator(label: "recall", domain: domain).blocking.write(path: path) { _ in } }
    }
    throw BenchmarkFailure("nothing was delegated to the peer")
  }

  /// The time of one grant while two processes request one item all the time.
  private func turns(_ settings: Settings) throws -> Double {
    let path = fresh()
    let coordinator = FileCoordinator(label: "turns", domain: domain)
    return try turns(settings, peerSpins: "spin \(path)") { try coordinator.blocking.write(path: path) { _ in } }
  }

  private func turns(_ settings: Settings, peerSpins order: String, _ turn: () throws -> Void) throws -> Double {
    try peer.ask(order)
    let start = monotonicNanoseconds()
    let end = start + settings.duration.nanoseconds
    var count = 0
    while monotonicNanoseconds() < end {
      try turn()
      count += 1
    }
    let duration = monotonicNanoseconds() - start
    let others = Int(try peer.ask("stop")) ?? 0
    // Writes of one process in succession, before the other has begun or after it has ended, are no turns.
    return Double(duration) / Double(2 * max(min(count, others), 1))
  }

  private func failover() throws -> Double {
    let socket = "\(tree.root)/s\(number)"
    let host = try Peer(socket)
    try host.ask("hold \(fresh())")
    let others = try (0..<7).map { _ in try Peer(socket) }
    for other in others { try other.ask("hold \(fresh())") }
    let coordinator = FileCoordinator(label: "failover", domain: .socket(socket))
    try coordinator.blocking.read(path: fresh()) { _ in }
    return try time {
      Glibc.kill(host.identifier, SIGKILL)
      try coordinator.blocking.read(path: fresh()) { _ in }
    }
  }

  private func holderKilled() throws -> Double {
    let path = fresh()
    let holder = try Peer(socketPath)
    let socket = try LocalSocket.accepted(at: "\(tree.root)/end") { try holder.ask("echo \(tree.root)/end") }
    defer { socket.end() }
    try holder.ask("hold \(path)")
    let coordinator = FileCoordinator(label: "next", domain: domain)
    let granted = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var (grantTime, endTime) = (UInt64(0), UInt64(0))
    Thread.detachNewThread {
      try? coordinator.blocking.write(path: path) { _ in grantTime = monotonicNanoseconds() }
      granted.signal()
    }
    Thread.detachNewThread {
      _ = socket.receive()
      endTime = monotonicNanoseconds()
      ended.signal()
    }
    func isWaiting() -> Bool {
      let accesses = (try? domain.snapshot().accesses) ?? []
      return accesses.contains { $0.party.label == "next" && !$0.isGranted }
    }
    while !isWaiting() { usleep(500) }
    let start = monotonicNanoseconds()
    Glibc.kill(holder.identifier, SIGKILL)
    granted.wait()
    ended.wait()
    socketEnd = Double(endTime - start)
    return Double(grantTime - start)
  }

  private func time(_ body: () throws -> Void) rethrows -> Double {
    let start = monotonicNanoseconds()
    try body()
    return Double(monotonicNanoseconds() - start)
  }
}
