import Testing

@testable import FileAccessArbiter

@Suite("Deadlines and bounds, C-314")
struct DeadlineTests {
  private let limits = AccessRequest.Limits(waiting: 10, answering: 20, reporting: 3)

  @Test("C-314: A wait for another access ends at its deadline with an error that names the holder")
  func waitingTimesOut() {
    let harness = ArbiterHarness()
    let holder = harness.write("/d/f")
    let waiter = harness.write("/d/f", limits: limits)
    let behind = harness.read("/d/f")
    harness.fire(.waiting, of: waiter)
    guard case .timedOut(_, let blockers) = harness.failure(of: waiter), case .access(let blocker) = blockers.first
    else { return harness.record("no reason") }
    #expect(blocker.id == holder && harness.isWaiting(behind))
    #expect(harness.world.timers.isEmpty)
    harness.finish()
  }

  @Test(
    "C-314: A wait for answers has a deadline of its own; with it passed the access fails, or goes on if told to",
    arguments: [true, false])
  func answersAreLate(proceeds: Bool) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let reader = harness.request([.init("/d/f", .read)], limits: limits) { $0.proceedsWithoutLateAnswers = proceeds }
    harness.fire(.answering, of: reader)
    if proceeds {
      #expect(harness.world.grants[reader]?.unanswered == ["P1 (relinquishPresentedItem(toReader:))"])
    } else {
      guard case .unanswered(_, let blockers, _) = harness.failure(of: reader),
        case .message(let message) = blockers.first
      else { return harness.record("no reason") }
      #expect(message.presenter == presenter)
    }
    harness.answer(presenter, hasReacquirer: true)
    harness.finish()
    #expect(harness.deliveries(presenter).last?.kind.callbackName == "reacquirer")
  }

  @Test(
    "C-141, C-187: The body of a preparation, and accesses to that item inside, say which presenter it did without",
    arguments: [true, false])
  func preparedWithoutAnswer(isStopped: Bool) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", client: 2)
    let other = harness.presenter(at: "/d/g", client: 1)
    let batch = harness.request([.init("/d", .read)], limits: limits) {
      $0.isPreparation = true
      $0.proceedsWithoutLateAnswers = !isStopped
      $0.limits.stoppedPresenters = 0
    }
    harness.answer(other)
    if isStopped { harness.stop([2], after: 1) } else { harness.fire(.answering, of: batch) }
    let late = ["P1 (savePresentedItemChanges)"]
    #expect(harness.world.grants[batch]?.unanswered == late)
    let inner = AccessRequest.Item("/d/f", .read(withoutChanges: true))
    let (read, beside) = (
      harness.request([inner], inside: .access(batch)),
      harness.request([.init("/d/g", .read(withoutChanges: true))], inside: .access(batch))
    )
    harness.answer(presenter)
    harness.answerAll()
    #expect(harness.world.grants[read]?.unanswered == late)
    #expect(harness.world.grants[beside]?.unanswered == [])
    harness.release(read)
    harness.release(beside)
    harness.release(batch)
    harness.finish()
  }

  @Test("Waiting and answering are timed one after the other, and a grant cancels the timers")
  func phases() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    let holder = harness.write("/d/f")
    let reader = harness.read("/d/f", limits: limits)
    #expect(Set(harness.world.timers.map(\.purpose)) == [.waiting, .reporting])
    harness.release(holder)
    #expect(Set(harness.world.timers.map(\.purpose)) == [.answering, .reporting])
    harness.answer(presenter)
    #expect(harness.isGranted(reader) && harness.world.timers.isEmpty)
    harness.finish()
  }

  @Test("A wait is reported again and again, with who is in the way")
  func reports() {
    let harness = ArbiterHarness()
    harness.write("/d/f")
    let waiter = harness.write("/d/f", limits: limits)
    harness.fire(.reporting, of: waiter)
    harness.fire(.reporting, of: waiter)
    #expect(harness.world.reports.count == 2)
    #expect(harness.world.reports.allSatisfy { $0.waiter.id == waiter && $0.blockers.count == 1 })
    harness.finish()
  }

  @Test("A timer of an earlier phase, or of an access that has ended, changes nothing")
  func lateTimer() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    let holder = harness.write("/d/f")
    let reader = harness.read("/d/f", limits: limits)
    guard let timer = harness.world.timers.first(where: { $0.purpose == .waiting }) else {
      return harness.record("no timer")
    }
    harness.release(holder)
    #expect(harness.apply(.fire(timer)).isEmpty)
    harness.answer(presenter)
    harness.release(reader)
    #expect(harness.apply(.fire(timer)).isEmpty)
    harness.finish()
  }

  @Test("A full mailbox folds further messages, and says how many")
  func folding() {
    let limit = FileAccessArbiter.pendingMessageCountMax
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(ClientID(1), name: "pid 1")
    let registration = PresenterRegistration(
      client: ClientID(1), purpose: PurposeID(0), label: "P", callbacks: [.subitemDidChange, .relinquishToReader],
      path: "/k.pkg")
    _ = arbiter.presenterAdded(PresenterID(1), registration, at: 0)
    var first: MessageID?
    for index in 1...UInt64(limit + 8) {
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(index), label: "writer", items: [.init("/k.pkg/a", .update)])
      _ = arbiter.accessRequested(AccessID(index), request, at: 0)
      for case .deliver(let delivery) in arbiter.accessReleased(AccessID(index), at: 0) { first = delivery.message }
    }
    #expect(arbiter.snapshot(at: 0).presenters.first?.pendingCount == limit)
    guard let first else {
      Issue.record("nothing was delivered")
      return
    }
    for case .deliver(let delivery) in arbiter.messageAnswered(first, at: 0) {
      #expect(delivery.origin.folded == 7)
    }
    #expect(arbiter.invariants().isEmpty)
  }

  @Test("Callbacks of one presenter nest as deep as the limit; one more is a deadlock")
  func nesting() {
    // Each relinquish callback reads /g.i, whose holder's accessor reads /f and so asks the presenter again.
    let harness = ArbiterHarness(packages: [])
    let presenter = harness.presenter(at: "/f", callbacks: [.relinquishToReader])
    var reads = [harness.read("/f")]
    var failed: [AccessID] = []
    for depth in 1...FileAccessArbiter.callbackNestingMax {
      guard let callback = harness.top(presenter) else { return harness.record("not asked") }
      let path = ItemPath("/g\(depth)")
      let holder = harness.write(path)
      let inner = harness.read("/f", inside: .access(holder))
      let waiting = harness.read(path, inside: .message(callback))
      reads.append(inner)
      failed = [inner, waiting].filter(harness.isDeadlocked)
      let isLast = depth == FileAccessArbiter.callbackNestingMax
      #expect(harness.world.callbacks[presenter]?.count == (isLast ? depth : depth + 1))
      #expect(failed.isEmpty == !isLast)
    }
    #expect(failed.count == 1)
  }
}
