import CompactContainers
import SeededRandom
import Testing

@testable import FileAccessArbiter

@Suite("Processes that live and don't run")
struct StoppedTests {
  private let limits = AccessRequest.Limits(stoppedPresenters: 5, stoppedHolders: 7)

  @Test("C-187: A stopped presenter is waited for as long as the waiter wants, and then no more; it's told afterwards")
  func presenter() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", client: 2)
    let writer = harness.write("/d/f", limits: limits)
    #expect(harness.world.arbiter.clientsInTheWay == [ClientID(2)])
    harness.stop([2], after: 0)
    harness.stop([2], after: 4)
    #expect(harness.isWaiting(writer))
    harness.stop([2], after: 1)
    #expect(harness.isGranted(writer))
    #expect(harness.world.grants[writer]?.unanswered == ["P1 (relinquishPresentedItem(toWriter:))"])
    harness.release(writer, .changed)
    // When it runs again, it gives an answer that isn't awaited, gets its turn back, and is notified of the change that
    // it missed.
    harness.answer(presenter, hasReacquirer: true)
    harness.finish()
    let kinds = harness.deliveries(presenter).map(\.kind.callbackName)
    #expect(kinds == ["relinquishPresentedItem(toWriter:)", "presentedItemDidChange", "reacquirer"])
  }

  @Test("The members of a long queue wait for the access that is in its way", arguments: 1...40 as ClosedRange<UInt64>)
  func longQueues(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let harness = ArbiterHarness()
    let paths: [ItemPath] = ["/d", "/d/f", "/d/f/g", "/e"]
    for _ in 0..<30 {
      let client = UInt64(random.below(4) + 1)
      let path = paths[random.below(paths.count)]
      if random.chance(1, in: 6) {
        _ = harness.presenter(at: path, client: client)
      } else if random.chance(1, in: 2) {
        _ = harness.read(path, client: client)
      } else {
        _ = harness.write(path, random.chance(1, in: 3) ? .deleting : .update, client: client)
      }
      let arbiter = harness.world.arbiter
      var expected: Set<ClientID> = []
      for id in arbiter.accesses.sortedKeys where arbiter.accesses[id].isWaiting {
        arbiter.forEachWait(of: .access(id)) { node in
          if let other = arbiter.client(of: node), other != arbiter.accesses[id].client { expected.insert(other) }
        }
      }
      #expect(arbiter.clientsInTheWay == expected)
    }
  }

  @Test("C-187: A presenter that runs is waited for, also beside one that's stopped")
  func runningPresenter() {
    let harness = ArbiterHarness()
    _ = harness.presenter(at: "/d/f", client: 2)
    let running = harness.presenter(at: "/d/f", client: 3)
    let writer = harness.write("/d/f", limits: limits)
    harness.stop([2], after: 0)
    harness.stop([2], after: 50)
    #expect(harness.isWaiting(writer))
    #expect(harness.world.arbiter.clientsInTheWay == [ClientID(3)])
    harness.answer(running)
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("Time before the question, or before a process was stopped for the last time, doesn't count")
  func timeCounts() {
    let harness = ArbiterHarness()
    _ = harness.presenter(at: "/d/f", client: 2)
    let writer = harness.write("/d/f", limits: limits)
    harness.stop([2], after: 0)
    harness.stop([], after: 4)
    harness.stop([2], after: 1)
    harness.stop([2], after: 4)
    #expect(harness.isWaiting(writer))
    harness.stop([2], after: 1)
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-209: An eviction waits for the consent of a stopped presenter")
  func consent() {
    let harness = ArbiterHarness()
    _ = harness.presenter(at: "/d/f", client: 2)
    let eviction = harness.write("/d/f", .evicting, limits: limits)
    harness.stop([2], after: 0)
    harness.stop([2], after: 50)
    #expect(harness.isWaiting(eviction))
    harness.cancel(eviction)
    harness.finish()
  }

  @Test("An access without a deadline waits for a stopped presenter like for others")
  func noLimit() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", client: 2)
    let writer = harness.write("/d/f")
    harness.stop([2], after: 0)
    harness.stop([2], after: 1_000_000)
    #expect(harness.isWaiting(writer))
    harness.answer(presenter)
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("An access held by a stopped process is named with that, and given up when another access doesn't wait longer")
  func holder() {
    let harness = ArbiterHarness()
    let holder = harness.write("/d/f", client: 2)
    let patient = harness.write("/d/f")
    harness.stop([2], after: 0)
    harness.stop([2], after: 50)
    #expect(harness.world.arbiter.clientsHoldingForTooLong(at: harness.world.time) == [])
    let waiter = harness.write("/d/f", limits: limits)
    harness.stop([2], after: 6)
    #expect(harness.world.arbiter.clientsHoldingForTooLong(at: harness.world.time) == [])
    harness.stop([2], after: 1)
    #expect(harness.world.arbiter.clientsHoldingForTooLong(at: harness.world.time) == [ClientID(2)])
    guard case .access(let blocker) = harness.world.arbiter.blockers(of: patient).first else {
      return harness.record("nobody is in the way")
    }
    #expect(blocker.id == holder && blocker.clientName.hasSuffix(", stopped"))
    harness.stop([], after: 1)
    #expect(harness.world.arbiter.clientsHoldingForTooLong(at: harness.world.time) == [])
    harness.release(holder)
    harness.finish()
    #expect(harness.world.grants[waiter] != nil)
  }

  @Test("A process that merely waits, and one that nobody waits for, aren't in the way")
  func notInTheWay() {
    let harness = ArbiterHarness()
    let holder = harness.write("/d/f", client: 2)
    harness.write("/e", client: 3)
    #expect(harness.world.arbiter.clientsInTheWay == [] && harness.world.arbiter.waitingCount == 0)
    let waiter = harness.write("/d/f", client: 4)
    #expect(harness.world.arbiter.clientsInTheWay == [ClientID(2)] && harness.world.arbiter.waitingCount == 1)
    harness.cancel(waiter)
    #expect(harness.world.arbiter.waitingCount == 0)
    harness.release(holder)
    harness.finish()
  }
}
