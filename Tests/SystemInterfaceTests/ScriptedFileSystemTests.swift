import Glibc
import Testing

@testable import SystemInterface

@Suite("The scripted door makes any call fail, and remembers all of them")
struct ScriptedFileSystemTests {
  @Test("Calls are numbered from 1 and logged with their paths, failed ones included")
  func log() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "text")
      let door = ScriptedFileSystem.failing(call: 4, with: EIO)
      #expect(throws: SystemError(.read, paths: [path], errno: EIO)) { try door.contents(of: path) }
      #expect(door.log.map(\.number) == [1, 2, 3, 4, 5])
      #expect(door.log.map(\.call) == [.status, .open, .descriptorStatus, .read, .close])
      #expect(door.log.map(\.openedPath) == [nil, nil, path, path, path])
      #expect(door.log[0].paths == [path])
    }
  }

  @Test("A close that fails by script has closed the descriptor all the same, as close(2) does")
  func failingClose() throws {
    let base = ScriptedFileSystem.watching()
    let door = ScriptedFileSystem(base) { $0.call == .close ? .fail(EIO) : .proceed }
    let descriptor = try door.open(.root, at: .workingDirectory, flags: .directory, mode: 0)
    #expect(throws: SystemError(.close, errno: EIO)) { try door.close(descriptor) }
    #expect(base.log.map(\.call) == [.open, .close])
  }

  @Test("A script can end the process before a call")
  func killing() async {
    await #expect(processExitsWith: .signal(SIGKILL)) {
      _ = try ScriptedFileSystem.killing(atCall: 1).contents(of: SystemPath("/proc/self/status"))
    }
  }

  @Test("Every call of the door is logged under its own name")
  func everyCall() async throws {
    try await withTemporaryDirectory { sandbox in
      let door = ScriptedFileSystem { _ in .fail(ENOSYS) }
      let (path, file) = (sandbox.root, FileDescriptor(rawValue: -1))
      let status = try HostFileSystem().status(of: path, at: .workingDirectory, links: .follow)
      var buffer: [UInt8] = [0]
      _ = try? door.open(path, at: file, flags: [], mode: 0)
      _ = try? door.openWithoutSymbolicLinks(path, at: file, flags: [])
      try? door.close(file)
      try? door.lock(file)
      _ = try? door.read(file, into: &buffer)
      _ = try? door.write(file, [1])
      _ = try? door.seek(file, to: 0, .start)
      try? door.truncate(file, to: 0)
      try? door.synchronize(file)
      try? door.clone(file, to: file)
      _ = try? door.copyRange(from: file, to: file, count: 1)
      _ = try? door.status(of: file)
      _ = try? door.status(of: path, at: file, links: .follow)
      try? door.checkWritePermission(of: path, at: file)
      try? door.rename(path, at: file, to: path, at: file, .replacing)
      try? door.link(path, at: file, to: path, at: file, links: .follow)
      try? door.unlink(path, at: file, .file)
      try? door.makeDirectory(path, at: file, mode: 0)
      try? door.makeNode(path, at: file, like: status)
      _ = try? door.readLink(path, at: file)
      try? door.makeSymbolicLink(path, at: file, target: path)
      _ = try? door.readDirectory(file)
      try? door.setMode(of: file, to: 0)
      try? door.setOwner(of: file, to: 0, group: 0)
      try? door.setOwner(of: path, at: file, to: 0, group: 0)
      try? door.setModificationTime(of: file, to: 0)
      try? door.setModificationTime(of: path, at: file, to: 0)
      let name = ExtendedAttributeName("user.x")
      _ = try? door.extendedAttributes(of: file)
      _ = try? door.extendedAttribute(name, of: file)
      _ = try? door.extendedAttribute(name, ofItemAt: path)
      try? door.setExtendedAttribute(name, ofItemAt: path, to: [])
      try? door.setExtendedAttribute(name, of: file, to: [])
      try? door.removeExtendedAttribute(name, of: file)
      #expect(door.log.map(\.call) == SystemCall.allCases)
    }
  }
}
