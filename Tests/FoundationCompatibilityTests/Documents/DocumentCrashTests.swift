import FileCoordination
import FileVersions
import Foundation
import FoundationCompatibility
import Testing

@Suite("UIDocument, of processes that are killed", .timeLimit(.minutes(8)))
@MainActor struct DocumentCrashTests {
  init() { _ = Sandbox.versionStore }

  @Test(
    "CD-12, CD-14, UD-17: A process that's killed during a save leaves the old contents, or the new ones",
    arguments: ["a.txt", "a.box"])
  func kills(name: String) async throws {
    try await withSandbox { box in
      let url = box.url(name)
      var texts: Set<String> = []
      for moment in Mortal.Moment.allCases {
        let first = Mortal(at: url)
        first.text = "old"
        #expect(await first.save(to: url, for: .forCreating))
        #expect(await first.close())
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = url.path as String, number = moment.rawValue as Int] in
          try await Mortal.saveAndDie(path, number)
        }
        // The next one opens it, and saves.
        let next = Mortal(at: url)
        #expect(await next.open())
        #expect(next.text == "old" || next.text == "new", "killed at \(moment)")
        #expect(try box.names() == [name], "killed at \(moment)")
        texts.insert(next.text)
        next.updateChangeCount(.done)
        #expect(await next.close())
        try FileManager.default.removeItem(at: url)
      }
      #expect(texts == ["old", "new"])
    }
  }
}

extension Sandbox {
  /// The names in the directory, except for that of the store of versions.
  fileprivate func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0 != "store" }
  }
}

/// A text in a file, or in a package if its name says so, whose process may be killed during a save.
private class Mortal: UIDocument {
  /// When the process is killed.
  enum Moment: Int, CaseIterable {
    case takingContents, askingForAttributes, beforeWriting, afterWriting, afterReplacing
  }

  var text = ""
  private nonisolated let moment: Moment?
  private var root = FileWrapper(directoryWithFileWrappers: [:])

  init(at url: URL, killedAt moment: Moment? = nil) {
    self.moment = moment
    super.init(fileURL: url)
  }

  private nonisolated func reach(_ moment: Moment) { if moment == self.moment { kill(getpid(), SIGKILL) } }

  override func contents(forType typeName: String) throws -> Any {
    reach(.takingContents)
    if fileURL.pathExtension != "box" { return Data(text.utf8) }
    if let old = root.fileWrappers?["text.txt"] { root.removeFileWrapper(old) }
    _ = root.addRegularFile(withContents: Data(text.utf8), preferredFilename: "text.txt")
    return root
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    if let wrapper = contents as? FileWrapper { root = wrapper }
    guard let data = contents as? Data ?? root.fileWrappers?["text.txt"]?.regularFileContents else {
      throw CocoaError(.fileReadCorruptFile)
    }
    text = String(decoding: data, as: UTF8.self)
  }

  override func fileAttributesToWrite(to url: URL, for saveOperation: SaveOperation) throws -> [AnyHashable: Any] {
    reach(.askingForAttributes)
    return [:]
  }

  override func writeContents(
    _ contents: Any, andAttributes additionalFileAttributes: [AnyHashable: Any]? = nil, safelyTo url: URL,
    for saveOperation: SaveOperation
  ) throws {
    try super.writeContents(contents, andAttributes: additionalFileAttributes, safelyTo: url, for: saveOperation)
    reach(.afterReplacing)
  }

  override func writeContents(
    _ contents: Any, to url: URL, for saveOperation: SaveOperation, originalContentsURL: URL?
  ) throws {
    reach(.beforeWriting)
    try super.writeContents(contents, to: url, for: saveOperation, originalContentsURL: originalContentsURL)
    reach(.afterWriting)
  }

  /// The work of the process that's killed.
  static func saveAndDie(_ path: String, _ number: Int) async throws {
    let url = URL(fileURLWithPath: path)
    NSFileCoordinator.coordinationDomain = CoordinationDomain()
    NSFileVersion.setStorage(.directory(url.deletingLastPathComponent().appendingPathComponent("store")))
    let document = Mortal(at: url, killedAt: Moment(rawValue: number))
    _ = await document.open()
    document.text = "new"
    document.updateChangeCount(.done)
    _ = await document.save(to: url, for: .forOverwriting)
  }
}
