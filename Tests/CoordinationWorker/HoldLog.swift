import Foundation
import Glibc
import Synchronization

/// The actions of workers, in order, in memory that processes share.
///
/// An entry is written after its place is taken by an atomic addition. A worker that's killed in between leaves an empty one.
package struct HoldLog: Sendable {
  /// The kinds of actions.
  package enum Kind: UInt64, Sendable {
    case beganReading = 1
    case beganWriting = 2
    case ended = 3
    /// Contents that were being written by the process in `detail` were seen.
    case sawTornContents = 4
    /// The request failed.
    case failed = 5
    /// The worker presents the item from now on.
    case presents = 6
    /// Its presenter has let go of the item.
    case relinquished = 7
    /// Its presenter was given the item back.
    case reacquired = 8
    /// Its presenter was notified that the item may have changed.
    case told = 9
    /// The worker accesses nothing any more, but goes on presenting.
    case quiet = 10
  }

  /// One action of a worker.
  package struct Entry: Sendable {
    /// The kind of action.
    package let kind: Kind
    /// The worker.
    package let process: Int32
    /// The item, see ``HoldItems``.
    package let item: Int
    /// For torn contents their writer, else the ``Lane``.
    package let detail: Int32
  }

  /// Which of the two things that a worker does at the same time.
  package enum Lane: Int32, Sendable {
    case worker = 0
    case presenter = 1
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

  /// Records an action, after everything that any process has recorded before.
  ///
  /// - Parameters:
  ///   - kind: The kind of action.
  ///   - item: The item.
  ///   - detail: For torn contents their writer.
  ///   - lane: The party in the process, for all other kinds.
  package func append(_ kind: Kind, item: Int, detail: Int32? = nil, lane: Lane = .worker) {
    let index = Int(words[0].wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue)
    precondition(index < Self.capacity, "the log is full")
    let place = 1 + index * Self.wordCount
    words[place + 1].store(UInt64(getpid()), ordering: .relaxed)
    words[place + 2].store(UInt64(item), ordering: .relaxed)
    words[place + 3].store(UInt64(UInt32(bitPattern: detail ?? lane.rawValue)), ordering: .relaxed)
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
