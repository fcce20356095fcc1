import Glibc
import Testing

@testable import SystemInterface
@testable import UploadArchives

@Suite("A copy appears whole or not at all")
struct CopyingTests {
  @Test("An item of any kind is copied to a free name", arguments: ItemKind.allCases)
  func plain(kind: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(kind, "a", marker: "A")
      try sandbox.files.copyItem(from: a, to: sandbox.path("b"), replacing: false)
      #expect(try sandbox.names() == ["a", "b"])
      #expect(try sandbox.holds(kind, "a", marker: "A"))
      #expect(try sandbox.holds(kind, "b", marker: "A"))
      #expect(try sandbox.differences(between: "a", and: "b") == [])
    }
  }

  @Test("A copy of any kind replaces any other when told to", arguments: ItemKind.allCases, ItemKind.allCases)
  func replacing(kind: ItemKind, other: ItemKind) async throws {
    try await withTemporaryDirectory { sandbox in
      let a = try sandbox.make(kind, "a", marker: "A")
      let b = try sandbox.make(other, "b", marker: "B")
      #expect(throws: SystemError(.rename, paths: [a, b], errno: EEXIST)) {
        try sandbox.files.copyItem(from: a, to: b, replacing: false)
      }
      #expect(try sandbox.holds(other, "b", marker: "B"))
      try sandbox.files.copyItem(from: a, to: b, replacing: true)
      #expect(try sandbox.names() == ["a", "b"])
      #expect(try sandbox.holds(kind, "b", marker: "A"))
      #expect(try sandbox.differences(between: "a", and: "b") == [])
    }
  }

  @Test("Bytes arrive by each of the three ways", arguments: CopyWay.allCases, [0, 1, 4096, 700_000])
  func contents(way: CopyWay, size: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      let contents = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try sandbox.files.replaceContents(of: sandbox.path("a"), with: contents)
      try way.door.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      #expect(try sandbox.files.contents(of: sandbox.path("b")) == contents)
      #expect(try sandbox.differences(between: "a", and: "b") == [])
    }
  }

  @Test("Every file and directory reaches the disk before the rename, and the directory above after")
  func order() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      let door = ScriptedFileSystem.watching()
      try door.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      // One file, two directories; then the directory that holds the copy.
      let order = door.log.map(\.call).filter { $0 == .synchronize || $0 == .rename }
      #expect(order == [.synchronize, .synchronize, .synchronize, .rename, .synchronize])
    }
  }

  @Test("Holes stay holes, where they were", arguments: CopyWay.allCases)
  func holes(way: CopyWay) async throws {
    try await withTemporaryDirectory { sandbox in
      let (a, b) = (sandbox.path("a"), sandbox.path("b"))
      try sandbox.files.withDescriptor(a, flags: [.create, .writeOnly], mode: 0o600) { (file) throws(SystemError) in
        for (offset, text) in [(1 << 20, "middle"), (1 << 25, "later")] as [(Int64, String)] {
          _ = try sandbox.files.seek(file, to: offset, .start)
          try sandbox.files.writeAll(Array(text.utf8), to: file)
        }
        try sandbox.files.truncate(file, to: 1 << 30)
      }
      try way.door.copyItem(from: a, to: b, replacing: false)
      let status = try #require(try sandbox.status("b"))
      #expect(status.size == 1 << 30)
      #expect(status.allocatedSize < 1 << 20)
      #expect(try sandbox.differences(between: "a", and: "b") == [])
      let record = try #require(try sandbox.records(of: "b").first)
      #expect(record.data[1 << 20]?.starts(with: "middle".utf8) == true)
      #expect(record.data[1 << 25]?.starts(with: "later".utf8) == true)
    }
  }

  @Test("A file system that can't tell where the holes are gets all the bytes")
  func holesUnknown() async throws {
    try await withTemporaryDirectory { sandbox in
      let (a, b) = (sandbox.path("a"), sandbox.path("b"))
      try sandbox.files.withDescriptor(a, flags: [.create, .writeOnly], mode: 0o600) { (file) throws(SystemError) in
        try sandbox.files.truncate(file, to: 1 << 20)
      }
      let door = ScriptedFileSystem { $0.call == .seek ? .fail(EINVAL) : .proceed }
      try door.copyItem(from: a, to: b, replacing: false)
      #expect(try sandbox.files.contents(of: b) == [UInt8](repeating: 0, count: 1 << 20))
    }
  }

  @Test("Mode, time and attributes of files and directories are kept")
  func metadata() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      for (name, mode, time) in [("a/file", 0o400, 1_000_000_001), ("a/inner", 0o500, 2), ("a", 0o700, 3)] {
        try sandbox.withFile(name) { (item) throws(SystemError) in
          try sandbox.files.setExtendedAttribute(ExtendedAttributeName("user.n"), of: item, to: Array(name.utf8))
          try sandbox.files.setMode(of: item, to: UInt32(mode))
          try sandbox.files.setModificationTime(of: item, to: Int64(time))
        }
      }
      try sandbox.files.setModificationTime(of: sandbox.path("a/inner/link"), at: .workingDirectory, to: 4)
      try sandbox.files.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      #expect(try sandbox.differences(between: "a", and: "b") == [])
      #expect(try sandbox.records(of: "b").map(\.modificationTime) == [3, 1_000_000_001, 2, 4])
      #expect(try sandbox.records(of: "b").map(\.mode) == [0o700, 0o400, 0o500, 0o777])
      let kept = try sandbox.withFile("b/file") { (file) throws(SystemError) in
        try sandbox.files.extendedAttribute(ExtendedAttributeName("user.n"), of: file)
      }
      #expect(kept == Array("a/file".utf8))
    }
  }

  @Test("A FIFO in a tree is copied as a FIFO, without waiting for anybody")
  func specialFiles() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      mkfifo(sandbox.path("a/pipe").description, 0o600)
      try sandbox.files.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: false)
      #expect(try sandbox.status("b/pipe")?.kind == .fifo)
      #expect(try sandbox.differences(between: "a", and: "b") == [])
    }
  }

  @Test("Hard links in a tree become files of their own")
  func hardLink() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("d")
      let (a, b) = (try sandbox.write("d/a", "text"), sandbox.path("d/b"))
      try sandbox.files.link(a, at: .workingDirectory, to: b, at: .workingDirectory, links: .noFollow)
      try sandbox.files.copyItem(from: sandbox.path("d"), to: sandbox.path("e"), replacing: false)
      #expect(try sandbox.differences(between: "d", and: "e") == [])
      #expect(try ["e/a", "e/b"].map { try sandbox.status($0)?.linkCount } == [1, 1])
      #expect(try sandbox.status("e/a")?.inode != sandbox.status("e/b")?.inode)
      // The originals are still one file, and neither copy is that file.
      #expect(try sandbox.status("d/a")?.linkCount == 2)
      try sandbox.write("d/a", "new")
      #expect(try ["d/b", "e/a", "e/b"].map(sandbox.text) == ["new", "text", "text"])
    }
  }

  @Test("A destination without room is named, not the source", arguments: CopyWay.allCases, ["a", "a/file"])
  func fullDestination(way: CopyWay, name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      try sandbox.write("a/file", String(repeating: "A", count: 30_000))
      try sandbox.makeDirectory("disk")
      let full: Set<SystemCall> = [.write, .copyRange, .truncate, .synchronize, .setAttribute, .makeDirectory]
      for call in full {
        let door = ScriptedFileSystem(way.door) { scripted in
          scripted.call == call && !(call == .copyRange && way.avoidsRange) ? .fail(ENOSPC) : .proceed
        }
        let (from, to) = (sandbox.path(name), sandbox.path("disk/a"))
        let error = errorThrown { () throws(SystemError) in
          try door.copyItem(from: from, to: to, replacing: false)
        }
        guard let error else {
          // A file needs no directory, and some ways of copying avoid the call.
          #expect(try sandbox.differences(between: name, and: "disk/a") == [], "\(call)")
          try sandbox.files.removeItem(at: to)
          continue
        }
        #expect(error.errno == ENOSPC)
        #expect(error.paths.count == 1 && error.paths.allSatisfy { $0 == to || $0.isInside(to) }, "\(error)")
        #expect(try sandbox.names(in: "disk") == [])
      }
    }
  }

  @Test(
    "A copy of a directory into itself, or onto what holds it, is refused",
    arguments: [("a", "a/x"), ("a/inner", "a"), ("a", "a")])
  func nesting(from: String, to: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      let error = errorThrown { () throws(SystemError) in
        try sandbox.files.copyItem(from: sandbox.path(from), to: sandbox.path(to), replacing: true)
      }
      #expect(error?.errno == EINVAL)
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
      #expect(try sandbox.names() == ["a"])
    }
  }

  @Test("A copy that a link leads into itself ends")
  func nestingByLink() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      try sandbox.link("alias", to: "a")
      let error = errorThrown { () throws(SystemError) in
        try sandbox.files.copyItem(from: sandbox.path("a"), to: sandbox.path("alias/x"), replacing: false)
      }
      #expect(error?.errno == EINVAL)
      #expect(try sandbox.names(in: "a") == ["file", "inner"])
    }
  }

  @Test("A tree of 2,100 nested directories, deeper than a path can name, is copied and archived, to its bottom")
  func depth() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeNestedDirectories(2100, file: "bottom")
      try sandbox.files.copyItem(from: sandbox.path("d"), to: sandbox.path("copy"), replacing: false)
      #expect(try sandbox.differences(between: "d", and: "copy") == [])
      let records = try sandbox.records(of: "copy")
      #expect(records.count == 2101)
      #expect(records.last?.depth == 2100 && records.last?.data == [0: Array("bottom".utf8)])
      let snapshot = try sandbox.files.makeUploadSnapshot(of: sandbox.path("copy"), in: sandbox.root)
      let members = try ZipReader(sandbox.files.contents(of: snapshot.item)).members
      #expect(members.count == 2101)
      #expect(members.last?.name == Array(("copy/" + String(repeating: "d/", count: 2099) + "bottom").utf8))
      #expect(members.last?.contents == Array("bottom".utf8))
      try sandbox.files.removeItem(at: sandbox.path("copy"))
    }
  }

  static func prepare(_ sandbox: Sandbox) throws {
    try sandbox.make(.directory, "a", marker: "A")
    try sandbox.make(.directory, "b", marker: "B")
  }

  static func copy(_ sandbox: Sandbox, _ door: any FileSystem) throws {
    try door.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: true)
  }

  static func numbers() async throws -> ClosedRange<Int> {
    try await callNumbers(of: copy, prepared: prepare)
  }

  @Test(
    "An error at any call leaves the destination as it was, or replaced as a whole",
    arguments: [ENOSPC, EIO], try await numbers())
  func failure(errno: Int32, number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let door = ScriptedFileSystem.failing(call: number, with: errno)
      let error = errorThrown { () throws(SystemError) in
        try door.copyItem(from: sandbox.path("a"), to: sandbox.path("b"), replacing: true)
      }
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
      if error == nil || error?.advice != nil {
        #expect(try sandbox.holds(.directory, "b", marker: "A"))
      } else {
        #expect(try sandbox.holds(.directory, "b", marker: "B"))
        #expect(try sandbox.names() == ["a", "b"])
      }
      #expect(door.openDescriptors(failedCall: number) == 0)
    }
  }

  @Test("Death at any call leaves the old destination or the new one", arguments: try await numbers())
  func death(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let root = sandbox.root.description
      await #expect(processExitsWith: .signal(SIGKILL)) { [root = root as String, number] in
        try Self.copy(Sandbox(root: SystemPath(root)), ScriptedFileSystem.killing(atCall: number))
      }
      let (old, new) = (
        try sandbox.holds(.directory, "b", marker: "B"), try sandbox.holds(.directory, "b", marker: "A")
      )
      #expect(old != new)
      #expect(try sandbox.holds(.directory, "a", marker: "A"))
    }
  }
}

/// How bytes get from one file to the other.
enum CopyWay: CaseIterable {
  case best
  case byRange
  case byHand
  case byHandInPieces

  /// Whether the kernel is kept from copying, so that another call finds the disk full.
  var avoidsRange: Bool { self == .byHand || self == .byHandInPieces }

  var door: any FileSystem {
    switch self {
    case .best: HostFileSystem()
    case .byRange: ScriptedFileSystem { $0.call == .clone ? .fail(EOPNOTSUPP) : .shortWrite(100_000) }
    case .byHand: ScriptedFileSystem { [.clone, .copyRange].contains($0.call) ? .fail(EXDEV) : .proceed }
    case .byHandInPieces:
      ScriptedFileSystem { [.clone, .copyRange].contains($0.call) ? .fail(ENOSYS) : .shortWrite(10_001) }
    }
  }
}
