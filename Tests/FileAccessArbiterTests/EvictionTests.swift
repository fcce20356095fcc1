import Testing

@testable import FileAccessArbiter

@Suite("Eviction")
struct EvictionTests {
  @Test("C-208: Eviction of an item whose presenter lacks the eviction callback fails")
  func missingCallback() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: PresenterCallbacks.all.subtracting(.accommodateEviction))
    let eviction = harness.write("/d/f", .evicting)
    #expect(harness.failure(of: eviction) == .evictionRefused(presenterLabel: "P1", isCallbackMissing: true))
    #expect(harness.taken(presenter).isEmpty)
    harness.finish()
  }

  @Test(
    "C-209: Eviction proceeds when every presenter, inside too, has removed itself and answered",
    arguments: ["/d", "/d/x/f"])
  func everybodyLeaves(presented: String) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: ItemPath(presented))
    let eviction = harness.write("/d", .evicting)
    #expect(harness.isRunning(presenter, .accommodateEviction) && harness.isWaiting(eviction))
    harness.remove(presenter)
    #expect(harness.isWaiting(eviction), "it may still be saving")
    harness.answer(presenter)
    #expect(harness.isGranted(eviction))
    harness.finish()
  }

  @Test("C-209: A presenter that removes itself and then fails, because it couldn't save, vetoes the eviction")
  func errorAfterRemovalIsVeto() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let eviction = harness.write("/d/f", .evicting)
    harness.remove(presenter)
    harness.fail(presenter)
    #expect(harness.failure(of: eviction) != nil && !harness.isGranted(eviction))
    harness.finish()
  }

  @Test("C-209, C-192: A presenter that is removed before it was asked doesn't hold up the eviction")
  func removalBeforeQuestion() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let writer = harness.write("/d/f")
    harness.answer(presenter)
    #expect(harness.isGranted(writer))
    let eviction = harness.write("/d/f", .evicting)
    harness.release(writer)
    #expect(harness.isRunning(presenter, .itemDidChange) && harness.isWaiting(eviction))
    harness.remove(presenter)
    #expect(harness.isGranted(eviction))
    harness.finish()
  }

  @Test("C-209: A presenter whose process ends while it agrees doesn't hold up the eviction")
  func departureWhileAgreeing() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", client: 2)
    let eviction = harness.write("/d/f", .evicting)
    harness.remove(presenter)
    #expect(harness.isWaiting(eviction))
    harness.depart(2)
    #expect(harness.isGranted(eviction))
    harness.finish()
  }

  @Test("C-209: A presenter that answers and stays registered vetoes the eviction")
  func stayingIsVeto() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let eviction = harness.write("/d/f", .evicting)
    harness.answer(presenter)
    #expect(harness.failure(of: eviction) == .evictionRefused(presenterLabel: "P1", isCallbackMissing: false))
    harness.finish()
  }

  @Test("C-209: An error from one of two presenters vetoes the eviction")
  func errorIsVeto() {
    let harness = ArbiterHarness()
    let agreeing = harness.presenter(at: "/d/f")
    let refusing = harness.presenter(at: "/d/f")
    let eviction = harness.write("/d/f", .evicting)
    harness.remove(agreeing)
    harness.fail(refusing)
    #expect(harness.failure(of: eviction) != nil && !harness.isGranted(eviction))
    harness.finish()
  }

  @Test("C-208: A presenter without the callback that comes while others are asked vetoes as well")
  func newcomerVetoes() {
    let harness = ArbiterHarness()
    _ = harness.presenter(at: "/d/f")
    let eviction = harness.write("/d/f", .evicting)
    #expect(harness.isWaiting(eviction))
    _ = harness.presenter(at: "/d/f", callbacks: .itemDidChange)
    #expect(harness.failure(of: eviction) == .evictionRefused(presenterLabel: "P2", isCallbackMissing: true))
    harness.finish()
  }

  @Test("C-208: A presenter that turns out not to have the callback vetoes, asked or not", arguments: [true, false])
  func learnedVeto(hasBegun: Bool) {
    let harness = ArbiterHarness()
    var callbacks: PresenterCallbacks = .accommodateEviction
    callbacks.presumed = .accommodateEviction
    let presenter = harness.presenter(at: "/d/f", callbacks: callbacks)
    let eviction = harness.write("/d/f", .evicting)
    if hasBegun { harness.apply(.began(harness.top(presenter) ?? MessageID(0))) }
    harness.apply(.learned(presenter, []))
    if hasBegun { harness.answer(presenter) }
    #expect(harness.failure(of: eviction) == .evictionRefused(presenterLabel: "P1", isCallbackMissing: true))
    harness.finish()
  }

  @Test("C-209: A presenter that doesn't answer in time isn't passed over")
  func lateIsVeto() {
    let harness = ArbiterHarness()
    _ = harness.presenter(at: "/d/f")
    let eviction = harness.request(
      [.init("/d/f", .write(.evicting))], limits: .init(answering: 5)
    ) { $0.proceedsWithoutLateAnswers = true }
    harness.fire(.answering, of: eviction)
    #expect(harness.failure(of: eviction) != nil && !harness.isGranted(eviction))
    harness.finish()
  }
}
