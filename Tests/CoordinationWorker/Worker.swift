import FileCoordination
import Foundation
import Glibc
import Synchronization

/// A process that reads and writes files of a directory through the library until its standard input ends.
///
/// Each file holds a number and who wrote it, twice: whoever reads it sees when a write was going on.
@main
struct Worker {
  private static let isEnding = Atomic<Bool>(false)

  private let directory: URL
  private let log: HoldLog
  private let coordinator: FileCoordinator
  private var random: SplitMix

  /// Called as `CoordinationWorker SOCKET DIRECTORY LOG SEED`.
  static func main() throws {
    let arguments = CommandLine.arguments
    var worker = try Worker(arguments)
    let end = Thread {
      while readLine() != nil {}
      isEnding.store(true, ordering: .releasing)
    }
    end.start()
    while !isEnding.load(ordering: .acquiring) { worker.step() }
  }

  private init(_ arguments: [String]) throws {
    let domain = CoordinationDomain.socket(arguments[1])
    directory = URL(filePath: arguments[2], directoryHint: .isDirectory)
    log = try HoldLog(path: arguments[3])
    random = SplitMix(state: UInt64(arguments[4]) ?? 0)
    coordinator = FileCoordinator(label: "worker \(arguments[4])", domain: domain)
  }

  private mutating func step() {
    // Rounds at one file, so that directories are lent.
    let item = random.below(HoldItems.files.count)
    let rounds = 1 + random.below(8)
    for _ in 0..<rounds {
      do {
        switch random.below(10) {
        case 0: try holdDirectory(HoldItems.directory(of: item))
        case 1..<5: try write(item)
        default: try read(item)
        }
      } catch {
        log.append(.failed, item: item)
        FileHandle.standardError.write(Data("\(error)\n".utf8))
      }
    }
  }

  private func read(_ item: Int) throws {
    try coordinator.blocking.read(HoldItems.url(of: item, in: directory)) { access in
      log.append(.beganReading, item: item)
      check(access.url, item)
      log.append(.ended, item: item)
    }
  }

  private func write(_ item: Int) throws {
    try coordinator.blocking.write(HoldItems.url(of: item, in: directory)) { access in
      log.append(.beganWriting, item: item)
      let number = check(access.url, item) + 1
      let half = Data("\(number) \(getpid())\n".utf8)
      let descriptor = open(access.url.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      for _ in 0..<2 {
        _ = half.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        sched_yield()
      }
      close(descriptor)
      log.append(.ended, item: item)
    }
  }

  /// Claims everything inside a directory.
  private func holdDirectory(_ item: Int) throws {
    try coordinator.blocking.write(HoldItems.url(of: item, in: directory), options: .forMoving) { _ in
      log.append(.beganWriting, item: item)
      sched_yield()
      log.append(.ended, item: item)
    }
  }

  /// Looks whether a file is whole.
  ///
  /// - Returns: The number in it.
  @discardableResult
  private func check(_ url: URL, _ item: Int) -> Int {
    guard let text = try? String(contentsOf: url, encoding: .utf8), !text.isEmpty else { return 0 }
    let halves = text.split(separator: "\n", omittingEmptySubsequences: false)
    let words = halves[0].split(separator: " ").compactMap { Int($0) }
    if halves.count != 3 || halves[0] != halves[1] || words.count != 2 {
      log.append(.sawTornContents, item: item, detail: Int32(words.count > 1 ? words[1] : 0))
    }
    return words.first ?? 0
  }
}

package struct SplitMix: Sendable {
  private var state: UInt64

  package init(state: UInt64) { self.state = state }

  package mutating func below(_ bound: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return Int((value ^ value >> 31) % UInt64(bound))
  }
}
