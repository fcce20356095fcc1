import Testing

@testable import FileAccessArbiter

@Suite("Batches and cancelling")
struct NestingTests {
  @Test("C-135: A preparation grants nothing: others may write a listed item meanwhile")
  func preparationClaimsNothing() {
    let harness = ArbiterHarness()
    let batch = harness.prepare([.init("/d/f", .read)])
    #expect(harness.isGranted(batch) && harness.isGranted(harness.write("/d/f")))
    #expect(harness.isGranted(harness.prepare([.init("/d/f", .update)])))
    harness.finish()
  }

  @Test("C-136, C-137: Preparing to read d sends save, without relinquish, to presenters of d and of d/x/f")
  func preparationAsksInside() {
    let harness = ArbiterHarness()
    let presenters = [ItemPath("/d"), "/d/x/f"].map { harness.presenter(at: $0) }
    let batch = harness.prepare([.init("/d", .read)])
    harness.answerAll()
    for presenter in presenters { #expect(harness.taken(presenter) == [.saveChanges]) }
    #expect(harness.isGranted(batch))
    harness.finish()
  }

  @Test("C-137: Preparing to delete sends accommodate, without relinquish")
  func preparationOfDeletion() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let batch = harness.prepare([.init("/d", .write(.deleting))])
    harness.answerAll()
    #expect(harness.taken(presenter) == [.accommodateDeletion])
    harness.release(batch)
    #expect(harness.taken(presenter).isEmpty, "nothing was written")
    harness.finish()
  }

  @Test("C-139: A presenter's error fails the preparation")
  func preparationFails() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let batch = harness.prepare([.init("/d", .read)])
    harness.fail(presenter)
    guard case .presenterFailed = harness.failure(of: batch) else { return harness.record("not failed") }
    harness.finish()
  }

  @Test("C-141: Inner reads without changes send no second save")
  func innerReads() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let batch = harness.prepare([.init("/d", .read)])
    harness.answerAll()
    let inner = harness.read("/d/f", withoutChanges: true, inside: .access(batch))
    harness.answerAll()
    #expect(harness.isGranted(inner) && harness.taken(presenter) == [.saveChanges, .relinquishToReader])
    harness.release(inner)
    harness.finish()
  }

  @Test("C-160, C-167: A cancelled queued writer fails and blocks nobody any more")
  func cancelQueued() {
    // reader A  [-----]
    // writer      w·x
    // reader B      r[--]
    let harness = ArbiterHarness()
    harness.read("/d/f")
    let writer = harness.write("/d/f")
    let reader = harness.read("/d/f")
    #expect(harness.isWaiting(reader))
    harness.cancel(writer)
    #expect(harness.failure(of: writer) == .cancelled && harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-161: A granted access that is cancelled runs to its end")
  func cancelGranted() {
    let harness = ArbiterHarness()
    let writer = harness.write("/d/f")
    harness.cancel(writer)
    #expect(harness.isGranted(writer) && harness.isWaiting(harness.read("/d/f")))
    harness.finish()
  }

  @Test("C-164, C-165: After cancelling nobody waits for the answer, and the reacquirer runs once all the same")
  func cancelWhileAsking() {
    let harness = ArbiterHarness()
    let early = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader, .saveChanges])
    let late = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    let reader = harness.read("/d/f")
    guard let first = harness.top(early), let second = harness.top(late) else { return harness.record("not asked") }
    harness.answer(early, hasReacquirer: true)
    harness.cancel(reader)
    #expect(harness.failure(of: reader) == .cancelled)
    harness.answer(early)
    harness.answer(late, hasReacquirer: true)
    #expect(harness.taken(early) == [.relinquishToReader, .saveChanges, .reacquire(first)])
    #expect(harness.taken(late) == [.relinquishToReader, .reacquire(second)])
    harness.finish()
  }

  @Test("C-164: A question that no presenter has seen yet is taken back")
  func cancelBeforeDelivery() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader, .itemDidChange])
    harness.release(harness.write("/d/f"))
    let reader = harness.read("/d/f")
    harness.cancel(reader)
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.itemDidChange])
    harness.finish()
  }

  @Test("C-166: Cancelling one access doesn't disturb another on the same item")
  func cancelOne() {
    let harness = ArbiterHarness()
    let holder = harness.write("/d/f")
    let (one, other) = (harness.write("/d/f"), harness.write("/d/f"))
    harness.cancel(one)
    harness.cancel(one)
    harness.release(holder)
    #expect(harness.isGranted(other))
    harness.finish()
  }

  @Test("C-188: An answer that comes twice has no effect the second time")
  func answeredTwice() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    harness.read("/d/f")
    guard let message = harness.top(presenter) else { return harness.record("not asked") }
    harness.answer(presenter)
    #expect(harness.apply(.answer(message, hasReacquirer: false)).isEmpty)
    #expect(harness.apply(.failMessage(message)).isEmpty)
    harness.finish()
  }

  @Test("C-186: A dropped handler is an answer with an error: the access fails instead of hanging")
  func droppedHandler() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let reader = harness.read("/d/f")
    harness.fail(presenter)
    guard case .presenterFailed = harness.failure(of: reader) else { return harness.record("not failed") }
    harness.finish()
  }
}

@Suite("Registration and departures")
struct RegistrationTests {
  @Test("C-191: After it's removed a presenter gets nothing new")
  func nothingAfterRemoval() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    harness.remove(presenter)
    harness.release(harness.write("/d/f"))
    #expect(harness.taken(presenter).isEmpty && harness.world.forgotten == [presenter])
    harness.finish()
  }

  @Test("C-192: Removing a presenter that owes an answer releases those who wait for it")
  func removalReleases() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let readers = [harness.read("/d/f"), harness.read("/d/f")]
    harness.remove(presenter)
    #expect(readers.allSatisfy(harness.isGranted))
    harness.finish()
  }

  @Test("C-193: A presenter registered inside a read of its item misses nothing afterwards")
  func registeredInside() {
    let harness = ArbiterHarness()
    let reader = harness.read("/d/f")
    let writer = harness.write("/d/f")
    let presenter = harness.presenter(at: "/d/f")
    harness.release(reader)
    #expect(harness.taken(presenter) == [.relinquishToWriter])
    harness.answer(presenter)
    harness.release(writer, .changed)
    #expect(harness.taken(presenter) == [.itemDidChange])
    harness.finish()
  }

  @Test("C-194: A presenter registered during an access isn't asked about it any more")
  func registeredLate() {
    let harness = ArbiterHarness()
    let writer = harness.write("/d/f")
    let presenter = harness.presenter(at: "/d/f")
    #expect(harness.taken(presenter).isEmpty && harness.isGranted(writer))
    harness.finish()
  }

  @Test(
    "C-308: A presenter registered while an access is asking or ready is asked before the grant",
    arguments: [true, false])
  func registeredWhileAsking(isInside: Bool) {
    let harness = ArbiterHarness()
    let first = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter])
    let writer = harness.write("/d", .deleting)
    let second = harness.presenter(at: isInside ? "/d/x/g" : "/d", callbacks: [.relinquishToWriter])
    let spared = harness.presenter(at: "/", callbacks: [.relinquishToWriter])
    #expect(harness.taken(second) == [.relinquishToWriter] && harness.taken(spared).isEmpty)
    harness.answer(first)
    #expect(harness.isWaiting(writer))
    harness.answer(second)
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-187: When a process dies its presenters hold up nobody, and what they're owed lapses")
  func deadPresenter() {
    let harness = ArbiterHarness()
    let dead = harness.presenter(at: "/d/f", client: 2)
    let alive = harness.presenter(at: "/d/f")
    let reader = harness.read("/d/f", withoutChanges: true)
    harness.answer(dead, hasReacquirer: true)
    harness.depart(2)
    harness.answer(alive, hasReacquirer: true)
    #expect(harness.isGranted(reader))
    harness.release(reader)
    #expect(harness.taken(dead) == [.relinquishToReader])
    harness.finish()
  }

  @Test("C-027: The presenters that a dead writer asked hear of a change and get their reacquirers")
  func deadWriter() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter, .itemDidChange])
    harness.write("/d/f", client: 2)
    guard let message = harness.top(presenter) else { return harness.record("not asked") }
    harness.answer(presenter, hasReacquirer: true)
    harness.depart(2)
    harness.answerAll()
    #expect(harness.taken(presenter) == [.relinquishToWriter, .itemDidChange, .reacquire(message)])
    harness.finish()
  }
}
