import Glibc
import TestSupport
import Testing

@testable import SystemInterface

@Suite("A save that expects a file replaces that one, and nothing else")
struct CheckedSaveTests {
  static let old = "the old contents"
  static let new = [UInt8]("new".utf8)

  /// The action of another program right before the new file takes its place.
  enum Deed: String, CaseIterable, CustomTestStringConvertible {
    case nothing, removes, moves, replaces, writes, makesDirectory, linksElsewhere

    var testDescription: String { rawValue }

    func carryOut(_ sandbox: Sandbox) throws {
      let files = HostFileSystem()
      switch self {
      case .nothing: break
      case .removes: try files.unlink(sandbox.path("file"), at: .workingDirectory, .file)
      case .moves:
        try files.rename(
          sandbox.path("file"), at: .workingDirectory, to: sandbox.path("moved"), at: .workingDirectory, .replacing)
      case .replaces:
        try sandbox.write("theirs", "theirs")
        try files.rename(
          sandbox.path("theirs"), at: .workingDirectory, to: sandbox.path("file"), at: .workingDirectory, .replacing)
      case .writes: try sandbox.write("file", "theirs, in place")
      case .makesDirectory:
        try files.unlink(sandbox.path("file"), at: .workingDirectory, .file)
        try sandbox.makeDirectory("file")
      case .linksElsewhere:
        try files.unlink(sandbox.path("file"), at: .workingDirectory, .file)
        try sandbox.link("file", to: "elsewhere")
      }
    }

    var errno: Int32? {
      switch self {
      case .nothing: nil
      case .removes, .moves: ENOENT
      case .replaces, .writes, .makesDirectory, .linksElsewhere: ESTALE
      }
    }

    var kind: FileKind? {
      switch self {
      case .removes, .moves: nil
      case .makesDirectory: .directory
      case .linksElsewhere: .symbolicLink
      case .nothing, .replaces, .writes: .regular
      }
    }

    /// Checks the files that are there afterwards.
    func check(_ text: (String) throws -> String) throws {
      switch self {
      case .nothing: #expect(try text("file") == "new")
      case .moves: #expect(try text("moved") == CheckedSaveTests.old)
      case .replaces: #expect(try text("file") == "theirs")
      case .writes: #expect(try text("file") == "theirs, in place")
      case .removes, .makesDirectory, .linksElsewhere: break
      }
    }
  }

  @Test("An operation of another program in the last instant stays done", arguments: Deed.allCases, [true, false])
  func lastInstant(deed: Deed, canExchange: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", Self.old)
      let status = try HostFileSystem().contentsAndStatus(of: sandbox.path("file")).status
      var failure: (any Error)?
      // Fails the exchange, and lets the renaming that comes instead of it go on.
      let renames = Guarded(canExchange ? 1 : 0)
      let door = ScriptedFileSystem { call in
        if call.call != .rename { return .proceed }
        return renames.withLock { count in
          defer { count += 1 }
          return count == 0 ? .fail(EINVAL) : .proceed
        }
      }
      var met: [SystemPath] = []
      let thrown = errorThrown { () throws(SystemError) in
        try door.replaceContents(
          of: sandbox.path("file"), with: Self.new, expecting: status,
          meeting: { temporary in
            met.append(temporary)
            do { try deed.carryOut(sandbox) } catch { failure = error }
          })
      }
      #expect(failure == nil)
      #expect(thrown?.errno == deed.errno)
      #expect(met.count == 1 && met[0].lastComponent.isTemporaryName(for: SystemPath("file")))
      try deed.check(sandbox.text)
      let names: Set<String> =
        switch deed {
        case .removes: []
        case .moves: ["moved"]
        default: ["file"]
        }
      #expect(try Set(sandbox.names()) == names)
      #expect(try sandbox.status("file")?.kind == deed.kind)
      #expect(door.openDescriptors(failedCall: 0) == 0)
    }
  }

  @Test(
    "Where nothing was, a file that another program makes in the last instant stays, and so does one that was written")
  func nothingThere() async throws {
    try await withTemporaryDirectory { sandbox in
      let name = SystemPath("file")
      let isForeign = Guarded(false)
      let door = ScriptedFileSystem { call in
        if call.call == .rename, isForeign.withLock({ $0 }) { _ = try? sandbox.write("file", "theirs") }
        return .proceed
      }
      func save(_ status: FileStatus?) -> Int32? {
        errorThrown { () throws(SystemError) in
          try door.withDescriptor(sandbox.root, flags: .directory) { (directory) throws(SystemError) in
            try door.replaceContents(of: name, at: directory, with: Self.new, expecting: status)
          }
        }?.errno
      }
      #expect(save(nil) == nil)
      #expect(try sandbox.text("file") == "new")
      let status = try #require(try sandbox.status("file"))
      // Something is there.
      #expect(save(nil) == ESTALE)
      #expect(save(status) == nil)
      #expect(save(status) == ESTALE)
      try HostFileSystem().unlink(sandbox.path("file"), at: .workingDirectory, .file)
      #expect(save(status) == ENOENT)
      isForeign.withLock { $0 = true }
      #expect(save(nil) == ESTALE)
      #expect(try sandbox.text("file") == "theirs")
      #expect(try sandbox.names() == ["file"])
    }
  }

  @Test("A file whose bytes a program stores in its mapping in the last instant stays", arguments: [true, false])
  func mapped(canExchange: Bool) async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", Self.old)
      let mapping = try #require(MappedFile(path.description))
      let (read, status) = try HostFileSystem().contentsAndStatus(of: path)
      let renames = Guarded(canExchange ? 1 : 0)
      let door = ScriptedFileSystem { call in
        if call.call != .rename { return .proceed }
        return renames.withLock { count in
          defer { count += 1 }
          return count == 0 ? .fail(EINVAL) : .proceed
        }
      }
      func save(storing text: String?) -> Int32? {
        errorThrown { () throws(SystemError) in
          try door.replaceContents(
            of: path, with: Self.new, expecting: status,
            comparing: { (file) throws(SystemError) in
              var bytes = [UInt8](repeating: 0, count: 100)
              return try Array(bytes[..<door.read(file, into: &bytes)]) == read
            },
            meeting: { _ in if let text { mapping.store(text) } })
        }?.errno
      }
      #expect(save(storing: "their") == ESTALE)
      #expect(try sandbox.text("file") == "their" + Self.old.dropFirst(5))
      mapping.store(Self.old)
      renames.withLock { $0 = canExchange ? 1 : 0 }
      #expect(save(storing: nil) == nil)
      #expect(try sandbox.text("file") == "new" && sandbox.names() == ["file"])
      #expect(door.openDescriptors(failedCall: 0) == 0)
    }
  }

  @Test("Reading tells what the file was, stops when it's told to, and takes no more than it may")
  func reading() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", String(repeating: "x", count: 3 << 20))
      let files = HostFileSystem()
      var counts: [Int64] = []
      let (contents, status) = try files.contentsAndStatus(of: path) { (count, size) throws(SystemError) in
        #expect(size == 3 << 20)
        counts.append(count)
      }
      let listed = try #require(try sandbox.status("file"))
      #expect(contents.count == 3 << 20 && status.hasContents(of: listed))
      #expect(counts.first == 0 && counts.last == 3 << 20 && counts.count >= 4 && counts == counts.sorted())
      #expect(try files.contentsAndStatus(of: path, countMax: 3 << 20).contents.count == 3 << 20)
      let tooLarge = errorThrown { () throws(SystemError) in
        _ = try files.contentsAndStatus(of: path, countMax: (3 << 20) - 1)
      }
      #expect(tooLarge?.errno == EFBIG)
      let stopped = errorThrown { () throws(SystemError) in
        _ = try files.contentsAndStatus(of: path) { (count, _) throws(SystemError) in
          if count > 0 { throw SystemError(call: "stop", errno: ECANCELED) }
        }
      }
      #expect(stopped?.errno == ECANCELED)
    }
  }

  @Test("CD-14: Leftovers of killed saves are removed, and nothing else")
  func leftovers() async throws {
    try await withTemporaryDirectory { sandbox in
      let path = try sandbox.write("file", "text")
      let others = [
        ".file.abcdefgh.fcsave.txt", ".file.abcdefg.fcsave", ".other.abcdefgh.fcsave", "file.abcdefgh.fcsave",
      ]
      for name in [".file.abcdefgh.fcsave", ".file.a2345678.fcsave"] + others { try sandbox.write(name, "x") }
      let files = HostFileSystem()
      try sandbox.makeDirectory(".file.abcdefgi.fcsave")
      try sandbox.write(".file.abcdefgi.fcsave/member", "x")
      let link = ".file.abcdefgj.fcsave"
      try files.makeSymbolicLink(sandbox.path(link), at: .workingDirectory, target: SystemPath("file"))
      // The directory of a save that's under way stays, also beside those that clear up.
      let parent = try files.open(path.parent, at: .workingDirectory, flags: .directory, mode: 0)
      defer { try? files.close(parent) }
      let (draft, use) = try files.makeDraftDirectory(for: path.lastComponent, at: parent, mode: 0o700)
      #expect(try files.removeLeftovers(ofSavesOf: path) == 3)
      #expect(try sandbox.names().sorted() == (["file", link, draft.description] + others).sorted())
      // A child that another test is starting may have the descriptor for a moment.
      try files.unlock(use)
      try files.close(use)
      #expect(try files.removeLeftovers(ofSavesOf: path) == 1)
      #expect(try sandbox.names().sorted() == (["file", link] + others).sorted())
      // Temporary names of long names are cut, so that they may be another file's.
      let long = String(repeating: "n", count: 250)
      let cut = SystemPath.temporaryName(for: SystemPath(long))
      try sandbox.write(cut.description, "x")
      #expect(try HostFileSystem().removeLeftovers(ofSavesOf: sandbox.path(long)) == 0)
      #expect(try sandbox.names().contains(cut.description))
    }
  }
}
