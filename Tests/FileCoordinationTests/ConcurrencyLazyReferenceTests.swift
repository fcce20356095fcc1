import Dispatch
import Synchronization
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("Concurrency: references that one of several threads stores", .timeLimit(.minutes(3)))
struct ConcurrencyLazyReferenceTests {
  /// Counts its instances.
  private final class Counted: Sendable {
    static let count = Atomic<Int>(0)

    let number: Int

    init(_ number: Int) {
      self.number = number
      Self.count.add(1, ordering: .relaxed)
    }

    deinit { Self.count.subtract(1, ordering: .relaxed) }
  }

  private final class Holder: Sendable {
    let reference = LazyReference<Counted>()
  }

  @Test("All threads get the instance of the first; the others' are released at once, and this one with its owner")
  func race() {
    for _ in 0..<200 {
      let holder = Holder()
      #expect(holder.reference.load() == nil)
      let numbers = Guarded<Set<Int>>([])
      // Returns when every thread has released what it had.
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        let stored = holder.reference.storeIfNil(Counted(number))
        let isSame = holder.reference.load() === stored
        numbers.withLock { _ = $0.insert(isSame ? stored.number : -1) }
      }
      #expect(numbers.withLock { $0.count } == 1)
      #expect(numbers.withLock { !$0.contains(-1) })
      withExtendedLifetime(holder) { #expect(Counted.count.load(ordering: .relaxed) == 1) }
    }
    #expect(Counted.count.load(ordering: .relaxed) == 0)
  }
}
