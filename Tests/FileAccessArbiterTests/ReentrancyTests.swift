import Testing

@testable import FileAccessArbiter

@Suite("Callbacks inside callbacks, D-4")
struct ReentrancyTests {
  /// A presenter inside its did-change callback.
  private func presenterInDidChange(
    _ harness: ArbiterHarness, at path: ItemPath = "/d/f", servesWhileWaiting: Bool = true, isActor: Bool = false
  ) -> (PresenterID, ExecutionContext) {
    let presenter = harness.presenter(
      at: path, callbacks: [.relinquishToReader, .relinquishToWriter, .itemDidChange],
      servesWhileWaiting: servesWhileWaiting, isActor: isActor)
    let writer = harness.write(path)
    harness.answer(presenter)
    harness.release(writer)
    guard let message = harness.top(presenter) else { preconditionFailure("no did-change") }
    _ = harness.taken(presenter)
    return (presenter, .message(message))
  }

  @Test("A presenter is asked while its callback waits in an access that the callback awaits, and only then")
  func servedOnlyWhileWaiting() {
    let harness = ArbiterHarness()
    let (presenter, callback) = presenterInDidChange(harness)
    let holder = harness.write("/g")
    let reader = harness.read("/d/f")
    #expect(harness.taken(presenter).isEmpty, "the callback runs")
    let detached = harness.request([.init("/g", .read)], inside: callback) { $0.isAwaitedByContext = false }
    #expect(harness.taken(presenter).isEmpty, "the callback still runs: it doesn't await that request")
    let awaited = harness.read("/g", inside: callback)
    #expect(harness.deliveries(presenter).map(\.isReentrant) == [true])
    harness.release(holder)
    #expect(harness.isGranted(detached), "nothing of the callback goes on with it")
    #expect(harness.isWaiting(awaited), "a callback runs above the one that would go on")
    harness.answer(presenter)
    #expect(harness.isGranted(awaited) && harness.isGranted(reader))
    harness.release(awaited)
    harness.finish()
  }

  @Test("An access that waits for a callback above doesn't when the access around it ends first")
  func outerAccessEndsFirst() {
    let harness = ArbiterHarness()
    let (presenter, callback) = presenterInDidChange(harness)
    let outer = harness.write("/o", inside: callback)
    let holder = harness.write("/g")
    let reader = harness.read("/d/f")
    let inner = harness.read("/g", inside: .access(outer))
    #expect(harness.deliveries(presenter).map(\.isReentrant) == [true])
    harness.release(holder)
    #expect(harness.isWaiting(inner))
    harness.release(outer)
    #expect(harness.isGranted(inner))
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("When the middle one of three callbacks ends, what waits for the upper one is searched for a cycle")
  func middleEndsFirst() throws {
    let harness = ArbiterHarness()
    let (presenter, callback) = presenterInDidChange(harness)
    let holder = harness.write("/g")
    let outer = harness.write("/o", inside: callback)
    let inner = harness.read("/g", inside: .access(outer))
    _ = harness.read("/d/f")
    let middle = try #require(harness.top(presenter))
    let ended = harness.read("/g", inside: .message(middle))
    _ = harness.read("/d/f")
    let upper = try #require(harness.top(presenter))
    #expect(upper != middle && harness.deliveries(presenter).allSatisfy(\.isReentrant))
    harness.cancel(ended)
    let last = harness.write("/o", inside: .message(upper))
    #expect(harness.isWaiting(inner) && harness.isWaiting(last))
    // From now on the inner access waits for the upper callback, that for the last access, and that for the outer one.
    harness.apply(.answer(middle, hasReacquirer: false))
    #expect([inner, last].filter(harness.isDeadlocked).count == 1)
    harness.release(holder)
    harness.finish()
  }

  @Test("An answer that comes before the callback is over doesn't lose the accesses requested inside the callback")
  func answerBeforeTheEnd() {
    // The message is answered while its callback still waits for /g, and a second callback runs above it.
    let harness = ArbiterHarness()
    let (presenter, callback) = presenterInDidChange(harness)
    let holder = harness.write("/g")
    let reader = harness.read("/d/f")
    let awaited = harness.read("/g", inside: callback)
    harness.release(holder)
    #expect(harness.isWaiting(awaited))
    guard let below = harness.world.callbacks[presenter]?.first else { return harness.record("no callback") }
    harness.apply(.answer(below, hasReacquirer: false))
    #expect(harness.isGranted(awaited))
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }
}
