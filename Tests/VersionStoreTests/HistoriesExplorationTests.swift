import ContentHashing
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import VersionStore

/// Files that are saved, moved, copied and removed, and versions of them that are added, restored and removed.
private struct Run {
  let sandbox: StoreSandbox
  var random: SplitMix
  var reference = HistoriesReference()
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
    switch random.below(15) {
    case 0, 1: try save(name)
    case 2, 3: try add(name)
    case 4: try move(name, to: other)
    case 5: try copy(name, to: other)
    case 6: try delete(name)
    case 7: try restore(name)
    case 8, 9, 10: try keep(name)
    case 11: try retire(name)
    case 12: try reinstate(name)
    case 13: try resolve(name)
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
    reference.goOn(at: name)
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
    if try versions(of: item) != before {
      reference.add(HistoriesReference.Version(text: reference.texts[name] ?? ""), to: history)
    }
  }

  /// Saves by the library: the version is there exactly if the file was replaced.
  private mutating func keep(_ name: String) throws {
    note("keep", name)
    let (path, former) = (sandbox.path(name), reference.texts[name] ?? "")
    let text = otherText(than: former)
    let history = reference.history(of: name)
    let item = try #require(try store().item(at: path, creating: true))
    try mayDie { store in
      _ = try store.keep(path, of: item, StoreSandbox.attributes) { target, settle in
        try store.files.replaceContents(of: path, with: Array(text.utf8), over: target, settling: settle)
      }
    }
    // Nobody looks at the history before some later step, most of the time: the version has no directory until then.
    if random.chance(1, in: 3) { try store().completeMoves(of: item) }
    let now = try self.text(of: name)
    if now == text {
      reference.texts[name] = text
      reference.add(HistoriesReference.Version(text: former), to: history)
    }
    _ = try store().item(at: path, creating: false)
  }

  private mutating func move(_ name: String, to new: String) throws {
    if name == new { return }
    note("move", name, new)
    try sandbox.files.moveItem(from: sandbox.path(name), to: sandbox.path(new), replacing: true)
    if random.chance(1, in: 2) {
      let (from, to) = (sandbox.path(name), sandbox.path(new))
      note("noted")
      try mayDie { store in try store.noteMove(from: from, to: to) }
    }
    reference.move(name, to: new)
    for name in [new, name] { _ = try store().item(at: sandbox.path(name), creating: false) }
  }

  private mutating func copy(_ name: String, to new: String) throws {
    if reference.texts[new] != nil { return }
    note("copy", name, new)
    try sandbox.files.copyItem(from: sandbox.path(name), to: sandbox.path(new), replacing: false)
    reference.texts[new] = reference.texts[name]
    // One that has no tag is a save.
    if reference.histories[name] == nil { reference.goOn(at: new) } else { reference.missed[new] = nil }
    _ = try store().item(at: sandbox.path(new), creating: false)
  }

  /// A removal is noted, or the file is missed; if the process ends that notes it, it may be either.
  private mutating func delete(_ name: String) throws {
    note("delete", name)
    let path = sandbox.path(name)
    try sandbox.files.removeItem(at: path)
    var isMissed = true
    if random.chance(1, in: 2) {
      note("noted")
      if try mayDie({ store in try store.noteRemoval(of: path) }) {
        isMissed = false
      } else {
        isMissed = try store().hasPlace(path)
      }
    }
    _ = try store().item(at: path, creating: false)
    reference.texts[name] = nil
    reference.leave(name, isMissed: isMissed)
  }

  private mutating func restore(_ name: String) throws {
    note("restore", name)
    guard let history = reference.histories[name], let text = reference.versions[history]?.versions.last?.version.text
    else { return }
    let item = try #require(try store().item(at: sandbox.path(name), creating: false))
    let version = try #require(try store().versions(of: item).last)
    let path = sandbox.path(name)
    try mayDie { store in try store.restore(version, to: path) }
    let now = try self.text(of: name)
    if now != text, now != reference.texts[name] { problems.append("\(name) is neither restored nor as it was") }
    reference.texts[name] = now
    _ = try store().item(at: sandbox.path(name), creating: false)
  }

  /// Picks a version: of the reference, and of the store, by its place in the list.
  private mutating func pickVersion(of name: String) throws -> (history: Int, index: Int, version: StoredVersion)? {
    guard let history = reference.histories[name], let count = reference.versions[history]?.versions.count, count > 0
    else { return nil }
    let index = random.below(count)
    let item = try #require(try store().item(at: sandbox.path(name), creating: false))
    let versions = try store().versions(of: item)
    guard versions.count == count else {
      problems.append("\(name) has \(versions.count) versions, not \(count)")
      return nil
    }
    return (history, index, versions[index])
  }

  private mutating func remove(_ name: String) throws {
    note("remove", name)
    guard let (history, index, version) = try pickVersion(of: name) else { return }
    try mayDie { store in try store.remove(version.id, of: version.item) }
    if try store().versionIfPresent(version.id, of: version.item) == nil {
      reference.remove(index, from: history, canComeBack: false)
    }
  }

  private mutating func retire(_ name: String) throws {
    note("retire", name)
    guard let (history, index, version) = try pickVersion(of: name) else { return }
    try mayDie { store in try store.retire(version.id, of: version.item) }
    if try store().versionIfPresent(version.id, of: version.item) == nil {
      reference.remove(index, from: history, canComeBack: true)
    }
  }

  private mutating func reinstate(_ name: String) throws {
    note("reinstate", name)
    guard let history = reference.histories[name], let removed = reference.versions[history]?.removed, !removed.isEmpty
    else { return }
    let item = try #require(try store().item(at: sandbox.path(name), creating: false))
    let wanted = random.pick(removed).version
    // Versions are told from each other by their texts only if no other one has the same.
    guard removed.count(where: { $0.version == wanted }) == 1,
      let index = removed.firstIndex(where: { $0.version == wanted })
    else { return }
    let found = try store().removedVersions(of: item).first { try describe($0.version, $0) == wanted.description }
    let id = try #require(found?.version.id)
    try mayDie { store in _ = try store.reinstate(id, of: item) }
    if try store().versionIfPresent(id, of: item) != nil { reference.bringBack(index, in: history) }
  }

  /// Adds a conflict, and resolves all that there are: they are resolved exactly if the file has the result.
  private mutating func resolve(_ name: String) throws {
    note("resolve", name)
    let (path, former) = (sandbox.path(name), reference.texts[name] ?? "")
    let history = reference.history(of: name)
    let item = try #require(try store().item(at: path, creating: true))
    var attributes = StoreSandbox.attributes
    attributes.isConflict = true
    let source = try sandbox.write("source", "\(random.below(6))")
    let conflict = try store().add(contentsOf: source, to: item, named: path.lastComponent, attributes)
    reference.add(HistoriesReference.Version(text: try sandbox.text(source), isConflict: true), to: history)
    try sandbox.files.removeItem(at: source)
    let text = otherText(than: former)
    let ids = try store().versions(of: item).filter { $0.attributes.isConflict && !$0.isResolved }.map(\.id)
    let removes = random.chance(1, in: 2)
    let resolution = ConflictResolution(
      result: ContentHash(of: Array(text.utf8)), resolved: ids, removed: removes ? [conflict.id] : [], time: now)
    try mayDie { store in
      try store.resolve(resolution, of: item, at: path) {
        try store.replaceContents(of: path, with: Array(text.utf8), over: .any)
      }
    }
    reference.texts[name] = try self.text(of: name)
    _ = try store().item(at: path, creating: false)
    if reference.texts[name] != text { return }
    for index in reference.versions[history]?.versions.indices ?? 0..<0
    where reference.versions[history]?.versions[index].version.isConflict == true {
      reference.versions[history]?.versions[index].version.isResolved = true
    }
    // One that's removed is resolved by that.
    guard removes, let last = reference.versions[history]?.versions.indices.last else { return }
    reference.versions[history]?.versions[last].version.isResolved = false
    reference.remove(last, from: history, canComeBack: true)
  }

  private mutating func otherText(than text: String) -> String {
    let number = random.below(5)
    return "\(number)" == text ? "5" : "\(number)"
  }

  private func versions(of item: ItemID) throws -> [VersionID] { try store().versions(of: item).map(\.id) }

  private func describe(_ version: StoredVersion, _ removed: RemovedVersion? = nil) throws -> String {
    let path = try removed.map { try store().path(of: $0) } ?? store().path(of: version)
    let text = try sandbox.text(path)
    return HistoriesReference.Version(
      text: text, isConflict: version.attributes.isConflict, isResolved: version.isResolved
    ).description
  }

  /// As ``HistoriesReference/History/description``.
  private func describe(_ item: ItemID) throws -> String {
    let versions = try store().versions(of: item).map { try describe($0) }
    let removed = try store().removedVersions(of: item).map { try describe($0.version, $0) }
    return "\(versions) and \(removed.sorted())"
  }

  /// - Returns: Whether the process did all of it.
  @discardableResult
  private mutating func mayDie(_ body: (VersionStore) throws -> Void) throws -> Bool {
    if random.chance(1, in: 2) {
      try body(store())
      return true
    }
    // Beyond the last call it ends in time.
    let isDone = (try? body(store(DyingDoor.dying(atCall: 4 + random.below(60))))) != nil
    try store().recover()
    return isDone
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
    let empty = HistoriesReference.History().description
    for (name, text) in reference.texts {
      if try self.text(of: name) != text { problems.append("\(name) has other contents than '\(text)'") }
      let found = try store.item(at: sandbox.path(name), creating: false).map(describe) ?? empty
      let expected = reference.histories[name].flatMap { reference.versions[$0]?.description } ?? empty
      if found != expected { problems.append("\(name) has the versions \(found), not \(expected)") }
    }
    let top = sandbox.root.appending("files")
    let gone = try store.goneItems(below: top).map { gone in
      (String(gone.path.description.dropFirst(top.description.count + 1)), try describe(gone.item))
    }
    let found = gone.filter { $0.1 != empty }.map { "\($0.0): \($0.1)" }.sorted()
    if found != reference.goneHistories {
      problems.append("of files that are gone there are \(found), not \(reference.goneHistories)")
    }
    // A save whose process has ended is completed by the look at its history.
    let unhashed = isLast ? try store.performTasks() : []
    if !unhashed.isEmpty { problems.append("\(unhashed) can't be hashed") }
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
    // A version that was removed before it was hashed shares nothing.
    let unshared = sandbox.limits == VersionStoreLimits() ? [] : reference.textsOfRemoved
    let distinct = reference.texts(exceptFor: unshared).count...reference.texts(exceptFor: []).count
    if !distinct.contains(stored) { problems.append("\(stored) contents are stored of \(distinct)") }
    let steps = try sandbox.tree("store/steps")
    if !steps.isEmpty { problems.append("steps are left over: \(steps)") }
  }
}

@Suite("Histories of files that come and go")
struct HistoriesExplorationTests {
  @Test(
    "CV-29: Each file has the versions that were kept of it, whatever happens to it, and nothing is left over",
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
