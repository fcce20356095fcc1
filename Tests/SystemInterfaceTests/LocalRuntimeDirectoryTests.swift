import Glibc
import Testing

@testable import SystemInterface

@Suite("The processes of a user meet in a directory that is closed to others")
struct LocalRuntimeDirectoryTests {
  private static let user = geteuid()
  private static let usual = "file-coordination-\(user)"

  private func setMode(_ mode: UInt32, of name: String, _ sandbox: Sandbox) throws {
    try sandbox.withFile(name) { (file) throws(SystemError) in try sandbox.files.setMode(of: file, to: mode) }
  }

  private func locate(_ sandbox: Sandbox) throws -> [String] {
    try RuntimeDirectory.all(in: sandbox.root).map {
      #expect($0.path.parent == sandbox.root)
      return $0.path.lastComponent.description
    }
  }

  /// Another user takes a name.
  private func squat(_ name: String, _ sandbox: Sandbox) throws {
    try sandbox.makeDirectory(name)
    try sandbox.files.setOwner(of: sandbox.path(name), at: .workingDirectory, to: 65534, group: 65534)
  }

  @Test("It's made once and found again, without looking at the environment")
  func usualName() async throws {
    try await withTemporaryDirectory { sandbox in
      #expect(RuntimeDirectory.usual(in: sandbox.root) == nil)
      for _ in 1...2 {
        let found = try locate(sandbox)
        #expect(found == [Self.usual])
        #expect(RuntimeDirectory.usual(in: sandbox.root)?.path == sandbox.path(Self.usual))
      }
      #expect(try sandbox.status(Self.usual)?.mode == 0o700)
      #expect(try sandbox.names() == [Self.usual])
    }
  }

  @Test(
    "Something else that has its name isn't used or followed, and others are tried",
    arguments: ["link", "lost", "file"])
  func planted(kind: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("target")
      try setMode(0o755, of: "target", sandbox)
      switch kind {
      case "link": try sandbox.link(Self.usual, to: "target")
      case "lost": try sandbox.link(Self.usual, to: "none")
      default: try sandbox.write(Self.usual, "")
      }
      for _ in 1...2 { #expect(try locate(sandbox) == ["\(Self.usual).1"]) }
      #expect(RuntimeDirectory.usual(in: sandbox.root) == nil)
      #expect(try sandbox.status("target")?.mode == 0o755)
      #expect(try sandbox.status("none") == nil)
    }
  }

  @Test("Permissions that are too loose are taken back", arguments: [0o777, 0o1777, 0o750, 0o701] as [UInt32])
  func loosePermissions(mode: UInt32) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory(Self.usual)
      try setMode(mode, of: Self.usual, sandbox)
      #expect(try locate(sandbox) == [Self.usual])
      #expect(try sandbox.status(Self.usual)?.mode == 0o700)
    }
  }

  @Test("Names that begin alike are those of other users", arguments: ["0", "-1", "x.1"])
  func similarNames(suffix: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory(Self.usual + suffix)
      #expect(try locate(sandbox) == [Self.usual])
    }
  }

  @Test(
    "A name that another user has taken is passed over, and stays so when it's free again",
    .enabled(if: geteuid() == 0, "only root can give files away"))
  func foreignOwner() async throws {
    try await withTemporaryDirectory { sandbox in
      for name in [Self.usual, "\(Self.usual).1"] { try squat(name, sandbox) }
      #expect(try locate(sandbox) == ["\(Self.usual).2"])
      #expect(RuntimeDirectory.usual(in: sandbox.root) == nil)
      #expect(try sandbox.status(Self.usual)?.mode == 0o755)
      try sandbox.files.unlink(sandbox.path(Self.usual), at: .workingDirectory, .emptyDirectory)
      #expect(try locate(sandbox) == ["\(Self.usual).2"])
    }
  }

  @Test(
    "An attacker that takes all names that can be guessed gains nothing",
    .enabled(if: geteuid() == 0, "only root can give files away"))
  func manyForeignNames() async throws {
    try await withTemporaryDirectory { sandbox in
      for number in 0..<100 { try squat(number == 0 ? Self.usual : "\(Self.usual).\(number)", sandbox) }
      let found = try locate(sandbox)
      #expect(found.count == 1)
      #expect(try locate(sandbox) == found)
    }
  }

  @Test("A directory that was made at the same time counts too, the usual one first; too many are an error")
  func several() async throws {
    try await withTemporaryDirectory { sandbox in
      for name in ["\(Self.usual).b", Self.usual, "\(Self.usual).a"] { try sandbox.makeDirectory(name) }
      #expect(try locate(sandbox) == [Self.usual, "\(Self.usual).a", "\(Self.usual).b"])
      for number in 3..<RuntimeDirectory.countMax { try sandbox.makeDirectory("\(Self.usual).\(number)") }
      #expect(try locate(sandbox).count == RuntimeDirectory.countMax)
      try sandbox.makeDirectory("\(Self.usual).more")
      let error = #expect(throws: SystemError.self) { try locate(sandbox) }
      #expect(error?.errno == EMLINK)
    }
  }

  @Test("Without a place for it the error names it")
  func missingBase() async throws {
    try await withTemporaryDirectory { sandbox in
      let base = sandbox.path("none")
      #expect(throws: SystemError(.open, paths: [base], errno: ENOENT)) { try RuntimeDirectory.all(in: base) }
    }
  }
}
