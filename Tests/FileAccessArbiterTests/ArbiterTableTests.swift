import CompactContainers
import SeededRandom
import Testing

@testable import FileAccessArbiter

@Suite("Tables of the arbiter")
struct ArbiterTableTests {
  @Test("A table finds what a dictionary would, while it grows and while it shrinks", arguments: UInt64(1)...12)
  func table(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var table = Table<Message>()
    var model: [MessageID: Timestamp] = [:]
    for number in 0..<4_000 {
      let grows = Int.random(in: 0..<10, using: &random) < (number / 1_000 % 2 == 0 ? 9 : 1)
      if grows || model.isEmpty {
        let id = MessageID(seed % 2 == 0 ? UInt64(number) : UInt64.random(in: 0...UInt64.max, using: &random))
        table.insert(message(id, since: Timestamp(number)))
        model[id] = Timestamp(number)
      } else if let id = model.keys.randomElement(using: &random) {
        #expect(table.remove(id).since == model.removeValue(forKey: id))
        #expect(!table.contains(id) && table.find(id) == nil)
      }
    }
    #expect(table.count == model.count)
    #expect(table.sortedKeys == model.keys.sorted())
    #expect(model.allSatisfy { table[$0].since == $1 })
  }

  @Test("A table traps when a key is entered twice", arguments: [1, 2] as [UInt64])
  func duplicate(number: UInt64) async {
    await #expect(processExitsWith: .failure) { [number] in
      var table = Table<FileAccessArbiter.Client>()
      for number in 1...2 as ClosedRange<UInt64> { table.insert(.init(id: ClientID(number), givenName: "")) }
      table.insert(.init(id: ClientID(number), givenName: ""))
    }
  }

  private func message(_ id: MessageID, since time: Timestamp) -> Message {
    Message(
      id: id, presenter: PresenterID(1), kind: .itemDidChange,
      origin: Message.Origin(client: ClientID(1), purpose: PurposeID(1), label: ""), since: time)
  }

  @Test("Names of every length come back as they were, and are told from similar ones")
  func names() {
    var tree = ItemTree()
    var paths: [ItemPath] = []
    for count in Array(1...255) + [256, 271, 511, 1_000] {
      let name = (0..<count).map { UInt8(0x30 + ($0 * 7 + count) % 60) }
      let others = [name.count - 1, name.count / 2].map { position in
        var other = name
        other[position] = 0
        return other
      }
      paths += ([name] + others).map { ItemPath(canonical: [ItemPath.slash] + $0) }
    }
    paths = Array(Set(paths)).sorted()
    let claims = paths.map { tree.attachClaim(access: AccessID(1), item: 0, mode: .read, at: $0) }
    #expect(tree.nodes.count == paths.count + 1)
    for (path, claim) in zip(paths, claims) {
      #expect(tree.node(at: path) == tree.claims[claim].node)
      #expect(tree.path(of: tree.claims[claim].node) == path)
    }
    claims.forEach { tree.detachClaim($0) }
    #expect(tree.names.blockCount == 0)
  }

  @Test("Each node keeps the number it got when it was reached first, also after the table has grown")
  func waitNodeNumbers() {
    var numbers = WaitNodeNumbers()
    // Neighbours, multiples of large powers of two, and the two kinds with one number.
    let nodes = (0..<500).flatMap { number -> [WaitNode] in
      [.access(AccessID(number)), .message(MessageID(number)), .access(AccessID((number + 1) << 40))]
    }
    for (number, node) in nodes.enumerated() {
      #expect(numbers.number(of: node) == nil)
      #expect(numbers.insert(node) == (number, true))
    }
    for (number, node) in nodes.enumerated() {
      #expect(numbers[number] == node && numbers.number(of: node) == number)
      #expect(numbers.insert(node) == (number, false))
    }
    #expect(numbers.count == nodes.count && numbers.number(of: .access(AccessID(500))) == nil)
  }
}

@Suite("An arbiter that nobody needs any more")
struct FootprintTests {
  @Test("Nothing is left of 5,000 accesses and presenters when all have gone")
  func everythingGoes() {
    var arbiter = FileAccessArbiter(tracksInterest: true)
    arbiter.clientJoined(ClientID(1), name: "test")
    let numbers = UInt64(1)...5_000
    for number in numbers {
      let path = ItemPath("/d\(number % 50)/a file with a rather long name, number \(number)")
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(number), label: "A", items: [.init(path, .read(withoutChanges: false))])
      _ = arbiter.accessRequested(AccessID(number), request, at: 0)
      let registration = PresenterRegistration(
        client: ClientID(1), purpose: PurposeID(number), label: "P", callbacks: .all, path: path)
      _ = arbiter.presenterAdded(PresenterID(number), registration, at: 0)
    }
    #expect(arbiter.tree.nodes.count == 5_051)
    for number in numbers {
      _ = arbiter.accessReleased(AccessID(number), at: 0)
      _ = arbiter.presenterRemoved(PresenterID(number), at: 0)
    }
    _ = arbiter.takeInterestChanges()
    #expect(arbiter.isQuiescent && arbiter.presenters.isEmpty)
    #expect(arbiter.tree.nodes.count == 1 && arbiter.tree.seats.count == 0 && arbiter.tree.names.blockCount == 0)
    #expect(arbiter.tree.branches.count == 1 && arbiter.profiles.count == 0)
    #expect(arbiter.tree.journal.dirtyNodes.capacity < 1_000 && arbiter.tree.journal.removals.capacity < 1_000)
  }

  @Test(
    "T-6: 19 of 20 bytes are given back when 10,000 presenters and claims go, in whatever order",
    arguments: UInt64(0)...1)
  func memoryReturns(seed: UInt64) {
    var arbiter = FileAccessArbiter(tracksInterest: true)
    arbiter.clientJoined(ClientID(1), name: "test")
    let fresh = arbiter.reservedByteCount
    var numbers = Array(UInt64(1)...10_000)
    for number in numbers {
      let registration = PresenterRegistration(
        client: ClientID(1), purpose: PurposeID(number), label: "P", callbacks: .all,
        path: ItemPath("/presented/\(number % 100)/a file with a rather long name, number \(number)"))
      _ = arbiter.presenterAdded(PresenterID(number), registration, at: 0)
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(20_000 + number), label: "A",
        items: [.init(ItemPath("/claimed/\(number % 100)/\(number)"), .write(.update))])
      _ = arbiter.accessRequested(AccessID(number), request, at: 0)
      _ = arbiter.takeInterestChanges()
    }
    let peak = arbiter.reservedByteCount - fresh
    #expect(peak > 10_000 * 150)
    if seed > 0 {
      var random = SplitMix(seed: seed)
      numbers.shuffle(using: &random)
    }
    for number in numbers {
      _ = arbiter.accessReleased(AccessID(number), at: 0)
      _ = arbiter.presenterRemoved(PresenterID(number), at: 0)
      _ = arbiter.takeInterestChanges()
    }
    #expect((arbiter.reservedByteCount - fresh) * 20 <= peak)
  }

  @Test("Values of which there may be a million are small")
  func sizes() {
    #expect(MemoryLayout<ItemTree.Node>.stride <= 48)
    #expect(MemoryLayout<ItemTree.Claim>.stride <= 32)
    #expect(MemoryLayout<ItemTree.Seat>.stride <= 16)
    #expect(MemoryLayout<FileAccessArbiter.Access>.stride <= 88)
    #expect(MemoryLayout<FileAccessArbiter.Access.Item>.stride <= 8)
    #expect(MemoryLayout<FileAccessArbiter.Presenter>.stride <= 40)
  }

  @Test("Values that presenters have in common are kept once, and until the last of them has gone")
  func profiles() {
    var arbiter = FileAccessArbiter()
    for client in 1...2 { arbiter.clientJoined(ClientID(UInt64(client)), name: "test") }
    func register(_ number: UInt64, client: UInt64, _ label: String, servesWhileWaiting: Bool = true) {
      var registration = PresenterRegistration(
        client: ClientID(client), purpose: PurposeID(number), label: label, callbacks: .all, path: "/f")
      registration.servesWhileWaiting = servesWhileWaiting
      _ = arbiter.presenterAdded(PresenterID(number), registration, at: 0)
    }
    register(1, client: 1, "a label that is not short")
    register(2, client: 1, "a label that is not " + "short")
    #expect(arbiter.profiles.count == 1)
    register(3, client: 2, "a label that is not short")
    register(4, client: 1, "another")
    register(5, client: 1, "another", servesWhileWaiting: false)
    #expect(arbiter.profiles.count == 4)
    #expect(
      arbiter.presenters[PresenterID(4)].servesWhileWaiting && !arbiter.presenters[PresenterID(5)].servesWhileWaiting)
    _ = arbiter.presenterRemoved(PresenterID(1), at: 0)
    #expect(arbiter.profiles.count == 4 && arbiter.presenters[PresenterID(2)].label == "a label that is not short")
    _ = arbiter.clientDeparted(ClientID(1), at: 0)
    #expect(arbiter.profiles.count == 1)
    _ = arbiter.presenterRemoved(PresenterID(3), at: 0)
    #expect(arbiter.profiles.count == 0 && arbiter.presenters.isEmpty)
  }
}
