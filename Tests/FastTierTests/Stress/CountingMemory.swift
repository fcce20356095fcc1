import FileCoordination
import Synchronization

/// The memory of this process, with a count of what is allocated.
struct CountingMemory: AtomicMemory {
  private final class Counts: Sendable {
    let regions = Atomic(0)
    let words = Atomic(0)
  }

  private let counts = Counts()
  private let memory = ProcessMemory()

  var regionCount: Int { counts.regions.load(ordering: .relaxed) }
  var wordCount: Int { counts.words.load(ordering: .relaxed) }

  func load(_ address: Int) -> UInt64 { memory.load(address) }
  func loadRelaxed(_ address: Int) -> UInt64 { memory.loadRelaxed(address) }
  func storeRelaxed(_ value: UInt64, at address: Int) { memory.storeRelaxed(value, at: address) }
  func storeReleasing(_ value: UInt64, at address: Int) { memory.storeReleasing(value, at: address) }
  func exchange(_ value: UInt64, at address: Int) -> UInt64 { memory.exchange(value, at: address) }
  func add(_ value: UInt64, at address: Int) -> UInt64 { memory.add(value, at: address) }
  func has(_: FastTierFault) -> Bool { false }

  func compareExchange(_ expected: UInt64, _ desired: UInt64, at address: Int) -> Bool {
    memory.compareExchange(expected, desired, at: address)
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
