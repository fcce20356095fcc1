import Foundation
import SeededRandom
import Synchronization
import Testing

@testable import FileCoordination

@Suite("Concurrency of the fast tier on real threads", .serialized, .timeLimit(.minutes(5)))
struct FastTierConcurrencyTests {
  /// Readers see two equal numbers, because writers change both; the numbers are plain memory, so that the thread sanitizer
  /// sees it when two claims aren't ordered.
  @Test("Claims exclude each other and order what they protect", arguments: [2, 3, 8])
  func exclusion(threadCount: Int) {
    let stress = Stress(threadCount: threadCount, turnCount: Budget.isLong ? 40_000 : 3000)
    stress.run()
    #expect(stress.problems == [])
    #expect(stress.whatIsLeft() == nil)
    #expect(stress.fastCount > 0)
    #expect(stress.hostCount > 0)
    print("\(threadCount) threads: \(stress.fastCount) claims in the fast tier, \(stress.hostCount) through the host")
  }
}

/// Threads that read and write a few items, move directories, and take snapshots.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `host` | its own lock | |
/// | `numbers` | claims of the items | this protection is the subject of the test |
/// | `problemList` | `condition` | |
private final class Stress: @unchecked Sendable {
  private let threadCount: Int
  private let turnCount: Int
  private let host: StressHost
  /// Two numbers for each item.
  private let numbers: UnsafeMutablePointer<Int>
  private let condition = NSCondition()
  private var problemList: [String] = []
  private var runningCount = 0

  init(threadCount: Int, turnCount: Int) {
    self.threadCount = threadCount
    self.turnCount = turnCount
    host = StressHost(threadCount: threadCount)
    numbers = .allocate(capacity: 2 * ModelItem.allCases.count)
    numbers.initialize(repeating: 0, count: 2 * ModelItem.allCases.count)
  }

  deinit { numbers.deallocate() }

  var problems: [String] { condition.withLock { problemList } }
  var fastCount: Int { host.fastCount.load(ordering: .relaxed) }
  var hostCount: Int { host.hostCount.load(ordering: .relaxed) }
  func whatIsLeft() -> String? { host.whatIsLeft() }

  func run() {
    condition.lock()
    runningCount = threadCount
    for thread in 0..<threadCount {
      Thread.detachNewThread { [self] in
        runThread(thread)
        condition.withLock {
          runningCount -= 1
          condition.broadcast()
        }
      }
    }
    while runningCount > 0 { condition.wait() }
    condition.unlock()
  }

  private func runThread(_ thread: Int) {
    var random = SplitMix(state: UInt64(thread) + 1)
    let items: [ModelItem] = [.file, .file, .sibling, .directory, .stranger, .twin]
    for _ in 0..<turnCount {
      let item = items.randomElement(using: &random) ?? .file
      switch Int.random(in: 0..<64, using: &random) {
      case 0..<32: use(item, .read, thread)
      case 32..<56: use(item, .write, thread)
      case 56..<60: use(.directory, .deepWrite, thread)
      case 60..<62: host.present(item)
      default: host.snapshot()
      }
    }
  }

  private func use(_ item: ModelItem, _ kind: ClaimKind, _ thread: Int) {
    let claim = host.claim(ModelClaim(number: thread, thread: thread, kind: kind, item: item))
    switch kind {
    case .read: check(item)
    case .write: change(item)
    case .deepWrite: for place in ModelItem.allCases where place == item || place.isBelow(item) { change(place) }
    }
    host.end(claim)
  }

  private func check(_ item: ModelItem) {
    let first = numbers[2 * Int(item.rawValue)]
    for _ in 0..<4 { host.shake() }
    let second = numbers[2 * Int(item.rawValue) + 1]
    if first != second { condition.withLock { problemList.append("\(item) was read while it was written") } }
  }

  private func change(_ item: ModelItem) {
    let first = numbers[2 * Int(item.rawValue)]
    numbers[2 * Int(item.rawValue)] = first + 1
    for _ in 0..<4 { host.shake() }
    numbers[2 * Int(item.rawValue) + 1] += 1
    if numbers[2 * Int(item.rawValue) + 1] != first + 1 {
      condition.withLock { problemList.append("\(item) was written by two") }
    }
  }
}
