import Foundation
import TestSupport
import Testing

/// The programs themselves, as people have them.
@Suite("Versions beside programs that don't know of them", .blocking, .timeLimit(.minutes(2)))
struct ForeignProgramTests {
  private let bench: Workbench
  private let file: String

  init() throws {
    bench = try Workbench()
    file = try bench.makeFile("notes.txt", "one\ntwo\n")
  }

  private static func isInstalled(_ program: String) -> Bool {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return directories.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  private func output(_ arguments: String...) throws -> String {
    let result = try Tool.run(arguments, environment: bench.environment)
    #expect(result.status == 0, "\(result.errors)")
    return result.output
  }

  private func run(_ script: String) throws {
    let shell = try bench.startScript("set -e\ncd \"$ROOT\"\n\(script)")
    #expect(try shell.end() == 0, "\(script): \(shell.errors.text)")
  }

  private func inode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
  }

  /// The texts of the versions, newest first.
  private func texts(_ path: String? = nil) throws -> [String] {
    let path = path ?? file
    let count = try output("versions", path).split(separator: "\n").count
    return try (0..<count).map { try output("show", path, "\($0 + 1)") }
  }

  /// The ways in which vim writes a file.
  enum Way: String, CaseIterable, Sendable {
    case inPlace = "nobackup nowritebackup backupcopy=yes"
    case copyFirst = "nobackup writebackup backupcopy=yes"
    case renameFirst = "nobackup writebackup backupcopy=no"
    case keptBackup = "backup writebackup backupcopy=no"
    case usual = "backupcopy=auto"

    /// Whether the file is another one afterwards.
    var isAnotherFile: Bool { self == .renameFirst || self == .keptBackup }
  }

  @Test(
    "The history of a file goes on when 'vim' writes it, in each of its ways",
    .enabled(if: isInstalled("vim"), "there's no program 'vim'"), arguments: Way.allCases)
  func vim(way: Way) throws {
    _ = try output("keep", file)
    let before = try inode(file)
    // By default nothing in '/tmp' has a backup.
    try run(
      "vim -u NONE -i NONE -n -N -es -c 'set backupskip= \(way.rawValue)' -c '%s/one/uno/' -c 'wq' notes.txt </dev/null"
    )
    #expect(bench.text("notes.txt") == "uno\ntwo\n")
    #expect(try (inode(file) != before) == way.isAnotherFile || way == .usual)
    #expect(try texts() == ["one\ntwo\n"])
    _ = try output("keep", file)
    #expect(try texts() == ["uno\ntwo\n", "one\ntwo\n"])
    _ = try output("restore", file, "2")
    #expect(bench.text("notes.txt") == "one\ntwo\n")
    // The backup is a file of its own.
    if way == .keptBackup {
      #expect(bench.text("notes.txt~") == "one\ntwo\n")
      #expect(try texts(bench.path("notes.txt~")) == [])
    }
  }

  @Test(
    "The history of a file goes on when 'git' checks out another state of it, stashes it and moves it",
    .enabled(if: isInstalled("git"), "there's no program 'git'"))
  func git() throws {
    let identity = "-c user.name=me -c user.email=me@example.invalid"
    try run(
      """
      export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
      git init -q -b main .
      git add notes.txt
      git \(identity) commit -q -m one
      git checkout -q -b other
      printf 'uno\\n' >notes.txt
      git \(identity) commit -q -a -m two
      """)
    _ = try output("keep", file)
    // Removes the file, and makes another one.
    try run("git checkout -q main")
    #expect(bench.text("notes.txt") == "one\ntwo\n")
    #expect(try texts() == ["uno\n"])
    _ = try output("keep", file)
    try run("git checkout -q other -- notes.txt && git reset -q --hard")
    #expect(try texts() == ["one\ntwo\n", "uno\n"])
    try bench.makeFile("notes.txt", "unsaved\n")
    _ = try output("keep", file)
    try run("git \(identity) stash -q")
    #expect(bench.text("notes.txt") == "one\ntwo\n")
    #expect(try texts() == ["unsaved\n", "one\ntwo\n", "uno\n"])
    try run("git mv notes.txt moved.txt")
    #expect(try texts(bench.path("moved.txt")) == ["unsaved\n", "one\ntwo\n", "uno\n"])
    // A branch with the file under its former name: git removes the one and makes the other, and nothing is mixed.
    try run("git \(identity) commit -q -m moved && git checkout -q other")
    #expect(bench.text("notes.txt") == "uno\n" && bench.text("moved.txt") == nil)
    #expect(try output("versions", "--deleted", bench.root).contains("moved.txt"))
  }
}
