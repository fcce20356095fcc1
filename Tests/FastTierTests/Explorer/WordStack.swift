/// Words at an address, and nothing else.
///
/// The explorer keeps all that it touches at each step in such words, because without an optimizer everything nicer
/// costs ten times as much: properties of classes are checked for exclusive access, references and arrays are counted.
/// Tests run without an optimizer. The owner of words frees them in its `deinit`.
struct Words {
  private let base: UnsafeMutablePointer<UInt64>

  init(count: Int) {
    base = .allocate(capacity: count)
    base.initialize(repeating: 0, count: count)
  }

  func deallocate() { base.deallocate() }

  @inline(__always)
  subscript(index: Int) -> UInt64 {
    get { base[index] }
    nonmutating set { base[index] = newValue }
  }
}

/// A stack of words that never moves: the kernel provides pages when they are touched.
struct WordStack {
  private let base: UnsafeMutablePointer<UInt64>
  private let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity + 1)
    base[0] = 0
  }

  func deallocate() { base.deallocate() }

  @inline(__always)
  var count: Int { Int(truncatingIfNeeded: base[0]) }

  @inline(__always)
  subscript(index: Int) -> UInt64 {
    get { base[index &+ 1] }
    nonmutating set { base[index &+ 1] = newValue }
  }

  @inline(__always)
  func append(_ word: UInt64) {
    let count = Int(truncatingIfNeeded: base[0])
    if count == capacity { preconditionFailure("the stack is full") }
    base[count &+ 1] = word
    base[0] = UInt64(truncatingIfNeeded: count &+ 1)
  }

  @inline(__always)
  func truncate(to count: Int) { base[0] = UInt64(truncatingIfNeeded: count) }
}
