import Synchronization

/// Two halves of a value that are only ever different inside a write.
///
/// A lock that lets a reader or writer in at the wrong time shows a difference or loses an increment. Before any
/// measurement every contender has to pass: the speed of a lock that doesn't exclude is worth nothing.
package final class ExclusionCheck: Sendable {
  private let first = Atomic(0)
  private let second = Atomic(0)
  private let differences = Atomic(0)

  /// How often each thread reads or writes.
  private static let roundCount = 400
  private static let threadCount = 2

  package init() {}

  func write() {
    let value = beginWriting()
    // Long enough for the other thread to get in the way.
    for _ in 0..<20 { _ = differences.load(ordering: .relaxed) }
    endWriting(value)
  }

  /// Changes one half.
  ///
  /// Not by an atomic addition, on purpose: two writers at the same time lose one.
  package func beginWriting() -> Int {
    let value = first.load(ordering: .relaxed) + 1
    if value - 1 != second.load(ordering: .relaxed) { differences.add(1, ordering: .relaxed) }
    first.store(value, ordering: .relaxed)
    return value
  }

  /// Changes the other half.
  package func endWriting(_ value: Int) { second.store(value, ordering: .relaxed) }

  package func read() {
    let value = first.load(ordering: .relaxed)
    for _ in 0..<20 { _ = differences.load(ordering: .relaxed) }
    if value != second.load(ordering: .relaxed) { differences.add(1, ordering: .relaxed) }
  }

  /// Lets two threads read and write, each in turn.
  ///
  /// - Parameters:
  ///   - laboratory: The place of the check.
  ///   - body: The work of a thread, given the value, its number, and the number of rounds.
  /// - Returns: The problems; empty for a lock.
  /// - Throws: The errors of the lock.
  static func run(
    _ laboratory: Laboratory, _ body: @escaping @Sendable (ExclusionCheck, Int, Int) throws -> Void
  ) throws -> [String] {
    let check = ExclusionCheck()
    let barrier = StartBarrier(threadCount)
    _ = try laboratory.workers.run(threadCount) { thread in
      do {
        _ = try barrier.arrive()
        try body(check, thread, roundCount)
      } catch {
        barrier.abandon()
        throw error
      }
    }
    return check.violations(writeCount: threadCount * roundCount / 2)
  }

  /// The problems, when so many have written.
  package func violations(writeCount: Int) -> [String] {
    var violations: [String] = []
    let differenceCount = differences.load(ordering: .relaxed)
    if differenceCount > 0 { violations.append("\(differenceCount) times somebody was inside beside a writer") }
    let lost = writeCount - second.load(ordering: .relaxed)
    if lost != 0 { violations.append("\(lost) writes were lost") }
    return violations
  }
}
