internal import Synchronization

/// Memory that threads share: 64-bit words and the atomic operations on them.
///
/// The fast tier is generic over it, so that tests can run the very same code on a memory with store buffers and let
/// threads take turns at each operation.
///
/// An operation without an ordering in its name is sequentially consistent.
package protocol AtomicMemory: Sendable {
  /// The error that an operation may throw: none in a process; in a test, the end of a thread's turn.
  associatedtype Failure: Error

  /// Where a word is, in bytes; words are eight bytes apart.
  typealias Address = Int

  func load(_ address: Address) throws(Failure) -> UInt64
  func loadRelaxed(_ address: Address) throws(Failure) -> UInt64
  func storeRelaxed(_ value: UInt64, at address: Address) throws(Failure)
  func storeReleasing(_ value: UInt64, at address: Address) throws(Failure)
  /// Puts a value into a word and returns the former one; a full fence.
  @discardableResult
  func exchange(_ value: UInt64, at address: Address) throws(Failure) -> UInt64
  /// Puts a value into a word if that has the expected one; a full fence.
  ///
  /// - Returns: Whether it did.
  func compareExchange(_ expected: UInt64, _ desired: UInt64, at address: Address) throws(Failure) -> Bool
  /// Adds to a word, wrapping around, and returns the former value; a full fence.
  @discardableResult
  func add(_ value: UInt64, at address: Address) throws(Failure) -> UInt64

  /// New words, all zero.
  func allocate(wordCount: Int) throws(Failure) -> Address
  func free(_ address: Address, wordCount: Int) throws(Failure)
}

extension AtomicMemory {
  @inline(__always)
  func word(_ index: Int, after address: Address) -> Address { address &+ index &* 8 }
}

/// The memory of this process.
///
/// Addresses are pointers. `unsafe` throughout: only addresses inside of live allocations may be passed, which is the
/// business of the fast tier, whose layout never leaves its own regions.
package struct ProcessMemory: AtomicMemory {
  package typealias Failure = Never

  package init() {}

  @inline(__always)
  private func atomic(_ address: Address) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: address).unsafelyUnwrapped
  }

  @inline(__always)
  package func load(_ address: Address) -> UInt64 {
    unsafe atomic(address).pointee.load(ordering: .sequentiallyConsistent)
  }

  @inline(__always)
  package func loadRelaxed(_ address: Address) -> UInt64 { unsafe atomic(address).pointee.load(ordering: .relaxed) }

  @inline(__always)
  package func storeRelaxed(_ value: UInt64, at address: Address) {
    unsafe atomic(address).pointee.store(value, ordering: .relaxed)
  }

  @inline(__always)
  package func storeReleasing(_ value: UInt64, at address: Address) {
    unsafe atomic(address).pointee.store(value, ordering: .releasing)
  }

  @inline(__always)
  @discardableResult
  package func exchange(_ value: UInt64, at address: Address) -> UInt64 {
    unsafe atomic(address).pointee.exchange(value, ordering: .sequentiallyConsistent)
  }

  @inline(__always)
  package func compareExchange(_ expected: UInt64, _ desired: UInt64, at address: Address) -> Bool {
    unsafe atomic(address).pointee.compareExchange(
      expected: expected, desired: desired, ordering: .sequentiallyConsistent
    ).exchanged
  }

  @inline(__always)
  @discardableResult
  package func add(_ value: UInt64, at address: Address) -> UInt64 {
    unsafe atomic(address).pointee.wrappingAdd(value, ordering: .sequentiallyConsistent).oldValue
  }

  /// Aligned to two cache lines, which processors fetch together.
  ///
  /// Large regions come from the kernel page by page, when first touched.
  package func allocate(wordCount: Int) -> Address {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: wordCount * 8, alignment: 128)
    unsafe memory.initializeMemory(as: UInt64.self, repeating: 0, count: wordCount)
    return Int(bitPattern: memory)
  }

  package func free(_ address: Address, wordCount: Int) {
    unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
  }
}
