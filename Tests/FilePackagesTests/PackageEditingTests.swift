import FilePackages
import SeededRandom
import SystemInterface
import Testing

@Suite("Editing packages")
struct PackageEditingTests {
  @Test("FW-4: An addition under a name that's taken gets the first free number before the extension")
  func duplicates() throws {
    var tree = PackageTree()
    func add(_ name: String) throws -> String { try tree.add([], preferring: SystemPath(name)).description }
    #expect(
      try ["a.png", "a.png", "a.png", "b", "b", ".hidden", ".hidden", "c.", "c."].map(add) == [
        "a.png", "a 2.png", "a 3.png", "b", "b 2", ".hidden", ".hidden 2", "c.", "c. 2",
      ])
    try tree.remove(SystemPath("a 2.png"))
    #expect(try tree.add([], preferring: SystemPath("a.png")).description == "a 2.png")
    // The number takes room from the name, whole characters.
    let long = String(repeating: "n", count: 249) + "é.txt"
    #expect(try add(long) == long)
    #expect(try add(long) == String(repeating: "n", count: 249) + " 2.txt")
    #expect(try add(long) == String(repeating: "n", count: 249) + " 3.txt")
  }

  @Test("FW-4: Additions find free names beside members on disk as well")
  func duplicatesOnDisk() throws {
    try withSandbox { box in
      try box.write("p/a.png", "disk")
      var tree = try PackageTree(openingPackageAt: box.path("p"))
      #expect(try tree.add(Array("new".utf8), preferring: SystemPath("a.png")).description == "a 2.png")
      #expect(try tree.write(to: box.path("p")).tree.listing() == ["a 2.png new", "a.png disk"])
    }
  }

  @Test("PP-15: A member is updated by its name, others stay as they are")
  func update() throws {
    try withSandbox { box in
      try box.write("p/d/a", "1")
      try box.write("p/d/b", "2")
      var tree = try PackageTree(openingPackageAt: box.path("p"))
      let copy = tree
      try tree.update("d/a", "3")
      #expect(try tree.listing() == ["d/", "d/a 3", "d/b 2"])
      #expect(try copy.listing() == ["d/", "d/a 1", "d/b 2"])
      #expect { try tree.update("d", "") } throws: { ($0 as? PackageError)?.code == .wrongKind }
      #expect { try tree.update("none/a", "") } throws: { ($0 as? PackageError)?.code == .notFound }
      #expect { try tree.makeDirectory(SystemPath("d")) } throws: { ($0 as? PackageError)?.code == .nameTaken }
      #expect { try tree.remove(SystemPath("none")) } throws: { ($0 as? PackageError)?.code == .notFound }
      #expect { try tree.move(SystemPath("d"), to: SystemPath("d/inside")) } throws: {
        ($0 as? PackageError)?.code == .invalidName
      }
      #expect(try tree.listing() == ["d/", "d/a 3", "d/b 2"])
    }
  }

  @Test("FW-1: Directories may be inside each other up to the limit, and not beyond")
  func depth() throws {
    try withSandbox { box in
      var tree = PackageTree()
      var path = SystemPath("d")
      for _ in 1..<PackageTree.depthMax {
        try tree.makeDirectory(path)
        path = path.appending("d")
      }
      try tree.makeDirectory(path)
      #expect { try tree.makeDirectory(path.appending("d")) } throws: { ($0 as? PackageError)?.code == .tooDeep }
      let written = try tree.write(to: box.path("p")).tree
      #expect(try written.kind(of: path) == .directory)
      _ = try written.write(to: box.path("p"))
      try box.files.makeDirectory(box.path("p").appending(path).appending("d"), at: .workingDirectory, mode: 0o700)
      #expect { try written.loadedCopy() } throws: { _ in true }
      let deep = try PackageTree(openingPackageAt: box.path("p"))
      #expect { try deep.write(to: box.path("p")) } throws: { ($0 as? PackageError)?.code == .tooDeep }
      #expect { try deep.loadedCopy() } throws: { ($0 as? PackageError)?.code == .tooDeep }
      #expect(try box.names() == ["p"])
    }
  }

  /// A package as a dictionary: the model of a tree.
  private struct Model: Equatable {
    var members: [String: String?] = [:]

    func directories() -> [String] { [""] + members.filter { $0.value == nil }.keys.sorted() }

    func listing() -> [String] {
      // In the order in which a tree is walked: a directory, what's in it, the next one.
      members.sorted {
        Array($0.key.split(separator: "/")).lexicographicallyPrecedes($1.key.split(separator: "/")) {
          Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8))
        }
      }
      .map { path, text in text.map { "\(path) \($0)" } ?? "\(path)/" }
    }
  }

  @Test(
    "FW-5: After random edits and saves a package on disk has what a dictionary has",
    arguments: Budget.seeds(normal: 60, long: 3_000))
  func randomEdits(seed: UInt64) throws {
    try withSandbox { box in
      var random = SplitMix(seed: seed)
      var (tree, model) = (PackageTree(), Model())
      let path = box.path("p")
      for step in 0..<60 {
        let holder = random.pick(model.directories())
        let inner = (holder.isEmpty ? "" : holder + "/") + random.pick(["a", "b", "c", "d"])
        let isFree = model.members[inner] == nil
        switch random.below(9) {
        case 0...2:
          if let present = model.members[inner], present == nil {
            #expect { try tree.update(inner, "x") } throws: { ($0 as? PackageError)?.code == .wrongKind }
          } else {
            try tree.update(inner, "\(step)")
            model.members[inner] = "\(step)"
          }
        case 3 where isFree:
          try tree.makeDirectory(SystemPath(inner))
          model.members.updateValue(nil, forKey: inner)
        case 4 where !isFree:
          try tree.remove(SystemPath(inner))
          model.members = model.members.filter { $0.key != inner && !$0.key.hasPrefix(inner + "/") }
        case 5 where !isFree:
          let target = random.pick(model.directories())
          let newPath = (target.isEmpty ? "" : target + "/") + random.pick(["a", "e"])
          if model.members[newPath] == nil, !newPath.hasPrefix(inner + "/") {
            try tree.move(SystemPath(inner), to: SystemPath(newPath))
            for (key, value) in model.members where key == inner || key.hasPrefix(inner + "/") {
              model.members.removeValue(forKey: key)
              model.members.updateValue(value, forKey: newPath + key.dropFirst(inner.count))
            }
          }
        case 6: tree = try tree.write(to: path).tree
        case 7:
          let (written, report) = try tree.write(to: path, .anything, linking: random.pick([.always, .never]))
          tree = written
          #expect(
            report.filesWritten + report.filesLinked + report.filesCloned == model.members.values.count { $0 != nil })
          #expect(try PackageTree(openingPackageAt: path).listing() == model.listing(), "seed \(seed)")
        default: break
        }
        #expect(try tree.listing() == model.listing(), "seed \(seed), step \(step)")
      }
      _ = try tree.write(to: path)
      #expect(try PackageTree(openingPackageAt: path).listing() == model.listing(), "seed \(seed)")
      #expect(try box.names() == ["p"])
    }
  }
}

extension PackageTree {
  fileprivate func loadedCopy() throws -> PackageTree {
    var copy = self
    try copy.loadAll()
    return copy
  }
}
