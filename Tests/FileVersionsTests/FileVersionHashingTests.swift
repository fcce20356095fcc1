import ContentHashing
import FileCoordination
import FileWatching
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

@Suite("Large files become versions before they are hashed", .timeLimit(.minutes(4)))
struct FileVersionHashingTests {
  private static let size = 1 << 20

  private func contents(_ byte: UInt8) -> Data { Data(repeating: byte, count: Self.size) }

  private func hash(_ data: Data) -> String { ContentHash(of: Array(data)).description }

  @Test("A version has no hash at first, and has one later; equal contents are stored once then")
  func hashed() async throws {
    try await withFixture { fixture in
      let file = fixture.root.appending(path: "a")
      try contents(1).write(to: file)
      let first = try await fixture.versions.addVersion(of: file)
      let second = try await fixture.versions.addVersion(of: file)
      #expect(first.contentHash == nil && second.contentHash == nil && first.size == Self.size)
      await FileVersions.waitForHashes()
      let listed = try #require(try await fixture.versions.versions(of: file))
      #expect(listed == [second, first])
      #expect(listed.map(\.contentHash) == [hash(contents(1)), hash(contents(1))])
      #expect(try fixture.inode(first.url) == fixture.inode(second.url))
      #expect(try fixture.steps() == [])
    }
  }

  @Test("The thread that hashes finds more to do while it rests, by itself or because somebody waits for it")
  func rest() async throws {
    try await withFixture { fixture in
      let file = fixture.root.appending(path: "a")
      try contents(1).write(to: file)
      let first = try await fixture.versions.addVersion(of: file)
      await FileVersions.waitForHashes()
      // It rests, so there's nothing to wait for.
      await FileVersions.waitForHashes()
      let watcher = try TreeWatcher([SystemPath(fixture.root.path + "/store/items")])
      try await watcher.waitUntilCurrent()
      let second = try await fixture.versions.addVersion(of: file)
      for await update in watcher.updates
      where update.changes.contains(where: { $0.path.lastComponent == SystemPath("sha256") }) { break }
      let listed = try #require(try await fixture.versions.versions(of: file))
      #expect(listed == [second, first])
      #expect(listed.map(\.contentHash) == [hash(contents(1)), hash(contents(1))])
    }
  }

  @Test("Its contents are handed out, verified and restored before that, and a save keeps them")
  func usedBefore() async throws {
    try await withFixture { fixture in
      let file = fixture.root.appending(path: "a")
      try contents(1).write(to: file)
      let coordinator = FileCoordinator(domain: fixture.domain)
      for number in UInt8(2)...6 {
        try await coordinator.replaceContents(of: file, with: contents(number), keepingVersion: fixture.versions)
      }
      let versions = try #require(try await fixture.versions.versions(of: file))
      #expect(versions.count == 5)
      #expect(try await fixture.versions.contents(of: versions[0]) == contents(5))
      try await fixture.versions.verify(versions[1])
      var bytes = Data()
      for try await piece in fixture.versions.bytes(of: versions[2]) { bytes += piece }
      #expect(bytes == contents(3))
      try await fixture.versions.restore(versions[3], to: file)
      #expect(try Data(contentsOf: file) == contents(2))
      try await fixture.versions.remove(versions[4], of: file)
      await FileVersions.waitForHashes()
      let texts = try await fixture.texts(file).map(\.utf8.first)
      #expect(texts == [6, 5, 4, 3, 2])
      #expect(try fixture.steps() == [])
    }
  }

  @Test(
    "A base isn't added twice, and a conflict copy is known by its contents, also of large files that aren't hashed yet"
  )
  func compared() async throws {
    try await withFixture { fixture in
      let versions = FileVersions(domain: fixture.domain, storage: fixture.storage, conflictCopies: .all)
      let file = fixture.root.appending(path: "a.txt")
      try contents(1).write(to: file)
      let base = try await versions.addBase(of: file)
      #expect(try await versions.addBase(of: file) == base)
      let other = fixture.root.appending(path: "other")
      try contents(2).write(to: other)
      let conflict = try await versions.addVersion(of: file, contentsOf: other, isConflict: true)
      try contents(2).write(to: fixture.root.appending(path: "a.sync-conflict-20260102-030405-ABCDEFG.txt"))
      #expect(try await versions.unresolvedConflicts(of: file) == [conflict])
      try await versions.resolve(at: file) { conflict in .version(conflict.others[0]) }
      #expect(try Data(contentsOf: file) == contents(2))
      await FileVersions.waitForHashes()
    }
  }

  @Test("The work of a process that has ended is completed and hashed when the next one uses the store")
  func left() async throws {
    try await withFixture { fixture in
      let file = fixture.root.appending(path: "a")
      let path = SystemPath(file.path)
      try contents(1).write(to: file)
      // No process has that number, in the room of numbers in which this one is.
      let room = VersionKeeper.worker.split(separator: "-")[2]
      let left = try VersionStore(
        at: SystemPath(fixture.root.path + "/store"), worker: "999999999-1-\(room)", time: { 1_000 })
      let item = try #require(try left.item(at: path, creating: true))
      let added = try left.add(contentsOf: path, to: item, VersionAttributes.any)
      // It ended while it replaced the file.
      let kept = try left.add(contentsOf: path, to: item, VersionAttributes.any, taking: .linking)
      #expect(added.hash == nil && kept.hash == nil)
      #expect(try left.unhashedVersions().count == 2)
      #expect(try await fixture.versions.versions(of: file)?.count == 2)
      await FileVersions.waitForHashes()
      let listed = try #require(try await fixture.versions.versions(of: file))
      #expect(listed.map(\.contentHash) == [hash(contents(1)), hash(contents(1))])
      #expect(try fixture.inode(listed[0].url) == fixture.inode(listed[1].url))
      #expect(try fixture.inode(listed[0].url) != fixture.inode(file))
      #expect(try fixture.steps() == [])
    }
  }

  @Test("Several threads add and remove large versions while they are hashed")
  func concurrently() async throws {
    try await withFixture { fixture in
      // Those that could be brought back would keep their contents.
      let versions = FileVersions(domain: fixture.domain, storage: fixture.storage, removalWindow: .zero)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in UInt8(0)..<4 {
          group.addTask {
            let file = fixture.root.appending(path: "\(number)")
            for round in UInt8(0)..<6 {
              try contents(round).write(to: file)
              let version = try await versions.addVersion(of: file)
              if round.isMultiple(of: 3) { try await versions.remove(version, of: file) }
            }
            let texts = try await fixture.texts(file)
            #expect(texts.map(\.utf8.first) == [5, 4, 2, 1])
          }
        }
        try await group.waitForAll()
      }
      await FileVersions.waitForHashes()
      let stored = try FileManager.default.subpathsOfDirectory(atPath: fixture.root.path + "/store/contents")
      #expect(stored.count { $0.contains("/") } == 4)
      #expect(try fixture.steps() == [])
    }
  }
}

extension VersionAttributes {
  fileprivate static let any = VersionAttributes(deviceName: "desk", deviceID: "d1", author: "me")
}
