import Testing

@testable import FileAccessArbiter

/// An arbiter with two processes, presenters of the first of which observe strangers.
private struct Watched {
  var arbiter = FileAccessArbiter(packageExtensions: ["pkg"])
  let watcher = ClientID(1)
  let other = ClientID(2)
  private var lastID: UInt64 = 0
  /// The changes that the process is to check again, in order.
  var looks: [ItemChange] = []

  init() {
    arbiter.clientJoined(watcher, name: "watcher")
    arbiter.clientJoined(other, name: "other")
  }

  mutating func present(_ path: ItemPath, _ callbacks: PresenterCallbacks = .told) -> PresenterID {
    lastID += 1
    let id = PresenterID(lastID)
    _ = arbiter.presenterAdded(
      id,
      PresenterRegistration(
        client: watcher, purpose: PurposeID(lastID), label: "P", callbacks: callbacks.union(.uncoordinatedChanges),
        path: path), at: 0)
    return id
  }

  mutating func write(_ path: ItemPath, by client: ClientID, _ intent: WriteIntent = .update) -> AccessID {
    lastID += 1
    let id = AccessID(lastID)
    _ = arbiter.accessRequested(
      id,
      AccessRequest(
        client: client, purpose: PurposeID(1000 + lastID), label: "W", items: [AccessRequest.Item(path, .write(intent))]
      ),
      at: 0)
    return id
  }

  /// The process sees changes, and after a while that the items have been left alone.
  mutating func see(_ changes: ItemChange...) -> [String] {
    let words = seeAtFirst(changes)
    return words + settle()
  }

  mutating func seeAtFirst(_ changes: [ItemChange]) -> [String] {
    answer(arbiter.changesSeen(changes, by: watcher, at: 0))
  }

  /// Each once.
  mutating func settle() -> [String] {
    var words: [String] = []
    var seen: Set<ItemChange> = []
    for change in looks where seen.insert(change).inserted {
      words += answer(arbiter.changesConfirmed([change], by: watcher, at: 0))
    }
    looks = []
    return words
  }

  mutating func confirm(_ changes: ItemChange...) -> [String] {
    answer(arbiter.changesConfirmed(changes, by: watcher, at: 0))
  }

  mutating func end(_ id: AccessID) -> [String] { answer(arbiter.accessReleased(id, outcomes: [.changed], at: 0)) }

  mutating func settle(_ echo: UInt64) -> [String] { answer(arbiter.echoEnded(EchoID(echo), by: watcher, at: 0)) }

  /// The orders, in words; callbacks return at once.
  private mutating func answer(_ effects: [Effect]) -> [String] {
    var words: [String] = []
    for effect in effects {
      switch effect {
      case .deliver(let delivery):
        words.append("\(delivery.kind)" + (delivery.origin.isUncoordinated ? "*" : ""))
        words += answer(arbiter.messageAnswered(delivery.message, at: 0))
      case .endEcho(_, let echo): words.append("settle \(echo.rawValue)")
      case .verifyAgain(_, let change):
        switch change {
        case .changed, .appeared: looks.append(change)
        case .vanished, .moved, .unknown: words.append("look again \(change)")
        }
      case .presenterMoved(let id, let path): words.append("\(id) at \(path)")
      default: words.append(effect.summary)
      }
    }
    #expect(arbiter.invariants() == [])
    return words
  }
}

extension PresenterCallbacks {
  fileprivate static let told: Self = [
    .itemDidChange, .itemDidMove, .subitemDidAppear, .subitemDidChange, .subitemDidMove,
  ]
}

@Suite("Changes of strangers, and what tells them from coordinated ones")
struct UncoordinatedChangeTests {
  @Test(
    "C-200: A change that no write accounts for is reported to the presenters of the process that saw it, by their relation"
  )
  func relations() {
    var world = Watched()
    _ = world.present("/d/f")
    _ = world.present("/d")
    #expect(world.see(.changed("/d/f")) == ["itemDidChange*", "subitemDidChange(/d/f)*"])
    #expect(world.see(.appeared("/d/g")) == ["subitemDidAppear(/d/g)*"])
    #expect(world.see(.vanished("/d/g")) == ["subitemDidChange(/d/g)*"])
    #expect(world.see(.changed("/e")) == [])
    let effects = world.arbiter.changesSeen([.changed("/d/f")], by: world.other, at: 0)
    #expect(effects.isEmpty)
  }

  @Test("C-200: While a write is granted it accounts for its item, and says so when it ends")
  func grantedWrite() {
    var world = Watched()
    _ = world.present("/d/f")
    let write = world.write("/d/f", by: world.watcher)
    #expect(world.see(.changed("/d/f")) == [])
    #expect(world.end(write) == ["itemDidChange"])
    #expect(world.see(.changed("/d/f")) == ["itemDidChange*"])
  }

  @Test("C-200: The write of another process accounts for its item until its echo is settled")
  func echo() {
    var world = Watched()
    _ = world.present("/d/f")
    let write = world.write("/d/f", by: world.other)
    #expect(world.end(write) == ["settle 1", "itemDidChange"])
    #expect(world.see(.changed("/d/f")) == [])
    #expect(world.settle(1) == [])
    #expect(world.see(.changed("/d/f")) == ["itemDidChange*"])
  }

  @Test("C-200: A write in place of a directory accounts for its inside to those who are told of it, and to no others")
  func directoryWrite() {
    var world = Watched()
    _ = world.present("/d")
    _ = world.present("/d/x/f")
    let write = world.write("/d", by: world.watcher)
    #expect(world.see(.changed("/d/x/f")) == ["itemDidChange*"])
    _ = world.end(write)
    let deletion = world.write("/d", by: world.watcher, .deleting)
    #expect(world.see(.vanished("/d/x/f")) == [])
    _ = world.end(deletion)
  }

  @Test(
    "C-200: An item that appears beside a written one waits for the writer's end, and isn't reported if it's gone by then"
  )
  func temporaryFile() {
    var world = Watched()
    _ = world.present("/d")
    let write = world.write("/d/f", by: world.watcher)
    #expect(world.see(.appeared("/d/f.tmp"), .changed("/d/f.tmp")) == [])
    #expect(world.see(.moved(from: "/d/f.tmp", to: "/d/f", replaced: true)) == [])
    #expect(world.see(.appeared("/d/g"), .appeared("/d/h")) == [])
    #expect(world.see(.vanished("/d/h")) == [])
    #expect(world.end(write) == ["subitemDidChange(/d/f)"])
    #expect(world.looks == [.appeared("/d/g")])
    #expect(world.settle() == ["subitemDidAppear(/d/g)*"])
  }

  @Test("C-200: Beside another process's write it waits until the echo is settled")
  func temporaryFileElsewhere() {
    var world = Watched()
    _ = world.present("/d")
    let write = world.write("/d/f", by: world.other)
    #expect(world.see(.appeared("/d/f.tmp")) == [])
    #expect(world.end(write) == ["settle 1", "subitemDidChange(/d/f)"])
    #expect(world.see(.appeared("/d/late")) == [])
    #expect(world.see(.vanished("/d/f.tmp")) == [])
    #expect(world.settle(1) == [] && world.looks == [.appeared("/d/late")])
  }

  @Test("C-200: A move is looked at again, and then takes along the presenters who observe")
  func move() {
    var world = Watched()
    let presenter = world.present("/d/f")
    _ = world.present("/d")
    let move = ItemChange.moved(from: "/d/f", to: "/d/g", replaced: false)
    #expect(world.see(move) == ["look again \(move)"])
    #expect(
      world.confirm(move) == [
        "itemDidMove(to: /d/g)*", "subitemDidMove(from: /d/f, to: /d/g)*", "\(presenter) at /d/g",
      ])
    #expect(world.see(.changed("/d/g")) == ["itemDidChange*", "subitemDidChange(/d/g)*"])
  }

  @Test("C-200: A move of a coordinated write isn't a stranger's")
  func coordinatedMove() {
    var world = Watched()
    _ = world.present("/d/f")
    _ = world.present("/d")
    let write = world.write("/d/f", by: world.watcher, .moving)
    // The backup of an item that's being written is reported when that has ended.
    #expect(world.see(.moved(from: "/d/f", to: "/d/f~", replaced: false)) == [])
    _ = world.end(write)
    #expect(world.looks == [.appeared("/d/f~")])
  }

  @Test("C-200: A move that's seen before the writer announces it isn't a stranger's")
  func moveSeenEarly() {
    var world = Watched()
    _ = world.present("/d")
    let write = world.write("/d/f", by: world.watcher, .moving)
    #expect(world.see(.moved(from: "/d/f", to: "/d/g", replaced: false)) == [])
    _ = world.arbiter.itemMoved(by: write, from: "/d/f", to: "/d/g", replaced: false, at: 0)
    #expect(!world.end(write).contains { $0.hasPrefix("look again") } && world.looks.isEmpty)
  }

  @Test("One write is one message, and so is a new file; an item that's gone again before it's notified is none")
  func oneMessage() {
    var world = Watched()
    _ = world.present("/d")
    _ = world.seeAtFirst([.changed("/d/f")])
    _ = world.seeAtFirst([.changed("/d/f"), .changed("/d/f")])
    #expect(world.settle() == ["subitemDidChange(/d/f)*"])
    _ = world.seeAtFirst([.appeared("/d/g")])
    _ = world.seeAtFirst([.changed("/d/g")])
    #expect(world.settle() == ["subitemDidAppear(/d/g)*"])
    _ = world.seeAtFirst([.appeared("/d/h")])
    #expect(world.seeAtFirst([.vanished("/d/h")]) == [])
    world.looks = []
    _ = world.seeAtFirst([.appeared("/d/f.tmp")])
    #expect(world.seeAtFirst([.moved(from: "/d/f.tmp", to: "/d/f", replaced: true)]) == [])
    world.looks.removeFirst()
    #expect(world.settle() == ["subitemDidChange(/d/f)*"])
    #expect(world.arbiter.ledger.settling.isEmpty)
  }

  @Test("A change is told before the move that follows it, and of as many as are waited for none is lost")
  func settlingEnds() {
    var world = Watched()
    _ = world.present("/d/f")
    _ = world.seeAtFirst([.changed("/d/f")])
    let move = ItemChange.moved(from: "/d/f", to: "/d/g", replaced: false)
    #expect(world.seeAtFirst([move]) == ["itemDidChange*", "look again \(move)"])
    world.looks = []
    _ = world.confirm(move)
    var other = Watched()
    _ = other.present("/d", .subitemDidAppear)
    let count = ChangeLedger.settlingCountMax + 1
    for number in 0..<count { _ = other.seeAtFirst([.appeared(ItemPath("/d/\(number)"))]) }
    #expect(other.settle().count == count)
    _ = other.seeAtFirst([.appeared("/d/x")])
    _ = other.arbiter.clientDeparted(other.watcher, at: 0)
    #expect(other.arbiter.ledger.settling.isEmpty)
  }

  @Test("C-200: A new directory that moves before it's told takes along the new files in it")
  func settlingInsideMoved() {
    var world = Watched()
    _ = world.present("/d")
    #expect(world.seeAtFirst([.appeared("/d/a"), .appeared("/d/a/f")]) == [])
    world.looks = []
    #expect(world.seeAtFirst([.moved(from: "/d/a", to: "/d/b", replaced: false)]) == [])
    #expect(world.settle() == ["subitemDidAppear(/d/b)*", "subitemDidAppear(/d/b/f)*"])
    #expect(world.arbiter.ledger.settling.isEmpty)
  }

  @Test("C-200: A change that's seen at the old place of a moved item is reported at the new one, after the move")
  func changeBeforeConfirmedMove() {
    var world = Watched()
    let presenter = world.present("/d/f")
    let move = ItemChange.moved(from: "/d/f", to: "/d/g", replaced: false)
    _ = world.seeAtFirst([move, .changed("/d/f")])
    #expect(world.confirm(move) == ["itemDidMove(to: /d/g)*", "itemDidChange*", "\(presenter) at /d/g"])
    #expect(world.arbiter.ledger.settling.isEmpty)
  }

  @Test("C-200: The end of a new file is told to a presenter that came after it had appeared, and its move too")
  func knownToTheLater() {
    var world = Watched()
    let first = world.present("/d")
    _ = world.seeAtFirst([.appeared("/d/f")])
    let second = world.present("/d/f")
    #expect(world.seeAtFirst([.vanished("/d/f")]) == ["itemDidChange*"])
    world.looks = []
    _ = world.seeAtFirst([.appeared("/d/f")])
    world.looks = []
    _ = world.arbiter.presenterRemoved(first, at: 0)
    _ = world.arbiter.presenterRemoved(second, at: 0)
    #expect(world.arbiter.ledger.settling.isEmpty)
    _ = world.present("/d")
    _ = world.seeAtFirst([.appeared("/d/g")])
    _ = world.present("/d/g")
    let move = ItemChange.moved(from: "/d/g", to: "/d/h", replaced: false)
    #expect(world.seeAtFirst([move]).contains("look again \(move)"))
  }

  @Test("C-202: After lost events nothing waits that they may have concerned, and what ends is told at once")
  func lossEndsSettling() {
    var world = Watched()
    _ = world.present("/d")
    _ = world.seeAtFirst([.appeared("/d/f"), .changed("/d/g")])
    _ = world.seeAtFirst([.unknown("/d")])
    #expect(world.arbiter.ledger.settling.isEmpty)
    _ = world.seeAtFirst([.changed("/d/g")])
    #expect(world.confirm(.vanished("/d/g")) == ["subitemDidChange(/d/g)*"])
    #expect(world.arbiter.ledger.settling.isEmpty)
  }

  @Test("C-202: When events are lost everybody at or inside the place looks again, and it's said that nobody knows")
  func loss() {
    var world = Watched()
    _ = world.present("/d/f")
    _ = world.present("/d", .subitemDidChange)
    #expect(Set(world.see(.unknown("/"))) == ["itemDidChange*", "subitemDidChange(/d)*"])
  }

  @Test("A process that never settles is owed a bounded number of echoes")
  func boundedEchoes() {
    var world = Watched()
    _ = world.present("/d/f")
    for _ in 0..<(ChangeLedger.echoCountMax + 10) {
      let write = world.write("/d/f", by: world.other)
      _ = world.end(write)
    }
    #expect(world.arbiter.ledger.echoes.count == ChangeLedger.echoCountMax)
    _ = world.arbiter.clientDeparted(world.watcher, at: 0)
    #expect(world.arbiter.ledger.echoes.isEmpty)
  }

  @Test("The number of changes put aside beside a write is limited; changes beyond that are reported at once")
  func boundedParking() {
    var world = Watched()
    _ = world.present("/d", .subitemDidAppear)
    let write = world.write("/d/f", by: world.watcher)
    for number in 0..<ChangeLedger.withheldCountMax { #expect(world.see(.appeared(ItemPath("/d/\(number)"))) == []) }
    #expect(world.see(.appeared("/d/beyond")) == ["subitemDidAppear(/d/beyond)*"])
    _ = world.end(write)
    #expect(world.looks.count == ChangeLedger.withheldCountMax)
  }
}
