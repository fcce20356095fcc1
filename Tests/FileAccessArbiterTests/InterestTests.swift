import Testing

@testable import FileAccessArbiter

@Suite("Others may make some accesses unasked")
struct InterestTests {
  private static let client = ClientID(1)
  private static let accesses: [ItemAccess] =
    [.read(withoutChanges: false), .read(withoutChanges: true), .readAll(withoutChanges: false)]
    + WriteIntent.allCases.map(ItemAccess.write)

  private func makeArbiter() -> FileAccessArbiter {
    var arbiter = FileAccessArbiter(packageExtensions: ["pkg"], fingerprintSeed: 1, tracksInterest: true)
    arbiter.clientJoined(Self.client, name: "test")
    return arbiter
  }

  private func request(_ number: UInt64, _ items: AccessRequest.Item...) -> AccessRequest {
    AccessRequest(client: Self.client, purpose: PurposeID(number), label: "A\(number)", items: items)
  }

  private func change(_ path: ItemPath, _ old: ItemInterest, _ new: ItemInterest) -> InterestChange? {
    PathFingerprint.prefixes(of: path, seed: 1).last.map { InterestChange(fingerprint: $0, old: old, new: new) }
  }

  @Test("A claim keeps others from what it would conflict with, at its item and inside", arguments: accesses)
  func claims(access: ItemAccess) {
    var arbiter = makeArbiter()
    _ = arbiter.accessRequested(AccessID(1), request(1, .init("/d", access)), at: 0)
    let mode = LockMode(access)
    for other in [ItemAccess.read(withoutChanges: false), .write(.update)] {
      let isFreeHere = !ConflictRules.conflict(mode, LockMode(other), .same)
      #expect(arbiter.admits(other, at: "/d") == isFreeHere, "\(other)")
      let isFreeInside = !ConflictRules.conflict(mode, LockMode(other), .firstContainsSecond)
      #expect(arbiter.admits(other, at: "/d/x/f") == isFreeInside, "\(other)")
      #expect(arbiter.admits(other, at: "/dd"))
      #expect(arbiter.admits(other, at: "/"))
    }
    #expect(arbiter.takeInterestChanges() == [change("/d", [], ItemInterest(access))])
  }

  @Test("A presenter is asked by all accesses of its item, and told of writes inside")
  func presenters() {
    var arbiter = makeArbiter()
    let registration = PresenterRegistration(
      client: Self.client, purpose: PurposeID(9), label: "P", callbacks: .all, path: "/d")
    _ = arbiter.presenterAdded(PresenterID(1), registration, at: 0)
    #expect(!arbiter.admits(.read(withoutChanges: true), at: "/d"))
    #expect(!arbiter.admits(.write(.update), at: "/d"))
    #expect(arbiter.admits(.read(withoutChanges: false), at: "/d/f"))
    #expect(!arbiter.admits(.write(.metadataOnly), at: "/d/f"))
    #expect(arbiter.takeInterestChanges() == [change("/d", [], .presenter)])
    _ = arbiter.presenterRemoved(PresenterID(1), at: 0)
    #expect(arbiter.takeInterestChanges() == [change("/d", .presenter, [])])
    #expect(arbiter.admits(.write(.update), at: "/d/f"))
  }

  @Test("Packages, what is inside them, and accesses of everything inside always ask")
  func neverAdmitted() {
    let arbiter = makeArbiter()
    for path: ItemPath in ["/a.pkg", "/a.pkg/f", "/d/a.pkg/x/f", "/a.pkg/b.pkg"] {
      #expect(arbiter.isInPackage(path))
      #expect(!arbiter.admits(.read(withoutChanges: true), at: path))
    }
    for path: ItemPath in ["/", "/a", "/a.pkgs/f", "/.pkg/f", "/pkg"] {
      #expect(!arbiter.isInPackage(path))
      #expect(arbiter.admits(.read(withoutChanges: true), at: path))
    }
    for access in Self.accesses where LockMode(access).isDeep { #expect(!arbiter.admits(access, at: "/f")) }
  }

  @Test("A step tells one change for each item whose claims make another set than before")
  func journal() {
    var arbiter = makeArbiter()
    _ = arbiter.accessRequested(
      AccessID(1), request(1, .init("/f", .read(withoutChanges: false)), .init("/f", .write(.deleting))), at: 0)
    #expect(arbiter.takeInterestChanges() == [change("/f", [], ItemInterest(.write(.deleting)))])
    _ = arbiter.accessRequested(AccessID(2), request(2, .init("/f", .write(.update))), at: 0)
    #expect(arbiter.takeInterestChanges().isEmpty)
    // The writer that waited is granted, and its claim counts as before.
    _ = arbiter.accessReleased(AccessID(1), at: 0)
    #expect(
      arbiter.takeInterestChanges() == [
        change("/f", ItemInterest(.write(.deleting)), [.blocksReading, .blocksWriting])
      ])
    _ = arbiter.accessReleased(AccessID(2), at: 0)
    #expect(arbiter.takeInterestChanges() == [change("/f", [.blocksReading, .blocksWriting], [])])
    #expect(arbiter.takeInterestChanges().isEmpty)
  }

  @Test("A move takes the interests along, and the mover's place stays protected until it ends")
  func moves() {
    var arbiter = makeArbiter()
    _ = arbiter.accessRequested(AccessID(1), request(1, .init("/d", .write(.moving))), at: 0)
    let registration = PresenterRegistration(
      client: Self.client, purpose: PurposeID(9), label: "P", callbacks: [], path: "/d/f")
    _ = arbiter.presenterAdded(PresenterID(1), registration, at: 0)
    _ = arbiter.takeInterestChanges()
    _ = arbiter.itemMoved(by: AccessID(1), from: "/d", to: "/e", replaced: false, at: 0)
    let deep = ItemInterest(.write(.moving))
    #expect(
      Set(arbiter.takeInterestChanges())
        == Set(
          [change("/e", [], deep), change("/e/f", [], .presenter), change("/d/f", .presenter, [])].compactMap(\.self)))
    #expect(!arbiter.admits(.read(withoutChanges: true), at: "/d"))
    _ = arbiter.accessReleased(AccessID(1), at: 0)
    #expect(
      Set(arbiter.takeInterestChanges()) == Set([change("/d", deep, []), change("/e", deep, [])].compactMap(\.self)))
    #expect(!arbiter.admits(.read(withoutChanges: true), at: "/e/f"))
  }

  @Test("Nothing is told unless it's wanted")
  func untracked() {
    var arbiter = FileAccessArbiter()
    arbiter.clientJoined(Self.client, name: "test")
    _ = arbiter.accessRequested(AccessID(1), request(1, .init("/f", .write(.update))), at: 0)
    #expect(arbiter.takeInterestChanges().isEmpty)
    #expect(!arbiter.admits(.read(withoutChanges: true), at: "/f"))
  }

  @Test("Two items with one fingerprint are told apart, and each is counted")
  func collision() throws {
    let (first, second) = Self.collidingPaths
    try #require(first != second)
    try #require(change(first, [], .presenter) == change(second, [], .presenter))
    var arbiter = makeArbiter()
    _ = arbiter.accessRequested(AccessID(1), request(1, .init(first, .write(.update))), at: 0)
    #expect(!arbiter.admits(.write(.update), at: first))
    #expect(arbiter.admits(.write(.update), at: second))
    let effects = arbiter.accessRequested(AccessID(2), request(2, .init(second, .write(.update))), at: 0)
    guard case .grant(AccessID(2), _) = effects.first else {
      Issue.record("\(effects)")
      return
    }
    let kinds = ItemInterest(.write(.update))
    #expect(arbiter.takeInterestChanges() == [change(first, [], kinds), change(second, [], kinds)])
    _ = arbiter.accessReleased(AccessID(1), at: 0)
    #expect(arbiter.takeInterestChanges() == [change(first, kinds, [])])
    #expect(arbiter.admits(.write(.update), at: first))
    #expect(!arbiter.admits(.write(.update), at: second))
  }

  /// Two names of 16 bytes in the root: the second word cancels the effect of the first one.
  private static var collidingPaths: (ItemPath, ItemPath) {
    func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
      let product = left.multipliedFullWidth(by: right)
      return product.high ^ product.low
    }
    func path(_ words: UInt64...) -> ItemPath {
      ItemPath(
        canonical: [ItemPath.slash]
          + words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }
    let start = PathFingerprint.root(seed: 1).rawValue ^ (16 &* 0xd6e8_feb8_6659_fd93)
    func mixed(_ word: UInt64) -> UInt64 { fold(start ^ word, 0x9e37_79b9_7f4a_7c15) }
    let letters: UInt64 = 0x6161_6161_6161_6161
    let first = path(letters, letters)
    for number in 1..<UInt64.max {
      let second = path(letters + number, letters ^ mixed(letters) ^ mixed(letters + number))
      if !second.bytes.dropFirst().contains(ItemPath.slash) { return (first, second) }
    }
    return (first, first)
  }
}

@Suite("Accesses that become known later")
struct AdoptionTests {
  @Test("An access that went ahead unasked is waited for like any other, in order")
  func waitedFor() {
    let harness = ArbiterHarness()
    let reader = harness.adopt("/d/f", .read(withoutChanges: false))
    let writer = harness.write("/d", .deleting)
    let late = harness.read("/d/f")
    #expect(harness.isGranted(reader) && harness.isWaiting(writer) && harness.isWaiting(late))
    harness.release(reader)
    #expect(harness.isGranted(writer) && harness.isWaiting(late))
    harness.release(writer)
    #expect(harness.isGranted(late))
    harness.finish()
  }

  @Test("No presenter is asked about it; a presenter of the item by the time it ends is notified")
  func presenters() {
    let harness = ArbiterHarness()
    let writer = harness.adopt("/d/f", .write(.update))
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToWriter, .itemDidChange])
    #expect(harness.taken(presenter).isEmpty)
    harness.release(writer)
    #expect(harness.taken(presenter) == [.itemDidChange])
    harness.finish()
  }

  @Test("A deadlock through an access that went ahead inside another one is found")
  func deadlock() {
    let harness = ArbiterHarness()
    let outer = harness.read("/a")
    let inner = harness.adopt("/b", .write(.update), inside: .access(outer))
    let other = harness.write("/c")
    // outer → inner → waiter → other → closing → outer
    let waiter = harness.write("/c", inside: .access(inner))
    #expect(harness.isWaiting(waiter))
    let closing = harness.write("/a", inside: .access(other))
    #expect(harness.isDeadlocked(closing) != harness.isDeadlocked(waiter))
    harness.finish()
  }

  @Test("It moves with its item, and is told so")
  func moves() {
    let harness = ArbiterHarness()
    let mover = harness.write("/d", .update)
    let reader = harness.adopt("/d/f", .read(withoutChanges: false))
    harness.move(by: mover, from: "/d", to: "/e")
    #expect(harness.path(of: reader) == "/e/f")
    harness.finish()
  }

  @Test("A claim in somebody's way can't be adopted")
  func refused() async {
    await #expect(processExitsWith: .failure) {
      var arbiter = FileAccessArbiter()
      arbiter.clientJoined(ClientID(1), name: "test")
      let request = AccessRequest(
        client: ClientID(1), purpose: PurposeID(1), label: "A", items: [.init("/f", .write(.update))])
      _ = arbiter.accessRequested(AccessID(1), request, at: 0)
      _ = arbiter.accessAdopted(AccessID(2), request, at: 0)
    }
  }
}
