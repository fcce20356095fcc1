import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

@Suite("Removed versions, moves, waits of calls about versions", .timeLimit(.minutes(4)))
struct RemovedVersionsTests {
  @Test("A version that was removed is listed as such, can be read, and comes back with its identifier")
  func recovering() async throws {
    try await withFixture { fixture in
      let (file, versions) = (try fixture.write("a.txt", "1"), fixture.versions)
      let version = try await versions.addVersion(of: file)
      try await versions.remove(version, of: file)
      #expect(try await versions.versions(of: file) == [])
      let removed = try #require(try await versions.removedVersions(of: file))
      #expect(removed == [version] && removed[0].url != version.url)
      #expect(try await versions.contents(of: removed[0]) == Data("1".utf8))
      try await versions.verify(removed[0])
      var pieces = versions.bytes(of: removed[0]).makeAsyncIterator()
      #expect(try await pieces.next() == Data("1".utf8))
      #expect(try await versions.recover(removed[0], of: file) == version)
      #expect(await codeOfError { try await versions.verify(removed[0]) } == .versionIsGone)
      #expect(try await versions.versions(of: file) == [version])
      #expect(try await versions.removedVersions(of: file) == [])
      #expect(await codeOfError { try await versions.recover(removed[0], of: file) } == .versionIsGone)
    }
  }

  @Test("Removed versions of a file that's gone come back, and the file is listed as deleted again")
  func recoveringOfGone() async throws {
    try await withFixture { fixture in
      let (file, versions) = (try fixture.write("a.txt", "1"), fixture.versions)
      let version = try await versions.addVersion(of: file)
      try await versions.remove(version, of: file)
      try FileManager.default.removeItem(at: file)
      #expect(try await versions.deletedFiles(below: fixture.root) == [])
      #expect(try await versions.removedVersions(of: file) == [version])
      try await versions.recover(version, of: file)
      let deleted = try #require(try await versions.deletedFile(at: file))
      try await versions.recover(deleted)
      #expect(try fixture.text(file) == "1")
      #expect(try await versions.removedVersions(of: fixture.root.appending(path: "none")) == nil)
    }
  }

  @Test("All histories that were at a path are found, the last one first")
  func older() async throws {
    try await withFixture { fixture in
      let versions = fixture.versions
      for text in ["1", "2"] {
        let file = try fixture.write("a", text)
        try await versions.addVersion(of: file)
        try FileManager.default.removeItem(at: file)
        try await versions.itemWasDeleted(at: file)
      }
      let file = fixture.root.appending(path: "a")
      let all = try await versions.deletedFiles(at: file)
      #expect(all.count == 2 && all[0].absenceDate >= all[1].absenceDate)
      try await versions.recover(all[1])
      #expect(try fixture.text(file) == "1")
    }
  }

  @Test("A version whose contents somebody has removed is damaged, and not said to be removed")
  func missingContents() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let version = try await fixture.versions.addVersion(of: file)
      try FileManager.default.removeItem(at: version.url)
      #expect(await codeOfError { try await fixture.versions.contents(of: version) } == .damagedVersion)
      #expect(await codeOfError { try await fixture.versions.restore(version, to: file) } == .damagedVersion)
      #expect(await codeOfError { try await fixture.versions.verify(version) } == .damagedVersion)
      #expect(try fixture.text(file) == "1")
    }
  }

  @Test("A program with a short window, which uses the store first, leaves what others can still bring back")
  func otherWindow() async throws {
    try await withFixture { fixture in
      let (file, root) = (try fixture.write("a.txt", "1"), SystemPath(fixture.root.path))
      let hour: Int64 = 3_600_000_000_000
      let now = Int64(Date.now.timeIntervalSince1970 * 1e9)
      // By a process that has ended an hour ago.
      let store = try VersionStore(at: root.appending("store"), worker: "9-9", time: { now - hour })
      let item = try #require(try store.item(at: root.appending("a.txt"), creating: true))
      let version = try store.add(contentsOf: root.appending("a.txt"), to: item, fixture.versions.keeper.attributes)
      try store.retire(version.id, of: item)
      let other = FileVersions(domain: fixture.domain, storage: fixture.storage, removalWindow: .zero)
      #expect(try await other.versions(of: file) == [])
      #expect(try await fixture.versions.removedVersions(of: file)?.map(\.id.version) == [version.id])
    }
  }

  @Test("Versions are kept only below a directory that's there")
  func keepingNowhere() async throws {
    try await withFixture { fixture in
      let none = fixture.root.appending(path: "none")
      #expect(await codeOfError { try fixture.versions.keepVersions(below: none) } == .noSuchFile)
    }
  }

  @Test("Without a window a version is gone at once, and so is what a policy removes")
  func withoutWindow() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "1")
      let hasty = FileVersions(domain: fixture.domain, storage: fixture.storage, removalWindow: .zero)
      try await hasty.remove(try await hasty.addVersion(of: file), of: file)
      #expect(try await hasty.removedVersions(of: file) == [])
      try await fixture.versions.addVersion(of: file)
      #expect(try await fixture.versions.prune(file, by: FileVersionRetention(countMax: 0)).count == 1)
      #expect(try await fixture.versions.removedVersions(of: file) == [])
    }
  }

  @Test(
    "FV-1, FV-11: The current version says what it was made from, and by which machine; its hash is known or can be asked for"
  )
  func current() async throws {
    try await withFixture { fixture in
      let (file, versions) = (try fixture.write("a.txt", "1"), fixture.versions)
      let first = try await versions.addVersion(of: file)
      let current = try #require(try await versions.currentVersion(of: file))
      #expect(current.parents == [first.id] && current.deviceName == "desk")
      #expect(current.deviceID == first.deviceID && current.deviceID?.isEmpty == false)
      #expect(try await versions.contentHash(of: file) == first.contentHash)
      try fixture.write("a.txt", "2")
      #expect(try await versions.currentVersion(of: file)?.contentHash == nil)
      #expect(try await versions.contentHash(of: file) != first.contentHash)
      #expect(try await versions.contentHash(of: fixture.root.appending(path: "none")) == nil)
    }
  }

  @Test("A look at versions makes no store")
  func looking() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "1")
      #expect(try await fixture.versions.versions(of: file) == [])
      #expect(try await fixture.versions.removedVersions(of: file) == [])
      #expect(try await fixture.versions.damagedRecords(of: file) == [])
      #expect(try await fixture.versions.deletedFiles(below: fixture.root) == [])
      try await fixture.versions.itemDidMove(from: file, to: fixture.root.appending(path: "b"))
      #expect(!FileManager.default.fileExists(atPath: fixture.root.appending(path: "store").path))
    }
  }

  @Test("A look at versions makes no store on a volume where none is, though another volume has one")
  func lookingElsewhere() async throws {
    try await withFixture { fixture in
      let tops = ["x", "y"].map { fixture.root.appending(path: $0) }
      for top in tops { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: true) }
      let versions = FileVersions(domain: fixture.domain, storage: .volumes(tops.map { SystemPath($0.path) }))
      let (kept, other) = (tops[0].appending(path: "a"), tops[1].appending(path: "b"))
      for file in [kept, other] { try Data("1".utf8).write(to: file) }
      let version = try await versions.addVersion(of: kept)
      #expect(try await versions.unresolvedConflicts(of: other) == [])
      #expect(try FileManager.default.contentsOfDirectory(atPath: tops[1].path) == ["b"])
      // A file that has come from there brings its versions along.
      let come = tops[1].appending(path: "c")
      try FileManager.default.moveItem(at: kept, to: come)
      #expect(try await versions.versions(of: come)?.map(\.id) == [version.id])
    }
  }

  @Test(
    "A deletion that was noted is final at once; a move that was noted is followed without tags, to another volume too",
    arguments: [true, false])
  func noting(toOtherVolume: Bool) async throws {
    try await withFixture { fixture in
      let tops = ["x", "y"].map { fixture.root.appending(path: $0) }
      for top in tops { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: true) }
      let versions = FileVersions(domain: fixture.domain, storage: .volumes(tops.map { SystemPath($0.path) }))
      let (old, new) = (tops[0].appending(path: "a"), tops[toOtherVolume ? 1 : 0].appending(path: "b"))
      try Data("1".utf8).write(to: old)
      let version = try await versions.addVersion(of: old)
      // A file system without extended attributes.
      let path = SystemPath(old.path)
      try HostFileSystem().withDescriptor(path, flags: []) { (file) throws(SystemError) in
        try HostFileSystem().removeExtendedAttribute(ExtendedAttributeName("user.file-coordination.item"), of: file)
      }
      try FileManager.default.moveItem(at: old, to: new)
      try await versions.itemDidMove(from: old, to: new)
      #expect(try await versions.versions(of: new)?.map(\.id) == [version.id])
      try FileManager.default.removeItem(at: new)
      try await versions.itemWasDeleted(at: new)
      try Data("2".utf8).write(to: new)
      #expect(try await versions.versions(of: new) == [])
      #expect(try await versions.deletedFile(at: new)?.versions.map(\.id) == [version.id])
    }
  }

  @Test("A version can be restored to another volume than that of its file")
  func otherVolume() async throws {
    try await withFixture { fixture in
      let tops = ["x", "y"].map { fixture.root.appending(path: $0) }
      for top in tops { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: true) }
      let versions = FileVersions(domain: fixture.domain, storage: .volumes(tops.map { SystemPath($0.path) }))
      let (file, other) = (tops[0].appending(path: "a"), tops[1].appending(path: "b"))
      try Data("1".utf8).write(to: file)
      let version = try await versions.addVersion(of: file)
      #expect(try await versions.restore(version, to: other) == other)
      #expect(try fixture.text(other) == "1")
      #expect(try await versions.versions(of: file) == [version])
      try await versions.remove(version, of: file)
      #expect(await codeOfError { try await versions.restore(version, to: other) } == .versionIsGone)
    }
  }

  @Test("Sequences end without an error when their task is cancelled, before or while they begin")
  func cancelledSequences() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      try await fixture.versions.addVersion(of: file)
      for isFirst in [true, false] {
        let tasks = [
          Task { for try await _ in try fixture.versions.changes(of: file) {} },
          Task { for try await _ in try fixture.versions.keepVersions(below: fixture.root) {} },
          Task { for try await _ in fixture.versions.conflicts(in: fixture.root) {} },
        ]
        for task in tasks {
          if !isFirst { await Task.yield() }
          task.cancel()
          try await task.value
        }
      }
    }
  }

  @Test("A call ends when its task is cancelled, or at its deadline, and nothing is kept")
  func waits() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "1")
      let hasty = FileVersions(
        domain: fixture.domain, storage: fixture.storage,
        deadlines: AccessDeadlines(waitingForAccesses: .milliseconds(20)))
      try await FileCoordinator(domain: fixture.domain).write(file) { _ in
        let late = await Task.detached { await errorOf { try await hasty.addVersion(of: file) } }.value
        #expect((late?.underlyingError as? FileCoordinationError)?.code == .timedOut)
        let call = Task.detached { await errorOf { try await fixture.versions.addVersion(of: file) } }
        while try await fixture.domain.snapshot().accesses.count < 2 { await Task.yield() }
        call.cancel()
        #expect((await call.value?.underlyingError as? FileCoordinationError)?.code == .cancelled)
      }
      #expect(try await fixture.versions.versions(of: file) == [])
    }
  }
}

func errorOf(_ body: () async throws -> some Any) async -> FileVersionError? {
  do {
    _ = try await body()
    return nil
  } catch { return error as? FileVersionError }
}

func codeOfError(_ body: () async throws -> some Any) async -> FileVersionError.Code? {
  await errorOf(body)?.code
}
