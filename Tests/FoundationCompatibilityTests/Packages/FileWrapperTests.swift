import Foundation
import FoundationCompatibility
import SystemInterface
import TestSupport
import Testing

@Suite("FileWrapper", .blocking)
struct FileWrapperTests {
  private func makePackage(_ box: Sandbox, _ name: String = "p") throws -> URL {
    _ = try box.write("\(name)/text", "old")
    _ = try box.write("\(name)/images/1.png", "one")
    _ = try box.write("\(name)/images/2.png", "two")
    try FileManager.default.createSymbolicLink(
      atPath: box.url("\(name)/link").path, withDestinationPath: "../elsewhere")
    return box.url(name)
  }

  private let all = ["images/", "images/1.png one", "images/2.png two", "link -> ../elsewhere", "text old"]

  private func isReported(_ problem: String) -> Bool {
    Sandbox.misuse.entries.contains { $0.contains("FileWrapper: \(problem)") }
  }

  @Test(
    "UD-17: A file has its permissions when it takes its place, so that nobody reads it before",
    arguments: [false, true])
  func modeBeforePlace(isThere: Bool) throws {
    try withSandbox { box in
      let url = isThere ? try box.write("a.txt", "old") : box.url("a.txt")
      let wrapper = FileWrapper(regularFileWithContents: Data("secret".utf8))
      wrapper.fileAttributes[FileAttributeKey.posixPermissions.rawValue] = 0o600
      let queue = inotify_init1(Int32(IN_NONBLOCK))
      defer { close(queue) }
      #expect(inotify_add_watch(queue, box.root.path, UInt32(IN_ATTRIB)) >= 0)
      try wrapper.write(to: url, options: .atomic, originalContentsURL: nil)
      // The kernel queues events before a call returns, see inotify(7). Those of the new file without its name don't matter.
      var events = [UInt8](repeating: 0, count: 4096)
      let count = max(read(queue, &events, events.count), 0)
      let name = Array("a.txt".utf8)
      let hasName = (0..<max(count - name.count, 0)).contains { Array(events[$0..<$0 + name.count]) == name }
      #expect(!hasName)
      let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
      #expect(try attributes[.posixPermissions] as? Int == 0o600 && box.text(url) == "secret")
    }
  }

  @Test("CW-01: Children with one preferred name have different keys, and the first has the name")
  func duplicateNames() throws {
    let wrapper = FileWrapper(directoryWithFileWrappers: [:])
    let children = (0..<3).map { FileWrapper.text("\($0)") }
    for child in children { child.preferredFilename = "a.txt" }
    #expect(children.map(wrapper.addFileWrapper) == ["a.txt", "a 2.txt", "a 3.txt"])
    #expect(wrapper.addRegularFile(withContents: Data(), preferredFilename: "a.txt") == "a 4.txt")
    #expect(wrapper.addFileWrapper(children[1]) == "a 2.txt" && wrapper.fileWrappers?.count == 4)
    #expect(wrapper.keyForChildFileWrapper(children[2]) == "a 3.txt")
    wrapper.removeFileWrapper(children[0])
    #expect(wrapper.keyForChildFileWrapper(children[0]) == nil && wrapper.addFileWrapper(children[0]) == "a.txt")
    // A change of the wish adds it anew.
    children[0].preferredFilename = "b.txt"
    #expect(wrapper.fileWrappers?["b.txt"] === children[0] && wrapper.fileWrappers?["a.txt"] == nil)
    children[1].preferredFilename = "b.txt"
    #expect(wrapper.keyForChildFileWrapper(children[1]) == "b 2.txt" && children[1].preferredFilename == "b.txt")
  }

  @Test(
    "CW-01: A child is added, found and removed in a time that doesn't depend on how many there are",
    .timeLimit(.minutes(8)))
  func manyChildren() {
    let root = FileWrapper(directoryWithFileWrappers: [:])
    let children = (0..<50_000).map { number in
      let child = FileWrapper(regularFileWithContents: Data())
      child.preferredFilename = "\(number)"
      return child
    }
    for child in children { root.addFileWrapper(child) }
    #expect(children.allSatisfy { root.keyForChildFileWrapper($0) == $0.preferredFilename })
    for child in children { #expect(root.addFileWrapper(child) == child.preferredFilename) }
    #expect(root.fileWrappers?.count == children.count)
    for child in children { root.removeFileWrapper(child) }
    #expect(root.fileWrappers?.isEmpty == true)
  }

  @Test("CW-02, FW-2: The initializer of directories gives children without a preferred name their key for one")
  func keysAsNames() {
    let (named, unnamed) = (FileWrapper.text("1"), FileWrapper.text("2"))
    named.preferredFilename = "wish"
    let wrapper = FileWrapper(directoryWithFileWrappers: ["a": named, "b": unnamed])
    #expect(unnamed.preferredFilename == "b" && named.preferredFilename == "wish")
    #expect(wrapper.fileWrappers?["b"] === unnamed && wrapper.fileWrappers?["wish"] === named)
    #expect(wrapper.isDirectory && !wrapper.isRegularFile && !wrapper.isSymbolicLink && wrapper.filename == nil)
  }

  @Test("CW-03, FW-3: Calls for directories to other wrappers, and the reverse, are refused and reported")
  func wrongKinds() throws {
    _ = Sandbox.domain
    let directory = FileWrapper(directoryWithFileWrappers: [:])
    let file = FileWrapper.text("x")
    file.preferredFilename = "x"
    #expect(file.fileWrappers == nil && isReported("fileWrappers of"))
    #expect(file.addFileWrapper(directory).isEmpty && isReported("addFileWrapper(_:) to"))
    #expect(file.addRegularFile(withContents: Data(), preferredFilename: "y").isEmpty)
    file.removeFileWrapper(directory)
    #expect(file.keyForChildFileWrapper(directory) == nil && isReported("keyForChildFileWrapper(_:) of"))
    #expect(isReported("removeFileWrapper(_:) from"))
    #expect(directory.regularFileContents == nil && isReported("regularFileContents of"))
    #expect(file.symbolicLinkDestinationURL == nil && isReported("symbolicLinkDestinationURL of"))
    #expect(
      directory.addFileWrapper(FileWrapper.text("")).isEmpty && isReported("addFileWrapper(_:) of a wrapper without"))
    for name in [nil, "", "a/b", "..", "a\0"] { file.preferredFilename = name }
    #expect(
      file.preferredFilename == "x" && isReported("preferredFilename = nil") && isReported("preferredFilename = 'a/b'"))
    // A directory can't be in itself.
    directory.preferredFilename = "d"
    let outer = FileWrapper(directoryWithFileWrappers: ["d": directory])
    outer.preferredFilename = "outer"
    #expect(directory.addFileWrapper(outer).isEmpty && directory.addFileWrapper(directory).isEmpty)
    #expect(isReported("addFileWrapper(_:) of a directory to what is inside of it"))
    #expect(file.regularFileContents == Data("x".utf8) && directory.fileWrappers?.isEmpty == true)
  }

  @Test(
    "CW-04, FW-6: Contents that are read at once are stable, whatever becomes of the files; others are nil and never something else"
  )
  func immediate() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let stable = try FileWrapper(url: url, options: [.immediate, .withoutMapping])
      let lazy = try FileWrapper(url: url)
      let seen = try FileWrapper(url: url)
      #expect(seen.listing() == all)
      let children = try #require(lazy.fileWrappers)
      _ = try box.write("p/text", "altered, and longer")
      #expect(stable.listing() == all && seen.listing() == all)
      #expect(children["text"]?.regularFileContents == nil)
      try FileManager.default.removeItem(at: url)
      #expect(stable.listing() == all && seen.listing() == all)
      #expect(children["images"]?.fileWrappers == nil)
      #expect(FileWrapper.text("f").regularFileContents == Data("f".utf8))
      #expect { try FileWrapper(url: url) } throws: { ($0 as? CocoaError)?.code == .fileReadNoSuchFile }
      #expect { try FileWrapper(url: #require(URL(string: "https://a/b"))) } throws: {
        ($0 as? CocoaError)?.code == .fileReadUnsupportedScheme
      }
    }
  }

  /// Waits until what was written is older than the time of a file that's written now: files of one tick count as newer.
  private func waitForFileTime() {
    let start = Int64(Date.now.timeIntervalSince1970 * 1e9) + 1000
    while CoarseClock.fileTime <= start { HostThread.yield() }
  }

  @Test("CW-05: Dates and permissions decide whether contents match, and bytes don't")
  func matching() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      for isLoaded in [true, false] {
        waitForFileTime()
        let wrapper = try FileWrapper(url: url)
        if isLoaded { #expect(wrapper.listing() == all) }
        #expect(wrapper.matchesContents(of: url))
        let date = try status(box.url("p/images/1.png")).modificationTime
        _ = try box.write("p/images/1.png", "other bytes")
        #expect(!wrapper.matchesContents(of: url))
        try HostFileSystem().setModificationTime(
          of: SystemPath(box.url("p/images/1.png").path), at: .workingDirectory, to: date)
        #expect(wrapper.matchesContents(of: url))
        let mode = try status(box.url("p/images/1.png")).mode
        if isLoaded {
          try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: box.url("p/images/1.png").path)
          #expect(!wrapper.matchesContents(of: url))
          try FileManager.default.setAttributes(
            [.posixPermissions: Int(mode)], ofItemAtPath: box.url("p/images/1.png").path)
          #expect(wrapper.matchesContents(of: url))
        }
        _ = try box.write("p/added", "")
        #expect(!wrapper.matchesContents(of: url))
        try FileManager.default.removeItem(at: box.url("p/added"))
        #expect(wrapper.matchesContents(of: url) == isLoaded)
      }
      #expect(!FileWrapper.text("old").matchesContents(of: box.url("p/text")))
      #expect(!(try FileWrapper(url: url)).matchesContents(of: box.url("p/text")))
      #expect(!(try FileWrapper(url: url)).matchesContents(of: box.url("none")))
      #expect(try FileWrapper(url: box.url("p/link")).matchesContents(of: box.url("p/link")))
    }
  }

  @Test("FW-7: With the comparison of contents hashes count, and neither times nor permissions")
  func matchingContents() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let (wrapper, other) = (try FileWrapper(url: url), box.url("q"))
      #expect(wrapper.matchesContents(of: url, comparing: .contents))
      // Made in memory, and elsewhere.
      try wrapper.write(to: other, options: [], originalContentsURL: nil)
      let loaded = try FileWrapper(url: url, options: .immediate)
      #expect(loaded.matchesContents(of: other, comparing: .contents))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: box.url("q/text").path)
      #expect(loaded.matchesContents(of: other, comparing: .contents))
      #expect(!loaded.matchesContents(of: other, comparing: .attributes))
      let made = FileWrapper(directoryWithFileWrappers: [:])
      #expect(!made.matchesContents(of: other, comparing: .contents))
      let date = try status(box.url("q/images/1.png")).modificationTime
      let picture = try Data(contentsOf: box.url("q/images/1.png"))
      _ = try box.write("q/images/1.png", String(repeating: "x", count: picture.count))
      try HostFileSystem().setModificationTime(
        of: SystemPath(box.url("q/images/1.png").path), at: .workingDirectory, to: date)
      #expect(!loaded.matchesContents(of: other, comparing: .contents))
      try picture.write(to: box.url("q/images/1.png"))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: box.url("q/images/1.png").path)
      #expect(loaded.matchesContents(of: other, comparing: .contents))
      _ = try box.write("q/added", "")
      #expect(!loaded.matchesContents(of: other, comparing: .contents))
      #expect(!loaded.matchesContents(of: box.url("q/text"), comparing: .contents))
      #expect(!loaded.matchesContents(of: box.url("none"), comparing: .contents))
      #expect(FileWrapper.text("old").matchesContents(of: try box.write("old", "old"), comparing: .contents))
    }
  }

  @Test("CW-06: With an original, unchanged files are other names of its files, or share their blocks")
  func incremental() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let identities = try ["text", "images/1.png", "images/2.png"].map { try status(box.url("p/\($0)")).identity }
      let wrapper = try FileWrapper(url: url)
      let text = try #require(wrapper.fileWrappers?["text"])
      wrapper.removeFileWrapper(text)
      _ = wrapper.addRegularFile(withContents: Data("new".utf8), preferredFilename: "text")
      try wrapper.write(to: url, options: [.atomic, .withNameUpdating], originalContentsURL: url)
      #expect(try box.text(box.url("p/text")) == "new")
      #expect(
        try ["images/1.png", "images/2.png"].map { try status(box.url("p/\($0)")).identity } == Array(identities[1...]))
      #expect(try status(box.url("p/text")).identity != identities[0])
      // A file that wasn't read before the save is read from the new package, and the next save is incremental again.
      #expect(wrapper.listing() == all.dropLast() + ["text new"])
      #expect(wrapper.matchesContents(of: url))
      let written = try status(box.url("p/text")).identity
      try wrapper.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(try status(box.url("p/text")).identity == written)
      // Elsewhere: the same files under other names, or their blocks; without an original, files of their own.
      try wrapper.write(to: box.url("q"), originalContentsURL: url)
      try wrapper.write(to: box.url("r"), originalContentsURL: nil)
      #expect(try status(box.url("r/text")).identity != status(box.url("p/text")).identity)
      #expect(try ["q", "r"].allSatisfy { try FileWrapper(url: box.url($0)).listing() == wrapper.listing() })
    }
  }

  @Test("CW-07: A write that fails half-way leaves the old package complete, and nothing beside it")
  func failure() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let wrapper = try FileWrapper(url: url)
      _ = wrapper.addRegularFile(withContents: Data("new".utf8), preferredFilename: "aaa")
      #expect(wrapper.fileWrappers?["images"]?.fileWrappers?.count == 2)
      // One of its members isn't what was read, and its contents aren't in memory.
      _ = try box.write("p/images/2.png", "longer than before")
      #expect { try wrapper.write(to: url, options: .atomic, originalContentsURL: url) } throws: { $0 is CocoaError }
      #expect(try box.text(box.url("p/text")) == "old" && box.text(box.url("p/images/2.png")) == "longer than before")
      #expect(!FileManager.default.fileExists(atPath: box.url("p/aaa").path))
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["p"])
    }
  }

  @Test("CW-08: Without the option a package isn't written where something is")
  func existing() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let wrapper = FileWrapper(directoryWithFileWrappers: ["new": .text("new")])
      #expect { try wrapper.write(to: url, originalContentsURL: nil) } throws: {
        ($0 as? CocoaError)?.code == .fileWriteFileExists
      }
      let link = FileWrapper(symbolicLinkWithDestinationURL: URL(fileURLWithPath: "/tmp"))
      #expect { try link.write(to: url, originalContentsURL: nil) } throws: {
        ($0 as? CocoaError)?.code == .fileWriteFileExists
      }
      #expect(try FileWrapper(url: url).listing() == all)
      try wrapper.write(to: url, options: .atomic, originalContentsURL: nil)
      #expect(try FileWrapper(url: url).listing() == ["new new"])
      try link.write(to: url, options: .atomic, originalContentsURL: nil)
      #expect(try FileWrapper(url: url).symbolicLinkDestinationURL?.path == "/tmp")
      #expect(try FileManager.default.contentsOfDirectory(atPath: box.root.path) == ["p"])
    }
  }

  @Test("CW-09, FW-2: Links stay links, with their targets as they are")
  func links() throws {
    try withSandbox { box in
      let relative = FileWrapper(symbolicLinkWithDestinationURL: URL(fileURLWithPath: "../a b/é", relativeTo: box.root))
      let absolute = FileWrapper(symbolicLinkWithDestinationURL: URL(fileURLWithPath: "/no/such/place"))
      let wrapper = FileWrapper(directoryWithFileWrappers: ["relative": relative, "absolute": absolute])
      #expect(relative.isSymbolicLink && relative.symbolicLinkDestinationURL?.relativePath == "../a b/é")
      try wrapper.write(to: box.url("p"), originalContentsURL: nil)
      func target(_ path: String) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: box.url(path).path)
      }
      #expect(try target("p/relative") == "../a b/é" && target("p/absolute") == "/no/such/place")
      let read = try FileWrapper(url: box.url("p"))
      let link = try #require(read.fileWrappers?["relative"])
      #expect(link.symbolicLinkDestinationURL?.relativePath == "../a b/é")
      #expect(link.symbolicLinkDestinationURL?.standardizedFileURL.path == box.url("a b/é").path)
      try read.write(to: box.url("q"), originalContentsURL: box.url("p"))
      #expect(try target("q/relative") == "../a b/é" && target("q/absolute") == "/no/such/place")
    }
  }

  @Test("CW-10: The serialized form gives back names, contents, links and permissions, and is always the same")
  func serialized() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: box.url("p/text").path)
      let wrapper = try FileWrapper(url: url)
      let twin = FileWrapper.text("twin")
      twin.preferredFilename = "text"
      #expect(wrapper.addFileWrapper(twin) == "text 2")
      let data = try #require(wrapper.serializedRepresentation)
      let copy = try #require(FileWrapper(serializedRepresentation: data))
      #expect(copy.listing() == wrapper.listing() && copy.serializedRepresentation == data)
      #expect(copy.fileWrappers?["text 2"]?.preferredFilename == "text")
      #expect(copy.fileWrappers?["text"]?.fileAttributes[FileAttributeKey.posixPermissions.rawValue] as? Int == 0o640)
      copy.fileWrappers?["images"]?.preferredFilename = "pictures"
      #expect(copy.fileWrappers?["pictures"]?.fileWrappers?.count == 2 && copy.fileWrappers?["images"] == nil)
      try copy.write(to: box.url("q"), originalContentsURL: nil)
      #expect(try status(box.url("q/text")).mode == 0o640)
      #expect(FileWrapper(serializedRepresentation: Data("nonsense".utf8)) == nil)
      #expect(FileWrapper(serializedRepresentation: data.dropLast()) == nil)
      _ = try box.write("p/images/3.png", "three")
      #expect(try FileWrapper(url: url).serializedRepresentation != data)
    }
  }

  @Test("CW-10: A coder gives back the wrapper with its names")
  func coding() throws {
    try withSandbox { box in
      let wrapper = try FileWrapper(url: makePackage(box))
      wrapper.preferredFilename = "wish"
      let data = try NSKeyedArchiver.archivedData(withRootObject: wrapper, requiringSecureCoding: true)
      let copy = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: FileWrapper.self, from: data))
      #expect(copy.listing() == all && copy.filename == "p" && copy.preferredFilename == "wish")
    }
  }

  @Test("FW-8, FW-3: Reading anew keeps the children that are still there, and adds and removes others")
  func rereading() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let wrapper = try FileWrapper(url: url)
      let children = try #require(wrapper.fileWrappers)
      let image = try #require(children["images"]?.fileWrappers?["1.png"])
      #expect(children["text"]?.regularFileContents == Data("old".utf8))
      _ = try box.write("p/text", "new")
      _ = try box.write("p/images/1.png", "uno")
      _ = try box.write("p/added", "added")
      try FileManager.default.removeItem(at: box.url("p/link"))
      try FileManager.default.removeItem(at: box.url("p/images/2.png"))
      try wrapper.read(from: url)
      #expect(wrapper.listing() == ["added added", "images/", "images/1.png uno", "text new"])
      #expect(wrapper.fileWrappers?["text"] === children["text"])
      #expect(wrapper.fileWrappers?["images"]?.fileWrappers?["1.png"] === image)
      // The kind may change.
      try wrapper.read(from: box.url("p/text"))
      #expect(wrapper.isRegularFile && wrapper.regularFileContents == Data("new".utf8) && wrapper.filename == "text")
      #expect { try wrapper.read(from: box.url("none")) } throws: { ($0 as? CocoaError)?.code == .fileReadNoSuchFile }
      #expect(wrapper.regularFileContents == Data("new".utf8))
    }
  }

  @Test("FW-9: A file is written in one step, with the permissions of the one that it replaces, or its own")
  func flatFiles() throws {
    try withSandbox { box in
      let url = try box.write("f", "old")
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: url.path)
      let wrapper = FileWrapper.text("new")
      try wrapper.write(to: url, options: .withNameUpdating, originalContentsURL: nil)
      #expect(try box.text(url) == "new" && status(url).mode == 0o640)
      #expect(wrapper.filename == "f" && wrapper.matchesContents(of: url))
      wrapper.fileAttributes[FileAttributeKey.posixPermissions.rawValue] = 0o600
      try wrapper.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(try status(url).mode == 0o600)
      let read = try FileWrapper(url: url)
      #expect(read.isRegularFile && read.preferredFilename == "f" && read.filename == "f")
      #expect(read.fileAttributes[FileAttributeKey.size.rawValue] as? Int == 3)
      try read.write(to: box.url("g"), originalContentsURL: nil)
      #expect(try box.text(box.url("g")) == "new")
      #expect { try read.write(to: box.url("none/g"), originalContentsURL: nil) } throws: {
        ($0 as? CocoaError)?.code == .fileNoSuchFile
      }
    }
  }

  @Test("FW-9: A child that's written elsewhere stays the child that it was, and can be saved with its package")
  func exportedChild() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let wrapper = try FileWrapper(url: url)
      let text = try #require(wrapper.fileWrappers?["text"])
      try text.write(to: box.url("export"), originalContentsURL: nil)
      #expect(try box.text(box.url("export")) == "old")
      try FileManager.default.removeItem(at: box.url("export"))
      try wrapper.fileWrappers?["images"]?.write(to: box.url("images"), originalContentsURL: nil)
      try FileManager.default.removeItem(at: box.url("images"))
      _ = wrapper.addRegularFile(withContents: Data("b".utf8), preferredFilename: "b")
      try wrapper.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(try FileWrapper(url: url).listing() == ["b b"] + all)
    }
  }

  @Test(
    "FW-1: A member that another save has left as it was can be read from the new package, and an altered one can't")
  func successor() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let (mine, other) = (try FileWrapper(url: url), try FileWrapper(url: url))
      let (text, images) = (
        try #require(mine.fileWrappers?["text"]), try #require(mine.fileWrappers?["images"]?.fileWrappers)
      )
      let old = try #require(other.fileWrappers?["text"])
      other.removeFileWrapper(old)
      _ = other.addRegularFile(withContents: Data("new".utf8), preferredFilename: "text")
      try other.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(text.regularFileContents == nil)
      #expect(images["1.png"]?.regularFileContents == Data("one".utf8))
      #expect { try mine.write(to: url, options: .atomic, originalContentsURL: url) } throws: { $0 is CocoaError }
      mine.removeFileWrapper(text)
      try mine.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(try FileWrapper(url: url).listing() == Array(all.dropLast()))
    }
  }

  @Test("FW-4: A name on disk that isn't UTF-8 stays what it is")
  func otherEncodings() throws {
    try withSandbox { box in
      let url = try makePackage(box)
      let name = SystemPath(bytes: Array("caf".utf8) + [0xe9])
      try HostFileSystem().withDescriptor(
        SystemPath(url.path).appending(name), flags: [.create, .writeOnly], mode: 0o600
      ) { _ in }
      let wrapper = try FileWrapper(url: url)
      let child = try #require(wrapper.fileWrappers?["caf\u{fffd}"])
      #expect(child.isRegularFile)
      _ = wrapper.addRegularFile(withContents: Data(), preferredFilename: "b")
      try wrapper.write(to: url, options: .atomic, originalContentsURL: url)
      #expect(try HostFileSystem().statusIfPresent(of: SystemPath(url.path).appending(name)) != nil)
      #expect(try FileWrapper(url: url).fileWrappers?.count == 5)
    }
  }

  @Test("FW-5: A child may be in several directories, and is written in each")
  func sharedChildren() throws {
    try withSandbox { box in
      let child = FileWrapper.text("shared")
      child.preferredFilename = "a"
      let (one, two) = (
        FileWrapper(directoryWithFileWrappers: ["a": child]), FileWrapper(directoryWithFileWrappers: ["a": child])
      )
      child.preferredFilename = "b"
      #expect(one.fileWrappers?["b"] === child && two.fileWrappers?["b"] === child)
      let both = FileWrapper(directoryWithFileWrappers: ["one": one, "two": two])
      try both.write(to: box.url("p"), options: .withNameUpdating, originalContentsURL: nil)
      #expect(try FileWrapper(url: box.url("p")).listing() == ["one/", "one/b shared", "two/", "two/b shared"])
      #expect(child.filename == "b")
    }
  }
}
