import SeededRandom
import Testing

@testable import FileAccessArbiter

@Suite("Containers")
struct ContainerTests {
  /// Tells when it's gone, so that a hole that keeps its element alive is noticed.
  private final class Token: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  @Test("A slab holds what an array with holes would, and its copies don't see each other", arguments: UInt64(1)...12)
  func slab(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var slab = Slab<Token>()
    var model: [Int32: Int] = [:]
    var copies: [(slab: Slab<Token>, model: [Int32: Int])] = []
    for number in 0..<2_000 {
      // Phases of growing and of shrinking, so that chunks fill up and are given back.
      let grows = Int.random(in: 0..<10, using: &random) < (number / 400 % 2 == 0 ? 8 : 2)
      if grows || model.isEmpty {
        let index = slab.insert(Token(number))
        #expect(model.updateValue(number, forKey: index) == nil)
      } else if let index = model.keys.sorted().randomElement(using: &random) {
        weak let token = slab[index]
        slab.remove(index)
        model[index] = nil
        if copies.isEmpty { #expect(token == nil) }
      }
      if number % 500 == 250 { copies.append((slab, model)) }
      if number % 700 == 699 { copies.removeAll() }
    }
    copies.append((slab, model))
    for (slab, model) in copies {
      #expect(slab.count == model.count)
      #expect(slab.indices == model.keys.sorted())
      #expect(model.allSatisfy { slab[$0].number == $1 })
      #expect(!slab.contains(-1) && !slab.contains(1_000_000))
    }
  }

  @Test("A slab of many blocks keeps what is in it while others come and go", arguments: UInt64(1)...4)
  func blocks(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var slab = Slab<Token>()
    var live: [(index: Int32, number: Int)] = []
    var copy: (slab: Slab<Token>, live: [(index: Int32, number: Int)])?
    // Up to five blocks, down to a part of the first, and up again.
    for (phase, count) in [18_000, 3_000, 1_000, 9_000, 5_000].enumerated() {
      while live.count != count {
        if live.count < count {
          let number = phase * 100_000 + live.count
          live.append((slab.insert(Token(number)), number))
        } else {
          live.swapAt(Int.random(in: live.indices, using: &random), live.count - 1)
          slab.remove(live.removeLast().index)
        }
      }
      #expect(slab.count == count && Set(live.map(\.index)).count == count)
      let broken = live.filter { slab[$0.index].number != $0.number }
      #expect(broken.isEmpty)
      if phase == 1 { copy = (slab, live) }
    }
    for (index, _) in live { slab.remove(index) }
    #expect(slab.count == 0 && slab.indices == [])
    guard let copy else { return }
    #expect(copy.slab.count == 3_000 && copy.live.allSatisfy { copy.slab[$0.index].number == $0.number })
  }

  @Test("A slab gives back each block that has become empty but one, and that one when few elements are left")
  func blocksGivenBack() {
    var slab = Slab<(UInt64, UInt64)>()
    let blockBytes = Slab<(UInt64, UInt64)>.chunkSize * Slab<(UInt64, UInt64)>.blockSize * 16
    let indices = (0..<40_960).map { slab.insert((UInt64($0), 0)) }
    let full = slab.reservedByteCount
    #expect(full >= 10 * blockBytes && full < 11 * blockBytes)
    for index in indices[8_192...] { slab.remove(index) }
    // Of nine blocks, one is full, and one is empty and kept.
    #expect((full - slab.reservedByteCount + blockBytes / 2) / blockBytes == 7)
    // Coming and going at the edge of a block neither takes memory nor gives it back.
    let atTheEdge = slab.reservedByteCount
    for _ in 0..<10 {
      let index = slab.insert((0, 0))
      #expect(slab.reservedByteCount == atTheEdge)
      slab.remove(index)
      #expect(slab.reservedByteCount == atTheEdge)
    }
    for index in indices[64..<8_192] { slab.remove(index) }
    #expect(slab.count == 64 && slab.reservedByteCount < blockBytes / 2)
    #expect(indices[..<64].allSatisfy { slab[$0].0 == UInt64($0) })
  }

  @Test("A slab starts from the beginning when everything has gone")
  func emptySlab() {
    var slab = Slab<Int>()
    let indices = (0..<1000).map { slab.insert($0) }
    indices.forEach { slab.remove($0) }
    #expect(slab.count == 0 && slab.indices == [])
    #expect(slab.insert(7) == 0)
  }

  @Test("A stale index traps instead of reading what was there")
  func staleIndex() async {
    await #expect(processExitsWith: .failure) {
      var slab = Slab<Int>()
      let index = slab.insert(1)
      slab.remove(index)
      _ = slab.insert(2)
      slab.remove(index)
      print(slab[index])
    }
  }

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

  @Test("A short list is a list, whether it has one element or several", arguments: 0...4)
  func shortList(count: Int) {
    var list = ShortList<Int>()
    for number in 0..<count { list.append(number) }
    #expect(Array(list) == Array(0..<count))
    for index in list.indices { list[index] += 10 }
    #expect(list.map(\.self) == (0..<count).map { $0 + 10 })
    var reserved = ShortList<Int>()
    reserved.reserveCapacity(count)
    for number in 0..<count { reserved.append(number) }
    #expect(Array(reserved) == Array(0..<count))
  }

  @Test("Copies of a box share the value until one of them changes it")
  func box() {
    struct Numbers: ~Copyable, Boxed {
      var list: [Int]
      func duplicate() -> Numbers { Numbers(list: list) }
    }
    var box = Box(Numbers(list: [1]))
    let copy = box
    #expect(unsafe box.address == copy.address)
    box.value.list.append(2)
    #expect(box.value.list == [1, 2] && copy.value.list == [1])
    #expect(unsafe box.address != copy.address)
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

  @Test("What a million of has to be small is small")
  func sizes() {
    #expect(MemoryLayout<ItemTree.Node>.stride <= 48)
    #expect(MemoryLayout<ItemTree.Claim>.stride <= 32)
    #expect(MemoryLayout<ItemTree.Seat>.stride <= 16)
    #expect(MemoryLayout<FileAccessArbiter.Access>.stride <= 88)
    #expect(MemoryLayout<FileAccessArbiter.Access.Item>.stride <= 8)
    #expect(MemoryLayout<FileAccessArbiter.Presenter>.stride <= 40)
  }

  @Test("What presenters have in common is kept once, and until the last of them has gone")
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
