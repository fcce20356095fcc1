import SystemInterface
import Testing

@testable import SwiftRuntimeHooks

@Suite("The direct calls of the Swift runtime do what the standard library does")
struct RuntimeHooksTests {
  @Test("this compiler's runtime is one that the direct calls were tested with")
  func version() {
    #expect(RuntimeHooks.areTested, "let this compiler in if the other tests of this target pass with it")
  }

  @Test("a task has the number that the standard library knows it by, and a child task has another one")
  func task() async {
    let own = CurrentTask.number
    let known = unsafe withUnsafeCurrentTask { unsafe unsafeBitCast($0, to: UInt.self) }
    #expect(own == known)
    #expect(own == CurrentTask.generalNumber)
    #expect(own != 0)
    async let child = CurrentTask.number
    #expect(await child != own)
    await Task.yield()
    #expect(CurrentTask.number == own)
  }

  @Test("a task is known to be cancelled when it is")
  func cancelled() async {
    #expect(!CurrentTask.isCancelled(CurrentTask.number))
    #expect(!CurrentTask.isCancelled(0))
    let task = Task.detached {
      withUnsafeCurrentTask { $0?.cancel() }
      return CurrentTask.isCancelled(CurrentTask.number)
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
    let found = Guarded<(UInt, UInt)?>(nil)
    HostThread.start(name: "no task") {
      found.withLock { $0 = (CurrentTask.number, CurrentTask.generalNumber) }
      done.signal()
    }
    done.wait()
    #expect(found.withLock { $0.map { $0 == (0, 0) } } == true)
  }
}

private final class Bound: Sendable {}

private enum TestLocal {
  @TaskLocal static var current: Bound?
  static let binding = TaskLocalBinding($current)
}
