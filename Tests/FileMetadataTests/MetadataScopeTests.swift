import FileWatching
import Foundation
import MetadataPredicates
import SystemInterface
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Where queries search", .serialized, .timeLimit(.minutes(4)))
struct MetadataScopeTests {
  /// Starts a query without a clock: all of its reports come from the kernel.
  private static func start(_ query: MetadataQuery) throws -> LiveQuery {
    _ = try query.start { key, plan, port throws(SystemError) in
      let engine = try ScopeEngine(
        key, files: HostFileSystem(), watcher: try InotifyWatcher(), clock: StoppedClock())
      guard let number = engine.attach(plan, port) else { preconditionFailure("the engine has ended") }
      return (engine, number)
    }
    return LiveQuery(query)
  }

  private static func query(_ scopes: [SystemPath], items: [SystemPath] = []) throws -> MetadataQuery {
    try MetadataQuery(
      .constant(true), scopes: scopes.map { .directory(URL(filePath: $0.description)) },
      items: items.map { URL(filePath: $0.description) }, sortedBy: [MetadataSortDescriptor("kMDItemPath")],
      batching: .immediate)
  }

  @Test("Q29: items are looked at alone, and directories among them aren't searched")
  func items() async throws {
    let tree = try TemporaryTree()
    for name in ["d", "e"] { try tree.makeDirectory(name) }
    for name in ["a", "b", "d/inside", "e/inside"] { try tree.write(name) }
    let query = try Self.query([], items: ["a", "d", "e/inside", "none"].map { tree.path($0) })
    var live = try Self.start(query)
    try await live.gather()
    #expect(live.items.map(\.path) == ["a", "d", "e/inside"].map { tree.path($0).description })
    #expect(live.items[1].value(forAttribute: "kMDItemFSNodeCount") == 1)
    #expect(query.health.missingRootCount == 1 && query.health.polledDirectoryCount == 0)
    #expect(query.health.watchedDirectoryCount == 0)
  }

  @Test("Results carry the path that was asked for, where links lead to scopes and items")
  func linkedScopes() async throws {
    let tree = try TemporaryTree()
    for name in ["real", "real/inner", "other"] { try tree.makeDirectory(name) }
    for name in ["real/a", "real/inner/b", "other/c", "file"] { try tree.write(name) }
    try tree.symbolicLink(tree.path("link"), to: "real")
    try tree.symbolicLink(tree.path("way"), to: ".")
    try tree.symbolicLink(tree.path("real/inner/up"), to: "..")
    try tree.symbolicLink(tree.path("name"), to: "file")
    let asked = tree.root.description
    let query = try MetadataQuery(
      try MetadataPredicate(
        format: "kMDItemPath BEGINSWITH %@ AND kMDItemPath != %@",
        arguments: [.string("\(asked)/"), .string("\(asked)/real/a")]),
      scopes: ["link/./", "way//other"].map { .directory(URL(filePath: "\(asked)/\($0)")) },
      items: [URL(filePath: "\(asked)/name")], sortedBy: [MetadataSortDescriptor("kMDItemPath")], batching: .immediate)
    var live = try Self.start(query)
    try await live.gather()
    let expected = ["link/a", "link/inner", "link/inner/b", "link/inner/up", "name", "way/other/c"]
    #expect(live.items.map(\.path) == expected.map { "\(asked)/\($0)" })
    #expect(live.items.map { $0.url?.lastPathComponent } == live.items.map(\.name))
    #expect(live.items[4].value(forAttribute: "kMDItemFSName") == "name")
    // The paths of files that are made or moved later have the same spelling.
    try tree.write("real/inner/d")
    while live.items.count < 7 { _ = try await live.next() }
    try tree.rename("other/c", to: "real/c")
    while !live.items.contains(where: { $0.path == "\(asked)/link/c" }) { _ = try await live.next() }
    #expect(live.items.count == 7)
  }

  @Test("A directory that two spellings lead to is spelled like the first, and one with '..' as it is")
  func spellings() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("real")
    try tree.write("real/a")
    try tree.symbolicLink(tree.path("link"), to: "real")
    for (scopes, expected) in [
      (["real", "link"], "real/a"), (["link", "real"], "link/a"), (["link/../real"], "real/a"),
    ] {
      let query = try MetadataQuery(
        .constant(true), in: scopes.map { URL(filePath: "\(tree.root)/\($0)") }, batching: .immediate)
      var live = try Self.start(query)
      try await live.gather()
      #expect(live.items.map(\.path) == [tree.path(expected).description])
    }
  }

  @Test("Q28, Q29: items beside scopes add to what's found there, and are found once in them")
  func itemsBesideScopes() async throws {
    let tree = try TemporaryTree()
    for name in ["d", "e"] { try tree.makeDirectory(name) }
    for name in ["a", "b", "d/inside"] { try tree.write(name) }
    let query = try Self.query([tree.path("d")], items: ["a", "d", "d/inside"].map { tree.path($0) })
    #expect(query.items.map(\.lastPathComponent) == ["a", "d", "inside"])
    #expect(query.scopes == [.directory(URL(filePath: tree.path("d").description))])
    var live = try Self.start(query)
    try await live.gather()
    #expect(live.items.map(\.path) == ["a", "d", "d/inside"].map { tree.path($0).description })
    try tree.write("d/more")
    try tree.write("e/not looked at")
    while live.items.count < 4 { _ = try await live.next() }
    #expect(live.names == ["a", "d", "inside", "more"])
  }

  @Test("Q29: Changes of items are reported by the kernel, whatever they are, without a clock")
  func liveItems() async throws {
    let tree = try TemporaryTree()
    try tree.write("a", "1")
    try tree.makeDirectory("d")
    var live = try Self.start(try Self.query([], items: ["a", "d", "later/deep"].map { tree.path($0) }))
    try await live.gather()
    #expect(live.names == ["a", "d"])
    try tree.write(tree.path("a"), "23", adding: true)
    while live.items[0].size != 3 { _ = try await live.next() }
    // A save in the way of editors.
    try tree.write(".save", "12345")
    try tree.rename(".save", to: "a")
    while live.items[0].size != 5 { _ = try await live.next() }
    try tree.rename("a", to: "gone")
    while live.names != ["d"] { _ = try await live.next() }
    try tree.rename("gone", to: "a")
    while live.names != ["a", "d"] { _ = try await live.next() }
    try tree.write("d/member")
    while live.items[1].value(forAttribute: "kMDItemFSNodeCount") != 1 { _ = try await live.next() }
    try tree.makeDirectory("later")
    try tree.write("later/deep")
    while live.names != ["a", "d", "deep"] { _ = try await live.next() }
    try tree.rename("later", to: "elsewhere")
    while live.names != ["a", "d"] { _ = try await live.next() }
    try tree.rename("elsewhere", to: "later")
    while live.names != ["a", "d", "deep"] { _ = try await live.next() }
    try tree.unlink("a")
    try tree.makeDirectory("a")
    while live.items.first?.isDirectory != true { _ = try await live.next() }
  }

  @Test("L13: a scope that isn't there is found when it appears, and again after it or a directory around it was away")
  func missingScope() async throws {
    let tree = try TemporaryTree()
    var live = try Self.start(try Self.query([tree.path("a/b/c")]))
    try await live.gather()
    #expect(live.items.isEmpty && live.query.health.missingRootCount == 1)
    for name in ["a", "a/b", "a/b/c", "a/b/c/d"] { try tree.makeDirectory(name) }
    try tree.write("a/b/c/d/f")
    while live.names != ["d", "f"] { _ = try await live.next() }
    #expect(live.query.health.missingRootCount == 0 && live.query.health.isComplete)
    try tree.rename("a", to: "away")
    while !live.items.isEmpty { _ = try await live.next() }
    try tree.write("away/b/c/g")
    try tree.rename("away", to: "a")
    while live.names != ["d", "f", "g"] { _ = try await live.next() }
    try tree.removeTree(tree.path("a/b"))
    while !live.items.isEmpty { _ = try await live.next() }
    for name in ["a/b", "a/b/c", "a/b/c/h"] { try tree.makeDirectory(name) }
    while live.names != ["h"] { _ = try await live.next() }
  }

  @Test("A link that's made on the way to a scope isn't followed; a directory in its place is found")
  func linkOnTheWay() async throws {
    let tree = try TemporaryTree()
    for name in ["v1", "v1/data", "v2", "v2/data"] { try tree.makeDirectory(name) }
    try tree.write("v1/data/old")
    try tree.write("v2/data/new")
    try tree.symbolicLink(tree.path("current"), to: "v1")
    // The state at the creation of the query counts.
    var first = try Self.start(try Self.query([tree.path("current/data")]))
    try await first.gather()
    #expect(first.names == ["old"])
    var live = try Self.start(try Self.query([tree.path("next/data")]))
    try await live.gather()
    try tree.symbolicLink(tree.path("next"), to: "v2")
    #expect(try await live.query.waitUntilCurrent().isEmpty)
    #expect(live.query.health.missingRootCount == 1 && live.query.health.unreadableDirectoryCount == 0)
    try tree.unlink("next")
    try tree.rename("v2", to: "next")
    while live.names != ["new"] { _ = try await live.next() }
    // A directory with a link to it in its place.
    try tree.rename("next", to: "v2")
    try tree.symbolicLink(tree.path("next"), to: "v2")
    while !live.items.isEmpty { _ = try await live.next() }
    #expect(try await live.query.waitUntilCurrent().isEmpty)
  }

  @Test("Q23: ubiquitous scopes can't be beside others")
  func mixed() throws {
    do {
      _ = try MetadataQuery(.constant(true), scopes: [.ubiquitousDocuments, .home])
      Issue.record("no error")
    } catch {
      #expect(error.code == .invalidScope && error.description.contains("two queries"))
    }
  }

  @Test("Q27: ubiquitous scopes are empty, and the search of them ends")
  func ubiquitous() async throws {
    let scopes: [MetadataScope] = [.ubiquitousDocuments, .ubiquitousData, .accessibleUbiquitousExternalDocuments]
    #expect(scopes.allSatisfy { $0.isUbiquitous && $0.directories.isEmpty })
    var live = try Self.start(try MetadataQuery(.constant(true), scopes: scopes))
    let change = try await live.next()
    #expect(change.finishesGathering && change.results.isEmpty && live.query.isStarted)
  }

  @Test("Q24: no limit is the local computer and the home directory, and has to be said")
  func everything() throws {
    #expect(throws: MetadataQueryError.self) { try MetadataQuery(.constant(true), scopes: []) }
    let home = FileManager.default.homeDirectoryForCurrentUser
    #expect(MetadataScope.home.directories == [home])
    let directories = MetadataScope.localComputer.directories
    #expect(directories.contains { $0.path == "/usr" })
    #expect(directories.filter { home.pathComponents.starts(with: $0.pathComponents) }.count == 1)
    let (inside, apart) = (URL(fileURLWithPath: "/home/me"), URL(fileURLWithPath: "/homeless"))
    let places = [URL(fileURLWithPath: "/usr"), URL(fileURLWithPath: "/home", isDirectory: true)]
    #expect(MetadataScope.joined(places, inside) == places && MetadataScope.joined(places, places[1]) == places)
    #expect(MetadataScope.joined(places, apart) == places + [apart])
    #expect(!directories.contains { ["/proc", "/sys", "/dev"].contains($0.path) })
    let query = try MetadataQuery(.constant(true), scopes: [.localComputer])
    #expect(query.key.roots.contains(SystemPath("/usr")))
    #expect(query.key.roots.allSatisfy { path in !query.key.roots.contains { path.isInside($0) } })
  }

  @Test("Q26: a tilde is taken literally")
  func tilde() async throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("~")
    try tree.write("~/f")
    var live = try Self.start(try Self.query([tree.path("~"), SystemPath("/~nobody")]))
    try await live.gather()
    #expect(live.names == ["f"])
  }

  @Test("Volumes of other machines and what the kernel invents are told apart by their types")
  func volumes() {
    let mounts = MountTable.mounts(
      in: """
        21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
        22 21 0:5 / /proc rw shared:2 master:3 - proc proc rw
        23 21 0:40 / /mnt/with\\040space rw - nfs4 host:/export rw
        24 21 0:41 / /remote rw,nosuid shared:4 - fuse.sshfs me@host: rw
        25 21 0:42 / /tmp rw - tmpfs tmpfs rw
        26 21 0:43 / /untyped rw shared:5 -
        broken
        """.utf8)
    #expect(mounts.map(\.number) == [21, 22, 23, 24, 25])
    let volumes = MountedVolumes(mounts)
    #expect(volumes.networkDirectories == ["/mnt/with space", "/remote"].map { SystemPath($0) })
    let members = ["dev", "etc", "proc", "remote", "sys", "tmp"].map { SystemPath($0) }
    #expect(volumes.localDirectories(of: members) == ["/etc", "/tmp"].map { SystemPath($0) })
  }
}
