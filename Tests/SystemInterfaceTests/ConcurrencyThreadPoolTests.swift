import Glibc
import Synchronization
import SystemInterface
import Testing

extension ConcurrencyTests {
  @Suite("Elastic thread pool") struct ThreadPoolTests {
    /// A pool whose threads all end when they have nothing to do, so that a test leaves none behind.
    private func makePool(threadCountMax: Int = 256) -> ElasticThreadPool {
      ElasticThreadPool(threadCountMax: threadCountMax, idleThreadCountMax: 0, idleTimeout: .milliseconds(20))
    }

    /// Lets other threads run until something is true that no event announces.
    private func yield(until condition: () -> Bool) {
      while !condition() { sched_yield() }
    }

    @Test("Blocked jobs don't stop the next one", arguments: [1, 2, 50])
    func grows(blockedCount: Int) {
      let pool = makePool()
      let areBlocked = Countdown(blockedCount)
      let isReleased = ThreadEvent()
      let areDone = Countdown(blockedCount)
      for _ in 0..<blockedCount {
        Task(executorPreference: pool) {
          areBlocked.countDown()
          isReleased.wait()
          areDone.countDown()
        }
      }
      areBlocked.wait()
      let hasRun = ThreadEvent()
      Task(executorPreference: pool) {
        #expect(pool.threadCount == blockedCount + 1)
        hasRun.signal()
      }
      hasRun.wait()
      isReleased.signal()
      areDone.wait()
    }

    @Test("A thread keeps the first job that it enqueues for itself, until it runs that; all others are handed out")
    func keepingFirstJob() {
      let pool = makePool()
      let other = makePool()
      let events = (0..<4).map { _ in ThreadEvent() }
      let job = pool.keepingFirstJob {
        // That of another pool isn't meant.
        for (event, pool) in zip(events, [other, pool, pool]) { Task(executorPreference: pool) { event.signal() } }
      }
      events[0].wait()
      events[2].wait()
      #expect(!events[1].isSignaled)
      if let job { pool.run(job) }
      #expect(events[1].isSignaled)
      Task(executorPreference: pool) { events[3].signal() }
      events[3].wait()
      #expect(pool.keepingFirstJob {} == nil)
    }

    @Test("At the limit jobs wait in a queue, and all of them run, in order")
    func queuesAtLimit() {
      let pool = makePool(threadCountMax: 3)
      let areBlocked = Countdown(2)
      let isReleased = ThreadEvent()
      let isGateOpen = ThreadEvent()
      let isGateReached = ThreadEvent()
      let order = Journal<Int>()
      let areDone = Countdown(2 + 1 + 100)
      for _ in 0..<2 {
        Task(executorPreference: pool) {
          areBlocked.countDown()
          isReleased.wait()
          areDone.countDown()
        }
      }
      Task(executorPreference: pool) {
        isGateReached.signal()
        isGateOpen.wait()
        areDone.countDown()
      }
      areBlocked.wait()
      isGateReached.wait()
      // Two threads stay blocked; the third serves the queue alone, so the order can be seen.
      let areQueuedDone = Countdown(100)
      for index in 0..<100 {
        Task(executorPreference: pool) {
          order.append(index)
          areQueuedDone.countDown()
          areDone.countDown()
        }
      }
      #expect(pool.threadCount == 3)
      #expect(pool.queuedJobCount == 100)
      isGateOpen.signal()
      areQueuedDone.wait()
      #expect(order.elements == Array(0..<100))
      isReleased.signal()
      areDone.wait()
      #expect(pool.threadCount <= 3)
    }

    @Test("A chain of jobs that depend on each other needs one thread")
    func reusesIdleThread() {
      let pool = ElasticThreadPool(idleThreadCountMax: 1)
      let threads = Journal<Int32>()
      for _ in 0..<500 {
        Task(executorPreference: pool) { threads.append(CurrentThread.kernelThreadIdentifier) }
        yield(until: { pool.idleThreadCount == 1 })
      }
      #expect(threads.elements.count == 500)
      #expect(Set(threads.elements).count == 1)
      #expect(pool.threadCount == 1)
    }

    @Test("The thread that became idle last gets the next job")
    func prefersWarmThread() {
      let pool = ElasticThreadPool(idleThreadCountMax: 3)
      let threads = Journal<Int32>()
      let releases = (0..<3).map { _ in ThreadEvent() }
      let areRunning = Countdown(3)
      for release in releases {
        Task(executorPreference: pool) {
          areRunning.countDown()
          release.wait()
          threads.append(CurrentThread.kernelThreadIdentifier)
        }
      }
      areRunning.wait()
      for (index, release) in releases.enumerated() {
        release.signal()
        yield(until: { pool.idleThreadCount == index + 1 })
      }
      let hasRun = ThreadEvent()
      Task(executorPreference: pool) {
        #expect(CurrentThread.kernelThreadIdentifier == threads.elements.last)
        hasRun.signal()
      }
      hasRun.wait()
    }

    @Test("When the system refuses a thread, the job waits for one of the others")
    func survivesRefusal() {
      let allowedCount = Guarded(2)
      let pool = ElasticThreadPool(
        idleThreadCountMax: 0, idleTimeout: .milliseconds(20),
        threadStarter: { name, body in
          let isAllowed = allowedCount.withLock { allowedCount in
            allowedCount -= 1
            return allowedCount >= 0
          }
          return isAllowed ? HostThread.tryStart(name: name, body) : EAGAIN
        })
      let areRunning = Countdown(2)
      let isReleased = ThreadEvent()
      let areDone = Countdown(12)
      for _ in 0..<2 {
        Task(executorPreference: pool) {
          areRunning.countDown()
          isReleased.wait()
          areDone.countDown()
        }
      }
      areRunning.wait()
      for _ in 0..<10 { Task(executorPreference: pool) { areDone.countDown() } }
      #expect(pool.threadCount == 2)
      #expect(pool.queuedJobCount == 10)
      isReleased.signal()
      areDone.wait()
    }

    @Test("A pool that gets no thread at all stops the process instead of waiting for ever")
    func trapsWithoutThreads() async {
      await #expect(processExitsWith: .failure) {
        let pool = ElasticThreadPool(threadStarter: { _, _ in EAGAIN })
        let hasRun = ThreadEvent()
        Task(executorPreference: pool) { hasRun.signal() }
        hasRun.wait()
      }
    }

    @Test("A task stays on the pool across suspensions")
    func resumesOnPool() {
      let pool = makePool()
      let caller = CurrentThread.kernelThreadIdentifier
      let hasRun = ThreadEvent()
      Task(executorPreference: pool) {
        for _ in 0..<20 {
          await Task.yield()
          #expect(CurrentThread.kernelThreadIdentifier != caller)
          #expect(isOnPoolThread())
        }
        hasRun.signal()
      }
      hasRun.wait()
    }

    @Test("Idle threads above the limit end, those below it stay")
    func shrinks() {
      let keptCount = 2
      let hasShrunk = ThreadEvent()
      let pool = ElasticThreadPool(
        threadCountMax: 16, idleThreadCountMax: keptCount, idleTimeout: .milliseconds(5),
        threadDidEnd: { threadCount in
          #expect(threadCount >= keptCount)
          if threadCount == keptCount { hasShrunk.signal() }
        })
      let areAllRunning = Countdown(16)
      for _ in 0..<16 {
        Task(executorPreference: pool) {
          areAllRunning.countDown()
          // Every job keeps its thread until all 16 have one.
          areAllRunning.wait()
        }
      }
      areAllRunning.wait()
      hasShrunk.wait()
      #expect(pool.threadCount == keptCount)
      #expect(pool.idleThreadCount == keptCount)
      let hasRun = ThreadEvent()
      Task(executorPreference: pool) { hasRun.signal() }
      hasRun.wait()
      #expect(pool.threadCount == keptCount)
    }

    @Test("Jobs that arrive while threads end are all run")
    func racesWithTimeout() {
      let pool = ElasticThreadPool(threadCountMax: 4, idleThreadCountMax: 0, idleTimeout: .microseconds(20))
      for _ in 0..<500 {
        let areDone = Countdown(6)
        for _ in 0..<6 { Task(executorPreference: pool) { areDone.countDown() } }
        areDone.wait()
      }
    }

    @Test("Many tasks that hop back and forth all finish")
    func survivesCrowd() {
      let pool = makePool(threadCountMax: 8)
      let areDone = Countdown(200)
      let sum = Guarded(0)
      for index in 0..<200 {
        Task(executorPreference: pool) {
          for _ in 0..<20 { await Task.yield() }
          sum.withLock { $0 += index }
          areDone.countDown()
        }
      }
      areDone.wait()
      #expect(sum.withLock { $0 } == 199 * 200 / 2)
    }

    /// Whether the current task runs where the pool's threads are named.
    private func isOnPoolThread() -> Bool {
      CurrentThread.currentName.hasPrefix("file-coord-")
    }
  }
}
