import Foundation
import SystemInterface
import Testing

@testable import VersionStore

/// A version that a process has for itself goes with it.
@Suite("Versions that go with their process", .timeLimit(.minutes(4)))
struct LendingTests {
  private func prepare(_ sandbox: StoreSandbox) throws -> (item: ItemID, source: SystemPath) {
    let file = try sandbox.write("a", "mine")
    let store = try sandbox.store()
    let item = try #require(try store.item(at: file, creating: true))
    _ = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
    return (item, try sandbox.write("copy", "theirs"))
  }

  @Test("It's there until its process ends it, and its source stays as it was")
  func lending() async throws {
    try await withStore { sandbox in
      let (item, source) = try prepare(sandbox)
      let store = try sandbox.store(alive: ["1-2"])
      let lent = try store.lend(contentsOf: source, to: item, named: SystemPath("a"), StoreSandbox.attributes)
      #expect(lent.hash != nil && lent.name == SystemPath("a"))
      // Looks by others leave it alone meanwhile.
      let other = try sandbox.store(alive: ["1-2"])
      try other.recover()
      try other.completeMoves(of: item)
      _ = try other.versions(of: item)
      let target = sandbox.path("b")
      try store.restore(lent, to: target)
      #expect(try sandbox.text(target) == "theirs")
      try store.endLoan(of: lent)
      try store.endLoan(of: lent)
      #expect(try sandbox.texts(item) == ["mine"] && sandbox.text(source) == "theirs")
      #expect(try store.openVersionIDs(of: item) == [])
    }
  }

  @Test("If its process is killed at any call, the next look finds no such version")
  func deaths() async throws {
    func work(_ store: VersionStore, _ item: ItemID, _ source: SystemPath) throws {
      let lent = try store.lend(contentsOf: source, to: item, named: SystemPath("a"), StoreSandbox.attributes)
      try store.endLoan(of: lent)
    }
    let count = try await withStore { sandbox in
      let (item, source) = try prepare(sandbox)
      return try DyingDoor.callCount { door in try work(try sandbox.store(door), item, source) }
    }
    #expect(count > 8)
    var wasThere = false
    for number in 1...count {
      try await withStore { sandbox in
        let (item, source) = try prepare(sandbox)
        let door = DyingDoor.dying(atCall: number)
        if let store = try? sandbox.store(door) { try? work(store, item, source) }
        let place = StoreLayout(root: sandbox.root.appending("store")).directory(of: item)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.description)
        wasThere = wasThere || names.count { VersionID($0) != nil } == 2
        // A list alone, as the next program makes it, without clearing up.
        let texts = try sandbox.texts(item)
        #expect(texts == ["mine"], "call \(number)")
        try sandbox.settle(item)
        #expect(try sandbox.store().openVersionIDs(of: item) == [], "call \(number)")
        #expect(try sandbox.text(source) == "theirs")
      }
    }
    // Some of these processes have left one behind.
    #expect(wasThere)
  }
}
