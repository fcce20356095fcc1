import Foundation
import TestSupport
import Testing

@testable import FoundationCompatibility

@Suite("Where queries without a queue post", .blocking, .timeLimit(.minutes(4)))
struct MainThreadTurnsTests {
  /// A main thread in the states that the test defines, one by one; the last one remains.
  private final class MainThread: @unchecked Sendable {
    private let lock = NSLock()
    private var states: [MainThreadState]
    private var isServing: Bool
    private var things: [@Sendable () -> Void] = []
    private(set) var lookCount = 0
    // A thread that serves may outlive the test.
    lazy var turns = MainThreadTurns(
      state: { [weak self] in self?.state ?? .sleeps }, enqueue: { [weak self] in self?.enqueue($0) })

    init(_ states: [MainThreadState], isServing: Bool = false) {
      self.states = states
      self.isServing = isServing
    }

    private var state: MainThreadState {
      let (state, things) = lock.withLock {
        lookCount += 1
        let state = states.count > 1 ? states.removeFirst() : states[0]
        // A loop that runs comes to the contents of the queue at last.
        guard state == .runsLoop, states.count == 1 else { return (state, [@Sendable () -> Void]()) }
        defer { self.things = [] }
        return (state, self.things)
      }
      if !things.isEmpty { Thread { things.forEach { $0() } }.start() }
      return state
    }

    private func enqueue(_ thing: @escaping @Sendable () -> Void) {
      let isServing = lock.withLock {
        if !self.isServing { things.append(thing) }
        return self.isServing
      }
      if isServing { Thread(block: thing).start() }
    }

    /// Runs something, and says whether this thread did.
    func runsHere() -> Bool {
      let here = Thread.current
      let places = Journal()
      turns.run { places.note("\(Thread.current === here)") }
      #expect(places.entries.count == 1)
      return places.entries == ["true"]
    }
  }

  @Test("N-4: a main thread that sleeps outside of a run loop isn't waited for, and the next time not at all")
  func asleep() {
    let main = MainThread([.sleeps])
    #expect(main.runsHere())
    #expect(main.lookCount > 5)
    let before = main.lookCount
    #expect(main.runsHere() && main.lookCount <= before + 2)
  }

  @Test("N-4: a main thread that works before it runs its loop is waited for, longer than one that sleeps")
  func working() {
    // Each check is a twentieth of a second after the one before.
    let main = MainThread(Array(repeating: .works, count: 16) + [.runsLoop])
    #expect(!main.runsHere())
    let sleeper = MainThread(Array(repeating: .works, count: 4) + [.sleeps])
    #expect(sleeper.runsHere() && sleeper.lookCount > 9)
  }

  @Test(
    "N-4: a main thread that serves its queue without a run loop, as an asynchronous main does, is always waited for")
  func serving() {
    let main = MainThread([.sleeps], isServing: true)
    for _ in 0..<3 { #expect(!main.runsHere()) }
  }

  @Test("Patience ends after so much sleep, or much more work, and begins anew with a run loop")
  func patience() {
    var patience = MainThreadPatience()
    patience.note(.works, for: 29)
    patience.note(.sleeps, for: 0.4)
    #expect(!patience.isOver)
    patience.note(.runsLoop, for: 100)
    patience.note(.sleeps, for: 0.4)
    #expect(!patience.isOver)
    patience.note(.sleeps, for: 0.2)
    #expect(patience.isOver)
    patience = MainThreadPatience()
    patience.note(.works, for: 30)
    #expect(patience.isOver)
  }

  @Test(
    "The state of a thread is read from proc_pid_stat(5), whatever its name is",
    arguments: [
      ("12 (swift) R 1 12", MainThreadState.works), ("12 (a) S b) S 1 12", .sleeps), ("12 ((R) D 1", .works),
      ("12 (R R) S 1", .sleeps), ("12 (x) Z 1", .sleeps), ("", .sleeps),
    ])
  func states(stat: String, state: MainThreadState) { #expect(MainThreadState(stat: stat) == state) }
}
