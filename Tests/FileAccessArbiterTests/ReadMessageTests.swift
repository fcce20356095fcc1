import Testing

@testable import FileAccessArbiter

@Suite("Messages of reads")
struct ReadMessageTests {
  @Test("C-030: A read sends relinquish, then save, and is granted after both answers")
  func readAsksTwice() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let reader = harness.read("/d/f")
    #expect(harness.taken(presenter) == [.relinquishToReader] && harness.isWaiting(reader))
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.saveChanges] && harness.isWaiting(reader))
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-031: .withoutChanges sends relinquish and no save")
  func withoutChanges() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let reader = harness.read("/d/f", withoutChanges: true)
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.relinquishToReader] && harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-032, C-195: The accessor doesn't start before every presenter has answered everything", arguments: 0..<3)
  func everyPresenter(last: Int) {
    let harness = ArbiterHarness()
    let presenters = (0..<3).map { _ in harness.presenter(at: "/d/f") }
    let reader = harness.read("/d/f")
    for index in presenters.indices where index != last {
      harness.answer(presenters[index])
      harness.answer(presenters[index])
    }
    #expect(harness.isWaiting(reader))
    harness.answer(presenters[last])
    #expect(harness.isWaiting(reader))
    harness.answer(presenters[last])
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-033: Reading k.pkg/a asks presenters of k.pkg/a, of k.pkg and of packages around it")
  func packages() {
    let harness = ArbiterHarness()
    let asked = [ItemPath("/o.pkg/k.pkg/a"), "/o.pkg/k.pkg", "/o.pkg"].map { harness.presenter(at: $0) }
    let spared = [ItemPath("/"), "/o.pkg/k.pkg/b", "/o.pkg/k.pkg/a/x"].map { harness.presenter(at: $0) }
    harness.read("/o.pkg/k.pkg/a")
    for presenter in asked { #expect(harness.taken(presenter) == [.relinquishToReader]) }
    for presenter in spared { #expect(harness.taken(presenter).isEmpty) }
    harness.finish()
  }

  @Test("C-034, C-035: A read asks neither the presenters of enclosing plain directories nor those inside")
  func directories() {
    let harness = ArbiterHarness()
    let around = harness.presenter(at: "/d")
    let inside = harness.presenter(at: "/d/x/f")
    #expect(harness.isGranted(harness.read("/d/x")))
    #expect(harness.taken(around).isEmpty && harness.taken(inside).isEmpty)
    harness.finish()
  }

  @Test(
    "C-036, C-037: A question that a presenter didn't declare counts as answered",
    arguments: [
      (PresenterCallbacks.relinquishToReader, [Message.Kind.relinquishToReader]), (.saveChanges, [.saveChanges]),
      ([], []), ([.relinquishToWriter, .itemDidChange], []),
    ] as [(PresenterCallbacks, [Message.Kind])])
  func undeclared(callbacks: PresenterCallbacks, expected: [Message.Kind]) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: callbacks)
    let reader = harness.read("/d/f")
    harness.answerAll()
    #expect(harness.taken(presenter) == expected && harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-038: When save fails the access fails with an error that names the message")
  func saveFails() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let reader = harness.read("/d/f")
    harness.answer(presenter, hasReacquirer: true)
    harness.fail(presenter)
    guard case .presenterFailed(_, let summary) = harness.failure(of: reader) else { return harness.record("no error") }
    #expect(summary.presenter == presenter && summary.callback == "savePresentedItemChanges")
    #expect(harness.deliveries(presenter).last?.kind.callbackName == "reacquirer", "C-165: also after a failure")
    harness.finish()
  }

  @Test("C-039, C-040: A reacquirer runs once, after the read; none is fine too", arguments: [true, false])
  func reacquirer(hasReacquirer: Bool) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    let reader = harness.read("/d/f")
    guard let message = harness.top(presenter) else { return harness.record("not asked") }
    harness.answer(presenter, hasReacquirer: hasReacquirer)
    _ = harness.taken(presenter)
    harness.release(reader)
    #expect(harness.taken(presenter) == (hasReacquirer ? [.reacquire(message)] : []))
    harness.finish()
  }

  @Test("C-041: A read tells nobody of a change or move")
  func readsTellNothing() {
    let harness = ArbiterHarness()
    let presenters = [ItemPath("/d/f"), "/d", "/"].map {
      harness.presenter(at: $0, callbacks: [.itemDidChange, .itemDidMove, .subitemDidChange, .subitemDidAppear])
    }
    let reader = harness.read("/d/f")
    #expect(harness.world.grants[reader]?.wantsOutcome == false)
    harness.release(reader, .changed)
    for presenter in presenters { #expect(harness.taken(presenter).isEmpty) }
    harness.finish()
  }

  @Test("C-302: Relinquish is sent for each overlapping reader")
  func eachReader() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    for _ in 0..<2 {
      let reader = harness.read("/d/f")
      harness.answer(presenter, hasReacquirer: true)
      #expect(harness.isGranted(reader))
    }
    #expect(harness.taken(presenter) == [.relinquishToReader, .relinquishToReader])
    harness.finish()
  }

  @Test("C-303: A nested access asks again, but nobody of its own purpose")
  func nestedAsksAgain() {
    let harness = ArbiterHarness()
    let other = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    let own = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    let outer = harness.read("/d/f", own: own)
    harness.answer(other)
    let inner = harness.read("/d/f", own: own, inside: .access(outer))
    harness.answer(other)
    #expect(harness.isGranted(inner))
    #expect(harness.taken(other) == [.relinquishToReader, .relinquishToReader] && harness.taken(own).isEmpty)
    harness.finish()
  }
}
