import FilePackages
import SystemInterface
import Testing

@Suite("Reading packages")
struct PackageReadingTests {
  private func makePackage(_ box: PackageSandbox) throws -> SystemPath {
    try box.write("p/text", "old text")
    try box.write("p/images/1", "old image")
    try box.write("p/images/deep/2", "old deep image")
    try box.files.makeSymbolicLink(box.path("p/link"), at: .workingDirectory, target: SystemPath("../elsewhere"))
    return box.path("p")
  }

  @Test("FW-1: Names, kinds, bytes and targets come from the disk when they're asked for")
  func lazy() throws {
    try withSandbox { box in
      let tree = try PackageTree(openingPackageAt: makePackage(box))
      #expect(
        try tree.listing() == [
          "images/", "images/1 old image", "images/deep/", "images/deep/2 old deep image", "link -> ../elsewhere",
          "text old text",
        ])
      try box.write("p/text", "new text")
      #expect(try tree.contents(of: SystemPath("text")) == Array("new text".utf8))
      #expect(try tree.kind(of: SystemPath("none")) == nil)
      #expect(try tree.kind(of: SystemPath("none/inside")) == nil && tree.kind(of: SystemPath("text/inside")) == nil)
    }
  }

  @Test("PP-16: Looking at a thousand members keeps one descriptor open, and none when the tree is gone")
  func descriptors() throws {
    try withSandbox { box in
      for number in 0..<1_000 { try box.write("p/\(number % 10)/\(number)", "\(number)") }
      let door = ScriptedFileSystem { _ in .proceed }
      func openCount() -> Int {
        let opens = door.log.count { $0.call == .open || $0.call == .openWithoutSymbolicLinks }
        return opens - door.log.count { $0.call == .close }
      }
      try {
        let tree = try PackageTree(openingPackageAt: box.path("p"), files: door)
        #expect(try tree.listing().count == 1_010)
        #expect(openCount() == 1)
      }()
      #expect(openCount() == 0)
    }
  }

  @Test("FW-1: A tree that was opened before a replacement never reads a part of the new package")
  func replacement() throws {
    try withSandbox { box in
      let path = try makePackage(box)
      let old = try PackageTree(openingPackageAt: path)
      var new = old
      try new.update("text", "new text")
      try new.update("images/1", "new image")
      try new.update("added", "added")
      new = try new.write(to: path).tree
      #expect(try new.contents(of: SystemPath("images/1")) == Array("new image".utf8))
      #expect(try old.isReplaced() && !new.isReplaced())
      for name in ["text", "images/1", "images/deep/2", "added", "none"] {
        #expect(throws: PackageError(.packageReplaced, path)) { try old.kind(of: SystemPath(name)) }
        #expect { try old.contents(of: SystemPath(name)) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      }
      #expect { try old.names() } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      #expect { try old.target(of: SystemPath("link")) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
    }
  }

  @Test("FW-1: A member that's being read when the package is replaced is read to its old end")
  func replacementWhileReading() throws {
    try withSandbox { box in
      let path = box.path("p")
      try box.write("p/big", String(repeating: "o", count: 1 << 20))
      let old = try PackageTree(openingPackageAt: path)
      var new = old
      try new.update("big", "new")
      var (bytes, isWritten) = ([UInt8](), false)
      try old.readContents(of: SystemPath("big")) { (part, size) throws(PackageError) in
        #expect(size == 1 << 20)
        bytes += part
        if !isWritten {
          isWritten = true
          _ = try new.write(to: path)
        }
      }
      #expect(isWritten && bytes == [UInt8](repeating: UInt8(ascii: "o"), count: 1 << 20))
      #expect(try box.text("p/big") == "new")
    }
  }

  @Test("FW-1: A directory that is listed while its package is removed isn't taken for a small one")
  func replacementWhileListing() throws {
    try withSandbox { box in
      let path = try makePackage(box)
      let new = try PackageTree(openingPackageAt: path)
      // Between opening a directory and reading it, another package takes the place.
      let hasReplaced = Guarded(false)
      let door = ScriptedFileSystem { call in
        if call.call == .readDirectory, !hasReplaced.withLock({ $0 }) {
          hasReplaced.withLock { $0 = true }
          _ = try? new.write(to: path)
        }
        return .proceed
      }
      let old = try PackageTree(openingPackageAt: path, files: door)
      #expect { try old.names(in: SystemPath("images")) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
      #expect(hasReplaced.withLock { $0 })
    }
  }

  @Test("FW-1: A package that is replaced, and removed in part, isn't read", arguments: 1...4)
  func partialRemoval(removedCount: Int) throws {
    try withSandbox { box in
      let path = try makePackage(box)
      let old = try PackageTree(openingPackageAt: path)
      let unlinks = Guarded(0)
      let door = ScriptedFileSystem { call in
        if call.call != .unlink { return .proceed }
        return unlinks.withLock { count in
          count += 1
          return count > removedCount ? .fail(5) : .proceed
        }
      }
      let new = try PackageTree(openingPackageAt: path, files: door)
      #expect { try new.write(to: path) } throws: { ($0 as? PackageError)?.isInPlace == true }
      for directory in ["", "images", "images/deep"] {
        #expect { try old.names(in: SystemPath(directory)) } throws: {
          ($0 as? PackageError)?.code == .packageReplaced
        }
      }
      var copy = old
      #expect { try copy.loadAll() } throws: { ($0 as? PackageError)?.code == .packageReplaced }
    }
  }

  @Test("FW-1: A moved package is read on where it is")
  func moved() throws {
    try withSandbox { box in
      let path = try makePackage(box)
      let tree = try PackageTree(openingPackageAt: path)
      try box.files.moveItem(from: path, to: box.path("q"), replacing: false)
      #expect(try tree.contents(of: SystemPath("text")) == Array("old text".utf8))
      #expect(try !tree.isReplaced() && tree.names().count == 3 && tree.kind(of: SystemPath("none")) == nil)
      try box.files.removeItem(at: box.path("q"))
      #expect { try tree.contents(of: SystemPath("text")) } throws: { ($0 as? PackageError)?.code == .packageReplaced }
    }
  }

  @Test("SP-6: A write to a member while it's read is an error, and no mixture")
  func changedWhileReading() throws {
    try withSandbox { box in
      try box.write("p/big", String(repeating: "o", count: 1 << 19))
      let tree = try PackageTree(openingPackageAt: box.path("p"))
      var isWritten = false
      #expect {
        try tree.readContents(of: SystemPath("big")) { (_, _) throws(PackageError) in
          if isWritten { return }
          isWritten = true
          #expect(throws: Never.self) { try box.write("p/big", "short") }
        }
      } throws: { ($0 as? PackageError)?.code == .memberChanged }
    }
  }

  @Test("SP-6: Larger contents than the caller accepts aren't read")
  func limits() throws {
    try withSandbox { box in
      try box.write("p/f", "12345")
      var tree = try PackageTree(openingPackageAt: box.path("p"))
      #expect(try tree.contents(of: SystemPath("f"), sizeMax: 5).count == 5)
      #expect { try tree.contents(of: SystemPath("f"), sizeMax: 4) } throws: {
        ($0 as? PackageError)?.code == .tooLarge
      }
      #expect { try tree.loadAll(sizeMax: 4) } throws: { ($0 as? PackageError)?.code == .tooLarge }
      try tree.loadAll(sizeMax: 5)
    }
  }

  @Test("CW-04: A loaded tree keeps its contents, whatever becomes of the package")
  func loaded() throws {
    try withSandbox { box in
      let path = try makePackage(box)
      var tree = try PackageTree(openingPackageAt: path)
      let before = try tree.listing()
      try tree.loadAll()
      try box.write("p/text", "altered")
      try box.files.removeItem(at: path)
      #expect(try tree.listing() == before)
      let written = try tree.write(to: box.path("q")).tree
      #expect(try written.listing() == before)
      #expect(try box.status("q/text").mode == 0o644)
    }
  }

  @Test(
    "FW-1: No path leads out of the package, up, or through a link",
    arguments: [
      "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/", ".", "a/./b", "a\0b", String(repeating: "n", count: 256),
    ])
  func irregularPaths(_ path: String) throws {
    try withSandbox { box in
      var tree = try PackageTree(openingPackageAt: makePackage(box))
      let path = SystemPath(path)
      #expect { try tree.kind(of: path) } throws: { ($0 as? PackageError)?.code == .invalidName }
      #expect { try tree.update(path, []) } throws: { ($0 as? PackageError)?.code == .invalidName }
      #expect { try tree.replaceOnDisk(path, []) } throws: { ($0 as? PackageError)?.code == .invalidName }
    }
  }

  @Test("FW-1: A link to a directory isn't entered")
  func links() throws {
    try withSandbox { box in
      let path = try makePackage(box)
      try box.write("elsewhere/secret", "secret")
      var tree = try PackageTree(openingPackageAt: path)
      #expect(try tree.kind(of: SystemPath("link")) == .symbolicLink)
      #expect(try tree.kind(of: SystemPath("link/secret")) == nil)
      #expect { try tree.names(in: SystemPath("link")) } throws: { ($0 as? PackageError)?.code == .wrongKind }
      #expect { try tree.contents(of: SystemPath("link")) } throws: { ($0 as? PackageError)?.code == .wrongKind }
      #expect { try tree.replaceOnDisk(SystemPath("link/secret"), []) } throws: { _ in true }
      #expect(try box.text("elsewhere/secret") == "secret")
      // Nor before Linux 5.6, name by name.
      let door = ScriptedFileSystem { $0.call == .openWithoutSymbolicLinks ? .fail(38) : .proceed }
      let oldKernel = try PackageTree(openingPackageAt: path, files: door)
      #expect(try oldKernel.kind(of: SystemPath("link/secret")) == nil)
      #expect(try oldKernel.contents(of: SystemPath("images/deep/2")) == Array("old deep image".utf8))
    }
  }

  @Test("FW-1, FW-6: An item that isn't a package is refused, and so is a member that no package can have")
  func refusals() throws {
    try withSandbox { box in
      try box.write("file", "")
      #expect { try PackageTree(openingPackageAt: box.path("file")) } throws: {
        ($0 as? PackageError)?.code == .wrongKind
      }
      #expect { try PackageTree(openingPackageAt: box.path("none")) } throws: {
        ($0 as? PackageError)?.code == .notFound
      }
      let path = try makePackage(box)
      var fifo = try box.status("p/text")
      fifo.kind = .fifo
      try box.files.makeNode(box.path("p/fifo"), at: .workingDirectory, like: fifo)
      let tree = try PackageTree(openingPackageAt: path)
      #expect { try tree.kind(of: SystemPath("fifo")) } throws: { ($0 as? PackageError)?.code == .unsupportedKind }
      #expect { try tree.contents(of: SystemPath("fifo")) } throws: { ($0 as? PackageError)?.code == .wrongKind }
      #expect { try tree.write(to: path) } throws: { ($0 as? PackageError)?.code == .unsupportedKind }
      #expect(try box.names() == ["file", "p"])
    }
  }
}
