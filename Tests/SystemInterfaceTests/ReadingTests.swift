import Glibc
import TestSupport
import Testing

@testable import SystemInterface

@Suite("Reading a file never waits for another process", .timeLimit(.minutes(4)))
struct ReadingTests {
  @Test("A FIFO, a socket and a device are refused, without being opened", arguments: ["pipe", "socket", "/dev/zero"])
  func specialFile(name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      mkfifo(sandbox.path("pipe").description, 0o600)
      mknod(sandbox.path("socket").description, S_IFSOCK | 0o600, 0)
      try sandbox.link("link", to: name)
      for path in [sandbox.root.appending(name), sandbox.path("link")] {
        let door = ScriptedFileSystem.watching()
        let error = errorThrown { () throws(SystemError) in _ = try door.contents(of: path) }
        #expect(error?.errno == EINVAL && error?.paths == [path] && error?.advice != nil)
        #expect(!door.log.contains { $0.call == .open })
      }
    }
  }

  @Test("An item that becomes a FIFO after the check makes nobody wait")
  func race() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "text")
      let door = ScriptedFileSystem { call in
        if call.call == .open {
          unlink(path.description)
          mkfifo(path.description, 0o600)
        }
        return .proceed
      }
      let error = errorThrown { () throws(SystemError) in _ = try door.contents(of: path) }
      #expect(error?.errno == EINVAL)
      #expect(door.openDescriptors(failedCall: 0) == 0)
    }
  }

  @Test("A file with a lease is waited for, as without one")
  func lease() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "text")
      let door = ScriptedFileSystem.failing(.open, times: [1], with: EAGAIN)
      #expect(try door.contents(of: path) == Array("text".utf8))
    }
  }
}
