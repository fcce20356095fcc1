import FileCoordination
import FileCoordinationTesting
import FilePackages
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Locked documents, and drafts", .timeLimit(.minutes(8)))
struct LockingTests {
  private func isLocked(_ error: any Error) -> Bool { (error as? DocumentError)?.code == .locked }

  @Test("ND-9: Locking saves first, and then nothing is edited or saved; other permissions stay")
  func locking() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: fixture.file.path)
      try await document.edit { $0 = "new" }
      try await document.lock()
      #expect(try fixture.text() == "new" && fixture.status().mode & 0o777 == 0o464)
      #expect(document.isLocked && document.state.conditions == .editingDisabled)
      await #expect { try await document.edit { $0 = "lost" } } throws: { error in
        isLocked(error) && "\(error)".contains("unlock()")
      }
      await #expect { try await document.undo() } throws: { isLocked($0) }
      try await document.lock()
      #expect(try await document.save() == false)
      try await document.unlock()
      #expect(try !document.isLocked && fixture.status().mode & 0o777 == 0o664)
      try await document.edit { $0 = "newer" }
      try await document.lock()
      try await document.close()
      #expect(try fixture.text() == "newer")
      // The lock is the file's, and outlasts the document.
      try await document.open()
      #expect(document.isLocked)
      try await document.close()
      #expect(!document.isLocked)
    }
  }

  @Test("ND-9: A lock that another program sets or removes is noticed", arguments: [true, false])
  func others(isCoordinated: Bool) async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old") { $0.observesUncoordinatedChanges = !isCoordinated }
      for (mode, isLocked) in [(0o444, true), (0o644, false)] {
        if isCoordinated {
          try await fixture.other.write(fixture.file, options: .contentIndependentMetadataOnly) { access in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: access.url.path)
          }
        } else {
          try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.file.path)
        }
        try await document.waitUntil { snapshot in
          snapshot.isLocked == isLocked && snapshot.state.editingObstacles.subtracting(.locked).isEmpty
        }
      }
      try await document.edit { $0 = "new" }
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }

  @Test("ND-9: Unsaved changes of a file that was locked meanwhile aren't written; they're saved when it's unlocked")
  func unsaved() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old", .text, AutosavePolicy(idleTime: .seconds(2)))
      try await document.edit { $0 = "new" }
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: fixture.file.path)
      // Nobody has noticed the lock: the save does.
      fixture.clock.advance(by: .seconds(2))
      try await document.waitUntil { $0.state.savingError?.code == .locked && $0.isLocked }
      await #expect { try await document.save() } throws: { isLocked($0) }
      await #expect { try await document.close() } throws: { isLocked($0) }
      await #expect { try await document.lock() } throws: { isLocked($0) }
      // A reader gets the reason, and not the former text.
      await #expect(throws: FileCoordinationError.self) { try await fixture.other.contents(of: fixture.file) }
      #expect(try fixture.text() == "old" && document.hasUnsavedChanges)
      try await document.unlock()
      try await document.waitUntil { !$0.state.hasUnsavedChanges }
      #expect(try fixture.text() == "new" && document.state.conditions == .normal)
      try await document.close()
    }
  }

  @Test("ND-9: The lock follows the file, and a file that's saved elsewhere isn't locked")
  func places() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      try await document.lock()
      try await document.rename(to: "b.txt")
      #expect(document.isLocked)
      try await fixture.other.move(fixture.url("b.txt"), to: fixture.file)
      try await document.waitUntil { $0.url.lastPathComponent == "note.txt" }
      #expect(document.isLocked)
      try await document.save(as: fixture.url("c.txt"))
      #expect(!document.isLocked)
      try await document.edit { $0 = "new" }
      try await document.close()
      #expect(try fixture.text() == "old" && fixture.text(of: fixture.url("c.txt")) == "new")
      #expect(try fixture.status().mode & 0o200 == 0)
    }
  }

  @Test("ND-9: Contents that other programs write to a locked file are taken over")
  func reloading() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      try await document.lock()
      try fixture.write("theirs", to: fixture.url("new.txt"))
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: fixture.url("new.txt").path)
      try await fixture.other.move(fixture.url("new.txt"), to: fixture.file, replacing: true)
      try await document.waitForLockedContents("theirs")
      #expect(document.isLocked)
      try await document.close()
    }
  }

  @Test("ND-9: A file that isn't this user's can't be unlocked, and the error says so")
  func foreign() async throws {
    let isForeign = Guarded(true)
    let files = ScriptedFileSystem { call in
      call.call == .setMode && isForeign.withLock { $0 }
        ? .fail(SystemError.Number.notPermitted.rawValue) : .proceed
    }
    try await withFixture(files) { fixture in
      let document = try await fixture.open("old")
      for _ in 0..<2 {
        await #expect { try await document.lock() } throws: { error in
          (error as? DocumentError)?.code == .notWritable && "\(error)".contains("owner")
        }
      }
      #expect(!document.isLocked)
      isForeign.withLock { $0 = false }
      try await document.lock()
      isForeign.withLock { $0 = true }
      await #expect { try await document.unlock() } throws: { ($0 as? DocumentError)?.code == .notWritable }
      #expect(document.isLocked)
      try await document.close()
    }
  }

  @Test("ND-9: A closed document, and one whose file is gone, can't be locked")
  func withoutFile() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      try await fixture.other.delete(fixture.file)
      try await document.waitUntil { $0.state.conditions.contains(.deleted) }
      await #expect { try await document.lock() } throws: { ($0 as? DocumentError)?.code == .fileDeleted }
      try await document.close(discardingChanges: true)
      await #expect { try await document.unlock() } throws: { ($0 as? DocumentError)?.code == .notOpen }
    }
  }

  @Test("ND-9: A locked package is neither saved, nor is a member of it replaced")
  func packages() async throws {
    try await withFixture { fixture in
      var options = DocumentOptions<PackageTree>(domain: fixture.domain, versions: fixture.versions)
      options.autosave = .never
      let album = FileDocument(fixture.url("album"), as: .package, options: options)
      try await album.open(creatingWith: PackageTree())
      try await album.edit { try? $0.update(SystemPath("title.txt"), Array("Summer".utf8)) }
      try await album.lock()
      #expect(try fixture.status(of: fixture.url("album")).mode & 0o200 == 0)
      await #expect { try await album.edit { _ in } } throws: { isLocked($0) }
      await #expect {
        try await album.replaceMember(SystemPath("title.txt"), with: Data())
      } throws: {
        isLocked($0)
      }
      #expect(try fixture.text(of: fixture.url("album/title.txt")) == "Summer")
      try await album.unlock()
      try await album.replaceMember(SystemPath("title.txt"), with: Data("Winter".utf8))
      #expect(try fixture.text(of: fixture.url("album/title.txt")) == "Winter")
      try await album.close()
    }
  }

  @Test("ND-9, SP-8: A document that has made its file is a draft until it's saved, moved or named on purpose")
  func drafts() async throws {
    try await withFixture { fixture in
      for number in 0..<3 {
        let document = FileDocument(
          fixture.url("draft \(number)"), as: .text, options: fixture.options(AutosavePolicy(idleTime: .seconds(2))))
        #expect(!document.isDraft)
        try await document.open(creatingWith: "")
        #expect(document.isDraft)
        try await document.edit { $0 = "text" }
        fixture.clock.advance(by: .seconds(2))
        try await document.waitUntil { !$0.state.hasUnsavedChanges }
        #expect(document.isDraft)
        switch number {
        case 0: try await document.save()
        case 1: try await document.rename(to: "name")
        default: try await document.save(as: fixture.url("other name"))
        }
        #expect(!document.isDraft)
        try await document.close()
        try await document.open(creatingWith: "")
        #expect(!document.isDraft)
        try await document.close()
      }
    }
  }
}

extension LockingTests {
  @Test("ND-9: A document that has made its package is a draft as well")
  func packageDrafts() async throws {
    try await withFixture { fixture in
      var options = DocumentOptions<PackageTree>(domain: fixture.domain, versions: fixture.versions)
      options.autosave = .never
      options.clock = fixture.clock
      let album = FileDocument(fixture.url("album"), as: .package, options: options)
      try await album.open(creatingWith: PackageTree())
      #expect(album.isDraft)
      try await album.close()
      try await album.open(creatingWith: PackageTree())
      #expect(!album.isDraft)
      try await album.close()
    }
  }

  @Test("ND-9: A member isn't replaced in a package that was locked a moment ago, without a report")
  func lockedMember() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let album = try await fixture.openAlbum()
      #expect(chmod(fixture.album.path, 0o500) == 0)
      let error = await #expect(throws: DocumentError.self) {
        try await album.replaceMember(SystemPath("a.txt"), with: Data("mine".utf8))
      }
      #expect(error?.code == .locked)
      #expect(chmod(fixture.album.path, 0o700) == 0)
      #expect(try fixture.members()["a.txt"] == "a")
      try await album.close()
    }
  }
}

extension LockingTests {
  enum Replacing: CaseIterable { case move, duplicate, saveElsewhere, handler }

  @Test("ND-9: A locked file isn't replaced by another one, on demand or by a decision", arguments: Replacing.allCases)
  func lockedTargets(verb: Replacing) async throws {
    try await withFixture { fixture in
      let target = fixture.url("precious.txt")
      try fixture.write("precious", to: target)
      #expect(chmod(target.path, 0o444) == 0)
      let document = try await fixture.open("old", .text, AutosavePolicy(idleTime: .seconds(2))) { options in
        options.errorHandler = DocumentErrorHandler { failure in
          failure.error.code == .autosaveRefused ? .saveElsewhere(target, replacing: true) : .present
        }
        if verb == .handler { options.autosaveCheck = { _ in throw CancellationError() } }
      }
      try await document.edit { $0 = "new" }
      var error: DocumentError?
      do throws(DocumentError) {
        switch verb {
        case .move: try await document.move(to: target, replacing: true)
        case .duplicate: try await document.duplicate(to: target, replacing: true)
        case .saveElsewhere: try await document.save(as: target, replacing: true)
        case .handler: break
        }
      } catch let failure { error = failure }
      if verb == .handler {
        fixture.clock.advance(by: .seconds(2))
        // A save that's made has another place as well.
        try await document.waitUntil { $0.state.savingError?.code == .locked || !$0.state.hasUnsavedChanges }
        error = document.state.savingError
      }
      #expect(error?.code == .locked && error?.message.contains("precious.txt") == true)
      #expect(try fixture.text(of: target) == "precious" && document.url == fixture.file && !document.isLocked)
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }

  @Test("ND-9: A locked package isn't replaced by one that's saved elsewhere")
  func lockedTargetPackage() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum()
      let album = try await fixture.openAlbum()
      let target = fixture.url("precious")
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
      try fixture.write("precious", to: target.appending(path: "a.txt"))
      #expect(chmod(target.path, 0o500) == 0)
      let error = await #expect(throws: DocumentError.self) { try await album.save(as: target, replacing: true) }
      #expect(error?.code == .locked)
      #expect(try fixture.text(of: target.appending(path: "a.txt")) == "precious")
      #expect(chmod(target.path, 0o700) == 0)
      try await album.close()
    }
  }

  @Test(
    "ND-9: A duplicate of a locked file can be edited, and the lock stays with the original", arguments: [true, false])
  func duplicates(isPackage: Bool) async throws {
    try await withFixture { fixture in
      let copy = fixture.url("copy")
      if isPackage {
        try fixture.makeAlbum()
        let album = try await fixture.openAlbum()
        try await album.lock()
        try await album.duplicate(to: copy)
        #expect(try album.isLocked && fixture.status(of: fixture.album).mode & 0o200 == 0)
        #expect(try fixture.status(of: copy).mode & 0o200 != 0)
        try await album.unlock()
        try await album.close()
      } else {
        let document = try await fixture.open("old")
        #expect(chmod(fixture.file.path, 0o440) == 0)
        try await document.duplicate(to: copy)
        try await document.duplicate(to: copy, replacing: true)
        #expect(try fixture.status().mode & 0o777 == 0o440 && fixture.status(of: copy).mode & 0o777 == 0o640)
        try await document.close()
        let other = FileDocument(copy, as: .text, options: fixture.options())
        try await other.open()
        try await other.edit { $0 = "new" }
        try await other.close()
        #expect(try fixture.text(of: copy) == "new" && fixture.text() == "old")
      }
    }
  }

  @Test("ND-9: An unlocked document doesn't say that it's locked, also if it doesn't save by itself")
  func unlockedState() async throws {
    try await withFixture { fixture in
      let document = try await fixture.open("old")
      try await document.edit { $0 = "new" }
      #expect(chmod(fixture.file.path, 0o444) == 0)
      await #expect { try await document.save() } throws: { isLocked($0) }
      #expect(document.state.savingError?.code == .locked && document.isLocked)
      try await document.unlock()
      #expect(document.state.conditions == .normal && document.state.savingError == nil && document.hasUnsavedChanges)
      try await document.close()
      #expect(try fixture.text() == "new")
    }
  }
}

extension FileDocument where Contents: Equatable {
  fileprivate func waitForLockedContents(_ expected: Contents) async throws {
    for await _ in changes(of: .contents) where contents == expected { return }
    throw CancellationError()
  }
}
