import Glibc
import Testing

@testable import SystemInterface

@Suite("A move to another file system leaves both items where names can't be exchanged, or others are at work")
struct MovingAcrossTests {
  /// A change that another program makes to a member of the copy.
  enum Deed: CaseIterable {
    case writes, writesAsMuch, writesInThePast, adds, removes

    func carryOut(_ sandbox: Sandbox) throws {
      switch self {
      case .writes: try sandbox.write("b/file", "theirs")
      case .writesAsMuch: try sandbox.write("b/file", "T")
      case .writesInThePast:
        let former = try #require(try sandbox.status("b/file"))
        // The clock of the file system goes in ticks.
        repeat {
          try sandbox.write("b/file", "T")
          try sandbox.withFile("b/file") { (file) throws(SystemError) in
            try sandbox.files.setModificationTime(of: file, to: former.modificationTime)
          }
        } while try sandbox.status("b/file")?.changeTime == former.changeTime
      case .adds: try sandbox.write("b/inner/new", "theirs")
      case .removes: try sandbox.files.unlink(sandbox.path("b/inner/link"), at: .workingDirectory, .file)
      }
    }

    func isThere(_ sandbox: Sandbox) throws -> Bool {
      switch self {
      case .writes: try sandbox.text("b/file") == "theirs"
      case .writesAsMuch, .writesInThePast: try sandbox.text("b/file") == "T"
      case .adds: try sandbox.text("b/inner/new") == "theirs"
      case .removes: try sandbox.text("b/file") == "A" && sandbox.status("b/inner/link") == nil
      }
    }
  }

  @Test(
    "A copy of a directory in which another program has changed something stays, and so does the replaced item",
    arguments: Deed.allCases, [false, true])
  func copyAltered(deed: Deed, replacing: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      try sandbox.withFile("a/file") { (file) throws(SystemError) in
        try sandbox.files.setModificationTime(of: file, to: 1_000_000_001)
      }
      if replacing { try sandbox.make(.directory, "b", marker: "B") }
      let failures = Guarded(0)
      let error = errorThrown { () throws(SystemError) in
        try MovingTests.moveInVain(sandbox, sandbox.files, replacing: replacing) {
          do { try deed.carryOut(sandbox) } catch { failures.withLock { $0 += 1 } }
        }
      }
      #expect(failures.withLock { $0 } == 0)
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
      #expect((try? deed.isThere(sandbox)) == true)
      #expect(error?.errno == EACCES && error?.advice?.contains("Remove one of the two") == true)
      let left = try sandbox.names().first { $0 != "a" && $0 != "b" }
      #expect((left != nil) == replacing)
      if let left {
        #expect(try sandbox.holds(.directory, left, marker: "B"))
        #expect(error?.advice?.contains("'\(left)'") == true)
      }
    }
  }

  @Test(
    "The replaced item goes also if the former directory can't be brought to the disk, and the error names what stays",
    arguments: [ItemKind.file, .directory])
  func formerDirectory(kind: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      for name in ["from", "to"] { try sandbox.makeDirectory(name) }
      try sandbox.make(kind, "from/a", marker: "A")
      try sandbox.make(kind, "to/b", marker: "B")
      let door = ScriptedFileSystem(ScriptedFileSystem.acrossDevices) {
        $0.call == .synchronize && $0.openedPath == sandbox.path("from") ? .fail(EIO) : .proceed
      }
      let error = errorThrown { () throws(SystemError) in
        try door.moveItem(from: sandbox.path("from/a"), to: sandbox.path("to/b"), replacing: true)
      }
      #expect(error?.errno == EIO && error?.advice?.contains("in place") == true)
      #expect(try sandbox.names(in: "to") == ["b"])
      #expect(try sandbox.holds(kind, "to/b", marker: "A"))
      let left = try sandbox.names(in: "from")
      #expect(left.count == (kind == .directory ? 1 : 0))
      for name in left { #expect(error?.advice?.contains("'\(name)'") == true) }
    }
  }
}
