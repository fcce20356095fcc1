import FileAccessArbiter
import FoundationEssentials
import SeededRandom
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("The cache answers like the system, whatever strangers do to a tree", .timeLimit(.minutes(20)))
struct ResolutionCacheExplorationTests {
  /// How the cache is set up.
  enum Kind: CaseIterable {
    case usual
    /// So small that it forgets all the time.
    case tiny
    /// Checks only after the report of a move.
    case interval
  }

  static let stepCount = 200
  static let seeds = Budget.seeds(normal: 4, long: 40)
  private static let names = ["a", "b", "c"]

  private struct Walker {
    var generator: SplitMix
    let tree: LinkTree

    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

    mutating func path(_ lengths: ClosedRange<Int>, with more: [String] = []) -> String {
      let pool = names + more
      return (0..<Int.random(in: lengths, using: &generator)).map { _ in pool[number(below: pool.count)] }
        .joined(separator: "/")
    }

    /// Does something to the tree; mostly it works.
    mutating func disturb() {
      let (first, second) = (path(1...3), path(1...3))
      // Links lead up. The outside belongs to others: find where a name really is before touching it.
      guard isInside(first), isInside(second) else { return }
      switch number(below: 8) {
      case 0, 1: try? tree.makeDirectory(first)
      case 2:
        let isAbsolute = number(below: 3) == 0
        try? tree.link(first, to: (isAbsolute ? tree.root + "/" : "") + path(1...3, with: ["..", ".."]))
      case 3: try? tree.rename(first, to: second)
      case 4: try? tree.rename(first, to: second, .exchange)
      case 5: try? tree.unlink(first)
      case 6: try? tree.removeDirectory(first)
      default: try? tree.makeFile(first)
      }
    }

    /// Whether the directory of a name, and the file that opening the name would reach, are in the tree.
    func isInside(_ name: String) -> Bool {
      let path = tree.path(name)
      return [path.parent, path].allSatisfy { place in
        let found = try? tree.files.canonicalPath(of: place, resolvingLastComponent: true)
        return found.map { $0 == SystemPath(tree.root) || $0.isInside(SystemPath(tree.root)) } ?? false
      }
    }
  }

  @Test("Thousands of steps, each followed by questions", arguments: seeds, Kind.allCases)
  func differential(seed: UInt64, kind: Kind) async throws {
    try await withLinkTree { outer in
      // Deep inside, so that the directories above are ours too.
      let depths = Array(repeating: "n", count: 4).joined(separator: "/")
      try outer.makeDirectories(depths)
      let tree = LinkTree(root: outer.root + "/" + depths)
      var walker = Walker(generator: SplitMix(state: seed), tree: tree)
      var limits = ResolutionCache.Limits()
      if kind == .tiny { (limits.itemCountMax, limits.placeCountMax, limits.watchCountMax) = (3, 4, 12) }
      let cache = ResolutionCache(
        in: tree.files, checkInterval: kind == .interval ? .seconds(3600) : .zero, limits: limits)
      var last: [String: ResolvedItem] = [:]
      var hitCount = 0
      for step in 0..<Self.stepCount {
        walker.disturb()
        if kind == .interval { cache.noteMove(from: "/nowhere/a", to: "/nowhere/b") }
        for _ in 0..<4 {
          let name = walker.path(1...4, with: ["..", "."])
          let isFollowed = walker.number(below: 3) == 0
          let url = try tree.url(name)
          let answer = Answer(from: cache, url, followingLastLink: isFollowed)
          let expected = Answer(inFull: url, followingLastLink: isFollowed)
          try #require(answer == expected, "seed \(seed), step \(step): \(name), followed: \(isFollowed)")
          guard case .path = answer else { continue }
          let item = try cache.item(for: url, followingLastLink: isFollowed)
          if let known = last.updateValue(item, forKey: "\(name) \(isFollowed)"), known === item { hitCount += 1 }
        }
      }
      // A cache that remembers nothing is never wrong: check that it remembers.
      if kind != .tiny { #expect(hitCount > Self.stepCount / 8, "only \(hitCount) hits") }
      let counts = cache.counts
      #expect(counts.places <= limits.placeCountMax && counts.watches <= limits.watchCountMax)
    }
  }
}
