import FilePackages
import Foundation
import SeededRandom
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Manifests of packages")
struct PackageManifestTests {
  private static let identity = FileStatus.sample.flatMap(PackageManifest.Identity.init)

  private static var manifest: PackageManifest {
    let inner = PackageManifest.Directory(
      hasMembersOfOrigin: false, mode: 0o750,
      entries: [.init(name: SystemPath("x"), former: nil, member: .file([], mode: nil))])
    return PackageManifest(
      root: PackageManifest.Directory(
        origin: SystemPath(""),
        entries: [
          .init(name: SystemPath("a"), former: identity, member: .file(Array("text".utf8), mode: 0o600)),
          .init(name: SystemPath("b"), former: identity, member: nil),
          .init(name: SystemPath("c"), former: nil, member: .kept(SystemPath("b"), identity)),
          .init(name: SystemPath("d"), former: nil, member: .directory(inner)),
          .init(name: SystemPath("e"), former: nil, member: .symbolicLink(target: SystemPath("../x"))),
          .init(
            name: SystemPath("f"), former: nil,
            member: .directory(.init(origin: SystemPath("g/h"), hasMembersOfOrigin: true))),
        ]))
  }

  @Test("CD-74: A manifest is read as it was written; one that was cut off anywhere, or goes on, is none")
  func roundTrip() throws {
    let bytes = Self.manifest.bytes
    #expect(try PackageManifest(bytes: bytes) == Self.manifest)
    for count in bytes.indices {
      #expect(throws: PackageManifest.Unreadable.self) { try PackageManifest(bytes: Array(bytes[..<count])) }
    }
    #expect(throws: PackageManifest.Unreadable.self) { try PackageManifest(bytes: bytes + [0]) }
  }

  @Test(
    "CD-74: A manifest names nothing outside of its package, each name once, and isn't deeper than a package",
    arguments: ["", ".", "..", "a/b", "/a", "a\0", ".a.x3k9q0ab.fcsave"])
  func names(name: String) {
    func isReadable(_ directory: PackageManifest.Directory) -> Bool {
      (try? PackageManifest(bytes: PackageManifest(root: directory).bytes)) != nil
    }
    let entry = PackageManifest.Entry(name: SystemPath(name), former: nil, member: .file([], mode: nil))
    #expect(!isReadable(.init(origin: SystemPath(""), entries: [entry])))
    let path = name.isEmpty ? "../a" : name == "a/b" ? "a//b" : name
    #expect(!isReadable(.init(origin: SystemPath(path))))
    let kept = PackageManifest.Entry(name: SystemPath("a"), former: nil, member: .kept(SystemPath(path), nil))
    #expect(!isReadable(.init(origin: SystemPath(""), entries: [kept])))
    let plain = PackageManifest.Entry(name: SystemPath("a"), former: nil, member: nil)
    #expect(isReadable(.init(entries: [plain])) && !isReadable(.init(entries: [plain, plain])))
    func nested(_ depth: Int) -> PackageManifest.Directory {
      (0..<depth).reduce(PackageManifest.Directory()) { inner, _ in
        .init(entries: [.init(name: SystemPath("d"), former: nil, member: .directory(inner))])
      }
    }
    #expect(isReadable(nested(PackageTree.depthMax)) && !isReadable(nested(PackageTree.depthMax + 1)))
  }

  @Test(
    "CD-74: The manifest of any changes makes the same tree of the package, and the saved tree fulfills it",
    arguments: Budget.seeds(normal: 60, long: 2_000))
  func anyChanges(seed: UInt64) async throws {
    try await withFixture { fixture in
      var random = SplitMix(seed: seed)
      try fixture.makeAlbum([
        "a": "a", "b": "b", "c/a": "ca", "c/b": "cb", "c/d/a": "cda", "e/a": "ea", "e/f": "ef",
      ])
      let path = SystemPath(fixture.album.path)
      var tree = try PackageTree(openingPackageAt: path)
      let identity = tree.top?.directory.identity
      for _ in 0..<Int.random(in: 1...8, using: &random) { tree.alter(&random) }
      let manifest = try PackageManifest(tree, of: identity)
      let read = try PackageManifest(bytes: manifest.bytes)
      #expect(read == manifest)
      let base = try PackageTree(openingPackageAt: path)
      let applied = try read.applied(to: base)
      let wanted = try tree.listing()
      #expect(try applied.tree.listing() == wanted, "seed \(seed)")
      #expect(applied.missing == [] && applied.changed == [], "seed \(seed)")
      #expect(try read.isFulfilled(by: base) == (wanted == base.listing()) || wanted == base.listing(), "seed \(seed)")
      let written = try tree.write(to: path).tree
      #expect(read.isFulfilled(by: written), "seed \(seed)")
      // Of another package everything is in the manifest.
      let whole = try PackageManifest(PackageManifest(written, of: nil).asNew, of: nil)
      #expect(try whole.applied(to: PackageTree()).tree.listing() == wanted, "seed \(seed)")
    }
  }

  @Test("CD-73: A tree with more bytes than are accepted has no manifest")
  func limits() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(["a.txt": "12345", "b.txt": "678"])
      var tree = try PackageTree(openingPackageAt: SystemPath(fixture.album.path))
      let identity = tree.top?.directory.identity
      _ = try PackageManifest(tree, of: identity, byteCountMax: 0)
      _ = try PackageManifest(tree, of: nil, byteCountMax: 8)
      let error = #expect(throws: PackageError.self) { try PackageManifest(tree, of: nil, byteCountMax: 7) }
      #expect(error?.code == .tooLarge)
      tree.set("a.txt", "123")
      _ = try PackageManifest(tree, of: identity, byteCountMax: 3)
      #expect(throws: PackageError.self) { try PackageManifest(tree, of: identity, byteCountMax: 2) }
    }
  }
}

extension FileStatus {
  fileprivate static var sample: FileStatus? { try? HostFileSystem().statusIfPresent(of: SystemPath("/")) }
}

extension PackageManifest {
  /// The tree that it makes of nothing.
  fileprivate var asNew: PackageTree {
    get throws { try applied(to: PackageTree()).tree }
  }
}

extension PackageTree {
  /// All members with what they are.
  func listing(_ directory: String = "") throws -> [String: String] {
    var listing: [String: String] = [:]
    for name in try names(in: SystemPath(directory)) {
      let path = directory.isEmpty ? "\(name)" : "\(directory)/\(name)"
      switch try kind(of: SystemPath(path)) {
      case .file: listing[path] = String(decoding: try contents(of: SystemPath(path)), as: UTF8.self)
      case .symbolicLink: listing[path] = "-> \(try target(of: SystemPath(path)))"
      case .directory:
        listing[path] = "directory"
        listing.merge(try self.listing(path)) { first, _ in first }
      case nil: listing[path] = "gone"
      }
    }
    return listing
  }

  /// Makes a change, if it's possible.
  fileprivate mutating func alter(_ random: inout SplitMix) {
    let names = ["a", "b", "c", "d", "e", "f"]
    func path(_ random: inout SplitMix) -> SystemPath {
      let count = Int.random(in: 1...3, using: &random)
      return SystemPath((0..<count).map { _ in names.randomElement(using: &random) ?? "a" }.joined(separator: "/"))
    }
    let (first, second) = (path(&random), path(&random))
    switch Int.random(in: 0..<7, using: &random) {
    case 0, 1: try? update(first, Array("text \(Int.random(in: 0..<100, using: &random))".utf8))
    case 2: try? remove(first)
    case 3, 4: try? move(first, to: second)
    case 5: try? makeDirectory(first)
    default: try? makeSymbolicLink(first, to: second)
    }
  }
}
