/// The state of a model: words, with a digest of them and the way back.
///
/// First the memory that threads share, word by word; then the records of locks, sleepers and claims; then for each
/// thread where it is in its history, and its store buffer or its view; then the messages of ``MessageMemory``.
struct ModelState {
  static let threadCountMax = 6
  static let bufferCountMax = 12
  static let memoryWordCount = 1024
  /// The value of freed words: no thread may read them.
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
  /// The newest allocation while only its maker can have its address.
  static let privateBase = memoryWordCount + 7
  static let privateOwner = memoryWordCount + 8
  /// The claims that were granted when the snapshot began, and still are.
  static let inSnapshot = memoryWordCount + 9
  static let lastThread = memoryWordCount + 10
  static let preemptions = memoryWordCount + 11
  /// How many regions were allocated, and where the last ones begin.
  static let regionCount = memoryWordCount + 12
  static let regions = memoryWordCount + 13
  static let regionCountMax = 16
  private static let threads = regions + regionCountMax
  private static let threadStride = 7 + 2 * bufferCountMax
  // Of messages; a view has two words, see ``MessageMemory``.
  static let entryCount = threads + threadStride * threadCountMax
  static let lateCount = entryCount + 1
  static let pendingEvents = entryCount + 2
  static let lockView = entryCount + 3
  static let sequentialView = entryCount + 5
  /// For each word, as a bit, whether the view of its newest message isn't empty.
  static let viewedWords = entryCount + 7
  private static let newestViews = viewedWords + memoryWordCount / 64
  private static let entries = newestViews + 2 * memoryWordCount
  private static let firstDigest = entries + 4 * (MessageMemory.entryCountMax + 1)
  private static let secondDigest = firstDigest + 1

  private let words = Words(count: Self.secondDigest + 1)
  /// Index and former word of each change.
  private let changes = WordStack(capacity: 1 << 20)

  init() {
    // No allocation has the address zero.
    words[Self.allocated] = 16
  }

  func deallocate() {
    words.deallocate()
    changes.deallocate()
  }

  @inline(__always)
  subscript(index: Int) -> UInt64 {
    get { words[index] }
    nonmutating set {
      let old = words[index]
      if old == newValue { return }
      changes.append(UInt64(truncatingIfNeeded: index))
      changes.append(old)
      replace(index, old, newValue)
    }
  }

  var digest: (first: UInt64, second: UInt64) { (words[Self.firstDigest], words[Self.secondDigest]) }

  /// A moment to come back to.
  var moment: Int { changes.count }

  func goBack(to moment: Int) {
    var count = changes.count
    while count > moment {
      count &-= 2
      let index = Int(truncatingIfNeeded: changes[count])
      replace(index, words[index], changes[count &+ 1])
    }
    changes.truncate(to: moment)
  }

  @inline(__always)
  private func replace(_ index: Int, _ old: UInt64, _ new: UInt64) {
    words[index] = new
    // The digests are sums of hashes of each word with its index, so that the change of one word is cheap.
    let oldHash = Self.hash(index, old)
    let newHash = Self.hash(index, new)
    words[Self.firstDigest] = words[Self.firstDigest] &+ newHash &- oldHash
    words[Self.secondDigest] = words[Self.secondDigest] &+ Self.hashAgain(newHash) &- Self.hashAgain(oldHash)
  }

  /// A permutation of the words for each index, so that different states stay different.
  @inline(__always)
  private static func hash(_ index: Int, _ word: UInt64) -> UInt64 {
    var hash = word &+ UInt64(truncatingIfNeeded: index &+ 1) &* 0x9e37_79b9_7f4a_7c15
    hash = (hash ^ (hash &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    hash = (hash ^ (hash &>> 27)) &* 0x94d0_49bb_1331_11eb
    return hash ^ (hash &>> 31)
  }

  @inline(__always)
  private static func hashAgain(_ hash: UInt64) -> UInt64 {
    let again = (hash ^ (hash &>> 33)) &* 0xff51_afd7_ed55_8ccd
    return (again ^ (again &>> 29)) &* 0xc4ce_b9fe_1a85_ec53
  }

  // MARK: Threads

  @inline(__always)
  static func node(of thread: Int) -> Int { threads &+ thread &* threadStride }
  @inline(__always)
  static func bufferCount(of thread: Int) -> Int { threads &+ thread &* threadStride &+ 1 }
  @inline(__always)
  static func view(of thread: Int) -> Int { threads &+ thread &* threadStride &+ 2 }
  /// The view that a thread gets when it's woken.
  @inline(__always)
  static func wakeView(of thread: Int) -> Int { threads &+ thread &* threadStride &+ 4 }
  /// The events of a thread since it last released anything.
  @inline(__always)
  static func ownEvents(of thread: Int) -> Int { threads &+ thread &* threadStride &+ 6 }
  @inline(__always)
  static func buffer(of thread: Int, _ entry: Int) -> Int { threads &+ thread &* threadStride &+ 7 &+ 2 &* entry }

  // MARK: Messages

  @inline(__always)
  static func newestView(of word: Int) -> Int { newestViews &+ 2 &* word }

  // An entry: the word, with a bit that says whether an update follows; the value; the view.

  @inline(__always)
  static func entryValue(_ index: Int) -> Int { entries &+ 4 &* index &+ 1 }
  @inline(__always)
  static func entryView(_ index: Int) -> Int { entries &+ 4 &* index &+ 2 }
  @inline(__always)
  func entryWord(_ index: Int) -> Int { Int(truncatingIfNeeded: self[Self.entries &+ 4 &* index] &>> 1) }
  @inline(__always)
  func isEntryFollowedByUpdate(_ index: Int) -> Bool { self[Self.entries &+ 4 &* index] & 1 != 0 }

  func setEntry(_ index: Int, _ word: Int, _ value: UInt64, isFollowedByUpdate: Bool) {
    self[Self.entries + 4 * index] = UInt64(word) << 1 | (isFollowedByUpdate ? 1 : 0)
    self[Self.entryValue(index)] = value
  }

  func copyEntry(_ index: Int, to target: Int) {
    for part in 0..<4 { self[Self.entries + 4 * target + part] = self[Self.entries + 4 * index + part] }
  }

  func clearEntry(_ index: Int) { for part in 0..<4 { self[Self.entries + 4 * index + part] = 0 } }
}
