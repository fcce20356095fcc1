import FileCoordination
import FilePackages
import Foundation
import Glibc
import SystemInterface
import Testing

@testable import FileDocuments

@Suite("Places that can't be written: moves, copies and deletions that are refused", .timeLimit(.minutes(8)))
struct RefusedPlacesTests {
  enum Verb: String, CaseIterable, Sendable {
    case move, rename, duplicate, saveElsewhere, delete

    func perform<Contents>(on document: FileDocument<Contents>, _ fixture: Fixture) async throws {
      switch self {
      case .move: try await document.move(to: fixture.url("other/moved"))
      case .rename: try await document.rename(to: "moved")
      case .duplicate: try await document.duplicate(to: fixture.url("other/moved"))
      case .saveElsewhere: try await document.save(as: fixture.url("other/moved"))
      case .delete: try await document.delete()
      }
    }

    /// The remedy that the error has to name.
    var advice: String { self == .delete ? "permissions" : "another place" }
  }

  static let refusals: [SystemError.Number] = [.permissionDenied, .notPermitted, .readOnlyFileSystem]

  /// Refuses changes of names, as the kernel does in a directory that's another user's, or sticky, or on a volume that's read-only.
  private func files(_ refused: Guarded<SystemError.Number?>) -> ScriptedFileSystem {
    ScriptedFileSystem { made in
      let changesNames: Set<SystemCall> = [.rename, .link, .unlink, .makeDirectory]
      guard changesNames.contains(made.call), let number = refused.withLock({ $0 }) else { return .proceed }
      return .fail(number.rawValue)
    }
  }

  private func check<Contents>(
    _ document: FileDocument<Contents>, _ verb: Verb, _ refused: Guarded<SystemError.Number?>,
    _ number: SystemError.Number, _ fixture: Fixture
  ) async throws {
    let former = document.url
    refused.withLock { $0 = number }
    let names = try fixture.names()
    let error = await #expect(throws: DocumentError.self) { try await verb.perform(on: document, fixture) }
    #expect(error?.code == .notWritable, "\(error.map { "\($0)" } ?? "none")")
    #expect(error?.message.contains(verb.advice) == true, "\(error.map { "\($0)" } ?? "none")")
    #expect(document.url == former && !document.state.conditions.contains(.closed))
    #expect(try fixture.names() == names)
    refused.withLock { $0 = nil }
    try await verb.perform(on: document, fixture)
    if verb != .delete { try await document.close() }
  }

  @Test(
    "CD-40: A file that can't be moved, copied or deleted because of permissions stays, and the error says so and what to do",
    arguments: Verb.allCases, refusals)
  func files(verb: Verb, number: SystemError.Number) async throws {
    let refused = Guarded<SystemError.Number?>(nil)
    try await withFixture(files(refused)) { fixture in
      try FileManager.default.createDirectory(at: fixture.url("other"), withIntermediateDirectories: false)
      let document = try await fixture.open("text")
      try await check(document, verb, refused, number, fixture)
    }
  }

  @Test("CD-40: Neither can a package", arguments: Verb.allCases)
  func packages(verb: Verb) async throws {
    let refused = Guarded<SystemError.Number?>(nil)
    try await withFixture(files(refused)) { fixture in
      try FileManager.default.createDirectory(at: fixture.url("other"), withIntermediateDirectories: false)
      try fixture.makeAlbum()
      let album = try await fixture.openAlbum()
      try await check(album, verb, refused, .permissionDenied, fixture)
    }
  }

  @Test("CD-40: The kernel's own refusals in a directory that this user can't write are such errors")
  func permissions() async throws {
    try await withFixture { fixture in
      try fixture.write("text")
      await #expect(processExitsWith: .success) { [path = fixture.root.path as String] in
        try #require(chmod(path, 0o555) == 0 && chmod(path + "/note.txt", 0o666) == 0)
        // Permissions mean nothing to the superuser.
        if geteuid() == 0 { try #require(setgid(65_534) == 0 && setuid(65_534) == 0) }
        let fixture = Fixture(URL(filePath: path))
        let document = FileDocument(fixture.file, as: .text, options: fixture.options(), in: nil)
        try await document.open()
        #expect(!document.snapshot.isWritable)
        try FileManager.default.createDirectory(at: fixture.spare, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: fixture.spare) }
        let (elsewhere, taken) = (fixture.spare.appending(path: "moved"), fixture.spare.appending(path: "taken"))
        try fixture.write("theirs", to: taken)
        let calls: [@Sendable () async throws -> Void] = [
          { try await document.rename(to: "moved") }, { try await document.move(to: elsewhere) },
          { try await document.move(to: taken, replacing: true) },
          { try await document.duplicate(to: fixture.url("copy")) },
          { try await document.save(as: fixture.url("copy")) },
          { try await document.delete() },
        ]
        for (number, call) in calls.enumerated() {
          let error = await #expect(throws: DocumentError.self) { try await call() }
          #expect(error?.code == .notWritable, "call \(number): \(error.map { "\($0)" } ?? "none")")
        }
        #expect(document.url == fixture.file)
        // The moves to another volume have copied the file, and taken the copies back.
        #expect(!fixture.exists(elsewhere))
        #expect(try fixture.text(of: taken) == "theirs")
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.spare.path) == ["taken"])
        try await document.duplicate(to: elsewhere)
        #expect(try fixture.text(of: elsewhere) == "text" && fixture.text() == "text")
        try await document.close()
      }
    }
  }

  @Test("CD-32: A new file or package that can't be made isn't, and the document stays closed", arguments: refusals)
  func creating(number: SystemError.Number) async throws {
    let refused = Guarded<SystemError.Number?>(number)
    let files = files(refused)
    try await withFixture(files) { fixture in
      let note = FileDocument(fixture.file, as: .text, options: fixture.options(), in: nil)
      let album = FileDocument(fixture.album, as: .package, options: fixture.packageOptions(), in: nil)
      let errors = [
        await #expect(throws: DocumentError.self) { try await note.open(creatingWith: "text") },
        await #expect(throws: DocumentError.self) { try await album.open(creatingWith: PackageTree(files: files)) },
      ]
      for error in errors {
        #expect(
          error?.code == .notWritable && error?.message.contains("another place") == true,
          "\(error.map { "\($0)" } ?? "none")")
      }
      #expect(note.state.openingError == errors[0] && note.state.conditions == .closed)
      #expect(try fixture.names() == [])
      refused.withLock { $0 = nil }
      try await note.open(creatingWith: "text")
      try await album.open(creatingWith: PackageTree(files: files))
      try await note.close()
      try await album.close()
      #expect(try fixture.names() == ["album", "note.txt"])
    }
  }

  @Test(
    "CD-32: A save of a package that can't be written fails with the code by which it's saved elsewhere",
    arguments: refusals)
  func savingPackage(number: SystemError.Number) async throws {
    let refused = Guarded<SystemError.Number?>(nil)
    try await withFixture(files(refused)) { fixture in
      try fixture.makeAlbum()
      let album = try await fixture.openAlbum()
      try await album.edit { tree in
        tree.set("a.txt", "mine")
        tree.set("b.txt", "mine, too")
      }
      refused.withLock { $0 = number }
      let error = await #expect(throws: DocumentError.self) { try await album.save() }
      #expect(
        error?.code == .notWritable && error?.message.contains("save(as:)") == true,
        "\(error.map { "\($0)" } ?? "none")")
      #expect(album.state.savingError?.code == .notWritable && album.hasUnsavedChanges)
      #expect(try fixture.text(of: fixture.album.appending(path: "a.txt")) == "a")
      refused.withLock { $0 = nil }
      try await album.save(as: fixture.url("spare.album"))
      #expect(try fixture.text(of: fixture.url("spare.album/a.txt")) == "mine")
      try await album.close()
    }
  }
}

extension Fixture {
  /// A directory beside the fixture's, which everybody can make.
  fileprivate var spare: URL { FileManager.default.temporaryDirectory.appending(path: root.lastPathComponent) }
}
