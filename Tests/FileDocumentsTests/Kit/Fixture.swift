import FileCoordination
import FileCoordinationTesting
import Foundation
import SystemInterface
import Testing

@testable import FileDocuments
@testable import FileVersions

/// A directory with files, a store of versions, a domain, and a clock that stands still.
struct Fixture: Sendable {
  let root: URL
  let domain: CoordinationDomain
  let versions: FileVersions
  let clock = VirtualClock()
  let file: URL

  init(_ root: URL, _ fileSystem: any FileSystem = HostFileSystem()) {
    self.root = root
    var configuration = CoordinationDomain.Configuration()
    configuration.fileSystem = fileSystem
    domain = CoordinationDomain(configuration)
    versions = FileVersions(domain: domain, storage: .directory(root.appending(path: "store")), deviceName: "desk")
    file = root.appending(path: "note.txt")
  }

  func options(_ autosave: AutosavePolicy = .never) -> DocumentOptions<String> {
    var options = DocumentOptions<String>(domain: domain, versions: versions)
    options.autosave = autosave
    options.clock = clock
    options.observesUncoordinatedChanges = false
    return options
  }

  /// An open document of a file with this text.
  func open(
    _ text: String = "old", _ format: some DocumentFormat<String> = .text, _ autosave: AutosavePolicy = .never,
    change: (inout DocumentOptions<String>) -> Void = { _ in }
  ) async throws -> FileDocument<String> {
    try write(text)
    var options = options(autosave)
    change(&options)
    let document = FileDocument(file, as: format, options: options)
    try await document.open()
    return document
  }

  /// Another program.
  var other: FileCoordinator { FileCoordinator(label: "other", domain: domain) }

  func write(_ text: String, to url: URL? = nil) throws { try Data(text.utf8).write(to: url ?? file) }
  func text(of url: URL? = nil) throws -> String { String(decoding: try Data(contentsOf: url ?? file), as: UTF8.self) }
  func exists(_ url: URL? = nil) -> Bool { FileManager.default.fileExists(atPath: (url ?? file).path) }
  func url(_ name: String) -> URL { root.appending(path: name) }
  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.path).filter { $0 != "store" }.sorted()
  }

  /// Leaves a file beside the fixture's as a killed save of that does.
  func leaveLeftover(_ text: String) throws -> URL {
    let leftover = url(SystemPath.temporaryName(for: SystemPath(file.lastPathComponent)).description)
    try write(text, to: leftover)
    return leftover
  }

  func status(of url: URL? = nil) throws -> FileStatus {
    try #require(try HostFileSystem().statusIfPresent(of: SystemPath((url ?? file).path)))
  }

  /// The texts of the versions, newest first.
  func versionTexts(of url: URL? = nil) async throws -> [String] {
    var texts: [String] = []
    for version in try await versions.versions(of: url ?? file) ?? [] {
      texts.append(String(decoding: try await versions.contents(of: version), as: UTF8.self))
    }
    return texts
  }
}

func withFixture(
  _ fileSystem: any FileSystem = HostFileSystem(), _ body: (Fixture) async throws -> Void
) async throws {
  let memory = "/dev/shm"
  let place = FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
  let root = URL(filePath: place).resolvingSymlinksInPath().appending(path: "FileDocumentsTests.\(UUID())")
  try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: root) }
  try await body(Fixture(root, fileSystem))
}

extension FileDocument {
  /// Waits for a state.
  // Swift 6.3.1 stops with an internal error where it inlines some of these conditions.
  @inline(never)
  func waitUntil(_ isSatisfied: (DocumentSnapshot) -> Bool) async throws {
    for await snapshot in states where isSatisfied(snapshot) { return }
    throw CancellationError()
  }
}

extension FileDocument where Contents: Equatable {
  /// Waits until it has these contents, and they can be edited.
  ///
  /// A program that doesn't coordinate may be seen between two of its calls: an empty file is taken over, too.
  func waitForContents(_ expected: Contents) async throws {
    for await snapshot in states where snapshot.state.editingObstacles.isEmpty {
      if contents == expected { return }
    }
    throw CancellationError()
  }
}

/// Texts, whose reading and writing a test can stop, count and let fail.
struct GatedFormat: DocumentFormat {
  struct Refusal: Error {}

  let reading = Counter()
  let writing = Counter()
  /// Closed while a test wants to hold writing.
  let gate: TestGate?
  let refusesWriting = Counter()
  let refusesReading = Counter()

  init(gate: TestGate? = nil) { self.gate = gate }

  func contents(of bytes: Data) throws -> String {
    reading.add(1)
    if refusesReading.value > 0 { throw Refusal() }
    return try TextFormat().contents(of: bytes)
  }

  func bytes(of contents: String) throws -> Data {
    writing.add(1)
    gate?.passBlocking()
    if refusesWriting.value > 0 { throw Refusal() }
    return TextFormat().bytes(of: contents)
  }
}

/// A number that many threads may change.
final class Counter: Sendable {
  private let number = Guarded(0)
  var value: Int { number.withLock { $0 } }
  func add(_ more: Int) { number.withLock { $0 += more } }
}

/// A file system that can't bring a renamed item to the disk, as long as the test wants that.
final class FaultsAfterRenames: Sendable {
  private enum State { case none, waiting, failing }
  private let state = Guarded(State.none)

  func begin() { state.withLock { $0 = .waiting } }
  func end() { state.withLock { $0 = .none } }

  var files: any FileSystem {
    ScriptedFileSystem(HostFileSystem()) { [self] call in
      state.withLock { state in
        switch (state, call.call) {
        case (.waiting, .rename): state = .failing
        case (.failing, .synchronize): return .fail(5)
        default: break
        }
        return .proceed
      }
    }
  }
}
