import Foundation
import Synchronization

/// The same table for paths that come and go: an entry is there only while its path has a holder or waiter.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | `entries` | its mutex | all threads look up, and change the states of the locks in it |
final class DictionaryLocksAddedAndRemoved: Sendable {
  private struct Entry: Sendable {
    var readerCount = 0
    var isWritten = false
    /// All are woken by a release, and try again.
    var sleepers: [DispatchSemaphore] = []

    mutating func tryRead(_ sleeper: DispatchSemaphore?) -> Bool {
      if isWritten {
        if let sleeper { sleepers.append(sleeper) }
        return false
      }
      readerCount += 1
      return true
    }

    mutating func tryWrite(_ sleeper: DispatchSemaphore?) -> Bool {
      if isWritten || readerCount > 0 {
        if let sleeper { sleepers.append(sleeper) }
        return false
      }
      isWritten = true
      return true
    }
  }

  private let entries = Mutex<[String: Entry]>([:])

  private func tryRead(_ path: String, sleeper: DispatchSemaphore?) -> Bool {
    entries.withLock { $0[path, default: Entry()].tryRead(sleeper) }
  }

  private func tryWrite(_ path: String, sleeper: DispatchSemaphore?) -> Bool {
    entries.withLock { $0[path, default: Entry()].tryWrite(sleeper) }
  }

  /// Tries without a semaphore first: making one is the exception.
  func acquireForReading(_ path: String) {
    if tryRead(path, sleeper: nil) { return }
    let sleeper = DispatchSemaphore(value: 0)
    while !tryRead(path, sleeper: sleeper) { sleeper.wait() }
  }

  func acquireForWriting(_ path: String) {
    if tryWrite(path, sleeper: nil) { return }
    let sleeper = DispatchSemaphore(value: 0)
    while !tryWrite(path, sleeper: sleeper) { sleeper.wait() }
  }

  func release(_ path: String) {
    let sleepers = entries.withLock { entries -> [DispatchSemaphore] in
      guard let index = entries.index(forKey: path) else { preconditionFailure("\(path) isn't held") }
      if entries.values[index].isWritten {
        entries.values[index].isWritten = false
      } else {
        entries.values[index].readerCount -= 1
      }
      if entries.values[index].readerCount > 0 { return [] }
      return entries.remove(at: index).value.sleepers
    }
    for sleeper in sleepers { sleeper.signal() }
  }

  struct Worker: LockWorker, ~Copyable {
    let table: DictionaryLocksAddedAndRemoved
    let path: String

    func read(_ body: () -> Void) throws {
      table.acquireForReading(path)
      body()
      table.release(path)
    }

    func write(_ body: () -> Void) throws {
      table.acquireForWriting(path)
      body()
      table.release(path)
    }
  }
}
