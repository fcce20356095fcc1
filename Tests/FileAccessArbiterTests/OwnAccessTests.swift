import Testing

@testable import FileAccessArbiter

@Suite("Presenters make accesses outside of their callbacks while they're asked")
struct OwnAccessTests {
  private static let documentCallbacks: PresenterCallbacks = [.relinquishToReader, .relinquishToWriter, .saveChanges]

  @Test("Two documents that save on another queue and answer afterwards let a reader in", arguments: [false, true])
  func documents(returns: Bool) {
    // reader R      r··· asks both to save ·················[--]
    // save of one      [- returns ····················-]
    // write of one          w asks two ·[----]
    // save of two      [- returns ··························-]
    // write of two          w···················[----]
    let harness = ArbiterHarness()
    let documents = [0, 1].map { _ in harness.presenter(at: "/f", callbacks: Self.documentCallbacks) }
    let reader = harness.read("/f")
    for document in documents { harness.answer(document) }
    let saves = documents.map { harness.top($0) }
    if returns { for case .some(let save) in saves { harness.apply(.returned(save)) } }
    let writes = documents.map { harness.write("/f", own: $0) }
    var open = [0, 1]
    while !open.isEmpty {
      // Each is asked to let go while it saves.
      for document in documents where harness.isRunning(document, .relinquishToWriter) { harness.answer(document) }
      guard let next = open.firstIndex(where: { harness.isGranted(writes[$0]) }), let save = saves[open[next]] else {
        return harness.record("nobody saves")
      }
      harness.release(writes[open[next]])
      harness.apply(.answer(save, hasReacquirer: false))
      open.remove(at: next)
    }
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("A write passes a reader on which it comes to wait when its presenter's save comes to wait for it")
  func prioritySeenLater() {
    // reader R     r·· asks P to save ·····························[--]
    // other reader    r··· asks P to let go, behind P's save ··········[--]
    // C(P) write           w··[---]
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.relinquishToReader, .saveChanges])
    let reader = harness.read("/f")
    harness.answer(presenter)
    #expect(harness.isRunning(presenter, .saveChanges))
    let other = harness.read("/f")
    let write = harness.write("/f", own: presenter)
    #expect(harness.isGranted(write))
    harness.release(write)
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(harness.isGranted(reader) && harness.isWaiting(other))
    harness.answer(presenter)
    #expect(harness.isGranted(other))
    harness.finish()
  }

  @Test("A save that waits for the turn of an earlier one is let through by who asks")
  func turns() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.saveChanges, .itemDidChange], isActor: true)
    let holder = harness.write("/f")
    let reader = harness.read("/f")
    let earlier = harness.write("/f", own: presenter)
    let asking = harness.read("/f")
    harness.release(holder)
    // The presenter's reaction to the message about the holder waits for its turn, too.
    #expect(harness.isGranted(earlier) && harness.isWaiting(reader) && harness.isWaiting(asking))
    harness.finish()
  }

  @Test("A callback that has returned keeps no message from its presenter, and its answer still counts")
  func returnedCallbacks() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.saveChanges, .relinquishToWriter])
    let reader = harness.read("/f")
    let writer = harness.write("/f")
    guard let save = harness.top(presenter) else { return harness.record("no save") }
    harness.apply(.returned(save))
    harness.apply(.returned(save))
    let preparation = harness.prepare([.init("/f", .update)])
    #expect(harness.isGranted(preparation), "nobody is asked for a plain write that's prepared")
    let second = harness.read("/g")
    harness.release(second)
    #expect(harness.isWaiting(reader) && harness.isWaiting(writer))
    harness.apply(.answer(save, hasReacquirer: false))
    #expect(harness.isGranted(reader))
    harness.apply(.answer(save, hasReacquirer: false))
    harness.finish()
  }

  @Test("A returned callback's presenter is asked by others at once, in the order of their questions")
  func askedAfterReturn() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.relinquishToReader, .saveChanges])
    let reader = harness.read("/f", withoutChanges: true)
    let other = harness.read("/f")
    guard let first = harness.top(presenter) else { return harness.record("not asked") }
    #expect(harness.deliveries(presenter).count == 1, "the callback runs")
    harness.apply(.returned(first))
    #expect(harness.deliveries(presenter).map(\.isReentrant) == [false])
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(harness.isGranted(other) && harness.isWaiting(reader))
    harness.apply(.answer(first, hasReacquirer: true))
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("A write that waits for somebody who asks its presenter to let go isn't failed for what is only possible")
  func possibleWaits() {
    // holder H      [------------------]
    // X inside H         asks P ··[--]
    // C(P) write     w··················[--]     P's callback may need it, and needn't
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: .relinquishToReader)
    let holder = harness.write("/f")
    let own = harness.write("/f", own: presenter)
    let inner = harness.read("/f", inside: .access(holder))
    #expect(harness.isRunning(presenter, .relinquishToReader) && harness.isWaiting(own))
    harness.answer(presenter)
    #expect(harness.isGranted(inner))
    harness.release(inner)
    harness.release(holder)
    #expect(harness.isGranted(own))
    harness.finish()
  }

  @Test("A presenter that runs code of its own isn't asked beside it for a wait that is only possible")
  func runningCodeIsLeftAlone() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/f", callbacks: [.relinquishToReader, .itemDidChange])
    let writer = harness.write("/f")
    let holder = harness.write("/f")
    harness.release(writer)
    #expect(harness.isRunning(presenter, .itemDidChange) && harness.isGranted(holder))
    let own = harness.write("/f", own: presenter)
    let inner = harness.read("/f", inside: .access(holder))
    #expect(harness.isRunning(presenter, .itemDidChange) && harness.isWaiting(inner))
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(harness.isGranted(inner))
    harness.release(inner)
    harness.release(holder)
    #expect(harness.isGranted(own))
    harness.finish()
  }
}
