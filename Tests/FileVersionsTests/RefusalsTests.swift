import SystemInterface
import Testing
import VersionStore

@testable import FileVersions

@Suite("Files that can't be replaced although their permissions say so")
struct RefusalsTests {
  private func status(_ mode: UInt32, owner: UInt32) throws -> FileStatus {
    var status = try HostFileSystem().status(of: SystemPath("/"), at: .workingDirectory, links: .noFollow)
    (status.mode, status.owner) = (mode, owner)
    return status
  }

  @Test(
    "The error names the file of the caller, not the one in the making, and says what to do",
    arguments: [
      ["/none/.a.abcdefgh.fcsave", "/none/a"], ["/none/a", "/none/.moved-1"], ["/none/a/."], ["/none/a"],
    ])
  func message(paths: [String]) {
    let error = SystemError(call: "rename(2)", paths: paths.map { SystemPath($0) }, errno: 1)
    let message = FileVersionError(VersionStoreError.system(error)).message
    #expect(message.hasPrefix("'/none/a' can't be replaced") && message.contains("chattr -i"))
    // Nobody has looked.
    #expect(message.contains("may be immutable") && !message.contains("is immutable"))
    #expect(message.contains(error.description))
  }

  @Test("Other errors are those of the calls")
  func others() {
    let error = SystemError(call: "rename(2)", paths: [SystemPath("/none/a")], errno: 5)
    #expect(FileVersionError(VersionStoreError.system(error)).message == error.description)
    #expect(FileVersionError.refusal(SystemError(call: "rename(2)", paths: [], errno: 1)) == nil)
  }

  @Test("A directory with the sticky bit keeps the files of others, except from its owner, theirs and root")
  func sticky() throws {
    let path = SystemPath("/none/a")
    func directory(_ mode: UInt32, file: UInt32, around: UInt32, user: UInt32) throws -> SystemPath? {
      try FileVersionError.Refusal(
        path, status(0o644, owner: file), around: status(mode, owner: around), user: user
      ).stickyDirectory
    }
    #expect(try directory(0o1777, file: 1, around: 0, user: 2) == SystemPath("/none"))
    #expect(try directory(0o777, file: 1, around: 0, user: 2) == nil)
    #expect(try directory(0o1777, file: 2, around: 0, user: 2) == nil)
    #expect(try directory(0o1777, file: 1, around: 2, user: 2) == nil)
    #expect(try directory(0o1777, file: 1, around: 1, user: 0) == nil)
    let refusal = FileVersionError.Refusal(
      path, try status(0o644, owner: 1), around: try status(0o1777, owner: 0), user: 2)
    #expect(refusal.explanation.contains("another user") && refusal.explanation.contains("'/none'"))
  }
}
