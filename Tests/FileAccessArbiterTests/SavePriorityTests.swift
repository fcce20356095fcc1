import CompactContainers
import Testing

@testable import FileAccessArbiter

@Suite("Save priority, C-119 and C-307")
struct SavePriorityTests {
  /// A presenter of /d/f that was asked to save by a reader.
  private func saving(_ harness: ArbiterHarness) -> (presenter: PresenterID, reader: AccessID) {
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader, .saveChanges])
    let reader = harness.read("/d/f")
    harness.answer(presenter)
    #expect(harness.isRunning(presenter, .saveChanges))
    return (presenter, reader)
  }

  @Test("C-119: A write by C(P) while P saves is granted at once, and the reader goes on after save and write")
  func ownWriteGoesAhead() {
    // reader A     r·· asks P to save ··············[--]
    // C(P) write              w[---]
    // P's save           [-----------]
    let harness = ArbiterHarness()
    let (presenter, reader) = saving(harness)
    let write = harness.write("/d/f", own: presenter)
    #expect(harness.isGranted(write))
    harness.answer(presenter)
    #expect(harness.isWaiting(reader), "the write still runs")
    harness.release(write)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-119: A write by C(P) that was requested before P is asked passes the reader when P is asked")
  func ownWriteRequestedEarly() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader, .saveChanges])
    let holder = harness.write("/d/f")
    let reader = harness.read("/d/f")
    let write = harness.write("/d/f", own: presenter)
    #expect(harness.isWaiting(write))
    harness.release(holder)
    #expect(harness.isGranted(write) && harness.isWaiting(reader))
    harness.finish()
  }

  @Test("C-120: A write tied to nobody passes by lineage inside the save callback, and waits outside of it")
  func foreignWriteDuringSave() {
    let harness = ArbiterHarness()
    let (presenter, reader) = saving(harness)
    guard let save = harness.top(presenter) else { return harness.record("no save") }
    let outside = harness.write("/d/f", limits: .init(waiting: 5))
    let inside = harness.write("/d/f", inside: .message(save))
    #expect(harness.isWaiting(outside) && harness.isGranted(inside))
    harness.release(inside)
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-120: A reader whose presenter waits for a foreign write ends by its deadline, which names both")
  func foreignWriteOutside() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.saveChanges])
    let reader = harness.read("/d/f", limits: .init(answering: 5))
    let write = harness.write("/d/f")
    #expect(harness.isWaiting(write))
    harness.fire(.answering, of: reader)
    guard case .unanswered(_, let blockers, let followers) = harness.failure(of: reader),
      case .message(let message) = blockers.first, case .access(let follower) = followers.first
    else { return harness.record("no reason") }
    #expect(message.presenter == presenter && follower.id == write)
    #expect(harness.isGranted(write))
    harness.finish()
  }

  @Test("C-123: C(P)'s write in response to save asks the other presenters of the item")
  func othersAreAsked() {
    let harness = ArbiterHarness()
    let other = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter])
    let (presenter, _) = saving(harness)
    let write = harness.write("/d/f", own: presenter)
    #expect(harness.taken(other) == [.relinquishToWriter] && harness.isWaiting(write))
    harness.answer(other)
    #expect(harness.isGranted(write))
    harness.finish()
  }

  @Test("C-307: While a presenter owes a save its writes overtake only what waits for that save")
  func onlyThoseWhoWait() {
    let harness = ArbiterHarness()
    let holder = harness.write("/d/g")
    let queued = harness.write("/d/g")
    let (presenter, reader) = saving(harness)
    let write = harness.request([.init("/d/f", .update), .init("/d/g", .update)], own: presenter)
    harness.release(holder)
    #expect(harness.isGranted(queued) && harness.isWaiting(write))
    harness.release(queued)
    #expect(harness.isGranted(write) && harness.isWaiting(reader))
    harness.finish()
  }

  @Test("C-307: A save that waits for a third item doesn't pass a reader whose end it waits for")
  func noPriorityAgainstOneself() {
    // P's save needs /d/g, whose holder reads /d/f inside: that reader must come first, although it will ask P too.
    let harness = ArbiterHarness()
    let (presenter, first) = saving(harness)
    guard let save = harness.top(presenter) else { return harness.record("no save") }
    let holder = harness.write("/d/g")
    let reader = harness.read("/d/f", inside: .access(holder))
    let write = harness.request(
      [.init("/d/f", .update), .init("/d/g", .update)], own: presenter, inside: .message(save))
    #expect(harness.failure(of: write) == nil)
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(harness.isGranted(reader), "asked re-entrantly, while the save waits")
    harness.release(reader)
    harness.release(holder)
    #expect(harness.isGranted(write) && harness.isWaiting(first))
    harness.finish()
  }

  @Test("C-307: A third item whose holder waits for the reader is waited for: accesses nested in it pass the reader")
  func thirdItemWouldCloseACycle() {
    // The holder of /d/g writes /d/f inside and would wait for the reader, which waits for the save, which needs /d/g.
    let harness = ArbiterHarness()
    let (presenter, reader) = saving(harness)
    let holder = harness.write("/d/g")
    let inner = harness.write("/d/f", inside: .access(holder))
    let write = harness.request([.init("/d/f", .update), .init("/d/g", .update)], own: presenter)
    #expect(harness.isWaiting(write) && harness.isGranted(inner))
    harness.release(inner)
    harness.release(holder)
    #expect(harness.isGranted(write) && harness.isWaiting(reader))
    harness.finish()
  }

  @Test("C-307: A third item that closes a cycle fails the save with a deadlock")
  func thirdItemClosesACycle() {
    // The holder of /d/g reads /d/f inside and so waits for a save of its own, which needs /d/g like the first one.
    let harness = ArbiterHarness()
    let (presenter, reader) = saving(harness)
    let holder = harness.write("/d/g")
    let write = harness.request([.init("/d/f", .update), .init("/d/g", .update)], own: presenter)
    #expect(harness.isWaiting(write))
    let inner = harness.read("/d/f", inside: .access(holder))
    while harness.isRunning(presenter, .relinquishToReader) { harness.answer(presenter) }
    #expect(harness.isDeadlocked(write) && harness.isWaiting(inner))
    harness.fail(presenter)
    harness.fail(presenter)
    for access in [reader, inner] {
      guard case .presenterFailed = harness.failure(of: access) else { return harness.record("\(access) goes on") }
    }
    harness.finish()
  }

  @Test("A presenter isn't asked to save in the middle of its own save: the write passes all who ask for that")
  func noSaveInsideASave() {
    // Presenters save one after the other, so a second callback would wait for the first, unknown to the arbiter.
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: .saveChanges)
    let readers = (1...3).map { _ in harness.read("/d/f") }
    guard let save = harness.top(presenter) else { return harness.record("no save") }
    #expect(harness.taken(presenter) == [.saveChanges])
    let write = harness.write("/d/f", own: presenter, inside: .message(save))
    #expect(harness.isGranted(write) && harness.taken(presenter).isEmpty)
    harness.release(write)
    harness.answer(presenter)
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(readers.allSatisfy(harness.isGranted))
    harness.finish()
  }

  @Test("Nor to let go of its item: that question waits for the end of the save")
  func noDeletionInsideASave() {
    // holder       [-----------]
    // reader       r·· asks P to save ··········[--]
    // C(P) write      w········[--]
    // preparation       asks P ·················[--]   of a deletion, beside all locks
    // P's save       [-----------------]
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.saveChanges, .accommodateDeletion])
    let holder = harness.read("/d/f", withoutChanges: true)
    _ = harness.read("/d/f")
    guard let save = harness.top(presenter) else { return harness.record("no save") }
    let write = harness.write("/d/f", own: presenter, inside: .message(save))
    #expect(harness.isWaiting(write) && harness.taken(presenter) == [.saveChanges])
    let deletion = harness.prepare([.init("/d/f", .deleting)])
    #expect(harness.taken(presenter).isEmpty)
    harness.release(holder)
    #expect(harness.isGranted(write))
    harness.release(write)
    harness.answer(presenter)
    #expect(harness.isRunning(presenter, .accommodateDeletion))
    harness.answer(presenter)
    #expect(harness.isGranted(deletion))
    harness.finish()
  }

  @Test("Two presenters that save by merging ask each other once, not for ever")
  func mutualMergingSaves() {
    let harness = ArbiterHarness()
    let one = harness.presenter(at: "/d/f", callbacks: .saveChanges)
    let two = harness.presenter(at: "/d/f", callbacks: .saveChanges)
    let reader = harness.read("/d/f")
    guard let saveOfOne = harness.top(one) else { return harness.record("no save") }
    let mergeOfOne = harness.write("/d/f", .merging, own: one, inside: .message(saveOfOne))
    // The reader has asked two already; one's merging write waits for it to save, too.
    guard let saveOfTwo = harness.top(two) else { return harness.record("no save") }
    let mergeOfTwo = harness.write("/d/f", .merging, own: two, inside: .message(saveOfTwo))
    while harness.isWaiting(reader) {
      let runnable = [mergeOfOne, mergeOfTwo].filter(harness.isGranted)
      if let done = runnable.first(where: { harness.world.arbiter.accesses.contains($0) }) {
        harness.release(done)
      } else {
        harness.answerAll()
      }
    }
    #expect(harness.failure(of: reader) == nil && harness.failure(of: mergeOfOne) == nil)
    #expect(harness.failure(of: mergeOfTwo) == nil)
    harness.finish()
  }

  @Test(
    "C-119, C-113: A request by a coordinator of P, made before P registered, passes those that ask P to save",
    arguments: [true, false])
  func registeredLater(isNamed: Bool) {
    let harness = ArbiterHarness()
    let holder = harness.write("/f")
    let reader = harness.read("/f")
    let own = harness.request(
      [.init("/f", .write(.update))], purpose: PurposeID(501), own: isNamed ? PresenterID(1) : nil)
    let presenter = harness.presenter(at: "/f", callbacks: .saveChanges, purpose: PurposeID(501))
    harness.release(holder)
    #expect(harness.isRunning(presenter, .saveChanges) && harness.isGranted(own) && harness.isWaiting(reader))
    harness.release(own)
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-119: An access that P's save is presumed to need, and that can't pass who asks, fails as deadlocked")
  func priorityThatWouldDeadlock() {
    // holder H     [-----------------------]
    // X inside H      asks P ·······[--]        to pass X would be to wait for H, which waits for X
    // C(P) write        w·····x
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter, .saveChanges])
    let holder = harness.read("/d/f", withoutChanges: true)
    let inner = harness.write("/d/f", .merging, inside: .access(holder))
    let own = harness.write("/d/f", own: presenter)
    harness.answer(presenter)
    #expect(harness.isRunning(presenter, .saveChanges) && harness.isDeadlocked(own))
    harness.answer(presenter)
    #expect(harness.isGranted(inner))
    harness.release(inner)
    harness.release(holder)
    harness.finish()
  }
}
