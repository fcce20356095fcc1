import FileVersions
import Foundation
import SystemInterface
import Testing

@Suite("Names of conflict copies")
struct ConflictCopyNameTests {
  struct Example: Sendable, CustomTestStringConvertible {
    let name: String
    let engine: ConflictCopyEngine
    let original: String
    let date: [Int]
    let mention: String?

    init(_ name: String, _ engine: ConflictCopyEngine, _ original: String, _ date: [Int], _ mention: String? = nil) {
      self.name = name
      self.engine = engine
      self.original = original
      self.date = date
      self.mention = mention
    }

    var testDescription: String { name }
  }

  private static let moment = [2026, 1, 2, 3, 4, 5]
  private static let day = [2026, 1, 2]

  static let examples: [Example] = [
    .init("a.sync-conflict-20260102-030405-ABCDEFG.txt", .syncthing, "a.txt", moment, "ABCDEFG"),
    .init("a.sync-conflict-20260102-030405.txt", .syncthing, "a.txt", moment),
    .init("Makefile.sync-conflict-20260102-030405-AB23456", .syncthing, "Makefile", moment, "AB23456"),
    .init(".sync-conflict-20260102-030405-ABCDEFG.bashrc", .syncthing, ".bashrc", moment, "ABCDEFG"),
    .init("a.tar.sync-conflict-20260102-030405-ABCDEFG.gz", .syncthing, "a.tar.gz", moment, "ABCDEFG"),
    .init("a.sync-conflict-20260102-030405-ABCDEFG.", .syncthing, "a.", moment, "ABCDEFG"),
    .init("a (conflicted copy 2026-01-02 030405).", .nextcloud, "a.", moment),
    .init("a (conflicted copy 2026-01-02 030405).txt", .nextcloud, "a.txt", moment),
    .init("a (conflicted copy Jane Doe 2026-01-02 030405).txt", .nextcloud, "a.txt", moment, "Jane Doe"),
    .init(".hidden (conflicted copy 2026-01-02 030405)", .nextcloud, ".hidden", moment),
    .init("a (conflicted copy 2026-01-02 030405).txt", .ownCloud, "a.txt", moment),
    .init("a_conflict-20260102-030405.txt", .ownCloud, "a.txt", moment),
    .init("a_conflict-jane-doe-20260102-030405.txt", .ownCloud, "a.txt", moment, "jane-doe"),
    .init("a (Jane's conflicted copy 2026-01-02).txt", .dropbox, "a.txt", day, "Jane"),
    .init("a (Jane's Mac (2)'s conflicted copy 2026-01-02).txt", .dropbox, "a.txt", day, "Jane's Mac (2)"),
    .init("a (conflicted copy 2026-01-02).txt", .dropbox, "a.txt", day),
    .init("a (Jane's conflicted copy 2026-01-02 (1)).tar.gz", .dropbox, "a.tar.gz", day, "Jane"),
    .init("a (SFConflict jane@example.org 2026-01-02-03-04-05).txt", .seafile, "a.txt", moment, "jane@example.org"),
    .init("a.txt (SFConflict jane@example.org 2026-01-02-03-04-05)", .seafile, "a.txt", moment, "jane@example.org"),
    .init("a.txt (SFConflict 2026-01-02-03-04-05)", .seafile, "a.txt", moment),
    .init("a.txt.conflict1", .rclone, "a.txt", []),
    .init("a.conflict12.txt", .rclone, "a.txt", []),
    .init("a.conflict1.tar.gz", .rclone, "a.tar.gz", []),
    .init("a.txt..path1", .rclone, "a.txt", []),
    .init("a.txt.laptop", .rclone(conflictSuffix: "laptop"), "a.txt", [], "laptop"),
    .init("a.laptop3.txt", .rclone(conflictSuffix: "laptop"), "a.txt", [], "laptop"),
    .init("a.txt..path2", .rclone(conflictSuffix: ".path"), "a.txt", [], ".path"),
  ]

  @Test("CV-31: Each engine's names are recognized, with all that they say", arguments: examples)
  func recognized(example: Example) throws {
    let name = try #require(ConflictCopyName(example.name, engines: [example.engine]))
    #expect(name.engine == example.engine)
    #expect(name.originalName == SystemPath(example.original) && name.originalNames.count == 1)
    let date = name.date
    #expect(
      [date?.year, date?.month, date?.day, date?.hour, date?.minute, date?.second].compactMap(\.self) == example.date)
    #expect(name.mention == example.mention)
    #expect(name.name == SystemPath(example.name))
  }

  static let nearMisses = [
    "a.txt", "", ".", "..", "a.sync-conflict-.txt", "a.sync-conflict-20260102-030405-ABCDEF.txt",
    "a.sync-conflict-20260102-030405-ABCDEF1.txt", "a.sync-conflict-20260102-030405-abcdefg.txt",
    "a.sync-conflict-20261302-030405-ABCDEFG.txt", "a.sync-conflict-20260230-030405-ABCDEFG.txt",
    "a.sync-conflict-20260102-250405-ABCDEFG.txt", "a.sync-conflict-20260102-030405-ABCDEFG.tar.gz",
    "a.txt.sync-conflict-20260102-030405-ABCDEFG", "a-sync-conflict-20260102-030405-ABCDEFG.txt",
    ".sync-conflict-20260102-030405-ABCDEFG",
    "a (conflicted copy).txt", "a(conflicted copy 2026-01-02 030405).txt", "a (conflicted copy 2026-01-02 030405)b.txt",
    "a (Conflicted copy 2026-01-02 030405).txt", "a (conflicted copy 2026-01-02 0304).txt",
    " (conflicted copy 2026-01-02 030405).txt", "a (conflicted copy2026-01-02 030405).txt",
    "a (Jane's conflicted copy).txt", "a (Jane conflicted copy 2026-01-02).txt",
    "a ('s conflicted copy 2026-01-02).txt", "a (Jane's conflicted copy 2026-01-02 (x)).txt",
    "a (conflicted copy 2026-01-02", "a conflicted copy 2026-01-02).txt", "a_conflict-20260102.txt",
    "a_conflict--20260102-030405.txt", "a-conflict-20260102-030405.txt", "a (SFConflict).txt",
    "a (SFConflict jane@example.org).txt", "a (SFConflict jane@example.org 2026-01-02).txt",
    "a.txt(SFConflict jane@example.org 2026-01-02-03-04-05)", "a.txt.conflict", "a.txt.conflict0", "a.txt.conflict01",
    "a.txtconflict1", "a.conflict1.b.tar.gz", ".conflict1", "a.txt.path1", "a.txt..path3", "a.txt..path",
    "d/a.txt.conflict1", "a.sync-conflict-20260102-030405-ABCDEFG..", " (conflicted copy 2026-01-02 030405).",
  ]

  @Test("CV-31: A name that merely looks like that of a copy isn't one", arguments: nearMisses)
  func nearMiss(name: String) { #expect(ConflictCopyName(name) == nil) }

  @Test("CV-31: Only the names of the engines that are asked for are recognized")
  func engines() {
    #expect(ConflictCopyName("a.txt.conflict1", engines: []) == nil)
    #expect(ConflictCopyName("a.txt.conflict1", engines: [.syncthing, .rclone(conflictSuffix: "x")]) == nil)
    let dated = "a (conflicted copy 2026-01-02 030405).txt"
    #expect(ConflictCopyName(dated)?.engine == .nextcloud)
    #expect(ConflictCopyName(dated, engines: [.ownCloud, .dropbox])?.engine == .ownCloud)
  }

  @Test("CV-31: A copy of a copy is one of the first file, or of the copies in between")
  func copiesOfCopies() throws {
    let name = try #require(
      ConflictCopyName(
        "a (conflicted copy 2026-01-02).conflict1.sync-conflict-20260102-030405-ABCDEFG.txt"))
    #expect(
      name.originalNames.map(\.description) == [
        "a.txt", "a (conflicted copy 2026-01-02).txt", "a (conflicted copy 2026-01-02).conflict1.txt",
      ])
    #expect(name.originalName == SystemPath("a.txt") && name.engine == .syncthing)
    let same = try #require(ConflictCopyName("a.txt.conflict1.conflict2.conflict1"))
    #expect(same.originalNames.map(\.description) == ["a.txt", "a.txt.conflict1", "a.txt.conflict1.conflict2"])
  }

  @Test("CV-31: Bytes that aren't UTF-8 stay as they are")
  func bytes() throws {
    let stem: [UInt8] = [0xff, 0x20, 0xc3]
    let name = SystemPath(bytes: stem + Array(".sync-conflict-20260102-030405-ABCDEFG.".utf8) + [0xfe])
    #expect(try #require(ConflictCopyName(name)).originalName == SystemPath(bytes: stem + [UInt8(ascii: "."), 0xfe]))
    let person = SystemPath(bytes: stem + Array(" (".utf8) + [0xff] + Array("'s conflicted copy 2026-01-02)".utf8))
    #expect(try #require(ConflictCopyName(person)).mention == "\u{fffd}")
  }

  @Test("CV-31: Long and odd names cost their length", .timeLimit(.minutes(4)))
  func longNames() {
    for piece in [".conflict1", "(", ")", " (conflicted copy ", ".", "_conflict-"] {
      let name = String(repeating: piece, count: 255 / piece.utf8.count)
      _ = ConflictCopyName(name)
      _ = ConflictCopyName("a" + name)
    }
    #expect(ConflictCopyName("a" + String(repeating: ".conflict1", count: 25))?.originalName == SystemPath("a"))
  }
}
