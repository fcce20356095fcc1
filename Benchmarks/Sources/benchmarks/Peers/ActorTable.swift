/// The usual solution with Swift's concurrency: an actor that guards a dictionary from paths to reader-writer states.
///
/// First come, first served, and neighbouring readers together.
actor ActorTable {
  private struct Waiter {
    let isWriter: Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct Entry {
    var readerCount = 0
    var isWritten = false
    var waiters: [Waiter] = []

    var isFree: Bool { readerCount == 0 && !isWritten }
  }

  private var entries: [String: Entry] = [:]

  func acquire(_ path: String, isWriter: Bool) async {
    let entry = entries[path, default: Entry()]
    if entry.waiters.isEmpty, isWriter ? entry.isFree : !entry.isWritten {
      admit(path, isWriter: isWriter)
    } else {
      // The one that resumes it has admitted it.
      await withCheckedContinuation {
        entries[path]?.waiters.append(Waiter(isWriter: isWriter, continuation: $0))
      }
    }
  }

  func release(_ path: String) {
    guard var entry = entries.removeValue(forKey: path) else { preconditionFailure("\(path) isn't held") }
    if entry.isWritten { entry.isWritten = false } else { entry.readerCount -= 1 }
    var admitted: [Waiter] = []
    while let next = entry.waiters.first, next.isWriter ? entry.isFree : !entry.isWritten {
      if next.isWriter { entry.isWritten = true } else { entry.readerCount += 1 }
      admitted.append(entry.waiters.removeFirst())
    }
    if !entry.isFree { entries[path] = entry }
    for waiter in admitted { waiter.continuation.resume() }
  }

  private func admit(_ path: String, isWriter: Bool) {
    if isWriter {
      entries[path, default: Entry()].isWritten = true
    } else {
      entries[path, default: Entry()].readerCount += 1
    }
  }

  struct Worker: AsyncLockWorker {
    let table: ActorTable
    let path: String

    func read(_ body: () -> Void) async throws {
      await table.acquire(path, isWriter: false)
      body()
      await table.release(path)
    }

    func write(_ body: () -> Void) async throws {
      await table.acquire(path, isWriter: true)
      body()
      await table.release(path)
    }
  }
}
