import Foundation
import Glibc
import Synchronization

/// What workers did, in the order in which they did it, in memory that processes share.
///
/// An entry is written after its place is taken by an atomic addition. A worker that's killed in between leaves an empty one.
package struct HoldLog: Sendable {
  /// What happened.
  package enum Kind: UInt64, Sendable {
    case beganReading = 1
    case beganWriting = 2
    case ended = 3
    /// The worker learned that it had lost the access.
    case lost = 4
    /// Contents that were being written by the process in `detail` were seen.
    case sawTornContents = 5
    /// The request failed.
    case failed = 6
  }

  /// One thing that a worker did.
  package struct Entry: Sendable {
    /// What it did.
    package let kind: Kind
    /// Which worker.
    package let process: Int32
    /// The item, see ``HoldItems``.
    package let item: Int
    /// For some kinds another process.
    package let detail: Int32
  }

  /// Four words for each entry: kind, process, item, detail.
  private static let wordCount = 4
  private static let capacity = 1 << 20
  private static let byteCount = (capacity * wordCount + 1) * 8

  private nonisolated(unsafe) let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// Opens the log at a path, or makes an empty one.
  ///
  /// - Parameter path: The file behind the memory.
  /// - Throws: An error when it can't be opened or mapped.
  package init(path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0, ftruncate(descriptor, Self.byteCount) == 0,
      let memory = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw POSIXError(.EIO) }
    close(descriptor)
    words = memory.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// How many entries there are, or are being written.
  package var count: Int { Int(words[0].load(ordering: .sequentiallyConsistent)) }

  /// Notes something, after everything that any process has noted before.
  ///
  /// - Parameters:
  ///   - kind: What happened.
  ///   - item: To which item.
  ///   - detail: For some kinds another process.
  package func append(_ kind: Kind, item: Int, detail: Int32 = 0) {
    let index = Int(words[0].wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue)
    precondition(index < Self.capacity, "the log is full")
    let place = 1 + index * Self.wordCount
    words[place + 1].store(UInt64(getpid()), ordering: .relaxed)
    words[place + 2].store(UInt64(item), ordering: .relaxed)
    words[place + 3].store(UInt64(UInt32(bitPattern: detail)), ordering: .relaxed)
    words[place].store(kind.rawValue, ordering: .sequentiallyConsistent)
  }

  /// An entry, or `nil` if it isn't written.
  package subscript(index: Int) -> Entry? {
    let place = 1 + index * Self.wordCount
    guard let kind = Kind(rawValue: words[place].load(ordering: .sequentiallyConsistent)) else { return nil }
    return Entry(
      kind: kind, process: Int32(words[place + 1].load(ordering: .relaxed)),
      item: Int(words[place + 2].load(ordering: .relaxed)),
      detail: Int32(bitPattern: UInt32(words[place + 3].load(ordering: .relaxed))))
  }
}
