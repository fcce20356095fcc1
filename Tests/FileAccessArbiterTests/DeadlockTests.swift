import Testing

@testable import FileAccessArbiter

/// Each way of ruling out, resolving and ending a deadlock: D-1…D-6.
@Suite("Deadlocks: first resolve, then fail")
struct DeadlockTests {
  @Test(
    "D-1, C-130, C-131, C-133: A nested request passes the accesses it is nested in",
    arguments: ItemAccess.writes + [.read])
  func sameLineage(inner: ItemAccess) {
    let harness = ArbiterHarness()
    let outer = harness.write("/d", .deleting)
    let middle = harness.read("/e", inside: .access(outer))
    let nested = harness.request([.init("/d/f", inner)], inside: .access(middle))
    #expect(harness.isGranted(nested))
    harness.release(nested)
    harness.release(middle)
    harness.finish()
  }

  @Test("D-2: A nested read passes the writers queued behind the access around it", arguments: [1, 3])
  func lineagePriority(writerCount: Int) {
    // reader   [------n··]
    // nested          [-]
    // writers   w···········[-]
    let harness = ArbiterHarness()
    let reader = harness.read("/d/f")
    let writers = (0..<writerCount).map { _ in harness.write("/d/f") }
    let nested = harness.read("/d/f", inside: .access(reader))
    #expect(harness.isGranted(nested))
    harness.release(nested)
    harness.release(reader)
    #expect(harness.isGranted(writers[0]))
    harness.finish()
  }

  @Test("D-2: A nested read that nobody awaits keeps its place in the queue")
  func noPriorityWithoutNeed() {
    let harness = ArbiterHarness()
    let reader = harness.read("/d/f")
    let writer = harness.write("/d/f")
    let detached = harness.request([.init("/d/f", .read)], inside: .access(reader)) { $0.isAwaitedByContext = false }
    #expect(harness.isWaiting(detached))
    harness.release(reader)
    #expect(harness.isGranted(writer) && harness.isWaiting(detached))
    harness.finish()
  }

  @Test("D-3: A queue is permuted when that removes the cycle")
  func softEdge() {
    // A reads f; its accessor writes g, behind B, which has asked for f and g and waits for A.
    let harness = ArbiterHarness()
    let reader = harness.read("/f")
    let both = harness.request([.init("/f", .update), .init("/g", .update)])
    let nested = harness.write("/g", inside: .access(reader))
    #expect(harness.isGranted(nested) && harness.isWaiting(both))
    harness.release(nested)
    harness.release(reader)
    #expect(harness.isGranted(both))
    harness.finish()
  }

  @Test("D-3: Two queues are permuted when one alone doesn't remove the cycle")
  func twoSoftEdges() {
    // R reads f and asks P, whose callback writes f and g. H holds g; its accessor writes f, behind R.
    // P's write has to pass R, and the one inside H as well.
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.relinquishToReader])
    let reader = harness.read("/f")
    let holder = harness.write("/g")
    let inner = harness.write("/f", inside: .access(holder))
    guard let callback = harness.top(presenter) else { return harness.record("not asked") }
    let write = harness.request([.init("/f", .update), .init("/g", .update)], inside: .message(callback))
    #expect(harness.isGranted(inner) && harness.isWaiting(write))
    harness.release(inner)
    harness.release(holder)
    #expect(harness.isGranted(write) && harness.isWaiting(reader))
    harness.release(write)
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  /// Two presenters of one file, both inside did-change and reading the file there.
  private func twoReadersInDidChange(
    _ harness: ArbiterHarness, servesWhileWaiting: Bool
  ) -> (presenters: [PresenterID], reads: [AccessID]) {
    let presenters = (0..<2).map { _ in
      harness.presenter(
        at: "/d/f", callbacks: [.relinquishToReader, .itemDidChange], servesWhileWaiting: servesWhileWaiting)
    }
    harness.release(harness.write("/d/f"))
    let reads = presenters.map { presenter in
      harness.read("/d/f", own: presenter, inside: harness.top(presenter).map(ExecutionContext.message))
    }
    return (presenters, reads)
  }

  @Test("D-4, C-185: Two presenters that read inside did-change are served and both finish")
  func servedWhileWaiting() {
    let harness = ArbiterHarness()
    let (presenters, reads) = twoReadersInDidChange(harness, servesWhileWaiting: true)
    #expect(presenters.allSatisfy { harness.isRunning($0, .relinquishToReader) })
    presenters.forEach { harness.answer($0) }
    #expect(reads.allSatisfy(harness.isGranted))
    reads.forEach { harness.release($0) }
    harness.finish()
  }

  @Test("C-185: With serving switched off exactly one of them fails with a deadlock that names every member")
  func notServed() {
    let harness = ArbiterHarness()
    let (_, reads) = twoReadersInDidChange(harness, servesWhileWaiting: false)
    let failed = reads.filter(harness.isDeadlocked)
    #expect(failed == [reads[1]], "the youngest")
    guard let id = failed.first, case .deadlock(let members) = harness.failure(of: id) else { return }
    #expect(members.count == 6, "two reads, two questions, two callbacks")
    guard case .access(let first) = members[0] else { return harness.record("the failed access comes first") }
    #expect(first.id == id)
    harness.finish()
  }

  @Test("D-4: A thread that occupies an actor, or the main thread, can't be served", arguments: [true, false])
  func notServable(isActor: Bool) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.relinquishToReader, .itemDidChange], isActor: isActor)
    harness.release(harness.write("/f"))
    let holder = harness.write("/g")
    let callback = harness.top(presenter).map(ExecutionContext.message)
    harness.request([.init("/g", .read)], inside: callback) {
      $0.blocksThread = true
      $0.isOnMainThread = !isActor
    }
    harness.read("/f")
    #expect(harness.isRunning(presenter, .itemDidChange), "not asked re-entrantly")
    harness.release(holder)
    harness.finish()
  }

  @Test("D-5, C-110: A presenter is never asked about its own access, so that can't deadlock")
  func ownPresenter() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", servesWhileWaiting: false)
    let other = harness.write("/d/f")
    harness.answer(presenter)
    harness.release(other)
    let read = harness.read("/d/f", own: presenter, inside: harness.top(presenter).map(ExecutionContext.message))
    #expect(harness.isGranted(read))
    harness.release(read)
    harness.finish()
  }

  @Test("D-6, C-132: Of two upgrades from read to write exactly one fails, the younger one")
  func upgrades() {
    let harness = ArbiterHarness()
    let readers = [harness.read("/f"), harness.read("/f")]
    let first = harness.write("/f", inside: .access(readers[0]))
    #expect(harness.isWaiting(first))
    let second = harness.write("/f", inside: .access(readers[1]))
    #expect(harness.isDeadlocked(second) && harness.isWaiting(first))
    harness.release(readers[1])
    #expect(harness.isGranted(first))
    harness.release(first)
    harness.finish()
  }

  @Test("D-6: The victim is the one with fewest accesses around it, even if it is older")
  func victimWithFewestAround() {
    let harness = ArbiterHarness()
    let (f, g) = (harness.read("/f"), harness.read("/g"))
    let deep = harness.read("/x", inside: .access(g))
    let shallow = harness.write("/g", inside: .access(f))
    let nested = harness.write("/f", inside: .access(deep))
    #expect(harness.isDeadlocked(shallow) && !harness.isDeadlocked(nested))
    harness.release(f)
    #expect(harness.isGranted(nested))
    harness.release(nested)
    harness.release(deep)
    harness.finish()
  }

  @Test("D-6: The victim is a reader rather than a writer, even if it is older")
  func victimReads() {
    let harness = ArbiterHarness()
    let (f, g) = (harness.write("/f"), harness.read("/g"))
    let reader = harness.read("/f", inside: .access(g))
    let writer = harness.write("/g", inside: .access(f))
    #expect(harness.isDeadlocked(reader) && harness.isWaiting(writer))
    harness.finish()
  }

  @Test("D-6: The victim is never on the main thread if there is another choice")
  func victimOffMain() {
    let harness = ArbiterHarness()
    let readers = [harness.read("/f"), harness.read("/f")]
    let first = harness.write("/f", inside: .access(readers[0]))
    let main = harness.request([.init("/f", .update)], inside: .access(readers[1])) {
      $0.blocksThread = true
      $0.isOnMainThread = true
    }
    #expect(harness.isDeadlocked(first) && !harness.isDeadlocked(main))
    harness.finish()
  }

  @Test("A request that only inherited its context proves no deadlock")
  func noPhantom() {
    let harness = ArbiterHarness()
    let readers = [harness.read("/f"), harness.read("/f")]
    let writes = readers.map { reader in
      harness.request([.init("/f", .update)], inside: .access(reader)) { $0.isAwaitedByContext = false }
    }
    #expect(writes.allSatisfy(harness.isWaiting))
    readers.forEach { harness.release($0) }
    #expect(harness.isGranted(writes[0]))
    harness.finish()
  }
}

@Suite("Ladders")
struct LadderTests {
  @Test("A cycle of 1,000 accesses is found when it closes, and exactly one of them fails")
  func longCycle() {
    let count = UInt64(1000)
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(ClientID(1), name: "pid 1")
    func path(_ index: UInt64) -> ItemPath { ItemPath("/f\(index % count)") }
    for index in 0..<count {
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(index), label: "holder", items: [.init(path(index), .update)])
      _ = arbiter.accessRequested(AccessID(index), request, at: 0)
    }
    var failures: [AccessID] = []
    for index in 0..<count {
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(count + index), label: "nested",
        items: [.init(path(index + 1), .update)], context: .access(AccessID(index)))
      for effect in arbiter.accessRequested(AccessID(count + index), request, at: 0) {
        guard case .fail(let id, .deadlock(let members)) = effect else { continue }
        failures.append(id)
        #expect(members.count == Int(2 * count) && index == count - 1)
      }
    }
    #expect(failures == [AccessID(2 * count - 1)])
  }

  @Test("10,000 unrelated waiters are granted in order, each when its own holder lets go")
  func manyWaiters() {
    let count = UInt64(10_000)
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(ClientID(1), name: "pid 1")
    for index in 0..<(2 * count) {
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(index), label: "writer",
        items: [.init(ItemPath("/d/f\(index % count)"), .update)])
      let isGranted = arbiter.accessRequested(AccessID(index), request, at: 0).contains { $0.isGrant }
      if isGranted != (index < count) { Issue.record("access \(index) is granted: \(isGranted)") }
    }
    for index in 0..<(2 * count) {
      let granted = arbiter.accessReleased(AccessID(index), at: 0).count { $0.isGrant }
      if granted != (index < count ? 1 : 0) { Issue.record("\(granted) accesses follow access \(index)") }
    }
    #expect(arbiter.isQuiescent)
  }

  // Each wake-up passes all later requests, so a queue costs the square of its length.
  @Test("300 waiters of one file are granted one after the other")
  func oneQueue() {
    let count = UInt64(300)
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(ClientID(1), name: "pid 1")
    for index in 0..<count {
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(index), label: "writer", items: [.init("/d/f", .update)])
      _ = arbiter.accessRequested(AccessID(index), request, at: 0)
    }
    for index in 0..<count { _ = arbiter.accessReleased(AccessID(index), at: 0) }
    #expect(arbiter.isQuiescent)
  }
}

extension Effect {
  var isGrant: Bool {
    if case .grant = self { return true }
    return false
  }
}
