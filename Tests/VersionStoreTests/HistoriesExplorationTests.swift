import ContentHashing
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

/// The expected state of a store, kept in the plainest way.
private struct Reference {
  var texts: [String: String] = [:]
  /// Which history a file has.
  var histories: [String: Int] = [:]
  var versions: [Int: [String]] = [:]
  /// Those of files that were missed a moment ago: a new file there goes on with one.
  var missed: [String: Int] = [:]
  private var lastHistory = 0

  mutating func history(of name: String) -> Int {
    if let history = histories[name] { return history }
    lastHistory += 1
    histories[name] = lastHistory
    versions[lastHistory] = []
    return lastHistory
  }

  mutating func move(_ old: String, to new: String) {
    texts[new] = texts.removeValue(forKey: old)
    if let history = histories.removeValue(forKey: old) { histories[new] = history }
  }
}

/// Files that are saved, moved, copied and removed, and versions of them that are added, restored and removed.
private struct Run {
  let sandbox: StoreSandbox
  var random: SplitMix
  var reference = Reference()
  var problems: [String] = []
  /// The operations that were done, for the report.
  private(set) var log: [String] = []

  private static let names = ["a", "b", "d/a", "d/b"]

  /// In nanoseconds; within the grace period for most steps.
  private var now: Int64 = 1_000

  init(sandbox: StoreSandbox, random: SplitMix) {
    self.sandbox = sandbox
    self.random = random
  }

  private func store(_ door: (any FileSystem)? = nil) throws -> VersionStore { try sandbox.store(door, at: now) }

  private func text(of name: String) throws -> String { try sandbox.text(sandbox.path(name)) }

  /// Does something, at times in a process that ends in the middle of it, and is done again by the next one as far as that's said.
  mutating func step() throws {
    if random.chance(1, in: 3) {
      now += VersionStore.gracePeriod
      reference.missed = [:]
    }
    let (name, other) = (random.pick(Self.names), random.pick(Self.names))
    if reference.texts[name] == nil { return try create(name) }
    try hash()
    switch random.below(9) {
    case 0, 1: try save(name)
    case 2, 3: try add(name)
    case 4: try move(name, to: other)
    case 5: try copy(name, to: other)
    case 6: try delete(name)
    case 7: try restore(name)
    default: try remove(name)
    }
  }

  private mutating func note(_ operation: String, _ names: String...) {
    log.append("\(operation) \(names.joined(separator: " "))")
  }

  private mutating func create(_ name: String) throws {
    note("create", name)
    let text = "\(random.below(6))"
    try sandbox.write(name, text)
    reference.texts[name] = text
    reference.histories[name] = reference.missed.removeValue(forKey: name)
    _ = try store().item(at: sandbox.path(name), creating: false)
  }

  private mutating func save(_ name: String) throws {
    note("save", name)
    let text = "\(random.below(6))"
    try random.pick(ForeignEditor.allCases).save(sandbox, name, text)
    reference.texts[name] = text
    _ = try store().item(at: sandbox.path(name), creating: false)
  }

  private mutating func add(_ name: String) throws {
    note("add", name)
    let byMoving = random.chance(1, in: 4)
    let source = byMoving ? try sandbox.write("source", reference.texts[name] ?? "") : sandbox.path(name)
    let history = reference.history(of: name)
    let item = try #require(try store().item(at: sandbox.path(name), creating: true))
    let before = try versions(of: item)
    try mayDie { store in
      _ = try store.add(contentsOf: source, to: item, StoreSandbox.attributes, taking: byMoving ? .moving : .copying)
    }
    try store().completeMoves(of: item)
    try? sandbox.files.removeItem(at: sandbox.path("source"))
    let after = try versions(of: item)
    if after != before { reference.versions[history]?.append(reference.texts[name] ?? "") }
  }

  private mutating func move(_ name: String, to new: String) throws {
    if name == new { return }
    note("move", name, new)
    if reference.texts[new] != nil, reference.histories[name] == nil, let history = reference.histories[new] {
      reference.histories[name] = history
    }
    try sandbox.files.moveItem(from: sandbox.path(name), to: sandbox.path(new), replacing: true)
    if random.chance(1, in: 2) {
      let (from, to) = (sandbox.path(name), sandbox.path(new))
      try mayDie { store in try store.noteMove(from: from, to: to) }
    }
    // A file without a history that comes to where one was missed a moment ago goes on with that.
    let missed = reference.missed.removeValue(forKey: new)
    if reference.histories[name] == nil { reference.histories[name] = missed }
    reference.histories[new] = nil
    reference.move(name, to: new)
    for name in [new, name] { _ = try store().item(at: sandbox.path(name), creating: false) }
  }

  private mutating func copy(_ name: String, to new: String) throws {
    if reference.texts[new] != nil { return }
    note("copy", name, new)
    try sandbox.files.copyItem(from: sandbox.path(name), to: sandbox.path(new), replacing: false)
    reference.texts[new] = reference.texts[name]
    // One that has no tag is a save.
    let missed = reference.missed.removeValue(forKey: new)
    reference.histories[new] = reference.histories[name] == nil ? missed : nil
    _ = try store().item(at: sandbox.path(new), creating: false)
  }

  private mutating func delete(_ name: String) throws {
    note("delete", name)
    let path = sandbox.path(name)
    try sandbox.files.removeItem(at: path)
    if random.chance(1, in: 2) { try mayDie { store in try store.noteRemoval(of: path) } }
    _ = try store().item(at: path, creating: false)
    reference.texts[name] = nil
    let history = reference.histories.removeValue(forKey: name)
    let isMissed = try store().goneItems(at: path).contains { $0.isMissed && $0.time == now }
    reference.missed[name] = isMissed ? history : nil
  }

  private mutating func restore(_ name: String) throws {
    note("restore", name)
    guard let history = reference.histories[name], let text = reference.versions[history]?.last else { return }
    let item = try #require(try store().item(at: sandbox.path(name), creating: false))
    let version = try #require(try store().versions(of: item).last)
    let path = sandbox.path(name)
    try mayDie { store in try store.restore(version, to: path) }
    let now = try self.text(of: name)
    if now != text, now != reference.texts[name] { problems.append("\(name) is neither restored nor as it was") }
    reference.texts[name] = now
    _ = try store().item(at: sandbox.path(name), creating: false)
  }

  private mutating func remove(_ name: String) throws {
    note("remove", name)
    guard let history = reference.histories[name], let count = reference.versions[history]?.count, count > 0 else {
      return
    }
    let index = random.below(count)
    let item = try #require(try store().item(at: sandbox.path(name), creating: false))
    let version = try store().versions(of: item)[index]
    try mayDie { store in try store.remove(version.id, of: item) }
    if try store().versionIfPresent(version.id, of: item) == nil {
      reference.versions[history]?.remove(at: index)
    }
  }

  private func versions(of item: ItemID) throws -> [VersionID] { try store().versions(of: item).map(\.id) }

  private mutating func mayDie(_ body: (VersionStore) throws -> Void) throws {
    if random.chance(1, in: 2) { return try body(store()) }
    // Beyond the last call it ends in time.
    try? body(store(DyingDoor.dying(atCall: 4 + random.below(60))))
    try store().recover()
  }

  /// Hashes what isn't hashed yet, at times in a process that ends in the middle of it, or leaves it to the next one.
  private mutating func hash() throws {
    if random.chance(1, in: 2) { return }
    note("hash")
    try mayDie { store in try store.performTasks() }
  }

  /// Compares everything.
  mutating func check(isLast: Bool) throws {
    let store = try store()
    let unhashed = isLast ? try store.performTasks() : []
    if !unhashed.isEmpty { problems.append("\(unhashed) can't be hashed") }
    for (name, text) in reference.texts {
      if try self.text(of: name) != text { problems.append("\(name) has other contents than '\(text)'") }
      let item = try store.item(at: sandbox.path(name), creating: false)
      let found = try item.map { try store.versions(of: $0).map { try sandbox.text(store.path(of: $0)) } }
      let expected = reference.histories[name].flatMap { reference.versions[$0] }
      if (found ?? []) != (expected ?? []) {
        problems.append("\(name) has the versions \(found ?? []), not \(expected ?? [])")
      }
    }
    for name in reference.texts.keys {
      guard let item = try store.item(at: sandbox.path(name), creating: false) else { continue }
      if try store.versions(of: item) != store.listing(of: item).versions {
        problems.append("\(name) is listed otherwise")
      }
      if isLast, try store.versions(of: item).contains(where: { $0.hash == nil }) {
        problems.append("\(name) has a version without hash, and nobody's task")
      }
    }
    if !isLast, sandbox.limits != VersionStoreLimits() { return }
    let stored = try sandbox.tree("store/contents").filter { $0.contains("/") }.count
    let distinct = Set(reference.versions.values.joined()).count
    if stored != distinct { problems.append("\(stored) contents are stored of \(distinct)") }
    let steps = try sandbox.tree("store/steps")
    if !steps.isEmpty { problems.append("steps are left over: \(steps)") }
  }
}

@Suite("Histories of files that come and go")
struct HistoriesExplorationTests {
  @Test(
    "Each file has the versions that were kept of it, whatever happens to it, and nothing is left over",
    arguments: Budget.seeds(normal: 6, long: 200),
    [VersionStoreLimits(), VersionStoreLimits(sizeHashedAtOnceMax: 0, uncachedCountMax: 1)])
  func randomly(seed: UInt64, limits: VersionStoreLimits) async throws {
    try await withStore(limits) { sandbox in
      try sandbox.write("d/other", "makes the directory")
      var run = Run(sandbox: sandbox, random: SplitMix(state: seed))
      for number in 0..<60 where run.problems.isEmpty {
        try run.step()
        try run.check(isLast: number % 8 == 7)
        if !run.problems.isEmpty { Issue.record("seed \(seed), step \(number): \(run.problems) after \(run.log)") }
      }
    }
  }
}
