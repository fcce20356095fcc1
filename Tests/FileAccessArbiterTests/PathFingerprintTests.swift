import FileAccessArbiter
import Testing

@Suite("Fingerprints of paths")
struct PathFingerprintTests {
  @Test("the prefixes of a path are the fingerprints of its directories, and the path itself")
  func prefixes() {
    let deep = PathFingerprint.prefixes(of: "/a/bcdefghij/klm", seed: 7)
    #expect(deep.count == 4)
    #expect(deep[0] == .root(seed: 7))
    #expect(Array(deep[..<2]) == PathFingerprint.prefixes(of: "/a", seed: 7))
    #expect(Array(deep[..<3]) == PathFingerprint.prefixes(of: "/a/bcdefghij", seed: 7))
    #expect(deep[3] == deep[2].child(named: Array("klm".utf8)))
    #expect(PathFingerprint.prefixes(of: .root, seed: 7) == [.root(seed: 7)])
  }

  @Test("where a component ends counts, and so do its length and the seed")
  func boundaries() {
    let paths: [ItemPath] = [
      "/ab/c", "/a/bc", "/abc", "/a/b/c", "/12345678", "/12345678/9", "/123456789", "/1234567", "/1/2345678",
      ItemPath(canonical: Array("/a".utf8) + [0]), "/a", ItemPath(canonical: Array("/12345678".utf8) + [0]),
    ]
    let fingerprints = Set(paths.map { PathFingerprint.prefixes(of: $0, seed: 1).last })
    #expect(fingerprints.count == paths.count)
    #expect(PathFingerprint.prefixes(of: "/a", seed: 1).last != PathFingerprint.prefixes(of: "/a", seed: 2).last)
  }

  @Test("similar names spread over the low bits, which tables use")
  func spread() {
    var buckets = [Int](repeating: 0, count: 256)
    let directory = PathFingerprint.root(seed: 3)
    for number in 0..<25_600 { buckets[Int(directory.child(named: "file-\(number)".utf8).rawValue & 255)] += 1 }
    // 100 in each are expected; 150 are five standard deviations more.
    #expect(buckets.max() ?? 0 < 150)
    #expect(buckets.min() ?? 0 > 50)
  }

  @Test("zero stands for no path")
  func zero() {
    let directory = PathFingerprint.root(seed: 0)
    #expect((0..<10_000).allSatisfy { directory.child(named: "\($0)".utf8).rawValue != 0 })
  }
}
