import Testing

@testable import FileAccessArbiter

@Suite("Presenters of which nobody knows what they implement")
struct PresumptionTests {
  private func presuming(_ presumed: PresenterCallbacks, _ known: PresenterCallbacks = []) -> PresenterCallbacks {
    var callbacks = known.union(presumed)
    callbacks.presumed = presumed
    return callbacks
  }

  @Test("A question that the queue doesn't begin is waited for a second, and a save for five in all")
  func passedOver() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(
      at: "/f", callbacks: presuming([.relinquishToReader, .saveChanges], .itemDidChange))
    let reader = harness.read("/f")
    let relinquish = harness.top(presenter)
    #expect(harness.beginningDelays == [1_000_000_000])
    harness.fire(.beginning, of: reader, after: 1_000_000_000)
    #expect(harness.isWaiting(reader))
    #expect(harness.beginningDelays == [1_000_000_000, 4_000_000_000])
    harness.fire(.beginning, of: reader, after: 4_000_000_000)
    #expect(harness.isGranted(reader))
    let unanswered = harness.world.grants[reader]?.unanswered ?? []
    #expect(
      unanswered == [
        "P1 (relinquishPresentedItem(toReader:)): its queue didn't begin it within 1 s",
        "P1 (savePresentedItemChanges): its queue didn't begin it within 5 s",
      ])
    // The messages come when the queue runs, and the reacquirer after the reader's end.
    _ = harness.taken(presenter)
    harness.apply(.answer(relinquish ?? MessageID(0), hasReacquirer: true))
    let late = harness.deliveries(presenter)
    #expect(late.map(\.kind) == [.saveChanges] && late.allSatisfy(\.origin.wasPassedOver))
    harness.answer(presenter)
    #expect(harness.taken(presenter).isEmpty)
    harness.release(reader)
    #expect(harness.taken(presenter).count == 1)
    harness.finish()
  }

  @Test("After a standstill of the process, in which no queue could run, the wait begins anew")
  func standstill() {
    let harness = ArbiterHarness()
    _ = harness.presenter(at: "/f", callbacks: presuming([.relinquishToReader, .saveChanges]))
    let reader = harness.read("/f")
    // It was stopped for a minute, and then once more for a little less than counts.
    harness.fire(.beginning, of: reader, after: 60_000_000_000)
    #expect(harness.isWaiting(reader))
    #expect(harness.beginningDelays == [1_000_000_000, 1_000_000_000])
    harness.fire(.beginning, of: reader, after: 1_250_000_000)
    #expect(harness.isWaiting(reader), "the save is waited for as well")
    #expect(harness.beginningDelays.last == 3_750_000_000)
    harness.fire(.beginning, of: reader, after: 3_750_000_000)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("A callback that has begun is waited for as ever, and so is a known one")
  func begun() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: presuming(.relinquishToWriter, .saveChanges))
    let limits = AccessRequest.Limits(waiting: 1, answering: 60_000_000_000)
    let writer = harness.write("/f", .merging, limits: limits)
    harness.apply(.began(harness.top(presenter) ?? MessageID(0)))
    harness.fire(.beginning, of: writer, after: 1_000_000_000)
    #expect(harness.isWaiting(writer))
    harness.answer(presenter)
    #expect(harness.isRunning(presenter, .saveChanges))
    #expect(!harness.world.timers.contains { $0.purpose == .beginning })
    harness.fire(.answering, of: writer)
    guard case .unanswered = harness.failure(of: writer) else { return harness.record("not failed") }
    harness.finish()
  }

  @Test("Not knowing fails nobody: a deadline that passes first passes over those who may have nothing to answer")
  func deadline() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: presuming([.relinquishToReader, .saveChanges]))
    let reader = harness.read("/f", limits: AccessRequest.Limits(answering: 20))
    harness.fire(.answering, of: reader)
    #expect(harness.isGranted(reader))
    #expect(harness.world.grants[reader]?.unanswered.count == 2)
    _ = presenter
    harness.finish()
  }

  @Test("A callback that turns out not to be written isn't waited for any more, also of other objects of the class")
  func learned() {
    let harness = ArbiterHarness()
    let callbacks = presuming([.relinquishToReader, .relinquishToWriter])
    let presenters = [0, 1].map { _ in harness.presenter(at: "/f", callbacks: callbacks) }
    let reader = harness.read("/f")
    harness.apply(.began(harness.top(presenters[0]) ?? MessageID(0)))
    for presenter in presenters { harness.apply(.learned(presenter, presuming(.relinquishToWriter))) }
    harness.answer(presenters[0])
    #expect(harness.isGranted(reader), "the other's queue hasn't begun, and needn't")
    harness.release(reader)
    #expect(harness.isGranted(harness.read("/f")))
    harness.finish()
  }

  @Test("A callback that a blocked queue keeps from beginning delays an access only while nobody knows the class")
  func behindNews() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: presuming(.relinquishToWriter, .itemDidChange))
    let first = harness.write("/f")
    harness.answer(presenter)
    harness.release(first)
    #expect(harness.isRunning(presenter, .itemDidChange))
    let second = harness.write("/f")
    harness.fire(.beginning, of: second, after: 1_000_000_000)
    #expect(harness.isGranted(second))
    harness.apply(.learned(presenter, .itemDidChange))
    harness.release(second)
    #expect(harness.isGranted(harness.write("/f")))
    harness.finish()
  }

  @Test("A message about an access that didn't wait says so, and so does a report of the wait")
  func origins() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: presuming(.relinquishToWriter, .itemDidChange))
    let other = harness.presenter(at: "/f", callbacks: [.relinquishToWriter, .itemDidChange])
    let writer = harness.write("/f", limits: AccessRequest.Limits(reporting: 1))
    harness.fire(.beginning, of: writer, after: 1_000_000_000)
    harness.fire(.reporting, of: writer)
    #expect(
      harness.world.reports.last?.passedOver == [
        "P1 (relinquishPresentedItem(toWriter:)): its queue didn't begin it within 1 s"
      ])
    harness.answer(other)
    harness.release(writer, .changed)
    harness.answer(presenter)
    #expect(harness.deliveries(presenter).last?.origin.wasPassedOver == true)
    #expect(harness.deliveries(other).last?.origin.wasPassedOver == false)
    harness.finish()
  }
}
