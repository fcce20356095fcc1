import Glibc
import Testing

@testable import SystemInterface

@Suite("The processes of a user meet in a directory that is closed to others")
struct LocalRuntimeDirectoryTests {
  private func setMode(_ mode: UInt32, of name: String, _ sandbox: Sandbox) throws {
    try sandbox.withFile(name) { (file) throws(SystemError) in try sandbox.files.setMode(of: file, to: mode) }
  }

  private func locate(_ session: String?, _ sandbox: Sandbox, userID: UInt32 = geteuid()) throws -> RuntimeDirectory {
    try RuntimeDirectory.locate(
      environment: { $0 == "XDG_RUNTIME_DIR" ? session : nil }, userID: userID, fallbackBase: sandbox.root)
  }

  private func fallback(_ sandbox: Sandbox) -> SystemPath {
    sandbox.path("file-coordination-\(geteuid())")
  }

  @Test("It is in XDG_RUNTIME_DIR when there is one, made once and found again")
  func sessionDirectory() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("session")
      try setMode(0o700, of: "session", sandbox)
      for _ in 1...2 {
        let directory = try locate(sandbox.path("session").description + "/", sandbox)
        #expect(directory.path == sandbox.path("session/file-coordination"))
        #expect(directory.fallbackReason == nil)
      }
      #expect(try sandbox.status("session/file-coordination")?.mode == 0o700)
      #expect(try sandbox.names() == ["session"])
    }
  }

  @Test(
    "It is in the other place when XDG_RUNTIME_DIR can't be trusted, and the reason is told",
    arguments: [
      (nil, "isn't set"), ("", "isn't set"), ("relative/path", "isn't an absolute path"), ("NONE", "ENOENT"),
      ("FILE", "ENOTDIR"), ("OPEN", "is open to others (mode 750)"),
    ])
  func fallbackReasons(kind: String?, reason: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "")
      try sandbox.makeDirectory("open")
      try setMode(0o750, of: "open", sandbox)
      let places = ["NONE": "none", "FILE": "file", "OPEN": "open"]
      let session = kind.map { places[$0].map { sandbox.path($0).description } ?? $0 }
      let directory = try locate(session, sandbox)
      #expect(directory.path == fallback(sandbox))
      #expect(directory.fallbackReason?.contains(reason) == true)
      #expect(try sandbox.names(in: "open") == [])
      let status = try #require(try sandbox.status(fallback(sandbox).lastComponent.description))
      #expect(status.kind == .directory && status.mode == 0o700 && status.owner == geteuid())
    }
  }

  @Test("Another user's XDG_RUNTIME_DIR, as after sudo, isn't used")
  func foreignSessionDirectory() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("session")
      try setMode(0o700, of: "session", sandbox)
      let stranger = geteuid() + 1
      // The other place belongs to us as well, so for the stranger there is none.
      #expect(throws: SystemError.self) {
        try locate(sandbox.path("session").description, sandbox, userID: stranger)
      }
      #expect(try sandbox.names(in: "session") == [])
    }
  }

  @Test("A symbolic link in its place is never followed", arguments: ["target", "none"])
  func plantedLink(target: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("target")
      try setMode(0o755, of: "target", sandbox)
      try sandbox.link(fallback(sandbox).lastComponent.description, to: target)
      let error = #expect(throws: SystemError.self) { try locate(nil, sandbox) }
      #expect(error?.errno == ENOTDIR)
      #expect(error?.paths == [fallback(sandbox)])
      #expect(error?.advice?.contains("XDG_RUNTIME_DIR") == true)
      #expect(try sandbox.status("target")?.mode == 0o755)
      #expect(try sandbox.status("none") == nil)
    }
  }

  @Test("A file in its place is an error that says so")
  func plantedFile() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write(fallback(sandbox).lastComponent.description, "")
      let error = #expect(throws: SystemError.self) { try locate(nil, sandbox) }
      #expect(error?.errno == ENOTDIR)
    }
  }

  @Test("Permissions that are too loose are taken back", arguments: [0o777, 0o1777, 0o750, 0o701] as [UInt32])
  func loosePermissions(mode: UInt32) async throws {
    try await withTemporaryDirectory { sandbox in
      let name = fallback(sandbox).lastComponent.description
      try sandbox.makeDirectory(name)
      try setMode(mode, of: name, sandbox)
      #expect(try locate(nil, sandbox).path == fallback(sandbox))
      #expect(try sandbox.status(name)?.mode == 0o700)
    }
  }

  @Test("Another user's directory is refused", .enabled(if: geteuid() == 0, "only root can give files away"))
  func foreignOwner() async throws {
    try await withTemporaryDirectory { sandbox in
      let name = fallback(sandbox).lastComponent.description
      try sandbox.makeDirectory(name)
      try sandbox.files.setOwner(of: fallback(sandbox), at: .workingDirectory, to: 65534, group: 65534)
      let error = #expect(throws: SystemError.self) { try locate(nil, sandbox) }
      #expect(error?.errno == EPERM)
      #expect(error?.advice?.contains("65534") == true)
      #expect(try sandbox.status(name)?.mode == 0o755)
    }
  }

  @Test("Without a place for it the error names it")
  func missingBase() async throws {
    try await withTemporaryDirectory { sandbox in
      let base = sandbox.path("none")
      #expect(throws: SystemError(.open, paths: [base], errno: ENOENT)) {
        try RuntimeDirectory.locate(environment: { _ in nil }, fallbackBase: base)
      }
    }
  }
}
