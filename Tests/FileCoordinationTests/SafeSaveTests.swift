import FileCoordination
import FoundationEssentials
import Glibc
import SystemInterface
import Testing

/// A temporary directory with one file that has a mode and an attribute of its own.
struct SafeSaveScratch: Sendable {
  static let old = Data("the old contents".utf8)
  static let new = Data(repeating: UInt8(ascii: "n"), count: 10_000)
  static let comment = ExtendedAttributeName("user.comment")

  let host = HostFileSystem()
  let root: SystemPath

  var file: URL { url("file") }

  func url(_ name: String) -> URL { URL(filePath: "\(root)/\(name)", directoryHint: .notDirectory) }

  func write(_ name: String, _ contents: Data) throws {
    try host.replaceContents(of: SystemPath("\(root)/\(name)"), with: Array(contents))
  }

  func contents(_ name: String) throws -> Data? {
    do { return Data(try host.contents(of: SystemPath("\(root)/\(name)"))) } catch {
      if error.errno == ENOENT { return nil }
      throw error
    }
  }

  /// The names in the directory, sorted: every leftover shows here.
  func names() throws -> [String] {
    let directory = try host.open(root, at: .workingDirectory, flags: .directory, mode: 0)
    defer { try? host.close(directory) }
    var names: [String] = []
    while let batch = try host.readDirectory(directory) { names += batch.map(\.name.description) }
    return names.sorted()
  }

  func withDescriptor<Result>(_ name: String, _ body: (FileDescriptor) throws -> Result) throws -> Result {
    let file = try host.open(SystemPath("\(root)/\(name)"), at: .workingDirectory, flags: [], mode: 0)
    defer { try? host.close(file) }
    return try body(file)
  }

  /// Makes a scratch directory for `body`, and removes it in every case.
  @discardableResult
  static func with<Result>(_ body: (SafeSaveScratch) async throws -> Result) async throws -> Result {
    var template = Array("/tmp/FileCoordinationTests.XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let scratch = SafeSaveScratch(root: SystemPath(bytes: template.dropLast().map { UInt8(bitPattern: $0) }))
    defer { try? scratch.host.removeItem(at: scratch.root) }
    try scratch.write("file", old)
    try scratch.withDescriptor("file") { file in
      try scratch.host.setExtendedAttribute(comment, of: file, to: [1, 2, 3])
      try scratch.host.setMode(of: file, to: 0o640)
    }
    return try await body(scratch)
  }
}

@Suite(
  "Whenever a program dies while it saves, the file holds the old contents or the new ones", .timeLimit(.minutes(5)))
struct SafeSaveTests {
  enum Verb: String, CaseIterable, Sendable {
    case replaceContents, update

    /// In a domain of its own on the given door.
    func run(on file: URL, through door: any FileSystem) async throws {
      var configuration = CoordinationDomain.Configuration()
      configuration.fileSystem = door
      let coordinator = FileCoordinator(domain: CoordinationDomain(configuration))
      switch self {
      case .replaceContents: try await coordinator.replaceContents(of: file, with: SafeSaveScratch.new)
      case .update:
        try await coordinator.update(file) { contents in
          if contents == SafeSaveScratch.old { contents = SafeSaveScratch.new }
        }
      }
    }
  }

  /// Each verb with the number of each of the calls it makes.
  static func steps() async throws -> [(Verb, Int)] {
    var steps: [(Verb, Int)] = []
    for verb in Verb.allCases {
      let count = try await SafeSaveScratch.with { scratch in
        let door = ScriptedFileSystem { _ in .proceed }
        try await verb.run(on: scratch.file, through: door)
        return door.log.count
      }
      steps += (1...count).map { (verb, $0) }
    }
    return steps
  }

  @Test(
    "C-436: SIGKILL at any call leaves the old or the new contents, the mode and the attributes; the next save leaves nothing else",
    arguments: try await steps())
  func death(verb: Verb, number: Int) async throws {
    try await SafeSaveScratch.with { scratch in
      let path = scratch.file.path(), name = verb.rawValue
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, name = name as String, number] in
        let door = ScriptedFileSystem { $0.number == number ? .killProcess : .proceed }
        let verb = try #require(Verb(rawValue: name))
        try await verb.run(on: URL(filePath: path), through: door)
      }
      let contents = try scratch.contents("file")
      #expect(contents == SafeSaveScratch.old || contents == SafeSaveScratch.new)
      let (mode, comment) = try scratch.withDescriptor("file") { file in
        (try scratch.host.status(of: file).mode, try scratch.host.extendedAttribute(SafeSaveScratch.comment, of: file))
      }
      #expect(mode == 0o640)
      #expect(comment == [1, 2, 3])
      // At most the temporary file is left, and the next save takes it.
      #expect(try scratch.names().count <= 2)
      try await verb.run(on: scratch.file, through: HostFileSystem())
      #expect(try scratch.contents("file") == SafeSaveScratch.new)
      #expect(try scratch.names() == ["file"])
    }
  }

  enum NextVerb: CaseIterable {
    case delete, move, moveOver, copyOver

    func run(_ coordinator: FileCoordinator, _ scratch: SafeSaveScratch) async throws {
      switch self {
      case .delete: try await coordinator.delete(scratch.file)
      case .move: try await coordinator.move(scratch.file, to: scratch.url("moved"))
      case .moveOver:
        try scratch.write("moved", Data())
        try await coordinator.move(scratch.url("moved"), to: scratch.file, replacing: true)
      case .copyOver:
        try scratch.write("moved", Data())
        try await coordinator.copy(scratch.url("moved"), to: scratch.file, replacing: true)
      }
    }

    var names: [String] {
      switch self {
      case .delete: []
      case .move: ["moved"]
      case .moveOver: ["file"]
      case .copyOver: ["file", "moved"]
      }
    }
  }

  @Test("C-436: A deletion, a move and a copy take what a killed save has left as well", arguments: NextVerb.allCases)
  func nextVerb(verb: NextVerb) async throws {
    try await SafeSaveScratch.with { scratch in
      let path = scratch.file.path()
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let door = ScriptedFileSystem { $0.call == .rename ? .killProcess : .proceed }
        try await Verb.replaceContents.run(on: URL(filePath: path), through: door)
      }
      #expect(try scratch.names() == [".file.incoming.fcsave", "file"])
      try await verb.run(FileCoordinator(domain: CoordinationDomain()), scratch)
      #expect(try scratch.names() == verb.names)
    }
  }
}
