import FileWatching
import Foundation
import Glibc
import MetadataPredicates
import SystemInterface
import TestSupport
import Testing
import WatchingTestSupport

@testable import FileMetadata

@Suite("Queries that begin with what a former run has known", .blocking, .timeLimit(.minutes(2)))
struct IndexDirectoryTests {
  /// The sources of this package, a tree without changes in the last seconds.
  private static let oldTree = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources")

  private static func query(
    _ place: URL, _ directory: SystemPath, depth: ScopeOptions.GatheringDepth = .names
  ) throws -> MetadataQuery {
    try MetadataQuery(
      .fileName.hasSuffix(".swift"), in: [place],
      options: ScopeOptions(gatheringDepth: depth, indexDirectory: URL(filePath: directory.description)))
  }

  private static func files(in directory: SystemPath) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory.description)) ?? []
  }

  /// Runs a query with an engine of its own, as the only one of a program, and keeps its index.
  private static func run(_ query: MetadataQuery) async throws -> (paths: [String], health: ScopeHealth) {
    let ended = Barrier()
    _ = try query.start { key, plan, port throws(SystemError) in
      let watcher = LastBreathWatcher(try InotifyWatcher()) { ended.end() }
      let engine = try ScopeEngine(key, files: HostFileSystem(), watcher: watcher, clock: HostClock.shared)
      guard let number = engine.attach(plan, port) else { preconditionFailure("the engine has ended") }
      return (engine, number)
    }
    let paths = try await query.waitUntilCurrent().map(\.path).sorted()
    try await query.saveIndex()
    let health = query.health
    query.stop()
    // The index of the engine at its end is kept as well.
    await ended.wait()
    return (paths, health)
  }

  @Test("The second run reads no directory of a tree that hasn't changed, and finds the same")
  func secondRun() async throws {
    let tree = try TemporaryTree()
    let directory = tree.base.appending("index")
    let first = try await Self.run(Self.query(Self.oldTree, directory))
    #expect(first.health.unalteredDirectoryCount == 0 && first.paths.count > 100)
    #expect(Self.files(in: directory).count == 1)
    let status = try HostFileSystem().status(of: directory, at: .workingDirectory, links: .noFollow)
    #expect(status.mode & 0o777 == 0o700)
    let file = directory.appending(try #require(Self.files(in: directory).first))
    #expect(try HostFileSystem().status(of: file, at: .workingDirectory, links: .noFollow).mode & 0o777 == 0o600)
    let second = try await Self.run(Self.query(Self.oldTree, directory))
    #expect(second.paths == first.paths)
    // Where the kernel doesn't report changes, everything is read.
    #expect(second.health.unalteredDirectoryCount == second.health.watchedDirectoryCount)
    // Another scope is kept beside it.
    _ = try await Self.run(Self.query(URL(filePath: tree.root.description), directory))
    #expect(Self.files(in: directory).count == 2)
  }

  @Test("A query by size that begins with a kept index, which has no sizes, finds and sorts what a fresh one does")
  func sizes() async throws {
    let tree = try TemporaryTree()
    let directory = tree.base.appending("index")
    // More than an engine reads in one turn.
    for number in 0..<1_500 {
      try tree.makeDirectory("d\(number)")
      try tree.write("d\(number)/f", String(repeating: "x", count: number % 7))
    }
    let place = URL(filePath: tree.root.description)
    let sized = MetadataPredicate.fileSize > .bytes(3) && .fileName == "f"
    func query(_ predicate: MetadataPredicate, _ depth: ScopeOptions.GatheringDepth) throws -> MetadataQuery {
      try MetadataQuery(
        predicate, in: [place], sortedBy: predicate == sized ? [.init("kMDItemFSSize"), .init("kMDItemPath")] : [],
        options: ScopeOptions(gatheringDepth: depth, indexDirectory: URL(filePath: directory.description)))
    }
    let fresh = try query(sized, .attributes)
    try fresh.start()
    let expected = try await fresh.waitUntilCurrent().map(\.path)
    _ = try await Self.run(query(.constant(true), .names))
    let second = try query(sized, .names)
    _ = try await Self.run(second)
    #expect(second.results.map(\.path) == expected)
    fresh.stop()
  }

  @Test("A file that others may write, and what isn't an index, isn't used, and is replaced")
  func refusedFiles() async throws {
    let tree = try TemporaryTree()
    let directory = tree.base.appending("index")
    let first = try await Self.run(Self.query(Self.oldTree, directory))
    let file = directory.appending(try #require(Self.files(in: directory).first))
    chmod(file.description, 0o666)
    #expect(try await Self.run(Self.query(Self.oldTree, directory)).health.unalteredDirectoryCount == 0)
    chmod(file.description, 0o600)
    // Only root can give files away.
    if geteuid() == 0 {
      chown(file.description, 65_534, 65_534)
      #expect(try await Self.run(Self.query(Self.oldTree, directory)).health.unalteredDirectoryCount == 0)
    }
    // Nor is the target of a link, which stays as it is.
    try tree.unlink(file)
    let target = tree.base.appending("target")
    try tree.write(target, "of somebody else")
    try tree.symbolicLink(file, to: target.description)
    #expect(try await Self.run(Self.query(Self.oldTree, directory)).health.unalteredDirectoryCount == 0)
    #expect(try HostFileSystem().contents(of: target) == Array("of somebody else".utf8))
    let again = try await Self.run(Self.query(Self.oldTree, directory))
    #expect(again.health.unalteredDirectoryCount == again.health.watchedDirectoryCount)
    try tree.write(file, "no index")
    #expect(try await Self.run(Self.query(Self.oldTree, directory)).paths == first.paths)
    let last = try await Self.run(Self.query(Self.oldTree, directory))
    #expect(last.health.unalteredDirectoryCount == last.health.watchedDirectoryCount)
  }

  @Test("An index is kept when the last query of it ends")
  func keptAtTheEnd() async throws {
    let tree = try TemporaryTree()
    let directory = tree.base.appending("index")
    try tree.makeDirectory(directory)
    let watcher = try TreeWatcher([directory])
    try await watcher.waitUntilCurrent()
    let query = try Self.query(Self.oldTree, directory)
    try query.start()
    try await query.waitUntilCurrent()
    query.stop()
    for await update in watcher.updates where update.changes.contains(where: { $0.path.bytes.ends(with: "fileindex") })
    {
      break
    }
    let second = try await Self.run(Self.query(Self.oldTree, directory))
    #expect(second.health.unalteredDirectoryCount == second.health.watchedDirectoryCount)
  }

  @Test("Errors of keeping say what's wrong")
  func errors() async throws {
    let tree = try TemporaryTree()
    func errorNumber(_ body: () async throws(SystemError) -> Void) async -> Int32? {
      do throws(SystemError) {
        try await body()
        return nil
      } catch {
        return error.errno
      }
    }
    let query = try Self.query(Self.oldTree, tree.path("none/index"))
    #expect(await errorNumber { () async throws(SystemError) in try await query.saveIndex() } == ECANCELED)
    try query.start()
    #expect(await errorNumber { () async throws(SystemError) in try await query.saveIndex() } == ENOENT)
    let whole = try Self.query(Self.oldTree, tree.path("index"), depth: .attributes)
    try whole.start()
    #expect(await errorNumber { () async throws(SystemError) in try await whole.saveIndex() } == EINVAL)
    let watcher = try TreeWatcher([tree.root])
    #expect(await errorNumber { () async throws(SystemError) in try await watcher.saveIndex() } == EINVAL)
    watcher.stop()
    #expect(await errorNumber { () async throws(SystemError) in try await watcher.saveIndex() } == ECANCELED)
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
