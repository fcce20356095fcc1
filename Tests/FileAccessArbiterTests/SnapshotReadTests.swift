import Testing

@testable import FileAccessArbiter

@Suite("Reading everything inside, for snapshots")
struct SnapshotReadTests {
  private func readAll(_ harness: ArbiterHarness, _ path: ItemPath) -> AccessID {
    harness.request([.init(path, .readAll(withoutChanges: false))])
  }

  @Test("C-046: A snapshot of a directory waits for a write inside it, at any depth", arguments: ["/d/f", "/d/x/y/f"])
  func waitsForWriterInside(path: String) {
    let harness = ArbiterHarness()
    let writer = harness.write(ItemPath(path))
    let snapshot = readAll(harness, "/d")
    #expect(harness.isWaiting(snapshot))
    harness.release(writer)
    #expect(harness.isGranted(snapshot))
    harness.finish()
  }

  @Test("C-046: A write inside a directory waits for a snapshot of it, a read inside doesn't")
  func blocksWriterInside() {
    let harness = ArbiterHarness()
    let snapshot = readAll(harness, "/d")
    let writer = harness.write("/d/f")
    let reader = harness.read("/d/g")
    let second = readAll(harness, "/d/x")
    #expect(harness.isWaiting(writer) && harness.isGranted(reader) && harness.isGranted(second))
    harness.release(snapshot)
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-046: A snapshot of a directory lets plain writes of the directory above it go on, and waits for deep ones")
  func directoriesAround() {
    let harness = ArbiterHarness()
    let snapshot = readAll(harness, "/d/x")
    let plain = harness.write("/d")
    let deep = harness.write("/d", .deleting)
    #expect(harness.isGranted(plain) && harness.isWaiting(deep))
    harness.release(plain)
    #expect(harness.isWaiting(deep))
    harness.release(snapshot)
    #expect(harness.isGranted(deep))
    harness.finish()
  }

  @Test("C-046: Presenters inside a directory save before a snapshot of it is taken")
  func presentersInsideSave() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/x/f")
    let snapshot = readAll(harness, "/d")
    harness.answer(presenter)
    harness.answer(presenter)
    #expect(harness.taken(presenter) == [.relinquishToReader, .saveChanges])
    #expect(harness.isGranted(snapshot))
    harness.finish()
  }
}

@Suite("C-317: Moves that a presenter hasn't seen yet")
struct UnseenMoveTests {
  /// P presents /d/f, is busy with a notification, and the item has moved to /d/g meanwhile.
  private func moved(_ harness: ArbiterHarness) -> PresenterID {
    let presenter = harness.presenter(at: "/d/f", callbacks: [.itemDidChange, .itemDidMove])
    harness.release(harness.write("/d/f"))
    let mover = harness.write("/d/f", .moving)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    harness.release(mover, .untouched)
    #expect(harness.isRunning(presenter, .itemDidChange))
    return presenter
  }

  @Test("An access by C(P) to the place from before a move that P wasn't told of gets the new place")
  func ownAccessFollows() {
    let harness = ArbiterHarness()
    let presenter = moved(harness)
    let own = harness.read("/d/f", own: presenter)
    let foreign = harness.read("/d/f")
    #expect(harness.path(of: own) == "/d/g" && harness.path(of: foreign) == "/d/f")
    harness.finish()
  }

  @Test("Once P has been told of the move, its accesses are taken at their word")
  func toldPresenter() {
    let harness = ArbiterHarness()
    let presenter = moved(harness)
    harness.answer(presenter)
    #expect(harness.isRunning(presenter, .itemDidMove(to: "/d/g")))
    harness.answer(presenter)
    #expect(harness.path(of: harness.read("/d/f", own: presenter)) == "/d/f")
    harness.finish()
  }

  @Test("Two moves on their way to P are both followed")
  func twoMoves() {
    let harness = ArbiterHarness()
    let presenter = moved(harness)
    let mover = harness.write("/d", .moving)
    harness.move(by: mover, from: "/d", to: "/e")
    harness.release(mover, .untouched)
    #expect(harness.path(of: harness.read("/d/f", own: presenter)) == "/e/g")
    harness.finish()
  }
}
