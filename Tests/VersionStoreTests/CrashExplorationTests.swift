import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

/// The process ends at each call of each operation: the next one finds the state before or after it.
@Suite("A store of versions after a crash", .timeLimit(.minutes(8)))
struct CrashExplorationTests {
  /// When the contents are hashed.
  enum Hashing: CaseIterable, Sendable {
    case atOnce
    /// The versions that are there are hashed, what's added isn't yet.
    case later
    /// None is hashed.
    case lastly

    var limits: VersionStoreLimits { self == .atOnce ? VersionStoreLimits() : hashingLater }
  }

  /// An operation on a store with two versions, one of which has the contents that are added.
  enum Operation: CaseIterable, Sendable {
    case add, addEqual, addPackage, move, moveLent, movePackage, replace, replaceEqual, remove, removeShared, retire,
      reinstate

    /// Those of a normal run, or all.
    static let explored =
      Budget.isLong ? allCases : [.addEqual, .move, .moveLent, .replaceEqual, .removeShared, .reinstate]

    /// The state before it.
    func prepare(_ sandbox: StoreSandbox, _ item: ItemID, _ hashing: Hashing) throws {
      let store = try sandbox.store()
      try sandbox.write("a", "old")
      _ = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      try sandbox.write("a", "shared")
      _ = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      let other = try #require(ItemID(String(repeating: "0", count: 32)))
      _ = try store.add(contentsOf: sandbox.path("a"), to: other, StoreSandbox.attributes)
      if hashing == .later { #expect(try store.performTasks() == []) }
      try sandbox.write("a", self == .addEqual || self == .replaceEqual ? "shared" : "new", mode: 0o640)
      try sandbox.write("p/1", "shared", mode: 0o600)
      try sandbox.write("p/in/2", "two")
      if self == .move || self == .moveLent { try store.prepareAddition() }
      if self == .reinstate { try store.retire(#require(store.versions(of: item).first).id, of: item) }
    }

    func run(_ sandbox: StoreSandbox, _ door: any FileSystem, _ item: ItemID) throws {
      let store = try sandbox.store(door)
      switch self {
      case .add, .addEqual:
        _ = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      case .addPackage: _ = try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes)
      case .move:
        _ = try store.add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes, taking: .moving)
      case .moveLent:
        // The file goes with the process that was to keep it.
        let source = try sandbox.lend("new")
        _ = try store.add(
          contentsOf: source, to: item, named: SystemPath("a"), StoreSandbox.attributes, taking: .moving)
      case .movePackage:
        _ = try store.add(contentsOf: sandbox.path("p"), to: item, StoreSandbox.attributes, taking: .moving)
      case .replace, .replaceEqual:
        let path = sandbox.path("a")
        _ = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
          try door.replaceContents(of: path, with: Array("newer".utf8), over: target, settling: settle)
        }
      case .remove: try store.remove(#require(store.versions(of: item).first).id, of: item)
      case .removeShared: try store.remove(#require(store.versions(of: item).last).id, of: item)
      case .retire: try store.retire(#require(store.versions(of: item).first).id, of: item)
      case .reinstate: _ = try store.reinstate(#require(store.removedVersions(of: item).first).version.id, of: item)
      }
    }
  }

  /// Between keeping a file and replacing it, both have its contents.
  private func intermediate(_ operation: Operation, _ item: ItemID, _ hashing: Hashing) async throws -> String? {
    if operation != .replace && operation != .replaceEqual { return nil }
    return try await withStore(hashing.limits) { sandbox in
      try operation.prepare(sandbox, item, hashing)
      _ = try sandbox.store().add(contentsOf: sandbox.path("a"), to: item, StoreSandbox.attributes)
      return try state(sandbox, item)
    }
  }

  /// The texts of an item's versions, what is where the files are, and that the store has nothing else.
  ///
  /// A file that couldn't be removed beside its own may be left after an error, not after a crash.
  private func state(_ sandbox: StoreSandbox, _ item: ItemID, afterError: Bool = false) throws -> String {
    try sandbox.settle(item)
    let store = try sandbox.store()
    let texts = try sandbox.texts(item)
    let removed = try store.removedVersions(of: item).map { try sandbox.text(store.path(of: $0)) }
    let rest = try sandbox.tree("store").filter { $0.hasPrefix("steps/") || $0.hasPrefix("contents/") }
      .filter { $0.split(separator: "/").count > 2 || $0.hasPrefix("steps/") }
    let files = try sandbox.tree("files").filter { !afterError || !$0.contains(".fcsave") }
    return "\(texts) removed \(removed) \(rest) \(files)"
  }

  @Test("It's the state before or after, and nothing is left over", arguments: Operation.explored, Hashing.allCases)
  func death(operation: Operation, hashing: Hashing) async throws {
    let item = ItemID.drawn()
    let before = try await withStore(hashing.limits) { sandbox in
      try operation.prepare(sandbox, item, hashing)
      return try state(sandbox, item)
    }
    let (after, callCount) = try await withStore(hashing.limits) { sandbox in
      try operation.prepare(sandbox, item, hashing)
      let callCount = try DyingDoor.callCount { try operation.run(sandbox, $0, item) }
      return (try state(sandbox, item), callCount)
    }
    #expect(before != after)
    let between = try await intermediate(operation, item, hashing)
    var ends: [String: Int] = [:]
    // The last call may be what makes it so.
    for number in explored(callCount) + [callCount + 1] {
      try await withStore(hashing.limits) { sandbox in
        try operation.prepare(sandbox, item, hashing)
        try? operation.run(sandbox, DyingDoor.dying(atCall: number), item)
        let state = try state(sandbox, item)
        #expect([before, after, between].contains(state), "\(operation), call \(number): \(state)")
        ends[state, default: 0] += 1
      }
    }
    // A version whose file wasn't replaced is none.
    #expect(ends.count == 2)
  }

  @Test(
    "An error at any call is reported, and changes nothing or all of it", arguments: Operation.explored,
    Hashing.allCases)
  func errors(operation: Operation, hashing: Hashing) async throws {
    let item = ItemID.drawn()
    let before = try await withStore(hashing.limits) { sandbox in
      try operation.prepare(sandbox, item, hashing)
      return try state(sandbox, item)
    }
    let (after, callCount) = try await withStore(hashing.limits) { sandbox in
      try operation.prepare(sandbox, item, hashing)
      let callCount = try DyingDoor.callCount { try operation.run(sandbox, $0, item) }
      return (try state(sandbox, item), callCount)
    }
    let between = try await intermediate(operation, item, hashing)
    for number in explored(callCount) {
      try await withStore(hashing.limits) { sandbox in
        try operation.prepare(sandbox, item, hashing)
        try? operation.run(sandbox, DyingDoor.failing(atCall: number), item)
        #expect(try sandbox.openFiles() == [], "\(operation), call \(number)")
        let state = try state(sandbox, item, afterError: true)
        #expect([before, after, between].contains(state), "\(operation), call \(number): \(state)")
      }
    }
  }
}
