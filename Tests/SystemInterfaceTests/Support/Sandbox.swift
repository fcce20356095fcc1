import Glibc
import TestSupport
import Testing

@testable import SystemInterface

/// A temporary directory with short spellings for the file operations of tests.
struct Sandbox: Sendable {
  let files = HostFileSystem()
  let root: SystemPath

  func path(_ name: String) -> SystemPath {
    root.appending(name)
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> SystemPath {
    let path = path(name)
    try files.withDescriptor(path, flags: [.create, .truncate, .writeOnly], mode: 0o644) {
      (file) throws(SystemError) in
      try files.writeAll(Array(text.utf8), to: file)
    }
    return path
  }

  @discardableResult
  func makeDirectory(_ name: String) throws -> SystemPath {
    try files.makeDirectory(path(name), at: .workingDirectory, mode: 0o755)
    return path(name)
  }

  func link(_ name: String, to target: String) throws {
    try files.makeSymbolicLink(path(name), at: .workingDirectory, target: SystemPath(target))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try files.contents(of: path(name)), as: UTF8.self)
  }

  func status(_ name: String) throws -> FileStatus? {
    try files.statusIfPresent(of: path(name))
  }

  /// The names in a directory, sorted; every leftover of an operation shows here.
  func names(in name: String = ".") throws -> [String] {
    try files.withDescriptor(path(name), flags: .directory) { (directory) throws(SystemError) in
      var names: [String] = []
      while let batch = try files.readDirectory(directory) { names += batch.map(\.name.description) }
      return names.sorted()
    }
  }

  /// Changes the mode or the attributes of an open file.
  func withFile<Result>(
    _ name: String, _ body: (FileDescriptor) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    try files.withDescriptor(path(name), flags: [], body)
  }
}

/// Where tests make their files: `TMPDIR`, which should be on a file system with extended attributes, or `/tmp`.
let temporaryDirectory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"

/// Makes a temporary directory for the duration of `body` and removes it in every case.
@discardableResult
func withTemporaryDirectory<Result>(
  in parent: String = temporaryDirectory, _ body: (Sandbox) async throws -> Result
) async throws -> Result {
  var template = Array("\(parent)/SystemInterfaceTests.XXXXXX".utf8CString)
  try #require(mkdtemp(&template) != nil)
  let root = SystemPath(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
  let files = HostFileSystem()
  defer {
    try? files.withDescriptor(root.parent, flags: .directory) { (parent) throws(SystemError) in
      try files.removeTree(root.lastComponent, at: parent, overridingMode: true)
    }
  }
  return try await body(Sandbox(root: root))
}

/// Runs a program found on the `PATH` and returns its exit status; `nil` when it can't be started.
func run(_ arguments: String...) -> Int32? {
  let child = try? ChildProcess(arguments[0], Array(arguments[1...]), output: .nothing, errors: .nothing)
  guard case .exit(let status) = child?.waitUntilExit() else { return nil }
  return status
}
