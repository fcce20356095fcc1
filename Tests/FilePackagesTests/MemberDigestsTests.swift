import ContentHashing
import SystemInterface
import Testing

@testable import FilePackages

@Suite("The hashes of members that a document knows")
struct MemberDigestsTests {
  private func status(_ inode: UInt64, size: Int64 = 1, time: Int64 = 1, like status: FileStatus) -> FileStatus {
    var status = status
    status.identity = FileIdentity(device: 1, inode: inode)
    status.size = size
    status.modificationTime = time
    return status
  }

  private func hash(_ text: String) -> ContentHash { ContentHash(of: Array(text.utf8)) }

  @Test("CD-76: The first hash of a file counts, until it has another size or time, or the package is adopted as it is")
  func firstHash() throws {
    try withSandbox { box in
      let some = try box.status(".")
      let digests = MemberDigests()
      let file = status(1, like: some)
      #expect(digests.hash(of: file) == nil)
      digests.noteFirst(hash("a"), of: file)
      digests.noteFirst(hash("b"), of: file)
      #expect(digests.hash(of: file) == hash("a"))
      #expect(digests.hash(of: status(1, size: 2, like: some)) == nil)
      #expect(digests.hash(of: status(1, time: 2, like: some)) == nil)
      #expect(digests.hash(of: status(2, like: some)) == nil)
      let later = digests.forAnotherPackage()
      later.noteAltered(hash("b"), of: file)
      digests.adopt()
      #expect(later.hash(of: file) == hash("a"))
      later.adopt()
      #expect(digests.hash(of: file) == hash("b"))
      digests.noteWritten(hash("c"), of: file)
      later.adopt()
      #expect(later.hash(of: file) == hash("c"))
    }
  }

  @Test("CD-71: As many files are known as there may be, and for one more the first is forgotten", arguments: [1, 3])
  func limit(countMax: Int) throws {
    try withSandbox { box in
      let some = try box.status(".")
      let digests = MemberDigests(countMax: countMax)
      func known(_ count: Int) -> [Int] {
        (0..<count).filter { digests.hash(of: status(UInt64($0), like: some)) == hash("\($0)") }
      }
      for number in 0..<countMax { digests.noteFirst(hash("\(number)"), of: status(UInt64(number), like: some)) }
      #expect(known(countMax) == Array(0..<countMax))
      // The same one again takes no other's place.
      digests.noteWritten(hash("0"), of: status(0, like: some))
      #expect(known(countMax) == Array(0..<countMax))
      for number in countMax..<3 * countMax {
        digests.noteFirst(hash("\(number)"), of: status(UInt64(number), like: some))
        #expect(known(3 * countMax) == Array(number - countMax + 1...number))
      }
    }
  }

  @Test(
    "CD-76: Before a member is altered that nobody has read it's hashed, if it has no more bytes than that takes",
    arguments: [0, 1])
  func unread(excess: Int) throws {
    try withSandbox { box in
      let place = try box.write("package/a", "")
      try box.files.withDescriptor(place, flags: .writeOnly) { (file) throws(SystemError) in
        try box.files.truncate(file, to: Int64(MemberDigests.unreadSizeMax + excess))
      }
      for isRemoved in [true, false] {
        let digests = MemberDigests()
        var tree = try PackageTree(openingPackageAt: box.path("package"), files: box.files, digests: digests)
        #expect(digests.hash(of: try box.status("package/a")) == nil)
        if isRemoved { try tree.remove(SystemPath("a")) } else { try tree.update(SystemPath("a"), []) }
        #expect((digests.hash(of: try box.status("package/a")) != nil) == (excess == 0))
        // Nor does a save read more.
        let later = try PackageTree(
          openingPackageAt: box.path("package"), files: box.files, digests: digests.forAnotherPackage())
        let replaced = try tree.replacedMembers(in: later)
        #expect((replaced.hash(of: SystemPath("a")) != nil) == (excess == 0) && !replaced.areAltered)
        // A file that the document has read is compared whatever size it has.
        try later.readContents(of: SystemPath("a")) { _, _ in }
        #expect(try tree.replacedMembers(in: later).hash(of: SystemPath("a")) != nil)
      }
    }
  }

  @Test("FW-1: A package of no document keeps nothing of what is read")
  func withoutDocument() throws {
    try withSandbox { box in
      try box.write("package/a", "a")
      var tree = try PackageTree(openingPackageAt: box.path("package"))
      _ = try tree.contents(of: SystemPath("a"))
      #expect(tree.top?.directory.digests == nil)
      try tree.update(SystemPath("a"), [1])
      #expect(try tree.replacedMembers(in: tree).known.isEmpty)
      #expect(try tree.write(to: box.path("package")).tree.top?.directory.digests == nil)
    }
  }

  @Test("CD-76: A save replaces the files that the tree doesn't take over, whatever else it moves")
  func replacedMembers() throws {
    try withSandbox { box in
      for name in ["a", "b", "in/c", "in/d", "in/deep/e", "other/f", "other/g"] {
        try box.write("package/\(name)", name)
      }
      try box.files.makeSymbolicLink(box.path("package/link"), at: .workingDirectory, target: SystemPath("a"))
      let digests = MemberDigests()
      let start = try PackageTree(openingPackageAt: box.path("package"), files: box.files, digests: digests)
      func replaced(_ change: (inout PackageTree) throws -> Void) throws -> [String] {
        var tree = start
        try change(&tree)
        return try tree.replacedMembers(in: start).known.map(\.place.path.description).sorted()
      }
      func path(_ name: String) -> SystemPath { SystemPath(name) }
      #expect(try replaced { _ in } == [])
      #expect(try replaced { try $0.update(path("in/deep/e"), []) } == ["in/deep/e"])
      #expect(try replaced { try $0.update(path("new"), []) } == [])
      #expect(try replaced { try $0.remove(path("link")) } == [])
      #expect(try replaced { try $0.remove(path("in")) } == ["in/c", "in/d", "in/deep/e"])
      #expect(try replaced { try $0.move(path("in"), to: path("out")) } == [])
      #expect(
        try replaced { tree in
          try tree.move(path("in/c"), to: path("c"))
          try tree.remove(path("in"))
        } == ["in/d", "in/deep/e"])
      #expect(
        try replaced { tree in
          try tree.move(path("in"), to: path("other/in"))
          try tree.update(path("other/in/c"), [])
          try tree.remove(path("other/in/deep/e"))
        } == ["in/c", "in/deep/e"])
      #expect(
        try replaced { tree in
          try tree.update(path("a"), [])
          try tree.move(path("a"), to: path("b2"))
          try tree.remove(path("b"))
          try tree.move(path("other/f"), to: path("b"))
          try tree.move(path("b"), to: path("other/f"))
        } == ["a", "b"])
      #expect(
        try replaced { tree in
          try tree.remove(path("a"))
          try tree.makeDirectory(path("a"))
          try tree.move(path("other"), to: path("a/other"))
        } == ["a"])
      // A tree of another package takes over nothing.
      #expect(
        try PackageTree().replacedMembers(in: start).known.map(\.place.path.description).sorted() == [
          "a", "b", "in/c", "in/d", "in/deep/e", "other/f", "other/g",
        ])
    }
  }
}
