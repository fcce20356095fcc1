import FilePackages
import SystemInterface
import Testing

@Suite("Writing packages")
struct PackageWritingTests {
  @Test("CD-31: A save of one altered member writes that one, and the others are the same files as before")
  func incremental() throws {
    try withSandbox { box in
      for number in 0..<100 { try box.write("p/images/\(number)", String(repeating: "x", count: 1_000)) }
      try box.write("p/text", "old")
      let before = try (0..<100).map { try box.status("p/images/\($0)").identity }
      let path = box.path("p")
      var tree = try PackageTree(openingPackageAt: path)
      try tree.update("text", "newer")
      let (written, report) = try tree.write(to: path)
      #expect(
        report.bytesWritten == 5 && report.filesWritten == 1 && report.filesLinked == 100 && report.filesCloned == 0)
      #expect(try (0..<100).map { try box.status("p/images/\($0)").identity } == before)
      #expect(try (0..<100).allSatisfy { try box.status("p/images/\($0)").linkCount == 1 })
      #expect(try written.contents(of: SystemPath("text")) == Array("newer".utf8))
      #expect(try box.names() == ["p"])
      // The tree that was written goes on, and knows what it has written.
      var next = written
      try next.move(SystemPath("images/7"), to: SystemPath("seven"))
      let second = try next.write(to: path).report
      #expect(second.bytesWritten == 0 && second.filesLinked == 101)
      #expect(try box.status("p/seven").identity == before[7])
    }
  }

  @Test("UD-18: Of a package that stays, files are linked only if nobody may write to them, or if the caller says so")
  func savedElsewhere() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      try box.write("p/sealed", "2", mode: 0o444)
      let tree = try PackageTree(openingPackageAt: box.path("p"))
      let safe = try tree.write(to: box.path("q"), .nothing).report
      #expect(safe.filesLinked == 1 && safe.filesWritten + safe.filesCloned == 1)
      #expect(try box.status("q/sealed").identity == box.status("p/sealed").identity)
      #expect(try box.status("q/a").identity != box.status("p/a").identity)
      let linked = try tree.write(to: box.path("r"), .nothing, linking: .always).report
      #expect(linked.filesLinked + linked.filesCloned == 2 && linked.bytesWritten == 0)
      let copied = try tree.write(to: box.path("s"), .nothing, linking: .never).report
      #expect(copied.filesLinked == 0)
      #expect(try ["q", "r", "s"].allSatisfy { try box.tree($0) == box.tree("p") })
    }
  }

  @Test("CD-31: Where there are no hard links, unchanged members are copied")
  func withoutLinks() throws {
    try withSandbox { box in
      try box.write("p/a", "12345")
      let door = ScriptedFileSystem { $0.call == .link || $0.call == .clone ? .fail(1) : .proceed }
      let tree = try PackageTree(openingPackageAt: box.path("p"), files: door)
      let (written, report) = try tree.write(to: box.path("p"))
      #expect(report.bytesWritten == 5 && report.filesWritten == 1 && report.filesLinked + report.filesCloned == 0)
      #expect(try written.listing() == ["a 12345"])
    }
  }

  @Test("CD-13: Modes, times and extended attributes of members and of the package stay")
  func metadata() throws {
    try withSandbox { box in
      let name = ExtendedAttributeName("user.note")
      try box.write("p/d/a", "1", mode: 0o640)
      try box.write("p/d/b", "2", mode: 0o600)
      for place in ["p", "p/d", "p/d/a"] {
        try box.files.withDescriptor(box.path(place), flags: []) { (file) throws(SystemError) in
          try box.files.setExtendedAttribute(name, of: file, to: Array(place.utf8))
        }
      }
      try box.files.withDescriptor(box.path("p"), flags: .directory) { (file) throws(SystemError) in
        try box.files.setMode(of: file, to: 0o751)
      }
      let before = try (box.tree("p"), box.status("p/d/b"))
      var tree = try PackageTree(openingPackageAt: box.path("p"))
      try tree.update("d/a", "3")
      _ = try tree.write(to: box.path("p"))
      #expect(try box.tree("p") == before.0.map { $0 == "d/a 640 1" ? "d/a 640 3" : $0 })
      #expect(try box.status("p").mode == 0o751)
      #expect(try box.status("p/d/b").modificationTime == before.1.modificationTime)
      for place in ["p", "p/d", "p/d/a"] {
        try box.files.withDescriptor(box.path(place), flags: []) { (file) throws(SystemError) in
          let value = try box.files.extendedAttribute(name, of: file)
          #expect(value == Array(place.utf8))
        }
      }
    }
  }

  @Test("FW-9: An item at the place is replaced only if the caller says so")
  func replacement() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      try box.write("file", "f")
      var tree = PackageTree()
      try tree.update("b", "2")
      for place in ["p", "file"] {
        for replacement in [PackageTree.Replacement.nothing, .openedPackage] {
          #expect { try tree.write(to: box.path(place), replacement) } throws: {
            ($0 as? PackageError)?.code == .destinationExists
          }
        }
      }
      #expect(try box.text("file") == "f" && box.tree("p") == ["a 644 1"])
      for place in ["p", "file", "new"] { _ = try tree.write(to: box.path(place), .anything) }
      #expect(try ["p", "file", "new"].allSatisfy { try box.tree($0) == ["b 644 2"] })
      #expect(try box.names() == ["file", "new", "p"])
      #expect { try tree.write(to: box.path("none/p")) } throws: { ($0 as? PackageError)?.code == .fileSystem }
    }
  }

  @Test("CD-15: Of two trees that were opened on one package, the second to be written doesn't overwrite the first")
  func lostUpdate() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      let path = box.path("p")
      var (first, second) = try (PackageTree(openingPackageAt: path), PackageTree(openingPackageAt: path))
      try first.update("b", "first")
      try second.update("b", "second")
      _ = try first.write(to: path)
      #expect { try second.write(to: path) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      // It hasn't got its unaltered members any more, so it can't be written anywhere.
      #expect { try second.write(to: box.path("q"), .anything) } throws: {
        ($0 as? PackageError)?.code == .packageReplaced
      }
      #expect(try box.tree("p") == ["a 644 1", "b 644 first"])
      #expect(try box.names() == ["p"])
    }
  }

  @Test("CD-15: A package that's replaced while its members are taken isn't taken for a smaller one")
  func replacedWhileWriting() throws {
    try withSandbox { box in
      for number in 0..<5 { try box.write("p/\(number)", "\(number)") }
      let path = box.path("p")
      let other = try PackageTree(openingPackageAt: path)
      let hasReplaced = Guarded(false)
      let door = ScriptedFileSystem { call in
        if call.call == .link, !hasReplaced.withLock({ $0 }) {
          hasReplaced.withLock { $0 = true }
          _ = try? other.write(to: path)
        }
        return .proceed
      }
      var tree = try PackageTree(openingPackageAt: path, files: door)
      try tree.update("5", "5")
      #expect { try tree.write(to: path, .anything) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      #expect(hasReplaced.withLock { $0 })
      #expect(try box.tree("p") == (0..<5).map { "\($0) 644 \($0)" })
      #expect(try box.names() == ["p"])
    }
  }

  @Test("CD-15: A package that's replaced and removed in part is no source of members", arguments: [false, true])
  func partlyRemovedWhileWriting(inDirectory: Bool) throws {
    try withSandbox { box in
      for number in 0..<5 { try box.write(inDirectory ? "p/d/\(number)" : "p/\(number)", "\(number)") }
      let path = box.path("p")
      let before = try box.tree("p")
      let unlinks = Guarded(0)
      let otherDoor = ScriptedFileSystem { call in
        if call.call != .unlink { return .proceed }
        return unlinks.withLock { count in
          count += 1
          return count > 3 ? .fail(5) : .proceed
        }
      }
      let other = try PackageTree(openingPackageAt: path, files: otherDoor)
      let hasReplaced = Guarded(false)
      let door = ScriptedFileSystem { call in
        if call.call == .readDirectory, !hasReplaced.withLock({ $0 }) {
          hasReplaced.withLock { $0 = true }
          _ = try? other.write(to: path)
        }
        return .proceed
      }
      let tree = try PackageTree(openingPackageAt: path, files: door)
      #expect { try tree.write(to: path, .anything) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      #expect(try box.tree("p") == before)
    }
  }

  @Test("SP-5: One member is replaced on disk; the rest of the package isn't touched")
  func oneMember() throws {
    try withSandbox { box in
      try box.write("p/d/a", "1", mode: 0o640)
      try box.write("p/b", "2")
      let identities = try (box.status("p").identity, box.status("p/b").identity)
      var tree = try PackageTree(openingPackageAt: box.path("p"))
      try tree.update("d/a", "in the value")
      try tree.update("b", "kept in the value")
      try tree.replaceOnDisk(SystemPath("d/a"), Array("3".utf8))
      try tree.replaceOnDisk(SystemPath("new"), Array("4".utf8))
      #expect(try box.tree("p") == ["b 644 2", "d 755 directory", "d/a 640 3", "new 644 4"])
      #expect(try tree.listing() == ["b kept in the value", "d/", "d/a 3", "new 4"])
      #expect(try box.status("p").identity == identities.0 && box.status("p/b").identity == identities.1)
      #expect { try tree.replaceOnDisk(SystemPath("d"), []) } throws: { ($0 as? PackageError)?.code == .wrongKind }
      #expect { try tree.replaceOnDisk(SystemPath("none/a"), []) } throws: { ($0 as? PackageError)?.code == .notFound }
      let other = try PackageTree(openingPackageAt: box.path("p"))
      _ = try other.write(to: box.path("p"))
      #expect { try tree.replaceOnDisk(SystemPath("b"), []) } throws: {
        ($0 as? PackageError)?.code == .packageReplaced
      }
      #expect(try box.text("p/b") == "2")
    }
  }

  @Test("FW-9: A file from elsewhere is copied when the package is written")
  func fileFromElsewhere() throws {
    try withSandbox { box in
      try box.write("movie", String(repeating: "m", count: 1 << 20))
      var tree = PackageTree()
      try tree.update(SystemPath("movie"), contentsOf: box.path("movie"))
      #expect(try tree.contents(of: SystemPath("movie")).count == 1 << 20)
      let written = try tree.write(to: box.path("p")).tree
      try box.files.removeItem(at: box.path("movie"))
      #expect(try written.contents(of: SystemPath("movie")).count == 1 << 20)
      #expect { try tree.write(to: box.path("q")) } throws: { ($0 as? PackageError)?.code == .fileSystem }
      #expect(try box.names() == ["p"])
    }
  }

  @Test("CD-14: Leftovers of a crash beside a package are removed when they're old enough, and nothing else")
  func leftovers() throws {
    try withSandbox { box in
      try box.write("p/a", "1")
      try box.write("p.backup/a", "2")
      try box.write("q/a", "3")
      // Everything up to the exchange, and then nothing more.
      let door = ScriptedFileSystem { $0.call == .rename ? .fail(5) : $0.call == .unlink ? .fail(5) : .proceed }
      for place in ["p", "q"] {
        let tree = try PackageTree(openingPackageAt: box.path(place), files: door)
        #expect { try tree.write(to: box.path(place)) } throws: { ($0 as? PackageError)?.systemError?.errno == 5 }
      }
      #expect(try box.names().count == 5)
      #expect(try PackageTree.removeLeftovers(of: box.path("p")) == 0)
      #expect(try PackageTree.removeLeftovers(of: box.path("p"), age: .zero) == 1)
      #expect(try PackageTree.removeLeftovers(of: box.path("q"), age: .zero) == 1)
      #expect(try box.names() == ["p", "p.backup", "q"] && box.tree("p") == ["a 644 1"])
    }
  }
}
