import SystemInterface
import Testing

@Suite("Concurrency: which thread is running")
struct ConcurrencyThreadTests {
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
