import Glibc
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

@Suite("Symbolic links that are followed", .blocking, .timeLimit(.minutes(4)))
struct FollowedLinksTests {
  private static func indexed(
    _ tree: TemporaryTree, except names: [String] = [], watchCountMax: Int = .max, readsFacts: Bool = true
  ) throws -> IndexedTree {
    try IndexedTree(
      tree, options: ScopeOptions(unenteredNames: names, followsSymbolicLinks: true), watchCountMax: watchCountMax,
      readsFacts: readsFacts)
  }

  /// The files in a tree and the targets of its links, found by walking through it with realpath(3).
  private static func expected(_ tree: TemporaryTree) -> [SystemPath: FileFacts] {
    var found = TemporaryTree.contents(of: tree.root)
    var reached: Set<SystemPath> = [tree.root]
    while true {
      var news: Set<SystemPath> = []
      for (path, facts) in found where facts.kind == .symbolicLink {
        guard let target = realPath(path), !tree.root.isInside(target), found[target] == nil else { continue }
        if !reached.contains(target) { news.insert(target) }
      }
      if news.isEmpty { return found }
      for target in news {
        reached.insert(target)
        found.merge(TemporaryTree.contents(of: target)) { first, _ in first }
      }
    }
  }

  private static func realPath(_ path: SystemPath) -> SystemPath? {
    guard let text = unsafe realpath(path.description, nil) else { return nil }
    defer { unsafe free(text) }
    return SystemPath(unsafe String(cString: text))
  }

  private static func expectCurrent(
    _ indexed: IndexedTree, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let (expected, found) = (Self.expected(indexed.tree), indexed.contents)
    let differences = Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }.sorted()
    let details = differences.prefix(3).map { path in
      "\(path): \(found[path].map { "\($0)" } ?? "nothing") instead of \(expected[path].map { "\($0)" } ?? "nothing")"
    }
    #expect(differences.isEmpty, "\(comment?.rawValue ?? ""): \(details)", sourceLocation: sourceLocation)
    #expect(indexed.indexer.index.violations == [], comment, sourceLocation: sourceLocation)
  }

  /// Directories and files beside the tree.
  private static func makeTree() throws -> TemporaryTree {
    let tree = try TemporaryTree()
    for name in ["one", "one/in", "two"] { try tree.makeDirectory(tree.base.appending(name)) }
    for name in ["one/f", "one/in/f", "two/f", "file"] { try tree.write(tree.base.appending(name), "text") }
    return tree
  }

  private static func contains(_ indexed: IndexedTree, _ name: String) -> Bool {
    indexed.contents[indexed.tree.base.appending(name)] != nil
  }

  @Test("Files behind links are found under their own paths, once, and followed like all others")
  func targets() throws {
    let tree = try Self.makeTree()
    for (name, target) in [("a", "../one"), ("b", "../one"), ("c", "../one/in"), ("d", "../file"), ("e", "nowhere")] {
      try tree.symbolicLink(tree.path(name), to: target)
    }
    let indexed = try Self.indexed(tree)
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "one/in/f") && Self.contains(indexed, "file") && !Self.contains(indexed, "two"))
    #expect(indexed.indexer.index.table.roots.count == 3)
    #expect(indexed.indexer.health.isComplete)
    try tree.write(tree.base.appending("one/in/new"), "text")
    try tree.write(tree.base.appending("file"), "more", adding: true)
    try tree.makeDirectory("nowhere")
    indexed.settle()
    Self.expectCurrent(indexed)
  }

  @Test("Files to which no link leads any more are gone, also where two places lead to each other")
  func endOfLinks() throws {
    let tree = try Self.makeTree()
    try tree.symbolicLink(tree.path("a"), to: "../one")
    try tree.symbolicLink(tree.base.appending("one/across"), to: "../two")
    try tree.symbolicLink(tree.base.appending("two/back"), to: "../one")
    let indexed = try Self.indexed(tree)
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "two/f"))
    try tree.unlink("a")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(!Self.contains(indexed, "two") && !Self.contains(indexed, "one"))
    // The directories that were searched aren't watched any more.
    #expect(indexed.indexer.health.watchedDirectoryCount == 1)
    try tree.symbolicLink(tree.path("again"), to: "../two")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "one/in/f"))
  }

  @Test("L9: loops end, and what's around a place that was asked for isn't searched")
  func loops() throws {
    let tree = try Self.makeTree()
    try tree.makeDirectory("d")
    for (name, target) in [("self", "self"), ("d/up", ".."), ("d/base", "../.."), ("root", "/"), ("there", "../one")] {
      try tree.symbolicLink(tree.path(name), to: target)
    }
    try tree.symbolicLink(tree.base.appending("one/back"), to: "../root/d")
    try tree.symbolicLink(tree.base.appending("one/in/up"), to: "..")
    let indexed = try Self.indexed(tree)
    Self.expectCurrent(indexed)
    #expect(indexed.indexer.index.table.roots.count == 2)
  }

  @Test("A target may come late, be replaced, moved away, or turn out to be a link itself")
  func movingTargets() throws {
    let tree = try Self.makeTree()
    try tree.symbolicLink(tree.path("a"), to: "../late/in")
    let indexed = try Self.indexed(tree)
    Self.expectCurrent(indexed)
    #expect(indexed.indexer.health.missingRootCount == 0)
    try tree.makeDirectory(tree.base.appending("late"))
    try tree.makeDirectory(tree.base.appending("late/in"))
    try tree.write(tree.base.appending("late/in/f"), "text")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "late/in/f"))
    try tree.rename(tree.base.appending("late"), to: tree.base.appending("old"))
    indexed.settle()
    Self.expectCurrent(indexed)
    try tree.symbolicLink(tree.base.appending("late"), to: "one")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "one/in/f") && !Self.contains(indexed, "one/f"))
    // Through another link, which isn't watched: it's checked from time to time.
    #expect(indexed.indexer.needsPolling)
    try tree.unlink(tree.base.appending("late"))
    try tree.symbolicLink(tree.base.appending("late"), to: "two")
    indexed.indexer.poll()
    indexed.settle()
    Self.expectCurrent(indexed)
  }

  @Test("A relative link in a directory that's moved leads elsewhere")
  func movedLinks() throws {
    let tree = try Self.makeTree()
    for name in ["d", "d/e"] { try tree.makeDirectory(name) }
    try tree.symbolicLink(tree.path("d/link"), to: "../../one")
    let indexed = try Self.indexed(tree)
    #expect(Self.contains(indexed, "one"))
    try tree.rename("d", to: "moved")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "one"))
    try tree.makeDirectory("deeper")
    try tree.rename("moved", to: "deeper/moved")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(!Self.contains(indexed, "one"))
    try tree.rename("deeper/moved", to: "moved")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "one"))
    try tree.rename("moved/link", to: "moved/e/link")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(!Self.contains(indexed, "one"))
  }

  @Test("A wider target takes the place of one inside it, and gives it back")
  func nestedTargets() throws {
    let tree = try Self.makeTree()
    try tree.symbolicLink(tree.path("in"), to: "../one/in")
    let indexed = try Self.indexed(tree)
    try tree.symbolicLink(tree.path("whole"), to: "../one")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(indexed.indexer.index.table.roots.count == 2)
    try tree.unlink("whole")
    indexed.settle()
    Self.expectCurrent(indexed)
    #expect(Self.contains(indexed, "one/in/f") && !Self.contains(indexed, "one/f"))
  }

  @Test("Links of names that aren't entered aren't followed, and without the option none is")
  func unfollowed() throws {
    let tree = try Self.makeTree()
    try tree.symbolicLink(tree.path("node_modules"), to: "../one")
    try tree.symbolicLink(tree.path("other"), to: "../two")
    let indexed = try Self.indexed(tree, except: ["node_modules"])
    #expect(Self.contains(indexed, "two/f") && !Self.contains(indexed, "one"))
    #expect(!Self.contains(try IndexedTree(tree), "two"))
  }

  @Test("A watcher tells what comes and goes with a link; an audit finds nothing wrong; an index is kept without it")
  func watcher() async throws {
    let tree = try Self.makeTree()
    let watcher = try TreeWatcher([tree.root], options: ScopeOptions(followsSymbolicLinks: true))
    try await watcher.waitUntilCurrent()
    try tree.symbolicLink(tree.path("a"), to: "../two")
    let added = try #require(await watcher.catchUp()).changes
    #expect(added.map(\.path) == [tree.path("a"), tree.base.appending("two"), tree.base.appending("two/f")])
    #expect(added.allSatisfy { $0.action == .added })
    #expect(try #require(await watcher.audit()).isClean)
    try tree.unlink("a")
    let removed = try #require(await watcher.catchUp()).changes
    #expect(removed.count == 3 && removed.allSatisfy { $0.action == .removed })
  }

  private static let seeds = Budget.seeds(normal: 20, long: 400, complete: 2_000)

  @Test("L17: Everything that links lead to is found, and nothing else", arguments: seeds)
  func randomExploration(seed: UInt64) throws {
    let tree = try Self.makeTree()
    var churner = Churner(seed: seed, tree, makesHardLinks: false)
    for _ in 0..<15 { churner.step() }
    let indexed = try Self.indexed(
      tree, watchCountMax: seed % 5 == 0 ? 4 : .max, readsFacts: seed % 2 == 0)
    for round in 0..<12 {
      for _ in 0...churner.random.below(5) {
        if churner.random.chance(1, in: 2) { churner.step() } else { Self.changeLinks(tree, &churner.random) }
      }
      if seed % 7 == 0, churner.random.chance(1, in: 4) { indexed.watcher.loseEvents() }
      indexed.settle()
      indexed.indexer.poll()
      indexed.settle()
      Self.expectCurrent(indexed, "seed \(seed), round \(round)")
    }
  }

  /// Makes, replaces and removes links, their targets, and items on the way.
  private static func changeLinks(_ tree: TemporaryTree, _ random: inout SplitMix) {
    let outside = ["one", "one/in", "two", "three", "two/more"].map { tree.base.appending($0) }
    let directories = TemporaryTree.contents(of: tree.root).filter { $0.value.kind == .directory }.map(\.key).sorted()
    let places = directories + outside
    let name = random.pick(places).appending("l\(random.below(4))")
    do {
      switch random.below(8) {
      case 0..<3: try tree.symbolicLink(name, to: random.pick(places + [name, tree.base]).description)
      case 3: try tree.symbolicLink(name, to: random.pick(["..", "../one", "../../one", "../../two/l1", "l2"]))
      case 4: try tree.unlink(name)
      case 5: try tree.rename(random.pick(outside), to: random.pick(outside))
      case 6: try tree.makeDirectory(random.pick(outside))
      default: try tree.write(random.pick(outside).appending("f\(random.below(3))"), "text")
      }
    } catch {
      // The name is taken, or nothing is there.
    }
  }
}
