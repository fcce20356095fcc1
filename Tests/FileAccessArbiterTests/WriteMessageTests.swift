import Testing

@testable import FileAccessArbiter

@Suite("Messages of writes")
struct WriteMessageTests {
  @Test(
    "C-050, C-051: A plain write sends relinquish and nothing else",
    arguments: [WriteIntent.update, .metadataOnly, .moving])
  func plainWrite(intent: WriteIntent) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let writer = harness.write("/d/f", intent)
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.relinquishToWriter] && harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-052: .forMerging sends relinquish, then save")
  func merging() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let writer = harness.write("/d/f", .merging)
    harness.answerAll()
    #expect(harness.taken(presenter) == [.relinquishToWriter, .saveChanges] && harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-053: After the write P hears of the change, and gets its reacquirer after that")
  func changeThenReacquire() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter, .itemDidChange])
    let writer = harness.write("/d/f")
    guard let message = harness.top(presenter) else { return harness.record("not asked") }
    harness.answer(presenter, hasReacquirer: true)
    harness.release(writer)
    harness.answerAll()
    #expect(harness.taken(presenter) == [.relinquishToWriter, .itemDidChange, .reacquire(message)])
    harness.finish()
  }

  @Test("C-054, C-055: Presenters of plain directories around hear of the change afterwards, at any depth")
  func directoriesAround() {
    let harness = ArbiterHarness()
    let presenters = [ItemPath("/"), "/d", "/d/x/y"].map { harness.presenter(at: $0) }
    let writer = harness.write("/d/x/y/f")
    #expect(harness.isGranted(writer))
    harness.release(writer, .changed)
    for presenter in presenters { #expect(harness.taken(presenter) == [.subitemDidChange("/d/x/y/f")]) }
    harness.finish()
  }

  @Test("C-056, C-057: A package without the subitem callback hears of a change itself, a directory doesn't")
  func packageFallback() {
    let harness = ArbiterHarness()
    let with = harness.presenter(at: "/k.pkg", callbacks: [.itemDidChange, .subitemDidChange])
    let without = harness.presenter(at: "/k.pkg", callbacks: [.itemDidChange])
    let directory = harness.presenter(at: "/", callbacks: [.itemDidChange])
    harness.release(harness.write("/k.pkg/a"))
    #expect(harness.taken(with) == [.subitemDidChange("/k.pkg/a")])
    #expect(harness.taken(without) == [.itemDidChange] && harness.taken(directory).isEmpty)
    harness.finish()
  }

  @Test(
    "C-059, C-310: Every write is told; the origin says what is known",
    arguments: [
      (ItemOutcome.unknown, Bool?.none), (.untouched, false), (.changed, true),
    ] as [(ItemOutcome, Bool?)])
  func outcomes(outcome: ItemOutcome, verified: Bool?) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.itemDidChange])
    let writer = harness.write("/d/f", .metadataOnly)
    #expect(harness.world.grants[writer]?.wantsOutcome == true)
    harness.release(writer, outcome)
    #expect(harness.deliveries(presenter).map(\.origin.verified) == [verified])
    harness.finish()
  }

  @Test(
    "C-059: A write that failed and changed nothing is told to nobody who didn't consent to the end of the item",
    arguments: [
      (WriteIntent.update, false), (.merging, false), (.moving, false), (.metadataOnly, false), (.deleting, true),
      (.replacing, true),
    ] as [(WriteIntent, Bool)])
  func abandoned(intent: WriteIntent, isTold: Bool) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.itemDidChange])
    harness.release(harness.write("/d/f", intent), .abandoned)
    #expect(harness.deliveries(presenter).map(\.origin.verified) == (isTold ? [false] : []))
    harness.finish()
  }

  @Test("C-060: Creating d/new tells presenters of d that it appeared")
  func appeared() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d")
    harness.release(harness.write("/d/new"), .appeared)
    #expect(harness.taken(presenter) == [.subitemDidAppear("/d/new")])
    harness.finish()
  }

  /// Presenters of the directory /d that have declared little.
  private static let plainDirectories: [(PresenterCallbacks, ItemOutcome, ItemPath, [Message.Kind])] = [
    (.subitemDidChange, .appeared, "/d/new", [.subitemDidChange("/d/new")]),
    (.subitemDidChange, .appeared, "/d/x/new", [.subitemDidChange("/d/x/new")]),
    (.subitemDidChange, .vanished, "/d/new", [.subitemDidChange("/d/new")]),
    ([.subitemDidChange, .itemDidChange, .directoryEntries], .appeared, "/d/new", [.subitemDidChange("/d/new")]),
    ([.itemDidChange, .directoryEntries], .appeared, "/d/new", [.itemDidChange]),
    ([.itemDidChange, .directoryEntries], .vanished, "/d/new", [.itemDidChange]),
    ([.itemDidChange, .directoryEntries], .changed, "/d/new", []),
    ([.itemDidChange, .directoryEntries], .appeared, "/d/x/new", []),
    ([.itemDidChange, .subitemDidMove, .directoryEntries], .appeared, "/d/new", []),
    (.itemDidChange, .appeared, "/d/new", []),
    (.presumingMoves, .appeared, "/d/new", [.itemDidChange]),
  ]

  @Test(
    "C-058, C-060: A callback that isn't declared is replaced by the next more general one that is",
    arguments: plainDirectories)
  func fallbacks(callbacks: PresenterCallbacks, outcome: ItemOutcome, path: ItemPath, expected: [Message.Kind]) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d", callbacks: callbacks)
    harness.release(harness.write(path), outcome)
    #expect(harness.taken(presenter) == expected)
    harness.finish()
  }

  @Test(
    "C-064: Whether P hears of a change doesn't depend on its other callbacks",
    arguments: [
      PresenterCallbacks.itemDidChange, [.itemDidChange, .saveChanges], [.itemDidChange, .accommodateDeletion], .all,
    ] as [PresenterCallbacks])
  func independent(callbacks: PresenterCallbacks) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: callbacks)
    let writer = harness.write("/d/f", .merging)
    harness.answerAll()
    harness.release(writer, .changed)
    #expect(harness.taken(presenter).last == .itemDidChange)
    harness.finish()
  }

  @Test("C-063, C-183: One presenter's messages come one after the other, in the order of their events")
  func serialDelivery() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d", callbacks: [.subitemDidChange])
    for name in ["/d/a", "/d/b", "/d/c"] { harness.release(harness.write(ItemPath(name))) }
    #expect(harness.taken(presenter) == [.subitemDidChange("/d/a")])
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.subitemDidChange("/d/b")])
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.subitemDidChange("/d/c")])
    harness.finish()
  }

  @Test("C-184: A presenter busy with did-change delays the access that wants to ask it")
  func busyPresenter() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader, .itemDidChange])
    harness.release(harness.write("/d/f"))
    let reader = harness.read("/d/f")
    #expect(harness.taken(presenter) == [.itemDidChange] && harness.isWaiting(reader))
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(harness.isGranted(reader))
    harness.finish()
  }

  @Test("C-309: Other presenters of the same process hear of the change")
  func sameProcess() {
    let harness = ArbiterHarness()
    let own = harness.presenter(at: "/d/f", callbacks: [.itemDidChange])
    let other = harness.presenter(at: "/d/f", callbacks: [.itemDidChange])
    harness.release(harness.write("/d/f", own: own))
    #expect(harness.taken(own).isEmpty && harness.taken(other) == [.itemDidChange])
    harness.finish()
  }
}

@Suite("Deleting and replacing")
struct DeletingTests {
  @Test(
    "C-070, C-074, C-077: Deleting or replacing sends relinquish, then accommodate, and no save",
    arguments: [WriteIntent.deleting, .replacing])
  func asksToAccommodate(intent: WriteIntent) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let writer = harness.write("/d/f", intent)
    harness.answer(presenter)
    #expect(harness.isWaiting(writer))
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.relinquishToWriter, .accommodateDeletion] && harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-071: Deleting d asks presenters of every item below", arguments: [WriteIntent.deleting, .replacing])
  func asksBelow(intent: WriteIntent) {
    let harness = ArbiterHarness()
    let presenters = [ItemPath("/d"), "/d/f", "/d/x/y/f", "/d/k.pkg/a"].map { harness.presenter(at: $0) }
    let writer = harness.write("/d", intent)
    harness.answerAll()
    for presenter in presenters { #expect(harness.taken(presenter) == [.relinquishToWriter, .accommodateDeletion]) }
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-073: Presenters of plain directories around the item are asked only what they have declared")
  func asksDirectories() {
    let harness = ArbiterHarness()
    let asked = harness.presenter(at: "/d", callbacks: [.accommodateSubitemDeletion, .relinquishToWriter])
    let silent = harness.presenter(at: "/d", callbacks: [.relinquishToWriter, .accommodateDeletion, .saveChanges])
    let vetoed = harness.write("/d/x/f", .deleting)
    harness.fail(asked)
    guard case .presenterFailed = harness.failure(of: vetoed) else { return harness.record("not failed") }
    let writer = harness.write("/d/x/f", .deleting)
    harness.answer(asked)
    #expect(harness.isGranted(writer))
    #expect(harness.taken(asked).count == 2 && harness.taken(silent).isEmpty)
    for intent in WriteIntent.allCases where ![.deleting, .replacing, .evicting].contains(intent) {
      harness.write("/d/y", intent)
    }
    harness.read("/d/z")
    #expect(harness.taken(asked).isEmpty)
    harness.finish()
  }

  @Test("C-072, C-073: Packages and plain directories around the item are asked about the subitem")
  func asksAround() {
    let harness = ArbiterHarness()
    let package = harness.presenter(at: "/o.pkg")
    let directories = [ItemPath("/"), "/o.pkg/d"].map { harness.presenter(at: $0) }
    let writer = harness.write("/o.pkg/d/f", .deleting)
    harness.answerAll()
    #expect(harness.taken(package) == [.relinquishToWriter, .accommodateSubitemDeletion("/o.pkg/d/f")])
    #expect(directories.map(harness.taken) == Array(repeating: [.accommodateSubitemDeletion("/o.pkg/d/f")], count: 2))
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-075: An error from accommodate fails the access")
  func vetoed() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.accommodateDeletion])
    let writer = harness.write("/d/f", .deleting)
    harness.fail(presenter)
    guard case .presenterFailed = harness.failure(of: writer) else { return harness.record("not failed") }
    harness.finish()
  }

  @Test("C-078: Replacing on an empty path asks nobody, but for what the host answers itself")
  func emptyPath() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d", callbacks: .all.subtracting(.accommodateSubitemDeletion))
    #expect(harness.isGranted(harness.write("/d/new", .replacing)) && harness.taken(presenter).isEmpty)
    harness.finish()
  }

  @Test("C-082, C-192: P may unregister inside accommodate without hanging the deleter", arguments: [true, false])
  func unregistersInside(answersAfterwards: Bool) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let writer = harness.write("/d/f", .deleting)
    guard let relinquish = harness.top(presenter) else { return harness.record("not asked") }
    harness.answer(presenter, hasReacquirer: true)
    harness.remove(presenter)
    #expect(harness.isGranted(writer))
    if answersAfterwards { harness.answer(presenter) }
    harness.release(writer, .vanished)
    harness.answerAll()
    #expect(harness.taken(presenter).last == .reacquire(relinquish), "the promise outlives the registration")
    #expect(harness.world.forgotten == [presenter])
    harness.finish()
  }

  @Test(
    "C-311: A deleter that didn't delete tells of a change, one that did doesn't",
    arguments: [
      (ItemOutcome.untouched, [Message.Kind.itemDidChange]), (.vanished, []),
    ] as [(ItemOutcome, [Message.Kind])])
  func outcomes(outcome: ItemOutcome, expected: [Message.Kind]) {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.itemDidChange])
    let container = harness.presenter(at: "/d", callbacks: [.subitemDidChange])
    harness.release(harness.write("/d/f", .deleting), outcome)
    #expect(harness.taken(presenter) == expected && harness.taken(container) == [.subitemDidChange("/d/f")])
    harness.finish()
  }

  @Test("C-313: Overlapping items of one request ask the strongest question once")
  func overlappingItems() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    harness.request([.init("/d/f", .read), .init("/d", .write(.deleting)), .init("/d/f", .update)])
    harness.answerAll()
    #expect(harness.taken(presenter) == [.relinquishToWriter, .saveChanges, .accommodateDeletion])
    harness.finish()
  }

  @Test(
    "A grant says that its item was replaced or deleted during the wait", arguments: [WriteIntent.deleting, .replacing])
  func replacedMeanwhile(intent: WriteIntent) {
    let harness = ArbiterHarness()
    let first = harness.write("/d/f", intent)
    let second = harness.read("/d/f")
    harness.release(first)
    #expect(harness.world.grants[second]?.items == [.init(path: "/d/f", wasMoved: false, wasReplaced: true)])
    harness.finish()
  }
}

extension PresenterCallbacks {
  /// Observes entries, and may have written the method about subitems that move.
  fileprivate static var presumingMoves: Self {
    var callbacks: Self = [.itemDidChange, .subitemDidMove, .directoryEntries]
    callbacks.presumed = .subitemDidMove
    return callbacks
  }
}
