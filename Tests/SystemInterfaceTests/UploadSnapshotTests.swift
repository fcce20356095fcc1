import Glibc
import Testing

@testable import SystemInterface
@testable import UploadArchives

@Suite("An upload gets a private copy: the file itself, or one archive of a directory")
struct UploadSnapshotTests {
  @Test("A file is copied under its own name into a directory of its own")
  func file() async throws {
    try await withTemporaryDirectory { sandbox in
      let snapshot = try sandbox.files.makeUploadSnapshot(of: try sandbox.write("file", "text"), in: sandbox.root)
      try sandbox.write("file", "changed")
      #expect(snapshot.item == snapshot.container.appending("file"))
      #expect(snapshot.container.parent == sandbox.root)
      #expect(try sandbox.files.contents(of: snapshot.item) == Array("text".utf8))
      #expect(try sandbox.files.statusIfPresent(of: snapshot.container)?.mode == 0o700)
      try sandbox.files.removeItem(at: snapshot.container)
      #expect(try sandbox.names() == ["file"])
    }
  }

  /// A directory `Tree` with everything an archive has to carry.
  private func makeTree(_ sandbox: Sandbox) throws -> SystemPath {
    try sandbox.makeDirectory("Tree")
    try sandbox.makeDirectory("Tree/empty")
    try sandbox.makeDirectory("Tree/inner")
    try sandbox.write("Tree/inner/naïve ☃.txt", "snow")
    try sandbox.write("Tree/nothing", "")
    try sandbox.write("Tree/large", String(repeating: "0123456789", count: 30_000))
    try sandbox.write("Tree/script", "#!/bin/sh\n")
    try sandbox.link("Tree/link", to: "inner/none")
    mkfifo(sandbox.path("Tree/pipe").description, 0o600)
    for (name, mode) in [("Tree/script", 0o755), ("Tree/large", 0o400), ("Tree/empty", 0o700)] {
      try sandbox.withFile(name) { (file) throws(SystemError) in
        try sandbox.files.setMode(of: file, to: UInt32(mode))
        // 2024-02-29 12:34:56 UTC.
        try sandbox.files.setModificationTime(of: file, to: 1_709_210_096_000_000_000)
      }
    }
    return sandbox.path("Tree")
  }

  @Test("A directory becomes one archive with contents, modes, links, times and empty directories")
  func archive() async throws {
    try await withTemporaryDirectory { sandbox in
      let snapshot = try sandbox.files.makeUploadSnapshot(of: makeTree(sandbox), in: sandbox.root)
      #expect(snapshot.item == snapshot.container.appending("Tree.zip"))
      #expect(snapshot.leftOut == [sandbox.path("Tree/pipe")])
      let members = try ZipReader(sandbox.files.contents(of: snapshot.item)).members
      #expect(
        members.map { String(decoding: $0.name, as: UTF8.self) } == [
          "Tree/", "Tree/large", "Tree/link", "Tree/nothing", "Tree/script", "Tree/empty/", "Tree/inner/",
          "Tree/inner/naïve ☃.txt",
        ])
      #expect(members[1].contents.count == 300_000)
      #expect(members[2].contents == Array("inner/none".utf8))
      #expect(members[7].contents == Array("snow".utf8))
      #expect(members.map(\.mode).dropLast() == [0o40755, 0o100400, 0o120777, 0o100644, 0o100755, 0o40700, 0o40755])
      #expect(members[4].modificationTime == 1_709_210_096)
      #expect(members[4].dosDate == 44 << 9 | 2 << 5 | 29)
      #expect(members[4].dosTime == 12 << 11 | 34 << 5 | 28)
      #expect(members.allSatisfy { $0.isUTF8 && !$0.isLong })
    }
  }

  @Test(
    "Everybody may read an archive if everybody may read all that is in it",
    arguments: [(0o755, 0o644, 0o644), (0o755, 0o640, 0o600), (0o750, 0o644, 0o600), (0o744, 0o644, 0o600)]
      as [(
        directory: UInt32, file: UInt32, archive: UInt32
      )])
  func archiveMode(modes: (directory: UInt32, file: UInt32, archive: UInt32)) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("Tree")
      try sandbox.write("Tree/file", "text")
      for (name, mode) in [("Tree/file", modes.file), ("Tree", modes.directory)] {
        try sandbox.withFile(name) { (file) throws(SystemError) in try sandbox.files.setMode(of: file, to: mode) }
      }
      let snapshot = try sandbox.files.makeUploadSnapshot(of: sandbox.path("Tree"), in: sandbox.root)
      #expect(try sandbox.files.statusIfPresent(of: snapshot.item)?.mode == modes.archive & ~umask)
    }
  }

  /// The permissions that new files don't get.
  private var umask: UInt32 {
    let mask = Glibc.umask(0o022)
    _ = Glibc.umask(mask)
    return mask
  }

  @Test(
    "Other people's tools accept the archive", .enabled(if: Tool.unzip.isPresent || Tool.python.isPresent),
    arguments: [0xFFFF_FFFF, 10] as [UInt64])
  func tools(limit: UInt64) async throws {
    try await withTemporaryDirectory { sandbox in
      let archive = try sandbox.archive(makeTree(sandbox), as: "archive.zip", limit: limit)
      let out = try sandbox.makeDirectory("out")
      if Tool.unzip.isPresent {
        #expect(run("env", "LC_ALL=C.UTF-8", "unzip", "-t", archive.description) == 0)
        #expect(run("env", "LC_ALL=C.UTF-8", "unzip", archive.description, "-d", out.description) == 0)
        #expect(try sandbox.text("out/Tree/inner/naïve ☃.txt") == "snow")
        #expect(try sandbox.status("out/Tree/script")?.mode == 0o755)
        #expect(try sandbox.status("out/Tree/script")?.modificationTime == 1_709_210_096_000_000_000)
        #expect(try sandbox.target("out/Tree/link") == "inner/none")
        #expect(try sandbox.names(in: "out/Tree/empty") == [])
      }
      if Tool.python.isPresent { #expect(run("python3", "-m", "zipfile", "-t", archive.description) == 0) }
    }
  }

  @Test("Numbers that don't fit 32 bits get 64-bit records", arguments: [1, 10, 200_000] as [UInt64])
  func longRecords(limit: UInt64) async throws {
    try await withTemporaryDirectory { sandbox in
      let archive = try sandbox.archive(makeTree(sandbox), as: "archive.zip", limit: limit)
      let reader = try ZipReader(sandbox.files.contents(of: archive))
      #expect(reader.hasLongEnd)
      #expect(reader.members.contains { $0.isLong })
      #expect(reader.members.count == 8)
    }
  }

  @Test("More than 65,535 members need the 64-bit end record", arguments: [(65_534, false), (65_535, true)])
  func manyMembers(count: Int, isLong: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let status = try #require(try sandbox.status("."))
      let archive = sandbox.path("archive.zip")
      try sandbox.files.withDescriptor(archive, flags: [.create, .writeOnly], mode: 0o600) {
        (output) throws(SystemError) in
        var writer = ZipArchiveWriter(files: sandbox.files, output: output, path: archive)
        for index in 0..<count { try writer.add(Array("\(index)/".utf8), status) }
        try writer.finish()
      }
      let reader = try ZipReader(sandbox.files.contents(of: archive))
      #expect(reader.members.count == count)
      #expect(reader.hasLongEnd == isLong)
    }
  }

  @Test("A file that grows or shrinks while it is read leaves a sound archive", arguments: [0, 5, 900_000])
  func changingFile(size: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("a")
      let file = try sandbox.write("a/file", String(repeating: "x", count: 300_000))
      let door = ScriptedFileSystem { call in
        if call.call == .read { truncate(file.description, size) }
        return .proceed
      }
      let snapshot = try door.makeUploadSnapshot(of: sandbox.path("a"), in: sandbox.root)
      let members = try ZipReader(sandbox.files.contents(of: snapshot.item)).members
      #expect(members[1].contents.count == min(size, 300_000))
    }
  }

  @Test("A name that isn't UTF-8 keeps its bytes and doesn't claim to be UTF-8")
  func arbitraryBytes() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = sandbox.root.appending(SystemPath(bytes: [0xFF]))
      try sandbox.files.makeDirectory(path, at: .workingDirectory, mode: 0o700)
      let snapshot = try sandbox.files.makeUploadSnapshot(of: path, in: sandbox.root)
      let members = try ZipReader(sandbox.files.contents(of: snapshot.item)).members
      #expect(members.map(\.name) == [[0xFF, 0x2F]])
      #expect(members.map(\.isUTF8) == [false])
    }
  }

  @Test("The archive of a directory with a name of 255 bytes gets a name that fits")
  func longName() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.makeDirectory(String(repeating: "n", count: 255))
      let snapshot = try sandbox.files.makeUploadSnapshot(of: path, in: sandbox.root)
      #expect(snapshot.item.lastComponent == SystemPath(String(repeating: "n", count: 251) + ".zip"))
    }
  }

  @Test(
    "A time that a field can't hold is clamped or left out",
    arguments: [
      (-1_000_000_000, -1, 0 << 9 | 1 << 5 | 1), (0, 0, 0 << 9 | 1 << 5 | 1),
      (4_102_444_800_000_000_000, nil, 120 << 9 | 1 << 5 | 1), (.max, nil, 127 << 9 | 12 << 5 | 31),
      (951_782_400_000_000_000, 951_782_400, 20 << 9 | 2 << 5 | 29),
    ] as [(Int64, Int32?, UInt16)])
  func times(time: Int64, seconds: Int32?, date: UInt16) async throws {
    try await withTemporaryDirectory { sandbox in
      var status = try #require(try sandbox.status("."))
      status.modificationTime = time
      let archive = sandbox.path("archive.zip")
      try sandbox.files.withDescriptor(archive, flags: [.create, .writeOnly], mode: 0o600) {
        (output) throws(SystemError) in
        var writer = ZipArchiveWriter(files: sandbox.files, output: output, path: archive)
        try writer.add(Array("x".utf8), status)
        try writer.finish()
      }
      let member = try #require(try ZipReader(sandbox.files.contents(of: archive)).members.first)
      #expect(member.modificationTime == seconds)
      #expect(member.dosDate == date)
    }
  }

  static func prepare(_ sandbox: Sandbox) throws {
    try sandbox.make(.directory, "a", marker: "A")
  }

  static func numbers() async throws -> ClosedRange<Int> {
    try await callNumbers(
      of: { sandbox, door in _ = try door.makeUploadSnapshot(of: sandbox.path("a"), in: sandbox.root) },
      prepared: prepare)
  }

  @Test("An error at any call leaves nothing behind", arguments: try await numbers())
  func failure(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let door = ScriptedFileSystem.failing(call: number, with: ENOSPC)
      if let snapshot = try? door.makeUploadSnapshot(of: sandbox.path("a"), in: sandbox.root) {
        #expect(door.log[number - 1].call == .close)
        #expect(try ZipReader(sandbox.files.contents(of: snapshot.item)).members.count == 4)
      } else {
        #expect(try sandbox.names() == ["a"])
      }
      #expect(door.openDescriptors(failedCall: number) == 0)
    }
  }
}

extension Sandbox {
  fileprivate func archive(_ path: SystemPath, as name: String, limit: UInt64) throws -> SystemPath {
    try files.withDescriptor(self.path(name), flags: [.create, .writeOnly], mode: 0o600) {
      (output) throws(SystemError) in
      let writer = ZipArchiveWriter(files: files, output: output, path: self.path(name), limit: limit)
      var visitor = ArchiveVisitor(files: files, writer: writer)
      try files.withDescriptor(path.parent, flags: .directory) { (parent) throws(SystemError) in
        try files.walkTree(path.lastComponent, at: parent, &visitor)
      }
      try visitor.writer.finish()
    }
    return self.path(name)
  }
}

/// A program that may be missing on a machine.
enum Tool {
  case unzip
  case python

  var isPresent: Bool {
    switch self {
    case .unzip: run("unzip", "-v") == 0
    case .python: run("python3", "--version") == 0
    }
  }
}
