import FileCoordination
import Glibc
import Synchronization

/// The memory of this process, with a count of the allocations.
///
/// On demand a thread gives way after any of its operations, so that others come in between more often than on a quiet
/// machine. The counter that decides is relaxed: it orders nothing.
struct CountingMemory: AtomicMemory {
  private final class Counts: Sendable {
    let regions = Atomic(0)
    let words = Atomic(0)
    let operations = Atomic(0)
  }

  private let counts = Counts()
  private let memory = ProcessMemory()
  private let isShaking: Bool

  init(isShaking: Bool = false) { self.isShaking = isShaking }

  var regionCount: Int { counts.regions.load(ordering: .relaxed) }
  var wordCount: Int { counts.words.load(ordering: .relaxed) }

  /// Lets another thread go on, now and then.
  func shake() {
    if isShaking, counts.operations.add(1, ordering: .relaxed).newValue % 17 == 0 { sched_yield() }
  }

  func load(_ address: Int) -> UInt64 {
    shake()
    return memory.load(address)
  }

  func loadRelaxed(_ address: Int) -> UInt64 { memory.loadRelaxed(address) }
  func storeRelaxed(_ value: UInt64, at address: Int) { memory.storeRelaxed(value, at: address) }

  func storeReleasing(_ value: UInt64, at address: Int) {
    shake()
    memory.storeReleasing(value, at: address)
  }

  func exchange(_ value: UInt64, at address: Int) -> UInt64 {
    shake()
    return memory.exchange(value, at: address)
  }

  func compareExchange(_ expected: UInt64, _ desired: UInt64, at address: Int) -> Bool {
    shake()
    return memory.compareExchange(expected, desired, at: address)
  }

  func add(_ value: UInt64, at address: Int) -> UInt64 {
    shake()
    return memory.add(value, at: address)
  }

  func allocate(wordCount: Int) -> Int {
    counts.regions.add(1, ordering: .relaxed)
    counts.words.add(wordCount, ordering: .relaxed)
    return memory.allocate(wordCount: wordCount)
  }

  func free(_ address: Int, wordCount: Int) {
    counts.regions.subtract(1, ordering: .relaxed)
    counts.words.subtract(wordCount, ordering: .relaxed)
    memory.free(address, wordCount: wordCount)
  }
}
