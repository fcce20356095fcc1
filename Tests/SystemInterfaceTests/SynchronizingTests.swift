import Glibc
import TestSupport
import Testing

@testable import SystemInterface

@Suite("Bringing items to the disk")
struct SynchronizingTests {
  @Test("Every file and directory is synchronised, what is in a directory before it, and links and pipes aren't opened")
  func order() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.make(.directory, "a", marker: "A")
      let files = HostFileSystem()
      try files.makeSymbolicLink(sandbox.path("a/link"), at: .workingDirectory, target: SystemPath("nowhere"))
      #expect(mkfifo(sandbox.path("a/pipe").description, 0o600) == 0)
      let door = ScriptedFileSystem.watching()
      try door.synchronizeItem(at: sandbox.path("a"))
      // One file, two directories.
      #expect(door.log.map(\.call).filter { $0 == .synchronize }.count == 3)
      let opened = door.log.filter { $0.call == .open }.flatMap(\.paths).map(\.lastComponent)
      #expect(!opened.contains(SystemPath("link")) && !opened.contains(SystemPath("pipe")))
    }
  }

  @Test("Several are brought to the disk, and an error of one is reported when all have ended")
  func several() async throws {
    try await withTemporaryDirectory { sandbox in
      let names = ["a", "b", "c", "d"]
      for name in names { try sandbox.files.replaceContents(of: sandbox.path(name), with: [1]) }
      func synchronizeAll(_ files: any FileSystem, _ missing: Int32? = nil) throws(SystemError) {
        var opened: [FileDescriptor] = []
        defer { for file in opened { try? files.close(file) } }
        for name in names + ["."] {
          opened.append(try files.open(sandbox.path(name), at: .workingDirectory, flags: [], mode: 0))
        }
        try files.synchronizeAll(missing.map { [FileDescriptor(rawValue: $0)] + opened } ?? opened)
      }
      try synchronizeAll(HostFileSystem())
      try HostFileSystem().synchronizeAll([])
      #expect(throws: SystemError.self) { try synchronizeAll(HostFileSystem(), -1) }
      #expect(throws: SystemError.self) { try HostFileSystem().synchronizeByThreads([FileDescriptor(rawValue: -1)]) }
      let door = ScriptedFileSystem.watching()
      try synchronizeAll(door)
      let synchronized = door.log.filter { $0.call == .synchronize }.compactMap(\.openedPath)
      #expect(synchronized == (names + ["."]).map(sandbox.path))
      // A pipe has nothing that could get to a disk, and says so.
      var ends: [Int32] = [0, 0]
      #expect(pipe(&ends) == 0)
      defer { for end in ends { close(end) } }
      try HostFileSystem().synchronizeAll(ends.map { FileDescriptor(rawValue: $0) })
      try HostFileSystem().synchronizeByThreads(ends.map { FileDescriptor(rawValue: $0) })
    }
  }

  @Test(
    "However many there are, and whichever of them can't be brought to the disk, that one's error is reported",
    arguments: [1, 2, 16, 32, 33, 34, 60])
  func many(count: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      let files = HostFileSystem()
      try files.replaceContents(of: sandbox.path("a"), with: [1])
      try files.withDescriptor(sandbox.path("a"), flags: []) { (file) throws(SystemError) in
        let all = [FileDescriptor](repeating: file, count: count)
        try files.synchronizeAll(all)
        try files.synchronizeByThreads(all)
        for index in all.indices {
          var wrong = all
          wrong[index] = FileDescriptor(rawValue: -1)
          for synchronize in [files.synchronizeAll, files.synchronizeByThreads] {
            do throws(SystemError) {
              try synchronize(wrong)
              Issue.record("\(index) of \(count) isn't open")
            } catch { #expect(error.errno == EBADF) }
          }
        }
      }
    }
  }

  @Test("Many threads bring files to the disk at the same time, and each gets its own outcome")
  func threads() async throws {
    try await withTemporaryDirectory { sandbox in
      let files = HostFileSystem()
      try files.replaceContents(of: sandbox.path("a"), with: [1])
      let file = try files.open(sandbox.path("a"), at: .workingDirectory, flags: [], mode: 0)
      defer { try? files.close(file) }
      let failures = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<64 {
          group.addTask {
            let isWrong = number % 2 == 1
            let all = [file, file, isWrong ? FileDescriptor(rawValue: -1) : file]
            do throws(SystemError) {
              try HostFileSystem().synchronizeAll(all)
              return isWrong
            } catch { return !isWrong || error.errno != EBADF }
          }
        }
        return await group.reduce(into: 0) { count, isFailure in count += isFailure ? 1 : 0 }
      }
      #expect(failures == 0)
    }
  }

  @Test("A file that isn't there is an error, and one whose data can't be brought to the disk")
  func errors() async throws {
    try await withTemporaryDirectory { sandbox in
      #expect(throws: SystemError.self) { try HostFileSystem().synchronizeItem(at: sandbox.path("none")) }
      try sandbox.files.replaceContents(of: sandbox.path("a"), with: [1])
      let door = ScriptedFileSystem { $0.call == .synchronize ? .fail(EIO) : .proceed }
      #expect(throws: SystemError.self) { try door.synchronizeItem(at: sandbox.path("a")) }
    }
  }
}
