internal import Glibc
internal import Synchronization

/// Descriptors that a child of fork(2) doesn't keep: resources that the kernel releases with a process have to end with
/// that process.
///
/// A forked child shares its parent's sockets and locks. As long as it has them, a parent that has ended seems to serve
/// and to hold its locks. So the child closes them, before it does anything else. Programs that are started instead of
/// forked, by posix_spawn(3) for example, never get them.
///
/// | state | guarded by | why |
/// | --- | --- | --- |
/// | the bits, one for each number | themselves | the child may do nothing that takes a lock |
/// | `wordCount` | itself; only grows | the child reads as few words as possible |
enum DescriptorsOfParent {
  /// The kernel's limit unless an administrator changes it, `fs.nr_open` in proc(5); greater numbers stay open in
  /// children.
  private static let countMax = 1 << 20
  private static let wordCount = Atomic<Int>(0)
  /// Never freed.
  ///
  /// The kernel makes a page of it when a number is noted there.
  nonisolated(unsafe) private static let words: UnsafeMutablePointer<Atomic<UInt64>>? = unsafe makeWords()

  private static func makeWords() -> UnsafeMutablePointer<Atomic<UInt64>>? {
    let count = countMax / UInt64.bitWidth
    let memory = unsafe mmap(nil, countMax / 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED, pthread_atfork(nil, nil, closeAll) == 0 else {
      return nil
    }
    return unsafe memory.bindMemory(to: Atomic<UInt64>.self, capacity: count)
  }

  static func insert(_ number: Int32) {
    guard let words = unsafe words, number < countMax else { return }
    let (index, bit) = Int(number).quotientAndRemainder(dividingBy: UInt64.bitWidth)
    _ = unsafe words[index].bitwiseOr(1 << UInt64(bit), ordering: .relaxed)
    wordCount.max(index + 1, ordering: .relaxed)
  }

  /// Before the descriptor is closed: afterwards its number may be that of a file which the child is to keep.
  ///
  /// - Returns: Whether it's open; in a child it was closed, and the number may be that of another file.
  static func remove(_ number: Int32) -> Bool {
    guard let words = unsafe words, number < countMax else { return true }
    let (index, bit) = Int(number).quotientAndRemainder(dividingBy: UInt64.bitWidth)
    let mask: UInt64 = 1 << UInt64(bit)
    return unsafe words[index].bitwiseAnd(~mask, ordering: .relaxed).oldValue & mask != 0
  }

  /// Whether an open descriptor is this process's own; in a child it was closed.
  static func contains(_ number: Int32) -> Bool {
    guard let words = unsafe words, number < countMax else { return true }
    let (index, bit) = Int(number).quotientAndRemainder(dividingBy: UInt64.bitWidth)
    return unsafe words[index].load(ordering: .relaxed) & 1 << UInt64(bit) != 0
  }

  /// In the child, whose other threads are gone: only calls that signal-safety(7) allows.
  private static let closeAll: @convention(c) () -> Void = {
    guard let words = unsafe words else { return }
    for index in 0..<wordCount.load(ordering: .relaxed) {
      var rest = unsafe words[index].load(ordering: .relaxed)
      while rest != 0 {
        let bit = rest.trailingZeroBitCount
        rest &= rest - 1
        close(Int32(index * UInt64.bitWidth + bit))
      }
      unsafe words[index].store(0, ordering: .relaxed)
    }
  }
}
