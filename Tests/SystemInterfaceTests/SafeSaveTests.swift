import Glibc
import Testing

@testable import SystemInterface

@Suite("A safe save keeps everything about the file but its contents")
struct SafeSaveTests {
  @Test("The contents are replaced, whatever their length", arguments: [0, 1, 4096, 1_000_000])
  func contents(size: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      try sandbox.files.replaceContents(of: path, with: [UInt8](repeating: 7, count: size))
      #expect(try sandbox.files.contents(of: path) == [UInt8](repeating: 7, count: size))
      #expect(try sandbox.names() == ["file"])
    }
  }

  @Test("A new file gets the mode any new file gets")
  func newFile() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.files.withDescriptor(sandbox.path("plain"), flags: [.create, .writeOnly], mode: 0o666) {
        _ throws(SystemError) in
      }
      try sandbox.files.replaceContents(of: sandbox.path("saved"), with: [1, 2])
      #expect(try sandbox.status("saved")?.mode == sandbox.status("plain")?.mode)
      #expect(try sandbox.files.contents(of: sandbox.path("saved")) == [1, 2])
      #expect(try sandbox.names() == ["plain", "saved"])
    }
  }

  @Test("The mode is kept", arguments: [0o400, 0o600, 0o444, 0o755, 0o4755, 0o2750, 0o1644] as [UInt32])
  func mode(mode: UInt32) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      try sandbox.withFile("file") { (file) throws(SystemError) in try sandbox.files.setMode(of: file, to: mode) }
      try sandbox.files.replaceContents(of: path, with: [1])
      #expect(try sandbox.status("file")?.mode == mode)
    }
  }

  @Test("Extended attributes are kept")
  func attributes() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      let name = ExtendedAttributeName("user.comment")
      try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(name, of: file, to: [1, 2, 3])
        try sandbox.files.setMode(of: file, to: 0o444)
      }
      try sandbox.files.replaceContents(of: path, with: [1])
      let kept = try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.extendedAttribute(name, of: file)
      }
      #expect(kept == [1, 2, 3])
    }
  }

  @Test("An access list is kept, and the mode with it")
  func accessList() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(.accessList, of: file, to: [UInt8].accessList)
      }
      let before = try sandbox.status("file")?.mode
      try sandbox.files.replaceContents(of: path, with: [1])
      let kept = try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.extendedAttribute(.accessList, of: file)
      }
      #expect(kept == [UInt8].accessList)
      #expect(try sandbox.status("file")?.mode == before)
    }
  }

  @Test("An access list that the directory gives to new files isn't given to an old one")
  func defaultAccessList() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      try sandbox.withFile(".") { (directory) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(.defaultAccessList, of: directory, to: [UInt8].accessList)
      }
      try sandbox.files.replaceContents(of: path, with: [1])
      let names = try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.extendedAttributes(of: file)
      }
      #expect(!names.contains(.accessList))
      #expect(try sandbox.status("file")?.mode == 0o644)
    }
  }

  @Test("The owner is kept with the set-id bits, where that is permitted", .enabled(if: getuid() == 0))
  func owner() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.writeSetIDFile(owner: 12345)
      try sandbox.files.replaceContents(of: path, with: [1])
      let status = try #require(try sandbox.status("file"))
      #expect(status.owner == 12345 && status.group == 12345 && status.mode == 0o6755)
    }
  }

  @Test("Where the owner can't be kept, the set-id bits are dropped", .enabled(if: getuid() == 0))
  func ownerNotPermitted() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.writeSetIDFile(owner: 12345)
      let door = ScriptedFileSystem { $0.call == .setDescriptorOwner ? .fail(EPERM) : .proceed }
      try door.replaceContents(of: path, with: [1])
      let status = try #require(try sandbox.status("file"))
      #expect(status.owner == 0 && status.mode == 0o755)
      #expect(try sandbox.files.contents(of: path) == [1])
    }
  }

  @Test("An attribute that the system keeps may be refused, one of the user's may not")
  func refusedAttributes() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(.accessList, of: file, to: [UInt8].accessList)
      }
      let door = ScriptedFileSystem { $0.call == .setAttribute ? .fail(EOPNOTSUPP) : .proceed }
      try door.replaceContents(of: path, with: [1])
      #expect(try sandbox.files.contents(of: path) == [1])
      try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(ExtendedAttributeName("user.x"), of: file, to: [1])
      }
      #expect(throws: SystemError(.setAttribute, paths: [path], errno: EOPNOTSUPP)) {
        try door.replaceContents(of: path, with: [2])
      }
      #expect(try sandbox.files.contents(of: path) == [1])
    }
  }

  @Test("A file whose permissions don't allow writing is replaced only with an explicit option")
  func readOnlyFile() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      let door = ScriptedFileSystem { $0.call == .writePermission ? .fail(EACCES) : .proceed }
      let error = errorThrown { () throws(SystemError) in try door.replaceContents(of: path, with: [1]) }
      #expect(error?.errno == EACCES && error?.paths == [path])
      #expect(error?.advice?.contains("'.replacesReadOnly'") == true)
      #expect(try sandbox.text("file") == "old")
      #expect(try sandbox.names() == ["file"])
      try door.replaceContents(of: path, with: Array("new".utf8), permission: .ignored)
      #expect(try sandbox.text("file") == "new")
      // A sandbox that refuses an unknown call doesn't make the file one that can't be written.
      let unknowing = ScriptedFileSystem { $0.call == .writePermission ? .fail(EPERM) : .proceed }
      try unknowing.replaceContents(of: path, with: Array("newer".utf8))
      #expect(try sandbox.text("file") == "newer")
    }
  }

  @Test("Another hard link keeps the old contents")
  func hardLink() async throws {
    try await withTemporaryDirectory { sandbox in
      let (path, other) = (try sandbox.write("file", "old"), sandbox.path("other"))
      try sandbox.files.link(path, at: .workingDirectory, to: other, at: .workingDirectory, links: .noFollow)
      try sandbox.files.replaceContents(of: path, with: Array("new".utf8))
      #expect(try sandbox.text("other") == "old")
      #expect(try sandbox.text("file") == "new")
    }
  }

  @Test(
    "A name of 255 bytes and one that isn't UTF-8 can be saved, with and without O_TMPFILE", arguments: [true, false])
  func names(hasUnnamed: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      for bytes in [[UInt8](repeating: 0x61, count: 255), [0xFF, 0xFE]] {
        let door: any FileSystem =
          hasUnnamed
          ? sandbox.files : ScriptedFileSystem { $0.paths == [SystemPath(".")] ? .fail(EOPNOTSUPP) : .proceed }
        let path = sandbox.root.appending(SystemPath(bytes: bytes))
        try door.replaceContents(of: path, with: [1])
        try door.replaceContents(of: path, with: [2])
        #expect(try sandbox.files.contents(of: path) == [2])
      }
      #expect(try sandbox.names().count == 2)
    }
  }

  @Test("Without /proc the temporary file gets a name from the start")
  func noProc() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      try ScriptedFileSystem { $0.call == .link ? .fail(ENOENT) : .proceed }.replaceContents(of: path, with: [1])
      #expect(try sandbox.files.contents(of: path) == [1])
      #expect(try sandbox.names() == ["file"])
    }
  }

  @Test("The file reaches the disk before it gets the name, and the directory after")
  func order() async throws {
    try await withTemporaryDirectory { sandbox in
      let door = ScriptedFileSystem.watching()
      try door.replaceContents(of: sandbox.write("file", "old"), with: [1])
      let steps: Set<SystemCall> = [.write, .setMode, .synchronize, .link, .rename]
      #expect(
        door.log.map(\.call).filter { steps.contains($0) }
          == [.write, .setMode, .synchronize, .link, .rename, .synchronize])
    }
  }

  @Test("Short writes are continued", arguments: [1, 7, 4095])
  func shortWrites(count: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "old")
      let contents = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
      try ScriptedFileSystem { _ in .shortWrite(count) }.replaceContents(of: path, with: contents)
      #expect(try sandbox.files.contents(of: path) == contents)
    }
  }

  @Test(
    "An item that isn't a regular file is refused with advice",
    arguments: [("directory", EISDIR), ("link", EINVAL), ("pipe", EINVAL)])
  func refusals(name: String, errno: Int32) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("directory")
      try sandbox.link("link", to: "directory")
      mkfifo(sandbox.path("pipe").description, 0o600)
      let error = #expect(throws: SystemError.self) {
        try sandbox.files.replaceContents(of: sandbox.path(name), with: [])
      }
      #expect(error?.errno == errno)
      #expect(error?.paths == [sandbox.path(name)])
      #expect(error?.advice != nil)
    }
  }
}

extension Sandbox {
  fileprivate func writeSetIDFile(owner: UInt32) throws -> SystemPath {
    let path = try write("file", "old")
    try withFile("file") { (file) throws(SystemError) in
      try files.setOwner(of: file, to: owner, group: owner)
      try files.setMode(of: file, to: 0o6755)
    }
    return path
  }
}

extension ExtendedAttributeName {
  static let accessList = ExtendedAttributeName("system.posix_acl_access")
  static let defaultAccessList = ExtendedAttributeName("system.posix_acl_default")
}

extension [UInt8] {
  /// `user::rw-, user:12345:rw-, group::r--, mask::rw-, other::r--` as the kernel stores it (version 2, see acl(5)).
  static let accessList: [UInt8] = {
    let entries: [(tag: UInt8, permissions: UInt8, id: [UInt8])] = [
      (1, 6, [255, 255, 255, 255]), (2, 6, [0x39, 0x30, 0, 0]), (4, 4, [255, 255, 255, 255]),
      (16, 6, [255, 255, 255, 255]), (32, 4, [255, 255, 255, 255]),
    ]
    return entries.reduce([2, 0, 0, 0]) { $0 + [$1.tag, 0, $1.permissions, 0] + $1.id }
  }()
}
