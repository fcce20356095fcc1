import Glibc
import Testing

@testable import SystemInterface

@Suite("The door to this machine reports what the kernel says")
struct HostFileSystemTests {
  @Test("Status tells kind, mode, size, link count and time")
  func status() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "12345")
      try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.setMode(of: file, to: 0o4640)
        try sandbox.files.setModificationTime(of: file, to: -1_500_000_000)
      }
      let status = try #require(try sandbox.status("file"))
      #expect(status.kind == .regular)
      #expect(status.mode == 0o4640)
      #expect(status.size == 5)
      #expect(status.linkCount == 1)
      #expect(status.owner == getuid())
      #expect(status.modificationTime == -1_500_000_000)
      #expect(status.changeTime > 1_500_000_000_000_000_000)
      #expect(try sandbox.files.status(of: sandbox.root, at: .workingDirectory, links: .follow).kind == .directory)
    }
  }

  @Test(
    "A directory isn't opened through a symbolic link on the way, whatever it's opened for",
    arguments: [[], .pathOnly] as [OpenFlags])
  func openingThroughLink(flags: OpenFlags) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.makeDirectory("real")
      try sandbox.makeDirectory("real/inner")
      try sandbox.link("link", to: "real")
      let descriptor = try sandbox.files.openDirectory(sandbox.path("real/inner"), flags: flags)
      try sandbox.files.close(descriptor)
      var failure: SystemError?
      do throws(SystemError) {
        try sandbox.files.close(try sandbox.files.openDirectory(sandbox.path("link/inner"), flags: flags))
      } catch {
        failure = error
      }
      #expect(failure?.errno == ELOOP)
    }
  }

  @Test("Status by name and by descriptor are the same, but for the time of creation, which only a name has")
  func statusByName() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "12345")
      try sandbox.link("link", to: "file")
      for name in ["file", ".", "/dev/null", "/proc/self"] {
        let path = SystemPath(name).isAbsolute ? SystemPath(name) : sandbox.path(name)
        var byName = try sandbox.files.status(of: path, at: .workingDirectory, links: .follow)
        let byDescriptor = try sandbox.files.withDescriptor(path, flags: []) { (file) throws(SystemError) in
          try sandbox.files.status(of: file)
        }
        if name == "file" {
          let created = try #require(byName.creationTime)
          #expect(created <= byName.changeTime && created > byName.changeTime - 60_000_000_000)
        }
        byName.creationTime = nil
        #expect(byName == byDescriptor)
      }
    }
  }

  @Test("Status follows a link only when told to")
  func linkTreatment() async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "")
      try sandbox.link("link", to: "file")
      let path = sandbox.path("link")
      #expect(try sandbox.files.status(of: path, at: .workingDirectory, links: .noFollow).kind == .symbolicLink)
      #expect(try sandbox.files.status(of: path, at: .workingDirectory, links: .follow).kind == .regular)
    }
  }

  @Test("Nothing there, or a file where a directory should be, is absence", arguments: ["none", "file/x", "none/x"])
  func absence(name: String) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "")
      #expect(try sandbox.status(name) == nil)
    }
  }

  @Test("A directory lists every name once, whatever its bytes and however many", arguments: [0, 1, 3000])
  func listing(count: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      let names = (0..<count).map { SystemPath(bytes: Array("n\($0)-".utf8) + [0xFF, 0x0A]) }
      for name in names {
        try sandbox.files.withDescriptor(
          sandbox.root.appending(name), flags: [.create, .writeOnly], mode: 0o600
        ) { _ throws(SystemError) in }
      }
      let listed = try sandbox.files.withDescriptor(sandbox.root, flags: .directory) {
        (directory) throws(SystemError) in
        var all: [DirectoryEntry] = []
        while let batch = try sandbox.files.readDirectory(directory) { all += batch }
        return all
      }
      #expect(listed.map(\.name).sorted() == names.sorted())
    }
  }

  @Test("A rename can refuse to replace, and can swap")
  func renameModes() async throws {
    try await withTemporaryDirectory { sandbox in
      let (a, b) = (try sandbox.write("a", "A"), try sandbox.write("b", "B"))
      #expect(throws: SystemError(.rename, paths: [a, b], errno: EEXIST)) {
        try sandbox.files.rename(a, at: .workingDirectory, to: b, at: .workingDirectory, .exclusive)
      }
      try sandbox.files.rename(a, at: .workingDirectory, to: b, at: .workingDirectory, .exchange)
      #expect(try sandbox.text("a") == "B")
      #expect(try sandbox.text("b") == "A")
    }
  }

  @Test("An extended attribute comes back as it was set, up to several kilobytes", arguments: [0, 5, 511, 513, 3000])
  func attributes(size: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      try sandbox.write("file", "")
      let name = ExtendedAttributeName("user.test")
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      try sandbox.withFile("file") { (file) throws(SystemError) in
        try sandbox.files.setExtendedAttribute(name, of: file, to: value)
        let names = try sandbox.files.extendedAttributes(of: file)
        let stored = try sandbox.files.extendedAttribute(name, of: file)
        #expect(names.contains(name))
        #expect(stored == value)
        try sandbox.files.removeExtendedAttribute(name, of: file)
      }
      #expect(throws: SystemError(.attribute, errno: ENODATA)) {
        try sandbox.withFile("file") { (file) throws(SystemError) in
          try sandbox.files.extendedAttribute(name, of: file)
        }
      }
    }
  }

  @Test("Extended attributes are set and read by name; those of a link's target aren't the link's")
  func attributesByName() async throws {
    try await withTemporaryDirectory { sandbox in
      let (name, path) = (ExtendedAttributeName("user.test"), try sandbox.write("file", ""))
      #expect(throws: SystemError(.attributeByName, paths: [path], errno: ENODATA)) {
        try sandbox.files.extendedAttribute(name, ofItemAt: path)
      }
      let value = [UInt8](repeating: 7, count: 3_000)
      try sandbox.files.setExtendedAttribute(name, ofItemAt: path, to: value)
      #expect(try sandbox.files.extendedAttribute(name, ofItemAt: path) == value)
      try sandbox.files.makeSymbolicLink(sandbox.path("link"), at: .workingDirectory, target: path)
      #expect(throws: SystemError.self) {
        try sandbox.files.extendedAttribute(name, ofItemAt: sandbox.path("link"))
      }
      #expect(throws: SystemError(.setAttributeByName, paths: [sandbox.path("none")], errno: ENOENT)) {
        try sandbox.files.setExtendedAttribute(name, ofItemAt: sandbox.path("none"), to: value)
      }
    }
  }

  @Test("Contents of any size are read whole", arguments: [0, 1, 511, 512, 513, 100_000, 3_000_000])
  func contents(size: Int) async throws {
    try await withTemporaryDirectory { sandbox in
      let text = String(repeating: "x", count: size)
      try sandbox.write("file", text)
      #expect(try sandbox.text("file") == text)
      let stutter = ScriptedFileSystem { _ in .shortWrite(max(size / 7, 1)) }
      #expect(try stutter.contents(of: sandbox.path("file")) == Array(text.utf8))
    }
  }

  @Test("A file that hides its size is read whole")
  func processFile() throws {
    let contents = try HostFileSystem().contents(of: SystemPath("/proc/self/status"))
    #expect(contents.count > 500)
    #expect(contents.last == UInt8(ascii: "\n"))
  }

  @Test("Reading a directory as a file names it in the error")
  func directoryContents() async throws {
    try await withTemporaryDirectory { sandbox in
      #expect(throws: SystemError(.read, paths: [sandbox.root], errno: EISDIR)) {
        try sandbox.files.contents(of: sandbox.root)
      }
    }
  }
}
