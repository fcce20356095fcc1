import Testing

@testable import FileAccessArbiter

@Suite("Moving")
struct MovingTests {
  @Test("C-102: Nobody moves the root, or puts anything in its place")
  func rootStays() {
    let harness = ArbiterHarness()
    let writer = harness.write("/", .deleting)
    #expect(harness.isGranted(writer))
    #expect(!harness.world.arbiter.mayAnnounceMove(writer, from: "/", to: "/d"))
    #expect(!harness.world.arbiter.mayAnnounceMove(writer, from: "/d", to: "/"))
    #expect(harness.world.arbiter.mayAnnounceMove(writer, from: "/d", to: "/e"))
    #expect(ItemPath.root.movedAlong(from: "/", to: "/d") == "/d")
    #expect(ItemPath("/a").movedAlong(from: "/", to: "/d") == "/d/a")
    #expect(ItemPath("/d/a").movedAlong(from: "/d", to: "/") == "/a")
    harness.release(writer)
    harness.finish()
  }

  @Test("C-090: A move inside a write tells P its new place")
  func presenterIsTold() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.itemDidMove])
    let mover = harness.write("/d/f", .moving)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    #expect(harness.taken(presenter).isEmpty)
    harness.release(mover)
    #expect(harness.taken(presenter) == [.itemDidMove(to: "/d/g")])
    harness.finish()
  }

  @Test("C-090: A move is told when its mover has ended, however; questions come meanwhile, and news wait behind it")
  func toldAtTheEnd() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader, .itemDidMove, .itemDidChange])
    let mover = harness.write("/d/f", .moving, client: 2)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    let inner = harness.read("/d/g", inside: .access(mover))
    #expect(harness.taken(presenter) == [.relinquishToReader])
    harness.answer(presenter, hasReacquirer: true)
    harness.release(inner)
    #expect(harness.path(of: harness.read("/d/f", own: presenter)) == "/d/g")
    #expect(harness.taken(presenter).isEmpty)
    harness.depart(2)
    let told = harness.taken(presenter)
    #expect(told == [.itemDidMove(to: "/d/g")])
    harness.finish()
  }

  @Test("C-091: Moving d tells presenters of everything below their new places")
  func presentersBelow() {
    let harness = ArbiterHarness()
    let paths: [ItemPath] = ["/d", "/d/f", "/d/x/y", "/d/k.pkg/a"]
    let presenters = paths.map { harness.presenter(at: $0, callbacks: [.itemDidMove]) }
    let mover = harness.write("/d", .moving)
    harness.move(by: mover, from: "/d", to: "/e/d")
    harness.release(mover)
    let places: [ItemPath] = ["/e/d", "/e/d/f", "/e/d/x/y", "/e/d/k.pkg/a"]
    for (presenter, place) in zip(presenters, places) {
      #expect(harness.taken(presenter) == [.itemDidMove(to: place)])
    }
    harness.finish()
  }

  @Test("C-092, C-094: Presenters of directories around the item hear of the move, and of a new place outside")
  func presentersAround() {
    let harness = ArbiterHarness()
    let presenters = [ItemPath("/"), "/d", "/d/x"].map { harness.presenter(at: $0, callbacks: [.subitemDidMove]) }
    let mover = harness.write("/d/x/f", .moving)
    harness.move(by: mover, from: "/d/x/f", to: "/e/f")
    for presenter in presenters {
      #expect(harness.taken(presenter) == [.subitemDidMove(from: "/d/x/f", to: "/e/f")])
    }
    harness.finish()
  }

  @Test(
    "C-060: A presenter of the directory that declared no move hears that both places changed, as far as they're inside"
  )
  func presentersAroundWithoutMove() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d", callbacks: [.subitemDidChange])
    let mover = harness.request([.init("/d/f", .write(.moving)), .init("/d/g", .write(.moving))])
    harness.move(by: mover, from: "/d/f", to: "/e/f")
    #expect(harness.taken(presenter) == [.subitemDidChange("/d/f")])
    harness.answer(presenter)
    harness.move(by: mover, from: "/d/g", to: "/d/h")
    harness.answerAll()
    #expect(harness.taken(presenter) == [.subitemDidChange("/d/g"), .subitemDidChange("/d/h")])
    harness.finish()
  }

  @Test("A presenter of the directory that an item is moved into hears that it appeared")
  func presentersOfTheDestination() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/e", callbacks: [.subitemDidAppear, .subitemDidChange])
    let mover = harness.write("/d/f", .moving)
    harness.move(by: mover, from: "/d/f", to: "/e/f")
    #expect(harness.taken(presenter) == [.subitemDidAppear("/e/f")])
    harness.answer(presenter)
    harness.release(mover, .vanished)
    harness.finish()
  }

  @Test("C-093: A package presenter without the subitem callback hears of a change instead, a directory's doesn't")
  func packageFallback() {
    let harness = ArbiterHarness()
    let package = harness.presenter(at: "/k.pkg", callbacks: [.itemDidChange])
    let directory = harness.presenter(at: "/", callbacks: [.itemDidChange])
    let mover = harness.write("/k.pkg/a", .moving)
    harness.move(by: mover, from: "/k.pkg/a", to: "/k.pkg/b")
    #expect(harness.taken(package) == [.itemDidChange])
    #expect(harness.taken(directory).isEmpty)
    harness.finish()
  }

  @Test("C-095: The own presenter hears nothing of a move and follows it all the same")
  func ownPresenter() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let mover = harness.write("/d/f", .moving, own: presenter)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    #expect(harness.taken(presenter).isEmpty)
    harness.release(mover)
    harness.write("/d/g")
    #expect(harness.taken(presenter) == [.relinquishToWriter])
    harness.finish()
  }

  @Test(
    "C-096, C-097, C-081: A queued access follows its item, also when only an ancestor moved",
    arguments: [ItemAccess.read, .update, .write(.deleting), .write(.moving)])
  func waitersFollow(access: ItemAccess) {
    // mover of d  [--m--]
    // waiter d/x    w···[---]  granted with e/x
    let harness = ArbiterHarness()
    let mover = harness.write("/d", .moving)
    let waiter = harness.request([.init("/d/x", access)])
    harness.move(by: mover, from: "/d", to: "/e")
    #expect(harness.isWaiting(waiter))
    harness.release(mover)
    #expect(harness.world.grants[waiter]?.items == [.init(path: "/e/x", wasMoved: true, wasReplaced: false)])
    harness.finish()
  }

  @Test("C-079, C-080: A waiting replacer keeps its path, and doesn't ask the presenters that moved away")
  func replacersStay() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.accommodateDeletion])
    let mover = harness.write("/d/f", .moving)
    let replacer = harness.write("/d/f", .replacing)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    harness.release(mover)
    #expect(harness.isGranted(replacer) && harness.path(of: replacer) == "/d/f")
    #expect(harness.taken(presenter).isEmpty)
    harness.finish()
  }

  @Test("C-099: After a move a write of the new place asks P, and one of the old place doesn't")
  func laterMessages() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter])
    let mover = harness.write("/d/f", .moving)
    harness.answer(presenter)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    harness.release(mover)
    _ = harness.taken(presenter)
    #expect(harness.isGranted(harness.write("/d/f")))
    harness.write("/d/g")
    #expect(harness.taken(presenter) == [.relinquishToWriter])
    harness.finish()
  }

  @Test("C-100: After a presented directory moved, its presenter still hears of its subitems")
  func movedDirectory() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d", callbacks: [.subitemDidChange])
    let mover = harness.write("/d", .moving)
    harness.move(by: mover, from: "/d", to: "/e")
    harness.release(mover)
    harness.release(harness.write("/e/f"))
    #expect(harness.taken(presenter) == [.subitemDidChange("/e/f")])
    harness.finish()
  }

  @Test("C-101: A move to the same place has no effect")
  func samePlace() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.itemDidMove])
    let mover = harness.write("/d/f", .moving)
    #expect(harness.apply(.move(mover, from: "/d/f", to: "/d/f", replaced: false)).isEmpty)
    #expect(harness.taken(presenter).isEmpty)
    harness.finish()
  }

  @Test("C-102: Only a granted write that covers the old or the new place may announce a move")
  func whoMayAnnounce() {
    let harness = ArbiterHarness()
    let plain = harness.write("/d/f")
    let deep = harness.write("/e", .moving)
    let shallow = harness.write("/h")
    let reader = harness.read("/r")
    let packaged = harness.write("/k.pkg/a")
    let queued = harness.write("/d/f")
    func may(_ id: AccessID, _ old: ItemPath, _ new: ItemPath) -> Bool {
      harness.world.arbiter.mayAnnounceMove(id, from: old, to: new)
    }
    #expect(may(plain, "/d/f", "/x") && may(plain, "/x", "/d/f") && !may(plain, "/d/g", "/d/h"))
    #expect(may(deep, "/e/a", "/e/b") && may(deep, "/x", "/e/b") && !may(deep, "/x", "/y"))
    #expect(!may(shallow, "/h/a", "/h/b") && !may(reader, "/r", "/s") && !may(queued, "/d/f", "/x"))
    #expect(may(packaged, "/k.pkg/b", "/k.pkg/c"))
    harness.finish()
  }

  @Test("C-105: .forMoving sends neither save nor accommodate, C-106: and a did-move may come without relinquish")
  func movingAsksLittle() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f")
    let silent = harness.presenter(at: "/d/f", callbacks: [.itemDidMove])
    let mover = harness.write("/d", .moving)
    #expect(harness.taken(presenter) == [.relinquishToWriter])
    harness.answer(presenter)
    harness.move(by: mover, from: "/d/f", to: "/d/g")
    harness.release(mover)
    #expect(harness.taken(presenter) == [.itemDidMove(to: "/d/g")])
    #expect(harness.taken(silent) == [.itemDidMove(to: "/d/g")])
    harness.finish()
  }

  @Test("C-107: In the recommended move the overwritten item's presenter is asked to accommodate, the source's isn't")
  func recommendedMove() {
    let harness = ArbiterHarness()
    let source = harness.presenter(at: "/d/f")
    let overwritten = harness.presenter(at: "/d/g")
    let mover = harness.request([.init("/d/f", .write(.moving)), .init("/d/g", .write(.replacing))])
    #expect(harness.taken(source) == [.relinquishToWriter])
    harness.answer(source)
    harness.answer(overwritten)
    #expect(harness.taken(overwritten) == [.relinquishToWriter, .accommodateDeletion])
    harness.answer(overwritten)
    #expect(harness.isGranted(mover))
    harness.move(by: mover, from: "/d/f", to: "/d/g", replaced: true)
    harness.release(mover)
    #expect(harness.deliveries(source).first?.kind == .itemDidMove(to: "/d/g"))
    harness.finish()
  }
}

@Suite("Moves under waiters and holders")
struct MoveConsequencesTests {
  @Test("A holder that is moved into a queue closes a cycle, which is found in that step")
  func movedHolderClosesACycle() {
    // G reads d/f; its accessor requests h, behind W, which waits for e/g. The owner of e/g moves d/f there.
    //
    // M writes e/g  [-------m···
    // G reads d/f     [-----·  now at e/g, in the way of W
    // W e/g and h       w····  → G
    // G's child h         c··  → W: passes it, since W waits for G
    let harness = ArbiterHarness()
    let mover = harness.write("/e/g")
    let holder = harness.read("/d/f")
    let waiter = harness.request([.init("/e/g", .update), .init("/h", .update)])
    let child = harness.write("/h", inside: .access(holder))
    #expect(harness.isWaiting(waiter) && harness.isWaiting(child))
    harness.move(by: mover, from: "/d/f", to: "/e/g")
    #expect(harness.isGranted(child))
    harness.finish()
  }

  @Test("A waiter that is moved away from what it waits for goes on at once")
  func movedAway() {
    // The owner of the destination moves d/f away; the writer queued there follows it and is free.
    let harness = ArbiterHarness()
    let reader = harness.read("/d/f")
    let writer = harness.write("/d/f")
    let behind = harness.write("/d/f")
    let mover = harness.write("/e")
    #expect(harness.isWaiting(writer) && harness.isWaiting(behind))
    harness.move(by: mover, from: "/d/f", to: "/e")
    #expect(harness.path(of: writer) == "/e" && harness.isWaiting(writer), "the mover holds the place")
    harness.release(reader)
    #expect(harness.isWaiting(writer))
    harness.release(mover)
    #expect(harness.isGranted(writer) && harness.isWaiting(behind))
    harness.finish()
  }

  @Test("An access that follows its item under another presenter asks that one too before it's granted")
  func movedUnderAnotherPresenter() {
    let harness = ArbiterHarness()
    let first = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter])
    let second = harness.presenter(at: "/k.pkg", callbacks: [.relinquishToWriter])
    let mover = harness.write("/k.pkg/f", own: second)
    let writer = harness.write("/d/f")
    #expect(harness.taken(first) == [.relinquishToWriter] && harness.isWaiting(writer))
    harness.move(by: mover, from: "/d/f", to: "/k.pkg/f")
    #expect(harness.taken(second) == [.relinquishToWriter])
    harness.answer(first)
    #expect(harness.isWaiting(writer))
    harness.release(mover)
    #expect(harness.isWaiting(writer), "the second presenter hasn't answered")
    harness.answer(second)
    #expect(harness.isGranted(writer))
    harness.finish()
  }

  @Test("C-308: A presenter that is moved to where an access is asking is asked as well")
  func presenterMovedUnderAnAccess() {
    let harness = ArbiterHarness()
    let resident = harness.presenter(at: "/e/g", callbacks: [.relinquishToWriter])
    let comer = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter])
    let mover = harness.write("/d/f", own: comer)
    let writer = harness.write("/e/g")
    #expect(harness.isRunning(resident, .relinquishToWriter))
    harness.move(by: mover, from: "/d/f", to: "/e/g")
    harness.answer(resident)
    #expect(harness.taken(comer) == [.relinquishToWriter])
    harness.release(mover)
    #expect(harness.isWaiting(writer))
    harness.answer(comer)
    #expect(harness.isGranted(writer))
    harness.finish()
  }
}
