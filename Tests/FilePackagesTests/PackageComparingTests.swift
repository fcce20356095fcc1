import FilePackages
import Foundation
import SeededRandom
import SystemInterface
import Testing

extension PackageTree {
  fileprivate func differencesInShort(
    from former: PackageTree, by comparison: PackageTree.Comparison = .contents
  ) throws -> [String] {
    try differences(from: former, by: comparison).map { "\($0.kind) \($0.path)" }
  }
}

@Suite("Comparing packages")
struct PackageComparingTests {
  @Test(
    "SP-5, FW-8: Differences name members that were added, removed and altered, directories with all that's in them")
  func kinds() throws {
    try withSandbox { box in
      for name in ["same", "bytes", "gone/a", "gone/b", "kind", "deep/one/x", "link-target"] {
        try box.write("p/\(name)", "text")
      }
      try FileManager.default.createSymbolicLink(
        atPath: box.path("p/link").description, withDestinationPath: "link-target")
      let former = try PackageTree(openingPackageAt: box.path("p"))
      #expect(try former.differences(from: former).isEmpty)
      var present = former
      try present.update("bytes", "book")
      try present.update("same", "text")
      try present.remove(SystemPath("gone"))
      try present.remove(SystemPath("kind"))
      try present.makeDirectory(SystemPath("kind"))
      try present.update("kind/inside", "new")
      try present.update("deep/one/y", "new")
      try present.remove(SystemPath("link"))
      try present.makeSymbolicLink(SystemPath("link"), to: SystemPath("elsewhere"))
      let expected = [
        "altered bytes", "added deep/one/y", "removed gone", "removed gone/a", "removed gone/b", "altered kind",
        "added kind/inside", "altered link",
      ]
      #expect(try present.differencesInShort(from: former) == expected)
      let opposite = ["added": "removed", "removed": "added", "altered": "altered"]
      #expect(
        try former.differencesInShort(from: present)
          == expected.map { line in
            let words = line.split(separator: " ").map(String.init)
            return "\(opposite[words[0]] ?? "") \(words[1])"
          })
    }
  }

  @Test(
    "FW-7: Contents are compared by their hashes, whatever the dates; attributes by size, time and permissions, whatever the bytes"
  )
  func comparisons() throws {
    try withSandbox { box in
      for package in ["p", "q"] {
        for name in ["equal", "touched", "bytes", "size", "mode"] { try box.write("\(package)/\(name)", "text") }
      }
      try box.write("q/bytes", "book")
      try box.write("q/size", "texts")
      try box.write("q/mode", "text", mode: 0o600)
      let (date, later) = (Date(timeIntervalSince1970: 1e9), Date(timeIntervalSince1970: 1e9 + 1))
      for package in ["p", "q"] {
        for name in ["equal", "touched", "bytes", "size", "mode"] {
          try FileManager.default.setAttributes(
            [.modificationDate: package == "q" && name == "touched" ? later : date],
            ofItemAtPath: box.path("\(package)/\(name)").description)
        }
      }
      let (former, present) = (
        try PackageTree(openingPackageAt: box.path("p")), try PackageTree(openingPackageAt: box.path("q"))
      )
      #expect(try present.differencesInShort(from: former) == ["altered bytes", "altered size"])
      #expect(
        try present.differencesInShort(from: former, by: .attributes) == [
          "altered mode", "altered size", "altered touched",
        ])
      // Files in memory have no dates.
      var loaded = former
      try loaded.loadAll()
      #expect(try loaded.differences(from: former).isEmpty)
      #expect(try loaded.differencesInShort(from: former, by: .attributes).count == 5)
      #expect(try loaded.differences(from: loaded, by: .attributes).isEmpty)
    }
  }

  @Test("SP-5: A package that was replaced since isn't compared by what's left of it; one that was loaded is")
  func replaced() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      try box.write("p/b", "2")
      let former = try PackageTree(openingPackageAt: box.path("p"))
      var loaded = former
      try loaded.loadAll()
      var next = try PackageTree(openingPackageAt: box.path("p"))
      try next.update("a", "3")
      let saved = try next.write(to: box.path("p")).tree
      #expect { try saved.differences(from: former) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      #expect(try saved.differencesInShort(from: loaded) == ["altered a"])
    }
  }

  @Test("SP-5: A member that no package can have isn't compared: the error names it")
  func unsupportedKinds() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      let former = try PackageTree(openingPackageAt: box.path("p"))
      #expect(mkfifo(box.path("p/fifo").description, 0o600) == 0)
      var present = PackageTree()
      try present.update("fifo", "")
      for (one, other) in [(former, present), (present, former)] {
        #expect { try one.differences(from: other) } throws: {
          ($0 as? PackageError)?.code == .unsupportedKind && ($0 as? PackageError)?.path == SystemPath("fifo")
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.path("p").description).count == 2)
    }
  }

  @Test("SP-5: Files that are to be taken from elsewhere are compared by their contents there")
  func filesFromElsewhere() throws {
    try withSandbox { box in
      let source = try box.write("source", "text")
      try box.write("p/a", "text")
      let former = try PackageTree(openingPackageAt: box.path("p"))
      var present = former
      try present.update(SystemPath("a"), contentsOf: source)
      #expect(try present.differences(from: former).isEmpty)
      try box.write("source", "book")
      #expect(try present.differencesInShort(from: former) == ["altered a"])
    }
  }

  @Test("SP-5: The differences of any two trees are those of their lists", arguments: 0..<UInt64(40))
  func random(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    func tree(_ random: inout SplitMix) throws -> PackageTree {
      var tree = PackageTree()
      for _ in 0..<12 {
        let directory = ["", "d/", "e/"].randomElement(using: &random) ?? ""
        if !directory.isEmpty { try? tree.makeDirectory(SystemPath(String(directory.dropLast()))) }
        let name = directory + (["a", "b", "c"].randomElement(using: &random) ?? "a")
        try? tree.update(name, ["1", "2"].randomElement(using: &random) ?? "1")
      }
      return tree
    }
    try withSandbox { box in
      let (former, present) = (try tree(&random), try tree(&random))
      func contents(_ tree: PackageTree) throws -> [String: String] {
        Dictionary(
          try tree.listing().map { line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            return (words[0].hasSuffix("/") ? String(words[0].dropLast()) : words[0], words.count > 1 ? words[1] : "/")
          }, uniquingKeysWith: { first, _ in first })
      }
      let (old, new) = (try contents(former), try contents(present))
      let expected = Set(old.keys).union(new.keys).compactMap { path -> String? in
        if old[path] == nil { return "added \(path)" }
        if new[path] == nil { return "removed \(path)" }
        return old[path] == new[path] ? nil : "altered \(path)"
      }
      // On disk and in memory.
      let saved = try present.write(to: box.path("p")).tree
      for tree in [present, saved] {
        #expect(try tree.differencesInShort(from: former).sorted() == expected.sorted())
      }
    }
  }
}
