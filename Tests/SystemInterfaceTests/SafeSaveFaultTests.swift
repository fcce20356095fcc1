import Glibc
import Testing

@testable import SystemInterface

@Suite("The file holds the old contents or the new ones, whatever happens during a safe save")
struct SafeSaveFaultTests {
  static let old = "the old contents"
  static let new = [UInt8](repeating: UInt8(ascii: "n"), count: 10_000)

  /// An old file with everything that makes the save take more calls.
  static func prepare(_ sandbox: Sandbox) throws {
    try sandbox.write("file", old)
    try sandbox.withFile("file") { (file) throws(SystemError) in
      try sandbox.files.setExtendedAttribute(ExtendedAttributeName("user.comment"), of: file, to: [1])
      try sandbox.files.setMode(of: file, to: 0o640)
    }
  }

  static func save(_ sandbox: Sandbox, _ door: any FileSystem) throws {
    try door.replaceContents(of: sandbox.path("file"), with: new)
  }

  static func numbers() async throws -> ClosedRange<Int> {
    try await callNumbers(of: save, prepared: prepare)
  }

  @Test(
    "An error at any call leaves the old contents and no temporary file",
    arguments: [ENOSPC, EROFS, EIO], try await numbers())
  func failure(errno: Int32, number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let door = ScriptedFileSystem.failing(call: number, with: errno)
      let thrown = errorThrown { () throws(SystemError) in
        try door.replaceContents(of: sandbox.path("file"), with: Self.new)
      }
      let renamed = try #require(door.log.firstIndex { $0.call == .rename } ?? door.log.indices.last) + 1
      if thrown != nil && number <= renamed {
        #expect(thrown?.errno == errno)
        #expect(try sandbox.text("file") == Self.old)
      } else {
        // Only closing and synchronising the directory come after the rename; the latter is reported. Whether the file may be
        // written matters only if the answer is no, and without a lock the new file has a random name.
        #expect((thrown == nil) == [.close, .writePermission, .lock].contains(door.log[number - 1].call))
        #expect(try sandbox.files.contents(of: sandbox.path("file")) == Self.new)
      }
      #expect(try sandbox.status("file")?.mode == 0o640)
      #expect(try sandbox.names() == ["file"])
      #expect(door.openDescriptors(failedCall: number) == 0)
    }
  }

  @Test("Death at any call leaves the old contents or the new ones", arguments: try await numbers())
  func death(number: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try Self.prepare(sandbox)
      let path = sandbox.path("file").description
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, number] in
        try ScriptedFileSystem.killing(atCall: number).replaceContents(of: SystemPath(path), with: Self.new)
      }
      let contents = try sandbox.files.contents(of: sandbox.path("file"))
      #expect(contents == Array(Self.old.utf8) || contents == Self.new)
      #expect(try sandbox.status("file")?.mode == 0o640)
      // At most the temporary file is left: it has a name only between two calls.
      #expect(try sandbox.names().count <= 2)
      try Self.save(sandbox, sandbox.files)
      #expect(try sandbox.files.contents(of: sandbox.path("file")) == Self.new)
      #expect(try sandbox.names() == ["file"])
    }
  }
}
