import FileAccessArbiter
import FoundationEssentials
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("A resolved item is a canonical path with its fingerprints")
struct ResolvedItemTests {
  private func prefixes(of item: ResolvedItem) -> [UInt64] {
    (0..<item.prefixCount).map { item.prefixes[$0] }
  }

  @Test(
    "The fingerprints are those of the directories on the way and of the item", arguments: ["/", "/a", "/a/bc/def"])
  func fingerprints(path: String) throws {
    let item = try ResolvedItem(lexicalPath: path)
    let expected = PathFingerprint.prefixes(of: ItemPath(path), seed: PathFingerprint.processSeed)
    #expect(prefixes(of: item) == expected.map(\.rawValue))
    #expect(!item.isStale)
  }

  @Test(
    "A lexical path loses its dots and spare slashes, and nothing else",
    arguments: [
      ("/a/b", "/a/b"), ("//a///b/", "/a/b"), ("/a/./b/.", "/a/b"), ("/a/../b", "/b"), ("/../..", "/"), ("/", "/"),
      ("/a/..b/...", "/a/..b/..."), ("/é/%41", "/é/%41"), ("/.a/b.", "/.a/b."),
    ])
  func normalisation(path: String, expected: String) throws {
    let item = try ResolvedItem(lexicalPath: path)
    #expect(item.path == ItemPath(expected))
    #expect(item.url.path == expected)
  }

  @Test(
    "A lexical path that names nothing is refused",
    arguments: [
      ("", FileCoordinationError.Code.invalidPath), ("a/b", .relativeURL), ("./a", .relativeURL),
      ("/a\0b", .invalidPath), ("/" + String(repeating: "n", count: 256), .pathTooLong),
      (String(repeating: "/n", count: 2048), .pathTooLong),
    ])
  func refusals(path: String, code: FileCoordinationError.Code) {
    let error = #expect(throws: FileCoordinationError.self) { try ResolvedItem(lexicalPath: path) }
    #expect(error?.code == code)
  }

  @Test("A lexical path is taken at its word where a link leads elsewhere; a URL isn't")
  func links() async throws {
    try await withTemporaryDirectory { root in
      let files = HostFileSystem()
      let base = try ResolvedItem(root, in: files).path.description
      try FileManager.default.createDirectory(atPath: base + "/real", withIntermediateDirectories: false)
      try files.makeSymbolicLink(SystemPath(base + "/link"), at: .workingDirectory, target: SystemPath("real"))
      let url = URL(filePath: base + "/link/file", directoryHint: .notDirectory)
      #expect(try ResolvedItem(lexicalPath: base + "/link/file").path.description == base + "/link/file")
      let item = try ResolvedItem(url, in: files)
      #expect(item.path.description == base + "/real/file")
      #expect(item.url == url && item.location.url == url)
      #expect(item.canonicalPath == base + "/real/file")
      #expect(item.canonicalURL == URL(filePath: base + "/real/file", directoryHint: .notDirectory))
    }
  }

  @Test("A followed link keeps the URL as spelled, and the location names the target")
  func followedLink() async throws {
    try await withTemporaryDirectory { root in
      let files = HostFileSystem()
      let base = try ResolvedItem(root, in: files).path.description
      try files.makeSymbolicLink(SystemPath(base + "/link"), at: .workingDirectory, target: SystemPath("target"))
      let url = URL(filePath: base + "/link", directoryHint: .notDirectory)
      let item = try ResolvedItem(url, followingLastLink: true, in: files)
      #expect(item.url == url)
      #expect(item.location.url.path == base + "/target")
      #expect(item.path.description == base + "/target")
    }
  }

  @Test(
    "An item is in a package when a name on its way, or its own, has the extension",
    arguments: [
      ("/a/b.pkg/c", true), ("/a/b.pkg", true), ("/a/.pkg/c", false), ("/a/bpkg/c", false), ("/a.pkg.x/c", false),
      ("/", false), ("/pkg/c", false), ("/x.PKG", false),
    ])
  func packages(path: String, isInside: Bool) throws {
    #expect(try ResolvedItem(lexicalPath: path, packageExtensions: ["pkg"]).isInPackage == isInside)
    #expect(try ResolvedItem(lexicalPath: path).isInPackage == false)
  }
}
