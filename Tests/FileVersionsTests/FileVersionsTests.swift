import ContentHashing
import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

@Suite("Versions of files", .timeLimit(.minutes(4)))
struct FileVersionsTests {
  @Test("CV-01, CV-02: A path without a file has no versions; a file without versions has an empty list")
  func nothing() async throws {
    try await withFixture { fixture in
      let none = fixture.root.appending(path: "none")
      #expect(try await fixture.versions.currentVersion(of: none) == nil)
      #expect(try await fixture.versions.versions(of: none) == nil)
      #expect(try await fixture.versions.unresolvedConflicts(of: none) == nil)
      let file = try fixture.write("a", "1")
      #expect(try await fixture.versions.currentVersion(of: file) != nil)
      #expect(try await fixture.versions.versions(of: file) == [])
      #expect(try await fixture.versions.unresolvedConflicts(of: file) == [])
    }
  }

  @Test("CV-03, CV-05…CV-07, CV-21: A version keeps the bytes, isn't the current one, and is found again")
  func keeping() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "one")
      let first = try await fixture.versions.addVersion(of: file)
      try fixture.write("a.txt", "two")
      let second = try await fixture.versions.addVersion(of: file, parents: [first.id])
      let listed = try #require(try await fixture.versions.versions(of: file))
      #expect(listed == [second, first])
      #expect(listed.map(\.name) == ["a.txt", "a.txt"] && listed.map(\.size) == [3, 3])
      #expect(second.parents == [first.id] && second.deviceName == "desk" && second.author == "me")
      let current = try #require(try await fixture.versions.currentVersion(of: file))
      #expect(current.isCurrent && !listed.contains(current) && current.url == file)
      let coded = try JSONDecoder().decode([FileVersion.ID].self, from: JSONEncoder().encode([first.id, current.id]))
      #expect(coded == [first.id, current.id])
      #expect(try await fixture.versions.version(coded[0], of: file) == first)
      #expect(try await fixture.versions.version(coded[1], of: file) == current)
      #expect(try await fixture.versions.contents(of: first) == Data("one".utf8))
      #expect(try await fixture.versions.contents(of: current) == Data("two".utf8))
      // CV-21: root may write to it all the same.
      let mode = try FileManager.default.attributesOfItem(atPath: first.url.path)[.posixPermissions] as? Int
      #expect(mode == 0o444)
    }
  }

  @Test("CV-08: Contents that are handed over are gone from where they were; without that they stay")
  func handingOver() async throws {
    try await withFixture { fixture in
      let (file, source) = (try fixture.write("a", "1"), try fixture.write("b", "2"))
      try await fixture.versions.addVersion(of: file, contentsOf: source)
      #expect(try fixture.text(source) == "2")
      let moved = try await fixture.versions.addVersion(of: file, contentsOf: source, byMoving: true)
      #expect(!FileManager.default.fileExists(atPath: source.path))
      #expect(try await fixture.versions.contents(of: moved) == Data("2".utf8))
      #expect(moved.name == "a")
      #expect(try fixture.text(file) == "1")
    }
  }

  @Test("CV-10, CV-12, CV-15: Presenters of the file and around it hear of gained, resolved and lost versions")
  func notifying() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let presenter = RecordingPresenter(file), around = RecordingPresenter(fixture.root)
      let registrations = [try await fixture.domain.register(presenter), try await fixture.domain.register(around)]
      let version = try await fixture.versions.addVersion(of: file, isConflict: true)
      let resolved = try await fixture.versions.markResolved(version, of: file)
      try await fixture.versions.remove(resolved, of: file)
      try await presenter.wait(for: .itemDidChangeVersion, count: 3)
      try await around.wait(for: .subitemDidChangeVersion, count: 3)
      for messages in [presenter.messages, around.messages] {
        let changes = messages.compactMap(\.version)
        #expect(changes.map(\.change) == [.gained, .resolved, .lost])
        #expect(Set(changes.map(\.version)) == [version.id.description])
      }
      for registration in registrations { registration.end() }
    }
  }

  @Test("CV-04, CV-11, CV-12: A conflict is listed until it's resolved, and keeps its bytes")
  func conflicts() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      let plain = try await fixture.versions.addVersion(of: file)
      let theirs = try fixture.write("b", "theirs")
      let conflict = try await fixture.versions.addVersion(of: file, contentsOf: theirs, isConflict: true)
      #expect(plain.isResolved && !plain.isConflict && conflict.isConflict && !conflict.isResolved)
      #expect(try await fixture.versions.unresolvedConflicts(of: file) == [conflict])
      let resolved = try await fixture.versions.markResolved(conflict, of: file)
      #expect(resolved == conflict && resolved.isResolved)
      #expect(try await fixture.versions.unresolvedConflicts(of: file) == [])
      #expect(try await fixture.versions.versions(of: file)?.count == 2)
      #expect(try await fixture.versions.contents(of: resolved) == Data("theirs".utf8))
    }
  }

  @Test("CV-06, CV-15, CV-16: The current version can't be removed; the others can, one or all")
  func removing() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      for text in ["1", "2", "3"] {
        try fixture.write("a", text)
        try await fixture.versions.addVersion(of: file)
      }
      let current = try #require(try await fixture.versions.currentVersion(of: file))
      let error = await #expect(throws: FileVersionError.self) { try await fixture.versions.remove(current, of: file) }
      #expect(error?.code == .isCurrent)
      let newest = try #require(try await fixture.versions.versions(of: file)?.first)
      try await fixture.versions.remove(newest, of: file)
      #expect(!FileManager.default.fileExists(atPath: newest.url.path))
      let again = await #expect(throws: FileVersionError.self) { try await fixture.versions.remove(newest, of: file) }
      #expect(again?.code == .versionIsGone)
      #expect(try await fixture.versions.version(newest.id, of: file) == nil)
      #expect(try await fixture.versions.removeOtherVersions(of: file).count == 2)
      #expect(try await fixture.versions.versions(of: file) == [])
      #expect(try fixture.text(file) == "3")
    }
  }

  @Test(
    "CV-17, CV-23: A restored file has the bytes of the version and its own name; the former contents are a version now"
  )
  func restoring() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "one")
      let version = try await fixture.versions.addVersion(of: file)
      try fixture.write("a.txt", "two")
      #expect(try await fixture.versions.restore(version, to: file) == file)
      #expect(try fixture.text(file) == "one")
      let overwritten = try #require(try await fixture.versions.versions(of: file)?.first)
      #expect(try await fixture.versions.contents(of: overwritten) == Data("two".utf8))
      let other = fixture.root.appending(path: "b.txt")
      #expect(try await fixture.versions.restore(version, to: other) == other)
      #expect(try fixture.text(other) == "one")
      try FileManager.default.moveItem(at: file, to: fixture.root.appending(path: "c.txt"))
      let moved = try await fixture.versions.versions(of: fixture.root.appending(path: "c.txt"))
      #expect(moved?.map(\.name) == ["a.txt", "a.txt"])
    }
  }

  @Test("CV-18: The extension of the version wins, and the history goes along")
  func otherType() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.md", "markdown")
      let version = try await fixture.versions.addVersion(of: file)
      let (text, target) = (fixture.root.appending(path: "a.txt"), file)
      try FileManager.default.moveItem(at: file, to: text)
      try fixture.write("a.txt", "text")
      #expect(try await fixture.versions.restore(version, to: text) == target)
      #expect(try fixture.text(target) == "markdown")
      #expect(!FileManager.default.fileExists(atPath: text.path))
      let contents = try #require(try await fixture.versions.versions(of: target))
      #expect(try await fixture.versions.contents(of: #require(contents.first)) == Data("text".utf8))
      #expect(contents.contains(version))
    }
  }

  @Test(
    "CV-18: Extensions that aren't UTF-8 are compared and kept byte by byte",
    arguments: [[0xff], [0xc3], []] as [[UInt8]])
  func otherTypeBytes(type: [UInt8]) async throws {
    try await withFixture { fixture in
      let (root, files) = (SystemPath(fixture.root.path), HostFileSystem())
      let path = root.appending(SystemPath(bytes: Array("x.".utf8) + [0xff]))
      try files.replaceContents(of: path, with: Array("one".utf8))
      let file = VersionKeeper.url(of: path)
      let version = try await fixture.versions.addVersion(of: file)
      try files.replaceContents(of: path, with: Array("two".utf8))
      // The same name, another one, and one without an extension.
      let named = SystemPath(bytes: Array("x".utf8) + (type.isEmpty ? [] : [UInt8(ascii: ".")] + type))
      let target = root.appending(named)
      if target != path { try files.moveItem(from: path, to: target, replacing: false) }
      #expect(try await fixture.versions.restore(version, to: VersionKeeper.url(of: target)) == file)
      #expect(try files.names(in: root).filter { !$0.bytes.starts(with: "store".utf8) } == [path.lastComponent])
      #expect(try files.contents(of: path) == Array("one".utf8))
      #expect(try await fixture.texts(file) == ["two", "one"])
    }
  }

  @Test("CV-18, CV-20: If a version of another extension can't be restored, the file has its name and its text")
  func otherTypeWithoutRoom() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.md", "markdown")
      let version = try await fixture.versions.addVersion(of: file)
      let (text, root) = (fixture.root.appending(path: "a.txt"), SystemPath(fixture.root.path))
      try FileManager.default.moveItem(at: file, to: text)
      try fixture.write("a.txt", "text")
      #expect(try await fixture.versions.versions(of: text) == [version])
      let door = ScriptedFileSystem { call in
        let hasMoved = FileManager.default.fileExists(atPath: file.path)
        return hasMoved && (call.call == .link || call.call == .makeDirectory) ? .fail(28) : .proceed
      }
      let keeper = VersionKeeper(
        fixture.domain, fixture.storage, fixture.versions.keeper.attributes, files: door
      ) { 2_000_000_000_000_000_000 }
      let stored = try #require(version.stored)
      #expect(throws: (any Error).self) {
        try keeper.restore(stored, inPlaceOf: root.appending("a.txt"), to: root.appending("a.md")) { _ in }
      }
      #expect(try fixture.text(text) == "text" && !FileManager.default.fileExists(atPath: file.path))
      #expect(try await fixture.versions.versions(of: text)?.contains(version) == true)
    }
  }

  @Test(
    "CV-18, CV-20: If the wait for the disk fails when a file has another extension, it is as it was, with its history")
  func otherTypeWithFailingDisk() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.md", "markdown")
      let version = try await fixture.versions.addVersion(of: file)
      let (text, root) = (fixture.root.appending(path: "a.txt"), SystemPath(fixture.root.path))
      try FileManager.default.moveItem(at: file, to: text)
      try fixture.write("a.txt", "text")
      #expect(try await fixture.versions.versions(of: text) == [version])
      // Only the history itself says where it is.
      try HostFileSystem().withDescriptor(root.appending("a.txt"), flags: []) { (file) throws(SystemError) in
        try HostFileSystem().removeExtendedAttribute(VersionStore.tagName, of: file)
      }
      let door = ScriptedFileSystem { call in
        guard FileManager.default.fileExists(atPath: file.path) else { return .proceed }
        return call.call == .synchronize && call.openedPath == root ? .fail(5) : .proceed
      }
      let keeper = VersionKeeper(
        fixture.domain, fixture.storage, fixture.versions.keeper.attributes, files: door
      ) { 2_000_000_000_000_000_000 }
      let stored = try #require(version.stored)
      #expect(throws: VersionStoreError.self) {
        try keeper.restore(stored, inPlaceOf: root.appending("a.txt"), to: root.appending("a.md")) { _ in }
      }
      #expect(try fixture.text(text) == "text" && !FileManager.default.fileExists(atPath: file.path))
      #expect(try await fixture.versions.versions(of: text)?.contains(version) == true)
    }
  }

  @Test("CV-01: A file has a current version also where no history can be begun")
  func withoutRoom() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "text")
      let door = ScriptedFileSystem { $0.call == .makeDirectory ? .fail(28) : .proceed }
      let keeper = VersionKeeper(
        fixture.domain, fixture.storage, fixture.versions.keeper.attributes, files: door
      ) { 1_000 }
      let version = try #require(try keeper.currentVersion(at: SystemPath(file.path)))
      #expect(version.isCurrent && version.size == 4 && version.url == file)
      #expect(try keeper.currentVersion(at: SystemPath(file.path)) == version)
    }
  }

  @Test("CV-25: A result that's taken back, as another program has put something else there, resolves nothing")
  func takenBack() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "mine")
      let theirs = try fixture.write("b", "theirs")
      let conflict = try await fixture.versions.addVersion(of: file, contentsOf: theirs, isConflict: true)
      let path = SystemPath(file.path)
      let hasMet = Guarded(false)
      let door = ScriptedFileSystem { call in
        // Right before the exchange another file is put there, which can't become a version for lack of room.
        if hasMet.withLock({ $0 }) { return call.call == .makeDirectory ? .fail(28) : .proceed }
        if call.call == .rename, call.paths.last?.lastComponent == path.lastComponent,
          call.paths.first?.lastComponent.isTemporaryName == true
        {
          hasMet.withLock { $0 = true }
          unlink(path.description)
          _ = try? fixture.write("a", "other")
        }
        return .proceed
      }
      let keeper = VersionKeeper(
        fixture.domain, fixture.storage, fixture.versions.keeper.attributes, files: door
      ) { 2_000_000_000_000_000_000 }
      let found = try #require(try keeper.conflict(at: path, fixture.versions))
      #expect(throws: (any Error).self) {
        try keeper.carryOut(.merged(Data("both".utf8)), of: found, at: path, keepsOthers: false)
      }
      #expect(hasMet.withLock { $0 })
      #expect(try fixture.text(file) == "other")
      #expect(try await fixture.versions.unresolvedConflicts(of: file) == [conflict])
      #expect(try await fixture.versions.removedVersions(of: file) == [])
    }
  }

  @Test("A damaged version is never handed out")
  func damage() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "good")
      let version = try await fixture.versions.addVersion(of: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: version.url.path)
      let handle = try FileHandle(forWritingTo: version.url)
      try handle.write(contentsOf: Data("g".utf8.map { $0 ^ 1 }))
      try handle.close()
      for _ in 0..<2 {
        let error = await #expect(throws: FileVersionError.self) { try await fixture.versions.contents(of: version) }
        #expect(error?.code == .damagedVersion)
        let restored = await #expect(throws: FileVersionError.self) {
          try await fixture.versions.restore(version, to: file)
        }
        #expect(restored?.code == .damagedVersion)
        #expect(try fixture.text(file) == "good")
      }
    }
  }

  @Test("A store in which another program has put a link is neither read nor written, and the error names it")
  func plantedLink() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "text")
      let (store, elsewhere) = (fixture.root.appending(path: "store"), fixture.root.appending(path: "elsewhere"))
      // Made before anybody has used it.
      for name in ["store/contents", "store/places", "store/steps", "elsewhere"] {
        try FileManager.default.createDirectory(
          at: fixture.root.appending(path: name), withIntermediateDirectories: true)
      }
      let items = store.appending(path: "items")
      try FileManager.default.createSymbolicLink(at: items, withDestinationURL: elsewhere)
      await #expect {
        try await fixture.versions.addVersion(of: file)
      } throws: {
        let error = $0 as? FileVersionError
        return error?.code == .damagedVersion && error?.message.contains(items.path) == true
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
      try FileManager.default.removeItem(at: items)
      try await fixture.versions.addVersion(of: file)
      #expect(try await fixture.texts(file) == ["text"])
    }
  }

  @Test("Many add versions of one file at once, and each of them is there")
  func manyAtOnce() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "0")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          let source = try fixture.write("\(number)", "\(number)")
          group.addTask { try await fixture.versions.addVersion(of: file, contentsOf: source) }
        }
        try await group.waitForAll()
      }
      let versions = try #require(try await fixture.versions.versions(of: file))
      var texts: Set<String> = []
      for version in versions {
        texts.insert(String(decoding: try await fixture.versions.contents(of: version), as: UTF8.self))
      }
      #expect(texts == Set((0..<20).map { "\($0)" }))
      #expect(versions.count == 20)
    }
  }
}

@Suite("Conflicts of files", .timeLimit(.minutes(4)))
struct FileConflictTests {
  /// A file with what two others have written, and what all began with.
  private func withConflict(_ body: (Fixture, URL, [FileVersion]) async throws -> Void) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a.txt", "base")
      let base = try await fixture.versions.addVersion(of: file)
      try fixture.write("a.txt", "mine")
      var others: [FileVersion] = []
      for text in ["theirs", "hers"] {
        let source = try fixture.write("source", text)
        others.append(
          try await fixture.versions.addVersion(
            of: file, contentsOf: source, byMoving: true, isConflict: true, parents: [base.id]))
      }
      try await body(fixture, file, [base] + others)
    }
  }

  @Test("CV-25: A merge gets the current contents, the others and the base; its result is the file, once")
  func merging() async throws {
    try await withConflict { fixture, file, kept in
      let isConflict = try await fixture.versions.resolve(at: file) { conflict in
        #expect(conflict.others == [kept[2], kept[1]] && conflict.base == kept[0])
        var texts: [String] = []
        for version in [conflict.base, conflict.current].compactMap(\.self) + conflict.others {
          texts.append(String(decoding: try await conflict.contents(of: version), as: UTF8.self))
        }
        return .merged(Data(texts.joined(separator: " ").utf8))
      }
      #expect(isConflict)
      #expect(try fixture.text(file) == "base mine hers theirs")
      let left = try #require(try await fixture.versions.versions(of: file))
      #expect(left.allSatisfy { $0.isResolved } && left.count == 2)
      #expect(try await fixture.versions.contents(of: left[0]) == Data("mine".utf8))
      #expect(try await fixture.versions.resolve(at: file) { _ in .current } == false)
    }
  }

  @Test("If the decision fails, nothing changes")
  func failing() async throws {
    try await withConflict { fixture, file, kept in
      await #expect(throws: CancellationError.self) {
        try await fixture.versions.resolve(at: file) { (_: FileConflict) -> FileResolution in
          throw CancellationError()
        }
      }
      let (text, left) = (try fixture.text(file), try await fixture.versions.unresolvedConflicts(of: file))
      #expect(text == "mine" && left == [kept[2], kept[1]])
    }
  }

  @Test("SP-10: A version may be chosen, the newest, none, or all of them as files")
  func choosing() async throws {
    try await withConflict { fixture, file, kept in
      try await fixture.versions.resolve(at: file, keepsOthers: true) { _ in .version(kept[1]) }
      #expect(try fixture.text(file) == "theirs")
      #expect(try await fixture.versions.versions(of: file)?.count == 4)
    }
    try await withConflict { fixture, file, _ in
      try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: file.path)
      try await fixture.versions.resolve(at: file) { .newest(of: $0) }
      #expect(try fixture.text(file) == "hers")
    }
    try await withConflict { fixture, file, kept in
      try await fixture.versions.resolve(at: file) { _ in .all }
      let names = try FileManager.default.contentsOfDirectory(atPath: fixture.root.path).filter { $0.hasPrefix("a") }
      #expect(names.sorted() == ["a (conflict of desk 2).txt", "a (conflict of desk).txt", "a.txt"])
      #expect(try fixture.text(fixture.root.appending(path: "a (conflict of desk 2).txt")) == "theirs")
      #expect(try await fixture.versions.versions(of: file) == [kept[0]])
    }
  }
}

@Suite("Versions of files that move to another volume", .timeLimit(.minutes(4)))
struct VolumeTests {
  @Test("The history goes along with a coordinated move")
  func move() async throws {
    try await withFixture { fixture in
      let tops = ["one", "two"].map { fixture.root.appending(path: $0) }
      for top in tops { try FileManager.default.createDirectory(at: top, withIntermediateDirectories: false) }
      let versions = FileVersions(domain: fixture.domain, storage: .volumes(tops.map { SystemPath($0.path) }))
      let (old, new) = (try fixture.write("one/a", "1"), tops[1].appending(path: "b"))
      let kept = try await versions.addVersion(of: old)
      // As a move between volumes does it.
      try await FileCoordinator(domain: fixture.domain).copy(old, to: new)
      try await FileCoordinator(domain: fixture.domain).delete(old)
      let moved = try #require(try await versions.versions(of: new))
      #expect(moved.map(\.id) == [kept.id] && moved[0].url.path.hasPrefix(tops[1].path))
      #expect(try await versions.contents(of: moved[0]) == Data("1".utf8))
      #expect(try await versions.versions(of: old) == nil)
      #expect(try await versions.deletedFiles(below: tops[0]) == [])
    }
  }

  @Test("The contents of a version come piece by piece, of a damaged one not at all")
  func pieces() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "0123456789")
      let version = try await fixture.versions.addVersion(of: file)
      var pieces: [String] = []
      for try await piece in fixture.versions.bytes(of: version, pieceSize: 4) {
        pieces.append(String(decoding: piece, as: UTF8.self))
      }
      #expect(pieces == ["0123", "4567", "89"])
      try await fixture.versions.verify(version)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: version.url.path)
      let handle = try FileHandle(forWritingTo: version.url)
      try handle.write(contentsOf: Data("X".utf8))
      try handle.close()
      var damaged = fixture.versions.bytes(of: version).makeAsyncIterator()
      await #expect { try await damaged.next() } throws: { ($0 as? FileVersionError)?.code == .damagedVersion }
      await #expect { try await fixture.versions.verify(version) } throws: {
        ($0 as? FileVersionError)?.code == .damagedVersion
      }
      try await fixture.versions.remove(version, of: file)
      var gone = fixture.versions.bytes(of: version).makeAsyncIterator()
      await #expect { try await gone.next() } throws: { ($0 as? FileVersionError)?.code == .versionIsGone }
    }
  }
}

@Suite("Which versions are kept")
struct FileVersionRetentionTests {
  private let now = Date(timeIntervalSince1970: 1_000_000_000)

  /// Versions of certain ages in hours.
  private func versions(_ ages: [Double], size: Int64 = 10) throws -> [FileVersion] {
    try ages.map { age in
      let time = UInt64((1_000_000_000 - age * 3_600) * 1e9)
      let digits = String(time, radix: 16)
      let id = String(repeating: "0", count: 16 - digits.count) + digits + "-" + String(repeating: "0", count: 16)
      let stored = try StoredVersion(
        id: #require(VersionID(id)), item: .drawn(), attributes: .init(deviceName: "", deviceID: ""), isPackage: false,
        hash: ContentHash(of: []), size: size, name: SystemPath("a"), mode: 0o644, modificationTime: 0)
      return FileVersion(stored, inStoreAt: SystemPath("/none"))
    }
  }

  @Test("F-2: The version of which an unresolved conflict was made stays, also if it's no base")
  func parents() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let common = try await fixture.versions.addVersion(of: file)
      let theirs = try fixture.write("b", "theirs")
      let conflict = try await fixture.versions.addVersion(
        of: file, contentsOf: theirs, isConflict: true, parents: [common.id])
      for text in ["2", "3"] {
        try fixture.write("a", text)
        try await fixture.versions.addVersion(of: file)
      }
      try await fixture.versions.prune(file, by: FileVersionRetention(countMax: 0))
      #expect(try await fixture.versions.versions(of: file) == [conflict, common])
      try await fixture.versions.markResolved(conflict, of: file)
      try await fixture.versions.prune(file, by: FileVersionRetention(countMax: 0))
      #expect(try await fixture.versions.versions(of: file) == [])
    }
  }

  @Test("By count, age and size the oldest go")
  func limits() throws {
    let versions = try versions([1, 2, 3, 4])
    #expect(FileVersionRetention().removals(among: versions, at: now) == [])
    #expect(FileVersionRetention(countMax: 3).removals(among: versions, at: now) == [versions[3]])
    #expect(FileVersionRetention(ageMax: 2.5 * 3_600).removals(among: versions, at: now) == [versions[3], versions[2]])
    #expect(FileVersionRetention(byteCountMax: 39).removals(among: versions, at: now) == [versions[3]])
    #expect(FileVersionRetention(byteCountMax: 40).removals(among: versions, at: now) == [])
    #expect(FileVersionRetention(countMax: 0).removals(among: versions, at: now).count == 4)
  }

  @Test("Limits at the ends of their types remove what they say, and nothing else")
  func extremes() throws {
    let versions = try versions([1, 2, 3, 4])
    for byteCount in [Int64.min, -1, 0] {
      #expect(FileVersionRetention(byteCountMax: byteCount).removals(among: versions, at: now).count == 4)
    }
    #expect(FileVersionRetention(byteCountMax: .max).removals(among: versions, at: now) == [])
    let huge = try self.versions([1, 2], size: .max)
    #expect(FileVersionRetention(byteCountMax: .max).removals(among: huge, at: now) == [huge[1]])
    for interval in [1e-300, .leastNonzeroMagnitude, 0, -1, .nan] {
      let policy = FileVersionRetention(thinning: [.init(from: 0, interval: interval)])
      #expect(policy.removals(among: versions, at: now) == [], "\(interval)")
    }
    let once = FileVersionRetention(thinning: [.init(from: 0, interval: .infinity)])
    #expect(once.removals(among: versions, at: now).count == 3)
  }

  @Test("Versions that were kept after the clock had been ahead are as many and as old as their own dates say")
  func clockThatWasAhead() throws {
    /// The clock was ten days ahead when the first one was kept: the names of the others continue from there.
    func versions(_ ages: [Double], ahead: Double) throws -> [FileVersion] {
      try ages.enumerated().map { index, age in
        let time = Int64((1_000_000_000 - age * 3_600) * 1e9)
        let order = Int64((1_000_000_000 + ahead * 3_600) * 1e9) + Int64(index)
        let digits = String(order, radix: 16)
        let id = String(repeating: "0", count: 16 - digits.count) + digits + "-" + String(repeating: "0", count: 16)
        var stored = try StoredVersion(
          id: #require(VersionID(id)), item: .drawn(), attributes: .init(deviceName: "", deviceID: ""),
          isPackage: false, hash: ContentHash(of: []), size: 10, name: SystemPath("a"), mode: 0o644,
          modificationTime: 0)
        if index > 0 { stored.clockTime = time }
        return FileVersion(stored, inStoreAt: SystemPath("/none"))
      }
    }
    let backups = FileVersionRetention(thinning: .likeBackups)
    // Once an hour for three days, while the wrong moment lies ahead, and when it's two days ago.
    for ahead in [240.0, -48] {
      let hourly = try versions((0..<72).map { 72 - Double($0) }, ahead: ahead)
      // The wrong moment is the hour of another one.
      #expect(backups.removals(among: hourly, at: now) == (ahead < 0 ? [hourly[0]] : []), "\(ahead)")
      #expect(FileVersionRetention(ageMax: 100 * 3_600).removals(among: hourly, at: now) == [])
    }
    let hourly = try versions((0..<72).map { 72 - Double($0) }, ahead: 240)
    #expect(FileVersionRetention(ageMax: 12.5 * 3_600).removals(among: hourly, at: now).count == 72 - 1 - 12)
  }

  @Test("Thinned out like backups, one of each hour, day and week stays, the newest of it")
  func thinning() throws {
    let policy = FileVersionRetention(thinning: .likeBackups)
    let minutes = try versions((0..<60).map { 30 + Double($0) / 60 })
    // The hours of the clock: 60 minutes touch two of them.
    #expect(policy.removals(among: minutes, at: now).count == 58)
    #expect(!policy.removals(among: minutes, at: now).contains(minutes[0]))
    let young = try versions((0..<24).map { Double($0) / 2 })
    #expect(policy.removals(among: young, at: now) == [])
    let days = try versions((0..<48).map { 24 * 10 + Double($0) })
    #expect(policy.removals(among: days, at: now).count == 48 - 3)
  }
}
