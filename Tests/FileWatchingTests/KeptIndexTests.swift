import CompactContainers
import SeededRandom
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileWatching

@Suite("Indexes that are kept from one run to the next", .blocking, .timeLimit(.minutes(4)))
struct KeptIndexTests {
  private static let scope = Array("a scope".utf8)

  /// The index that's kept at the end of a run, long enough after the last change for every directory to be trusted.
  private static func bytes(_ indexed: IndexedTree) throws -> [UInt8] {
    indexed.tree.waitForFileTime()
    let later = CoarseClock.fileTime + 2 * KeptState.restDuration
    return try #require(indexed.indexer.keptState(settledAt: later)).bytes(scope: scope)
  }

  /// An index that begins with the kept index of a former run.
  private static func restored(_ tree: TemporaryTree, _ bytes: [UInt8], helperCount: Int = 0) throws -> IndexedTree {
    let indexed = try IndexedTree(tree, helperCount: helperCount, readsFacts: false, isSettled: false)
    indexed.indexer.restore(try #require(KeptIndexReader(bytes, scope: scope)))
    indexed.settle()
    return indexed
  }

  private static func makeTree() throws -> TemporaryTree {
    let tree = try TemporaryTree()
    for directory in ["a", "a/b", "a/b/c", "d", "e"] { try tree.makeDirectory(directory) }
    for file in ["f", "a/f", "a/b/f", "a/b/c/f", "d/f"] { try tree.write(file) }
    try tree.symbolicLink(tree.path("d/link"), to: "..")
    return tree
  }

  @Test("Nothing is read where nothing has changed, and everything is known")
  func unaltered() throws {
    let tree = try Self.makeTree()
    let bytes = try Self.bytes(IndexedTree(tree))
    let indexed = try Self.restored(tree, bytes)
    #expect(indexed.indexer.health.unalteredDirectoryCount == 6)
    indexed.expectCurrent()
    #expect(indexed.indexer.index.violations == [])
    // And it's followed from then on.
    try tree.write("a/b/new")
    try tree.rename("d", to: "a/b/c/d")
    indexed.settle()
    indexed.expectCurrent()
  }

  @Test("Only directories are read in which something has come, gone, or got another name")
  func altered() throws {
    let tree = try Self.makeTree()
    let bytes = try Self.bytes(IndexedTree(tree))
    try tree.write("a/b/f", "other contents")
    try tree.unlink("d/f")
    let indexed = try Self.restored(tree, bytes)
    #expect(indexed.indexer.health.unalteredDirectoryCount == 5)
    indexed.expectCurrent()
  }

  @Test("Directories that were moved, replaced or removed, and those that lead elsewhere, are found as they are")
  func moved() throws {
    let tree = try Self.makeTree()
    let bytes = try Self.bytes(IndexedTree(tree))
    try tree.rename("a/b", to: "e/b")
    try tree.makeDirectory("a/b")
    try tree.write("a/b/f2")
    try tree.removeTree(tree.path("d"))
    try tree.symbolicLink(tree.path("d"), to: "a")
    let indexed = try Self.restored(tree, bytes)
    indexed.expectCurrent()
    #expect(indexed.indexer.index.violations == [])
  }

  @Test("A directory isn't trusted that was changed right before it was kept: a later change may have the same time")
  func racy() throws {
    let tree = try Self.makeTree()
    let indexed = try IndexedTree(tree)
    let bytes = try #require(indexed.indexer.keptState(settledAt: CoarseClock.fileTime)).bytes(scope: Self.scope)
    try tree.write("a/b/new")
    let later = try Self.restored(tree, bytes)
    #expect(later.indexer.health.unalteredDirectoryCount == 0)
    later.expectCurrent()
  }

  @Test("A directory is read whose modification time somebody has set back, as programs that unpack do")
  func setBack() throws {
    let tree = try Self.makeTree()
    let indexed = try IndexedTree(tree)
    let bytes = try Self.bytes(indexed)
    let time = try #require(indexed.contents[tree.path("d")]).modificationTime
    try tree.write("d/new")
    try HostFileSystem().setModificationTime(of: tree.path("d"), at: .workingDirectory, to: time)
    let later = try Self.restored(tree, bytes)
    #expect(later.indexer.health.unalteredDirectoryCount == 5)
    later.expectCurrent()
  }

  @Test("Directories that weren't watched, or can't be by now, are read")
  func unwatched() throws {
    let tree = try Self.makeTree()
    let polling = try IndexedTree(tree, watchCountMax: 0)
    #expect(try Self.restored(tree, Self.bytes(polling)).indexer.health.unalteredDirectoryCount == 0)
    let bytes = try Self.bytes(IndexedTree(tree))
    let indexed = try IndexedTree(tree, watchCountMax: 0, readsFacts: false, isSettled: false)
    indexed.indexer.restore(try #require(KeptIndexReader(bytes, scope: Self.scope)))
    indexed.settle()
    #expect(indexed.indexer.health.unalteredDirectoryCount == 0)
    indexed.expectCurrent()
  }

  @Test("Another directory at the same place begins anew")
  func otherRoot() throws {
    let tree = try Self.makeTree()
    let bytes = try Self.bytes(IndexedTree(tree))
    try tree.rename(tree.root, to: tree.base.appending("old"))
    try tree.makeDirectory(tree.root)
    try tree.write("only")
    let indexed = try Self.restored(tree, bytes)
    #expect(indexed.indexer.health.unalteredDirectoryCount == 0)
    indexed.expectCurrent()
  }

  @Test("An index that's damaged, cut off or of another scope isn't used")
  func damaged() throws {
    let tree = try Self.makeTree()
    let bytes = try Self.bytes(IndexedTree(tree))
    #expect(KeptIndexReader(bytes, scope: Self.scope) != nil)
    #expect(KeptIndexReader(bytes, scope: Array("another".utf8)) == nil)
    #expect(KeptIndexReader([], scope: Self.scope) == nil)
    for count in stride(from: 0, to: bytes.count, by: 7) {
      #expect(KeptIndexReader(Array(bytes[..<count]), scope: Self.scope) == nil)
    }
    for place in stride(from: 0, to: bytes.count, by: 3) {
      var other = bytes
      other[place] ^= 0x10
      #expect(KeptIndexReader(other, scope: Self.scope) == nil)
    }
  }

  private static let seeds = Budget.seeds(normal: 20, long: 400, complete: 2_000)

  @Test("A kept index leads to the tree as it is, whatever happened in between, and stays so", arguments: seeds)
  func randomExploration(seed: UInt64) throws {
    let tree = try TemporaryTree()
    var churner = Churner(seed: seed, tree, makesHardLinks: seed % 3 == 0)
    for _ in 0..<30 { churner.step() }
    var indexed = try IndexedTree(tree, readsFacts: seed % 2 == 0)
    for _ in 0..<3 {
      let bytes = try Self.bytes(indexed)
      for _ in 0..<churner.random.below(12) { churner.step() }
      churner.touchLinkedFiles()
      indexed = try Self.restored(tree, bytes, helperCount: churner.random.below(2))
      indexed.expectCurrent("seed \(seed)")
      #expect(indexed.indexer.index.violations == [], "seed \(seed)")
      churner.settle()
      for _ in 0..<churner.random.below(12) { churner.step() }
      churner.touchLinkedFiles()
      indexed.settle()
      indexed.expectCurrent("seed \(seed)")
    }
  }

  @Test(
    "A file with a right checksum and any contents makes nothing trap, and the tree can be followed", arguments: seeds)
  func nonsenseExploration(seed: UInt64) throws {
    let tree = try Self.makeTree()
    var random = SplitMix(seed: seed)
    var bytes = Array(try Self.bytes(IndexedTree(tree)).dropLast(4))
    let start = KeptIndexFormat.magic.count + 4 + Self.scope.count
    for _ in 0...random.below(4) {
      let place = start + random.below(bytes.count - start)
      if random.chance(1, in: 4) {
        bytes.remove(at: place)
      } else {
        bytes[place] = random.chance(1, in: 2) ? UInt8(random.below(256)) : random.pick([0, 0xFF, 0x84, 0x7F])
      }
    }
    withUnsafeBytes(of: CyclicRedundancyCheck.value(of: bytes[...]).littleEndian) { bytes += $0 }
    let indexed = try Self.restored(tree, bytes)
    #expect(indexed.indexer.index.violations == [], "seed \(seed)")
  }
}
