import Synchronization
import SystemInterface
import Testing

extension ConcurrencyTests {
  @Suite("Lock") struct LockTests {
    /// A counter that only the lock protects, so that the thread sanitizer sees every hole in it.
    private final class Unprotected: @unchecked Sendable {
      var count = 0
      var isInside = false
    }

    private struct Refusal: Error, Equatable {
      var attempt: Int
    }

    /// Not `Sendable`, to show that a guarded value may hold such things and give access to them.
    private final class Page {
      var lines: [String] = []
    }

    @Test("At most one of 8 threads holds the lock", arguments: [1, 2, 8])
    func excludesOtherThreads(threadCount: Int) {
      let lock = FutexLock()
      let shared = Unprotected()
      let roundCount = 20_000
      onThreads(threadCount) { _ in
        for _ in 0..<roundCount {
          lock.withLock {
            #expect(!shared.isInside)
            shared.isInside = true
            shared.count += 1
            shared.isInside = false
          }
        }
      }
      #expect(lock.withLock { shared.count } == threadCount * roundCount)
    }

    @Test("A thread that sleeps in the lock is woken by the release")
    func wakesSleeper() {
      let lock = FutexLock()
      for _ in 0..<200 {
        let isHeld = ThreadEvent()
        let isReleased = ThreadEvent()
        let hasFinished = ThreadEvent()
        HostThread.start(name: "holder") {
          lock.lock()
          isHeld.signal()
          isReleased.wait()
          lock.unlock()
        }
        isHeld.wait()
        HostThread.start(name: "sleeper") {
          isReleased.signal()
          lock.withLock {}
          hasFinished.signal()
        }
        hasFinished.wait()
      }
    }

    @Test("A guarded value counts every change of 8 threads")
    func guardsValue() {
      let counts = Guarded<[Int: Int]>([:])
      onThreads(8) { index in
        for _ in 0..<5_000 { counts.withLock { $0[index % 3, default: 0] += 1 } }
      }
      #expect(counts.withLock { $0 } == [0: 15_000, 1: 15_000, 2: 10_000])
    }

    @Test("An error thrown under the lock arrives with its type, and the lock is free again")
    func rethrowsTyped() {
      let guarded = Guarded(1)
      #expect(throws: Refusal(attempt: 1)) {
        try guarded.withLock { value throws(Refusal) in
          defer { value += 1 }
          throw Refusal(attempt: value)
        }
      }
      #expect(guarded.withLock { $0 } == 2)
    }

    @Test("A value that isn't Sendable can be guarded, and a new one can leave")
    func guardsNonSendable() {
      let guarded = Guarded(Page())
      guarded.withLock { $0.lines.append("first") }
      let copy = guarded.withLock { page in
        let copy = Page()
        copy.lines = page.lines
        return copy
      }
      copy.lines.append("second")
      #expect(guarded.withLock { $0.lines } == ["first"])
    }

    @Test("A guarded value is freed with its guard")
    func freesValue() {
      final class Cargo {
        let isFreed: ThreadEvent

        init(_ isFreed: ThreadEvent) {
          self.isFreed = isFreed
        }

        deinit {
          isFreed.signal()
        }
      }
      let isFreed = ThreadEvent()
      do {
        let guarded = Guarded(Cargo(isFreed))
        #expect(guarded.withLock { !$0.isFreed.isSignaled })
      }
      #expect(isFreed.isSignaled)
    }

    @Test("Unlocking a free lock traps")
    func trapsOnUnlockOfFreeLock() async {
      await #expect(processExitsWith: .failure) { FutexLock().unlock() }
    }
  }
}
