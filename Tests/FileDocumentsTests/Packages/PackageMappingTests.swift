import FileCoordination
import FilePackages
import FileVersions
import Foundation
import SeededRandom
import SystemInterface
import TestSupport
import Testing

@testable import FileDocuments

/// Lets another program act right before a call of a save, once, and notes what is opened.
private final class Onlooker: Sendable {
  private struct State: Sendable {
    var deed: (@Sendable () -> Void)?
    /// How many more calls come before it.
    var left = 0
    var isRename = false
    var opened: [SystemPath] = []
    /// Whether names were changed before the deed.
    var isRenamed = false
  }

  private let state = Guarded(State())

  var files: ScriptedFileSystem {
    ScriptedFileSystem { [self] made in
      let deed = state.withLock { state -> (@Sendable () -> Void)? in
        if made.call == .open, let path = made.paths.last { state.opened.append(path) }
        if state.isRename, made.call != .rename { return nil }
        state.left -= 1
        if state.left < 0, let deed = state.deed.take() { return deed }
        if state.deed != nil { state.isRenamed = state.isRenamed || made.call == .rename }
        return nil
      }
      deed?()
      return .proceed
    }
  }

  func next(beforeCall number: Int, _ deed: @escaping @Sendable () -> Void) {
    state.withLock { $0 = State(deed: deed, left: number) }
  }

  func next(beforeRename deed: @escaping @Sendable () -> Void) {
    state.withLock { $0 = State(deed: deed, isRename: true) }
  }

  func restart() { state.withLock { $0 = State() } }
  var isDone: Bool { state.withLock { $0.deed == nil } }
  var isRenamedBefore: Bool { state.withLock { $0.isRenamed } }
  var opened: [SystemPath] { state.withLock { $0.opened } }
}

@Suite(
  "Members of packages that programs store to in mappings, which changes no date", .timeLimit(.minutes(8)))
struct PackageMappingTests {
  private static let old = ["a.txt": "old text", "b.txt": "b text", "images/1.png": "one"]

  /// A member as another program has mapped it.
  private func map(_ name: String, _ fixture: Fixture) throws -> MappedFile {
    try #require(MappedFile(fixture.album.appending(path: name).path))
  }

  private func alter(_ tree: inout PackageTree, _ count: Int) {
    tree.set("a.txt", "mine")
    if count > 1 { tree.set("c.txt", "mine too") }
  }

  enum Moment: String, CaseIterable, Sendable { case afterReading, afterEditing }

  @Test(
    "CD-76: Text that a program stores in a mapping of a member is found by a save, and kept", arguments: [1, 2],
    Moment.allCases)
  func beforeSave(alteredCount: Int, moment: Moment) async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum()
      if moment == .afterReading {
        #expect(try await document.text("a.txt") == "old text")
        let stamp = try PackageTree(openingPackageAt: SystemPath(fixture.album.path)).stamp()
        mapping.store("theirs, ")
        // Otherwise the test would show nothing.
        #expect(try PackageTree(openingPackageAt: SystemPath(fixture.album.path)).stamp() == stamp)
      }
      try await document.edit { alter(&$0, alteredCount) }
      if moment == .afterEditing { mapping.store("theirs, ") }
      try await document.save()
      var mine = Self.old.merging(["a.txt": "mine"]) { $1 }
      if alteredCount > 1 { mine["c.txt"] = "mine too" }
      #expect(try fixture.members() == mine)
      #expect(try await fixture.albumVersions() == [Self.old.merging(["a.txt": "theirs, "]) { $1 }])
      // It's kept once.
      try await document.edit { $0.set("a.txt", "mine again") }
      try await document.close()
      #expect(try await fixture.albumVersions().count == 1)
    }
  }

  @Test("CD-76: So is text that's stored at any call of a save", arguments: [1, 2])
  func duringSave(alteredCount: Int) async throws {
    var (number, earlyCount, isDone) = (0, 0, true)
    while isDone {
      let onlooker = Onlooker()
      try await withFixture(onlooker.files) { fixture in
        try fixture.makeAlbum(Self.old)
        let mapping = try map("a.txt", fixture)
        let document = try await fixture.openAlbum()
        try await document.edit { alter(&$0, alteredCount) }
        onlooker.next(beforeCall: number) { mapping.store("theirs, ") }
        try await document.save()
        isDone = onlooker.isDone
        let isRenamed = onlooker.isRenamedBefore
        onlooker.restart()
        let found = try await fixture.albumVersions().map { $0["a.txt"] }
        if isDone, !isRenamed { earlyCount += 1 }
        // After the exchange the former file is compared, and is gone then: a later store is lost with it.
        if isDone, isRenamed {
          #expect(found == ["theirs, "] || found == [], "call \(number)")
        } else {
          #expect(found == (isDone ? ["theirs, "] : []), "call \(number)")
        }
        #expect(try fixture.members()["a.txt"] == "mine", "call \(number)")
        try await document.close()
      }
      number += Budget.isLong ? 1 : 3
    }
    #expect(earlyCount > 5)
  }

  @Test("CD-76: In the last instant before the exchange it's found as well", arguments: [1, 2])
  func lastInstant(alteredCount: Int) async throws {
    let onlooker = Onlooker()
    try await withFixture(onlooker.files) { fixture in
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum()
      try await document.edit { alter(&$0, alteredCount) }
      onlooker.next { mapping.store("theirs, ") }
      try await document.save()
      #expect(onlooker.isDone)
      #expect(try fixture.members()["a.txt"] == "mine")
      #expect(try await fixture.albumVersions() == [Self.old.merging(["a.txt": "theirs, "]) { $1 }])
      #expect(try fixture.names() == ["album"])
      try await document.close()
    }
  }

  @Test("CD-76: So is text in members that a save removes", arguments: ["b.txt", "images"], [true, false])
  func removed(removed: String, isInLastInstant: Bool) async throws {
    let onlooker = Onlooker()
    try await withFixture(onlooker.files) { fixture in
      try fixture.makeAlbum(["a.txt": "a", "b.txt": "old text", "images/1.png": "old text"])
      let name = removed == "images" ? "images/1.png" : removed
      let mapping = try map(name, fixture)
      let document = try await fixture.openAlbum()
      try await document.edit { try? $0.remove(SystemPath(removed)) }
      if isInLastInstant { onlooker.next { mapping.store("theirs, ") } } else { mapping.store("theirs, ") }
      try await document.save()
      #expect(onlooker.isDone)
      #expect(try fixture.members()[name] == nil)
      #expect(try await fixture.albumVersions().map { $0[name] } == ["theirs, "])
      try await document.close()
    }
  }

  @Test(
    "CD-76: So is text in members that aren't in the version to which a document goes back", arguments: [true, false])
  func reverted(isInLastInstant: Bool) async throws {
    let onlooker = Onlooker()
    try await withFixture(onlooker.files) { fixture in
      try fixture.makeAlbum(["a.txt": "a"])
      try await fixture.versions.addVersion(of: fixture.album, isPackage: true)
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum()
      #expect(try await document.text("a.txt") == "old text")
      let version = try #require(try await fixture.versions.versions(of: fixture.album)?.last)
      if isInLastInstant { onlooker.next { mapping.store("theirs, ") } } else { mapping.store("theirs, ") }
      try await document.revert(toContentsOf: version.url)
      // It's saved at once.
      try await document.save()
      #expect(onlooker.isDone)
      let found = try await fixture.albumVersions() + [fixture.members()]
      #expect(found.contains { $0["a.txt"] == "theirs, " }, "\(found)")
      try await document.close()
    }
  }

  @Test("CD-76: Text in a member that's moved or not altered is in the package afterwards, and no conflict")
  func linked() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(Self.old)
      let mappings = try ["a.txt", "b.txt", "images/1.png"].map { try map($0, fixture) }
      let document = try await fixture.openAlbum()
      for name in Self.old.keys { _ = try await document.text(name) }
      try await document.edit { tree in
        try? tree.move(SystemPath("a.txt"), to: SystemPath("images/a.txt"))
        try? tree.move(SystemPath("images"), to: SystemPath("pictures"))
        tree.set("c.txt", "mine")
      }
      for mapping in mappings { mapping.store("theirs, ") }
      try await document.save()
      #expect(
        try fixture.members() == [
          "pictures/a.txt": "theirs, ", "b.txt": "theirs", "pictures/1.png": "the", "c.txt": "mine",
        ])
      #expect(try await fixture.albumVersions() == [])
      try await document.close()
    }
  }

  @Test("CD-76, SP-11: A save that can't keep what was stored overwrites nothing, however often it's repeated")
  func unkept() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "mine") }
      mapping.store("theirs, ")
      // The store of versions can't be made.
      try fixture.write("", to: fixture.url("store"))
      for _ in 0..<3 {
        let error = await #expect(throws: DocumentError.self) { try await document.save() }
        #expect(error?.code == .versionNotKept)
        #expect(try fixture.members()["a.txt"] == "theirs, ")
      }
      try FileManager.default.removeItem(at: fixture.url("store"))
      try await document.save()
      #expect(try fixture.members()["a.txt"] == "mine")
      #expect(try await fixture.albumVersions().map { $0["a.txt"] } == ["theirs, "])
      try await document.close()
    }
  }

  @Test(
    "CD-76: Text that's stored in a file which the document itself has written is found by its next save",
    arguments: [1, 2])
  func written(alteredCount: Int) async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(Self.old)
      let document = try await fixture.openAlbum()
      try await document.edit { tree in
        alter(&tree, alteredCount)
        tree.set("a.txt", "mine, first")
      }
      try await document.save()
      let mapping = try map("a.txt", fixture)
      // The first store to a page changes the time, which is as good as a report.
      try await document.edit { $0.set("b.txt", "mine as well") }
      try await document.save()
      let before = try await fixture.albumVersions().count
      mapping.store("theirs, ")
      try await document.edit { $0.set("a.txt", "mine, last") }
      try await document.close()
      #expect(try fixture.members()["a.txt"] == "mine, last")
      let found = try await fixture.albumVersions()
      #expect(found.count == before + 1 && found.contains { $0["a.txt"] == "theirs, rst" }, "\(found)")
    }
  }

  @Test(
    "CD-70: A member that's replaced alone is kept in a version if a program has stored to it",
    arguments: [true, false])
  func memberAlone(isInLastInstant: Bool) async throws {
    let onlooker = Onlooker()
    try await withFixture(onlooker.files) { fixture in
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum()
      #expect(try await document.text("a.txt") == "old text")
      if isInLastInstant {
        onlooker.next { mapping.store("theirs, ") }
        await #expect(throws: DocumentError.self) {
          try await document.replaceMember(SystemPath("a.txt"), with: Data("mine".utf8))
        }
        #expect(try fixture.members()["a.txt"] == "theirs, ")
      } else {
        mapping.store("theirs, ")
      }
      try await document.replaceMember(SystemPath("a.txt"), with: Data("mine".utf8))
      #expect(try fixture.members() == Self.old.merging(["a.txt": "mine"]) { $1 })
      #expect(try await fixture.albumVersions().map { $0["a.txt"] } == ["theirs, "])
      try await document.close()
    }
  }

  @Test("CD-69: The program may merge what another one has stored in a mapping")
  func merged() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum { options in
        options.merge = { trees in
          var merged = trees.theirs
          let name = SystemPath("a.txt")
          try merged.update(name, trees.theirs.contents(of: name) + trees.mine.contents(of: name))
          return .merged(merged)
        }
      }
      try await document.edit { $0.set("a.txt", "mine") }
      mapping.store("theirs, ")
      try await document.save()
      #expect(try fixture.members()["a.txt"] == "theirs, mine")
      try await document.close()
      #expect(try await fixture.albumVersions() == [])
    }
  }

  @Test(
    "CD-69: Text that a coordinating program stores in its mapping of an altered member is a version after its access")
  func withinAccess() async throws {
    try await withFixture { fixture in
      try fixture.makeAlbum(Self.old)
      let mapping = try map("a.txt", fixture)
      let document = try await fixture.openAlbum()
      try await document.edit { $0.set("a.txt", "mine") }
      try await fixture.other.write(fixture.album.appending(path: "a.txt")) { _ in mapping.store("theirs, ") }
      try await document.waitUntil { $0.state.conditions.contains(.inConflict) }
      #expect(try await fixture.albumVersions().map { $0["a.txt"] } == ["theirs, "])
      try await document.close()
      #expect(try fixture.members()["a.txt"] == "mine")
    }
  }

  @Test("T-82: A save opens no member that isn't altered, however many were read before")
  func unalteredMembers() async throws {
    let onlooker = Onlooker()
    try await withFixture(onlooker.files) { fixture in
      let names = (0..<50).map { "\($0).png" }
      try fixture.makeAlbum(Dictionary(uniqueKeysWithValues: names.map { ($0, "picture") }))
      let document = try await fixture.openAlbum()
      for name in names { _ = try await document.text(name) }
      for alteredCount in [1, 2] {
        onlooker.restart()
        try await document.edit { tree in
          for number in 0..<alteredCount { tree.set("\(number).png", "altered \(alteredCount)") }
        }
        try await document.save()
        let opened = Set(onlooker.opened.map(\.lastComponent.description)).intersection(names)
        #expect(opened == Set(names.prefix(alteredCount)))
      }
      try await document.close()
    }
  }
}
