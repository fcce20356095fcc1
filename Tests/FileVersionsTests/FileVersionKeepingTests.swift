import FileCoordination
import Foundation
import Testing

@testable import FileVersions

@Suite("Versions of everything below a directory", .timeLimit(.minutes(4)))
struct FileVersionKeepingTests {
  private let options = FileVersionKeeping(excludedNames: ["store", "ignored"], settlingTime: .zero)

  private func events(_ fixture: Fixture) throws -> FileVersionKeeper.Iterator {
    try fixture.versions.keepVersions(below: fixture.root, options).makeAsyncIterator()
  }

  /// The files that are kept until all are.
  private func keptAtFirst(_ events: inout FileVersionKeeper.Iterator) async throws -> [String] {
    var kept: [String] = []
    while let event = try await events.next() {
      switch event {
      case .ready: return kept.sorted()
      case .kept(let url, _): kept.append(url.lastPathComponent)
      case .failed(let url, let error): Issue.record("\(url): \(error)")
      }
    }
    return []
  }

  private func keptNext(_ events: inout FileVersionKeeper.Iterator) async throws -> URL? {
    guard case .kept(let url, _)? = try await events.next() else { return nil }
    return url
  }

  @Test("The contents of every file are kept, and a file that a program ruins without coordination can be restored")
  func ruined() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("notes.txt", "all of it\n")
      try FileManager.default.createDirectory(
        at: fixture.root.appending(path: "in/ignored"), withIntermediateDirectories: true)
      try fixture.write("in/b", "b")
      try fixture.write("in/ignored/c", "c")
      try FileManager.default.createSymbolicLink(
        at: fixture.root.appending(path: "link"), withDestinationURL: file)
      var events = try events(fixture)
      #expect(try await keptAtFirst(&events) == ["b", "notes.txt"])
      let sed = try Process.run(URL(filePath: "/usr/bin/sed"), arguments: ["-i", "s/.*//", file.path])
      sed.waitUntilExit()
      #expect(try fixture.text(file) == "\n")
      #expect(try await keptNext(&events) == file)
      let kept = try #require(try await fixture.versions.versions(of: file))
      #expect(try await fixture.texts(file) == ["\n", "all of it\n"])
      try await fixture.versions.restore(kept[1], to: file)
      #expect(try fixture.text(file) == "all of it\n")
    }
  }

  @Test("Equal contents aren't kept twice, and what changed meanwhile is kept at the next beginning")
  func twice() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      var first = try events(fixture)
      #expect(try await keptAtFirst(&first) == ["a"])
      try fixture.write("a", "2")
      try fixture.write("new", "n")
      try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: file.path)
      var second = try events(fixture)
      #expect(try await keptAtFirst(&second) == ["a", "new"])
      var third = try events(fixture)
      #expect(try await keptAtFirst(&third) == [])
      #expect(try await fixture.texts(file) == ["2", "1"])
      // The same bytes, written again.
      try fixture.write("a", "2")
      try fixture.write("other", "o")
      #expect(try await keptNext(&third)?.lastPathComponent == "other")
    }
  }

  @Test(
    "CV-29: A file that's deleted has no versions, and can be recovered with its history; a new one at its path has its own"
  )
  func deleted() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      var events = try events(fixture)
      #expect(try await keptAtFirst(&events) == ["a"])
      try FileManager.default.removeItem(at: file)
      #expect(try await fixture.versions.versions(of: file) == nil)
      #expect(try await fixture.versions.unresolvedConflicts(of: file) == nil)
      let gone = try #require(try await fixture.versions.deletedFile(at: file))
      #expect(gone.url == file && gone.versions.map(\.name) == ["a"])
      #expect(try await fixture.versions.deletedFiles(below: fixture.root) == [gone])
      try fixture.write("a", "2")
      #expect(try await fixture.versions.versions(of: file) == [])
      await #expect { try await fixture.versions.recover(gone) } throws: {
        ($0 as? FileVersionError)?.code == .fileExists
      }
      #expect(try fixture.text(file) == "2")
      try FileManager.default.removeItem(at: file)
      try await fixture.versions.recover(gone)
      #expect(try fixture.text(file) == "1")
      #expect(try await fixture.versions.versions(of: file) == gone.versions)
      #expect(try await fixture.versions.deletedFiles(below: fixture.root) == [])
    }
  }

  @Test(
    "A history that has come back isn't removed with the deleted files, and one that comes back leaves that of a newer file"
  )
  func comeBack() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let version = try await fixture.versions.addVersion(of: file)
      let aside = fixture.root.appending(path: "b")
      try FileManager.default.moveItem(at: file, to: aside)
      let gone = try #require(try await fixture.versions.deletedFile(at: file))
      #expect(try await fixture.versions.versions(of: aside) == [version])
      try await fixture.versions.removeVersions(of: gone)
      #expect(try await fixture.versions.versions(of: aside) == [version])
      await #expect { try await fixture.versions.recover(gone) } throws: {
        ($0 as? FileVersionError)?.code == .fileExists
      }
      // A version of one file isn't removed as one of another.
      try fixture.write("a", "2")
      try await fixture.versions.addVersion(of: file)
      await #expect { try await fixture.versions.remove(version, of: file) } throws: {
        ($0 as? FileVersionError)?.code == .otherFile
      }
      #expect(try await fixture.texts(aside) == ["1"])
    }
  }

  @Test("A changed byte in one record hides one version, which is named")
  func damagedRecord() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let first = try await fixture.versions.addVersion(of: file)
      let second = try await fixture.versions.addVersion(of: file)
      let record = first.url.deletingLastPathComponent().deletingLastPathComponent().appending(path: "record")
      var bytes = try Data(contentsOf: record)
      bytes[10] ^= 1
      try bytes.write(to: record)
      #expect(try await fixture.versions.versions(of: file) == [second])
      #expect(try await fixture.versions.damagedRecords(of: file).map(\.path) == [record.path])
      try await fixture.versions.addVersion(of: file)
      #expect(try await fixture.texts(file) == ["1", "1"])
    }
  }

  /// The deed of another program to a directory of the store.
  enum Damage: CaseIterable, Sendable { case removed, replacedByFile }

  @Test(
    "A directory of the store that's missing, or a file, is named with what to do, and versions are kept again after that",
    arguments: Damage.allCases, ["steps", "contents", "items", "places", "contents/*", "items/*"])
  func damagedStore(damage: Damage, name: String) async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      try await fixture.versions.addVersion(of: file)
      try fixture.write("a", "2")
      var directory = fixture.root.appending(path: "store/\(name)")
      if directory.lastPathComponent == "*" {
        directory.deleteLastPathComponent()
        let inner = try #require(try FileManager.default.contentsOfDirectory(atPath: directory.path).first)
        directory.append(path: inner)
      }
      let aside = fixture.root.appending(path: "aside")
      try FileManager.default.moveItem(at: directory, to: aside)
      if damage == .replacedByFile { try Data("foreign".utf8).write(to: directory) }
      do {
        try await fixture.versions.addVersion(of: file)
        // Missing directories may be made anew.
        #expect(damage == .removed || name == "contents/*")
      } catch let error as FileVersionError {
        #expect(error.code == .damagedVersion && error.message.contains("'\(directory.path)'"), "\(error)")
      }
      #expect(try fixture.text(file) == "2")
      if damage == .replacedByFile { #expect(try String(contentsOf: directory, encoding: .utf8) == "foreign") }
      // A program does what the message says.
      try? FileManager.default.removeItem(at: directory)
      try FileManager.default.moveItem(at: aside, to: directory)
      try fixture.write("a", "3")
      try await fixture.versions.addVersion(of: file)
      #expect(try await Set(fixture.texts(file)).isSuperset(of: ["1", "3"]))
    }
  }

  @Test("A main directory of the store that's gone for good is made anew by the second call")
  func lostDirectory() async throws {
    for name in ["steps", "contents", "items", "places"] {
      try await withFixture { fixture in
        let file = try fixture.write("a", "1")
        try await fixture.versions.addVersion(of: file)
        try FileManager.default.removeItem(at: fixture.root.appending(path: "store/\(name)"))
        try fixture.write("a", "2")
        do { try await fixture.versions.addVersion(of: file) } catch let error as FileVersionError {
          #expect(error.code == .damagedVersion)
        }
        try await fixture.versions.addVersion(of: file)
        #expect(try await fixture.texts(file).contains("2"))
      }
    }
  }

  @Test("A directory that's no store, and isn't empty, isn't made one")
  func foreignDirectory() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      let directory = fixture.root.appending(path: "project/steps/1-2.3")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try fixture.write("project/mine", "mine")
      let versions = FileVersions(
        domain: fixture.domain, storage: .directory(fixture.root.appending(path: "project")))
      await #expect { try await versions.addVersion(of: file) } throws: {
        ($0 as? FileVersionError)?.code == .unknownFormat
      }
      #expect(FileManager.default.fileExists(atPath: directory.path))
    }
  }

  @Test("The versions of a deleted file can be removed")
  func forgotten() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      try await fixture.versions.addVersion(of: file)
      try await fixture.versions.addVersion(of: file)
      try FileManager.default.removeItem(at: file)
      let gone = try #require(try await fixture.versions.deletedFile(at: file))
      try await fixture.versions.removeVersions(of: gone)
      #expect(try await fixture.versions.deletedFile(at: file) == nil)
      for name in ["contents", "items"] {
        let left = FileManager.default.enumerator(atPath: fixture.root.path + "/store/" + name)?
          .filter { ($0 as? String).map { $0.count > 3 } ?? false }
        #expect(left?.isEmpty == true)
      }
    }
  }

  @Test("Old versions go as new ones come, if a policy says so")
  func retention() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "0")
      var options = options
      options.retention = FileVersionRetention(countMax: 2)
      var events = try fixture.versions.keepVersions(below: fixture.root, options).makeAsyncIterator()
      #expect(try await keptAtFirst(&events) == ["a"])
      for number in 1...3 {
        try fixture.write("a", "number \(number)")
        #expect(try await keptNext(&events) == file)
      }
      #expect(try await fixture.texts(file) == ["number 3", "number 2"])
    }
  }

  @Test("Files that couldn't be kept are reported once, and kept with what they have then, though they don't change")
  func repeatedAttempts() async throws {
    try await withFixture { fixture in
      let file = try fixture.write("a", "1")
      // A store that another program has damaged, as a disk without room would be: nothing can be kept.
      try await fixture.versions.addVersion(of: file)
      let steps = fixture.root.appending(path: "store/steps")
      try FileManager.default.removeItem(at: steps)
      try fixture.write("store/steps", "no directory")
      try fixture.write("a", "2")
      try fixture.write("b", "b")
      var options = options
      options.retryInterval = .milliseconds(1)
      var events = try fixture.versions.keepVersions(below: fixture.root, options).makeAsyncIterator()
      var (failed, kept): ([String], [String]) = ([], [])
      while kept.count < 2, let event = try await events.next() {
        switch event {
        case .failed(let url, _): failed.append(url.lastPathComponent)
        case .kept(let url, _): kept.append(url.lastPathComponent)
        case .ready:
          #expect(failed.sorted() == ["a", "b"])
          try FileManager.default.removeItem(at: steps)
          try FileManager.default.createDirectory(at: steps, withIntermediateDirectories: false)
        }
      }
      #expect(failed.count == 2 && kept.sorted() == ["a", "b"])
      #expect(try await fixture.texts(file) == ["2", "1"])
    }
  }

  @Test(
    "A directory that's moved away or removed is reported, and one that comes to its path is kept with its histories",
    arguments: [true, false])
  func directoryGone(isMoved: Bool) async throws {
    try await withFixture { fixture in
      let directory = fixture.root.appending(path: "d")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
      let file = try fixture.write("d/a", "1")
      var events = try fixture.versions.keepVersions(below: directory, options).makeAsyncIterator()
      #expect(try await keptAtFirst(&events) == ["a"])
      let aside = fixture.root.appending(path: "aside")
      if isMoved {
        try FileManager.default.moveItem(at: directory, to: aside)
      } else {
        try FileManager.default.removeItem(at: directory)
      }
      guard case .failed(let url, let error)? = try await events.next() else {
        Issue.record("nothing was reported")
        return
      }
      #expect(url.path == directory.path && error.code == .noSuchFile && error.message.contains("If it was moved"))
      if isMoved {
        try fixture.write("aside/a", "2")
        try FileManager.default.moveItem(at: aside, to: directory)
        #expect(try await keptAtFirst(&events) == ["a"])
        #expect(try await fixture.texts(file) == ["2", "1"])
      } else {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        #expect(try await keptAtFirst(&events) == [])
        try fixture.write("d/a", "3")
        #expect(try await keptNext(&events) == file)
      }
    }
  }
}
