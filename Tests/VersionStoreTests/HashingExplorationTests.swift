import ContentHashing
import SeededRandom
import Synchronization
import SystemInterface
import Testing

@testable import VersionStore

/// A version is hashed while something else is done with it, by another thread or process without any claim.
///
///     hashing        ----|----      // | = a call
///     the other         [ ]         // runs whole before that call, or the other way round
@Suite("Hashing beside other operations", .timeLimit(.minutes(8)))
struct HashingExplorationTests {
  enum Other: CaseIterable, Sendable {
    case hash, remove, removeEqual, change, restore, add, move, replace, adopt, list, verify

    func run(_ sandbox: StoreSandbox, _ door: any FileSystem, _ item: ItemID, _ id: VersionID) throws {
      let store = try sandbox.store(door)
      switch self {
      case .hash: try store.performTasks()
      case .remove: try store.remove(id, of: item)
      case .removeEqual: try store.remove(try #require(store.versionIDs(of: item).first), of: item)
      case .change: _ = try store.change(id, of: item) { $0.resolutionTime = 7 }
      case .restore: try store.restore(#require(try store.versionIfPresent(id, of: item)), to: sandbox.path("b"))
      case .add: _ = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      case .move: _ = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes, taking: .moving)
      case .replace:
        _ = try store.keep(sandbox.path("a"), of: item, StoreSandbox.attributes) { target, settle in
          try door.replaceContents(of: sandbox.path("a"), with: Array("newer".utf8), over: target, settling: settle)
        }
      case .adopt:
        let second = try VersionStore(
          at: sandbox.root.appending("other"), files: door, worker: "2", limits: sandbox.limits, time: { 9 })
        _ = try second.adopt(item, at: sandbox.path("elsewhere"), from: store)
      case .list: #expect(try store.versions(of: item).count == 2)
      case .verify: try store.verify(#require(try store.versionIfPresent(id, of: item)))
      }
    }

    /// The versions afterwards; one of equal contents is older than the one that's hashed.
    var texts: [String] {
      switch self {
      case .remove, .removeEqual: ["same"]
      case .add, .move, .replace: ["same", "same", "same"]
      case .adopt: []
      default: ["same", "same"]
      }
    }
  }

  private func prepare(_ sandbox: StoreSandbox, _ item: ItemID) throws -> VersionID {
    let store = try sandbox.store()
    let file = try sandbox.write("a", "same")
    _ = try store.add(contentsOf: file, to: item, StoreSandbox.attributes)
    #expect(try store.performTasks() == [])
    return try store.add(contentsOf: file, to: item, StoreSandbox.attributes).id
  }

  /// Everything that must hold when both have ended, and what was left is done.
  private func check(_ sandbox: StoreSandbox, _ item: ItemID, _ other: Other, _ place: String) throws {
    try sandbox.settle(item)
    #expect(try sandbox.texts(item) == other.texts, "\(place)")
    let store = try sandbox.store()
    let versions = try store.versions(of: item)
    #expect(versions.allSatisfy { $0.hash != nil }, "\(place)")
    if other == .change { #expect(versions.last?.resolutionTime == 7, "\(place)") }
    if other == .restore { #expect(try sandbox.text(sandbox.path("b")) == "same", "\(place)") }
    #expect(try sandbox.tree("store/steps") == [], "\(place)")
    let contents = try sandbox.tree("store/contents").filter { $0.contains("/") }
    // A version that gets contents at the moment at which their last one goes keeps them by its own name alone.
    let countMin = versions.isEmpty || other == .removeEqual ? 0 : 1
    #expect((countMin...(versions.isEmpty ? 0 : 1)).contains(contents.count), "\(place): \(contents)")
    if other == .adopt {
      let second = try VersionStore(
        at: sandbox.root.appending("other"), files: DyingDoor.hurried(), worker: "2", limits: sandbox.limits,
        time: { 9 })
      let adopted = try second.versions(of: item)
      #expect(adopted.count == 2, "\(place)")
      for version in adopted {
        try second.verify(version)
        #expect(try sandbox.text(second.path(of: version)) == "same", "\(place)")
      }
    }
  }

  @Test("Nothing is lost or left over when something else happens before any call of it", arguments: Other.allCases)
  func interrupted(other: Other) async throws {
    let item = ItemID.drawn()
    let callCount = try await withStore(hashingLater) { sandbox in
      _ = try prepare(sandbox, item)
      return try DyingDoor.callCount { try sandbox.store($0).performTasks() }
    }
    for number in 1...callCount {
      try await withStore(hashingLater) { sandbox in
        let id = try prepare(sandbox, item)
        let problem = Mutex<String?>(nil)
        let door = DyingDoor.interrupted(atCall: number) {
          do { try other.run(sandbox, DyingDoor.hurried(), item, id) } catch { problem.withLock { $0 = "\(error)" } }
        }
        // It may find that the version is gone.
        _ = try? sandbox.store(door).performTasks()
        #expect(problem.withLock { $0 } == nil, "\(other), call \(number)")
        try check(sandbox, item, other, "\(other) before call \(number)")
      }
    }
  }

  @Test("It happens before any call of something else, and nothing is lost or left over", arguments: Other.allCases)
  func interrupting(other: Other) async throws {
    let item = ItemID.drawn()
    let callCount = try await withStore(hashingLater) { sandbox in
      let id = try prepare(sandbox, item)
      return try DyingDoor.callCount { try other.run(sandbox, $0, item, id) }
    }
    for number in explored(callCount) {
      try await withStore(hashingLater) { sandbox in
        let id = try prepare(sandbox, item)
        let door = DyingDoor.interrupted(atCall: number) {
          _ = try? sandbox.store().performTasks()
        }
        try other.run(sandbox, door, item, id)
        try check(sandbox, item, other, "before call \(number) of \(other)")
      }
    }
  }

  @Test("It ends at any call, or an error meets it there, and the next process does it", arguments: [false, true])
  func ends(fails: Bool) async throws {
    let item = ItemID.drawn()
    let callCount = try await withStore(hashingLater) { sandbox in
      _ = try prepare(sandbox, item)
      return try DyingDoor.callCount { try sandbox.store($0).performTasks() }
    }
    for number in 1...callCount {
      for removes in [false, true] {
        try await withStore(hashingLater) { sandbox in
          let id = try prepare(sandbox, item)
          _ = try? sandbox.store(fails ? DyingDoor.failing(atCall: number) : DyingDoor.dying(atCall: number))
            .performTasks()
          if removes { try sandbox.store().remove(id, of: item) }
          try check(sandbox, item, removes ? .remove : .hash, "call \(number), removes: \(removes)")
        }
      }
    }
  }
}
