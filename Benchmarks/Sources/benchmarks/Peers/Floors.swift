import Glibc
import Synchronization

/// The cost that no design of a claim can avoid: not a lock, but the lower bound for all designs.
///
/// A claim is announced and taken back by a read-modify-write each, with a fence between the announcement and the look at the
/// others. One by URL asks the kernel besides whether the way to the item has changed.
enum Floors {
  static let atomics = "floor-atomics"
  static let systemCall = "floor-system-call"
  static let all = [atomics, systemCall]

  static let contenders = [
    Contender(atomics, "floor: two atomic read-modify-writes and a fence", scenarios: Scenario.upToTwoThreads) { _, _ in
      AnnouncingWorker()
    },
    Contender(systemCall, "floor: the same, and an empty system call", scenarios: Scenario.upToTwoThreads) { _, _ in
      AskingWorker()
    },
  ]
}

/// Announces itself in a word that no other thread uses.
private struct AnnouncingWorker: LockWorker, ~Copyable {
  private let word = OwnWord()

  func read(_ body: () -> Void) throws { word.announce(body) }

  func write(_ body: () -> Void) throws { word.announce(body) }
}

private struct AskingWorker: LockWorker, ~Copyable {
  private let word = OwnWord()

  func read(_ body: () -> Void) throws { ask(body) }

  func write(_ body: () -> Void) throws { ask(body) }

  private func ask(_ body: () -> Void) {
    // Not remembered by the C library.
    _ = getppid()
    word.announce(body)
  }
}

/// A word with cache lines to itself.
private final class OwnWord: Sendable {
  private let before: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0, 0, 0, 0)
  private let word = Atomic<Int>(0)
  private let after: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64) = (0, 0, 0, 0, 0, 0, 0, 0)

  func announce(_ body: () -> Void) {
    word.add(1, ordering: .acquiringAndReleasing)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    body()
    word.subtract(1, ordering: .acquiringAndReleasing)
  }
}
