import Glibc
import Testing

@testable import SystemInterface

@Suite("New contents whose process has died before they had their place")
struct IncomingLeftoversTests {
  static let incoming = SystemPath.incomingName(for: SystemPath("file")).description
  static let old = "the old contents"
  static let new = [UInt8]("new".utf8)

  /// Saves in each of the ways.
  enum Save: CaseIterable {
    case plain, copying, absent, whereNothingIs, expecting, inspected, exchanging, inOpenDirectory

    func run(_ sandbox: Sandbox, _ door: any FileSystem) throws {
      let path = sandbox.path("file")
      switch self {
      case .plain: try door.replaceContents(of: path, with: new)
      case .copying: try door.replaceContents(of: path, withContentsOf: sandbox.write("source", "new"))
      case .absent:
        try sandbox.files.unlink(path, at: .workingDirectory, .file)
        try door.replaceContents(of: path, with: new)
      case .whereNothingIs:
        try sandbox.files.unlink(path, at: .workingDirectory, .file)
        try door.replaceContents(of: path, with: new, over: .nothing)
      case .expecting:
        let status = try #require(try sandbox.status("file"))
        try door.replaceContents(of: path, with: new, expecting: status)
      case .inspected:
        try door.replaceContents(of: path, with: new, over: .inspected { (_, _) throws(SystemError) in })
      case .exchanging:
        let source = try sandbox.write("source", "new")
        try door.exchangeItem(at: source, with: path) { _ throws(SystemError) in }
      case .inOpenDirectory:
        try door.withDescriptor(sandbox.root, flags: .directory) { (directory) throws(SystemError) in
          try door.replaceContents(of: SystemPath("file"), at: directory, with: new)
        }
      }
    }
  }

  /// Leaves new contents of the file behind, by a process that's killed right before they take their place.
  private func leaveBehind(_ sandbox: Sandbox, named: Bool = false) async throws {
    let path = sandbox.path("file").description
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, named] in
      let door = ScriptedFileSystem { call in
        if call.call == .rename { return .killProcess }
        // A file system without files that have no name.
        return named && call.paths == [SystemPath(".")] ? .fail(EOPNOTSUPP) : .proceed
      }
      try door.replaceContents(of: SystemPath(path), with: [UInt8]("killed".utf8))
    }
    #expect(try sandbox.names() == [Self.incoming, "file"])
  }

  @Test("C-436: The next save takes them, whatever way it goes", arguments: Save.allCases)
  func nextSave(save: Save) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", Self.old)
      try await leaveBehind(sandbox)
      try save.run(sandbox, HostFileSystem())
      #expect(try sandbox.text("file") == "new")
      #expect(try sandbox.names().filter { $0 != "source" } == ["file"])
    }
  }

  @Test("C-436: The same where files have a name from the beginning")
  func named() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", Self.old)
      for _ in 0..<2 {
        try await leaveBehind(sandbox, named: true)
        let door = ScriptedFileSystem { $0.paths == [SystemPath(".")] ? .fail(EOPNOTSUPP) : .proceed }
        try Save.plain.run(sandbox, door)
        #expect(try sandbox.text("file") == "new")
        #expect(try sandbox.names() == ["file"])
      }
    }
  }

  @Test(
    "C-436: A long name that's cut in temporary ones is no exception, and neither is another item with the same beginning"
  )
  func longNames() async throws {
    try await withTemporaryDirectory { sandbox in
      let names = ["a", "b"].map { String(repeating: "n", count: 250) + $0 }
      for name in names { try sandbox.write(name, Self.old) }
      let path = sandbox.path(names[0]).description
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let door = ScriptedFileSystem { $0.call == .rename ? .killProcess : .proceed }
        try door.replaceContents(of: SystemPath(path), with: [1])
      }
      #expect(try sandbox.names().count == 3)
      try HostFileSystem().replaceContents(of: sandbox.path(names[1]), with: Self.new)
      #expect(try sandbox.names() == names)
      #expect(try sandbox.text(names[0]) == Self.old)
    }
  }

  @Test(
    "C-436: Those of a save that's under way stay",
    arguments: Save.allCases.filter { $0 != .absent && $0 != .whereNothingIs })
  func underWay(save: Save) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", Self.old)
      let failures = Guarded(0)
      let isNested = Guarded(false)
      let door = ScriptedFileSystem { call in
        let isFirst = isNested.withLock { isNested in
          defer { isNested = isNested || call.call == .rename }
          return !isNested && call.call == .rename
        }
        if isFirst {
          do {
            try save.run(sandbox, HostFileSystem())
            _ = try HostFileSystem().removeLeftovers(ofSavesOf: path)
            HostFileSystem().removeIncoming(of: path)
            if try !sandbox.names().contains(Self.incoming) { failures.withLock { $0 += 1 } }
          } catch { failures.withLock { $0 += 1 } }
        }
        return .proceed
      }
      try door.replaceContents(of: path, with: [UInt8]("the outer one".utf8))
      #expect(failures.withLock { $0 } == 0)
      #expect(isNested.withLock { $0 })
      #expect(try sandbox.text("file") == "the outer one")
      #expect(try sandbox.names().filter { $0 != "source" } == ["file"])
    }
  }

  @Test("Something else with the name stays, and hinders no save", arguments: ItemKind.allCases)
  func somethingElse(kind: ItemKind) async throws {
    if kind == .file { return }
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", Self.old)
      try sandbox.make(kind, Self.incoming, marker: "theirs")
      let names = try sandbox.names()
      for save in [Save.plain, .expecting, .inspected] {
        try save.run(sandbox, HostFileSystem())
        #expect(try sandbox.text("file") == "new")
        #expect(try sandbox.names() == names)
      }
    }
  }

  @Test("C-436: The new file isn't locked any more once it has its place, even by a process that's forked then")
  func lockEnds() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", Self.old)
      let door = ScriptedFileSystem.watching()
      try Save.plain.run(sandbox, door)
      let log = door.log
      let placed = try #require(log.firstIndex { $0.call == .rename })
      // An explicit end holds for all copies of a descriptor; closing one of them doesn't (flock(2)).
      #expect(log[placed + 1].call == .lock && log[placed + 1].openedPath == log[placed + 2].openedPath)
      #expect(log[placed + 2].call == .close)
    }
  }

  @Test("C-436: Without any, a save makes two calls more, and reads no directory")
  func cost() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", Self.old)
      let door = ScriptedFileSystem.watching()
      try Save.plain.run(sandbox, door)
      #expect(door.log.count { $0.call == .lock } == 2)
      #expect(door.log.count { $0.call == .readDirectory } == 0)
      let checked = ScriptedFileSystem.watching()
      try Save.inspected.run(sandbox, checked)
      #expect(checked.log.count { $0.paths.contains { $0.isIncomingName } } == 1)
      #expect(checked.log.count { $0.call == .lock || $0.call == .readDirectory } == 0)
    }
  }
}
