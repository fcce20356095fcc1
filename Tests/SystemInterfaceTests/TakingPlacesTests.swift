import Glibc
import Testing

@testable import SystemInterface

@Suite("A new file takes the place that it may take, and what it replaces is seen first")
struct TakingPlacesTests {
  /// Does something right before the first renaming, which fails if names can't be exchanged.
  private func door(canExchange: Bool, _ deed: @escaping @Sendable () -> Void) -> ScriptedFileSystem {
    let renames = Guarded(0)
    return ScriptedFileSystem { call in
      if call.call != .rename { return .proceed }
      let number = renames.withLock { count in
        count += 1
        return count
      }
      if number == 1 { deed() }
      return number == 1 && !canExchange ? .fail(EINVAL) : .proceed
    }
  }

  @Test(
    "The file that another program has put there in the last instant is shown before it's gone",
    arguments: CheckedSaveTests.Deed.allCases, [true, false])
  func lastInstant(deed: CheckedSaveTests.Deed, canExchange: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", CheckedSaveTests.old)
      let failures = Guarded(0)
      let door = door(canExchange: canExchange) {
        do { try deed.carryOut(sandbox) } catch { failures.withLock { $0 += 1 } }
      }
      var shown: [String] = []
      let thrown = errorThrown { () throws(SystemError) in
        try door.replaceContents(
          of: path, with: CheckedSaveTests.new,
          over: .inspected { (path, status) throws(SystemError) in
            #expect(status.kind == .regular)
            shown.append(String(decoding: try HostFileSystem().contents(of: path), as: UTF8.self))
          })
      }
      #expect(failures.withLock { $0 } == 0)
      switch deed {
      case .nothing: #expect(shown == [CheckedSaveTests.old])
      case .replaces: #expect(shown == ["theirs"])
      case .writes: #expect(shown == ["theirs, in place"])
      case .removes, .moves, .makesDirectory, .linksElsewhere: #expect(shown == [])
      }
      let isOther = deed == .makesDirectory || deed == .linksElsewhere
      #expect(thrown?.errno == (isOther ? ESTALE : nil))
      if isOther {
        #expect(try sandbox.status("file")?.kind == deed.kind)
      } else {
        #expect(try sandbox.text("file") == "new")
      }
      #expect(try Set(sandbox.names()) == (deed == .moves ? ["file", "moved"] : ["file"]))
      #expect(door.openDescriptors(failedCall: 0) == 0)
    }
  }

  @Test("A file that's refused goes back, and the save fails with that error", arguments: [true, false])
  func refusal(canExchange: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", CheckedSaveTests.old)
      let thrown = errorThrown { () throws(SystemError) in
        try door(canExchange: canExchange) {}.replaceContents(
          of: path, with: CheckedSaveTests.new,
          over: .inspected { (path, status) throws(SystemError) in
            // As if the copy had found something missing: that's no reason to try another way.
            throw SystemError(call: "test", paths: [path], errno: status.size > 0 ? ENOENT : EIO)
          })
      }
      #expect(thrown?.errno == ENOENT && thrown?.call == "test")
      #expect(try sandbox.text("file") == CheckedSaveTests.old)
      #expect(try sandbox.names() == ["file"])
    }
  }

  @Test("A file that's only made where none is leaves one that comes in the last instant", arguments: [true, false])
  func onlyNew(canExchange: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = sandbox.path("file")
      func save(_ door: ScriptedFileSystem) -> SystemError? {
        errorThrown { () throws(SystemError) in
          try door.replaceContents(of: path, with: CheckedSaveTests.new, over: .nothing)
        }
      }
      #expect(save(door(canExchange: canExchange) { _ = try? sandbox.write("file", "theirs") })?.errno == EEXIST)
      #expect(try sandbox.text("file") == "theirs")
      #expect(save(door(canExchange: canExchange) {})?.errno == EEXIST)
      try HostFileSystem().unlink(path, at: .workingDirectory, .file)
      #expect(save(door(canExchange: canExchange) {}) == nil)
      #expect(try sandbox.text("file") == "new")
      #expect(try sandbox.names() == ["file"])
    }
  }
}
