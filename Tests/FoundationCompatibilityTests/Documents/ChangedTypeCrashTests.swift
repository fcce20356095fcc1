import FileCoordination
import FileVersions
import Foundation
import FoundationCompatibility
import SystemInterface
import Testing

@testable import FileCoordination

@Suite("UIDocument, saved as another type by processes that are killed, or whose calls fail", .timeLimit(.minutes(8)))
@MainActor struct ChangedTypeCrashTests {
  init() { _ = Sandbox.versionStore }

  /// Enough for a save to end by itself.
  private static let callCountMax = 100

  /// The contents under the names that a document has before and after the save.
  private struct Names: Hashable {
    var former: String?
    var new: String?

    @MainActor init(in box: Sandbox, isPackage: Bool) throws {
      func text(_ name: String) throws -> String? {
        let url = box.url(name)
        if !FileManager.default.fileExists(atPath: url.path) { return nil }
        return try box.text(isPackage ? url.appendingPathComponent("text.txt") : url)
      }
      (former, new) = (try text("a.former"), try text("a.new"))
    }

    init(former: String?, new: String?) { (self.former, self.new) = (former, new) }

    static let before = Names(former: "old", new: nil)
    static let between = Names(former: "old", new: "new")
    static let after = Names(former: nil, new: "new")
  }

  @Test(
    "CD-12, CD-47: A process that's killed at any call of a save as another type leaves the old contents under the old name, or the new ones under the new name",
    arguments: [false, true])
  func kills(isPackage: Bool) async throws {
    try await withSandbox { box in
      var found: Set<Names> = []
      for number in 0..<Self.callCountMax {
        try await make(in: box, isPackage)
        let result = await #expect(processExitsWith: .failure) {
          [path = box.root.path as String, isPackage = isPackage as Bool, number = number as Int] in
          try await Changing.save(in: path, isPackage, atCall: number, .killProcess)
        }
        let names = try Names(in: box, isPackage: isPackage)
        #expect([.before, .between, .after].contains(names), "call \(number): \(names)")
        found.insert(names)
        try await openAll(in: box)
        #expect(try Names(in: box, isPackage: isPackage) == names, "call \(number)")
        try removeAll(in: box)
        if result?.exitStatus == .exitCode(Changing.saved) { break }
        #expect(result?.exitStatus == .signal(SIGKILL))
        #expect(number < Self.callCountMax - 1)
      }
      #expect(found == [.before, .between, .after])
    }
  }

  @Test(
    "CD-47: If any call of a save as another type fails, there are the old contents under the old name, and an error, or the new ones under the new name",
    arguments: [false, true])
  func failures(isPackage: Bool) async throws {
    try await withSandbox { box in
      var failureCount = 0
      for number in 0..<Self.callCountMax {
        try await make(in: box, isPackage)
        let result = await #expect(processExitsWith: .failure) {
          [path = box.root.path as String, isPackage = isPackage as Bool, number = number as Int] in
          try await Changing.save(in: path, isPackage, atCall: number, .fail(EIO))
        }
        let (names, status) = (try Names(in: box, isPackage: isPackage), result?.exitStatus)
        switch status {
        case .exitCode(Changing.saved): #expect(names == .after, "call \(number)")
        case .exitCode(Changing.notSaved): #expect(names == .before, "call \(number)")
        default: #expect(status == .exitCode(Changing.savedWithoutFailure) && names == .after)
        }
        if status == .exitCode(Changing.notSaved) { failureCount += 1 }
        // A directory that can't be removed stays, under a name that says so.
        try await openAll(in: box, except: ".gone")
        try removeAll(in: box)
        if status == .exitCode(Changing.savedWithoutFailure) { break }
        #expect(number < Self.callCountMax - 1)
      }
      #expect(failureCount > 3)
    }
  }

  private func make(in box: Sandbox, _ isPackage: Bool) async throws {
    let document = Changing(at: box.url("a.former"), isPackage: isPackage)
    document.text = "old"
    #expect(await document.save(to: document.fileURL, for: .forCreating))
    #expect(await document.close())
  }

  /// The next opens clear up.
  private func openAll(in box: Sandbox, except part: String? = nil) async throws {
    let present = ["a.former", "a.new"].filter { FileManager.default.fileExists(atPath: box.url($0).path) }
    for name in present {
      let document = Changing(at: box.url(name), isPackage: false)
      #expect(await document.open())
      #expect(await document.close())
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: box.root.path).filter { name in
      name != "store" && part.map { !name.contains($0) } ?? true
    }
    #expect(names.sorted() == present)
  }

  private func removeAll(in box: Sandbox) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: box.root.path) where name != "store" {
      try FileManager.default.removeItem(at: box.url(name))
    }
  }
}

/// A text in a file or in a package, which becomes one of another type.
private final class Changing: UIDocument {
  static let saved: Int32 = 17
  static let savedWithoutFailure: Int32 = 18
  static let notSaved: Int32 = 19

  var text = ""
  private let isPackage: Bool
  private var root = FileWrapper(directoryWithFileWrappers: [:])
  nonisolated let isNew = Guarded(false)

  init(at url: URL, isPackage: Bool) {
    self.isPackage = isPackage
    super.init(fileURL: url)
  }

  override nonisolated var savingFileType: String? {
    isNew.withLock { $0 } ? "org.example.new" : super.savingFileType
  }

  override nonisolated func fileNameExtension(
    forType typeName: String?, saveOperation: SaveOperation
  ) -> String {
    typeName == "org.example.new" ? "new" : super.fileNameExtension(forType: typeName, saveOperation: saveOperation)
  }

  override func contents(forType typeName: String) throws -> Any {
    if !isPackage { return Data(text.utf8) }
    if let old = root.fileWrappers?["text.txt"] { root.removeFileWrapper(old) }
    _ = root.addRegularFile(withContents: Data(text.utf8), preferredFilename: "text.txt")
    if root.fileWrappers?["same.txt"] == nil {
      _ = root.addRegularFile(withContents: Data("same".utf8), preferredFilename: "same.txt")
    }
    return root
  }

  override func load(fromContents contents: Any, ofType typeName: String?) throws {
    if let wrapper = contents as? FileWrapper { root = wrapper }
    guard let data = contents as? Data ?? root.fileWrappers?["text.txt"]?.regularFileContents else {
      throw CocoaError(.fileReadCorruptFile)
    }
    text = String(decoding: data, as: UTF8.self)
  }

  /// The work of the other process: calls that change something are counted.
  static func save(in path: String, _ isPackage: Bool, atCall number: Int, _ action: ScriptedAction) async throws {
    let left = Guarded(Int?.none)
    let changes: Set<SystemCall> = [.synchronize, .rename, .link, .unlink, .makeDirectory]
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = ScriptedFileSystem(HostFileSystem()) { call in
      guard changes.contains(call.call) else { return .proceed }
      return left.withLock { left in
        guard let count = left else { return .proceed }
        left = count - 1
        return count == 0 ? action : .proceed
      }
    }
    let root = URL(fileURLWithPath: path)
    NSFileCoordinator.coordinationDomain = CoordinationDomain(configuration)
    NSFileCoordinator.observesUncoordinatedChanges = false
    NSFileVersion.setStorage(.directory(root.appendingPathComponent("store")))
    let document = Changing(at: root.appendingPathComponent("a.former"), isPackage: isPackage)
    _ = await document.open()
    document.text = "new"
    document.updateChangeCount(.done)
    document.isNew.withLock { $0 = true }
    left.withLock { $0 = number }
    let isSaved = await document.save(to: document.fileURL, for: .forOverwriting)
    let hasFailed = left.withLock { $0 ?? 0 } < 0
    exit(isSaved ? hasFailed || action == .killProcess ? saved : savedWithoutFailure : notSaved)
  }
}
