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

  /// Whether a mistake is built in, to show that a test finds it.
  func has(_ fault: FastTierFault) -> Bool
}

extension AtomicMemory {
  @inline(__always)
  func word(_ index: Int, after address: Address) -> Address { address &+ index &* 8 }
}

/// A mistake that a test can build into the fast tier to show that it would be found.
package enum FastTierFault: String, Hashable, Sendable, CaseIterable {
  /// A reader searches for obstacles before it shows its claim.
  case checkBeforePublish
  /// A reader's claim stays in its processor's store buffer while it searches for obstacles.
  case missingFence
  /// A holder ends its claim without checking whether an access waits for it.
  case adoptionIgnored
  /// An adoption doesn't make sure that the claim still lasts.
  case adoptionUnchecked
  /// An obstacle is raised after the scan of the existing claims.
  case scanBeforeRaise
  /// A writer doesn't search for readers.
  case readersIgnored
  /// A writer takes its claim for granted although a scan has just passed over it.
  case unconfirmedWrite
  /// A writer's claim can be seen after it has let readers in.
  case strongLoweredFirst
  /// A reader that found no obstacle doesn't see that its claim was refused meanwhile.
  case challengeIgnored
  /// A reader that is about to retreat counts as granted.
  case doomedAdopted
  /// A reader that fails to retreat doesn't wait to learn why.
  case frozenTakenForAdopted
  /// A reader asks a table of obstacles that has been replaced.
  case staleTable
  /// An obstacle that goes takes those with it that are behind it in the table.
  case brokenChain
  /// A table of obstacles is freed as soon as it's replaced.
  case tableFreedAtOnce
  /// The replacement of the table of obstacles is preceded, not followed, by the search for claims that may still read
  /// the former one.
  case earlyWitnesses
  /// An obstacle stays in its processor's store buffer while claims are scanned.
  case unfencedRaise
  /// Reads are offered for adoption before writes.
  case readsFirst
  /// A scan of the claims passes over writers that aren't confirmed.
  case tentativeIgnored
  /// A thread announces that it has claims only after it has searched for obstacles to the first.
  case lateAnnouncement
  /// A reader that couldn't retreat takes its claim back although it was adopted.
  case adoptedTakenBack
  /// A path records that nothing is above it as of a time after the check.
  case lateVersion
  /// Paths that have recorded that nothing is above them don't notice raised interests.
  case silentRaise
  /// A waiting thread reads the table of obstacles without showing that it does.
  case unshownLook
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

  @inline(__always)
  package func has(_: FastTierFault) -> Bool { false }
}
