import Testing

@testable import FileAccessArbiter

@Suite("Identity and own presenter")
struct IdentityTests {
  @Test(
    "C-110, C-111: An access by C(P) asks and tells P nothing, and others everything",
    arguments: ItemAccess.writes + [.read])
  func ownPresenter(access: ItemAccess) {
    let harness = ArbiterHarness()
    let own = harness.presenter(at: "/d/f")
    let other = harness.presenter(at: "/d/f")
    let id = harness.request([.init("/d/f", access)], own: own)
    harness.answerAll(hasReacquirer: true)
    harness.release(id, .changed)
    harness.answerAll()
    #expect(harness.taken(own).isEmpty && harness.taken(other).count >= 2)
    harness.finish()
  }

  @Test("C-112, C-203, C-204: Version messages reach all presenters, the own one too, and directories around")
  func versions() {
    let harness = ArbiterHarness()
    let own = harness.presenter(at: "/d/f")
    let other = harness.presenter(at: "/d/f")
    let directory = harness.presenter(at: "/d", callbacks: [.subitemVersions])
    let fallback = harness.presenter(at: "/k.pkg", callbacks: [.itemDidChange])
    let changes: [Message.VersionChange] = [.gained, .resolved, .lost]
    for change in changes {
      harness.apply(.version(announcement(harness, own, "/d/f"), change, "v1"))
      harness.answerAll()
    }
    harness.apply(.version(announcement(harness, own, "/k.pkg/a"), .gained, "v1"))
    #expect(harness.taken(own) == changes.map { .itemVersion($0, "v1") })
    #expect(harness.taken(other) == changes.map { .itemVersion($0, "v1") })
    #expect(harness.taken(directory) == changes.map { .subitemVersion("/d/f", $0, "v1") })
    #expect(harness.taken(fallback) == [.itemDidChange])
    harness.answerAll()
    harness.apply(.version(announcement(harness, fallback, "/k.pkg/a"), .gained, "v1"))
    #expect(harness.taken(fallback) == [], "its own")
    harness.finish()
  }

  @Test("C-205, C-206: Ubiquity attributes reach those who observe one of them, with only what they observe")
  func ubiquity() {
    let harness = ArbiterHarness()
    let some = harness.presenter(at: "/d/f", observing: ["a", "c"])
    let none = harness.presenter(at: "/d/f", observing: ["x"])
    let all = harness.presenter(at: "/d/f", client: 2)
    let own = harness.presenter(at: "/d/f")
    let elsewhere = harness.presenter(at: "/d")
    harness.apply(.ubiquity(announcement(harness, own, "/d/f"), ["a", "b"]))
    #expect(harness.taken(some) == [.itemDidChangeUbiquityAttributes(["a"])])
    #expect(harness.taken(all) == [.itemDidChangeUbiquityAttributes(["a", "b"])])
    for presenter in [none, own, elsewhere] { #expect(harness.taken(presenter).isEmpty) }
    harness.finish()
  }

  private func announcement(_ harness: ArbiterHarness, _ own: PresenterID, _ path: ItemPath) -> Announcement {
    Announcement(
      client: ClientID(1), purpose: harness.purpose(of: own), ownPresenter: own, label: "test", path: path)
  }

  @Test(
    "C-115, C-116: Accesses of one purpose overlap, in one process or two", arguments: [UInt64(1), 2], ItemAccess.writes
  )
  func samePurpose(client: UInt64, access: ItemAccess) {
    let harness = ArbiterHarness()
    let purpose = harness.newPurpose()
    let first = harness.request([.init("/d/f", access)], purpose: purpose)
    let second = harness.request([.init("/d/f", access)], client: client, purpose: purpose)
    #expect(harness.isGranted(first) && harness.isGranted(second))
    harness.finish()
  }

  @Test("C-121, C-122: P without a location gets nothing; after an own access it's asked, and then gets messages")
  func lateLocation() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: nil)
    harness.release(harness.write("/d/new"))
    #expect(harness.world.located.isEmpty)
    harness.release(harness.write("/d/new", own: presenter))
    #expect(harness.world.located == [presenter])
    harness.locate(presenter, at: "/d/new")
    #expect(harness.taken(presenter).isEmpty)
    harness.read("/d/new")
    #expect(harness.taken(presenter) == [.relinquishToReader])
    harness.finish()
  }

  @Test("C-197, C-207: A presenter that has a location isn't located again")
  func locatedOnce() {
    let harness = ArbiterHarness()
    let presenter = harness.presenter(at: "/d/f", callbacks: [.relinquishToReader])
    harness.release(harness.write("/d/f", own: presenter))
    #expect(harness.world.located.isEmpty)
    harness.locate(presenter, at: "/elsewhere")
    harness.read("/elsewhere")
    #expect(harness.taken(presenter).isEmpty)
    harness.finish()
  }
}
