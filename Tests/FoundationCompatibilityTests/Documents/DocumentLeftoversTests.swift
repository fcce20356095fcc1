import FileCoordination
import FileDocuments
import FilePackages
import FileVersions
import Foundation
import FoundationCompatibility
import SystemInterface
import Testing

/// A `FileDocument` of another process is killed while it saves one member, right before whose exchange another program has written it.
@Suite("Files that killed saves of members have left in packages", .timeLimit(.minutes(8)))
@MainActor struct DocumentLeftoversTests {
  init() { _ = Sandbox.versionStore }

  /// The two that replace a package as a whole.
  enum Replacement: CaseIterable {
    case document, wrapper

    @MainActor func carryOut(at url: URL) async throws {
      switch self {
      case .document:
        let document = AlbumDocument(fileURL: url)
        #expect(await document.open())
        document.set("b.txt", "mine")
        document.set("c.txt", "mine")
        #expect(await document.close())
      case .wrapper:
        let wrapper = try FileWrapper(url: url)
        wrapper.set("b.txt", "mine")
        wrapper.set("c.txt", "mine")
        try wrapper.write(to: url, options: .atomic, originalContentsURL: url)
      }
    }
  }

  private static let callCountMax = 60
  private nonisolated static let saved: Int32 = 17

  @Test(
    "CD-14: Text that another program has written to a member in the last instant is in it, or in a version, when the package is replaced",
    arguments: Replacement.allCases)
  func kills(replacement: Replacement) async throws {
    var leftCount = 0
    for number in 0..<Self.callCountMax {
      var isOver = false
      try await withSandbox { box in
        let album = try box.makeAlbum()
        let result = await #expect(processExitsWith: .failure) {
          [path = album.path as String, number = number as Int] in
          try await Self.saveAndDie(path, atCall: number)
        }
        let isSaved = result?.exitStatus == .exitCode(Self.saved)
        #expect(isSaved || result?.exitStatus == .signal(SIGKILL))
        let left = try album.leftovers()
        leftCount += left.count
        // The process has removed its file by then.
        isOver = isSaved || leftCount > 0 && left.isEmpty
        try await replacement.carryOut(at: album)
        #expect(try album.leftovers() == [])
        let present = try album.texts()
        #expect(present["b.txt"] == "mine" && present["c.txt"] == "mine")
        let kept = try album.keptTexts()
        #expect(([present] + kept).contains { $0["a.txt"] == "theirs" }, "call \(number): \(present), \(kept)")
        try NSFileVersion.removeOtherVersionsOfItem(at: album)
      }
      if isOver { break }
      try #require(number < Self.callCountMax - 1)
    }
    #expect(leftCount > 0)
  }

  @Test("CD-14: A save of the whole package keeps what has come since the document was opened")
  func beforeSaving() async throws {
    try await withSandbox { box in
      let album = try box.makeAlbum()
      let document = AlbumDocument(fileURL: album)
      #expect(await document.open())
      for _ in 0..<2 {
        // The second time it's in a version already.
        _ = try box.write("album/.a.txt.abcdefgh.fcsave", "theirs")
        // New contents are nobody else's.
        _ = try box.write("album/.b.txt.incoming.fcsave", "new")
        document.set("b.txt", "mine")
        document.set("c.txt", "mine")
        #expect(await document.save(to: album, for: .forOverwriting))
        #expect(try album.leftovers() == [])
        #expect(try album.keptTexts() == [["a.txt": "theirs", "b.txt": "b"]])
      }
      #expect(try album.texts() == ["a.txt": "a", "b.txt": "mine", "c.txt": "mine"])
      #expect(await document.close())
      try NSFileVersion.removeOtherVersionsOfItem(at: album)
    }
  }

  /// Ends at one of the calls after the exchange, or when the member is saved.
  private nonisolated static func saveAndDie(_ path: String, atCall number: Int) async throws {
    let left = Guarded(Int?.none)
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = ScriptedFileSystem(HostFileSystem()) { call in
      left.withLock { left -> ScriptedAction in
        guard let count = left else {
          if call.call == .rename, call.paths.last?.lastComponent == SystemPath("a.txt") {
            try? Data("theirs".utf8).write(to: URL(filePath: path).appending(path: "a.txt"))
            left = number
          }
          return .proceed
        }
        left = count - 1
        return count == 0 ? .killProcess : .proceed
      }
    }
    let domain = CoordinationDomain(configuration)
    let store = URL(filePath: path).deletingLastPathComponent().appending(path: "store")
    var options = DocumentOptions<PackageTree>(
      domain: domain, versions: FileVersions(domain: domain, storage: .directory(store)))
    options.observesUncoordinatedChanges = false
    options.autosave = .never
    let document = FileDocument(URL(filePath: path), as: .package, options: options)
    try await document.open()
    try await document.edit { try? $0.update(SystemPath("a.txt"), Array("new".utf8)) }
    do { try await document.save() } catch {
      // The exchange was found to be of something else, and what it was has its place.
    }
    exit(saved)
  }
}

/// Texts in a package.
private class AlbumDocument: UIDocument {
  private var root = FileWrapper(directoryWithFileWrappers: [:])

  func set(_ name: String, _ text: String) {
    root.set(name, text)
    updateChangeCount(.done)
  }

  override func contents(forType typeName: String) throws -> Any { root }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    guard let wrapper = contents as? FileWrapper else { throw CocoaError(.fileReadCorruptFile) }
    root = wrapper
  }
}

extension FileWrapper {
  fileprivate func set(_ name: String, _ text: String) {
    if let old = fileWrappers?[name] { removeFileWrapper(old) }
    _ = addRegularFile(withContents: Data(text.utf8), preferredFilename: name)
  }
}

extension Sandbox {
  fileprivate func makeAlbum() throws -> URL {
    _ = try write("album/a.txt", "a")
    _ = try write("album/b.txt", "b")
    return url("album")
  }
}

extension URL {
  fileprivate func leftovers() throws -> [String] { try names().filter { $0.hasSuffix(".fcsave") } }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }

  fileprivate func texts() throws -> [String: String] {
    try Dictionary(
      uniqueKeysWithValues: names().map {
        ($0, try String(contentsOf: appendingPathComponent($0), encoding: .utf8))
      })
  }

  /// Those of the package's versions.
  fileprivate func keptTexts() throws -> [[String: String]] {
    try (NSFileVersion.otherVersionsOfItem(at: self) ?? []).map { try $0.url.texts() }
  }
}
