import Glibc
import Testing

@testable import SystemInterface

@Suite("A move to another file system leaves both items where names can't be exchanged, or others are at work")
struct MovingAcrossTests {
  /// How a file system keeps what is replaced that can't exchange names.
  enum Keeping: CaseIterable { case link, copy, twoSteps }

  /// A door that can't exchange names: each renaming of a temporary name to `b` is tried once before.
  static func withoutExchange(_ door: any FileSystem, _ keeping: Keeping) -> ScriptedFileSystem {
    let renames = Guarded(0)
    return ScriptedFileSystem(door) { made in
      if made.call == .link, keeping != .link { return .fail(EPERM) }
      if made.call == .open, made.paths == [SystemPath("b")], keeping == .twoSteps { return .fail(EACCES) }
      guard made.call == .rename, made.paths[0].isTemporaryName, made.paths[1] == SystemPath("b") else {
        return .proceed
      }
      return renames.withLock { count in
        count += 1
        return count.isMultiple(of: 2) ? .proceed : .fail(EINVAL)
      }
    }
  }

  @Test(
    "Both places have what they had, and nothing else is left",
    arguments: ItemKind.allCases.flatMap { kind in ItemKind.allCases.map { (kind, $0) } }, Keeping.allCases)
  func originalStays(kinds: (ItemKind, ItemKind), keeping: Keeping) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(kinds.0, "a", marker: "A")
      try sandbox.make(kinds.1, "b", marker: "B")
      let error = errorThrown { () throws(SystemError) in
        try MovingTests.moveInVain(sandbox, Self.withoutExchange(sandbox.files, keeping))
      }
      #expect(error?.errno == EACCES && error?.advice == nil)
      #expect(try sandbox.names() == ["a", "b"])
      #expect(try sandbox.holds(kinds.0, "a", marker: "A"))
      #expect(try sandbox.holds(kinds.1, "b", marker: "B"))
    }
  }

  @Test("A move that isn't refused leaves the item alone", arguments: ItemKind.allCases, Keeping.allCases)
  func replaced(kind: ItemKind, keeping: Keeping) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(kind, "a", marker: "A")
      try sandbox.make(kind, "b", marker: "B")
      try MovingTests.moveAcross(sandbox, Self.withoutExchange(sandbox.files, keeping))
      #expect(try sandbox.names() == ["b"])
      #expect(try sandbox.holds(kind, "b", marker: "A"))
    }
  }

  @Test(
    "Where names can't be exchanged, death at any call of a refused move leaves a file at the place",
    arguments: try await refusedNumbers())
  func deathWithoutExchange(number: Int, keepsByLink: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let root = sandbox.root.description
      await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, number, keepsByLink] in
        try MovingTests.moveInVain(
          Sandbox(root: SystemPath(root)),
          Self.withoutExchange(ScriptedFileSystem.killing(atCall: number), keepsByLink ? .link : .copy))
      }
      #expect(try sandbox.text("a") == "A")
      let names = try sandbox.names().filter { $0 != "a" }
      #expect(names.contains("b"), "\(names)")
      #expect(try names.contains { try sandbox.text($0) == "B" }, "\(names)")
    }
  }

  static func prepare(_ sandbox: Sandbox) throws {
    try sandbox.write("a", "A")
    try sandbox.write("b", "B")
  }

  static func refusedNumbers() async throws -> [(Int, Bool)] {
    var numbers: [(Int, Bool)] = []
    for keepsByLink in [true, false] {
      numbers += try await callNumbers(
        of: { sandbox, door in
          try? MovingTests.moveInVain(sandbox, withoutExchange(door, keepsByLink ? .link : .copy))
        }, prepared: prepare
      ).map { ($0, keepsByLink) }
    }
    return numbers
  }
}

extension MovingAcrossTests {
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
      #expect(error?.errno == EIO && error?.isChangeInPlace == true)
      #expect(try sandbox.names(in: "to") == ["b"])
      #expect(try sandbox.holds(kind, "to/b", marker: "A"))
      let left = try sandbox.names(in: "from")
      #expect(left.count == (kind == .directory ? 1 : 0))
      #expect(error?.leftover == left.first.map { sandbox.path("from/" + $0) })
      if let leftover = error?.leftover { #expect(error?.advice?.contains("'\(leftover)'") == true) }
    }
  }
}
