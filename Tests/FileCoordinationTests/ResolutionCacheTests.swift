import FileAccessArbiter
import FoundationEssentials
import SystemInterface
import Testing

@testable import FileCoordination

/// Something that strangers do to the way of a URL.
private struct WayChange: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The paths to look up; a link at the end is followed when the text begins with `>`.
  let questions: [String]
  /// Whether the first question has another answer afterwards.
  let isDifferent: Bool
  let prepare: @Sendable (LinkTree) throws -> Void
  let change: @Sendable (LinkTree) throws -> Void

  init(
    _ title: String, _ questions: [String], isDifferent: Bool = true,
    prepare: @escaping @Sendable (LinkTree) throws -> Void, change: @escaping @Sendable (LinkTree) throws -> Void
  ) {
    (testDescription, self.questions, self.isDifferent) = (title, questions, isDifferent)
    (self.prepare, self.change) = (prepare, change)
  }

  static let links: [WayChange] = [
    WayChange("a link is retargeted by a rename over it", ["link/file", ">link/file", "link/../file"]) {
      try $0.makeDirectories("one/in")
      try $0.makeDirectories("two/in")
      try $0.link("link", to: "one/in")
    } change: {
      try $0.retarget("link", to: "two/in")
    },
    WayChange("a link is removed and made anew", ["link/file"]) {
      try $0.makeDirectory("one")
      try $0.makeDirectory("two")
      try $0.link("link", to: "one")
    } change: {
      try $0.unlink("link")
      try $0.link("link", to: "two")
    },
    WayChange("the middle of a chain is retargeted", ["a/file", "b/file", "a/../file"]) {
      try $0.makeDirectory("one")
      try $0.makeDirectory("two")
      try $0.link("c", to: "one")
      try $0.link("b", to: "c")
      try $0.link("a", to: "b")
    } change: {
      try $0.retarget("b", to: "two")
    },
    WayChange("what a relative link with '..' passes becomes a link", ["x/link/file", "x/./link//file"]) {
      try $0.makeDirectories("x")
      try $0.makeDirectories("y/z")
      try $0.makeDirectories("w/z")
      try $0.link("x/link", to: "../y/z")
    } change: {
      try $0.rename("y", to: "gone")
      try $0.link("y", to: "w")
    },
    WayChange("what an absolute link passes becomes a link", ["link/file"]) {
      try $0.makeDirectories("y/z")
      try $0.makeDirectories("w/z")
      try $0.link("link", to: $0.root + "/y/z")
    } change: {
      try $0.rename("y", to: "gone")
      try $0.link("y", to: "w")
    },
    WayChange("'..' behind a link leads elsewhere", ["link/../file", ">link/.."]) {
      try $0.makeDirectories("one/in")
      try $0.makeDirectories("two/in")
      try $0.link("link", to: "one/in")
    } change: {
      try $0.retarget("link", to: "two/in")
    },
    WayChange("a followed file becomes a link", [">d/file"]) {
      try $0.makeDirectory("d")
      try $0.makeFile("d/file")
    } change: {
      try $0.rename("d/file", to: "d/other")
      try $0.link("d/file", to: "other")
    },
    WayChange("a followed link at the end is retargeted", [">d/link"]) {
      try $0.makeDirectory("d")
      try $0.makeFile("d/one")
      try $0.link("d/link", to: "one")
    } change: {
      try $0.retarget("d/link", to: "two")
    },
    WayChange("what a followed dangling link names appears as a link", [">link"]) {
      try $0.link("link", to: "none/deep")
      try $0.makeDirectory("real")
    } change: {
      try $0.link("none", to: "real")
    },
    WayChange("a link becomes a loop", ["a/file", ">a"]) {
      try $0.makeDirectory("one")
      try $0.link("a", to: "one")
    } change: {
      try $0.retarget("a", to: "a")
    },
    WayChange("a loop is mended", ["a/file", ">a"]) {
      try $0.makeDirectory("one")
      try $0.link("a", to: "b")
      try $0.link("b", to: "a")
    } change: {
      try $0.retarget("b", to: "one")
    },
  ]

  static let directories: [WayChange] = [
    WayChange("a directory is renamed and a link takes its name", ["d/in/file", "d/file"]) {
      try $0.makeDirectories("d/in")
      try $0.makeDirectories("other/in")
    } change: {
      try $0.rename("d", to: "away")
      try $0.link("d", to: "other")
    },
    WayChange("a directory and a link are exchanged", ["d/in/file"]) {
      try $0.makeDirectories("d/in")
      try $0.makeDirectories("other/in")
      try $0.link("link", to: "other")
    } change: {
      try $0.rename("d", to: "link", .exchange)
    },
    WayChange("a directory is replaced by one with a link inside", ["d/in/file"]) {
      try $0.makeDirectories("d/in")
      try $0.makeDirectories("other")
      try $0.makeDirectories("target")
      try $0.link("other/in", to: "../target")
    } change: {
      try $0.rename("d", to: "other", .exchange)
    },
    WayChange("a directory far above is moved, and a link to another tree takes its name", ["a/b/c/d/file"]) {
      try $0.makeDirectories("a/b/c/d")
      try $0.makeDirectories("z/b/c")
      try $0.makeDirectories("z/b/c/e")
      try $0.link("z/b/c/d", to: "e")
    } change: {
      try $0.rename("a", to: "moved")
      try $0.link("a", to: "z")
    },
    WayChange("a directory is removed and made again, now with a link inside", ["d/in/file"]) {
      try $0.makeDirectories("d/in")
      try $0.makeDirectory("other")
    } change: {
      try $0.removeDirectory("d/in")
      try $0.removeDirectory("d")
      try $0.makeDirectory("d")
      try $0.link("d/in", to: "../other")
    },
    WayChange("a directory is removed and made again as it was", ["d/in/file"], isDifferent: false) {
      try $0.makeDirectories("d/in")
    } change: {
      try $0.removeDirectory("d/in")
      try $0.removeDirectory("d")
      try $0.makeDirectories("d/in")
    },
    WayChange("a missing directory appears as a link", ["none/file", "none/deep/file", ">none/file"]) {
      try $0.makeDirectories("real/deep")
    } change: {
      try $0.link("none", to: "real")
    },
    WayChange("a missing directory appears as a directory with a link inside", ["none/deep/file"]) {
      try $0.makeDirectory("real")
    } change: {
      try $0.makeDirectory("none")
      try $0.link("none/deep", to: "../real")
    },
    WayChange("a directory becomes a file", ["d/file", "d/in/file"]) {
      try $0.makeDirectories("d/in")
    } change: {
      try $0.rename("d", to: "away")
      try $0.makeFile("d")
    },
    WayChange("a file becomes a directory", ["d/file", ">d/file"]) {
      try $0.makeFile("d")
    } change: {
      try $0.unlink("d")
      try $0.makeDirectory("d")
    },
    WayChange("a directory is moved away and back, with another link inside", ["d/in/file"]) {
      try $0.makeDirectories("d")
      try $0.makeDirectories("one")
      try $0.makeDirectories("two")
      try $0.link("d/in", to: "../one")
    } change: {
      try $0.rename("d", to: "away")
      try $0.retarget("away/in", to: "../two")
      try $0.rename("away", to: "d")
    },
    WayChange("a directory is moved to where the way leads now", ["d/file", "e/file"], isDifferent: false) {
      try $0.makeDirectories("e")
      try $0.link("d", to: "e")
    } change: {
      try $0.unlink("d")
      try $0.rename("e", to: "d")
      try $0.link("e", to: "d")
      try $0.rename("d", to: "e", .exchange)
    },
  ]

  static let all = links + directories
}

@Suite("A cached identity is what a full resolution gives", .timeLimit(.minutes(4)))
struct ResolutionCacheTests {
  @Test("After a change of the way the answer is the new one", arguments: WayChange.all, [false, true])
  private func change(_ scenario: WayChange, noise: Bool) async throws {
    try await withLinkTree { tree in
      try scenario.prepare(tree)
      let cache = ResolutionCache(in: tree.files)
      let questions = try scenario.questions.map { text in
        (url: try tree.url(String(text.drop { $0 == ">" })), isFollowed: text.hasPrefix(">"))
      }
      func answers() -> [Answer] { questions.map { Answer(from: cache, $0.url, followingLastLink: $0.isFollowed) } }
      func fullAnswers() -> [Answer] {
        questions.map { Answer(inFull: $0.url, followingLastLink: $0.isFollowed) }
      }
      let before = answers()
      #expect(before == fullAnswers())
      #expect(answers() == before)
      // Names beside don't hide the one that matters.
      if noise { for index in 0..<20 { try tree.makeDirectory("noise\(index)") } }
      try scenario.change(tree)
      #expect(answers() == fullAnswers())
      if scenario.isDifferent { #expect(answers().first != before.first) }
    }
  }

  /// Whether a new cache gives one item, on this and on another thread, however it's asked.
  private func givesSameItem(
    at url: URL, _ followingLastLink: Bool, _ files: any FileSystem
  ) async throws -> Bool {
    let cache = ResolutionCache(in: files)
    let first = try cache.item(for: url, followingLastLink: followingLastLink)
    let isSameHere = try cache.item(for: url, followingLastLink: followingLastLink) === first
    // Another thread has the second level only.
    let isSameThere = try await onThread { try cache.item(for: url, followingLastLink: followingLastLink) } === first
    let isPassed = try cache.withItem(for: url, followingLastLink: followingLastLink) { $0 === first }
    return isSameHere && isSameThere && isPassed
  }

  @Test("Asked again, the cache gives the same item, and makes no look at the files", arguments: [false, true])
  func hits(followingLastLink: Bool) async throws {
    try await withLinkTree { tree in
      try tree.makeDirectories("d/in")
      try tree.link("link", to: "d/in")
      for name in ["d/in/file", "link/file", "link/../file", "none/file", "d//./in/file", "d/in/..", "", "%C3%A9"] {
        var isSame = false
        // A mount anywhere meanwhile, by another test for example, makes each cache check again.
        for _ in 0..<20 where !isSame {
          isSame = try await givesSameItem(at: tree.url(name), followingLastLink, tree.files)
        }
        #expect(isSame, "\(name)")
      }
    }
  }

  @Test("Names beside the way, and the item itself, don't matter")
  func filter() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectories("d/in")
      try tree.link("link", to: "d")
      let cache = ResolutionCache(in: tree.files)
      let url = try tree.url("link/in/file")
      let item = try cache.item(for: url)
      try tree.makeDirectory("other")
      try tree.makeFile("d/file")
      try tree.rename("d/file", to: "d/in/file")
      try tree.unlink("d/in/file")
      try tree.link("d/in/file", to: "anything")
      #expect(try cache.item(for: url) === item)
      #expect(!item.isStale)
    }
  }

  @Test("A change marks the item, for those who hold it")
  func marks() async throws {
    try await withLinkTree { tree in
      try tree.makeDirectory("one")
      try tree.link("link", to: "one")
      let cache = ResolutionCache(in: tree.files)
      let item = try cache.item(for: tree.url("link/file"))
      try tree.retarget("link", to: "two")
      #expect(try cache.item(for: tree.url("link/file")) !== item)
      #expect(item.isStale)
    }
  }

  @Test("URLs that can't name a file are refused by the cache too, also when one like it is known")
  func refusals() async throws {
    try await withLinkTree { tree in
      let cache = ResolutionCache(in: tree.files)
      let base = URL(filePath: tree.root + "/", directoryHint: .isDirectory)
      #expect(try cache.item(for: URL(filePath: tree.root + "/file")).path.description == tree.root + "/file")
      let relative = URL(filePath: "file", relativeTo: base)
      #expect(relative.absoluteString == URL(filePath: tree.root + "/file").absoluteString)
      for url in [relative, URL(string: "http://example.org/file"), URL(string: "file:///a%00b"), URL(string: "a/b")] {
        let url = try #require(url)
        #expect(
          Answer(from: cache, url, followingLastLink: false) == Answer(inFull: url, followingLastLink: false))
      }
    }
  }

  @Test(
    "Names that aren't UTF-8 lead where the system says, before and after a change",
    arguments: ["%FF%FE/file", "link/%C3", "%66ile", "a%2Fb", "%E2%80%A8/x", "d/%80/..", "caf%65%CC%81/x"])
  func oddBytes(name: String) async throws {
    try await withLinkTree { tree in
      let odd = SystemPath(bytes: Array((tree.root + "/").utf8) + [0xFF, 0xFE])
      try tree.files.makeDirectory(odd, at: .workingDirectory, mode: 0o755)
      try tree.files.makeSymbolicLink(
        tree.path("link"), at: .workingDirectory, target: SystemPath(bytes: [0xFF, 0xFE]))
      let cache = ResolutionCache(in: tree.files)
      let url = try tree.url(name)
      for _ in 0..<2 {
        for follow in [false, true] {
          #expect(
            Answer(from: cache, url, followingLastLink: follow) == Answer(inFull: url, followingLastLink: follow))
        }
      }
      try tree.files.rename(
        odd, at: .workingDirectory, to: tree.path("away"), at: .workingDirectory, .replacing)
      try tree.files.makeSymbolicLink(odd, at: .workingDirectory, target: SystemPath("away"))
      for follow in [false, true] {
        #expect(Answer(from: cache, url, followingLastLink: follow) == Answer(inFull: url, followingLastLink: follow))
      }
    }
  }

  @Test(
    "An item looks like one that was resolved in full", arguments: ["link/in/file", "d/in/file", "link", "d/../d/x"])
  func sameItem(name: String) async throws {
    try await withLinkTree { tree in
      try tree.makeDirectories("d/in")
      try tree.link("link", to: "d")
      let url = try tree.url(name)
      for follow in [false, true] {
        let full = try ResolvedItem(url, followingLastLink: follow, in: tree.files)
        let cached = try ResolutionCache(in: tree.files).item(for: url, followingLastLink: follow)
        #expect(cached.url == full.url && cached.location.url == full.location.url)
        #expect(cached.location.spelling == full.location.spelling)
        #expect(cached.path == full.path && cached.prefixCount == full.prefixCount)
        #expect((0..<full.prefixCount).allSatisfy { cached.prefixes[$0] == full.prefixes[$0] })
      }
    }
  }

  @Test("A lexical path is remembered without a look at the files")
  func lexical() throws {
    let cache = ResolutionCache(in: HostFileSystem(), packageExtensions: ["pkg"])
    let item = try cache.item(atLexicalPath: "/nowhere/x.pkg/../y.pkg/file")
    #expect(item.path == "/nowhere/y.pkg/file" && item.isInPackage)
    #expect(try cache.item(atLexicalPath: "/nowhere/x.pkg/../y.pkg/file") === item)
    #expect(try cache.withItem(atLexicalPath: "/nowhere/x.pkg/../y.pkg/file") { $0 === item })
    #expect(throws: FileCoordinationError.self) { try cache.item(atLexicalPath: "nowhere") }
    #expect(cache.counts == ResolutionCache.Counts(items: 1, places: 0, watches: 0))
  }
}
