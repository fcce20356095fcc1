import FilePackages
import SystemInterface
import Testing

@Suite("Packages with many new members", .timeLimit(.minutes(1)))
struct ManyMembersTests {
  @Test("T-82: Of ten thousand new members each costs what the first one cost", arguments: ["", "pictures"])
  func manyMembers(directory: String) throws {
    try withSandbox { box in
      try box.write("p/old", "disk")
      var tree = try PackageTree(openingPackageAt: box.path("p"))
      if !directory.isEmpty { try tree.makeDirectory(SystemPath(directory)) }
      let prefix = directory.isEmpty ? "" : directory + "/"
      for number in 0..<10_000 { try tree.update(SystemPath("\(prefix)\(number)"), [1]) }
      let first = try tree.add([1], preferring: SystemPath("picture.png"), in: SystemPath(directory))
      for _ in 2...10_000 {
        _ = try tree.add([1], preferring: SystemPath("picture.png"), in: SystemPath(directory))
      }
      #expect(first.description == prefix + "picture.png")
      #expect(try tree.kind(of: SystemPath("\(prefix)picture 10000.png")) == .file)
      tree = try tree.write(to: box.path("p")).tree
      #expect(try tree.names(in: SystemPath(directory)).count == 20_000 + (directory.isEmpty ? 1 : 0))
    }
  }
}
