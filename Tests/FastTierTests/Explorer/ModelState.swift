/// The state of a model: words, with a digest of them and the way back.
///
/// First the memory that threads share, word by word; then what is known about locks, sleepers and claims; then for each
/// thread where it is in its history, and its store buffer.
final class ModelState {
  static let threadCountMax = 6
  static let bufferCountMax = 12
  static let memoryWordCount = 1024
  /// What freed words hold: nobody may look.
  static let poison: UInt64 = 0xdead_dead_dead_dead

  // Beyond the memory.
  static let lockOwner = memoryWordCount
  static let guardedValue = memoryWordCount + 1
  static let wakes = memoryWordCount + 2
  static let granted = memoryWordCount + 3
  static let registered = memoryWordCount + 4
  /// For each claim whether a presenter must be asked before it's granted.
  static let mustAsk = memoryWordCount + 5
  static let allocated = memoryWordCount + 6
  /// The newest allocation while nobody but its maker can know where it is.
  static let privateBase = memoryWordCount + 7
  static let privateOwner = memoryWordCount + 8
  /// What was granted when the snapshot began, and still is.
  static let inSnapshot = memoryWordCount + 9
  static let lastThread = memoryWordCount + 10
  static let preemptions = memoryWordCount + 11
  private static let threads = memoryWordCount + 12
  private static let threadStride = 2 + 2 * bufferCountMax
  static let wordCount = threads + threadStride * threadCountMax

  private let words: UnsafeMutablePointer<UInt64>
  private(set) var digest = Digest()
  /// Index and former word of each change.
  private let changes = WordPool()

  init() {
    words = .allocate(capacity: Self.wordCount)
    words.initialize(repeating: 0, count: Self.wordCount)
    // No allocation has the address zero.
    words[Self.allocated] = 16
  }

  deinit { words.deallocate() }

  @inline(__always)
  subscript(index: Int) -> UInt64 {
    get { words[index] }
    set {
      let old = words[index]
      if old == newValue { return }
      changes.append(UInt64(truncatingIfNeeded: index))
      changes.append(old)
      digest.toggle(index, old)
      digest.toggle(index, newValue)
      words[index] = newValue
    }
  }

  /// A moment to come back to.
  var moment: Int { changes.count }

  func goBack(to moment: Int) {
    var count = changes.count
    while count > moment {
      count &-= 2
      let index = Int(truncatingIfNeeded: changes.words[count])
      let old = changes.words[count &+ 1]
      digest.toggle(index, words[index])
      digest.toggle(index, old)
      words[index] = old
    }
    changes.truncate(to: moment)
  }

  // MARK: Threads

  @inline(__always)
  static func node(of thread: Int) -> Int { threads &+ thread &* threadStride }
  @inline(__always)
  static func bufferCount(of thread: Int) -> Int { threads &+ thread &* threadStride &+ 1 }
  @inline(__always)
  static func buffer(of thread: Int, _ entry: Int) -> Int { threads &+ thread &* threadStride &+ 2 &+ 2 &* entry }
}
