import FileCoordination
import Foundation
import Glibc
import Synchronization

/// The other process of the suite `processes`: this program, started again, that carries out the lines of its standard
/// input.
///
/// | line | action | answer |
/// | --- | --- | --- |
/// | `echo SOCKET` | connects there, and sends back all bytes | `echoing` |
/// | `use PATH` | writes the item until its directory is delegated to it | `used` |
/// | `spin PATH` | writes the item again and again | `spinning` |
/// | `spin-flock PATH` | the same with flock(2) | `spinning` |
/// | `spin-berkeley-db DIRECTORY` | the same with the locks of a region there | `spinning` |
/// | `stay-away` | keeps to another processor than the measuring process, if there is one | `staying` |
/// | `stop` | ends that | how often it wrote |
/// | `hold PATH` | writes the item until the process ends | `holding` |
/// | `hold-all COUNT DIRECTORY` | writes so many items there until the process ends | `holding` |
/// | `count-held` | asks for each whether it still holds it | how many |
/// | `present COUNT DIRECTORY` | presents so many items there | `presenting` |
/// | `edit PATH` | opens a document of the file | `editing` |
/// | `type TEXT` | replaces its contents, and saves | `typed` |
/// | `answer PATH` | presents the item, relinquishes it and saves when asked | `answering` |
struct PeerProgram {
  /// How often a directory has to be used before it's delegated, and a little more.
  static let usesUntilDelegated = 5

  private let coordinator: FileCoordinator
  private let spinning = Shared(Atomic(false))
  private let count = Shared(Atomic(0))
  private let crowd = PeerCrowd()

  /// - Parameter socket: The place where the processes meet.
  /// - Returns: The exit status.
  /// - Throws: The error that keeps it from carrying out a line.
  static func run(_ socket: String) throws -> Int32 {
    let domain = CoordinationDomain.socket(socket)
    let program = PeerProgram(coordinator: FileCoordinator(label: "peer", domain: domain))
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      print(try program.perform(words[0], words.count > 1 ? words[1] : ""))
      fflush(nil)
    }
    return 0
  }

  private func perform(_ verb: String, _ path: String) throws -> String {
    switch verb {
    case "echo":
      let socket = try LocalSocket.connected(to: path)
      Thread.detachNewThread { while socket.receive() { socket.send() } }
      return "echoing"
    case "use":
      for _ in 0..<Self.usesUntilDelegated { try coordinator.blocking.write(path: path) { _ in } }
      return "used"
    case "spin":
      return spin { try? coordinator.blocking.write(path: path) { _ in } }
    case "spin-flock":
      let worker = Kept(try KeptFileLockWorker(path))
      return spin { try? worker.lock.write {} }
    case "spin-berkeley-db":
      guard case .present(let database) = BerkeleyDB.open(sharedIn: path) else {
        throw BenchmarkFailure("no Berkeley DB at '\(path)'")
      }
      let worker = Kept(try database.worker(BerkeleyDB.sharedItem))
      return spin { try? worker.lock.write {} }
    case "stay-away":
      Processors.allowed().keepProcessAway()
      return "staying"
    case "stop":
      spinning.value.store(false, ordering: .relaxed)
      return "\(count.value.load(ordering: .relaxed))"
    case "hold-all":
      let words = path.split(separator: " ", maxSplits: 1).map(String.init)
      crowd.hold(Int(words[0]) ?? 0, in: words[1], coordinator)
      return "holding"
    case "count-held": return "\(crowd.countHeld())"
    case "present":
      let words = path.split(separator: " ", maxSplits: 1).map(String.init)
      try crowd.present(Int(words[0]) ?? 0, in: words[1], coordinator.domain)
      return "presenting"
    case "edit":
      try crowd.edit(path, coordinator.domain)
      return "editing"
    case "type":
      try crowd.type(path)
      return "typed"
    case "answer":
      try crowd.answer(path, coordinator.domain)
      return "answering"
    case "hold":
      let held = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        try? coordinator.blocking.write(path: path) { _ in
          held.signal()
          while true { pause() }
        }
      }
      held.wait()
      return "holding"
    default: throw BenchmarkFailure("a peer doesn't know '\(verb)'")
    }
  }
}

extension PeerProgram {
  private func spin(_ operation: @escaping @Sendable () -> Void) -> String {
    spinning.value.store(true, ordering: .relaxed)
    count.value.store(0, ordering: .relaxed)
    Thread.detachNewThread {
      while spinning.value.load(ordering: .relaxed) {
        operation()
        count.value.add(1, ordering: .relaxed)
      }
    }
    return "spinning"
  }
}

/// A lock that one thread uses; `@unchecked` because it's handed to that thread.
final class Kept<Lock: ~Copyable>: @unchecked Sendable {
  let lock: Lock
  init(_ lock: consuming Lock) { self.lock = lock }
}

/// A peer, seen from the process that measures.
final class Peer {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()

  var identifier: Int32 { process.processIdentifier }

  init(_ socket: String) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["peer", socket]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForReading.close()
  }

  deinit { kill() }

  /// Sends the peer a line, and waits for its answer.
  @discardableResult
  func ask(_ line: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer = Data(buffer[(end + 1)...]) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw BenchmarkFailure("a peer ended instead of doing '\(line)'") }
      buffer.append(more)
    }
  }

  func kill() {
    if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
  }
}
