import Glibc
import Testing

@testable import SystemInterface

@Suite("A move leaves exactly one item, under the old name or the new one")
struct MovingTests {
  @Test("An item of any kind moves to a free name", arguments: ItemKind.allCases)
  func plain(kind: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(kind, "a", marker: "A")
      try sandbox.files.moveItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      #expect(try sandbox.names() == ["b"])
      #expect(try sandbox.holds(kind, "b", marker: "A"))
    }
  }

  @Test("Any kind replaces any other when told to", arguments: ItemKind.allCases, ItemKind.allCases)
  func replacing(kind: ItemKind, other: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(kind, "a", marker: "A")
      try sandbox.make(other, "b", marker: "B")
      try sandbox.files.moveItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: true)
      #expect(try sandbox.names() == ["b"])
      #expect(try sandbox.holds(kind, "b", marker: "A"))
    }
  }

  @Test("Nothing is replaced when not told to", arguments: ItemKind.allCases, ItemKind.allCases)
  func exclusive(kind: ItemKind, other: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(kind, "a", marker: "A")
      let b = try sandbox.make(other, "b", marker: "B")
      #expect(throws: SystemError(.rename, paths: [a, b], errno: EEXIST)) {
        try sandbox.files.moveItem(from: a, to: b, replacing: false)
      }
      #expect(try sandbox.holds(kind, "a", marker: "A"))
      #expect(try sandbox.holds(other, "b", marker: "B"))
    }
  }

  @Test(
    "Where the file system can't rename exclusively, the name is still taken only if free",
    arguments: ItemKind.allCases, [EINVAL, ENOSYS])
  func withoutExclusiveRename(kind: ItemKind, errno: Int32) async throws {
    try await withTemporaryDirectory { sandbox in
      let (a, b) = (try sandbox.make(kind, "a", marker: "A"), sandbox.path("b"))
      try ScriptedFileSystem.failing(.rename, times: [1], with: errno).moveItem(from: a, to: b, replacing: false)
      #expect(try sandbox.names() == ["b"])
      #expect(try sandbox.holds(kind, "b", marker: "A"))
      try sandbox.make(kind, "a", marker: "second")
      let error = errorThrown { () throws(SystemError) in
        try ScriptedFileSystem.failing(.rename, times: [1], with: errno).moveItem(from: a, to: b, replacing: false)
      }
      #expect(error?.errno == EEXIST)
      #expect(try sandbox.holds(kind, "b", marker: "A"))
      #expect(try sandbox.names() == ["a", "b"])
    }
  }

  @Test(
    "Where the file system can't swap, the displaced item is moved aside, and back if need be",
    arguments: [false, true])
  func withoutExchange(renameFails: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(.directory, "a", marker: "A")
      let b = try sandbox.make(.directory, "b", marker: "B")
      // Renames: over the directory (ENOTEMPTY), swap, aside, into place.
      let times: Set<Int> = renameFails ? [2, 4] : [2]
      let error = errorThrown { () throws(SystemError) in
        try ScriptedFileSystem.failing(.rename, times: times, with: EINVAL).moveItem(from: a, to: b, replacing: true)
      }
      #expect((error != nil) == renameFails)
      #expect(try sandbox.names() == (renameFails ? ["a", "b"] : ["b"]))
      #expect(try sandbox.holds(.directory, "b", marker: renameFails ? "B" : "A"))
    }
  }

  @Test(
    "When only a step after a move or a copy fails, the error says that it's done, and where the replaced item is",
    arguments: [SystemCall.unlink, .synchronize], [true, false])
  func replacedStays(call: SystemCall, isMove: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(.directory, "a", marker: "A")
      let b = try sandbox.make(.directory, "b", marker: "B")
      let isPlaced = Guarded(false)
      let door = ScriptedFileSystem { [b] made in
        if made.call == .rename, made.paths.contains(b.lastComponent) { isPlaced.withLock { $0 = true } }
        return made.call == call && isPlaced.withLock { $0 } ? .fail(EIO) : .proceed
      }
      let error = errorThrown { () throws(SystemError) in
        if isMove {
          try door.moveItem(from: a, to: b, replacing: true)
        } else {
          try door.copyItem(from: a, to: b, replacing: true)
        }
      }
      #expect(error?.errno == EIO && error?.isChangeInPlace == true)
      #expect(try sandbox.holds(.directory, "b", marker: "A"))
      let left = try #require(try sandbox.names().first { $0 != "a" && $0 != "b" })
      #expect(error?.leftover == sandbox.path(left))
      #expect(error?.advice?.contains("'\(sandbox.path(left))'") == true)
      #expect(try sandbox.holds(.directory, left, marker: "B"))
    }
  }

  @Test("An item inside the other one is refused, in both directions", arguments: [("a", "a/x"), ("a/x", "a")])
  func nesting(from: String, to: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      try sandbox.make(.directory, "a/x", marker: "X")
      let error = errorThrown { () throws(SystemError) in
        try sandbox.files.moveItem(from: sandbox.path(from), to: sandbox.path(to), replacing: true)
      }
      #expect(error?.errno == EINVAL)
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
      #expect(try sandbox.holds(.directory, "a/x", marker: "X"))
    }
  }

  @Test("A move to its own name changes nothing", arguments: ItemKind.allCases)
  func ownName(kind: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(kind, "a", marker: "A")
      try sandbox.files.moveItem(from: a, to: a, replacing: true)
      #expect(try sandbox.names() == ["a"])
      #expect(try sandbox.holds(kind, "a", marker: "A"))
    }
  }

  @Test("Both directories reach the disk after the rename")
  func order() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("to")
      let door = ScriptedFileSystem.watching()
      try door.moveItem(from: sandbox.write("a", "A"), to: sandbox.path("to/a"), replacing: true)
      let order = door.log.map(\.call).filter { $0 == .synchronize || $0 == .rename }
      #expect(order == [.rename, .synchronize, .synchronize])
    }
  }

  @Test("To another file system an item is copied, then removed", arguments: ItemKind.allCases, [false, true])
  func otherFileSystem(kind: ItemKind, replacing: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(kind, "a", marker: "A")
      if replacing { try sandbox.make(.directory, "b", marker: "B") }
      try ScriptedFileSystem.acrossDevices.moveItem(from: a, to: sandbox.path("b"), replacing: replacing)
      #expect(try sandbox.names() == ["b"])
      #expect(try sandbox.holds(kind, "b", marker: "A"))
    }
  }

  @Test("A real move between two file systems works both ways", .enabled(if: isOtherDevice("/dev/shm")))
  func realOtherFileSystem() async throws {
    try await withTemporaryDirectory { disk in
      try await withTemporaryDirectory(in: "/dev/shm") { memory in
        for kind in ItemKind.allCases {
          try disk.make(kind, "a", marker: "A")
          try disk.files.moveItem(from: disk.path("a"), to: memory.path("b"), replacing: false)
          #expect(try memory.holds(kind, "b", marker: "A"))
          try disk.files.moveItem(from: memory.path("b"), to: disk.path("c"), replacing: true)
          #expect(try disk.names() == ["c"])
          #expect(try memory.names() == [])
          #expect(try disk.holds(kind, "c", marker: "A"))
        }
      }
    }
  }

  static func numbers() async throws -> ClosedRange<Int> {
    try await callNumbers(of: moveAcross, prepared: prepare)
  }

  static func prepare(_ sandbox: Sandbox) throws {
    try sandbox.make(.directory, "a", marker: "A")
    try sandbox.make(.directory, "b", marker: "B")
  }

  static func moveAcross(_ sandbox: Sandbox, _ door: any FileSystem) throws {
    let across = ScriptedFileSystem(door) { $0.isRename(of: "a", to: "b") ? .fail(EXDEV) : .proceed }
    try across.moveItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: true)
  }

  /// Refuses the removal of the original.
  static func moveInVain(
    _ sandbox: Sandbox, _ door: any FileSystem, with errno: Int32 = EACCES, replacing: Bool = true,
    before refusal: @escaping @Sendable () -> Void = {}
  ) throws(SystemError) {
    let refusing = ScriptedFileSystem(door) { made in
      if made.isRename(of: "a", to: "b") { return .fail(EXDEV) }
      guard made.paths.first == SystemPath("a"), made.call == .unlink || made.call == .rename else { return .proceed }
      // The kernel looks at the kind first, if it's allowed to remove something there.
      if errno == EBUSY, made.call == .unlink { return .proceed }
      refusal()
      return .fail(errno)
    }
    try refusing.moveItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: replacing)
  }

  @Test("An error at any call of a move to another file system loses neither item", arguments: try await numbers())
  func failure(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let door = ScriptedFileSystem.failing(call: number, with: EIO)
      let succeeded = (try? Self.moveAcross(sandbox, door)) != nil
      let moved = try sandbox.holds(.directory, "b", marker: "A")
      #expect(moved || !succeeded)
      if !moved {
        #expect(try sandbox.holds(.directory, "a", marker: "A"))
        #expect(try sandbox.holds(.directory, "b", marker: "B"))
        #expect(try sandbox.names() == ["a", "b"])
      }
      #expect(door.openDescriptors(failedCall: number) == 0)
    }
  }

  @Test("Death at any call of a move to another file system loses no item", arguments: try await numbers())
  func death(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let root = sandbox.root.description
      await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, number] in
        try Self.moveAcross(Sandbox(root: SystemPath(root)), ScriptedFileSystem.killing(atCall: number))
      }
      let moved = try sandbox.holds(.directory, "b", marker: "A")
      let isUntouched = try sandbox.holds(.directory, "a", marker: "A") && sandbox.holds(.directory, "b", marker: "B")
      #expect(moved || isUntouched)
    }
  }
}

extension MovingTests {
  @Test(
    "A move to another file system that leaves the original there, since it can't be removed, changes nothing",
    arguments: ItemKind.allCases, [ItemKind?.none] + ItemKind.allCases)
  func originalStays(kind: ItemKind, other: ItemKind?) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(kind, "a", marker: "A")
      if let other { try sandbox.make(other, "b", marker: "B") }
      let names = try sandbox.names()
      let error = errorThrown { () throws(SystemError) in try Self.moveInVain(sandbox, sandbox.files) }
      #expect(error?.errno == EACCES && error?.paths == [sandbox.path("a")] && error?.advice == nil)
      #expect(try sandbox.names() == names)
      #expect(try sandbox.holds(kind, "a", marker: "A"))
      if let other { #expect(try sandbox.holds(other, "b", marker: "B")) }
    }
  }

  @Test(
    "A directory that can't get another name stays whole, also without something to replace", arguments: [false, true])
  func busyDirectory(replacing: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      let error = errorThrown { () throws(SystemError) in
        try Self.moveInVain(sandbox, sandbox.files, with: EBUSY, replacing: replacing)
      }
      #expect(error?.errno == EBUSY)
      #expect(try sandbox.names() == ["a"])
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
    }
  }

  @Test(
    "A file that another program has put in the place of the copy stays, and so does the replaced item",
    arguments: [false, true])
  func copyReplaced(isInPlace: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.file, "a", marker: "A")
      try sandbox.make(.file, "b", marker: "B")
      let error = errorThrown { () throws(SystemError) in
        try Self.moveInVain(sandbox, sandbox.files) {
          if !isInPlace { try? sandbox.files.unlink(sandbox.path("b"), at: .workingDirectory, .file) }
          _ = try? sandbox.write("b", "theirs")
        }
      }
      #expect(try sandbox.text("a") == "A" && sandbox.text("b") == "theirs")
      let left = try #require(try sandbox.names().first { $0 != "a" && $0 != "b" })
      #expect(try sandbox.text(left) == "B" && sandbox.names().count == 3)
      #expect(error?.errno == EACCES && error?.advice?.contains("'\(left)'") == true)
      #expect(error?.advice?.contains("Remove one of the two") == true)
    }
  }

  @Test(
    "Death at any call of a refused move to another file system loses neither item",
    arguments: try await refusedNumbers())
  func deathWhileRefused(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let root = sandbox.root.description
      await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, number] in
        try Self.moveInVain(Sandbox(root: SystemPath(root)), ScriptedFileSystem.killing(atCall: number))
      }
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
      let names = try sandbox.names().filter { $0 != "a" }
      // A copy that isn't complete has no marker yet.
      #expect(names.contains { (try? sandbox.holds(.directory, $0, marker: "B")) == true }, "\(names)")
      #expect(names.contains("b"))
    }
  }

  static func refusedNumbers() async throws -> ClosedRange<Int> {
    try await callNumbers(of: { sandbox, door in try? moveInVain(sandbox, door) }, prepared: prepare)
  }
}

func isOtherDevice(_ path: String) -> Bool {
  let files = HostFileSystem()
  let there = try? files.statusIfPresent(of: SystemPath(path))
  return there != nil && there?.device != (try? files.statusIfPresent(of: SystemPath(temporaryDirectory)))?.device
}

extension ScriptedCall {
  func isRename(of name: String, to other: String) -> Bool {
    call == .rename && paths == [SystemPath(name), SystemPath(other)]
  }
}

extension ScriptedFileSystem {
  /// A door through which `a` is on another file system than everything else.
  static var acrossDevices: ScriptedFileSystem {
    ScriptedFileSystem { $0.isRename(of: "a", to: "b") ? .fail(EXDEV) : .proceed }
  }
}
