import Glibc
import Testing

@testable import SystemInterface

@Suite("Removal takes the item and nothing else")
struct RemovalTests {
  @Test("A file, a link and a tree are removed; the target of a link stays")
  func kinds() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("kept")
      try sandbox.write("kept/file", "kept")
      try sandbox.write("file", "")
      try sandbox.link("link", to: "kept")
      try sandbox.makeDirectory("tree")
      try sandbox.makeDirectory("tree/empty")
      try sandbox.makeDirectory("tree/deep")
      try sandbox.write("tree/deep/file", "")
      try sandbox.link("tree/deep/link", to: "../../kept")
      for name in ["file", "link", "tree"] { try sandbox.files.removeItem(at: sandbox.path(name)) }
      #expect(try sandbox.names() == ["kept"])
      #expect(try sandbox.text("kept/file") == "kept")
    }
  }

  @Test("Removing one hard link leaves the other")
  func hardLink() async throws {
    try await withTemporaryDirectory { sandbox in
      let (path, other) = (try sandbox.write("file", "text"), sandbox.path("other"))
      try sandbox.files.link(path, at: .workingDirectory, to: other, at: .workingDirectory, links: .noFollow)
      try sandbox.files.removeItem(at: path)
      #expect(try sandbox.text("other") == "text")
      #expect(try sandbox.status("other")?.linkCount == 1)
    }
  }

  @Test("Nothing there is ENOENT")
  func absence() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = sandbox.path("none")
      #expect(throws: SystemError(.unlink, paths: [path], errno: ENOENT)) {
        try sandbox.files.removeItem(at: path)
      }
    }
  }

  @Test("A name that stands for another directory is refused", arguments: ["/", "a/..", "a/."])
  func dots(name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      let error = #expect(throws: SystemError.self) { try sandbox.files.removeItem(at: sandbox.path(name)) }
      #expect(error?.errno == EINVAL)
      #expect(try sandbox.names() == ["a"])
    }
  }

  @Test("A tree of 10,000 nested directories is removed with a handful of descriptors")
  func depth() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeNestedDirectories(10_000)
      let door = ScriptedFileSystem.watching()
      try door.removeItem(at: sandbox.path("d"))
      #expect(try sandbox.names() == [])
      var (open, most) = (0, 0)
      for entry in door.log {
        if entry.call == .open { open += 1 }
        if entry.call == .close { open -= 1 }
        most = max(most, open)
      }
      #expect(open == 0)
      #expect(most <= 3)
    }
  }

  @Test("A directory with thousands of files is removed")
  func width() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("tree")
      for index in 0..<3000 { try sandbox.write("tree/\(index)", "") }
      try sandbox.files.removeItem(at: sandbox.path("tree"))
      #expect(try sandbox.names() == [])
    }
  }

  @Test(
    "Items added during the removal are removed too, until the rounds run out", arguments: [(7, true), (8, false)])
  func additions(times: Int, succeeds: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("tree")
      try sandbox.write("tree/file", "")
      // The first unlink finds a directory, the second removes the file; from then on each round ends with one more.
      let failing = ScriptedFileSystem.failing(.unlink, times: Set(3..<(3 + times)), with: ENOTEMPTY)
      let error = errorThrown { () throws(SystemError) in try failing.removeItem(at: sandbox.path("tree")) }
      #expect((error == nil) == succeeds)
      #expect(error == nil || error?.errno == ENOTEMPTY)
    }
  }

  @Test("A directory moved away during the walk ends the walk instead of leading it elsewhere")
  func movedAway() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("tree")
      try sandbox.makeDirectory("tree/inner")
      try sandbox.makeDirectory("tree/inner/leaf")
      try sandbox.makeDirectory("elsewhere")
      try sandbox.write("elsewhere/precious", "kept")
      // When the walk goes up from `leaf`, `leaf` has become a child of `elsewhere`.
      let (leaf, moved) = (sandbox.path("tree/inner/leaf"), sandbox.path("elsewhere/leaf"))
      let door = ScriptedFileSystem { call in
        if call.call == .open && call.paths == [SystemPath("..")] {
          try? HostFileSystem().rename(leaf, at: .workingDirectory, to: moved, at: .workingDirectory, .replacing)
        }
        return .proceed
      }
      let error = #expect(throws: SystemError.self) { try door.removeItem(at: sandbox.path("tree")) }
      #expect(error?.errno == ESTALE)
      #expect(try sandbox.text("elsewhere/precious") == "kept")
    }
  }

  @Test("Names that aren't UTF-8 are removed")
  func arbitraryBytes() async throws {
    try await withTemporaryDirectory { sandbox in
      let name = SystemPath(bytes: [0xFF])
      let tree = sandbox.root.appending(name)
      try sandbox.files.makeDirectory(tree, at: .workingDirectory, mode: 0o700)
      try sandbox.files.makeSymbolicLink(tree.appending(name), at: .workingDirectory, target: name)
      try sandbox.files.removeItem(at: tree)
      #expect(try sandbox.names() == [])
    }
  }

  @Test("An error names the item below that couldn't be removed")
  func errorPath() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("tree")
      try sandbox.makeDirectory("tree/inner")
      let file = try sandbox.write("tree/inner/file", "")
      let door = ScriptedFileSystem { $0.paths == [SystemPath("file")] ? .fail(EACCES) : .proceed }
      #expect(throws: SystemError(.unlink, paths: [file], errno: EACCES)) {
        try door.removeItem(at: sandbox.path("tree"))
      }
    }
  }
}

extension Sandbox {
  /// Makes `d/d/d/…`, deeper than any path can name, and if wanted a file in the last of them, whose contents are its name.
  func makeNestedDirectories(_ depth: Int, file name: String? = nil) throws {
    try files.withDescriptor(root, flags: .directory) { (base) throws(SystemError) in
      var cursor = DirectoryCursor(base: base)
      defer { cursor.close(using: files) }
      for _ in 0..<depth {
        try files.makeDirectory(SystemPath("d"), at: cursor.current, mode: 0o755)
        _ = try cursor.descend(into: SystemPath("d"), using: files)
      }
      guard let name else { return }
      let flags: OpenFlags = [.create, .exclusive, .writeOnly]
      try files.withDescriptor(SystemPath(name), at: cursor.current, flags: flags, mode: 0o644) {
        (file) throws(SystemError) in
        try files.writeAll(Array(name.utf8), to: file)
      }
    }
  }
}
