import Glibc
import Testing

@testable import SystemInterface

@Suite("A canonical path is the one spelling of a place")
struct CanonicalPathTests {
  /// Directories `a/b`, a file `a/b/file`, and links of every kind.
  private func withTree(_ body: (Sandbox) throws -> Void) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      try sandbox.makeDirectory("a/b")
      try sandbox.write("a/b/file", "")
      try sandbox.link("toB", to: "a/b")
      try sandbox.link("chain", to: "toB")
      try sandbox.link("absolute", to: "\(sandbox.root)/a/b")
      try sandbox.link("toFile", to: "./a//b/file")
      try sandbox.link("up", to: "a/b/../..")
      try sandbox.link("dangling", to: "a/none/deep")
      try sandbox.link("loop", to: "loop")
      try sandbox.link("ping", to: "pong")
      try sandbox.link("pong", to: "ping")
      try body(sandbox)
    }
  }

  @Test(
    "Links in the middle are followed, `.`, `..` and spare slashes removed",
    arguments: [
      ("a/b/file", "a/b/file"), ("a//b/./file", "a/b/file"), ("a/b/", "a/b"), ("a/b/../b", "a/b"),
      ("toB/file", "a/b/file"), ("chain/file", "a/b/file"), ("absolute/file", "a/b/file"), ("toB/..", "a"),
      ("chain/../b/file", "a/b/file"), ("up/a", "a"), ("toB/../../toB/.", "toB"), ("toB", "toB"), ("loop", "loop"),
      ("dangling", "dangling"), ("toB/", "toB"), ("a/..", ""), (".", ""),
    ])
  func middle(path: String, expected: String) async throws {
    try await withTree { sandbox in
      let resolved = try sandbox.files.canonicalPath(of: sandbox.path(path), resolvingLastComponent: false)
      #expect(resolved == (expected.isEmpty ? sandbox.root : sandbox.path(expected)))
    }
  }

  @Test(
    "A link at the end is followed when asked",
    arguments: [
      ("toB", "a/b"), ("chain", "a/b"), ("absolute", "a/b"), ("toFile", "a/b/file"), ("up", ""), ("up/toB", "a/b"),
      ("dangling", "a/none/deep"), ("a/b/file", "a/b/file"), ("toB/", "a/b"),
    ])
  func last(path: String, expected: String) async throws {
    try await withTree { sandbox in
      let resolved = try sandbox.files.canonicalPath(of: sandbox.path(path), resolvingLastComponent: true)
      #expect(resolved == (expected.isEmpty ? sandbox.root : sandbox.path(expected)))
    }
  }

  @Test(
    "A missing tail is kept, with its dots taken lexically",
    arguments: [
      ("none", "none"), ("a/none", "a/none"), ("toB/none", "a/b/none"), ("a/none/x/y", "a/none/x/y"),
      ("none/../a", "a"), ("none/../toB/x", "a/b/x"), ("none/x/../../toB/file", "a/b/file"),
      ("dangling/x", "a/none/deep/x"), ("dangling/..", "a/none"), ("none/.", "none"),
    ])
  func missingTail(path: String, expected: String) async throws {
    try await withTree { sandbox in
      for resolving in [true, false] {
        let resolved = try sandbox.files.canonicalPath(of: sandbox.path(path), resolvingLastComponent: resolving)
        #expect(resolved == sandbox.path(expected))
      }
    }
  }

  @Test(
    "An existing path gets the same answer as from realpath(3)",
    arguments: [
      "a/b/file", "toB/../b/./file", "chain", "absolute/..", "toFile", "up/up/up/chain/file", "toB/../../chain",
      "a/b/../../toB/../b/file",
    ], [true, false])
  func oracle(path: String, hasOpenat2: Bool) async throws {
    try await withTree { sandbox in
      let door: any FileSystem =
        hasOpenat2
        ? sandbox.files : ScriptedFileSystem { $0.call == .openWithoutSymbolicLinks ? .fail(ENOSYS) : .proceed }
      let pointer = try #require(realpath(sandbox.path(path).description, nil))
      defer { free(pointer) }
      let resolved = try door.canonicalPath(of: sandbox.path(path), resolvingLastComponent: true)
      #expect(resolved.description == String(cString: pointer))
    }
  }

  @Test("A loop of links is ELOOP", arguments: ["loop", "ping", "loop/x", "ping/.."])
  func loops(path: String) async throws {
    try await withTree { sandbox in
      #expect(throws: SystemError(call: "canonicalPath", paths: [sandbox.path(path)], errno: ELOOP)) {
        try sandbox.files.canonicalPath(of: sandbox.path(path), resolvingLastComponent: true)
      }
    }
  }

  @Test("Forty links are followed, the forty-first is ELOOP", arguments: [(40, true), (41, false)])
  func chains(length: Int, succeeds: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("0", "")
      for index in 1...length { try sandbox.link("\(index)", to: "\(index - 1)") }
      let path = sandbox.path("\(length)")
      let resolved = try? sandbox.files.canonicalPath(of: path, resolvingLastComponent: true)
      #expect(resolved == (succeeds ? sandbox.path("0") : nil))
    }
  }

  @Test(
    "A path the kernel would refuse or misunderstand is an error",
    arguments: [
      (SystemPath("a/b"), EINVAL), (SystemPath(""), EINVAL), (SystemPath("/tmp\0/x"), EINVAL),
      (SystemPath("/" + String(repeating: "n", count: 256)), ENAMETOOLONG),
      (SystemPath("/tmp/none/" + String(repeating: "n", count: 256)), ENAMETOOLONG),
      (SystemPath(String(repeating: "/x", count: 2048)), ENAMETOOLONG),
    ])
  func refusals(path: SystemPath, errno: Int32) {
    let error = #expect(throws: SystemError.self) {
      try HostFileSystem().canonicalPath(of: path, resolvingLastComponent: true)
    }
    #expect(error?.errno == errno)
  }

  @Test("The longest path and the longest name are accepted")
  func longest() throws {
    let files = HostFileSystem()
    for text in [String(repeating: "/x", count: 2047) + "/", "/" + String(repeating: "n", count: 255)] {
      let path = try files.canonicalPath(of: SystemPath(text), resolvingLastComponent: true)
      #expect(path.description == (text.hasSuffix("/") ? String(text.dropLast()) : text))
    }
  }

  @Test("Links that add up to too long a path are ENAMETOOLONG")
  func growing() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.link("long", to: String(repeating: "/x", count: 1500))
      let path = sandbox.root.appending("long" + String(repeating: "/y", count: 1000))
      #expect(throws: SystemError(call: "canonicalPath", paths: [path], errno: ENAMETOOLONG)) {
        try sandbox.files.canonicalPath(of: path, resolvingLastComponent: true)
      }
    }
  }

  @Test("A file where a directory should be is ENOTDIR", arguments: ["file/x", "file/..", "link/x", "link/.."])
  func fileInTheMiddle(path: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "")
      try sandbox.link("link", to: "file")
      let error = #expect(throws: SystemError.self) {
        try sandbox.files.canonicalPath(of: sandbox.path(path), resolvingLastComponent: true)
      }
      #expect(error?.errno == ENOTDIR)
    }
  }

  @Test("Names that aren't UTF-8 survive")
  func arbitraryBytes() async throws {
    try await withTemporaryDirectory { sandbox in
      let name = SystemPath(bytes: [0xFF, 0xFE, 0x0A])
      try sandbox.files.makeDirectory(sandbox.root.appending(name), at: .workingDirectory, mode: 0o700)
      try sandbox.files.makeSymbolicLink(sandbox.path("link"), at: .workingDirectory, target: name)
      let resolved = try sandbox.files.canonicalPath(of: sandbox.path("link/new"), resolvingLastComponent: true)
      #expect(resolved == sandbox.root.appending(name).appending("new"))
    }
  }

  @Test(
    "Without links the answer takes two calls, and three for a new file", arguments: [("a/b/file", 2), ("a/b/new", 3)])
  func cost(path: String, calls: Int) async throws {
    try await withTree { sandbox in
      let door = ScriptedFileSystem.watching()
      _ = try door.canonicalPath(of: sandbox.path(path), resolvingLastComponent: true)
      #expect(door.log.count == calls)
    }
  }

  @Test("The root is its own canonical path", arguments: ["/", "//", "/..", "/../.", "/tmp/.."])
  func root(path: String) throws {
    let resolved = try HostFileSystem().canonicalPath(of: SystemPath(path), resolvingLastComponent: true)
    #expect(resolved == .root)
  }
}
