import FileAccessArbiter
import FileWatching
import SystemInterface
import Testing
import WatchingTestSupport

@testable import FileCoordination

@Suite("The knowledge that a process has of the items that its presenters observe")
struct ChangeCoreTests {
  /// A core, its hands, and the files that they use.
  private struct Process {
    var core: ChangeCore
    var hands: ChangeHands
    let system: ModelSystem

    init(_ files: [String], handleCountMax: Int = 100, endedCountMax: Int = ChangeCore.endedCountMax) {
      var disk = ModelDisk()
      disk.make(files)
      system = ModelSystem(disk)
      core = ChangeCore(endedCountMax: endedCountMax)
      hands = ChangeHands(files: system, watcher: system, budget: HandleBudget(countMax: handleCountMax))
    }

    mutating func tell(_ news: (inout ChangeCore) -> Void) {
      news(&core)
      core.carryOutOrders(by: &hands)
    }

    mutating func add(_ number: UInt64, _ path: ItemPath, observesInside: Bool = false) {
      tell { $0.add(PresenterID(number), at: path, observesInside: observesInside) }
    }
  }

  private func name(_ name: String, in directory: Int = ModelDisk.top) -> ModelDisk.Name {
    ModelDisk.Name(directory: directory, name: name)
  }

  @Test("C-200: A presenter that holds the last descriptor keeps one for the item that takes the place of its own")
  func lastDescriptor() {
    var process = Process(["a", "b"], handleCountMax: 1)
    process.add(1, "/r/a")
    process.add(2, "/r/b")
    #expect(process.core.presented[PresenterID(1)]?.item?.isFoundAnywhere == true)
    #expect(process.core.presented[PresenterID(2)]?.item?.isFoundAnywhere == false)
    process.system.disk.perform(.rename(name("b"), name("a")))
    process.tell { $0.eventsArrived() }
    #expect(process.core.presented[PresenterID(1)]?.item?.isFoundAnywhere == true)
    #expect(process.hands.handles.values.filter(\.isHeld).count == 1)
    process.hands.releaseAll()
    #expect(process.hands.budget.take())
    #expect(!process.hands.budget.take())
  }

  @Test(
    "C-200: An item that's put in the place of a moved one stays watched when the presenter of that item follows it")
  func newcomer() {
    var process = Process(["a"])
    process.add(1, "/r/a")
    process.system.disk.perform(.rename(name("a"), name("b")))
    process.tell { $0.eventsArrived() }
    process.tell { $0.verifyAgain(.moved(from: "/r/a", to: "/r/b", replaced: false)) }
    process.tell { $0.settleMove(from: "/r/a") }
    #expect(process.core.takeOutput().confirmed == [.moved(from: "/r/a", to: "/r/b", replaced: false)])
    process.system.disk.perform(.create(name("a"), .regular))
    process.add(2, "/r/a")
    process.tell { $0.follow(PresenterID(1), to: "/r/b") }
    process.tell { $0.eventsArrived() }
    _ = process.core.takeOutput()
    process.system.disk.perform(.write(name("a")))
    process.tell { $0.eventsArrived() }
    #expect(process.core.output.seen == [.changed("/r/a")])
    _ = process.core.takeOutput()
    process.system.disk.perform(.write(name("b")))
    process.tell { $0.eventsArrived() }
    #expect(process.core.output.seen == [.changed("/r/b")])
  }

  @Test("C-202: A presenter that comes takes no loss away from those that are there")
  func lossOfOthers() {
    var process = Process(["a"])
    process.add(1, "/r", observesInside: true)
    process.tell { $0.see(.unknown("/r")) }
    process.tell { $0.see(.unknown("/r/a")) }
    process.add(2, "/r/a")
    process.tell { $0.forgetLosses(of: PresenterID(2)) }
    #expect(process.core.output.seen == [.unknown("/r"), .unknown("/r/a")])
    process.tell { $0.remove(PresenterID(1)) }
    process.tell { $0.forgetLosses(of: PresenterID(2)) }
    #expect(process.core.output.seen == [])
  }

  @Test("C-202: A presenter that's added once more leaves nothing at its former place")
  func addedOnceMore() {
    var process = Process(["a/", "a/a", "b"])
    process.add(1, "/r/a/a")
    process.add(1, "/r/b")
    #expect(process.core.byPlace == ["/r/b": [PresenterID(1)]])
    #expect(!process.core.isPresentedInside("/r/a"))
    #expect(process.core.places.pathsInside("/r/a") == [])
  }

  @Test("C-202: Of many ends that are waiting for their moves the last ones are kept")
  func manyLosses() {
    var process = Process([])
    process.add(1, "/r", observesInside: true)
    process.tell { $0.see(.moved(from: "/r/a", to: "/r/b", replaced: false)) }
    for number in 0...ToldPlaces.waitingCountMax { process.tell { $0.see(.vanished(ItemPath("/r/b/\(number)"))) } }
    #expect(process.core.told.waiting.count == ToldPlaces.waitingCountMax)
    #expect(process.core.told.waiting.last?.path == ItemPath("/r/b/\(ToldPlaces.waitingCountMax)"))
  }

  @Test("C-202: A file that's written and removed at once has vanished, which is one message")
  func writtenAndRemoved() {
    var process = Process(["a"])
    process.add(1, "/r/a")
    process.system.disk.perform(.write(name("a")))
    process.system.disk.perform(.remove(name("a")))
    process.tell { $0.eventsArrived() }
    #expect(process.core.output.seen == [.vanished("/r/a")])
  }

  @Test("C-202: An observer of a large tree that goes costs others no events")
  func manyWatchesEnd() {
    var process = Process((0..<40).map { "d\($0)/" } + ["a"], endedCountMax: 4)
    process.add(1, "/r", observesInside: true)
    process.add(2, "/r/a")
    process.system.disk.queueCountMax = 5
    process.tell { $0.remove(PresenterID(1)) }
    process.tell { $0.eventsArrived() }
    #expect(process.core.output.seen == [])
    // The directories around the other item, and that.
    #expect(process.system.disk.watches.count == 3)
  }

  @Test("C-200: A change is reported before the move of its item, and a directory before what moves into it")
  func orderOfConfirmedChanges() {
    var process = Process(["a", "b"])
    process.add(1, "/r", observesInside: true)
    process.tell { $0.confirm(.appeared("/r/c")) }
    process.tell { $0.confirm(.changed("/r/a")) }
    process.tell { $0.confirm(.changed("/r/b")) }
    process.tell { $0.confirm(.moved(from: "/r/a", to: "/r/c/a", replaced: false)) }
    let output = process.core.takeOutput()
    #expect(
      output.confirmedPlaces == [
        .appeared("/r/c"), .changed("/r/a"), .moved(from: "/r/a", to: "/r/c/a", replaced: false),
      ])
    #expect(output.confirmedNews == [.changed("/r/b")])
  }

  @Test("C-200: A presenter that is to follow several moves looks for its item at the last place")
  func stopovers() {
    let notes: [ChangeBridge.Note] = [
      .follow(PresenterID(1), "/r/a"), .follow(PresenterID(2), "/r/b"), .follow(PresenterID(1), "/r/c"),
      .moveIsSettled(from: "/r/d"), .follow(PresenterID(2), "/r/e"),
    ]
    #expect(
      notes.withStopovers == [
        .pass(PresenterID(1), "/r/a"), .follow(PresenterID(2), "/r/b"), .follow(PresenterID(1), "/r/c"),
        .moveIsSettled(from: "/r/d"),
        .follow(PresenterID(2), "/r/e"),
      ])
  }

  @Test("C-200: An item that has moved into a new directory is reported when that has been left alone")
  func newDirectory() {
    var process = Process(["a"])
    process.add(1, "/r", observesInside: true)
    process.system.disk.perform(.create(name("b"), .directory))
    process.tell { $0.eventsArrived() }
    let directory = process.system.disk.directories[1]
    process.system.disk.perform(.rename(name("a"), name("a", in: directory)))
    process.tell { $0.eventsArrived() }
    for change in process.core.takeOutput().seen { process.tell { $0.verifyAgain(change) } }
    process.tell { $0.settleMove(from: "/r/a") }
    #expect(process.core.takeOutput().confirmed == [])
    process.tell { $0.settleChange(at: "/r/b") }
    process.tell { $0.settleMove(from: "/r/a") }
    #expect(
      process.core.takeOutput().confirmedPlaces == [
        .appeared("/r/b"), .moved(from: "/r/a", to: "/r/b/a", replaced: false),
      ])
  }

  #if DEBUG
    @Test(
      "C-202: A rename visits what is inside of the directory, and no presenter elsewhere", arguments: [100, 10_000])
    func visits(otherCount: UInt64) {
      var process = Process(["a/", "a/a", "b/", "b/a"])
      process.add(1, "/r", observesInside: true)
      process.add(2, "/r/a/a")
      for number in 0..<otherCount { process.add(3 + number, ItemPath("/elsewhere/\(number % 50)/\(number)")) }
      let before = process.core.visitCount
      process.system.disk.perform(.rename(name("a"), name("c")))
      process.tell { $0.eventsArrived() }
      process.tell { $0.settleMove(from: "/r/a") }
      process.tell { $0.verifyAgain(.moved(from: "/r/a", to: "/r/c", replaced: false)) }
      process.tell { $0.settleMove(from: "/r/a") }
      process.tell { $0.follow(PresenterID(2), to: "/r/c/a") }
      process.tell { $0.remove(PresenterID(1)) }
      #expect(process.core.visitCount - before < 400)
    }
  #endif
}

#if DEBUG
  extension ChangeCore {
    fileprivate var visitCount: Int { byPath.visits.count + places.visits.count + changes.visits.count }
  }
#endif
