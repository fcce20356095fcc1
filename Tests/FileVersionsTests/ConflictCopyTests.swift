import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileVersions
@testable import VersionStore

private let copyName = "a.sync-conflict-20260102-030405-ABCDEFG.txt"
private let otherName = "a (Jane's conflicted copy 2026-01-02).txt"

@Suite("Conflict copies beside a file", .timeLimit(.minutes(4)))
struct ConflictCopyTests {
  @Test("CV-32: Copies are conflict versions of their file, and only if that's asked for")
  func listing() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      try sandbox.write(otherName, "hers!")
      try sandbox.write("b (conflicted copy 2026-01-02 030405).txt", "no file of it")
      let versions = try #require(try await sandbox.versions.versions(of: file))
      #expect(versions.count == 2 && versions.allSatisfy { $0.isConflict && !$0.isResolved && !$0.isCurrent })
      #expect(try await sandbox.versions.unresolvedConflicts(of: file) == versions)
      let theirs = try #require(versions.first { $0.conflictCopy?.engine == .syncthing })
      #expect(theirs.url == sandbox.url(copyName) && theirs.name == "a.txt" && theirs.size == 6)
      // Syncthing mentions the device whose contents the file has.
      #expect(theirs.author == nil && theirs.deviceName == nil && theirs.conflictCopy?.mention == "ABCDEFG")
      let hers = try #require(versions.first { $0.conflictCopy?.engine == .dropbox })
      #expect(hers.author == "Jane" && hers.deviceName == nil && hers.additionDate == nil)
      #expect(try await sandbox.versions.contents(of: hers) == Data("hers!".utf8))
      #expect(Set([theirs.contentHash, hers.contentHash]).count == 2)
      let orphan = sandbox.url("b (conflicted copy 2026-01-02 030405).txt")
      #expect(try await sandbox.versions.versions(of: orphan) == [])
      let plain = FileVersions(domain: sandbox.domain, storage: .directory(sandbox.url("store")))
      #expect(try await plain.versions(of: file) == [])
      #expect(try await plain.resolve(at: file) { _ in .current } == false)
      // A look at a file without copies or versions makes no store.
      #expect(try sandbox.names().count == 4)
    }
  }

  @Test("CV-33: A copy's identifier finds it as long as its contents are the same, also when it got into the store")
  func identity() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      let version = try #require(try await sandbox.versions.versions(of: file)?.first)
      let coded = try JSONDecoder().decode([FileVersion.ID].self, from: JSONEncoder().encode([version.id]))
      #expect(coded == [version.id] && FileVersion.ID(version.id.description) == version.id)
      try FileManager.default.setAttributes(
        [.modificationDate: Date.distantPast], ofItemAtPath: sandbox.path(copyName).description)
      #expect(try await sandbox.versions.version(coded[0], of: file) == version)
      let resolved = try await sandbox.versions.markResolved(version, of: file)
      #expect(resolved.isResolved && resolved.isConflict && resolved.contentHash == version.contentHash)
      #expect(resolved.author == nil && resolved.deviceName == nil)
      #expect(try sandbox.names() == ["a.txt"])
      #expect(try await sandbox.versions.version(coded[0], of: file) == resolved)
      #expect(try await sandbox.versions.contents(of: resolved) == Data("theirs".utf8))
      try sandbox.write(copyName, "theirs 2")
      let other = try #require(try await sandbox.versions.unresolvedConflicts(of: file)?.first)
      #expect(other.id != version.id)
      try sandbox.write(copyName, "theirs 3")
      let gone = await #expect(throws: FileVersionError.self) { try await sandbox.versions.contents(of: other) }
      #expect(gone?.code == .versionIsGone)
      let kept = await #expect(throws: FileVersionError.self) { try await sandbox.versions.remove(other, of: file) }
      #expect(kept?.code == .versionIsGone)
      #expect(try sandbox.text(copyName) == "theirs 3")
    }
  }

  @Test("CV-33: Copies with the same contents are one version, and go together")
  func equalCopies() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      for name in [copyName, otherName, "a.txt.conflict1"] { try sandbox.write(name, "theirs") }
      let versions = try #require(try await sandbox.versions.versions(of: file))
      #expect(versions.count == 1)
      try await sandbox.versions.remove(versions[0], of: file)
      #expect(try sandbox.names() == ["a.txt"])
      #expect(try await sandbox.versions.versions(of: file) == [])
    }
  }

  @Test("CV-34: A merge gets the copies and the base, removes the copies, and presenters hear of it")
  func merging() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "base")
      let base = try await sandbox.versions.addBase(of: file)
      #expect(base.isBase)
      try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      try sandbox.write(otherName, "hers")
      let presenter = RecordingPresenter(file), beside = RecordingPresenter(sandbox.url(copyName))
      let registrations = [
        try await sandbox.domain.register(presenter), try await sandbox.domain.register(beside),
      ]
      let isConflict = try await sandbox.versions.resolve(at: file) { conflict in
        #expect(conflict.base == base && conflict.others.count == 2)
        var texts: [String] = []
        for version in [conflict.current] + conflict.others.sorted(by: { $0.size > $1.size }) {
          texts.append(String(decoding: try await conflict.contents(of: version), as: UTF8.self))
        }
        return .merged(Data(texts.joined(separator: " ").utf8))
      }
      #expect(isConflict)
      #expect(try sandbox.text("a.txt") == "mine theirs hers")
      #expect(try sandbox.names() == ["a.txt"])
      #expect(try await sandbox.versions.unresolvedConflicts(of: file) == [])
      #expect(try await sandbox.versions.versions(of: file)?.count == 2)
      try await beside.wait(for: .accommodateDeletion)
      // The overwritten contents, and both copies.
      try await presenter.wait(for: .itemDidChangeVersion, count: 7)
      let changes = presenter.messages.compactMap(\.version?.change)
      #expect(changes.filter { $0 == .gained }.count == 3)
      #expect(changes.filter { $0 == .resolved }.count == 2 && changes.filter { $0 == .lost }.count == 2)
      for registration in registrations { registration.end() }
    }
  }

  @Test("CV-34: A copy isn't given up for a version with its contents that has lost a byte")
  func damagedVersion() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      let other = try sandbox.write("other.txt", "theirs")
      let kept = try await sandbox.versions.addVersion(of: file, contentsOf: other, isConflict: true)
      try sandbox.remove("other.txt")
      let path = SystemPath(kept.url.path)
      try FileManager.default.removeItem(atPath: path.description)
      try HostFileSystem().replaceContents(of: path, with: Array("THEIRS".utf8))
      try sandbox.write(copyName, "theirs")
      #expect(try await sandbox.versions.resolve(at: file) { _ in .all })
      #expect(try !sandbox.names().contains(copyName))
      let texts = try sandbox.names().filter { $0 != "a.txt" }.map { try sandbox.text($0) }
      #expect(texts == ["theirs"])
    }
  }

  @Test("CV-34: Contents that the result doesn't have stay in the store as a resolved version")
  func choosing() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      try sandbox.write(otherName, "hers")
      try await sandbox.versions.resolve(at: file) { conflict in
        .version(try #require(conflict.others.first { $0.conflictCopy?.engine == .syncthing }))
      }
      let kept = try #require(try await sandbox.versions.versions(of: file))
      #expect(try sandbox.names() == ["a.txt"])
      #expect(try sandbox.text("a.txt") == "theirs")
      var texts: Set<String> = []
      for version in kept {
        texts.insert(String(decoding: try await sandbox.versions.contents(of: version), as: UTF8.self))
      }
      #expect(texts == ["mine", "hers"])
      #expect(kept.allSatisfy { $0.isResolved })
      try sandbox.write(copyName, "again")
      try await sandbox.versions.resolve(at: file) { _ in .current }
      #expect(try await sandbox.versions.versions(of: file)?.count == 3)
      #expect(try sandbox.text("a.txt") == "theirs")
    }
  }

  @Test("CV-34: Copies become files of their own that are no copies any more")
  func keepingAll() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      try sandbox.write(otherName, "hers")
      try await sandbox.versions.resolve(at: file) { _ in .all }
      #expect(try sandbox.names() == ["a (conflict 2).txt", "a (conflict).txt", "a.txt"])
      #expect(try Set(sandbox.names().map(sandbox.text)) == ["mine", "theirs", "hers"])
      #expect(try await sandbox.versions.versions(of: file) == [])
    }
  }

  @Test("CV-34: If the decision fails, and of what comes or changes meanwhile, every copy stays")
  func leaving() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      await #expect(throws: CancellationError.self) {
        try await sandbox.versions.resolve(at: file) { (_: FileConflict) -> FileResolution in
          throw CancellationError()
        }
      }
      #expect(try sandbox.names() == [copyName, "a.txt"].sorted())
      try await sandbox.versions.resolve(at: file) { conflict in
        #expect(conflict.others.count == 1)
        try sandbox.write(copyName, "theirs, later")
        try sandbox.write(otherName, "hers")
        return .merged(Data("merged".utf8))
      }
      #expect(try sandbox.text("a.txt") == "merged")
      #expect(try await Set(sandbox.conflictTexts()) == ["theirs, later", "hers"])
      #expect(try sandbox.names().count == 3)
      await #expect(throws: FileVersionError.self) {
        try await sandbox.versions.resolve(at: file) { conflict in
          for name in [copyName, otherName] { try sandbox.remove(name) }
          return .version(conflict.others[0])
        }
      }
      #expect(try sandbox.text("a.txt") == "merged")
    }
  }

  @Test("A copy's contents are put in the place of the file, and the conflict stays")
  func restoring() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      try sandbox.write("a.txt.conflict1", "theirs")
      let version = try #require(try await sandbox.versions.versions(of: file)?.first)
      #expect(try await sandbox.versions.restore(version, to: file) == file)
      #expect(try sandbox.text("a.txt") == "theirs")
      #expect(try await sandbox.versions.unresolvedConflicts(of: file) == [version])
      #expect(try await sandbox.versions.versions(of: file)?.count == 2)
    }
  }

  @Test("CV-32: Links, directories and special files that are called like copies are left alone")
  func otherKinds() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "mine")
      let manager = FileManager.default
      try manager.createDirectory(at: sandbox.url(copyName), withIntermediateDirectories: false)
      try manager.createSymbolicLink(at: sandbox.url(otherName), withDestinationURL: file)
      try manager.linkItem(at: file, to: sandbox.url("a.txt.conflict1"))
      #expect(mkfifo(sandbox.path("a.txt.conflict2").description, 0o600) == 0)
      try manager.createDirectory(at: sandbox.url("d"), withIntermediateDirectories: false)
      try sandbox.write("d (conflicted copy 2026-01-02)", "a file, and d is a directory")
      #expect(try await sandbox.versions.versions(of: file) == [])
      #expect(try await sandbox.versions.versions(of: sandbox.url("d")) == [])
      #expect(try await sandbox.versions.resolve(at: file) { _ in .merged(Data()) } == false)
      #expect(try sandbox.names().count == 7)
      // A hard link of another file is a copy: only this name of it goes.
      try sandbox.write("other", "theirs")
      try manager.linkItem(at: sandbox.url("other"), to: sandbox.url("a.txt.conflict3"))
      try await sandbox.versions.resolve(at: file) { .version($0.others[0]) }
      #expect(try sandbox.text("a.txt") == "theirs" && sandbox.text("other") == "theirs")
      #expect(try !sandbox.names().contains("a.txt.conflict3"))
      try sandbox.write("other", "can be written")
      #expect(try sandbox.text("a.txt") == "theirs")
    }
  }

  @Test("CV-32: Copies of packages are conflicts of the package, with all that they have in them")
  func packages() async throws {
    try await withConflictCopies { sandbox in
      try sandbox.write("p.rtfd/TXT.rtf", "mine")
      try sandbox.write("p (Jane's conflicted copy 2026-01-02).rtfd/TXT.rtf", "hers")
      try sandbox.write("p (Jane's conflicted copy 2026-01-02).rtfd/in/1.png", "picture")
      let package = sandbox.url("p.rtfd")
      let version = try #require(try await sandbox.versions.versions(of: package)?.first)
      #expect(version.isPackage && version.isConflict && version.size == 11)
      try await sandbox.versions.resolve(at: package) { conflict in .version(conflict.others[0]) }
      #expect(try sandbox.names() == ["p.rtfd"])
      #expect(try sandbox.text("p.rtfd/TXT.rtf") == "hers" && sandbox.text("p.rtfd/in/1.png") == "picture")
      let kept = try #require(try await sandbox.versions.versions(of: package))
      #expect(kept.count == 1 && kept[0].size == 4)
    }
  }

  @Test("CV-32: A copy of a copy is a conflict of the file, or of the copy if there's no file")
  func copiesOfCopies() async throws {
    try await withConflictCopies { sandbox in
      let second = "a.sync-conflict-20260102-030405-ABCDEFG.sync-conflict-20260103-030405-ABCDEFG.txt"
      try sandbox.write(copyName, "theirs")
      try sandbox.write(second, "theirs, too")
      #expect(try await sandbox.conflictTexts(copyName) == ["theirs, too"])
      try sandbox.write("a.txt", "mine")
      #expect(try await sandbox.conflictTexts(copyName) == [])
      #expect(try await Set(sandbox.conflictTexts()) == ["theirs", "theirs, too"])
      try await sandbox.versions.removeOtherVersions(of: sandbox.url("a.txt"))
      #expect(try sandbox.names() == ["a.txt"])
    }
  }

  @Test("CV-32: The history stays with the file when an engine renames it to the copy and puts another one there")
  func renamedByEngine() async throws {
    for looksAtCopyFirst in [true, false] {
      try await withConflictCopies { sandbox in
        let file = try sandbox.write("a.txt", "base")
        let base = try await sandbox.versions.addBase(of: file)
        try FileManager.default.moveItem(at: file, to: sandbox.url(copyName))
        try sandbox.write("a.txt", "won")
        if looksAtCopyFirst {
          #expect(try await sandbox.versions.versions(of: sandbox.url(copyName)) == [])
          #expect(try await sandbox.versions.currentVersion(of: sandbox.url(copyName)) != nil)
        }
        try await sandbox.versions.resolve(at: file) { conflict in
          #expect(conflict.base == base && conflict.others.count == 1)
          return .merged(Data("merged".utf8))
        }
        #expect(try await sandbox.versions.versions(of: file)?.contains(base) == true)
        #expect(try sandbox.names() == ["a.txt"])
      }
    }
  }

  @Test("CV-32: Names that aren't UTF-8 are names like any other")
  func bytes() async throws {
    try await withConflictCopies { sandbox in
      let stem: [UInt8] = [UInt8(ascii: "x"), 0xff]
      let name = SystemPath(bytes: stem + Array(".txt".utf8))
      let file = try sandbox.write(name, "mine")
      let copy = try sandbox.write(SystemPath(bytes: stem + Array(".txt.conflict1".utf8)), "theirs")
      let version = try #require(try await sandbox.versions.versions(of: file)?.first)
      #expect(version.url == copy)
      #expect(try await sandbox.versions.contents(of: version) == Data("theirs".utf8))
      try await sandbox.versions.resolve(at: file) { .version($0.others[0]) }
      #expect(try sandbox.text(name) == "theirs")
      #expect(!FileManager.default.fileExists(atPath: copy.path))
      try sandbox.write(SystemPath(bytes: stem + Array(".txt.conflict1".utf8)), "again")
      try await sandbox.versions.resolve(at: file) { _ in .all }
      #expect(try sandbox.text(SystemPath(bytes: stem + Array(" (conflict).txt".utf8))) == "again")
    }
  }
}

@Suite("The base that others have in common with a file", .timeLimit(.minutes(4)))
struct MergeBaseTests {
  @Test("CV-36: A base is kept if there's no conflict, and the newest is that of the next one")
  func bases() async throws {
    try await withConflictCopies { sandbox in
      let file = try sandbox.write("a.txt", "1")
      try await sandbox.versions.addBase(of: file)
      try sandbox.write("a.txt", "2")
      let base = try await sandbox.versions.addBase(of: file)
      #expect(try await sandbox.versions.addBase(of: file) == base)
      try sandbox.write("a.txt", "mine")
      try sandbox.write(copyName, "theirs")
      let none = try await sandbox.versions.addBase(of: file)
      #expect(!none.isBase)
      try await sandbox.versions.resolve(at: file) { conflict in
        #expect(conflict.base == base)
        return .current
      }
    }
  }
}
