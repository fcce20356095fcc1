import SystemInterface
import Testing

@Suite("Concurrency: which thread and task is running")
struct ConcurrencyThreadAndTaskIdentityTests {
  @Test("a task has the number that the standard library knows it by, and a child task has another one")
  func task() async {
    let own = TaskIdentity.current
    let known = unsafe withUnsafeCurrentTask { unsafe unsafeBitCast($0, to: UInt.self) }
    #expect(own == known)
    #expect(own != 0)
    async let child = TaskIdentity.current
    #expect(await child != own)
    await Task.yield()
    #expect(TaskIdentity.current == own)
  }

  @Test("a task is known to be cancelled when it is")
  func cancelled() async {
    #expect(!TaskIdentity.isCancelled(TaskIdentity.current))
    #expect(!TaskIdentity.isCancelled(0))
    let task = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      return TaskIdentity.isCancelled(TaskIdentity.current)
    }
    #expect(await task.value)
  }

  @Test("a value is bound for the task and for those that it starts, in a task group's body too")
  func binding() async {
    let outer = Bound()
    TestLocal.binding.push(outer)
    #expect(TestLocal.current === outer)
    await withTaskGroup(of: Bound?.self) { group in
      let inner = Bound()
      TestLocal.binding.push(inner)
      group.addTask { TestLocal.current }
      TestLocal.binding.pop()
      group.addTask { TestLocal.current }
      var found: [Bound?] = []
      for await value in group { found.append(value) }
      #expect(found.contains { $0 === inner } && found.contains { $0 === outer })
    }
    #expect(await Task { TestLocal.current === outer }.value)
    TestLocal.binding.pop()
    #expect(TestLocal.current == nil)
    weak let gone = outer
    _ = consume outer
    #expect(gone == nil)
  }

  @Test("outside of tasks there is no number")
  func thread() {
    let done = ThreadEvent()
    let found = Guarded<UInt?>(nil)
    HostThread.start(name: "no task") {
      found.withLock { $0 = TaskIdentity.current }
      done.signal()
    }
    done.wait()
    #expect(found.withLock { $0 } == 0)
  }

  @Test("threads that live at the same time have different records, and numbers are given again")
  func records() {
    let numbers = Guarded<[Int]>([])
    let ready = (0..<4).map { _ in ThreadEvent() }
    let go = ThreadEvent()
    let gone = (0..<4).map { _ in ThreadEvent() }
    for index in 0..<4 {
      HostThread.start(name: "numbered") {
        ThreadRecord.current.innermost = UInt(index + 1)
        let number = ThreadRecord.current.number
        numbers.withLock { $0.append(number) }
        ready[index].signal()
        go.wait()
        if ThreadRecord.current.innermost == UInt(index + 1) { gone[index].signal() }
      }
    }
    for event in ready { event.wait() }
    let all = numbers.withLock { $0 }
    #expect(Set(all).count == 4)
    go.signal()
    for event in gone { event.wait() }
    // The numbers of ended threads are used again, so they stay small however many threads come and go.
    var highest = 0
    for _ in 0..<100 {
      let done = ThreadEvent()
      let found = Guarded(0)
      HostThread.start(name: "short") {
        let number = ThreadRecord.current.number
        found.withLock { $0 = number }
        done.signal()
      }
      done.wait()
      highest = max(highest, found.withLock { $0 })
    }
    #expect(highest < 100)
  }
}

private final class Bound: Sendable {}

private enum TestLocal {
  @TaskLocal static var current: Bound?
  static let binding = TaskLocalBinding($current)
}
